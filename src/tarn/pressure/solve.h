#pragma once
// The pressure's system, solved by what pressure.solver names.

#include "tarn/params/params.h"
#include "tarn/pressure/hypre.h"
#include "tarn/pressure/relaxation.h"

namespace tarn {

// Arguments as in pressure/conjugate_gradients.h.
template <int D, class AnyMultigrid>
SolveReport solve_pressure(Field<D>& x, Field<D>& b, const Poisson<D>& system, const ClosedComponents<D>& closed,
                           const AnyMultigrid& multigrid, const PressureParams& params, const Goal& goal, Field<D>& p,
                           Field<D>& z, IterationWorkspace& workspace)
{
    switch (params.solver) {
        case PressureSolver::multigrid:
            return solve_multigrid(x, b, system, closed, multigrid, goal, p, z, workspace);
        case PressureSolver::mic0:
            return solve_mic0(x, b, system, closed, goal, p, z);
        case PressureSolver::relaxation:
            return solve_relaxation(x, b, system, goal, params.relaxation, p);
        case PressureSolver::hypre:
            return solve_hypre(x, b, system, goal);
    }
    return {.converged = false};
}

}  // namespace tarn
