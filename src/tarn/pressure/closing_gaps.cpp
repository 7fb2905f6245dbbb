#include "tarn/pressure/closing_gaps.h"

#include "tarn/backend/atomic.h"
#include "tarn/pressure/surface_fraction.h"

namespace tarn {

namespace {

// The width of a gap in cells, and by how many it would close in the step.
struct Gap {
    float width = 0, closes = 0;
    int side = -1;  // of the domain, if there is one behind it: 2 a + 1 at the end of axis a

    TARN_HD bool closed() const { return closes > width; }
};

// The velocities at the water's end of closed sides.
template <int D>
struct SideVelocities {
    float* at[2 * D];

    explicit SideVelocities(WallFaces<D>& walls)
    {
        for (int side = 0; side < 2 * D; ++side) at[side] = walls.wall[side / 2][side % 2].data();
    }
    TARN_HD void set(int side, int place, float outward) const { at[side][place] = side % 2 ? outward : -outward; }
};

template <int D>
struct GapView {
    View<D, const float> phi;
    FaceView<D, const float> u;
    Boundary<D> boundary;
    View<D, const int> enclosed;
    float h, cells_per_speed;

    // What stands behind a cell of air: water, the domain's side, or neither.
    TARN_HD bool wet(Cell<D> c, int axis) const { return c[axis] >= 0 && c[axis] < boundary.cells[axis] && phi(c) < 0; }
    TARN_HD bool side(Cell<D> c, int axis, int upper) const
    {
        const Cell<D> beyond = moved<D>(c, axis, 2 * upper - 1);
        return (beyond[axis] < 0 || beyond[axis] >= boundary.cells[axis]) && !boundary.wall_open[axis][upper] && is_outside(phi(beyond)) &&
               !boundary.inlet_at(moved<D>(c, axis, upper), axis);
    }
    // From the centre of a cell of air to the surface towards a neighbour of water, in cells.
    TARN_HD float to_surface(float air, float water) const { return 1 - surface_fraction(water, air, h); }

    // The gap along an axis that a cell of air is in.
    TARN_HD Gap across(Cell<D> c, int a) const
    {
        const Cell<D> below = moved<D>(c, a, -1), above = moved<D>(c, a, 1);
        const bool lower = wet(below, a), upper = wet(above, a);
        const float up = u[a](c) * cells_per_speed, down = -u[a](above) * cells_per_speed;
        if (lower && upper) return {to_surface(phi(c), phi(below)) + to_surface(phi(c), phi(above)), up + down, -1};
        if (lower && side(c, a, 1)) return {0.5f + to_surface(phi(c), phi(below)), up, 2 * a + 1};
        if (upper && side(c, a, 0)) return {0.5f + to_surface(phi(c), phi(above)), down, 2 * a};
        return {};
    }
    // The gap between a cell of water and a side of the domain.
    TARN_HD Gap before_side(Cell<D> c, int a, int upper) const
    {
        const float own = phi(c), slope = own - phi(moved<D>(c, a, 1 - 2 * upper));
        if (!(own < 0) || !(own + 0.5f * slope > 0) || !side(c, a, upper) || !free_around(c)) return {};
        const float inner = u[a](moved<D>(c, a, 1 - upper));
        return {0.5f + own / slope, (upper ? inner : -inner) * cells_per_speed, 2 * a + upper};
    }
    // The gap of a cell of air that is closed first, if any is.
    TARN_HD Gap gap(Cell<D> c) const
    {
        const int i = phi.index(c);
        Gap best;
        if (phi[i] < 0 || phi[i] > h || (enclosed.data && enclosed[i] > 0) || !free_around(c)) return best;
        for (int a = 0; a < D; ++a) {
            const Gap here = across(c, a);
            if (here.closed() && !(best.closed() && best.closes * here.width >= here.closes * best.width)) best = here;
        }
        return best;
    }
    // Whether no solid cuts a cell's faces.
    TARN_HD bool free_around(Cell<D> c) const
    {
        if (boundary.thin_walls.any() && boundary.thin_walls.around(phi.index(c))) return false;
        bool free = true;
        for (int a = 0; a < D && boundary.solids; ++a) free = free && !(boundary.open[a](c) < 1) && !(boundary.open[a](moved<D>(c, a, 1)) < 1);
        return free;
    }
};

template <int D>
GapView<D> view_of(const Field<D>& phi, const typename ClosingGaps<D>::Now& now)
{
    const float h = static_cast<float>(phi.grid().h);
    return {phi.view(), now.velocity.view(), now.boundary, now.enclosed, h, static_cast<float>(now.dt) / h};
}

}  // namespace

template <int D>
bool ClosingGaps<D>::close(Field<D>& phi, Field<D>& divergence, WallFaces<D>& walls, const Now& now)
{
    const GapView<D> gaps = view_of<D>(phi, now);
    const SideVelocities<D> at_sides(walls);
    for (int side = 0; side < 2 * D; ++side) {
        const int a = side / 2;
        if (now.boundary.wall_open[a][side % 2]) continue;
        parallel_for("closing gaps", along_side(now.tiles, a, side % 2), [=] TARN_KERNEL(Cell<D> c) {
            const Gap gap = gaps.before_side(c, a, side % 2);
            if (gap.closed()) at_sides.set(side, place_at_side<D>(gaps.boundary.cells, c, a), gap.width / gaps.cells_per_speed);
        });
    }

    count_ = static_cast<int>(
        parallel_sum("closing gaps", now.tiles, [=] TARN_KERNEL(Cell<D> c) { return gaps.gap(c).closed() ? 1.0 : 0.0; }));
    if (count_ == 0) return false;
    Closed* const cells = storage_for(cells_, count_);
    int* const number = storage_for(number_, 1);
    parallel_range("closing gaps", 1, [=] TARN_KERNEL(int) { *number = 0; });
    const auto d = divergence.view();
    parallel_for("closing gaps", now.tiles, [=] TARN_KERNEL(Cell<D> c) {
        const Gap gap = gaps.gap(c);
        if (!gap.closed()) return;
        const int i = gaps.phi.index(c), place = gap.side < 0 ? 0 : place_at_side<D>(gaps.boundary.cells, c, gap.side / 2);
        cells[atomic_add(number, 1)] = {i, gaps.phi[i], gap.side, place};
        const float speed = gap.width / gaps.cells_per_speed;
        if (gap.side < 0)
            d[i] = -speed / gaps.h;
        else
            at_sides.set(gap.side, place, speed);
    });
    // The surface as it is once the gap is closed.
    const auto p = phi.view();
    const float closed = -0.5f * gaps.h;
    parallel_range("closing gaps", count_, [=] TARN_KERNEL(int n) { p[cells[n].cell] = closed; });
    return true;
}

template <int D>
bool ClosingGaps<D>::separate(Field<D>& phi, Field<D>& divergence, WallFaces<D>& walls, const Field<D>& x)
{
    if (count_ == 0) return false;
    const auto p = phi.view(), d = divergence.view();
    const auto xv = x.view();
    const SideVelocities<D> at_sides(walls);
    const Closed* const cells = cells_.data();
    int* const number = number_.data();
    parallel_range("closing gaps", 1, [=] TARN_KERNEL(int) { *number = 0; });
    parallel_range("closing gaps", count_, [=] TARN_KERNEL(int n) {
        const Closed& c = cells[n];
        if (!(p[c.cell] < 0) || !(xv[c.cell] < 0)) return;
        p[c.cell] = c.phi;
        if (c.side < 0)
            d[c.cell] = 0;
        else
            at_sides.set(c.side, c.place, 0);
        atomic_add(number, 1);
    });
    int gone = 0;
    backend::copy(&gone, number, sizeof gone);
    return gone > 0;
}

template <int D>
bool ClosingGaps<D>::restore(Field<D>& phi)
{
    if (count_ == 0) return false;
    const auto p = phi.view();
    const Closed* const cells = cells_.data();
    parallel_range("closing gaps", count_, [=] TARN_KERNEL(int n) { p[cells[n].cell] = cells[n].phi; });
    count_ = 0;
    return true;
}

template class ClosingGaps<2>;
template class ClosingGaps<3>;

}  // namespace tarn
