#include "tarn/surface/ledger.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tarn/surface/connected.h"
#include "tarn/surface/measure.h"

namespace tarn {

namespace {

constexpr int no_body = -1;  // while bodies are being found

// Phi and the solids in it.
template <int D>
struct Seen {
    WetPart<D> wet;
    bool solids;
    FaceView<D, const float> open;

    Seen(const Field<D>& phi, const ClosedFaces<D>* closed) : wet(phi, closed), solids(closed)
    {
        if (closed) open = closed->open.view();
    }
    TARN_HD bool belongs(Cell<D> c) const { return wet.phi(c) < 0 && (!solids || wet.outside(c) > 0); }
    // Whether a cell joins its lower neighbour, both of which belong to bodies. Sheets are closed faces.
    TARN_HD bool joins(int i, int axis) const { return !solids || open[axis][i] > 0; }
};

// The body that a wet cell's water was part of before it moved; 0 where that cannot be told.
template <int D>
TARN_HD inline int came_from(const View<D, const int>& before, const FaceView<D, const float>& u, Cell<D> cells,
                             const Sides<D>& sides, Cell<D> c, float s)
{
    const Cell<D> origin = sides.origin(c);
    const Vec<D, float> start = origin.template as<float>();
    const Vec<D, float> x = go(sides.before, start, c.template as<float>() - s * velocity_at_cell(u, c));
    const Cell<D> nearest = sides.any() ? cell_at(x, cells) : cell_of(x, cells);
    const Vec<D, float> middle = nearest.template as<float>();
    if (before(nearest) > 0) return before(nearest);
    constexpr int around = D == 3 ? 27 : 9;
    for (int n = 0; n < around; ++n) {
        Cell<D> other = nearest;
        bool inside = true;
        int left = n;
        for (int a = 0; a < D; ++a) {
            other[a] += left % 3 - 1;
            left /= 3;
            inside = inside && other[a] >= 0 && other[a] < cells[a];
        }
        if (!inside || !(before(other) > 0)) continue;
        const Vec<D, float> there = other.template as<float>();
        if (go(sides.before, middle, there) == there) return before(other);
    }
    return before(origin);
}

// Points every wet cell to the lowest cell of its body.
template <int D>
void unite_bodies(const View<D, int>& label, const Seen<D>& seen, const Tiles<D>& tiles)
{
    // Within a tile a run along x is one from the start.
    parallel_for("bodies", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = label.index(c);
        if (!seen.belongs(c)) {
            label[i] = no_body;
            return;
        }
        int first = i;
        for (Cell<D> b = c; b[0] % tile_size != 0; --first) {
            if (!seen.joins(first, 0)) break;
            --b[0];
            if (!seen.belongs(b)) break;
        }
        label[i] = first;
    });
    for (int a = 0; a < D; ++a) {
        const int n = label.next(a);
        parallel_for("bodies", tiles, [=] TARN_KERNEL(Cell<D> c) {
            const int i = label.index(c);
            if (c[a] == 0 || label[i] == no_body || label[i - n] == no_body || !seen.joins(i, a)) return;
            const bool starts = c[0] % tile_size == 0;
            if (a == 0 && !starts) return;
            // Where the cells before both are joined in the same way, nothing is new here.
            if (a > 0 && !starts && label[i - 1] != no_body && label[i - n - 1] != no_body && seen.joins(i, 0) &&
                seen.joins(i - n, 0) && seen.joins(i - 1, a))
                return;
            unite(label.data, i, i - n);
        });
    }
    parallel_for("bodies", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = label.index(c);
        if (label[i] != no_body) label[i] = find_root(label.data, i);
    });
}

}  // namespace

template <int D>
void find_bodies(Ledger<D>& ledger, const Field<D>& phi, const ClosedFaces<D>* closed, const Tiles<D>& tiles)
{
    const Seen<D> seen(phi, closed);
    const auto label = ledger.body.view();
    unite_bodies(label, seen, tiles);

    // Bodies are numbered by their lowest cells.
    const int count = static_cast<int>(parallel_sum("bodies", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = label.index(c);
        return label[i] == i ? 1.0 : 0.0;
    }));
    Memory<int> roots_there(static_cast<size_t>(count) + 1);
    int* const roots = roots_there.data();
    parallel_for("bodies", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = label.index(c);
        if (label[i] == i) roots[atomic_add(roots + count, 1)] = i;
    });
    std::vector<int> sorted(static_cast<size_t>(count));
    backend::copy(sorted.data(), roots, sorted.size() * sizeof(int));
    std::sort(sorted.begin(), sorted.end());
    backend::copy(roots, sorted.data(), sorted.size() * sizeof(int));
    parallel_range("bodies", count, [=] TARN_KERNEL(int n) { label[roots[n]] = no_body - 1 - n; });
    parallel_for("bodies", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = label.index(c);
        if (label[i] >= 0) label[i] = label[label[i]];
    });
    parallel_for<true>("bodies", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = label.index(c);
        label[i] = no_body - label[i];
    });

    // A cell without its centre in the water counts for the body beside it.
    SumsByBody sums(static_cast<size_t>(count));
    const SumsByBody::Adder add = sums.adder();
    const View<D, const int> body = label;
    parallel_for("bodies", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const float wet = seen.wet(c);
        if (!(wet > 0)) return;
        int owner = body(c);
        for (int n = 0; owner == 0 && n < 2 * D; ++n) {
            Cell<D> other = c;
            other[n / 2] += n % 2 ? 1 : -1;
            const bool inside = other[n / 2] >= 0 && other[n / 2] < seen.wet.cells[n / 2];
            if (inside && !seen.wet.sheets.beside(body.index(c), n / 2, n % 2)) owner = body(other);
        }
        if (owner > 0) add(c, owner, wet);
    });
    ledger.actual = sums.result();
    for (double& volume : ledger.actual) volume *= cell_volume(phi.grid());
}

template <int D>
void carry(Ledger<D>& ledger, const Field<D>& phi, const FaceField<D>& velocity, const ClosedFaces<D>* closed,
           const Tiles<D>& tiles, double dt, const Sides<D>& sides)
{
    ledger.body.swap(ledger.before);
    find_bodies(ledger, phi, closed, tiles);
    const size_t old_count = ledger.expected.size(), count = ledger.actual.size();
    if (old_count == 1 && count == 1) return share_out(ledger, std::exchange(ledger.elsewhere, 0));

    const Seen<D> seen(phi, closed);
    const auto body = std::as_const(ledger.body).view(), before = std::as_const(ledger.before).view();
    const auto u = velocity.view();
    const float s = static_cast<float>(dt / phi.grid().h);
    SumsByBody left_sums(old_count), new_sums(count);
    const SumsByBody::Adder add_left = left_sums.adder(), add_new = new_sums.adder();
    parallel_for("ledger", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int from = body(c) > 0 ? came_from<D>(before, u, seen.wet.cells, sides, c, s) : 0;
        if (from > 0) add_left(c, from, seen.wet(c));
    });
    // In one body's cells there is so much of what it should hold for every wet cell that came from it.
    std::vector<double> share = left_sums.result();
    const double cell = cell_volume(phi.grid());
    for (size_t i = 0; i < old_count; ++i) share[i] = share[i] > 0 ? ledger.expected[i] / cell / share[i] : 0;
    const Mirror mirror;
    const double* const each = mirror.of(share.data(), share.size());
    parallel_for("ledger", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int to = body(c), from = to > 0 ? came_from<D>(before, u, seen.wet.cells, sides, c, s) : 0;
        if (from > 0) add_new(c, to, each[from - 1] * seen.wet(c));
    });
    const double should = std::accumulate(ledger.expected.begin(), ledger.expected.end(), ledger.elsewhere);
    ledger.expected = new_sums.result();
    for (double& volume : ledger.expected) volume *= cell;
    // What bodies held that are gone, and what rounding took.
    ledger.elsewhere = should - std::accumulate(ledger.expected.begin(), ledger.expected.end(), 0.0);
    share_out(ledger, std::exchange(ledger.elsewhere, 0));
}

template <int D>
void share_out(Ledger<D>& ledger, double volume)
{
    const double all = std::accumulate(ledger.actual.begin(), ledger.actual.end(), 0.0);
    if (!(all > 0)) {
        ledger.elsewhere += volume;
        return;
    }
    for (size_t i = 0; i < ledger.actual.size(); ++i) ledger.expected[i] += volume * ledger.actual[i] / all;
}

#define TARN_INSTANTIATE(D)                                                                                       \
    template void find_bodies(Ledger<D>&, const Field<D>&, const ClosedFaces<D>*, const Tiles<D>&);               \
    template void carry(Ledger<D>&, const Field<D>&, const FaceField<D>&, const ClosedFaces<D>*, const Tiles<D>&, \
                        double, const Sides<D>&);                                                                 \
    template void share_out(Ledger<D>&, double);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
