#pragma once
// Two solvers of the pressure on the same steps: the multigrid, and hypre as a second opinion.

#include <string>
#include <vector>

#include "tarn/scene/scene.h"

namespace tarn {

// What a solver did in a step; a step whose walls or air change may take several solves, and iterations are of all of them.
struct SolverFigures {
    bool converged = false;
    int solves = 0, iterations = 0;
    double residual = 0;
    double seconds = 0;  // processor time of the projection, in the quickest of some repeats
};
struct SolverRow {
    long step = 0, unknowns = 0;
    SolverFigures multigrid, hypre;
    double difference = 0;         // largest of their pressures, relative to the largest pressure
    double difference_beyond = 0;  // likewise where both solve to a hundredth of the tolerance
};

// Goes along a scene with the multigrid, and takes each of the steps, counted from 1, with both solvers from the same state; the last
// ones are missing where the scene ends before.
std::vector<SolverRow> compare_solvers(const Scene& scene, const std::vector<long>& steps, int repeats);

// `tarn bench pressure`: the first and the hundredth step of every scene in the folder that hypre can solve, with `scale` times its
// cells. Prints a table, and leaves it in `results_dir`.
int bench_pressure(const std::string& results_dir, const std::string& scenes, double scale);

}  // namespace tarn
