#pragma once
// Volumes and curvature from phi.

#include <cmath>
#include <numbers>

#include "tarn/field/nodes.h"
#include "tarn/surface/closed.h"

namespace tarn {

// The gradient of phi at a cell, per cell size: central differences, one-sided at thin walls, and at the grid's ends where
// the padding is `outside`.
template <int D>
TARN_HD inline Vec<D, float> gradient_per_cell(const View<D, const float>& phi, Cell<D> cells, Cell<D> c,
                                               const ThinWalls<D>& thin_walls = {})
{
    Vec<D, float> g;
    const int i = phi.index(c);
    for (int a = 0; a < D; ++a) {
        const int n = phi.next(a);
        const bool low = (c[a] > 0 || !is_outside(phi[i - n])) && !thin_walls.below(i, a);
        const bool high = (c[a] + 1 < cells[a] || !is_outside(phi[i + n])) && !thin_walls.above(i, a);
        const float d = phi[high ? i + n : i] - phi[low ? i - n : i];
        g[a] = low && high ? 0.5f * d : d;
    }
    return g;
}

// delta_epsilon of [SSK05] (9).
TARN_HD inline float smeared_delta(float phi, float epsilon)
{
    const float x = phi / epsilon;
    if (x <= -1 || x >= 1) return 0;
    return (0.5f + 0.5f * std::cos(std::numbers::pi_v<float> * x)) / epsilon;
}

// The part of a unit cube behind a plane: `value` at its centre, `gradient` across it. Exact: the cube's corners are
// cut off the simplex behind the plane one by one (inclusion and exclusion), sum over corner sets S of
// (-1)^|S| max(0, alpha - sum of n in S)^D / (D! product of n). Of a square, at most two corners need cutting off, as
// what lies behind the plane, or else in front of it, is at most half.
template <int D>
TARN_HD inline float fraction_behind(float value, Vec<D, float> gradient)
{
    double n[D], sum = 0;
    for (int a = 0; a < D; ++a) {
        n[a] = std::fabs(static_cast<double>(gradient[a]));
        sum += n[a];
    }
    if (!(sum > 0)) return value < 0 ? 1.0f : 0.0f;
    const double one_over = 1 / sum, alpha = 0.5 - value * one_over;
    if (alpha <= 0) return 0;
    if (alpha >= 1) return 1;
    // An axis along which nothing changes would divide by zero; this much tilt changes the volume by less than 1e-6.
    double product = D == 2 ? 2 : 6, total = 0;
    for (int a = 0; a < D; ++a) {
        n[a] = n[a] * one_over > 1e-3 ? n[a] * one_over : 1e-3;
        total += n[a];
        product *= n[a];
    }
    const double scaled = alpha + 0.5 * (total - 1);  // the plane keeps its place at the centre
    double v = 0;
    if constexpr (D == 2) {
        const double less = n[0] < n[1] ? n[0] : n[1];
        const double part = scaled < total - scaled ? scaled : total - scaled, beyond = part > less ? part - less : 0.0;
        const double small = (part * part - beyond * beyond) / product;
        v = scaled < total - scaled ? small : 1 - small;
    } else {
        for (int corner = 0; corner < (1 << D); ++corner) {
            double left = scaled;
            int odd = 0;
            for (int a = 0; a < D; ++a)
                if (corner >> a & 1) {
                    left -= n[a];
                    odd ^= 1;
                }
            if (left <= 0) continue;
            const double power = left * left * left;
            v += odd ? -power : power;
        }
        v /= product;
    }
    return static_cast<float>(v < 0 ? 0 : (v > 1 ? 1 : v));
}

// The wet part of a cell.
template <int D>
TARN_HD inline float wet_fraction(const View<D, const float>& phi, Cell<D> cells, Cell<D> c, float h,
                                  const ThinWalls<D>& thin_walls = {})
{
    const float p = phi(c);
    if (p > h) return 0;  // farther than half a cell's diagonal
    if (p < -h) return 1;
    return fraction_behind<D>(p, gradient_per_cell<D>(phi, cells, c, thin_walls));
}

// The part of a cell that is wet and outside of solids.
template <int D>
struct WetPart {
    View<D, const float> phi;
    Cell<D> cells;
    float h;
    View<D, const float> nodes = {}, volume_fraction = {};  // data null: no solids; no thin walls
    ThinWalls<D> thin_walls;

    // `closed` is null where there are no solids.
    WetPart(const Field<D>& f, const ClosedFaces<D>* closed)
        : phi(f.view()), cells(f.grid().cells), h(static_cast<float>(f.grid().h))
    {
        if (!closed) return;
        nodes = closed->distance.view();
        thin_walls = closed->thin_walls;
        if (closed->volume_fraction) volume_fraction = closed->volume_fraction->view();
    }

    // The part of a cell outside of solids, or on its side of thin walls.
    TARN_HD float outside(Cell<D> c) const
    {
        if (!nodes.data) return 1;
        return volume_fraction.data ? volume_fraction(c) : fluid_fraction<D>(nodes, c, h);
    }
    TARN_HD float operator()(Cell<D> c) const
    {
        const float wet = wet_fraction<D>(phi, cells, c, h, thin_walls);
        if (!(wet > 0) || !nodes.data) return wet;
        // A surface along a solid leaves the water all outside of it; or, where water lies on the solid, the solid's part is
        // all behind it. Any other cuts the solid's part as it cuts the rest. A thin wall has no part of its own.
        const float part = outside(c);
        if (thin_walls.around(phi.index(c))) return wet * part;
        const Vec<D, float> g = gradient_per_cell<D>(phi, cells, c, thin_walls);
        const float across = dot(g, nodes_normal<D>(nodes, c)), along = 0.7f * length(g);
        if (across < -along) return wet < part ? wet : part;
        if (across > along) return wet + part > 1 ? wet + part - 1 : 0.0f;
        return wet * part;
    }
};

// kappa = div(grad phi / |grad phi|) at a cell: 1/R for a disc of water, 2/R for a ball. Curvature beyond one over a
// cell is not resolved by the grid, and is kept at that. At the grid's ends and at thin walls phi goes on as it is there.
template <int D>
TARN_HD inline float curvature(const View<D, const float>& phi, Cell<D> cells, Cell<D> c, float h,
                               const ThinWalls<D>& thin_walls = {})
{
    const auto at = [&](Cell<D> p) { return phi(p); };
    const auto moved = [&](Cell<D> p, int a, int by) {
        const int to = p[a] + by;
        if (to >= 0 && to < cells[a] && !thin_walls.beside(phi.index(p), a, by > 0)) p[a] = to;
        return p;
    };
    // div(g/|g|) = (|g|^2 laplace phi - g . H g) / |g|^3 with g the gradient and H the second derivatives.
    float g[D], H[D][D], g2 = 1e-12f, laplace = 0;
    for (int a = 0; a < D; ++a) {
        const float lo = at(moved(c, a, -1)), hi = at(moved(c, a, 1));
        g[a] = (hi - lo) / (2 * h);
        H[a][a] = (hi - 2 * phi(c) + lo) / (h * h);
        g2 += g[a] * g[a];
        laplace += H[a][a];
        for (int b = 0; b < a; ++b)
            H[a][b] = H[b][a] = (at(moved(moved(c, a, 1), b, 1)) - at(moved(moved(c, a, 1), b, -1)) -
                                 at(moved(moved(c, a, -1), b, 1)) + at(moved(moved(c, a, -1), b, -1))) /
                                (4 * h * h);
    }
    float gHg = 0;
    for (int a = 0; a < D; ++a)
        for (int b = 0; b < D; ++b) gHg += g[a] * H[a][b] * g[b];
    const float kappa = (g2 * laplace - gHg) / (g2 * std::sqrt(g2)), most = (D - 1) / h;
    return kappa < -most ? -most : (kappa > most ? most : kappa);
}

}  // namespace tarn
