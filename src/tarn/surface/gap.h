#pragma once
// Air between water and a solid that it has separated from (see bodies/wall_separation.h), as phi tells it.

#include "tarn/field/closed_part.h"
#include "tarn/field/nodes.h"

namespace tarn {

// Whether there is such air between cell i and its neighbour j along an axis, both as indices: i is wet and outside the
// solid; j is dry and in the solid, on this side of it; and phi grows towards j at more than half the rate of a surface
// that runs along the solid. Where a surface merely meets the solid, phi continues into it with the slope that it has
// outside.
template <int D>
TARN_HD inline bool air_behind(const View<D, const float>& phi, const View<D, const float>& nodes, int i, int j,
                               int axis)
{
    const float own = phi[i], there = phi[j];
    if (!(own < 0) || !(there >= 0) || is_outside(there)) return false;
    const float outside = nodes_at_cell<D>(nodes, i), depth = -nodes_at_cell<D>(nodes, j);
    if (!(outside >= 0) || !(depth > 0) || !(there - own > 0.5f * (outside + depth))) return false;
    const float n = nodes_normal<D>(nodes, j)[axis];
    return (j > i ? -n : n) > 0.4f;
}
// The same from either cell.
template <int D>
TARN_HD inline bool air_between(const View<D, const float>& phi, const View<D, const float>& nodes, int i, int j,
                                int axis)
{
    return air_behind<D>(phi, nodes, i, j, axis) || air_behind<D>(phi, nodes, j, i, axis);
}

// Whether phi, continued from the cells on its two sides, is positive at the middle of what a solid closes of a face. Where still
// water meets a hull that leans over it, there is air between them along the vertical, but none at the part of a face that
// the hull closes under water.
template <int D>
TARN_HD inline bool dry_where_closed(const View<D, const float>& phi, const View<D, const float>& nodes, Cell<D> face, int axis)
{
    const Vec<D, float> middle = middle_of_closed_part(nodes, face, axis);
    const int i = phi.index(face), j = i - phi.next(axis);
    float there = 0.5f * (phi[i] + phi[j]);
    for (int a = 0; a < D; ++a) {
        // By the slope on the side of the water.
        const int back = middle[a] > 0 ? -phi.next(a) : phi.next(a);
        if (a == axis || is_outside(phi[i + back]) || is_outside(phi[j + back])) continue;
        there += 0.5f * std::fabs(middle[a]) * (phi[i] - phi[i + back] + phi[j] - phi[j + back]);
    }
    return there > 0;
}

}  // namespace tarn
