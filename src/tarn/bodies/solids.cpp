#include "tarn/bodies/solids.h"

#include <utility>

#include "tarn/advect/trace.h"

namespace tarn {

namespace {

// The part of a segment where a linear function is positive.
TARN_HD inline float positive_part(float a, float b)
{
    if (a > 0 && b > 0) return 1;
    if (a <= 0 && b <= 0) return 0;
    return a > b ? a / (a - b) : b / (b - a);
}

// The part of a triangle where a linear function is positive.
TARN_HD inline float positive_part(float a, float b, float c)
{
    const int positive = (a > 0) + (b > 0) + (c > 0);
    if (positive == 3) return 1;
    if (positive == 0) return 0;
    // The corner that is alone on its side; one at zero is not on the positive side.
    float alone = a, one = b, two = c;
    if ((a > 0) == (b > 0)) alone = c, two = a;
    if ((a > 0) == (c > 0)) alone = b, one = a;
    const float part = alone / (alone - one) * (alone / (alone - two));
    return positive == 1 ? part : 1 - part;
}

TARN_HD inline float open_part(const View<2, const float>& nodes, Cell<2> c, int axis)
{
    const int i = nodes.index(c);
    return positive_part(nodes[i], nodes[i + nodes.next(1 - axis)]);
}
TARN_HD inline float open_part(const View<3, const float>& nodes, Cell<3> c, int axis)
{
    const int i = nodes.index(c), m = nodes.next((axis + 1) % 3), n = nodes.next((axis + 2) % 3);
    const float corner[4] = {nodes[i], nodes[i + m], nodes[i + m + n], nodes[i + n]};
    const float middle = 0.25f * (corner[0] + corner[1] + corner[2] + corner[3]);
    float part = 0;
    for (int s = 0; s < 4; ++s) part += 0.25f * positive_part(middle, corner[s], corner[(s + 1) % 4]);
    return part;
}

}  // namespace

template <int D>
void measure_faces(Solids<D>& solids, const Tiles<D>& tiles, float sliver)
{
    const auto nodes = std::as_const(solids.distance).view();
    for (int a = 0; a < D; ++a) {
        const auto open = solids.open[a].view();
        parallel_for_faces("measure faces", tiles, a, [=] TARN_KERNEL(Cell<D> c) {
            const float part = open_part(nodes, c, a);
            open(c) = part < sliver ? 0.0f : part;
        });
    }
}

namespace {

// The plane of a surface nearby, continued to a cell in a solid: phi(x) = phi_j + grad phi_j . (x - x_j), the mean over
// the cells j around it that are outside of the solid, on its side, and beside the surface. `outside` where there is
// none. Further from the surface phi is the length of the way around the solid, not the distance of a plane.
template <int D>
TARN_HD inline float plane_nearby(const View<D, const float>& phi, const View<D, const float>& nodes,
                                  const FaceView<D, const float>& open, Cell<D> cells, Cell<D> c, Vec<D, float> normal,
                                  float h)
{
    float sum = 0;
    int count = 0;
    for (int n = 0; n < (D == 2 ? 9 : 27); ++n) {
        Cell<D> j = c;
        Vec<D, float> away;
        bool inside = true;
        for (int a = 0, rest = n; a < D; ++a, rest /= 3) {
            const int step = rest % 3 - 1;
            j[a] += step;
            away[a] = static_cast<float>(step);
            inside = inside && j[a] >= 0 && j[a] < cells[a];
        }
        if (!inside || !(dot(away, normal) > 0)) continue;
        const int i = phi.index(j);
        if (!(std::fabs(phi[i]) < h) || nodes_at_cell<D>(nodes, i) < 0) continue;
        // Differences with neighbours that are outside of the solid, too, on one side or on both.
        float value = phi[i];
        bool known = true;
        for (int a = 0; a < D; ++a) {
            const int next = phi.next(a);
            const auto counts = [&](int face, int k) {
                return open[a][face] > 0 && !is_outside(phi[k]) && !(nodes_at_cell<D>(nodes, k) < 0);
            };
            const bool low = j[a] > 0 && counts(i, i - next), high = j[a] + 1 < cells[a] && counts(i + next, i + next);
            known = known && (low || high);
            const float d = phi[high ? i + next : i] - phi[low ? i - next : i];
            value -= away[a] * (low && high ? 0.5f * d : d);
        }
        if (!known) continue;
        sum += value;
        ++count;
    }
    return count > 0 ? sum / static_cast<float>(count) : outside;
}

}  // namespace

template <int D>
void extend_into_solids(Field<D>& phi, const Solids<D>& solids, const Tiles<D>& tiles, double band, bool moved,
                        Field<D>& scratch)
{
    const Cell<D> cells = phi.grid().cells;
    const float h = static_cast<float>(phi.grid().h), limit = static_cast<float>(band);
    const auto nodes = solids.distance.view();
    const auto p = phi.view();
    const View<D, const float> old = p;
    const auto next = scratch.view();
    const FaceView<D, const float> open = solids.open.view();
    const ThinWalls<D> thin_walls = thin_walls_of(solids, phi.grid());
    // Whether the pressure looks at phi in a cell: through the open part of a face, or across air behind water.
    const auto read = [=] TARN_KERNEL(Cell<D> c) {
        const int i = old.index(c);
        if (thin_walls.around(i)) return false;
        bool any = false;
        for (int a = 0; a < D; ++a) {
            const int n = old.next(a);
            any = any || open[a][i] > 0 || open[a][i + n] > 0 || air_between<D>(old, nodes, i, i - n, a) ||
                  air_between<D>(old, nodes, i, i + n, a);
        }
        return any;
    };
    parallel_for("extend into solids", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const float d = nodes_at_cell<D>(nodes, c), here = old(c);
        if (d >= 0 || (moved && std::fabs(here) < h && read(c))) {
            next(c) = here;
            return;
        }
        const Vec<D, float> n = nodes_normal<D>(nodes, c);
        if (!thin_walls.any() && d > -2 * h) {
            const float plane = plane_nearby<D>(old, nodes, open, cells, c, n, h);
            if (!is_outside(plane)) {
                next(c) = plane;
                return;
            }
        }
        // From a point a cell outside the solid, phi goes on as it does there along the normal.
        const Vec<D, float> x = c.template as<float>(), outside = x + (1 - d / h) * n;
        const auto at = [&](Vec<D, float> y) {
            return thin_walls.any() ? sample_one_side(old, thin_walls, go(thin_walls, x, y)) : sample_cells(old, cells, y);
        };
        const float near = at(outside), far = at(outside + n);
        const float slope = clamp((far - near) / h, -1, 1);
        next(c) = clamp(near + slope * (d - h), -limit, limit);
    });
    parallel_for("extend into solids", tiles, [=] TARN_KERNEL(Cell<D> c) {
        if (nodes_at_cell<D>(nodes, c) < 0) p(c) = next(c);
    });
}

template <int D>
void close_thin_walls(FaceField<D>& velocity, const Solids<D>& solids, const Tiles<D>& tiles)
{
    const ThinWalls<D> thin_walls = thin_walls_of(solids, solids.distance.grid());
    if (!thin_walls.any()) return;
    const bool moving = solids.moving;
    for (int a = 0; a < D; ++a) {
        const auto u = velocity[a].view();
        const View<D, const float> solid = moving ? solids.velocity[a].view() : View<D, const float>{};
        parallel_for_faces("close sheets", tiles, a, [=] TARN_KERNEL(Cell<D> c) {
            if (thin_walls.on[a](c)) u(c) = moving ? solid(c) : 0.0f;
        });
    }
}

template <int D>
void slide_along_solids(FaceField<D>& velocity, const Solids<D>& solids, const Boundary<D>& boundary,
                        const Tiles<D>& tiles, FaceField<D>& scratch)
{
    const Cell<D> cells = solids.distance.grid().cells;
    const auto nodes = solids.distance.view();
    const auto u = velocity.view();
    const FaceView<D, const float> old = u;
    FaceView<D, const float> solid{}, open = solids.open.view();
    const float h = static_cast<float>(solids.distance.grid().h);
    if (solids.moving) solid = solids.velocity.view();
    FaceView<D, const uint8_t> sticky{};
    if (solids.any_no_slip) sticky = solids.no_slip.view();
    const bool moving = solids.moving, any_no_slip = solids.any_no_slip;
    const ThinWalls<D> thin_walls = thin_walls_of(solids, solids.distance.grid());
    for (int a = 0; a < D; ++a) {
        const auto next = scratch[a].view();
        parallel_for_faces("slide along solids", tiles, a, [=] TARN_KERNEL(Cell<D> c) {
            const bool sheet = thin_walls.below(nodes.index(c), a);
            if (open[a](c) > 0 || c[a] == 0 || c[a] == cells[a] || sheet || boundary.parted_from_solid(c, a)) {
                next(c) = old[a](c);
                return;
            }
            // u - n (n . (u - u_solid)): the normal part is the solid's, the rest is the water's.
            const Vec<D, float> n = nodes_normal<D>(nodes, c);
            Vec<D, float> relative = velocity_at_face(old, cells, c, a);
            if (moving) relative -= velocity_at_face(solid, cells, c, a);
            const float of_solid = moving ? solid[a](c) : 0.0f, away = dot(n, relative);
            const bool gap = boundary.phi.data && away > 0 && nodes_at_face<D>(nodes, c, a) > -1.5f * h &&
                             dot(n, gradient_per_cell<D>(boundary.phi, cells, c, thin_walls)) < -0.5f * h;
            next(c) = gap ? old[a](c) : any_no_slip && sticky[a](c) ? of_solid : of_solid + relative[a] - n[a] * away;
        });
    }
    for (int a = 0; a < D; ++a) {
        const auto next = scratch[a].view();
        const auto ua = u[a];
        parallel_for_faces("slide along solids", tiles, a, [=] TARN_KERNEL(Cell<D> c) { ua(c) = next(c); });
    }
}

#define TARN_INSTANTIATE(D)                                                                                  \
    template void measure_faces(Solids<D>&, const Tiles<D>&, float);                                         \
    template void extend_into_solids(Field<D>&, const Solids<D>&, const Tiles<D>&, double, bool, Field<D>&); \
    template void close_thin_walls(FaceField<D>&, const Solids<D>&, const Tiles<D>&);                            \
    template void slide_along_solids(FaceField<D>&, const Solids<D>&, const Boundary<D>&, const Tiles<D>&,   \
                                     FaceField<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
