#pragma once
// Walls thinner than a cell, which the distances at nodes do not show: marks on the faces between cells that lie on
// different sides of a wall. Every cell lies on one side. Nothing is interpolated through one and no path leads
// through one (after Guendelman et al. 2005), so that each side's water is its own.

#include "tarn/field/sample.h"

namespace tarn {

template <int D>
struct ThinWalls {
    Cell<D> cells;
    FaceView<D, const uint8_t> on = {};  // data null: there are none

    TARN_HD bool any() const { return on.axis[0].data != nullptr; }
    // Between a cell, by its index, and its neighbour along an axis.
    TARN_HD bool below(int i, int axis) const { return any() && on[axis][i]; }
    TARN_HD bool above(int i, int axis) const { return any() && on[axis][i + on[axis].next(axis)]; }
    TARN_HD bool beside(int i, int axis, bool up) const { return up ? above(i, axis) : below(i, axis); }
    // On any side of a cell.
    TARN_HD bool around(int i) const
    {
        if (!any()) return false;
        uint8_t found = 0;
        for (int a = 0; a < D; ++a) found |= on[a][i] | on[a][i + on[a].next(a)];
        return found != 0;
    }
    TARN_HD bool inside(Cell<D> c) const
    {
        for (int a = 0; a < D; ++a)
            if (c[a] < 0 || c[a] >= cells[a]) return false;
        return true;
    }
};

// The end of a straight path from one position towards another that passes no thin wall: it slides along those in its way.
// The end lies in a cell on the same side as the start's.
template <int D>
TARN_HD inline Vec<D, float> go(const ThinWalls<D>& thin_walls, Vec<D, float> from, Vec<D, float> to)
{
    if (!thin_walls.any()) return to;
    constexpr float short_of_face = 0.499f;
    Cell<D> c = cell_at(from, thin_walls.cells);
    while (thin_walls.inside(c)) {
        // The face through which the path leaves the cell. A cell owns its lower faces.
        int axis = -1;
        float first = 0;
        for (int a = 0; a < D; ++a) {
            const bool up = to[a] > from[a];
            const float face = static_cast<float>(c[a]) + (up ? 0.5f : -0.5f);
            if (up ? to[a] < face : !(to[a] < face)) continue;
            const float part = (face - from[a]) / (to[a] - from[a]);
            if (axis >= 0 && part >= first) continue;
            axis = a;
            first = part;
        }
        if (axis < 0) break;
        const bool up = to[axis] > from[axis];
        if (thin_walls.beside(thin_walls.on[0].index(c), axis, up)) {
            to[axis] = static_cast<float>(c[axis]) + (up ? short_of_face : -short_of_face);
            continue;
        }
        from += first * (to - from);
        c[axis] += up ? 1 : -1;
        from[axis] = static_cast<float>(c[axis]) + (up ? -0.5f : 0.5f);
    }
    return to;
}

// Whether no thin wall runs between the cells that an interpolation at a position mixes.
template <int D>
TARN_HD inline bool undivided(const ThinWalls<D>& thin_walls, Vec<D, float> x)
{
    if (!thin_walls.any()) return true;
    Cell<D> last = thin_walls.cells;
    for (int a = 0; a < D; ++a) --last[a];
    const int low = locate(thin_walls.on[0], x, last).index;
    uint8_t any = 0;
    for (int corner = 0; corner < (1 << D); ++corner) {
        int i = low;
        for (int a = 0; a < D; ++a)
            if (corner >> a & 1) i += thin_walls.on[a].next(a);
        for (int a = 0; a < D; ++a)
            if (corner >> a & 1) any |= thin_walls.on[a][i];
    }
    return any == 0;
}

// A cell-centred field at a position, from its own side: where a neighbour is hidden, the field goes on straight.
template <int D, class T>
TARN_HD inline float sample_one_side(const View<D, T>& f, const ThinWalls<D>& thin_walls, Vec<D, float> x)
{
    if (undivided(thin_walls, x)) return sample_cells(f, thin_walls.cells, x);
    const Cell<D> home = cell_at(x, thin_walls.cells);
    const int i = f.index(home);
    float value = f[i], beyond = 0;
    for (int a = 0; a < D; ++a) {
        const float away = clamp(x[a], 0, static_cast<float>(thin_walls.cells[a] - 1)) - static_cast<float>(home[a]);
        const bool up = away > 0;
        const int next = up ? f.next(a) : -f.next(a);
        const int before = home[a] + (up ? -1 : 1);
        if (!thin_walls.beside(i, a, up))
            value += std::fabs(away) * (f[i + next] - f[i]);
        else if (!thin_walls.beside(i, a, !up) && before >= 0 && before < thin_walls.cells[a])
            beyond += std::fabs(away) * (f[i] - f[i - next]);
    }
    // What lies beyond makes no water of air nor air of water.
    return (value < 0) == (value + beyond < 0) ? value + beyond : value;
}

// A component of the velocity at a position, from its own side: where a neighbour is hidden, the velocity along the
// wall stays as it is.
template <int D, class T>
TARN_HD inline float component_one_side(const View<D, T>& u, const ThinWalls<D>& thin_walls, int axis, Vec<D, float> x)
{
    if (undivided(thin_walls, x)) return sample_faces(u, thin_walls.cells, axis, x);
    const Cell<D> home = cell_at(x, thin_walls.cells);
    const int i = u.index(home);
    const float w = clamp(x[axis] - static_cast<float>(home[axis]) + 0.5f, 0, 1);
    const auto at = [&](int j) { return u[j] + w * (u[j + u.next(axis)] - u[j]); };
    const float own = at(i);
    float value = own;
    for (int b = 0; b < D; ++b) {
        if (b == axis) continue;
        const float away = clamp(x[b], 0, static_cast<float>(thin_walls.cells[b] - 1)) - static_cast<float>(home[b]);
        const bool up = away > 0;
        if (!thin_walls.beside(i, b, up)) value += std::fabs(away) * (at(i + (up ? u.next(b) : -u.next(b))) - own);
    }
    return value;
}

template <int D, class T>
TARN_HD inline Vec<D, float> velocity_one_side(const FaceView<D, T>& u, const ThinWalls<D>& thin_walls, Vec<D, float> x)
{
    Vec<D, float> v;
    for (int a = 0; a < D; ++a) v[a] = component_one_side(u[a], thin_walls, a, x);
    return v;
}

}  // namespace tarn
