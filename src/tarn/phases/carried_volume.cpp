#include "tarn/phases/carried_volume.h"

#include <utility>

#include "tarn/advect/trace.h"
#include "tarn/backend/atomic.h"
#include "tarn/field/sample.h"
#include "tarn/phases/two_fluids.h"

namespace tarn {

namespace {

// Shares and volumes are added as whole numbers, whose sums do not depend on their order.
constexpr float whole = 1 << 20;
// Means are taken over neighbours so far apart, one after the other: over some fifteen cells each way.
constexpr int apart[] = {1, 2, 4, 8};
// Phi moves no further at once, in cells; and not at all where there is less surface around than this, per cell.
constexpr float furthest = 0.5f, least_surface = 0.02f;
// A move pays what it should where phi is a distance, and up to twice that where phi is flat, as in gaps that close:
// every second one goes half as far, so that either kind of place is right after two. Whole moves alone would pay and
// take back the same for ever. There are more while so much of the water is missing in all; where there is no surface
// around they do not help.
constexpr int least_payments = 2, most_payments = 8;
constexpr double much = 0.002;

// The corners around a position, and the share of each in a total; the last one gets the rest, so that nothing is lost.
template <int D, class F>
TARN_HD inline void each_corner(const View<D, const float>& f, const Lattice<D>& l, int total, const F& use)
{
    int rest = total;
    for (int corner = 0; corner < (1 << D); ++corner) {
        int i = l.index;
        float share = static_cast<float>(total);
        for (int a = 0; a < D; ++a) {
            if (corner >> a & 1) i += f.next(a);
            share *= corner >> a & 1 ? l.w[a] : 1 - l.w[a];
        }
        const int part = corner + 1 < (1 << D) ? static_cast<int>(share) : rest;
        rest -= part;
        use(i, part);
    }
}

// A mean that keeps the sum: at the grid's ends what would go beyond stays.
template <int D>
void smooth(Field<D>& f, const Tiles<D>& tiles, Field<D>& scratch)
{
    const Cell<D> cells = f.grid().cells;
    for (const int far : apart)
        for (int a = 0; a < D; ++a) {
            const auto from = std::as_const(f).view();
            const auto to = scratch.view();
            const int n = far * from.next(a);
            parallel_for("carried volume", tiles, [=] TARN_KERNEL(Cell<D> c) {
                const int i = from.index(c);
                const float own = from[i];
                // Mirrored at the end, as if it were between two cells.
                const int below = c[a] - far < 0 ? -1 - (c[a] - far) - c[a] : -far;
                const int above = c[a] + far >= cells[a] ? 2 * cells[a] - 1 - (c[a] + far) - c[a] : far;
                to[i] = 0.5f * own + 0.25f * (from[i + below * (n / far)] + from[i + above * (n / far)]);
            });
            f.swap(scratch);
        }
}

}  // namespace

template <int D>
void carry_volume(CarriedVolume<D>& workspace, const Field<D>& volume_error, const WetPart<D>& wet, const FaceField<D>& velocity,
                  const FaceField<D>& path, const Boundary<D>& boundary, const Tiles<D>& tiles, double dt)
{
    const Grid<D>& grid = volume_error.grid();
    const Cell<D> cells = grid.cells;
    Cell<D> last = cells;
    for (int a = 0; a < D; ++a) --last[a];
    const float s = static_cast<float>(dt / grid.h);
    const int origin = grid.origin;
    int *const wanted = workspace.wanted.data(), *const given = workspace.given.data();
    const auto held = workspace.before.view(), next = workspace.held.view();
    const auto error = volume_error.view();
    const View<D, const float> held_now = held;
    const auto u = velocity.view(), back = path.view();
    parallel_for("carried volume", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = held.index(c);
        held[i] = wet(c) + error[i];
        wanted[origin + i] = given[origin + i] = 0;
    });
    const auto came_from = [=] TARN_HD(Cell<D> c) {
        Vec<D, float> x = c.template as<float>();
        for (int a = 0; a < D; ++a) x[a] += back[a](c);
        return locate(held_now, x, last);
    };
    parallel_for("carried volume", tiles, [=] TARN_KERNEL(Cell<D> c) {
        each_corner<D>(held_now, came_from(c), static_cast<int>(whole),
                       [&](int i, int share) { atomic_add(wanted + origin + i, share); });
    });
    parallel_for("carried volume", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = held.index(c);
        const float left = 1 - static_cast<float>(wanted[origin + i]) / whole;
        if (!(left > 0) || held[i] == 0) return;
        const Vec<D, float> to = trace_far(u, cells, c.template as<float>(), velocity_at_cell(u, c), s);
        for (int a = 0; a < D; ++a) {
            if (to[a] < -0.5f && boundary.wall_open[a][0]) return;
            if (to[a] > static_cast<float>(last[a]) + 0.5f && boundary.wall_open[a][1]) return;
        }
        const float volume = left * held[i] * whole;
        each_corner<D>(held_now, locate(held_now, to, last),
                       static_cast<int>(volume < 0 ? volume - 0.5f : volume + 0.5f),
                       [&](int j, int share) { atomic_add(given + origin + j, share); });
    });
    parallel_for("carried volume", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = held.index(c);
        float sum = static_cast<float>(given[origin + i]) / whole;
        each_corner<D>(held_now, came_from(c), static_cast<int>(whole), [&](int j, int share) {
            const float all = static_cast<float>(wanted[origin + j]);
            sum += held_now[j] * static_cast<float>(share) / (all > whole ? all : whole);
        });
        next[i] = sum;
    });
}

template <int D>
void take_from(Field<D>& held, std::vector<Lost<D>>& lost)
{
    std::erase_if(lost, [](const Lost<D>& l) { return l.guessed; });
    if (lost.empty()) return;
    const int n = static_cast<int>(lost.size());
    const DeviceCopy device_copy;
    const Lost<D>* const list = device_copy.of(lost.data(), lost.size());
    const auto v = held.view();
    const Cell<D> cells = held.grid().cells;
    // One after the other, as some may share a cell.
    parallel_range("carried volume", 1, [=] TARN_KERNEL(int) {
        for (int i = 0; i < n; ++i) {
            const float volume = static_cast<float>(list[i].volume);
            v(cell_at(list[i].x.template as<float>(), cells)) -=
                list[i].kind == DropletKind::droplet ? volume : -volume;
        }
    });
}

template <int D>
void find_volume_error(Field<D>& volume_error, const WetPart<D>& wet, const Tiles<D>& tiles, const CarriedVolume<D>& workspace)
{
    const auto error = volume_error.view();
    const auto held = workspace.held.view();
    parallel_for("carried volume", tiles, [=] TARN_KERNEL(Cell<D> c) { error(c) = held(c) - wet(c); });
}

template <int D>
void note_volume(CarriedVolume<D>& workspace, const WetPart<D>& wet, const Tiles<D>& tiles)
{
    const auto before = workspace.before.view();
    parallel_for("carried volume", tiles, [=] TARN_KERNEL(Cell<D> c) { before(c) = wet(c); });
}

template <int D>
void correct_volume_error(Field<D>& phi, Field<D>& volume_error, const WetPart<D>& wet, const Tiles<D>& tiles, CarriedVolume<D>& workspace)
{
    const float h = static_cast<float>(phi.grid().h), epsilon = smearing * h;
    const auto p = phi.view(), before = workspace.before.view();
    note_volume(workspace, wet, tiles);
    for (int n = 0; n < most_payments; ++n) {
        const auto surface = workspace.surface.view();
        parallel_for("carried volume", tiles,
                     [=] TARN_KERNEL(Cell<D> c) { surface(c) = h * smeared_delta(p(c), epsilon); });
        smooth(workspace.surface, tiles, workspace.scratch);
        smooth(volume_error, tiles, workspace.scratch);
        const auto around = std::as_const(workspace.surface).view();
        const auto mean = volume_error.view();
        const float part = n % 2 == 0 ? 1.0f : 0.5f;
        parallel_for("carried volume", tiles, [=] TARN_KERNEL(Cell<D> c) {
            const int i = p.index(c);
            if (!(around[i] > least_surface) || !(std::fabs(p[i]) < 3 * h)) return;
            p[i] -= h * clamp(part * mean[i] / around[i], -furthest, furthest);
        });
        parallel_for("carried volume", tiles, [=] TARN_KERNEL(Cell<D> c) {
            const int i = p.index(c);
            const float now = wet(c);
            mean[i] -= now - before[i];
            before[i] = now;
        });
        if (n + 1 < least_payments) continue;
        const double owed_now =
            parallel_sum("carried volume", tiles, [=] TARN_KERNEL(Cell<D> c) { return static_cast<double>(mean(c)); });
        const double water = parallel_sum("carried volume", tiles,
                                          [=] TARN_KERNEL(Cell<D> c) { return static_cast<double>(before(c)); });
        if (std::fabs(owed_now) < much * water) break;
    }
}

template <int D>
void add_volume_error(Field<D>& volume_error, double volume, const WetPart<D>& wet, const Tiles<D>& tiles, const CarriedVolume<D>& workspace)
{
    const auto error = volume_error.view();
    const auto before = workspace.before.view();
    const double changed = parallel_sum("carried volume", tiles, [=] TARN_KERNEL(Cell<D> c) {
        return static_cast<double>(std::fabs(wet(c) - before(c)));
    });
    if (!(changed > 0)) return;
    const float share = static_cast<float>(volume / changed);
    parallel_for("carried volume", tiles,
                 [=] TARN_KERNEL(Cell<D> c) { error(c) += share * std::fabs(wet(c) - before(c)); });
}

#define TARN_INSTANTIATE(D)                                                                                \
    template void carry_volume(CarriedVolume<D>&, const Field<D>&, const WetPart<D>&, const FaceField<D>&, \
                               const FaceField<D>&, const Boundary<D>&, const Tiles<D>&, double);          \
    template void take_from(Field<D>&, std::vector<Lost<D>>&);                                             \
    template void find_volume_error(Field<D>&, const WetPart<D>&, const Tiles<D>&, const CarriedVolume<D>&);       \
    template void correct_volume_error(Field<D>&, Field<D>&, const WetPart<D>&, const Tiles<D>&, CarriedVolume<D>&);   \
    template void note_volume(CarriedVolume<D>&, const WetPart<D>&, const Tiles<D>&);                      \
    template void add_volume_error(Field<D>&, double, const WetPart<D>&, const Tiles<D>&, const CarriedVolume<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
