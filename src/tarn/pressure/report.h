#pragma once

namespace tarn {

// What a linear solve did.
struct [[nodiscard]] SolveReport {
    bool converged = true;
    int iterations = 0;
    double residual = 0;    // largest over cells, relative to the largest right-hand side
    bool fallback = false;  // the multigrid did not converge; this is the solve without it, from zero
    int solves = 1;         // systems that were solved, one for each active set of walls; iterations are of all
};

}  // namespace tarn
