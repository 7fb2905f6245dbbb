#pragma once
// Preconditioned conjugate gradients on the pressure's system, with the multigrid, and with MIC(0) as its reference.

#include "tarn/backend/sequence.h"
#include "tarn/pressure/black_box.h"
#include "tarn/pressure/multigrid.h"

namespace tarn {

// When a solve is good enough: the largest residual is at most `tolerance` times the largest b, or times `most` where
// that is less (but not less than a tenth of it).
struct Goal {
    double tolerance = 1e-4;
    double most = 1e30;
    int max_iterations = 200;
    bool from_zero = false;  // x is zero at the start
};

// What residuals are compared with, for b that is `largest` at most.
double scale_of(const Goal& goal, double largest);

// What a solve keeps for the next one.
struct IterationWorkspace {
    Memory<double> scalars;
    Sequence sequence;  // the kernels of one iteration
    Memory<float> b;    // the right-hand side, for a second solve
};

// Solves A x = b, starting from x; b becomes the residual. However good the start, one iteration is done, so that what
// every step leaves does not add up. p and z are fields to work in. Only the system's tiles are touched. Where the
// multigrid does not converge, the solve is done again from zero without it: by MIC(0), or on a GPU by the diagonal.
// Either is symmetric and positive for every such system, and so cannot fail but for round-off.
template <int D, class AnyMultigrid>
SolveReport solve_multigrid(Field<D>& x, Field<D>& b, const Poisson<D>& system, const ClosedComponents<D>& closed,
                            const AnyMultigrid& multigrid, const Goal& goal, Field<D>& p, Field<D>& z,
                            IterationWorkspace& workspace);

// The same with the modified incomplete Cholesky preconditioner of level 0 (Bridson's form): serial.
template <int D>
SolveReport solve_mic0(Field<D>& x, Field<D>& b, const Poisson<D>& system, const ClosedComponents<D>& closed,
                       const Goal& goal, Field<D>& p, Field<D>& z);

}  // namespace tarn
