#pragma once
// Following the flow from a position, in cells, for a time `s` = dt/h; negative to go back.

#include "tarn/field/sample.h"

namespace tarn {

template <int D, class T>
TARN_HD inline Vec<D, float> trace_rk2(const FaceView<D, T>& u, Cell<D> cells, Vec<D, float> x, Vec<D, float> u0,
                                       float s)
{
    return x + s * sample_velocity(u, cells, x + (0.5f * s) * u0);
}

template <int D, class T>
TARN_HD inline Vec<D, float> trace_rk3(const FaceView<D, T>& u, Cell<D> cells, Vec<D, float> x, Vec<D, float> u0,
                                       float s)
{
    const Vec<D, float> u1 = sample_velocity(u, cells, x + (0.5f * s) * u0);
    const Vec<D, float> u2 = sample_velocity(u, cells, x + (0.75f * s) * u1);
    return x + s * ((2.0f / 9) * u0 + (3.0f / 9) * u1 + (4.0f / 9) * u2);
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
