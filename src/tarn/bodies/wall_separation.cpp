#include "tarn/bodies/wall_separation.h"

#include <cmath>
#include <utility>

#include "tarn/field/sample.h"
#include "tarn/pressure/surface_fraction.h"
#include "tarn/surface/measure.h"

namespace tarn {

namespace {

// Water further than this from a wall, in cells, moves without asking what is behind the wall.
constexpr float far_away = 1.5f;
// The part of a pressure's push that its gradient at a curved surface is uncertain by: water at rest does not rejoin a
// solid that it merely meets.
constexpr float uncertain = 0.1f;
// A wall carries water where this much of the weight, or more, leads into it.
constexpr float little = 0.01f;

// A closed side of the domain, seen from the cells along it.
template <int D>
struct Side {
    int axis, side;

    TARN_HD Cell<D> face(Cell<D> c) const { return moved<D>(c, axis, side); }
    TARN_HD Cell<D> beyond(Cell<D> c) const { return moved<D>(c, axis, 2 * side - 1); }
    TARN_HD float outward(float v) const { return side ? v : -v; }
};

// Whether a side pulls at the water in a cell beside it.
template <int D>
struct SuctionAtSide {
    Side<D> at;
    Boundary<D> boundary;
    Suction<D> suction;
    View<D, const float> phi, pressure;
    Grid<D> grid;

    TARN_HD bool operator()(Cell<D> c) const
    {
        if (!(phi(c) < 0) || !is_outside(phi(at.beyond(c)))) return false;
        const Vec<D, float> weight = suction.weight(grid.centre(c));
        const float carried = at.outward(weight[at.axis]);
        if (carried > little * length(weight)) return false;
        // The weight of the water between the cell's centre and the side.
        if (!(pressure(c) + 0.5f * static_cast<float>(grid.h) * carried < -suction.least) || suction.in_closed(pressure.index(c))) return false;
        const Cell<D> face = at.face(c);
        return !boundary.inlet_at(face, at.axis) && !(boundary.solids && !(boundary.open[at.axis](face) > 0));
    }
};

// Whether the water in a cell is separated from a solid beside it.
template <int D>
TARN_HD inline bool has_air_behind(const Boundary<D>& boundary, const View<D, const float>& phi, Cell<D> c)
{
    const int i = phi.index(c);
    bool any = false;
    for (int a = 0; a < D; ++a) {
        const int n = phi.next(a);
        any = any || air_behind<D>(phi, boundary.solid_distance, i, i - n, a) ||
              air_behind<D>(phi, boundary.solid_distance, i, i + n, a);
    }
    return any;
}

// A cell beside or inside a solid, and the solid's surface that is nearest to it.
template <int D>
struct AtSolid {
    float distance;          // of the cell's centre
    Vec<D, float> normal;    // out of the solid
    Cell<D> outside;         // the cell in front of the surface
    float distance_outside;  // of its centre
    Vec<D, float> inside;    // half a cell behind the surface, in cells
    bool divided;            // beside a thin wall, or separated by one from the cell in front: no place for air behind it

    TARN_HD AtSolid(const Boundary<D>& boundary, Cell<D> c, float h)
        : distance(nodes_at_cell<D>(boundary.solid_distance, c)), normal(nodes_normal<D>(boundary.solid_distance, c))
    {
        const Vec<D, float> x = c.template as<float>(), surface = x - (distance / h) * normal;
        outside = cell_at<D>(surface + 0.5f * normal, boundary.cells);
        inside = surface - 0.5f * normal;
        distance_outside = nodes_at_cell<D>(boundary.solid_distance, outside);
        divided = boundary.thin_walls.any() && divided_by(boundary.thin_walls, c);
    }

private:
    TARN_HD bool divided_by(const ThinWalls<D>& thin_walls, Cell<D> c) const
    {
        if (thin_walls.around(thin_walls.on[0].index(c)) || thin_walls.around(thin_walls.on[0].index(outside))) return true;
        const Vec<D, float> x = c.template as<float>(), y = outside.template as<float>();
        return !(go(thin_walls, x, y) == y);
    }
};

// Whether a solid's surface is within a distance of a cell's centre; most cells are told by this alone.
template <int D>
TARN_HD inline bool solid_within(const Boundary<D>& boundary, Cell<D> c, float distance)
{
    return std::fabs(nodes_at_cell<D>(boundary.solid_distance, c)) < distance;
}

}  // namespace

template <int D>
bool any_gap_at_sides(const Field<D>& phi, const Tiles<D>& tiles)
{
    const auto p = phi.view();
    double any = 0;
    for (int a = 0; a < D; ++a)
        for (int side = 0; side < 2; ++side) {
            const Side<D> at{a, side};
            any += parallel_sum("gaps at sides", along_side(tiles, a, side),
                                [=] TARN_KERNEL(Cell<D> c) { return is_outside(p(at.beyond(c))) ? 0.0 : 1.0; });
        }
    return any > 0;
}

template <int D>
void move_gaps(Field<D>& phi, const Tiles<D>& tiles)
{
    const auto p = phi.view();
    const float h = static_cast<float>(phi.grid().h);
    for (int a = 0; a < D; ++a)
        for (int side = 0; side < 2; ++side) {
            const Side<D> at{a, side};
            parallel_for("move gaps", along_side(tiles, a, side), [=] TARN_KERNEL(Cell<D> c) {
                float& beyond = p(at.beyond(c));
                if (is_outside(beyond)) return;
                const bool closed = p(c) < -0.51f * h;
                beyond = closed || p(c) > far_away * h ? outside : p(c) + h;
            });
        }
}

template <int D>
bool rejoin_sides(Field<D>& phi, const Field<D>* x, WallFaces<D>& walls, const Boundary<D>& boundary, double dt,
                  const Tiles<D>& tiles)
{
    const auto p = phi.view();
    const View<D, const float> xv = x ? x->view() : View<D, const float>{};
    const float h = static_cast<float>(phi.grid().h), s = static_cast<float>(dt);
    double any = 0;
    for (int a = 0; a < D; ++a)
        for (int side = 0; side < 2; ++side) {
            if (boundary.wall_open[a][side]) continue;
            const Side<D> at{a, side};
            const float* const free = walls.free[a][side].data();
            float* const wall = walls.wall[a][side].data();
            any += parallel_sum("rejoin walls", along_side(tiles, a, side), [=] TARN_KERNEL(Cell<D> c) {
                float& beyond = p(at.beyond(c));
                if (is_outside(beyond) || !(p(c) < 0)) return 0.0;
                const int n = place_at_side<D>(boundary.cells, c, a);
                // The gap, and the velocity towards the wall at the surface in front of it, where p = 0.
                const float gap = p(c) + 0.5f * h > 0 ? p(c) + 0.5f * h : 0.0f;
                const float pushed = xv.data ? xv(c) / surface_fraction(p(c), beyond, h) : 0.0f;
                const float towards = at.outward(free[n]) + pushed;
                if (!(towards > 0)) return 0.0;
                beyond = outside;
                wall[n] = at.outward(towards * s < gap ? towards : gap / s);
                return 1.0;
            });
        }
    return any > 0;
}

template <int D>
bool separate_from_sides(Field<D>& phi, const Field<D>& pressure, const Suction<D>& suction, const Boundary<D>& boundary,
                     double band, const Tiles<D>& tiles)
{
    const auto p = phi.view();
    const float h = static_cast<float>(phi.grid().h);
    const int deep = static_cast<int>(std::ceil(band / phi.grid().h));
    bool any = false;
    for (int a = 0; a < D; ++a)
        for (int side = 0; side < 2; ++side) {
            if (boundary.wall_open[a][side]) continue;
            const SuctionAtSide<D> pulls{{a, side}, boundary, suction, p, pressure.view(), phi.grid()};
            const Tiles<D> layer = along_side(tiles, a, side);
            if (parallel_sum("suction", layer, [=] TARN_KERNEL(Cell<D> c) { return pulls(c) ? 1.0 : 0.0; }) == 0)
                continue;
            any = true;
            parallel_for("part from walls", layer, [=] TARN_KERNEL(Cell<D> c) {
                if (!pulls(c)) return;
                // The surface is at the side: the column of cells from there is as far from it, or nearer to another.
                const int last = side ? c[a] : boundary.cells[a] - 1;
                for (int n = 0; n < deep && n <= last; ++n) {
                    float& inside = p(moved<D>(c, a, side ? -n : n));
                    const float distance = -(static_cast<float>(n) + 0.5f) * h;
                    inside = inside < distance ? distance : inside;
                }
                p(pulls.at.beyond(c)) = p(c) + h;
            });
        }
    return any;
}

template <int D>
void carry_to_separated_walls(FaceField<D>& velocity, const Field<D>& phi, const Tiles<D>& tiles)
{
    const auto p = phi.view();
    for (int a = 0; a < D; ++a)
        for (int side = 0; side < 2; ++side) {
            const Side<D> at{a, side};
            const auto u = velocity[a].view();
            parallel_for("carry to parted walls", along_side(tiles, a, side), [=] TARN_KERNEL(Cell<D> c) {
                if (p(c) < 0 || is_outside(p(at.beyond(c)))) return;
                const float inner = u(moved<D>(c, a, 1 - side));
                u(at.face(c)) = at.outward(inner) < 0 ? inner : 0.0f;
            });
        }
}

template <int D>
bool rejoin_solids(Field<D>& phi, const Field<D>* x, const FaceField<D>& velocity, const Boundary<D>& boundary,
                   double dt, Field<D>& divergence, double band, const Tiles<D>& tiles, Field<D>& scratch)
{
    const Cell<D> cells = boundary.cells;
    const float h = static_cast<float>(phi.grid().h), limit = static_cast<float>(band);
    const auto p = phi.view(), next = scratch.view();
    const View<D, const float> old = p;
    const auto u = velocity.view();
    const View<D, const float> xv = x ? x->view() : View<D, const float>{};
    const float s = static_cast<float>(dt);
    // How thick the air is between the solid's surface nearest to a cell and the water before it.
    const auto gap = [=] TARN_KERNEL(const AtSolid<D>& at) {
        const float between = at.distance_outside + old(at.outside);
        return between > 0 ? between : 0.0f;
    };
    // Whether the water there has separated from the solid and would pass its surface within dt.
    const auto back = [=] TARN_KERNEL(const AtSolid<D>& at) {
        if (at.divided) return false;
        const float wet = old(at.outside);
        if (!(wet < 0) || !has_air_behind(boundary, old, at.outside)) return false;
        Vec<D, float> relative = velocity_at_cell(u, at.outside);
        if (boundary.moving) relative -= velocity_at_cell(boundary.solid_velocity, cell_at(at.inside, cells));
        // x falls to 0 on the surface: grad x = - x / theta along phi's gradient.
        float pushed = 0;
        if (xv.data) {
            const Vec<D, float> g = gradient_per_cell<D>(old, cells, at.outside, boundary.thin_walls);
            const float slope = length(g), theta = -wet / h;
            pushed = xv(at.outside) / (theta < theta_min ? theta_min : theta);
            if (slope > 0) relative += (pushed / slope) * g;
        }
        return -dot(at.normal, relative) > uncertain * std::fabs(pushed) + gap(at) / s;
    };
    // What phi is where the gap is closed. In the solid it continues the water. In front of it, the surface along it is forgotten.
    const auto closed = [=] TARN_KERNEL(const AtSolid<D>& at, Cell<D> c) {
        return at.distance < 0 ? old(at.outside) : sample_cells(old, cells, c.template as<float>() + at.normal);
    };
    // A gap closes where a cell at the solid's surface is air before, and water after it: once closed, it does not again.
    const double any = parallel_sum("gaps at solids", tiles, [=] TARN_KERNEL(Cell<D> c) {
        if (!solid_within(boundary, c, h) || !(old(c) >= 0)) return 0.0;
        const AtSolid<D> at(boundary, c, h);
        return back(at) && closed(at, c) < 0 ? 1.0 : 0.0;
    });
    if (any == 0) return false;
    // What fills the gaps is taken from the water before them: the gap's thickness times the solid's area, which is that
    // of the closed parts of a cell's faces, taken as a vector.
    const auto div = divergence.view();
    parallel_for("close gaps", tiles, [=] TARN_KERNEL(Cell<D> c) {
        if (!(old(c) < 0) || !has_air_behind(boundary, old, c)) return;
        float filled = 0;
        for (int n = 0; n < (D == 2 ? 9 : 27); ++n) {
            Cell<D> cut = c;
            for (int a = 0, rest = n; a < D; ++a, rest /= 3) cut[a] += rest % 3 - 1;
            if (!Box<D>{{}, cells}.contains(cut) || !solid_within(boundary, cut, h)) continue;
            const AtSolid<D> at(boundary, cut, h);
            if (!(at.outside == c) || !back(at)) continue;
            // By no more than phi tells of it.
            const float change = old(cut) - closed(at, cut), width = gap(at), thickness = change < width ? change : width;
            float area2 = 0;
            for (int a = 0; a < D; ++a) {
                const float part = boundary.open[a](moved<D>(cut, a, 1)) - boundary.open[a](cut);
                area2 += part * part;
            }
            filled += thickness > 0 ? std::sqrt(area2) * thickness : 0.0f;
        }
        div(c) -= filled / (h * s);
    });
    parallel_for("close gaps", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const float here = old(c), distance = nodes_at_cell<D>(boundary.solid_distance, c);
        next(c) = here;
        if (distance < -limit || distance > h) return;
        const AtSolid<D> at(boundary, c, h);
        if (!back(at)) return;
        const float water = closed(at, c);
        next(c) = here < water ? here : water;
    });
    parallel_for<true>("close gaps", tiles, [=] TARN_KERNEL(Cell<D> c) { p(c) = next(c); });
    return true;
}

template <int D>
bool separate_from_solids(Field<D>& phi, const Field<D>& pressure, const Suction<D>& suction, const Boundary<D>& boundary,
                      double band, const Tiles<D>& tiles, Field<D>& scratch)
{
    const float h = static_cast<float>(phi.grid().h), limit = static_cast<float>(band);
    const auto p = phi.view(), next = scratch.view();
    const View<D, const float> old = p;
    const auto pv = pressure.view();
    const Grid<D> grid = phi.grid();
    // Whether the solid pulls at the water at its surface nearest to x.
    const auto pulls = [=] TARN_KERNEL(const AtSolid<D>& at) {
        const Vec<D, float> weight = suction.weight(grid.centre(at.outside));
        const float carried = -dot(at.normal, weight);
        if (at.divided || carried > little * length(weight) || !(old(at.outside) < 0) || at.distance_outside > 1.01f * h) return false;
        const float below = at.distance_outside > 0 ? at.distance_outside : 0.0f;
        if (!(pv(at.outside) + below * carried < -suction.least)) return false;
        // Where the solid is above the surface there is no water to pull at.
        const Vec<D, float> touched = at.outside.template as<float>() - (below / h) * at.normal;
        if (!(sample_cells(old, boundary.cells, touched) < 0)) return false;
        return !suction.in_closed(pv.index(at.outside)) && !(boundary.inlets && boundary.inlet(at.outside));
    };
    const double any = parallel_sum("suction", tiles, [=] TARN_KERNEL(Cell<D> c) {
        return solid_within(boundary, c, h) && pulls(AtSolid<D>(boundary, c, h)) ? 1.0 : 0.0;
    });
    if (any == 0) return false;
    // The surface is at the solid.
    parallel_for("part from solids", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const float here = old(c);
        next(c) = here;
        if (!solid_within(boundary, c, limit)) return;
        const AtSolid<D> at(boundary, c, h);
        if (here < -at.distance && pulls(at)) next(c) = -at.distance;
    });
    parallel_for<true>("part from solids", tiles, [=] TARN_KERNEL(Cell<D> c) { p(c) = next(c); });
    return true;
}

#define TARN_INSTANTIATE(D)                                                                                    \
    template bool any_gap_at_sides(const Field<D>&, const Tiles<D>&);                                          \
    template void move_gaps(Field<D>&, const Tiles<D>&);                                                       \
    template bool rejoin_sides(Field<D>&, const Field<D>*, WallFaces<D>&, const Boundary<D>&, double,          \
                               const Tiles<D>&);                                                               \
    template bool rejoin_solids(Field<D>&, const Field<D>*, const FaceField<D>&, const Boundary<D>&, double,   \
                                Field<D>&, double, const Tiles<D>&, Field<D>&);                                \
    template bool separate_from_sides(Field<D>&, const Field<D>&, const Suction<D>&, const Boundary<D>&, double,   \
                                  const Tiles<D>&);                                                            \
    template bool separate_from_solids(Field<D>&, const Field<D>&, const Suction<D>&, const Boundary<D>&, double,  \
                                   const Tiles<D>&, Field<D>&);                                                \
    template void carry_to_separated_walls(FaceField<D>&, const Field<D>&, const Tiles<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
