#pragma once
// How a droplet or a bubble moves for one step: under a force and drag, along a path that walls and solids bend.
//
// Positions are counted in cells from the first cell's centre.

#include <numbers>

#include "tarn/advect/trace.h"
#include "tarn/field/nodes.h"
#include "tarn/pressure/boundary.h"

namespace tarn {

// The velocity after dt under an acceleration a and the drag of fluid that moves with u, where drag decelerates by
// k |v - u|^2: implicit, so that it is the terminal one for long steps. With w = v - u:  w - w0 = a dt - k |w| w dt.
template <int D, class Real>
TARN_HD inline Vec<D, Real> dragged(Vec<D, Real> v, Vec<D, Real> u, Vec<D, Real> a, Real k, Real dt)
{
    const Vec<D, Real> s = v - u + dt * a;
    const Real size = length(s), c = k * dt;
    if (!(size > 0) || !(c > 0)) return u + s;
    return u + (2 / (1 + std::sqrt(1 + 4 * c * size))) * s;
}

// Where drag decelerates a drop or bubble of this volume, in cells, by k |v - u|^2: k, in 1/m. `coefficient` is that of
// drag, times the density around over its own.
template <int D>
TARN_HD inline float drag_of(float volume, float h, float coefficient)
{
    constexpr float pi = std::numbers::pi_v<float>;
    const float r = h * (D == 3 ? std::cbrt(volume * (3 / (4 * pi))) : std::sqrt(volume / pi));
    // Section over volume. In 2D a drop is a cylinder.
    return 0.5f * coefficient * (D == 3 ? 3 / (4 * r) : 2 / (pi * r));
}

// What stands in the way, at the end of the step.
template <int D>
struct Obstacles {
    Cell<D> cells;
    float h;
    bool open[D][2];                         // whether the domain's lower, upper side lets everything out
    View<D, const float> nodes = {};         // distance to solids; data null: there are none
    FaceView<D, const float> velocity = {};  // of solids; data null: they stand still
    Sides<D> sides;

    Obstacles(const Boundary<D>& boundary, double cell_size, const Sides<D>& thin_walls)
        : cells(boundary.cells), h(static_cast<float>(cell_size)), sides(thin_walls)
    {
        for (int a = 0; a < D; ++a)
            for (int side = 0; side < 2; ++side) open[a][side] = boundary.wall_open[a][side];
        if (boundary.solids) nodes = boundary.solid_distance;
        if (boundary.moving) velocity = boundary.solid_velocity;
    }

    // In a cell whose centre is inside a solid as thick as a cell, the distance at nodes tells all, and the closed
    // faces around it are no thin wall. In other cells beside closed faces it is the faces that tell: the distance at
    // the nodes sees a thin wall only where one of them happens to lie in it.
    TARN_HD bool bars(Vec<D, float> x) const
    {
        return sides.any() && !(nodes_at_cell<D>(nodes, cell_at(x, cells)) < 0);
    }
    TARN_HD bool beside_thin_wall(Vec<D, float> x) const
    {
        return bars(x) && sides.after.around(nodes.index(cell_at(x, cells)));
    }
    // How far x is outside of solids that the nodes see, in cells.
    TARN_HD float outside(Vec<D, float> x) const { return nodes.data && !beside_thin_wall(x) ? distance(x) : 1.0f; }
    // In cells.
    TARN_HD float distance(Vec<D, float> x) const
    {
        return sample(nodes, locate(nodes, x + Vec<D, float>::all(0.5f), cells)) / h;
    }
    TARN_HD Vec<D, float> normal(Vec<D, float> x) const
    {
        Vec<D, float> n;
        for (int a = 0; a < D; ++a) {
            Vec<D, float> up = x, down = x;
            up[a] += 0.25f;
            down[a] -= 0.25f;
            n[a] = distance(up) - distance(down);
        }
        const float l = length(n);
        return l > 0 ? (1 / l) * n : Vec<D, float>{};
    }
    // The normal of a thin wall beside x, towards x: the mean of the faces that the wall closes within two cells, as
    // seen from x's side of it.
    TARN_HD Vec<D, float> thin_normal(Vec<D, float> x) const
    {
        const Cell<D> home = cell_at(x, cells);
        const Vec<D, float> middle = home.template as<float>();
        Vec<D, float> n;
        constexpr int around = D == 3 ? 125 : 25;
        for (int k = 0; k < around; ++k) {
            Cell<D> c = home;
            for (int a = 0, left = k; a < D; ++a, left /= 5) c[a] += left % 5 - 2;
            if (!sides.after.inside(c)) continue;
            const Vec<D, float> there = c.template as<float>();
            if (!(go(sides.after, middle, there) == there)) continue;
            const int i = nodes.index(c);
            for (int a = 0; a < D; ++a)
                n[a] += static_cast<float>(sides.after.below(i, a)) - static_cast<float>(sides.after.above(i, a));
        }
        const float l = length(n);
        return l > 0 ? (1 / l) * n : Vec<D, float>{};
    }
    TARN_HD Vec<D, float> velocity_at(Vec<D, float> x) const
    {
        Vec<D, float> u;
        for (int a = 0; a < D && velocity.axis[0].data; ++a) u[a] = sample_faces(velocity[a], cells, a, x);
        return u;
    }
};

template <int D>
struct Flight {
    Vec<D, float> x, u;
    bool left = false;     // through an open side
    bool arrived = false;  // where it was looking for
};

// Follows the way of something at x that would move by `way` were there nothing but it. In pieces of at most half a
// cell, so that it passes through nothing that the distance at nodes shows; thin walls bar the faces between cells.
// What it strikes takes away the velocity into it (inelastic, without friction), and it slides on. It ends outside of
// solids, on its side of thin walls, and where `arrived` first says so.
template <int D, class Arrived>
TARN_HD inline Flight<D> fly(const Obstacles<D>& o, Vec<D, float> x, Vec<D, float> u, Vec<D, float> way,
                             const Arrived& arrived)
{
    constexpr float margin = 1e-3f;
    Flight<D> f{x, u};
    const auto slide = [&](Vec<D, float> n, Vec<D, float> wall, Vec<D, float>& piece) {
        const float into = dot(f.u - wall, n), on = dot(piece, n);
        if (into < 0) f.u -= into * n;
        if (on < 0) piece -= on * n;
    };
    const auto kept_inside_domain = [&](Vec<D, float> y) {
        for (int a = 0; a < D; ++a) y[a] = clamp(y[a], margin - 0.5f, static_cast<float>(o.cells[a]) - 0.5f - margin);
        return y;
    };
    if (o.sides.any()) f.x = o.sides.carried(f.x);
    const int pieces = 1 + static_cast<int>(2 * length(way));
    Vec<D, float> piece = (1 / static_cast<float>(pieces)) * way;
    for (int n = 0; n < pieces; ++n) {
        Vec<D, float> to = f.x + piece;
        for (int a = 0; a < D; ++a)
            for (int side = 0; side < 2; ++side) {
                const float last = side ? static_cast<float>(o.cells[a]) - 0.5f : -0.5f;
                if (side ? to[a] <= last : to[a] >= last) continue;
                f.left = f.left || o.open[a][side];
                Vec<D, float> inward;
                inward[a] = side ? -1.0f : 1.0f;
                slide(inward, {}, piece);
            }
        to = kept_inside_domain(to);
        if (f.left) {
            f.x = to;
            return f;
        }
        if (o.bars(f.x)) {
            const Vec<D, float> end = go(o.sides.after, f.x, to);
            if (!(end == to)) slide(o.thin_normal(f.x), o.velocity_at(f.x), piece);
            to = end;
        }
        if (o.nodes.data) {
            float d = o.outside(to);
            for (int k = 0; k < 8 && d < 0; ++k) {
                const Vec<D, float> out = o.normal(to);
                slide(out, o.velocity_at(to), piece);
                to = kept_inside_domain(to + (margin - d) * out);
                d = o.outside(to);
            }
            // In a corner that the solid's distance does not resolve, it stays where it was.
            if (d < 0 && o.outside(f.x) >= d) {
                to = f.x;
                f.u = o.velocity_at(to);
                piece = {};
            }
        }
        f.x = to;
        f.arrived = arrived(f.x);
        if (f.arrived) return f;
    }
    return f;
}

}  // namespace tarn
