#pragma once
// The pressure of the water on solids, as the solve has it: p acts at the centres of wet cells, on the closed parts of their
// faces. With c_lo and c_hi, the parts that a solid closes of a cell's two faces along an axis a,
//
//   F_a = sum over wet cells of h^(D-1) (c_hi - c_lo) p_i + rho g_a (h^D (c_lo + c_hi) / 2 - V_s)
//
// The first term takes the pressure at the cell's centre, half a cell from a flat side: alone it would lift a box of 17 cells
// by 2 to 4 % too much or too little, by where it lies on the grid. The second is its change rho g . (x - x_i) over the solid's
// surface in the cell, by Gauss's theorem from the solid's volume V_s there: of water at rest every solid is lifted by the
// weight of what it displaces, corners that faces do not show included. Across gravity the middle of the surface serves.

#include "tarn/field/nodes.h"
#include "tarn/pressure/boundary.h"
#include "tarn/shapes/shape.h"

namespace tarn {

// The entries of scene.solids that a [[solid]] is made of: itself and what is cut from it.
struct SolidEntries {
    int first = 0, last = -1;  // both included
};

// Where the solid's surface crosses the edges of a cell, in the mean, from the cell's centre and in cells; zero where it
// crosses none.
template <int D>
TARN_HD inline Vec<D, float> surface_in_cell(const View<D, const float>& nodes, int i)
{
    Vec<D, float> sum;
    int crossings = 0;
    for (int corner = 0; corner < (1 << D); ++corner) {
        int j = i;
        Vec<D, float> at;
        for (int a = 0; a < D; ++a) {
            const bool upper = corner >> a & 1;
            j += upper ? nodes.next(a) : 0;
            at[a] = upper ? 0.5f : -0.5f;
        }
        for (int a = 0; a < D; ++a) {
            if (corner >> a & 1) continue;
            const float here = nodes[j], there = nodes[j + nodes.next(a)];
            if ((here > 0) == (there > 0)) continue;
            Vec<D, float> x = at;
            x[a] += here / (here - there);
            sum += x;
            ++crossings;
        }
    }
    return crossings > 0 ? (1 / static_cast<float>(crossings)) * sum : sum;
}

// The part of a cell inside a solid, from its distance at the middles of smaller cells.
template <int D>
TARN_HD inline double solid_fraction(const ShapesView& shapes, SolidEntries entries, const Grid<D>& grid, Cell<D> c)
{
    constexpr int along = D == 2 ? 6 : 3;
    const ShapesView own{shapes.shapes + entries.first, entries.last - entries.first + 1};
    double sum = 0;
    int count = 1;
    for (int a = 0; a < D; ++a) count *= along;
    for (int n = 0; n < count; ++n) {
        Vec<D> x = grid.node(c);
        for (int a = 0, rest = n; a < D; ++a, rest /= along) x[a] += grid.h * (rest % along + 0.5) / along;
        const double part = 0.5 - own.distance(lift<D>(x)) * along / grid.h;
        sum += part < 0 ? 0 : part > 1 ? 1 : part;
    }
    return sum / count;
}

// The wet cells that have a pressure, as kernels see them.
template <int D>
struct WetCells {
    Boundary<D> boundary;
    View<D, const float> phi;  // data null: everything flows
    // With air: of faces, and of the water.
    FaceView<D, const float> density = {};
    float heavy = 1;

    // The density in a cell over the water's.
    TARN_HD double relative_density(Cell<D> c) const
    {
        if (!density[0].data) return 1;
        float sum = 0;
        for (int a = 0; a < D; ++a) sum += density[a](c) + density[a](moved<D>(c, a, 1));
        return static_cast<double>(sum / (2 * D * heavy));
    }

    TARN_HD bool operator()(Cell<D> c) const
    {
        if (!Box<D>{{}, boundary.cells}.contains(c) || (phi.data && !(phi(c) < 0))) return false;
        float open = 0;
        for (int a = 0; a < D; ++a)
            for (int side = 0; side < 2; ++side) open += boundary.open_at(moved<D>(c, a, side), a);
        return open > 0;
    }
    // The part of a face that a solid closes. What an inlet or the domain's side closes is none of it.
    TARN_HD float closed_by_solid(Cell<D> face, int axis) const
    {
        if (boundary.at_wall(face, axis) || boundary.inlet_at(face, axis)) return 0;
        return 1 - boundary.open_at(face, axis);
    }
};

// What a solid has in a wet cell, lengths in cells.
template <int D>
struct SolidPatch {
    Vec<D> area;            // of its surface, as a vector into the solid
    Vec<D> both;            // c_lo + c_hi of each axis
    Vec<D> middle;          // of its surface, from the cell's centre
    double volume = 0;      // V_s
    bool any = false;       // whether it closes any of a face
    bool separated = false; // with air between the water and the solid

    // The force of p(x) = here + slope . (x - x_i), over h^(D-1); and as it were all at the middle, across the surface, which is
    // what torques are found from: a ball has none about its centre.
    TARN_HD Vec<D> at_middle(double here, Vec<D> slope) const { return (here + dot(slope, middle)) * area; }
    TARN_HD Vec<D> force(double here, Vec<D> slope) const
    {
        Vec<D> f = at_middle(here, slope);
        for (int a = 0; a < D; ++a)
            f[a] += slope[a] * ((separated ? 0.0 : 0.5 * both[a] - volume) - middle[a] * area[a]);
        return f;
    }
};

// `owns(face, axis)`: whether the solid is what closes a face.
template <int D, class Owns>
TARN_HD inline SolidPatch<D> patch_in_cell(const WetCells<D>& wet, const ShapesView& shapes, SolidEntries entries,
                                           const Grid<D>& grid, Cell<D> c, const Owns& owns)
{
    SolidPatch<D> patch;
    const View<D, const float>& nodes = wet.boundary.solid_distance;
    for (int a = 0; a < D; ++a)
        for (int side = 0; side < 2; ++side) {
            const Cell<D> face = moved<D>(c, a, side);
            const float closed = 1 - wet.boundary.open[a](face);
            if (!(closed > 0) || !owns(face, a)) continue;
            const float part = wet.closed_by_solid(face, a);
            patch.any = true;
            patch.separated = patch.separated || (part < closed && !wet.boundary.at_wall(face, a));
            patch.area[a] += static_cast<double>(side ? part : -part);
            patch.both[a] += static_cast<double>(closed);
        }
    patch.middle = surface_in_cell<D>(nodes, nodes.index(c)).template as<double>();
    patch.volume = solid_fraction(shapes, entries, grid, c);
    return patch;
}

}  // namespace tarn
