#pragma once
// What all schemes ask beside the water: which faces count, where paths come from, and which of two surfaces is nearer.

#include "tarn/advect/advect.h"
#include "tarn/advect/place.h"

namespace tarn {

// In a gap that closes: each surface comes with its own velocity, and the nearer one counts.
template <int D>
TARN_HD inline float nearest_of_two(const View<D, const float>& phi, const FaceView<D, const float>& u, Cell<D> cells,
                                    Cell<D> c, int axis, float s, float h)
{
    const int i = phi.index(c);
    Vec<D, float> v = velocity_at_cell(u, c);
    float nearest = outside;
    for (int side = 0; side < 2; ++side) {
        v[axis] = u[axis][side ? i + phi.next(axis) : i];
        const float p = sample_distance(phi, cells, c.template as<float>() - s * v, h);
        nearest = p < nearest ? p : nearest;
    }
    return nearest;
}

// Faces that a step must advect: those of wet cells. Or, with a limit, those that are no farther from the water.
template <int D>
TARN_HD inline bool touches_water(const View<D, const float>& phi, Cell<D> c, int axis, float limit = 0)
{
    const int i = phi.index(c);
    return phi[i] < limit || phi[i - phi.next(axis)] < limit;
}

// Paths back from cell centres, as offsets.
template <int D>
void trace_near(const FaceView<D>& path, const FaceView<D, const float>& u, const View<D, const float>& phi,
                const Tiles<D>& tiles, float s, float near, bool rk3, bool far)
{
    const Place<D, -1> centre(tiles.grid.cells);
    parallel_for("trace", tiles, [=] TARN_KERNEL(Cell<D> c) {
        Vec<D, float> d;
        const Vec<D, float> x = centre.position(c);
        if (phi(c) < near)
            d = (far ? trace_far(u, centre.cells, x, centre.velocity(u, c), -s) : trace(u, centre, c, -s, rk3)) - x;
        for (int a = 0; a < D; ++a) path[a](c) = d[a];
    });
}

}  // namespace tarn
