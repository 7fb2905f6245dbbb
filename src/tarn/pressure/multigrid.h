#pragma once
// A multigrid V-cycle that keeps the 7-point stencil on every level and needs no geometry, as a preconditioner.
//
// Coarse cells unite 2^D fine ones. A coarse face has half the summed conductance of the fine faces it covers, a coarse
// cell half the summed Dirichlet terms of its fine cells. The half is the over-correction: summed plainly, the coarse problem is
// twice too stiff, and iterations grow with resolution. Red-black Gauss-Seidel sweeps on the way down, and as many with
// the colours in the other order on the way up, which keeps the cycle symmetric; on the finest level one, or more where
// conductances jump.

#include <functional>
#include <vector>

#include "tarn/pressure/deflation.h"

namespace tarn {

// How many sweeps each way, on the finest level and on the others. Coarse ones cost a tenth and save two iterations in
// ten.
struct Sweeps {
    int fine = 1, coarse = 2;
    bool bodies = false;  // whether light bodies are relaxed as a whole
};

template <int D>
class Multigrid {
public:
    Multigrid() = default;
    // `together`: the smallest levels as one kernel, for backends on which starting one costs more than running it.
    explicit Multigrid(const Grid<D>& fine, bool together = on_device(), Sweeps sweeps = {});

    // Prepares every level for a system whose inverse diagonal is still to be computed from `dirichlet`.
    void build(const Poisson<D>& system, const Field<D>& dirichlet);

    // z = M r, one V-cycle from zero; and r . z, where kernels look for it. r is left as it was.
    void precondition(Field<D>& z, Field<D>& r, double* dot) const;

private:
    struct Level {
        Grid<D> grid;
        mutable Field<D> x, b;
        Field<D> inverse_diagonal, dirichlet;
        FaceField<D> w;
        PoissonView<D> view() const { return {w.view(), inverse_diagonal.view(), dirichlet.view()}; }
        Tiles<D> tiles;
        TileMap<D> map;
        Regions<D> regions;
    };
    void cycle(size_t level) const;
    void cycle_small(size_t level) const;
    // Of an octree: whether the level above level n has leaves. Level 0 is the finest.
    bool leaves_above(size_t n) const;
    template <bool uniform>
    void restrict(size_t n, const Field<D>& x, Field<D>& b, const PoissonView<D>& a) const;
    void with_leaves_above(size_t n, const Field<D>& x, Field<D>& b, bool still_zero, const std::function<void()>& f) const;

    Poisson<D> fine_;
    std::vector<Level> coarse_;
    Sweeps sweeps_;
    DeflationAggregates<D> bodies_;
    bool together_ = false;
};

}  // namespace tarn
