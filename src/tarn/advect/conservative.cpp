#include "tarn/advect/conservative.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tarn {

namespace {

// What flows through faces of an axis in a sweep.
template <int D>
struct Sweep {
    View<D, const float> flux, filled;
    int next;     // cells beside each other along the axis
    float share;  // of the step

    TARN_HD float through(int i) const { return share * flux[i]; }

    // The value of f that flows through a face.
    TARN_HD TARN_INLINE float value(const View<D, const float>& f, int i, float flow) const
    {
        const bool up = flow > 0;
        const float lower = f[i - next], upper = f[i], below = f[i - 2 * next], above = f[i + next];
        const float from = up ? lower : upper, to = up ? upper : lower, behind = up ? below : above;
        const float room = up ? filled[i - next] : filled[i];
        const float part = std::fabs(flow) / (room > 1e-6f ? room : 1e-6f), c = part < 1 ? part : 1.0f;
        // from + (1 - c) / 2 slope, with (2 - c) / 3 of the slope ahead and (1 + c) / 3 of that behind, limited to twice the lesser of the
        // two (van Leer 1977). The wider limits of ULTIMATE steepen slopes, which in sweeps turns oblique edges into stairs.
        const float ahead = to - from, back = from - behind;
        const float slope = std::fabs((2 - c) * ahead + (1 + c) * back) * (1.0f / 3);
        const float most_ahead = 2 * std::fabs(ahead), most_back = 2 * std::fabs(back);
        float most = most_ahead < most_back ? most_ahead : most_back;
        most = slope < most ? slope : most;
        const float signed_most = 0.5f * (1 - c) * (ahead > 0 ? most : -most);
        return from + (ahead * back > 0 ? signed_most : 0.0f);
    }
};

// The most that flows out of any cell in a step, as a part of what there is to fill.
template <int D>
double most_leaving(const Conservative<D>& room, const Tiles<D>& tiles)
{
    const FaceView<D, const float> flux = room.flux.view();
    const auto capacity = room.capacity.view();
    return parallel_max("leaving", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = capacity.index(c);
        float out = 0;
        for (int a = 0; a < D; ++a) {
            const float lower = flux[a][i], upper = flux[a][i + flux[a].next(a)];
            out += (upper > 0 ? upper : 0.0f) + (lower < 0 ? -lower : 0.0f);
        }
        return capacity[i] > 0 ? out / capacity[i] : 0.0f;
    });
}

// What leaves the grid through one of its sides in a sweep.
template <int D>
double leaving_by_side(const Field<D>& field, const Sweep<D>& sweep, const Tiles<D>& tiles, int axis, int side)
{
    const auto f = field.view();
    return parallel_sum("leaving", along_side(tiles, axis, side), [=] TARN_KERNEL(Cell<D> c) {
        const int i = f.index(moved<D>(c, axis, side));
        const float flow = sweep.through(i);
        return (side ? 1.0 : -1.0) * static_cast<double>(flow * sweep.value(f, i, flow));
    });
}

// One sweep along an axis; the last of a substep gives each cell what it holds over what there is to fill, so that nothing is lost where
// the flow is not quite free of divergence.
template <int D>
void sweep_axis(Field<D>* const (&fields)[2], Conservative<D>& room, const Field<D>* source, const Tiles<D>& tiles, int axis,
                const Sweep<D>& sweep, bool last)
{
    const auto filled = std::as_const(room.filled).view(), capacity = std::as_const(room.capacity).view();
    const auto next_filled = room.next_filled.view(), next0 = room.next[0].view(), next1 = room.next[1].view();
    const auto f0 = std::as_const(*fields[0]).view(), f1 = std::as_const(*fields[1]).view();
    const View<D, const float> made = source ? source->view() : View<D, const float>{};
    const int n = f0.next(axis);
    parallel_for<true>("carry", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = f0.index(c);
        const float in = sweep.through(i), out = sweep.through(i + n);
        const float before = filled[i], after = before + in - out, whole = capacity[i];
        const bool any = whole > 0;
        const float kept = after > 1e-6f ? after : 1e-6f;
        const float over = last && !(made.data && made[i] != 0) ? whole : kept;
        const float per = any ? 1 / (any ? over : 1.0f) : 0.0f;
        next0[i] = per * (before * f0[i] + in * sweep.value(f0, i, in) - out * sweep.value(f0, i + n, out));
        next1[i] = per * (before * f1[i] + in * sweep.value(f1, i, in) - out * sweep.value(f1, i + n, out));
        next_filled[i] = last ? whole : kept;
    });
    fields[0]->swap(room.next[0]);
    fields[1]->swap(room.next[1]);
    room.filled.swap(room.next_filled);
}

}  // namespace

template <int D>
std::vector<double> carry(Field<D>* const (&fields)[2], Conservative<D>& room, const Field<D>* source, const bool (&open)[D][2])
{
    const Tiles<D> tiles = all_tiles(room.capacity.grid());
    std::vector<double> left(2, 0.0);
    const double most = most_leaving(room, tiles);
    if (!(most > 0)) return left;
    // A cell that gives away all it holds in the first sweep has nothing for the next.
    constexpr double most_at_once = 0.95;
    const int substeps = std::isfinite(most) ? std::max(1, static_cast<int>(std::ceil(std::min(most, 1e4) / most_at_once))) : 1;
    room.filled.copy(room.capacity);
    for (int s = 0; s < substeps; ++s)
        for (int n = 0; n < D; ++n) {
            const int axis = s % 2 == 0 ? n : D - 1 - n;
            const Sweep<D> sweep{std::as_const(room.flux)[axis].view(), std::as_const(room.filled).view(),
                                 room.capacity.grid().stride[axis], static_cast<float>(1.0 / substeps)};
            for (int side = 0; side < 2; ++side)
                for (int f = 0; f < 2 && open[axis][side]; ++f) left[f] += leaving_by_side(*fields[f], sweep, tiles, axis, side);
            sweep_axis(fields, room, source, tiles, axis, sweep, n == D - 1);
        }
    return left;
}

#define TARN_INSTANTIATE(D) \
    template std::vector<double> carry(Field<D>* const (&)[2], Conservative<D>&, const Field<D>*, const bool (&)[D][2]);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
