#include "tarn/pressure/deflation.h"

#include <utility>

#include "tarn/surface/connected.h"

namespace tarn {

namespace {

// Of one body is what conducts so many times better than water, halfway to air. Coarse levels know larger bodies.
constexpr float strong = 30;
constexpr int most_cells = 256;
constexpr int no_body = -1;

// Calls f(link, neighbour) for the links of a cell to what is not of its body.
template <int D, class F>
TARN_HD inline void each_link_out(const FaceView<D, const float>& w, const View<D, const int>& labels, int i,
                                  const F& f)
{
    for (int a = 0; a < D; ++a) {
        const int n = labels.next(a);
        if (labels[i - n] != labels[i]) f(w[a][i], i - n);
        if (labels[i + n] != labels[i]) f(w[a][i + n], i + n);
    }
}

// Each cell's body is that of its root: what strong links join.
template <int D>
void join_strong_links(const FaceView<D, const float>& w, const View<D, int>& label, const Tiles<D>& tiles)
{
    parallel_for("light bodies", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = label.index(c);
        bool joined = false;
        for (int a = 0; a < D; ++a) joined = joined || w[a][i] > strong || w[a][i + label.next(a)] > strong;
        label[i] = joined ? i : no_body;
    });
    for (int a = 0; a < D; ++a) {
        const auto links = w[a];
        const int n = label.next(a);
        parallel_for("light bodies", tiles, [=] TARN_KERNEL(Cell<D> c) {
            const int i = label.index(c);
            if (links[i] > strong) unite(label.data, i, i - n);
        });
    }
}

}  // namespace

template <int D>
void DeflationAggregates<D>::find(const Poisson<D>& system, const Field<D>& dirichlet)
{
    const Grid<D>& grid = dirichlet.grid();
    const size_t storage = static_cast<size_t>(grid.storage()), cells = static_cast<size_t>(grid.count());
    if (labels_.size() == 0) {
        labels_ = Field<D, int>(grid);
        starts_ = Memory<int>(storage + 1);
        taken_ = Memory<int>(storage);
        for (Memory<int>* m : {&roots_, &cells_}) *m = Memory<int>(cells);
        for (Memory<float>* m : {&dirichlet_terms_, &inverse_, &shifts_}) *m = Memory<float>(cells);
        count_ = Memory<int>(1);
    }
    w_ = system.w;
    const Tiles<D>& tiles = system.tiles;
    const auto label = labels_.view();
    const auto w = std::as_const(*w_).view();
    const auto dirichlet_term = dirichlet.view();
    const int origin = grid.origin, slots = static_cast<int>(storage);
    int *const starts = starts_.data(), *const taken = taken_.data(), *const roots = roots_.data(),
               *const list = cells_.data(), *const count = count_.data();
    float *const dirichlet_terms = dirichlet_terms_.data(), *const inverse = inverse_.data();

    // 1. Bodies are what strong links join.
    parallel_range("light bodies", slots + 1, [=] TARN_KERNEL(int i) {
        starts[i] = 0;
        if (i < slots) taken[i] = 0;
        if (i == 0) *count = 0;
    });
    join_strong_links(w, label, tiles);
    parallel_for("light bodies", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = label.index(c);
        if (label[i] == no_body) return;
        const int root = find_root(label.data, i);
        atomic_store(label.data + i, root);
        atomic_add(starts + origin + root, 1);
    });

    // 2. The cells of each small one, in a row.
    parallel_range("light bodies", slots, [=] TARN_KERNEL(int i) {
        if (starts[i] > most_cells)
            starts[i] = 0;
        else if (starts[i] > 0)
            roots[atomic_add(count, 1)] = i - origin;
    });
    (void)parallel_starts("light bodies", starts, slots + 1);
    parallel_for("light bodies", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = label.index(c), root = label[i];
        if (root == no_body || starts[origin + root] == starts[origin + root + 1]) return;
        list[starts[origin + root] + atomic_add(taken + origin + root, 1)] = i;
    });
    backend::copy(&bodies_, count, sizeof bodies_);

    // 3. In a fixed order, as sums depend on it.
    const View<D, const int> labels = label;
    parallel_range("light bodies", bodies_, [=] TARN_KERNEL(int n) {
        const int begin = starts[origin + roots[n]], end = starts[origin + roots[n] + 1];
        double all = 0;
        for (int k = begin; k < end; ++k) {
            int at = k;
            for (const int i = list[k]; at > begin && list[at - 1] > i; --at) {
                list[at] = list[at - 1];
                list[at - 1] = i;
            }
        }
        for (int k = begin; k < end; ++k) {
            dirichlet_terms[k] = dirichlet_term[list[k]];
            all += dirichlet_terms[k];
            each_link_out<D>(w, labels, list[k], [&](float link, int) { all += link; });
        }
        inverse[n] = all > 0 ? static_cast<float>(1 / all) : 0.0f;
    });
}

template <int D>
void DeflationAggregates<D>::relax(Field<D>& x, const Field<D>& b) const
{
    if (bodies_ == 0) return;
    const auto xv = x.view();
    const View<D, const float> xc = xv, bv = b.view();
    const auto labels = labels_.view();
    const auto w = w_->view();
    const int origin = b.grid().origin;
    const int *const starts = starts_.data(), *const roots = roots_.data(), *const list = cells_.data();
    const float *const dirichlet_terms = dirichlet_terms_.data(), *const inverse = inverse_.data();
    float* const shifts = shifts_.data();
    parallel_range("light bodies", bodies_, [=] TARN_KERNEL(int n) {
        double residual = 0;
        for (int k = starts[origin + roots[n]]; k < starts[origin + roots[n] + 1]; ++k) {
            const int i = list[k];
            const float own = xc[i];
            residual += bv[i] - dirichlet_terms[k] * own;
            each_link_out<D>(w, labels, i, [&](float link, int j) { residual += link * (xc[j] - own); });
        }
        shifts[n] = inverse[n] * static_cast<float>(residual);
    });
    parallel_range("light bodies", bodies_, [=] TARN_KERNEL(int n) {
        for (int k = starts[origin + roots[n]]; k < starts[origin + roots[n] + 1]; ++k) xv[list[k]] += shifts[n];
    });
}

template class DeflationAggregates<2>;
template class DeflationAggregates<3>;

}  // namespace tarn
