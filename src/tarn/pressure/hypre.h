#pragma once
// The pressure's system as a sparse matrix in double, solved by conjugate gradients with a cycle of hypre's BoomerAMG: a second opinion
// on the other solvers, which it shares no line with from the system on.

#include "tarn/pressure/conjugate_gradients.h"

namespace tarn {

// Solves A x = b, starting from x; b becomes the residual. The rows are those of cells that are unknowns; Dirichlet terms are part of
// their diagonal. A region of enclosed air has a row of its own; rigid bodies are applied in factors, as elsewhere.
template <int D>
SolveReport solve_hypre(Field<D>& x, Field<D>& b, const Poisson<D>& system, const Goal& goal);

}  // namespace tarn
