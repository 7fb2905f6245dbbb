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
        const float workspace = up ? filled[i - next] : filled[i];
        const float part = std::fabs(flow) / (workspace > 1e-6f ? workspace : 1e-6f), c = part < 1 ? part : 1.0f;
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
double most_leaving(const Conservative<D>& workspace, const Tiles<D>& tiles)
{
    const FaceView<D, const float> flux = workspace.flux.view();
    const auto capacity = workspace.capacity.view();
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
void sweep_axis(const CarriedLevel<D>& level, const Field<D>* source, const Tiles<D>& tiles, const Sweep<D>& sweep, bool last)
{
    Conservative<D>& workspace = *level.workspace;
    const auto filled = std::as_const(workspace.filled).view(), capacity = std::as_const(workspace.capacity).view();
    const auto next_filled = workspace.next_filled.view(), next0 = workspace.next[0].view(), next1 = workspace.next[1].view();
    const auto f0 = std::as_const(*level.fields[0]).view(), f1 = std::as_const(*level.fields[1]).view();
    const View<D, const float> made = source ? source->view() : View<D, const float>{};
    const int n = sweep.next;
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
}

// What flows through a T-face of a level's leaf is the sum of what flows through the small faces under it.
template <int D>
void sweep_t_faces(const CarriedLevel<D>& level, const CarriedLevel<D>& below, const OctreeLevel<D>& leaves, int axis,
                   const Sweep<D>& sweep, const Sweep<D>& sweep_below)
{
    constexpr int count = 1 << (D - 1);
    const auto next_filled = std::as_const(level.workspace->next_filled).view();
    for (int side = 0; side < 2; ++side) {
        const std::vector<TFace>& faces = leaves.faces[axis][side];
        for (int n = 0; n < 2; ++n) {
            const auto coarse = std::as_const(*level.fields[n]).view(), fine = std::as_const(*below.fields[n]).view();
            const auto next = level.workspace->next[n].view();
            parallel_range("carry across", static_cast<int>(faces.size()), [&](int number) {
                const TFace t = faces[static_cast<size_t>(number)];
                const int face = side ? t.leaf + sweep.next : t.leaf, first = side ? t.child : t.child + sweep_below.next;
                const float flow = sweep.through(face);
                float sum = 0;
                for (int k = 0; k < count; ++k) {
                    int i = first;
                    for (int b = 0; b < D; ++b) i += (corner_of_face(k, axis) >> b & 1) * fine.next(b);
                    const float part = sweep_below.through(i);
                    sum += part * sweep_below.value(fine, i, part);
                }
                // A flux is a part of a cell, and a large one is so many small ones.
                const float more = sum * (0.5f / count) - flow * sweep.value(coarse, face, flow);
                next[t.leaf] += (side ? -more : more) / next_filled[t.leaf];
            });
        }
    }
}

template <int D>
void copy_cells(Field<D>& to, const Field<D>& from, const Tiles<D>& tiles)
{
    const auto t = to.view();
    const auto f = from.view();
    parallel_for<true>("copy", tiles, [=] TARN_KERNEL(Cell<D> c) { t(c) = f(c); });
}

// How much of what lies beside a level's leaves is filled. In parents it decides but on round-off, of flows that are taken off again.
template <int D>
void join_filled(const std::vector<CarriedLevel<D>>& levels, const Octree<D>& octree)
{
    for (size_t l = 1; l < levels.size(); ++l)
        restrict_cells(levels[l].workspace->filled, levels[l - 1].workspace->filled, octree.levels[l].near_parents);
    for (size_t l = 0; l + 1 < levels.size(); ++l) {
        const auto to = levels[l].workspace->filled.view();
        const auto from = std::as_const(levels[l + 1].workspace->filled).view();
        parallel_for("fill between", octree.levels[l].rim, [=](Cell<D> c) {
            Cell<D> parent;
            for (int a = 0; a < D; ++a) parent[a] = c[a] >> 1;
            to(c) = from(parent);
        });
    }
}

}  // namespace

template <int D>
void join_carried(const std::vector<CarriedLevel<D>>& levels, const Octree<D>& octree)
{
    for (int n = 0; n < 2; ++n) {
        for (size_t l = 1; l < levels.size(); ++l)
            restrict_cells(*levels[l].fields[n], *levels[l - 1].fields[n], octree.levels[l].near_parents);
        for (size_t l = levels.size() - 1; l-- > 0;)
            fill_between(*levels[l].fields[n], *levels[l + 1].fields[n], octree.levels[l].rim);
    }
}

template <int D>
std::vector<double> carry(const std::vector<CarriedLevel<D>>& levels, const Octree<D>& octree, const Field<D>* source,
                          const bool (&open)[D][2])
{
    std::vector<Tiles<D>> tiles;
    std::vector<double> left(2, 0.0);
    double most = 0;
    for (size_t l = 0; l < levels.size(); ++l) {
        tiles.push_back(octree.any() ? octree.levels[l].leaves : all_tiles(levels[l].workspace->capacity.grid()));
        const double here = most_leaving(*levels[l].workspace, tiles[l]);
        most = here < most ? most : here;  // a NaN comes through
    }
    if (!(most > 0)) return left;
    // A cell that gives away all it holds in the first sweep has nothing for the next.
    constexpr double most_at_once = 0.95;
    const int substeps = std::isfinite(most) ? std::max(1, static_cast<int>(std::ceil(std::min(most, 1e4) / most_at_once))) : 1;
    for (size_t l = 0; l < levels.size(); ++l) copy_cells(levels[l].workspace->filled, levels[l].workspace->capacity, tiles[l]);
    for (int s = 0; s < substeps; ++s)
        for (int n = 0; n < D; ++n) {
            const int axis = s % 2 == 0 ? n : D - 1 - n;
            if (octree.any()) {
                join_carried(levels, octree);
                join_filled(levels, octree);
            }
            std::vector<Sweep<D>> sweeps;
            for (size_t l = 0; l < levels.size(); ++l) {
                const CarriedLevel<D>& level = levels[l];
                const Sweep<D> sweep{std::as_const(level.workspace->flux)[axis].view(), std::as_const(level.workspace->filled).view(),
                                     level.workspace->capacity.grid().stride[axis], static_cast<float>(1.0 / substeps)};
                const double cell = std::ldexp(1.0, D * static_cast<int>(l));
                for (int side = 0; side < 2; ++side)
                    for (size_t f = 0; f < 2 && open[axis][side]; ++f)
                        left[f] += cell * leaving_by_side(*level.fields[f], sweep, tiles[l], axis, side);
                sweep_axis(level, l == 0 ? source : nullptr, tiles[l], sweep, n == D - 1);
                if (l > 0) sweep_t_faces(level, levels[l - 1], octree.levels[l], axis, sweep, sweeps.back());
                sweeps.push_back(sweep);
            }
            for (const CarriedLevel<D>& level : levels) {
                for (int f = 0; f < 2; ++f) level.fields[f]->swap(level.workspace->next[f]);
                level.workspace->filled.swap(level.workspace->next_filled);
            }
        }
    if (!octree.any()) return left;
    // What lies beside leaves, and is kept, follows from them alone, whichever field they have ended up in.
    for (size_t l = 0; l < levels.size() && (substeps * D) % 2 == 1; ++l)
        for (int f = 0; f < 2; ++f) {
            levels[l].fields[f]->swap(levels[l].workspace->next[f]);
            copy_cells(*levels[l].fields[f], levels[l].workspace->next[f], tiles[l]);
        }
    join_carried(levels, octree);
    return left;
}

#define TARN_INSTANTIATE(D)                                                                                                          \
    template void join_carried(const std::vector<CarriedLevel<D>>&, const Octree<D>&);                                              \
    template std::vector<double> carry(const std::vector<CarriedLevel<D>>&, const Octree<D>&, const Field<D>*, const bool (&)[D][2]);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
