#pragma once
// Values at nodes, seen from the cells and faces between them.

#include "tarn/field/field.h"

namespace tarn {

// The mean of a cell's corners; the cell, or its index.
template <int D>
TARN_HD inline float nodes_at_cell(const View<D, const float>& nodes, int i)
{
    float s = 0;
    for (int corner = 0; corner < (1 << D); ++corner) {
        int j = i;
        for (int a = 0; a < D; ++a)
            if (corner >> a & 1) j += nodes.next(a);
        s += nodes[j];
    }
    return s / (1 << D);
}
template <int D>
TARN_HD inline float nodes_at_cell(const View<D, const float>& nodes, Cell<D> c)
{
    return nodes_at_cell<D>(nodes, nodes.index(c));
}

// The part of a cell outside the solid whose distance is at the nodes.
template <int D>
TARN_HD inline float fluid_fraction(const View<D, const float>& nodes, Cell<D> c, float h)
{
    const float f = 0.5f + nodes_at_cell<D>(nodes, c) / h;
    return f < 0 ? 0.0f : (f > 1 ? 1.0f : f);
}

// The mean of a face's corners.
template <int D>
TARN_HD inline float nodes_at_face(const View<D, const float>& nodes, Cell<D> c, int axis)
{
    const int i = nodes.index(c);
    float s = 0;
    for (int corner = 0; corner < (1 << D); ++corner) {
        if (corner >> axis & 1) continue;
        int j = i;
        for (int a = 0; a < D; ++a)
            if (corner >> a & 1) j += nodes.next(a);
        s += nodes[j];
    }
    return s / (1 << (D - 1));
}

// The direction in which the values grow, at a cell's centre.
template <int D>
TARN_HD inline Vec<D, float> nodes_normal(const View<D, const float>& nodes, int i)
{
    Vec<D, float> g;
    for (int corner = 0; corner < (1 << D); ++corner) {
        int j = i;
        for (int a = 0; a < D; ++a)
            if (corner >> a & 1) j += nodes.next(a);
        for (int a = 0; a < D; ++a) g[a] += corner >> a & 1 ? nodes[j] : -nodes[j];
    }
    const float l = length(g);
    return l > 0 ? (1 / l) * g : Vec<D, float>{};
}
template <int D>
TARN_HD inline Vec<D, float> nodes_normal(const View<D, const float>& nodes, Cell<D> c)
{
    return nodes_normal<D>(nodes, nodes.index(c));
}

}  // namespace tarn
