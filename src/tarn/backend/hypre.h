#pragma once
// BoomerAMG, the algebraic multigrid of hypre, for a sparse matrix of this process. All that knows hypre and MPI is a library of its
// own, app/hypre/module.cpp: it is built where both are there, and loaded when it is first asked for, so that the program starts
// without them.

namespace tarn {

// Row i has the columns and values from start[i] to start[i + 1]; its diagonal is among them.
struct SparseRows {
    int rows = 0;
    const int* start = nullptr;
    const int* column = nullptr;
    const double* value = nullptr;
};

struct HypreModule {
    // A multigrid for a symmetric positive definite matrix, which is copied; null where hypre fails. Two dimensions take another
    // threshold for what is strongly connected than three.
    void* (*build)(const SparseRows* matrix, int dimension);
    // z = M r, one V-cycle from zero, symmetric.
    void (*precondition)(void* multigrid, const double* r, double* z);
    void (*release)(void* multigrid);
};

// Null where this build, or this machine, has no hypre.
const HypreModule* hypre_module();

}  // namespace tarn

// What the library exports.
extern "C" const tarn::HypreModule* tarn_hypre_module();
