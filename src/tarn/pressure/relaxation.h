#pragma once
// The pressure's system relaxed cell by cell, as in [FM96] §3.1: slow and simple, a reference for the other solvers.

#include "tarn/pressure/conjugate_gradients.h"

namespace tarn {

// Solves A x = b, starting from x, by sweeps in which every cell is changed by `coefficient` times what balances it,
//   x += coefficient (b - A x) / diagonal,
// first all cells of one colour of a chess board, then those of the other. One sweep is done at least; they are counted as
// iterations. Without a coefficient that grows with the grid, their number grows as the square of the cells along a side.
// Unknowns that many cells share, the air in enclosed regions, are those of the sweep before; so the sweeps converge whatever
// they are, as these only weaken the system. Rigid bodies stiffen it, and are not taken. `rhs` is a field to work in.
template <int D>
SolveReport solve_relaxation(Field<D>& x, const Field<D>& b, const Poisson<D>& system, const Goal& goal, double coefficient,
                             Field<D>& rhs);

}  // namespace tarn
