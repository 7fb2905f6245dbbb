#include "tarn/surface/target_volumes.h"

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
    TARN_HD bool belongs(Cell<D> c) const
    {
        if (!(wet.phi(c) < 0) || !solids) return wet.phi(c) < 0;
        const float part = wet.outside(c);
        if (part > 0.5f) return true;
        // The surface may lie inside the solid, too: then there is no water before it.
        return part > 0 && wet(c) > 0 && cut_off(wet.phi.index(c)) != shut_in;
    }
    TARN_HD bool has_open_face(int i) const
    {
        bool any = false;
        for (int a = 0; a < D; ++a) any = any || open[a][i] > 0 || open[a][i + open[a].next(a)] > 0;
        return any;
    }
    // What solids leave of a cell may be so little that all its faces are closed. It is then part of the body that lies
    // before the solid: of the wet neighbour with an open face that is farthest outside, and of that one only, so that it
    // joins nothing through a wall. Returns which, 2 axis + side, or else that it has an open face, or that there is no such
    // neighbour: then it holds nothing.
    static constexpr int not_cut_off = -1, shut_in = -2;
    TARN_HD int cut_off(int i) const
    {
        if (has_open_face(i)) return not_cut_off;
        int best = shut_in;
        float farthest = nodes_at_cell<D>(wet.nodes, i);
        for (int n = 0; n < 2 * D; ++n) {
            const int j = i + (n % 2 ? 1 : -1) * wet.phi.next(n / 2);
            if (!(wet.phi[j] < 0) || wet.thin_walls.beside(i, n / 2, n % 2) || !has_open_face(j)) continue;
            const float there = nodes_at_cell<D>(wet.nodes, j);
            if (there > farthest) best = n, farthest = there;
        }
        return best;
    }
    // The cell that tells which body the water in a cell is part of: where its own centre is dry, one beside it.
    TARN_HD Cell<D> owner(const View<D, const int>& body, Cell<D> c) const
    {
        Cell<D> owner = c;
        for (int n = 0; body(owner) == 0 && n < 2 * D; ++n) {
            const Cell<D> other = moved<D>(c, n / 2, n % 2 ? 1 : -1);
            const bool inside = other[n / 2] >= 0 && other[n / 2] < wet.cells[n / 2];
            if (inside && !wet.thin_walls.beside(body.index(c), n / 2, n % 2)) owner = other;
        }
        // What a surface cuts off a cell's corner is part of what lies beyond the corner.
        for (int n = 0; body(owner) == 0 && !wet.thin_walls.any() && n < (D == 3 ? 27 : 9); ++n) {
            Cell<D> other = c;
            bool inside = true;
            for (int a = 0, left = n; a < D; ++a, left /= 3) {
                other[a] += left % 3 - 1;
                inside = inside && other[a] >= 0 && other[a] < wet.cells[a];
            }
            if (inside && body(other) > 0) owner = other;
        }
        return owner;
    }
    // Whether a cell joins its lower neighbour, both of which belong to bodies. ThinWalls are closed faces.
    TARN_HD bool joins(int i, int axis) const
    {
        if (!solids || open[axis][i] > 0) return true;
        if (wet.thin_walls.below(i, axis)) return false;
        return cut_off(i) == 2 * axis || cut_off(i - open[axis].next(axis)) == 2 * axis + 1;
    }
};

// The body that a wet cell's water was part of before it moved; 0 where that cannot be told.
template <int D>
TARN_HD inline int came_from(const View<D, const int>& before, const FaceView<D, const float>& u, Cell<D> cells,
                             const Sides<D>& sides, Cell<D> c, float s)
{
    const Cell<D> origin = sides.origin(c);
    const Vec<D, float> start = origin.template as<float>();
    const Vec<D, float> x = go(sides.before, start, c.template as<float>() - s * velocity_at_cell(u, c));
    const Cell<D> nearest = cell_at(x, cells);
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

// The first cell of a cell's tile, which stands for the whole of a deep one.
template <int D>
TARN_HD inline Cell<D> first_of_tile(Cell<D> c)
{
    for (int a = 0; a < D; ++a) c[a] -= c[a] % tile_size;
    return c;
}

// Calls f for every cell of the shallow tiles, and for the first of each deep one.
template <int D, class F>
void for_each_piece(const char* name, const Tiles<D>& shallow, const Tiles<D>& deep, const Tiles<D>& inner, const F& f)
{
    parallel_for(name, shallow, f);
    parallel_for(name, inner, f);
    parallel_for(name, deep, [=] TARN_KERNEL(Cell<D> c) {
        if (c == first_of_tile<D>(c)) f(c);
    });
}

// Points every wet cell to the lowest cell of its body.
template <int D>
void unite_bodies(const View<D, int>& label, const Seen<D>& seen, const Tiles<D>& shallow, const Tiles<D>& deep,
                  const Tiles<D>& inner)
{
    // Of an inner tile, also the cells that its neighbours' first ones look at.
    parallel_for("bodies", inner, [=] TARN_KERNEL(Cell<D> c) {
        const int first = label.index(c);
        label[first] = first;
        for (int a = 0; a < D; ++a)
            label(moved<D>(c, a, c[a] + tile_size < seen.wet.cells[a] ? tile_size - 1 : seen.wet.cells[a] - 1 - c[a])) = first;
    });
    parallel_for("bodies", deep, [=] TARN_KERNEL(Cell<D> c) { label(c) = label.index(first_of_tile<D>(c)); });
    // Within a row of a tile, a run along x is one from the start.
    parallel_for("bodies", shallow, [=] TARN_KERNEL(Cell<D> c) {
        if (c[0] % tile_size != 0) return;
        const int end = label.index(c) + (c[0] + tile_size < seen.wet.cells[0] ? tile_size : seen.wet.cells[0] - c[0]);
        bool wet = false;
        for (int i = label.index(c), first = i; i < end; ++i, ++c[0]) {
            const bool belongs = seen.belongs(c);
            if (!wet || !seen.joins(i, 0)) first = i;
            label[i] = belongs ? first : no_body;
            wet = belongs;
        }
    });
    for_each_piece("bodies", shallow, deep, inner, [=] TARN_KERNEL(Cell<D> c) {
        const int i = label.index(c);
        if (atomic_load(label.data + i) == no_body) return;
        const auto belongs = [&](int j) { return atomic_load(label.data + j) != no_body; };
        const bool starts = c[0] % tile_size == 0;
        for (int a = 0; a < D; ++a) {
            const int n = label.next(a);
            if (c[a] == 0 || (a == 0 && !starts) || !belongs(i - n) || !seen.joins(i, a)) continue;
            // Where the cells before both are joined in the same way, nothing is new here.
            if (a > 0 && !starts && belongs(i - 1) && belongs(i - n - 1) && seen.joins(i, 0) && seen.joins(i - n, 0) &&
                seen.joins(i - 1, a))
                continue;
            unite(label.data, i, i - n);
        }
    });
}

// Adds up `f`, a body and a volume in cells, row by row of a tile: neighbours are mostly of one body. A deep tile is
// all like its first cell.
template <int D, class F>
void add_by_body(const char* name, const SumsByComponent::Adder& add, Cell<D> cells, const Tiles<D>& shallow,
                 const Tiles<D>& deep, const Tiles<D>& inner, const F& f)
{
    const auto add_tile = [=] TARN_KERNEL(Cell<D> c) {
        if (!(c == first_of_tile<D>(c))) return;
        int body = 0;
        const double volume = f(c, body);
        int all = 1;
        for (int a = 0; a < D; ++a) all *= c[a] + tile_size < cells[a] ? tile_size : cells[a] - c[a];
        if (body > 0) add(c, body, all * volume);
    };
    parallel_for(name, deep, add_tile);
    parallel_for(name, inner, add_tile);
    parallel_for(name, shallow, [=] TARN_KERNEL(Cell<D> c) {
        if (c[0] % tile_size != 0) return;
        const Cell<D> first = c;
        int body = 0;
        double sum = 0;
        for (int n = 0; n < tile_size && c[0] < cells[0]; ++n, ++c[0]) {
            int own = 0;
            const double volume = f(c, own);
            if (own == 0) continue;
            if (own != body) {
                if (body > 0) add(first, body, sum);
                body = own;
                sum = 0;
            }
            sum += volume;
        }
        if (body > 0) add(first, body, sum);
    });
}

}  // namespace

template <int D>
void find_bodies(TargetVolumes<D>& targets, const Field<D>& phi, const ClosedFaces<D>* closed, const Tiles<D>& shallow,
                 const Tiles<D>& deep, const Tiles<D>& inner)
{
    const Seen<D> seen(phi, closed);
    const auto label = targets.body.view();
    unite_bodies(label, seen, shallow, deep, inner);

    // Every cell finds its root; roots make themselves known, as far as there is room, and are counted.
    int count = 0;
    for (int workspace = 1024;; workspace = count) {
        int* const roots = storage_for(targets.roots, workspace + 1);
        parallel_range("bodies", 1, [=] TARN_KERNEL(int) { roots[workspace] = 0; });
        for_each_piece("bodies", shallow, deep, inner, [=] TARN_KERNEL(Cell<D> c) {
            const int i = label.index(c);
            if (atomic_load(label.data + i) == no_body) return;
            const int root = find_root(label.data, i);
            atomic_store(label.data + i, root);
            if (root != i) return;
            const int number = atomic_add(roots + workspace, 1);
            if (number < workspace) roots[number] = i;
        });
        backend::copy(&count, roots + workspace, sizeof count);
        if (count <= workspace) break;
    }
    // Bodies are numbered by their roots. A root holds its number as a negative one until its own turn comes.
    int* const roots = targets.roots.data();
    std::vector<int> sorted(static_cast<size_t>(count));
    backend::copy(sorted.data(), roots, sorted.size() * sizeof(int));
    std::sort(sorted.begin(), sorted.end());
    backend::copy(roots, sorted.data(), sorted.size() * sizeof(int));
    parallel_range("bodies", count, [=] TARN_KERNEL(int n) { label[roots[n]] = no_body - 1 - n; });
    for_each_piece("bodies", shallow, deep, inner, [=] TARN_KERNEL(Cell<D> c) {
        const int i = label.index(c), own = label[i];
        const int number = own < 0 ? own : atomic_load(label.data + own);
        atomic_store(label.data + i, number < 0 ? no_body - number : number);
    });
    parallel_for("bodies", deep, [=] TARN_KERNEL(Cell<D> c) {
        const Cell<D> first = first_of_tile<D>(c);
        if (!(c == first)) label(c) = label(first);
    });

    // First what belongs to none.
    SumsByComponent sums(static_cast<size_t>(count) + 1);
    const View<D, const int> body = label;
    add_by_body("bodies", sums.adder(), seen.wet.cells, shallow, deep, inner, [=] TARN_KERNEL(Cell<D> c, int& owner) {
        const float wet = seen.wet(c);
        if (wet > 0) owner = 1 + body(seen.owner(body, c));
        return static_cast<double>(wet);
    });
    const std::vector<double> volumes = sums.result();
    targets.actual.assign(volumes.begin() + 1, volumes.end());
    const double all = std::accumulate(targets.actual.begin(), targets.actual.end(), 0.0);
    const double each = all > 0 ? 1 + volumes[0] / all : 1;
    for (double& volume : targets.actual) volume *= each * cell_volume(phi.grid());
}

template <int D>
void carry(TargetVolumes<D>& targets, const Field<D>& phi, const FaceField<D>& velocity, const ClosedFaces<D>* closed,
           const Tiles<D>& shallow, const Tiles<D>& deep, double dt, double reach, const Sides<D>& sides,
           std::vector<double>* gone, const Tiles<D>& inner)
{
    targets.body.swap(targets.before);
    find_bodies(targets, phi, closed, shallow, deep, inner);
    const size_t old_count = targets.expected.size(), count = targets.actual.size();
    double should = std::accumulate(targets.expected.begin(), targets.expected.end(), targets.elsewhere);
    targets.elsewhere = 0;
    if (gone) gone->assign(old_count, 0);
    if (count <= 1 && (!gone || (count == 1 && old_count == 1))) {
        targets.expected.assign(count, 0);
        return share_out(targets, should);
    }

    const Seen<D> seen(phi, closed);
    const auto body = std::as_const(targets.body).view(), before = std::as_const(targets.before).view();
    const auto u = velocity.view();
    const float s = static_cast<float>(dt / phi.grid().h);
    // Far inside the water a cell's own place tells as much.
    const float inside = -(static_cast<float>(reach) + 1.5f) * seen.wet.h;
    const auto came = [=] TARN_KERNEL(Cell<D> c) {
        return seen.wet.phi(c) < inside ? before(c) : came_from<D>(before, u, seen.wet.cells, sides, c, s);
    };
    SumsByComponent left_sums(old_count);
    add_by_body("ledger", left_sums.adder(), seen.wet.cells, shallow, deep, inner, [=] TARN_KERNEL(Cell<D> c, int& from) {
        const float wet = seen.wet(c);
        if (!(wet > 0)) return 0.0;
        const Cell<D> owner = seen.owner(body, c);
        if (body(owner) > 0) from = came(owner);
        return static_cast<double>(wet);
    });
    const std::vector<double> left = left_sums.result();
    const double cell = cell_volume(phi.grid());
    // In one body's cells there is so much of what it should hold for every wet cell that came from it.
    std::vector<double> share(old_count);
    for (size_t i = 0; i < old_count; ++i) share[i] = left[i] > 0 ? targets.expected[i] / cell / left[i] : 0;
    for (size_t i = 0; i < old_count && gone; ++i)
        if (!(left[i] > 0)) should -= (*gone)[i] = targets.expected[i];
    const DeviceCopy device_copy;
    const double* const each = device_copy.of(share.data(), share.size());
    SumsByComponent new_sums(count);
    add_by_body("ledger", new_sums.adder(), seen.wet.cells, shallow, deep, inner, [=] TARN_KERNEL(Cell<D> c, int& to) {
        const float wet = seen.wet(c);
        if (!(wet > 0)) return 0.0;
        const Cell<D> owner = seen.owner(body, c);
        const int from = body(owner) > 0 ? came(owner) : 0;
        if (from == 0) return 0.0;
        to = body(owner);
        return each[from - 1] * static_cast<double>(wet);
    });
    targets.expected = new_sums.result();
    for (double& volume : targets.expected) volume *= cell;
    // What bodies held that are gone, and what rounding took.
    share_out(targets, should - std::accumulate(targets.expected.begin(), targets.expected.end(), 0.0));
}

template <int D>
void share_out(TargetVolumes<D>& targets, double volume)
{
    // What is given goes by what components hold, what is taken by what they should hold, so that none should hold less
    // than nothing.
    const std::vector<double> weight = volume > 0 ? targets.actual : targets.expected;
    const double all = std::accumulate(weight.begin(), weight.end(), 0.0);
    if (!(all > 0)) {
        targets.elsewhere += volume;
        return;
    }
    for (size_t i = 0; i < weight.size(); ++i) targets.expected[i] += volume * weight[i] / all;
}

#define TARN_INSTANTIATE(D)                                                                                          \
    template void find_bodies(TargetVolumes<D>&, const Field<D>&, const ClosedFaces<D>*, const Tiles<D>&, const Tiles<D>&,  \
                              const Tiles<D>&);                                                                      \
    template void carry(TargetVolumes<D>&, const Field<D>&, const FaceField<D>&, const ClosedFaces<D>*, const Tiles<D>&,    \
                        const Tiles<D>&, double, double, const Sides<D>&, std::vector<double>*, const Tiles<D>&);    \
    template void share_out(TargetVolumes<D>&, double);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
