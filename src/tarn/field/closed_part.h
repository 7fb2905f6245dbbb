#pragma once
// The middle of the part of a face that solids close, from their distance at the face's nodes. With it the turning of a body
// and its torque are exact for the surface that the fractions of faces describe: for each cell, the sum over its faces of
// +-(1 - open) c x e_a, with c that middle, is the integral of r x n over the solid's surface in it (Gauss), and so zero for a ball
// about its centre.

#include "tarn/field/field.h"

namespace tarn {

namespace closed_part {

// The area of the part of a triangle where a linear function is not positive, and its first moments, in the plane.
struct Moments {
    float area = 0, x = 0, y = 0;
};
struct Corner {
    float x, y, d;
};
TARN_HD inline void add_triangle(Moments& m, Corner a, Corner b, Corner c)
{
    const float area = 0.5f * std::fabs((b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y));
    m.area += area;
    m.x += area * (a.x + b.x + c.x) / 3;
    m.y += area * (a.y + b.y + c.y) / 3;
}
TARN_HD inline void add_closed(Moments& m, const Corner (&corner)[3])
{
    // What is left of the triangle has up to four corners, in order.
    Corner left[4];
    int count = 0;
    for (int n = 0; n < 3; ++n) {
        const Corner &a = corner[n], &b = corner[(n + 1) % 3];
        if (!(a.d > 0)) left[count++] = a;
        if ((a.d > 0) == (b.d > 0)) continue;
        const float t = a.d / (a.d - b.d);
        left[count++] = {a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), 0};
    }
    for (int n = 2; n < count; ++n) add_triangle(m, left[0], left[n - 1], left[n]);
}

}  // namespace closed_part

// From the face's centre, in cells; zero where nothing of it is closed.
TARN_HD inline Vec<2, float> middle_of_closed_part(const View<2, const float>& nodes, Cell<2> face, int axis)
{
    Vec<2, float> offset;
    const int i = nodes.index(face), along = 1 - axis;
    const float lower = nodes[i], upper = nodes[i + nodes.next(along)];
    if ((lower > 0) == (upper > 0)) return offset;
    const float t = lower / (lower - upper);
    offset[along] = 0.5f * (lower > 0 ? t : t - 1);
    return offset;
}
TARN_HD inline Vec<3, float> middle_of_closed_part(const View<3, const float>& nodes, Cell<3> face, int axis)
{
    using namespace closed_part;
    Vec<3, float> offset;
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    const int i = nodes.index(face), m = nodes.next(u), n = nodes.next(v);
    const Corner corner[4] = {{-0.5f, -0.5f, nodes[i]},
                              {0.5f, -0.5f, nodes[i + m]},
                              {0.5f, 0.5f, nodes[i + m + n]},
                              {-0.5f, 0.5f, nodes[i + n]}};
    const Corner middle{0, 0, 0.25f * (corner[0].d + corner[1].d + corner[2].d + corner[3].d)};
    Moments sum;
    for (int s = 0; s < 4; ++s) {
        const Corner triangle[3] = {middle, corner[s], corner[(s + 1) % 4]};
        add_closed(sum, triangle);
    }
    if (!(sum.area > 0)) return offset;
    offset[u] = sum.x / sum.area;
    offset[v] = sum.y / sum.area;
    return offset;
}

}  // namespace tarn
