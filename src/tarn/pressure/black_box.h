#pragma once
// A multigrid for conductances that jump by a thousand from cell to cell, as in foam: the black box of Dendy (1982), in
// two dimensions, as a preconditioner.
//
// Every second column and row is kept on the next level, and the last ones. The cells between take what the equations
// say of them: one between two kept ones divides itself by how it conducts to either, one between four by its own
// equation. The coarse equations follow from the energy, A' = P^T A P, and have nine points. So a film of water
// between two bodies of air, or a neck of air between two of water, is as thin on coarse levels as it is.
//
// Deviation: a cell between two divides itself together with its neighbours on the line that lies across, as those of a
// body of air are of one pressure, whatever each of them touches. Left to themselves, they would be interpolated
// apart, which makes the body stiff on the coarse level: in foam that takes twice the iterations.

#include <vector>

#include "tarn/pressure/deflation.h"

namespace tarn {

// Gauss-Seidel sweeps each way on the finest level; the degree of the Chebyshev polynomial that smooths the others, as
// good as two sweeps and without colours; how often a level asks the next: 1 is a V-cycle, 2 a W-cycle; and whether
// bubbles are relaxed as a whole.
struct BlackBoxEffort {
    int fine = 2, coarse = 3, visits = 1;
    bool bodies = false;
};

// A level below the finest one, and how it is tied to the one above.
struct BlackBoxLevel {
    Cell<2> fine_cells;  // of the finer level
    Grid<2> grid;
    Tiles<2> tiles;
    mutable Field<2> x, next, b;
    Field<2> diagonal, scale;
    Field<2> links[4];  // to the cells in the west, south, south-west and south-east

    // Of the finer level's cells between the kept ones: weights of the kept ones in their values. Between a cell and the
    // next along x (0, 1), along y (2, 3), and between four (4 to 7: here, east, north, north-east).
    Field<2> weights[8];
    // Values on the finer level, those of its kept columns and of the columns between apart, so that all of a row can
    // be done at once.
    Tiles<2> split_tiles;
    mutable Field<2> even, odd;
    Field<2> even_links[4], odd_links[4];
    Field<2> patch[4];  // what four cells that enclose those between conduct along their south, north, west and east
};

class BlackBox {
public:
    BlackBox() = default;
    // `plain`: with the kernels that a GPU uses, cell by cell.
    explicit BlackBox(const Grid<2>& fine, BlackBoxEffort effort = {}, bool plain = on_device());

    // Prepares every level for a system whose inverse diagonal is still to be computed from `dirichlet`. Every cell of the
    // grid may be an unknown. `tied`: whether any cell has a Dirichlet term.
    void build(const Poisson<2>& system, const Field<2>& dirichlet, bool tied);

    // z = M r, one cycle from zero; and r . z, where kernels look for it.
    void precondition(Field<2>& z, const Field<2>& r, double* dot) const;

private:
    void cycle(size_t level, bool from_zero) const;

    Poisson<2> fine_;
    DeflationAggregates<2> bodies_;
    std::vector<BlackBoxLevel> coarse_;
    BlackBoxEffort effort_;
    std::vector<float> weights_;
    bool plain_ = false;
};

}  // namespace tarn
