#pragma once
// The curl of a velocity on faces, at cells.

#include "tarn/field/sample.h"

namespace tarn {

// The velocity's slope along an axis at a cell: between the centres beside it, as far as there are any.
template <int D>
TARN_HD inline Vec<D, float> slope_at(const FaceView<D, const float>& u, Cell<D> cells, Cell<D> c, int axis)
{
    const Cell<D> upper = c[axis] + 1 < cells[axis] ? moved<D>(c, axis, 1) : c, lower = c[axis] > 0 ? moved<D>(c, axis, -1) : c;
    const float per = 1 / static_cast<float>(upper[axis] - lower[axis]);
    return per * (velocity_at_cell(u, upper) - velocity_at_cell(u, lower));
}

// h times the curl of the velocity at a cell; in 2D along z.
template <int D>
TARN_HD inline Vec3f curl_at(const FaceView<D, const float>& u, Cell<D> cells, Cell<D> c)
{
    const Vec<D, float> dx = slope_at(u, cells, c, 0), dy = slope_at(u, cells, c, 1);
    Vec3f curl;
    curl[2] = dx[1] - dy[0];
    if constexpr (D == 3) {
        const Vec<D, float> dz = slope_at(u, cells, c, 2);
        curl[0] = dy[2] - dz[1];
        curl[1] = dz[0] - dx[2];
    }
    return curl;
}

}  // namespace tarn
