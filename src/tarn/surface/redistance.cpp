#include "tarn/surface/redistance.h"

#include "tarn/field/sample.h"
#include "tarn/surface/gap.h"
#include "tarn/surface/nearest.h"

namespace tarn {

namespace {

// Slopes on both sides of a cell that differ by more than this factor tell of a ridge.
constexpr float ridge = 0.7f;

// Squared slope of what still counts as a plane that a wall hides: that of |grad phi| = 0.8.
constexpr float least_straight = 0.64f;

TARN_HD inline float or_own(float neighbour, float own) { return is_outside(neighbour) ? own : neighbour; }

// Phi as a cell sees it. A neighbour beyond the grid's end is `outside` to it, and so is one behind a closed face.
template <int D>
struct NoWalls {
    static constexpr bool walls = false;
    View<D, const float> phi;

    TARN_HD float below(int i, int a) const { return phi[i - phi.next(a)]; }
    TARN_HD float above(int i, int a) const { return phi[i + phi.next(a)]; }
    TARN_HD float below2(int i, int a) const { return phi[i - 2 * phi.next(a)]; }
    TARN_HD float above2(int i, int a) const { return phi[i + 2 * phi.next(a)]; }
    // What stands in for a neighbour that is nowhere: the cell's own value.
    TARN_HD static float instead(float own, float) { return own; }
    TARN_HD static bool alone(Cell<D>) { return true; }
    TARN_HD static bool continued(int) { return false; }
};
template <int D>
struct Walls {
    static constexpr bool walls = true;
    View<D, const float> phi;
    FaceView<D, const float> open;
    View<D, const float> nodes;
    bool forget;
    ThinWalls<D> thin_walls;
    float h;

    // From cell i to its neighbour j.
    TARN_HD float behind(int face, int a, int i, int j) const
    {
        const bool seen =
            open[a][face] > 0 || (!forget && !thin_walls.below(face, a) && air_between<D>(phi, nodes, i, j, a));
        return seen ? phi[j] : outside;
    }
    TARN_HD float below(int i, int a) const { return behind(i, a, i, i - phi.next(a)); }
    TARN_HD float above(int i, int a) const { return behind(i + phi.next(a), a, i, i + phi.next(a)); }
    TARN_HD float below2(int i, int a) const { return below(i - phi.next(a), a); }
    TARN_HD float above2(int i, int a) const { return above(i + phi.next(a), a); }
    // The surface runs on behind a wall as it comes from the other side. Where a thin wall has just left its neighbours
    // apart, they may not be distances yet.
    TARN_HD float instead(float own, float opposite) const
    {
        const float on = is_outside(opposite) ? own : 2 * own - opposite;
        return thin_walls.any() ? clamp(on, own - h, own + h) : on;
    }
    // Whether a cell is further from any wall than stencils reach.
    TARN_HD bool alone(Cell<D> c) const { return !thin_walls.any() && nodes_at_cell<D>(nodes, c) > 4 * h; }
    // Whether phi there continues what is outside of the solid (bodies/solids.h): no distance is found from neighbours,
    // as the solid hides the way to the surface.
    TARN_HD bool continued(int i) const { return !forget && nodes_at_cell<D>(nodes, i) < 0; }
};

// How a cell sees the surface: between it and a neighbour; or only behind a wall, where phi runs on straight; or not.
enum class Sight : int { none, behind_wall, seen };
template <int D>
TARN_HD inline Sight sight(const Walls<D>& seen, int i)
{
    const float own = seen.phi[i];
    const bool wet = own < 0;
    bool crossed = false, behind = false;
    for (int a = 0; a < D; ++a) {
        const float below = seen.below(i, a), above = seen.above(i, a);
        const bool no_below = is_outside(below), no_above = is_outside(above);
        crossed = crossed || (!no_below && (below < 0) != wet) || (!no_above && (above < 0) != wet);
        behind = behind || (no_below && (seen.instead(own, above) < 0) != wet) ||
                 (no_above && (seen.instead(own, below) < 0) != wet);
    }
    return crossed ? Sight::seen : behind ? Sight::behind_wall : Sight::none;
}

// Next to the surface: the distance that keeps its crossings. Elsewhere phi as it is. A cell beside a forgotten surface
// is far from any, until its neighbours tell otherwise.
template <int D, template <int> class Seen>
TARN_HD inline float beside_surface(const Seen<D>& seen, Cell<D> c, float h, float limit, float least_slope,
                                    bool connected)
{
    const int i = seen.phi.index(c);
    const float p = seen.phi[i];
    const float side = p < 0 ? -1.0f : 1.0f;
    float crossings = 0, crossings_behind = 0, slope2 = 0;
    TARN_UNROLL
    for (int a = 0; a < D; ++a) {
        const float below = seen.below(i, a), above = seen.above(i, a);
        const bool no_below = is_outside(below), no_above = is_outside(above);
        const float lo = no_below ? seen.instead(p, above) : below, hi = no_above ? seen.instead(p, below) : above;
        // Two for each neighbour of the other sign. Numbers, as processors do many of these at once.
        const float crossed_lo = 1 - side * (lo < 0 ? -1.0f : 1.0f), crossed_hi = 1 - side * (hi < 0 ? -1.0f : 1.0f);
        crossings += (no_below ? 0.0f : crossed_lo) + (no_above ? 0.0f : crossed_hi);
        crossings_behind += (no_below ? crossed_lo : 0.0f) + (no_above ? crossed_hi : 0.0f);
        // Central differences, so that doing it again changes nothing; at a ridge, as in the middle of a thin sheet,
        // they would see too little, and the sheet would grow.
        const float up = hi - p, down = p - lo, central = 0.5f * (up + down);
        const bool above_steeper = std::fabs(up) > std::fabs(down);
        const float steeper = above_steeper ? up : down, flatter = above_steeper ? down : up;
        const float slope = flatter * steeper > ridge * steeper * steeper ? central : steeper;
        slope2 += slope * slope;
    }
    // Where walls are seen, the surface between one and the last cell's centre is, too.
    if constexpr (Seen<D>::walls)
        if (crossings_behind > 0 && crossings == 0 && !connected) return side * limit;
    // Elsewhere as if the slope were one: no branch, so that many cells are done at once.
    const float square = crossings + crossings_behind > 0 ? slope2 + 1e-12f * h * h : h * h;
    const float steep = std::sqrt(square) / h;
    return p * clamp(steep, least_slope, 1 / least_slope) / steep;
}

// The distance at a cell from its neighbours' distances: sum over axes of alpha (T - t)^2 = h^2 over the axes with
// t < T, where second order uses alpha = 9/4 and t = (4 d1 - d2) / 3, and first order alpha = 1 and t = d1. Cells with
// a neighbour across the surface stay as they are.
template <int D, template <int> class Seen>
TARN_HD inline float eikonal(const Seen<D>& seen, int i, float h)
{
    const float own = seen.phi[i];
    const float side = own < 0 ? -1.0f : 1.0f;
    float t[D], alpha[D];
    bool crossed = false, hidden = false;
    float slope2 = 0;
    TARN_UNROLL
    for (int a = 0; a < D; ++a) {
        const float below = seen.below(i, a), above = seen.above(i, a);
        const float below2 = seen.below2(i, a), above2 = seen.above2(i, a);
        const float lo = side * or_own(below, own), hi = side * or_own(above, own);
        crossed = crossed | (lo < 0) | (hi < 0);
        if constexpr (Seen<D>::walls) {
            const bool no_below = is_outside(below), no_above = is_outside(above);
            crossed = crossed | (no_below & (side * seen.instead(own, above) < 0)) |
                      (no_above & (side * seen.instead(own, below) < 0));
            hidden = hidden | (no_below & (hi > side * own)) | (no_above & (lo > side * own));
            const float slope = (no_below | no_above ? 1.0f : 0.5f) * (hi - lo);
            slope2 += slope * slope;
        }
        const bool down = lo < hi;
        const float d1 = down ? lo : hi, raw1 = down ? below : above, raw2 = down ? below2 : above2;
        // The second neighbour may lie across the surface; its distance, negative then, still continues the line.
        const float d2 = side * raw2;
        const bool second = !is_outside(raw1) & !is_outside(raw2) & (d2 < d1);
        t[a] = second ? (4 * d1 - d2) * (1.0f / 3) : d1;
        alpha[a] = second ? 2.25f : 1.0f;
    }
    // Nearest axes first.
    TARN_UNROLL
    for (int pass = 0; pass < D - 1; ++pass) TARN_UNROLL
    for (int b = 0; b < D - 1; ++b) {
        const bool swap = t[b] > t[b + 1];
        const float t0 = swap ? t[b + 1] : t[b], t1 = swap ? t[b] : t[b + 1];
        const float a0 = swap ? alpha[b + 1] : alpha[b], a1 = swap ? alpha[b] : alpha[b + 1];
        t[b] = t0, t[b + 1] = t1, alpha[b] = a0, alpha[b + 1] = a1;
    }
    // Distances relative to the nearest keep their digits: a (T - t0)^2 - 2 b (T - t0) + c = 0.
    float a = 0, b = 0, c = -h * h, T = 0;
    TARN_UNROLL
    for (int n = 0; n < D; ++n) {
        const float ahead = t[n] - t[0];
        const bool counts = n == 0 || T > ahead;
        const float weight = counts ? alpha[n] : 0.0f;
        a += weight;
        b += weight * ahead;
        c += weight * ahead * ahead;
        const float root = b * b - a * c;
        const float next = (b + std::sqrt(root > 0 ? root : 0.0f)) / a;
        T = counts ? next : T;
    }
    if constexpr (Seen<D>::walls) {
        // Where a wall hides the nearest point of the surface, a plane behind it stays one: phi is a distance already,
        // and the way around the wall would be longer.
        const bool straight = hidden & (side * own < t[0] + T) & (slope2 > least_straight * h * h);
        crossed = crossed | straight | seen.continued(i);
    }
    return crossed ? own : side * (t[0] + T);
}

// Whether a neighbour lies on the other side of the surface.
template <int D>
TARN_HD inline bool crossed(const View<D, const float>& phi, Cell<D> c)
{
    const int i = phi.index(c);
    const bool wet = phi[i] < 0;
    bool any = false;
    TARN_UNROLL
    for (int a = 0; a < D; ++a) {
        const float below = phi[i - phi.next(a)], above = phi[i + phi.next(a)];
        any = any | (((below < 0) != wet) & !is_outside(below)) | (((above < 0) != wet) & !is_outside(above));
    }
    return any;
}

// Surfaces that cells have only behind a wall. Where the surface meets the wall at an angle, it is the plane of the cells
// in front of it, continued, and must stay that: the wedge before the contact line is a part of their water. Any other is
// a film, which has no cell's centre in it, so that nothing moves it, or the side of a shape that ends at the wall: none of
// them counts. A plane is told by its connection: from a cell that sees the surface, through cells that have it behind the
// wall and lie where the ones before continue it. A wedge of water gets thinner on the way, by the tangent of its angle a
// cell, a film does not; nor does what a film has left, a surface that lies behind the wall everywhere. Heuristic: 0.02, one
// degree, tells them apart, and nothing is farther than `farthest_wedge` cells from what is seen. Those are
// 1 / (2 tan(angle)) at most, from where the wall closes the lower side of a row of cells to the contact line: enough for 3
// degrees. At half of that beaches below 5 degrees never rest; at twice of it films stay longer. Afterwards `connected` is
// negative in cells whose surface does not count.
constexpr int farthest_wedge = 12;
template <int D>
void connect_planes(Field<D>& connected, const Walls<D>& seen, const Tiles<D>& tiles)
{
    const auto mark = connected.view();
    const Cell<D> cells = connected.grid().cells;
    // How thick the water is between a cell's surface and the nearest wall.
    const auto thickness = [=] TARN_KERNEL(Cell<D> c) {
        float wall = nodes_at_cell<D>(seen.nodes, c);
        for (int a = 0; a < D; ++a)
            if ((c[a] == 0 || c[a] + 1 == cells[a]) && wall > 0.5f * seen.h) wall = 0.5f * seen.h;
        return wall - seen.phi(c);
    };
    double left = parallel_sum("redistance planes", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = seen.phi.index(c);
        const Sight s = std::fabs(seen.phi[i]) < 2 * seen.h ? sight(seen, i) : Sight::none;
        mark[i] = s == Sight::seen ? 1.0f : s == Sight::behind_wall ? -1.0f : 0.0f;
        return mark[i] < 0 ? 1.0 : 0.0;
    });
    for (int n = 2; left > 0 && n <= farthest_wedge + 1; ++n) {
        const float order = static_cast<float>(n), close = 0.25f * seen.h, thinner = 0.02f * seen.h;
        const double before = left;
        left = parallel_sum("redistance planes", tiles, [=] TARN_KERNEL(Cell<D> c) {
            const int i = mark.index(c);
            if (!(mark[i] < 0)) return 0.0;
            bool any = false;
            for (int a = 0; a < D; ++a) {
                const int next = mark.next(a);
                for (int side = -1; side <= 1; side += 2) {
                    const int j = i + side * next;
                    const float there = side < 0 ? seen.below(i, a) : seen.above(i, a);
                    // What others become in this same pass does not count, so that their order does not.
                    if (is_outside(there) || !(mark[j] > 0 && mark[j] < order)) continue;
                    const float beyond = side < 0 ? seen.below(j, a) : seen.above(j, a);
                    const float on = is_outside(beyond) ? there : 2 * there - beyond;
                    if (!(std::fabs(on - seen.phi[i]) < close)) continue;
                    any = any || seen.phi[i] < 0 || thickness(c) < thickness(moved<D>(c, a, side)) - thinner;
                }
            }
            if (any) mark[i] = order;
            return any ? 0.0 : 1.0;
        });
        if (left == before) break;
    }
}

template <int D, template <int> class Seen>
void redistance_seen(Field<D>& phi, const Tiles<D>& tiles, double band, Field<D>& scratch, const Seen<D>& seen,
                     NearSurface near)
{
    const float h = static_cast<float>(phi.grid().h), limit = static_cast<float>(band);
    const auto p = phi.view();
    const auto q = scratch.view();

    const auto take_over = [&] {
        parallel_for<true>("redistance copy", tiles, [=] TARN_KERNEL(Cell<D> c) { p(c) = q(c); });
    };
    const int sweeps = static_cast<int>(std::ceil(band / phi.grid().h)) + 1;
    if constexpr (Seen<D>::walls) connect_planes(scratch, seen, tiles);
    parallel_for<true>("redistance near", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const bool connected = Seen<D>::walls && !(q(c) < 0);
        q(c) = beside_surface<D>(seen, c, h, limit, near.least_slope, connected);
    });
    if (near.smooth) {
        const View<D, const float> old = p;
        const Cell<D> cells = phi.grid().cells;
        parallel_for("redistance near", tiles, [=] TARN_KERNEL(Cell<D> c) {
            if (!crossed<D>(old, c) || !seen.alone(c)) return;
            const float distance = smooth_distance<D>(old, cells, c, h);
            if (!is_outside(distance)) q(c) = distance;
        });
    }
    take_over();
    for (int n = 0; n < sweeps; ++n) {
        parallel_for<true>("redistance sweep", tiles, [=] TARN_KERNEL(Cell<D> c) {
            const int i = p.index(c);
            q[i] = clamp(eikonal<D>(seen, i, h), -limit, limit);
        });
        take_over();
    }
}

}  // namespace

template <int D>
void redistance(Field<D>& phi, const Tiles<D>& tiles, double band, Field<D>& scratch, NearSurface near)
{
    redistance_seen(phi, tiles, band, scratch, NoWalls<D>{phi.view()}, near);
}

template <int D>
void redistance(Field<D>& phi, const Tiles<D>& tiles, double band, Field<D>& scratch, const ClosedFaces<D>& closed,
                NearSurface near)
{
    redistance_seen(phi, tiles, band, scratch,
                    Walls<D>{phi.view(), closed.open.view(), closed.distance.view(), closed.forget, closed.thin_walls,
                             static_cast<float>(phi.grid().h)},
                    near);
}

#define TARN_INSTANTIATE(D)                                                               \
    template void redistance(Field<D>&, const Tiles<D>&, double, Field<D>&, NearSurface); \
    template void redistance(Field<D>&, const Tiles<D>&, double, Field<D>&, const ClosedFaces<D>&, NearSurface);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
