#pragma once
// The fifth-order upwind derivative of Jiang & Peng 2000 for Hamilton-Jacobi equations, in units of one over a cell.

#include "tarn/field/field.h"

namespace tarn {

TARN_HD inline float weno5(float a, float b, float c, float d, float e)
{
    // Three third-order estimates, weighted by their smoothness.
    const float s0 = 13.0f / 12 * (a - 2 * b + c) * (a - 2 * b + c) + 0.25f * (a - 4 * b + 3 * c) * (a - 4 * b + 3 * c);
    const float s1 = 13.0f / 12 * (b - 2 * c + d) * (b - 2 * c + d) + 0.25f * (b - d) * (b - d);
    const float s2 = 13.0f / 12 * (c - 2 * d + e) * (c - 2 * d + e) + 0.25f * (3 * c - 4 * d + e) * (3 * c - 4 * d + e);
    const float largest = a * a > b * b ? a * a : b * b;
    // Its square must not underflow.
    const float epsilon = 1e-6f * largest + 1e-15f;
    const float w0 = 0.1f / ((s0 + epsilon) * (s0 + epsilon));
    const float w1 = 0.6f / ((s1 + epsilon) * (s1 + epsilon));
    const float w2 = 0.3f / ((s2 + epsilon) * (s2 + epsilon));
    const float d0 = a / 3 - 7 * b / 6 + 11 * c / 6;
    const float d1 = -b / 6 + 5 * c / 6 + d / 3;
    const float d2 = c / 3 + 5 * d / 6 - e / 6;
    return (w0 * d0 + w1 * d1 + w2 * d2) / (w0 + w1 + w2);
}

// d f / d axis at a cell, from the side that a flow of the given sign comes from; constant beyond the grid, and beyond
// its padding where that is not `outside`.
template <int D>
TARN_HD inline float upwind_weno5(const View<D, const float>& f, Cell<D> cells, Cell<D> c, int axis, float flow)
{
    const int n = f.next(axis), i = f.index(c);
    int last = cells[axis] - 1 - c[axis], first = -c[axis];
    if (!is_outside(f[i + n * (last + 1)])) ++last;
    if (!is_outside(f[i + n * (first - 1)])) --first;
    const auto at = [&](int k) { return f[i + n * (k < first ? first : (k > last ? last : k))]; };
    const int s = flow > 0 ? 1 : -1;
    const float v0 = at(-3 * s), v1 = at(-2 * s), v2 = at(-s), v3 = at(0), v4 = at(s), v5 = at(2 * s);
    return static_cast<float>(s) * weno5(v1 - v0, v2 - v1, v3 - v2, v4 - v3, v5 - v4);
}

}  // namespace tarn
