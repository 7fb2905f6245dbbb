// Bodies of water are found by uniting every unknown with its neighbours. What touches the surface points to `surface`,
// which is lower than all.

#include <climits>
#include <utility>

#include "tarn/pressure/octree.h"
#include "tarn/pressure/poisson.h"
#include "tarn/surface/connected.h"

namespace tarn {

namespace {

constexpr int surface = -1, no_unknown = INT_MAX;
// So few bodies are summed one by one; of many, each is small, and all are summed at once.
constexpr int few = 4;

template <int D>
double count(const Field<D, int>& labels, const Tiles<D>& tiles, int body)
{
    const auto label = labels.view();
    return parallel_sum("pockets", tiles, [=] TARN_KERNEL(Cell<D> c) { return label(c) == body ? 1.0 : 0.0; });
}

}  // namespace

template <int D>
long count_unknowns(const Poisson<D>& system)
{
    const auto inverse = std::as_const(*system.inverse_diagonal).view();
    const double finest = parallel_sum<true>("unknowns", system.tiles,
                                             [=] TARN_KERNEL(Cell<D> c) { return inverse(c) > 0 ? 1.0 : 0.0; });
    long larger = 0;
    for (int l = 1; system.octree && l < system.octree->count(); ++l) larger += system.octree->level(l).leaves.cells();
    return static_cast<long>(finest) + larger;
}

template <int D>
ClosedComponents<D> find_closed_components(const Poisson<D>& system, const Field<D>& dirichlet, Field<D, int>& labels,
                                     bool solids)
{
    const auto ev = dirichlet.view(), inverse = std::as_const(*system.inverse_diagonal).view();
    ClosedComponents<D> closed;
    // In a box without solids, water either has a surface or fills the box. On an octree, if any of it has none.
    if (!solids || system.octree) {
        const bool outside = system.octree && any_leaf_at_open_side(*system.octree);
        closed.everything = !outside && parallel_sum<true>("pockets", system.tiles, [=] TARN_KERNEL(Cell<D> c) {
                                 const int i = ev.index(c);
                                 return (inverse[i] > 0) & (ev[i] > 0) ? 1.0 : 0.0;
                             }) == 0;
        if (closed.everything) closed.sizes = {static_cast<double>(count_unknowns(system))};
        if (!solids || closed.everything) return closed;
    }

    if (labels.size() == 0) labels = Field<D, int>(dirichlet.grid());
    const auto label = labels.view();
    parallel_for("pockets", system.tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = ev.index(c);
        label[i] = !(inverse[i] > 0) ? no_unknown : (ev[i] > 0 ? surface : i);
    });
    // What larger cells join is taken to have a surface; where it has none, nothing presses into it but moving solids.
    if (system.octree) mark_beside_larger_cells(labels, surface, *system.octree);
    for (int a = 0; a < D; ++a) {
        const auto w = std::as_const(*system.w)[a].view();
        const int n = w.next(a);
        parallel_for("pockets", system.tiles, [=] TARN_KERNEL(Cell<D> c) {
            const int i = w.index(c);
            if (w[i] > 0 && inverse[i - n] > 0) unite(label.data, i, i - n);
        });
    }
    parallel_for("pockets", system.tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = label.index(c);
        if (label[i] != no_unknown) label[i] = find_root(label.data, i);
    });
    closed.bodies = static_cast<int>(parallel_sum("pockets", system.tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = label.index(c);
        return label[i] == i ? 1.0 : 0.0;
    }));
    if (closed.bodies == 0) return closed;

    if (closed.bodies == 1) {
        const double open = parallel_sum("pockets", system.tiles,
                                         [=] TARN_KERNEL(Cell<D> c) { return label(c) == surface ? 1.0 : 0.0; });
        if (open == 0) {
            closed.everything = true;
            closed.sizes = {static_cast<double>(count_unknowns(system))};
            return closed;
        }
    }

    // Roots number their bodies, then the others follow.
    Memory<int> counter(1);
    int* const next = counter.data();
    parallel_for("pockets", system.tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = label.index(c);
        if (label[i] == i) label[i] = first_closed - atomic_add(next, 1);
    });
    parallel_for("pockets", system.tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = label.index(c), root = label[i];
        if (root >= 0 && root != no_unknown) label[i] = label[root];
    });
    closed.labels = &labels;
    if (closed.bodies <= few) {
        for (int n = 0; n < closed.bodies; ++n) closed.sizes.push_back(count(labels, system.tiles, first_closed - n));
        return closed;
    }
    closed.totals = Memory<long long>(2 * static_cast<size_t>(closed.bodies));
    long long* const sizes = closed.totals.data() + closed.bodies;
    parallel_for("pockets", system.tiles, [=] TARN_KERNEL(Cell<D> c) {
        if (label(c) <= first_closed) atomic_add(sizes + (first_closed - label(c)), 1);
    });
    return closed;
}

template <int D>
void remove_means(Field<D>& f, const Poisson<D>& system, const ClosedComponents<D>& closed)
{
    const auto v = f.view();
    if (closed.everything) {
        const auto inverse = std::as_const(*system.inverse_diagonal).view();
        const double sum = parallel_sum<true>("means", system.tiles, [=] TARN_KERNEL(Cell<D> c) {
            const double here = v(c);
            return inverse(c) > 0 ? here : 0.0;
        });
        const float mean = static_cast<float>(closed.sizes[0] > 0 ? sum / closed.sizes[0] : 0);
        parallel_for<true>("means", system.tiles, [=] TARN_KERNEL(Cell<D> c) { v(c) -= inverse(c) > 0 ? mean : 0.0f; });
        return;
    }
    if (closed.bodies == 0) return;

    const auto label = std::as_const(*closed.labels).view();
    if (closed.bodies <= few) {
        for (int n = 0; n < closed.bodies; ++n) {
            const int body = first_closed - n;
            const double sum = parallel_sum("means", system.tiles, [=] TARN_KERNEL(Cell<D> c) {
                return label(c) == body ? static_cast<double>(v(c)) : 0.0;
            });
            const float mean = static_cast<float>(sum / closed.sizes[static_cast<size_t>(n)]);
            parallel_for("means", system.tiles, [=] TARN_KERNEL(Cell<D> c) { v(c) -= label(c) == body ? mean : 0.0f; });
        }
        return;
    }

    // Sums of whole numbers do not depend on their order.
    const double largest = parallel_max("means", system.tiles, [=] TARN_KERNEL(Cell<D> c) {
        return label(c) <= first_closed ? std::fabs(v(c)) : 0.0f;
    });
    if (!(largest > 0)) return;
    const double scale = 0x1p60 / (largest * static_cast<double>(f.grid().count()));
    long long* const sums = closed.totals.data();
    const long long* const sizes = sums + closed.bodies;
    parallel_range("means", closed.bodies, [=] TARN_KERNEL(int n) { sums[n] = 0; });
    parallel_for("means", system.tiles, [=] TARN_KERNEL(Cell<D> c) {
        if (label(c) <= first_closed)
            atomic_add(sums + (first_closed - label(c)), static_cast<long long>(v(c) * scale));
    });
    parallel_for("means", system.tiles, [=] TARN_KERNEL(Cell<D> c) {
        if (label(c) > first_closed) return;
        const int n = first_closed - label(c);
        v(c) -= static_cast<float>(static_cast<double>(sums[n]) / scale / static_cast<double>(sizes[n]));
    });
}

template long count_unknowns(const Poisson<2>&);
template long count_unknowns(const Poisson<3>&);
template ClosedComponents<2> find_closed_components(const Poisson<2>&, const Field<2>&, Field<2, int>&, bool);
template ClosedComponents<3> find_closed_components(const Poisson<3>&, const Field<3>&, Field<3, int>&, bool);
template void remove_means(Field<2>&, const Poisson<2>&, const ClosedComponents<2>&);
template void remove_means(Field<3>&, const Poisson<3>&, const ClosedComponents<3>&);

}  // namespace tarn
