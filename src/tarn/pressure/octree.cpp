#include "tarn/pressure/octree.h"

#include <cmath>
#include <utility>

#include "tarn/backend/parallel.h"

namespace tarn {

namespace {

constexpr float over(OctreeDistance distance, int dimension)
{
    switch (distance) {
        case OctreeDistance::large: return 1;
        case OctreeDistance::small: return 2;
        case OctreeDistance::centres: return 1 / std::sqrt(0.5625f + 0.0625f * static_cast<float>(dimension - 1));
        case OctreeDistance::mean: break;
    }
    return 4.0f / 3;
}

template <int D>
void clear(Field<D>& f, const Tiles<D>& tiles)
{
    const auto v = f.view();
    parallel_for<true>("clear", tiles, [=](Cell<D> c) { v(c) = 0; });
}

// The children of a T-face.
template <int D>
struct Children {
    static constexpr int count = 1 << (D - 1);
    int offset[count];

    template <class T>
    Children(const View<D, T>& fine, int axis)
    {
        for (int n = 0; n < count; ++n) {
            offset[n] = 0;
            for (int b = 0; b < D; ++b)
                if (corner_of_face(n, axis) >> b & 1) offset[n] += fine.next(b);
        }
    }
    float mean(const View<D, const float>& f, int first) const
    {
        float sum = 0;
        for (const int o : offset) sum += f[first + o];
        return sum * (1.0f / count);
    }
};

// Calls f(axis, side, face, its number among the T-faces of level l) for every T-face; those of one axis and side share no cell, and may
// run at once.
template <int D, class F>
void for_each_t_face(const OctreeSystem<D>& system, int l, const F& f)
{
    int first = 0;
    for (int a = 0; a < D; ++a)
        for (int side = 0; side < 2; ++side) {
            const std::vector<TFace>& faces = system.level(l).faces[a][side];
            parallel_range("T-faces", static_cast<int>(faces.size()),
                           [&, first](int n) { f(a, side, faces[static_cast<size_t>(n)], first + n); });
            first += static_cast<int>(faces.size());
        }
}
template <int D>
int count_t_faces(const OctreeSystem<D>& system, int l)
{
    size_t n = 0;
    for (const auto& sides : system.level(l).faces)
        for (const auto& faces : sides) n += faces.size();
    return static_cast<int>(n);
}

}  // namespace

template <int D>
OctreeSystem<D>::OctreeSystem(const Octree<D>& o, const OctreeParams& params)
    : octree(&o), mean_of_children(params.pressure == OctreePressure::second_order),
      over_distance(mean_of_children ? 4.0f / 3 : over(params.distance, D))
{
    for (int l = 1; l < o.count(); ++l) {
        const Grid<D>& grid = o.levels[static_cast<size_t>(l)].grid;
        levels.push_back({Field<D>(grid), Field<D>(grid), Field<D>(grid), Field<D>(grid), {}});
    }
}

template <int D>
void conduct_across(FaceField<D>& w, const OctreeSystem<D>& system, int l)
{
    const FaceView<D> wv = w.view();
    for_each_t_face(system, l, [&](int a, int side, TFace t, int) {
        const Children<D> children(wv[a], a);
        for (const int o : children.offset) wv[a][t.child + o + (side ? 0 : wv[a].next(a))] = conductance<D>(l - 1);
    });
}

template <int D>
void clear_level(FaceField<D>& w, Field<D>& dirichlet, Field<D>& x, const OctreeSystem<D>& system, int l)
{
    clear(x, system.level(l).rim);
    const Tiles<D>& tiles = system.level(l).tiles;
    for (int a = 0; a < D; ++a) {
        const auto v = w[a].view();
        parallel_for_faces<true>("multigrid build", tiles, a, [=](Cell<D> c) { v(c) = 0; });
    }
    clear(dirichlet, tiles);
}

template <int D>
void add_leaves(FaceField<D>& w, Field<D>& dirichlet, const OctreeSystem<D>& system, int l)
{
    const OctreeLevel<D>& level = system.level(l);
    const Cell<D> cells = level.grid.cells;
    const float full = conductance<D>(l);
    for (int a = 0; a < D; ++a) {
        const auto v = w[a].view();
        parallel_for_faces("multigrid build", level.leaves, a,
                           [=](Cell<D> c) { v(c) = c[a] == 0 || c[a] == cells[a] ? 0.0f : full; });
        for (int side = 0; side < 2; ++side) {
            if (!system.open[a][side]) continue;
            const auto e = dirichlet.view();
            parallel_for("multigrid build", along_side(level.leaves, a, side), [=](Cell<D> c) { e(c) += full; });
        }
    }
}

template <int D>
bool any_leaf_at_open_side(const OctreeSystem<D>& system)
{
    for (int l = 1; l < system.count(); ++l)
        for (int a = 0; a < D; ++a)
            for (int side = 0; side < 2; ++side)
                if (system.open[a][side] && along_side(system.level(l).leaves, a, side).cells() > 0) return true;
    return false;
}

template <int D>
void product_in_leaves(Field<D>& z, const Field<D>& x, const OctreeSystem<D>& system, int l)
{
    const Cell<D> cells = system.level(l).grid.cells;
    const auto zv = z.view();
    const auto xv = x.view();
    const float w = conductance<D>(l);
    float outside[D][2];  // 1 where x = 0 lies past the side, 0 where nothing does
    for (int a = 0; a < D; ++a)
        for (int side = 0; side < 2; ++side) outside[a][side] = system.open[a][side] ? 1.0f : 0.0f;
    parallel_for("apply", system.level(l).leaves, [=](Cell<D> c) {
        const int i = xv.index(c);
        const float own = xv[i];
        float sum = 0;
        for (int a = 0; a < D; ++a) {
            const int n = xv.next(a);
            sum += (c[a] > 0 ? own - xv[i - n] : outside[a][0] * own) + (c[a] + 1 < cells[a] ? own - xv[i + n] : outside[a][1] * own);
        }
        zv[i] = w * sum;
    });
}

template <int D>
double add_t_faces(const std::vector<Field<D>*>& z, const std::vector<const Field<D>*>& x, const OctreeSystem<D>& system, float sign)
{
    double total = 0;
    for (int l = 1; l < system.count(); ++l) {
        const size_t n = static_cast<size_t>(l);
        const auto zb = z[n]->view(), zs = z[n - 1]->view();
        const auto xb = x[n]->view(), xs = x[n - 1]->view();
        const float w = system.over_distance * conductance<D>(l), at_leaf = conductance<D>(l), at_child = conductance<D>(l - 1);
        std::vector<double> energy(static_cast<size_t>(count_t_faces(system, l)));
        for_each_t_face(system, l, [&](int a, int, TFace t, int number) {
            constexpr int count = Children<D>::count;
            const Children<D> children(xs, a);
            const float own = xb[t.leaf];
            double more = -static_cast<double>(at_leaf) * own * own;
            const float mean = children.mean(xs, t.child);
            float all = 0;
            for (const int o : children.offset) {
                const int i = t.child + o;
                const float there = xs[i], flow = w * (1.0f / count) * (own - (system.mean_of_children ? mean : there));
                zs[i] += sign * (-flow - at_child * there);
                all += flow;
                more += (system.mean_of_children ? 0.0 : static_cast<double>(flow) * (own - there)) -
                        static_cast<double>(at_child) * there * there;
            }
            if (system.mean_of_children) more += static_cast<double>(w) * (own - mean) * (own - mean);
            zb[t.leaf] += sign * (all - at_leaf * own);
            energy[static_cast<size_t>(number)] = more;
        });
        for (const double e : energy) total += e;
    }
    return total;
}

template <int D>
void add_across(Field<D>& b, const Field<D>& x, const Field<D>* above, OctreeSystem<D>& system, int l)
{
    constexpr int count = Children<D>::count;
    system.saved.resize(static_cast<size_t>(count_t_faces(system, l)) * count);
    const auto bv = b.view();
    const auto xs = x.view();
    const View<D, const float> xb = above ? above->view() : View<D, const float>{};
    const float w = system.over_distance * conductance<D>(l) / count, at_child = conductance<D>(l - 1);
    for_each_t_face(system, l, [&](int a, int, TFace t, int number) {
        const Children<D> children(xs, a);
        const float own = above ? xb[t.leaf] : 0.0f, mean = children.mean(xs, t.child);
        float* const saved = &system.saved[static_cast<size_t>(number) * count];
        for (int k = 0; k < count; ++k) {
            const int i = t.child + children.offset[k];
            saved[k] = bv[i];
            bv[i] += at_child * xs[i] + w * (own - (system.mean_of_children ? mean : xs[i]));
        }
    });
}

template <int D>
void restore_across(Field<D>& b, OctreeSystem<D>& system, int l)
{
    constexpr int count = Children<D>::count;
    const auto bv = b.view();
    int last = count_t_faces(system, l);
    // In the other order: a cell may have T-faces along several axes.
    for (int a = D - 1; a >= 0; --a)
        for (int side = 1; side >= 0; --side) {
            const std::vector<TFace>& faces = system.level(l).faces[a][side];
            last -= static_cast<int>(faces.size());
            const Children<D> children(bv, a);
            parallel_range("T-faces", static_cast<int>(faces.size()), [&](int n) {
                const float* const saved = &system.saved[static_cast<size_t>(last + n) * count];
                for (int k = 0; k < count; ++k) bv[faces[static_cast<size_t>(n)].child + children.offset[k]] = saved[k];
            });
        }
}

template <int D>
void restrict_to_leaves(Field<D>& b, const Field<D>& r, const Field<D>& x_below, const OctreeSystem<D>& system, int l)
{
    const auto bv = b.view();
    const auto rv = r.view(), xs = x_below.view();
    parallel_for<true>("restrict", system.level(l).leaves, [=](Cell<D> c) { bv(c) = rv(c); });
    const float w = system.over_distance * conductance<D>(l);
    for_each_t_face(system, l, [&](int a, int, TFace t, int) { bv[t.leaf] += w * Children<D>(xs, a).mean(xs, t.child); });
}

template <int D>
void subtract_leaves(Field<D>& r, const Field<D>& z, const OctreeSystem<D>& system, int l)
{
    const auto rv = r.view();
    const auto zv = z.view();
    parallel_for<true>("residual", system.level(l).leaves, [=](Cell<D> c) { rv(c) -= zv(c); });
}

template <int D>
double dot_in(const Field<D>& z, const Field<D>& p, const Tiles<D>& tiles)
{
    const auto zv = z.view(), pv = p.view();
    return parallel_sum<true>("dot", tiles, [=](Cell<D> c) { return static_cast<double>(zv(c)) * pv(c); });
}

template <int D>
void keep_right_hand_side(OctreeSystem<D>& system)
{
    for (int l = 1; l < system.count(); ++l) {
        auto& u = system.unknowns(l);
        if (u.kept.size() == 0) u.kept = Field<D>(system.level(l).grid);
        copy_leaves(u.kept, u.r, system, l);
    }
}

template <int D>
void start_again(OctreeSystem<D>& system)
{
    for (int l = 1; l < system.count(); ++l) {
        auto& u = system.unknowns(l);
        copy_leaves(u.r, u.kept, system, l);
        clear(u.x, system.level(l).leaves);
    }
}

template <int D>
void divide_leaves_by_diagonal(OctreeSystem<D>& system)
{
    for (int l = 1; l < system.count(); ++l) {
        auto& u = system.unknowns(l);
        const auto z = u.z.view();
        const auto r = std::as_const(u.r).view();
        const float inverse = 1 / (2 * D * conductance<D>(l));
        parallel_for<true>("diagonal", system.level(l).leaves, [=](Cell<D> c) { z(c) = inverse * r(c); });
    }
}

template <int D>
void copy_leaves(Field<D>& to, const Field<D>& from, const OctreeSystem<D>& system, int l)
{
    const auto t = to.view();
    const auto f = from.view();
    parallel_for<true>("copy", system.level(l).leaves, [=](Cell<D> c) { t(c) = f(c); });
}

template <int D>
void remove_mean(const std::vector<Field<D>*>& f, const Poisson<D>& poisson, bool residual)
{
    OctreeSystem<D>& system = *poisson.octree;
    const auto inverse = std::as_const(*poisson.inverse_diagonal).view();
    double sum = 0, all = 0;
    for (int l = 0; l < system.count(); ++l) {
        const auto v = std::as_const(*f[static_cast<size_t>(l)]).view();
        const Tiles<D>& tiles = l == 0 ? poisson.tiles : system.level(l).leaves;
        const double each = volume<D>(l), weight = residual ? 1.0 : each;
        sum += weight * parallel_sum("means", tiles, [=](Cell<D> c) { return l > 0 || inverse(c) > 0 ? static_cast<double>(v(c)) : 0.0; });
        all += each * parallel_sum("means", tiles, [=](Cell<D> c) { return l > 0 || inverse(c) > 0 ? 1.0 : 0.0; });
    }
    for (int l = 0; l < system.count(); ++l) {
        const auto v = f[static_cast<size_t>(l)]->view();
        const float mean = static_cast<float>(sum / all * (residual ? static_cast<double>(volume<D>(l)) : 1.0));
        parallel_for("means", l == 0 ? poisson.tiles : system.level(l).leaves,
                     [=](Cell<D> c) { v(c) -= l > 0 || inverse(c) > 0 ? mean : 0.0f; });
    }
}

template <int D>
void mark_beside_larger_cells(Field<D, int>& labels, int label, const OctreeSystem<D>& system)
{
    const auto v = labels.view();
    for_each_t_face(system, 1, [&](int a, int, TFace t, int) {
        for (const int o : Children<D>(v, a).offset) v[t.child + o] = label;
    });
}

template <int D>
void close_coarse_walls(std::vector<CoarseLevel<D>>& coarse, const OctreeSystem<D>& system)
{
    for (int l = 1; l < system.count(); ++l)
        for (int a = 0; a < D; ++a)
            for (int side = 0; side < 2; ++side) {
                if (system.open[a][side]) continue;
                const auto u = coarse[static_cast<size_t>(l) - 1].velocity[a].view();
                parallel_for("close walls", along_side(system.level(l).leaves, a, side),
                             [=](Cell<D> c) { u(moved<D>(c, a, side)) = 0; });
            }
}

template <int D>
void coarse_right_hand_side(OctreeSystem<D>& system, const std::vector<CoarseLevel<D>>& coarse, float scale)
{
    for (int l = 1; l < system.count(); ++l) {
        auto& unknowns = system.unknowns(l);
        const CoarseLevel<D>& level = coarse[static_cast<size_t>(l) - 1];
        const auto x = unknowns.x.view(), r = unknowns.r.view();
        const auto pressure = level.pressure.view();
        const auto u = level.velocity.view();
        const float a_l = area<D>(l);
        // Where there is no leaf any more all must be zero.
        for (const Tiles<D>* tiles : {&system.level(l).tiles, &system.level(l).rim}) {
            for (Field<D>* f : {&unknowns.r, &unknowns.p, &unknowns.z}) clear(*f, *tiles);
            if (scale != 0) clear(unknowns.x, *tiles);
        }
        parallel_for("right-hand side", system.level(l).leaves, [=](Cell<D> c) {
            const int i = r.index(c);
            float out = 0;
            for (int a = 0; a < D; ++a) out += u[a][i + u[a].next(a)] - u[a][i];
            r[i] = -a_l * out;
            if (scale != 0) x[i] = scale * pressure[i];
        });
    }
}

template <int D>
void apply_coarse_pressure(FaceField<D>& finest_velocity, std::vector<CoarseLevel<D>>& coarse, const Field<D>& finest,
                           OctreeSystem<D>& system, float to_x)
{
    const LevelVelocities<D> velocity = velocities_of(finest_velocity, coarse);
    for (int l = 1; l < system.count(); ++l) {
        CoarseLevel<D>& level = coarse[static_cast<size_t>(l) - 1];
        const auto x = std::as_const(system.unknowns(l).x).view();
        const auto below = l == 1 ? finest.view() : std::as_const(system.unknowns(l - 1).x).view();
        const FaceView<D> u = level.velocity.view();
        const float per_cell = 1.0f / static_cast<float>(1 << l);
        const auto pressure = level.pressure.view();
        const float to_pressure = 1 / to_x;
        for (int a = 0; a < D; ++a) {
            const auto ua = u[a];
            const int n = ua.next(a);
            // T-faces are put right below: what lies across them has x = 0.
            parallel_for("apply pressure", system.level(l).leaves, [=](Cell<D> c) {
                const int i = x.index(c);
                if (c[a] > 0) ua[i] -= per_cell * (x[i] - x[i - n]);
            });
            for (int side = 0; side < 2; ++side) {
                if (!system.open[a][side]) continue;
                const float inwards = side ? per_cell : -per_cell;
                parallel_for("apply pressure", along_side(system.level(l).leaves, a, side), [=](Cell<D> c) {
                    const int i = x.index(c);
                    ua[side ? i + n : i] += inwards * x[i];
                });
            }
        }
        const float w = system.over_distance * per_cell;
        const FaceView<D> small = velocity[static_cast<size_t>(l) - 1]->view();
        for_each_t_face(system, l, [&](int a, int side, TFace t, int) {
            const Children<D> children(below, a);
            const float own = x[t.leaf], outwards = side ? w : -w, mean = children.mean(below, t.child);
            float& large = u[a][side ? t.leaf + u[a].next(a) : t.leaf];
            const float before = side ? large : large + per_cell * own;
            large = before - outwards * (mean - own);
            for (const int o : children.offset) {
                const int i = t.child + o;
                small[a][side ? i : i + small[a].next(a)] =
                    system.mean_of_children ? large : before - outwards * (below[i] - own);
            }
        });
        parallel_for("scale pressure", system.level(l).leaves, [=](Cell<D> c) { pressure(c) = to_pressure * x(c); });
    }
}

#define TARN_INSTANTIATE(D)                                                                                                      \
    template struct OctreeSystem<D>;                                                                                             \
    template void conduct_across(FaceField<D>&, const OctreeSystem<D>&, int);                                                    \
    template void clear_level(FaceField<D>&, Field<D>&, Field<D>&, const OctreeSystem<D>&, int);                                 \
    template void add_leaves(FaceField<D>&, Field<D>&, const OctreeSystem<D>&, int);                                             \
    template bool any_leaf_at_open_side(const OctreeSystem<D>&);                                                                 \
    template void product_in_leaves(Field<D>&, const Field<D>&, const OctreeSystem<D>&, int);                                    \
    template double add_t_faces(const std::vector<Field<D>*>&, const std::vector<const Field<D>*>&, const OctreeSystem<D>&, float);     \
    template void add_across(Field<D>&, const Field<D>&, const Field<D>*, OctreeSystem<D>&, int);                                \
    template void restore_across(Field<D>&, OctreeSystem<D>&, int);                                                              \
    template void restrict_to_leaves(Field<D>&, const Field<D>&, const Field<D>&, const OctreeSystem<D>&, int);                  \
    template void subtract_leaves(Field<D>&, const Field<D>&, const OctreeSystem<D>&, int);                                      \
    template double dot_in(const Field<D>&, const Field<D>&, const Tiles<D>&);                                                   \
    template void keep_right_hand_side(OctreeSystem<D>&);                                                                        \
    template void start_again(OctreeSystem<D>&);                                                                                 \
    template void divide_leaves_by_diagonal(OctreeSystem<D>&);                                                                   \
    template void copy_leaves(Field<D>&, const Field<D>&, const OctreeSystem<D>&, int);                                          \
    template void remove_mean(const std::vector<Field<D>*>&, const Poisson<D>&, bool);                                           \
    template void mark_beside_larger_cells(Field<D, int>&, int, const OctreeSystem<D>&);                                         \
    template void close_coarse_walls(std::vector<CoarseLevel<D>>&, const OctreeSystem<D>&);                                            \
    template void coarse_right_hand_side(OctreeSystem<D>&, const std::vector<CoarseLevel<D>>&, float);                           \
    template void apply_coarse_pressure(FaceField<D>&, std::vector<CoarseLevel<D>>&, const Field<D>&, OctreeSystem<D>&, float);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
