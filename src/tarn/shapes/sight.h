#pragma once
// What sees what past solids: how a wall that is thinner than a cell parts the cells on its sides.

#include "tarn/shapes/shape.h"

namespace tarn {

template <int D>
TARN_HD TARN_APART double distance_at(const ShapesView& shapes, Vec3 x)
{
    return shapes.distance(x);
}

// The direction in which the distance grows, within the simulated dimensions.
template <int D>
TARN_HD TARN_APART Vec3 normal_at(const ShapesView& shapes, Vec3 x, double h)
{
    const double little = 1e-3 * h;
    Vec3 n;
    for (int a = 0; a < D; ++a) {
        const Vec3 e = little * Vec3::unit(a);
        n[a] = distance_at<D>(shapes, x + e) - distance_at<D>(shapes, x - e);
    }
    // Midway between two surfaces either will do.
    if (length(n) < little)
        for (int a = 0; a < D; ++a)
            n[a] = distance_at<D>(shapes, x + little * Vec3::unit(a)) - distance_at<D>(shapes, x);
    const double l = length(n);
    return l > 0 ? (1 / l) * n : n;
}

// A cell whose centre is deeper than this inside a solid, in cells, is on neither of its sides. A wall thicker than
// twice as much has a layer of such cells, or nearly so, in its middle, which keeps what is on its sides apart: it is
// no thin one.
inline constexpr double too_deep = 0.9;

// Where a cell's centre x stands for the cell: there, or, in a wall too thin to have an inside, at the wall's nearer
// side, a little off it. False deep inside a solid, which has no sides.
template <int D>
TARN_HD TARN_APART bool stand_outside(const ShapesView& solids, double h, Vec3& x)
{
    const double off = 0.01 * h;
    double d = distance_at<D>(solids, x);
    if (d < -too_deep * h) return false;
    // Distances inside a union are too short, and corners bend the way.
    for (int n = 0; n < 6 && d < 0.5 * off; ++n) {
        x += (off - d) * normal_at<D>(solids, x, h);
        d = distance_at<D>(solids, x);
    }
    return d >= 0.5 * off;
}

// What a segment meets.
struct Obstacle {
    Vec3 at;  // seen from its start
    bool wall =
        false;  // the surfaces on its two sides turn their backs to each other: no edge or corner of a thick solid
};

// Whether the segment between two points outside of the solids, a few cells long at most, meets none of them.
template <int D>
TARN_HD TARN_APART bool sees(const ShapesView& solids, double h, Vec3 x, Vec3 y, Obstacle* obstacle = nullptr)
{
    const double touching = 0.002 * h, whole = length(y - x);
    const Vec3 way = (whole > 0 ? 1 / whole : 0) * (y - x);
    // How far one gets from either end.
    const auto get = [&](Vec3 from, double sign) {
        double gone = 0;
        while (gone < whole) {
            const double d = distance_at<D>(solids, from + sign * gone * way);
            if (!(d >= touching)) return gone;
            gone += d;
        }
        return whole;
    };
    const double gone = get(x, 1);
    if (!(gone < whole)) return true;
    if (obstacle) {
        obstacle->at = x + gone * way;
        const Vec3 back = y - get(y, -1) * way;
        obstacle->wall = dot(normal_at<D>(solids, obstacle->at, h), normal_at<D>(solids, back, h)) < -0.5;
    }
    return false;
}

}  // namespace tarn
