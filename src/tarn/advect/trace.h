#pragma once
// Following the flow from a position, in cells, for a time `s` = dt/h; negative to go back.

#include "tarn/field/thin_walls.h"

namespace tarn {

// By RK2 (midpoint), a path longer than this, in cells, turns too little with the flow: it is traced by RK3 (Ralston).
inline constexpr float long_path = 1;

// Where `velocity`, a function of the position that is u0 at x, leads.
template <int D, class Velocity>
TARN_HD TARN_INLINE Vec<D, float> trace_by(const Velocity& velocity, Vec<D, float> x, Vec<D, float> u0, float s,
                                           bool rk3 = false)
{
    const Vec<D, float> u1 = velocity(x + (0.5f * s) * u0);
    if (!rk3 && s * s * dot(u0, u0) < long_path * long_path) return x + s * u1;
    const Vec<D, float> u2 = velocity(x + (0.75f * s) * u1);
    return x + s * ((2.0f / 9) * u0 + (3.0f / 9) * u1 + (4.0f / 9) * u2);
}
template <int D, class T>
TARN_HD TARN_INLINE Vec<D, float> trace_path(const FaceView<D, T>& u, Cell<D> cells, Vec<D, float> x, Vec<D, float> u0,
                                             float s, bool rk3 = false)
{
    return trace_by([&](Vec<D, float> y) { return sample_velocity(u, cells, y); }, x, u0, s, rk3);
}

// A path of many cells, traced in pieces by RK2, so that it follows the flow around corners and does not leave through
// a wall.
inline constexpr float piece = 2;  // cells, at most
inline constexpr int most_pieces = 64;
template <int D, class T>
TARN_HD inline Vec<D, float> trace_far(const FaceView<D, T>& u, Cell<D> cells, Vec<D, float> x, Vec<D, float> u0,
                                       float s)
{
    float left = 1;
    for (int n = 0; n < most_pieces && left > 0; ++n) {
        const float far = std::fabs(s) * left * length(u0);
        const float part = far > piece ? left * piece / far : left;
        x += (part * s) * sample_velocity(u, cells, x + (0.5f * part * s) * u0);
        left -= part;
        if (left > 0) u0 = sample_velocity(u, cells, x);
    }
    return x;
}

// Thin walls over a step, and how cells change their side of walls that move.
template <int D>
struct Sides {
    ThinWalls<D> before, after;                   // at the start and at the end of the step
    FaceView<D, const int8_t> came_from = {};  // with moving walls: from a cell at the end of the step to the nearest
                                               // that was on the same side at its start, in cells along each axis
    FaceView<D, const int8_t> goes_to = {};    // the same from a cell at the start to one at the end

    TARN_HD bool any() const { return before.any() || after.any(); }
    TARN_HD static Cell<D> partner(const FaceView<D, const int8_t>& offset, Cell<D> c)
    {
        Cell<D> n = c;
        for (int a = 0; a < D && offset[a].data; ++a) n[a] += offset[a](c);
        return n;
    }
    TARN_HD Cell<D> origin(Cell<D> c) const { return partner(came_from, c); }
    TARN_HD Cell<D> destination(Cell<D> c) const { return partner(goes_to, c); }
    // Where what is at x at the start of the step has to be seen from at its end.
    TARN_HD Vec<D, float> carried(Vec<D, float> x) const
    {
        const Cell<D> c = cell_at(x, after.cells), to = destination(c);
        return to == c ? x : to.template as<float>();
    }
};

// Where the flow leads from x, for one that looks at it from `start`, a position beside x on its own side of all walls.
// The way there may be barred.
template <int D, class T>
TARN_HD inline Vec<D, float> flow_beside_walls(const FaceView<D, T>& u, const ThinWalls<D>& thin_walls, Vec<D, float> start,
                                               Vec<D, float> x, float s, bool rk3)
{
    const auto velocity = [&](Vec<D, float> y) { return velocity_one_side(u, thin_walls, go(thin_walls, start, y)); };
    return trace_by(velocity, x, velocity_one_side(u, thin_walls, start), s, rk3);
}

// Where what is at x, in or at the side of cell c, at the end of a step of s = dt/h was at its start. The fields there
// are to be sampled from one side of `before`.
template <int D, class T>
TARN_HD inline Vec<D, float> trace_back_beside_walls(const FaceView<D, T>& u, const Sides<D>& sides, Cell<D> c,
                                                     Vec<D, float> x, float s, bool rk3)
{
    const Vec<D, float> start = go(sides.before, sides.origin(c).template as<float>(), x);
    return go(sides.before, start, flow_beside_walls(u, sides.before, start, x, -s, rk3));
}

// The velocity at a face: its own value, and the mean of the four nearest of each other component.
template <int D, class T>
TARN_HD inline Vec<D, float> velocity_at_face(const FaceView<D, T>& u, Cell<D> cells, Cell<D> c, int axis)
{
    Vec<D, float> v;
    for (int b = 0; b < D; ++b) {
        if (b == axis) {
            v[b] = u[b](c);
            continue;
        }
        // On the first and last face of the grid the cells beyond do not exist: their neighbours stand in.
        Cell<D> lower = c, upper = c;
        if (c[axis] > 0) --lower[axis];
        if (c[axis] == cells[axis]) --upper[axis];
        const int i = u[b].index(lower), j = u[b].index(upper), n = u[b].next(b);
        v[b] = 0.25f * (u[b][i] + u[b][i + n] + u[b][j] + u[b][j + n]);
    }
    return v;
}

}  // namespace tarn
