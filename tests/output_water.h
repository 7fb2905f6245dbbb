#pragma once
// Water of a given shape for the tests of what leaves the house.

#include <algorithm>
#include <cmath>

#include "tarn/step/water.h"

namespace tarn {

// phi and solid are functions of a position; phi is clamped to a band of four cells as the solver leaves it.
template <int D, class Phi>
Water<D> water_of(Cell<D> cells, double h, Phi&& phi)
{
    Water<D> w;
    w.grid = Grid<D>(cells, h);
    w.phi = Field<D>(w.grid);
    w.velocity = FaceField<D>(w.grid);
    w.pressure = Field<D>(w.grid);
    w.targets = TargetVolumes<D>(w.grid);
    const int depth = D == 3 ? cells[D - 1] : 1;
    for (int k = 0; k < depth; ++k)
        for (int j = 0; j < cells[1]; ++j)
            for (int i = 0; i < cells[0]; ++i) {
                Cell<D> c;
                c[0] = i;
                c[1] = j;
                if constexpr (D == 3) c[2] = k;
                w.phi(c) = static_cast<float>(std::clamp(static_cast<double>(phi(w.grid.centre(c))), -4 * h, 4 * h));
            }
    return w;
}

template <int D, class Distance>
void add_solid(Water<D>& w, Distance&& distance)
{
    w.solids.any = true;
    w.solids.distance = Field<D>(w.grid);
    const int depth = D == 3 ? w.grid.cells[D - 1] : 0;
    for (int k = 0; k <= depth; ++k)
        for (int j = 0; j <= w.grid.cells[1]; ++j)
            for (int i = 0; i <= w.grid.cells[0]; ++i) {
                Cell<D> c;
                c[0] = i;
                c[1] = j;
                if constexpr (D == 3) c[2] = k;
                w.solids.distance(c) = static_cast<float>(distance(w.grid.node(c)));
            }
}

// Signed distance to a box, exact outside and inside.
template <int D>
double box_distance(Vec<D> x, Vec<D> lo, Vec<D> hi)
{
    double inside = -1e30, outside = 0;
    for (int a = 0; a < D; ++a) {
        const double d = std::max(lo[a] - x[a], x[a] - hi[a]);
        inside = std::max(inside, d);
        outside += std::max(d, 0.0) * std::max(d, 0.0);
    }
    return outside > 0 ? std::sqrt(outside) : inside;
}

}  // namespace tarn
