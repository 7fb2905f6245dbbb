#include "tarn/phases/component_volumes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tarn/advect/trace.h"
#include "tarn/field/sample.h"
#include "tarn/phases/two_fluids.h"

namespace tarn {

namespace {

constexpr int reach = 3;  // cells; so far around a component phi moves with it

// The component of the nearest wet cell around x, up to two cells away, on its side of thin walls.
template <int D>
TARN_HD inline int component_near(const View<D, const int>& component, const Sheets<D>& sheets, Cell<D> cells,
                                  Vec<D, float> x)
{
    const Cell<D> home = cell_at(x, cells);
    if (component(home) > 0) return component(home);
    const Vec<D, float> middle = home.template as<float>();
    constexpr int around = D == 3 ? 125 : 25;
    float least = 1e30f;
    int nearest = 0;
    for (int n = 0; n < around; ++n) {
        Cell<D> c = home;
        bool inside = true;
        for (int a = 0, left = n; a < D; ++a, left /= 5) {
            c[a] += left % 5 - 2;
            inside = inside && c[a] >= 0 && c[a] < cells[a];
        }
        if (!inside || !(component(c) > 0)) continue;
        const Vec<D, float> there = c.template as<float>();
        const float far = length(there - x);
        if (!(far < least) || (sheets.any() && !(go(sheets, middle, there) == there))) continue;
        least = far;
        nearest = component(c);
    }
    return nearest;
}

// The component that a cell moves with, in `nearest`: its own, or that of the neighbour nearest to the water, from cell
// to cell; negative where it does not move. In each sweep only what the sweeps before have found counts, so that the order
// of cells does not.
template <int D>
void spread_components(Field<D, int>& nearest, const Field<D, int>& component, const Field<D>& phi,
                       const Sheets<D>& sheets, const Tiles<D>& tiles)
{
    const auto near = nearest.view();
    const auto own = component.view();
    const auto p = phi.view();
    const Cell<D> cells = phi.grid().cells;
    constexpr int sweeps = 4;  // a label is kept as sweeps * component + the sweep that found it
    static_assert(reach < sweeps);
    parallel_for("components", tiles, [=] TARN_KERNEL(Cell<D> c) { near(c) = sweeps * own(c); });
    for (int sweep = 1; sweep <= reach; ++sweep)
        parallel_for("components", tiles, [=] TARN_KERNEL(Cell<D> c) {
            const int i = near.index(c);
            if (atomic_load(near.data + i) != 0) return;
            float least = 1e30f;
            int label = 0;
            for (int a = 0; a < D; ++a)
                for (int side = 0; side < 2; ++side) {
                    if (side ? c[a] + 1 >= cells[a] : c[a] == 0) continue;
                    if (sheets.beside(i, a, side)) continue;
                    const int j = side ? i + near.next(a) : i - near.next(a);
                    const int there = atomic_load(near.data + j);
                    if (there == 0 || there % sweeps >= sweep || !(p[j] < least)) continue;
                    least = p[j];
                    label = there / sweeps;
                }
            if (label > 0) atomic_store(near.data + i, sweeps * label + sweep);
        });
    // A cell beside which phi is level is wet or dry as a whole. There is no surface to move.
    const float level = 0.01f * static_cast<float>(phi.grid().h);
    parallel_for("components", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int label = near(c) / sweeps;
        const bool moves = label == 0 || length(gradient_per_cell<D>(p, cells, c, sheets)) > level;
        near(c) = moves ? label : -label;
    });
}

// Sums f over the cells of each component, row by row of a tile, as neighbours are mostly of one. First comes the sum
// over cells of none.
template <int D, class F>
std::vector<double> sum_by_component(size_t components, const View<D, const int>& label, Cell<D> cells,
                                     const Tiles<D>& tiles, const F& f)
{
    SumsByBody sums(components + 1);
    const SumsByBody::Adder add = sums.adder();
    parallel_for("components", tiles, [=] TARN_KERNEL(Cell<D> c) {
        if (c[0] % tile_size != 0) return;
        const Cell<D> first = c;
        const auto at = [&](Cell<D> x) { return label(x) < 0 ? -label(x) : label(x); };
        int component = at(c);
        double sum = 0;
        for (int n = 0; n < tile_size && c[0] < cells[0]; ++n, ++c[0]) {
            const int own = at(c);
            if (own != component) {
                if (sum != 0) add(first, component + 1, sum);
                component = own;
                sum = 0;
            }
            sum += static_cast<double>(f(c));
        }
        if (sum != 0) add(first, component + 1, sum);
    });
    return sums.result();
}

// Where a surface is to move so that nothing is missing: how far it has moved, in cells, between which ends the right place
// lies, and what the last move brought.
struct Place {
    explicit Place(double furthest) : lower(-furthest), upper(furthest) {}

    // How far to move now, where so much is missing, in cells; the area tells how much the first move brings.
    double next(double missing, double area)
    {
        (missing > 0 ? lower : upper) = at;
        const double slope = moves > 0 ? (missed - missing) / way : area;
        const bool slow = moves > 1 && std::fabs(missing) > 0.5 * std::fabs(missed);
        double to = at + missing / slope;
        if (slow || !(to > lower && to < upper)) to = 0.5 * (lower + upper);
        way = to - at;
        if (!(std::fabs(way) > 1e-6)) return 0;
        at = to;
        missed = missing;
        ++moves;
        return way;
    }

    double lower, upper, at = 0, way = 0, missed = 0;
    int moves = 0;
};

}  // namespace

template <int D>
void find_components(std::vector<Lost<D>>& places, double back, const Field<D, int>& component, const Sheets<D>& sheets)
{
    if (places.empty()) return;
    std::vector<Vec<D, float>> at;
    for (const Lost<D>& l : places) at.push_back((l.x - back * l.u).template as<float>());
    const int n = static_cast<int>(at.size());
    const Mirror mirror;
    const Vec<D, float>* const where = mirror.of(at.data(), at.size());
    Memory<int> found(at.size());
    int* const out = found.data();
    const auto label = component.view();
    const Cell<D> cells = component.grid().cells;
    parallel_range("components", n,
                   [=] TARN_KERNEL(int i) { out[i] = component_near(label, sheets, cells, where[i]); });
    std::vector<int> bodies(at.size());
    backend::copy(bodies.data(), out, bodies.size() * sizeof(int));
    for (size_t i = 0; i < places.size(); ++i) places[i].body = bodies[i];
}

template <int D>
void take_droplets(Ledger<D>& ledger, std::vector<Lost<D>>& lost, bool kept, const Grid<D>& grid)
{
    const double cell = cell_volume(grid);
    std::vector<double> taken(ledger.expected.size() + 1);
    const auto counts = [](const Lost<D>& l) { return l.kind == FragmentKind::droplet && !l.guessed; };
    for (const Lost<D>& l : lost)
        if (counts(l)) taken[static_cast<size_t>(l.body)] += cell * l.volume;
    for (Lost<D>& l : lost) {
        if (!counts(l)) continue;
        const size_t from = static_cast<size_t>(l.body);
        const double there = from > 0 ? std::max(0.0, ledger.expected[from - 1]) : taken[0];
        if (kept && taken[from] > there) l.volume *= there / taken[from];
    }
    for (const Lost<D>& l : lost)
        if (counts(l)) (l.body > 0 ? ledger.expected[static_cast<size_t>(l.body - 1)] : ledger.elsewhere) -= cell * l.volume;
}

template <int D>
double scatter_gone(std::vector<Lost<D>>& lost, const std::vector<double>& gone, const Ledger<D>& ledger,
                  const FaceField<D>& velocity, const Tiles<D>& tiles, double dt, FragmentRoom<D>& room)
{
    const Grid<D> grid = velocity.grid();
    const double cell = cell_volume(grid);
    std::vector<double> droplets(gone.size());
    const auto from = [&](const Lost<D>& l) {
        const bool known = l.kind == FragmentKind::droplet && !l.guessed && l.body > 0;
        return known ? static_cast<size_t>(l.body - 1) : gone.size();
    };
    for (const Lost<D>& l : lost)
        if (from(l) < gone.size()) droplets[from(l)] += l.volume;
    for (Lost<D>& l : lost)
        if (from(l) < gone.size() && droplets[from(l)] > 0)
            l.volume *= std::max(0.0, 1 + gone[from(l)] / cell / droplets[from(l)]);
    std::vector<int> wanted(gone.size() + 1);
    bool any = false;
    double left = 0;
    for (size_t k = 0; k < gone.size(); ++k) {
        wanted[k + 1] = gone[k] > 0 && !(droplets[k] > 0);
        any = any || wanted[k + 1];
        left += std::min(0.0, gone[k] + cell * droplets[k]);
    }
    if (!any) return left;
    std::vector<Lost<D>> cells_gone = cells_of(ledger.before, wanted, velocity, tiles, dt, room);
    std::vector<double> count(gone.size() + 1);
    for (const Lost<D>& l : cells_gone) count[static_cast<size_t>(l.body)] += 1;
    for (Lost<D>& l : cells_gone) {
        l.volume = gone[static_cast<size_t>(l.body - 1)] / cell / count[static_cast<size_t>(l.body)];
        lost.push_back(l);
    }
    for (size_t k = 0; k < gone.size(); ++k)
        if (wanted[k + 1] && count[k + 1] == 0) left += gone[k];
    return left;
}

template <int D>
void give(Ledger<D>& ledger, int component, double volume)
{
    if (component > 0)
        ledger.expected[static_cast<size_t>(component - 1)] += volume;
    else
        share_out(ledger, volume);
}

template <int D>
void forgive(Ledger<D>& ledger, double volume)
{
    std::vector<double> part(ledger.expected.size());
    for (size_t k = 0; k < part.size(); ++k) {
        const double missing = ledger.expected[k] - ledger.actual[k];
        part[k] = missing * volume > 0 ? std::fabs(missing) : 0;
    }
    const double all = std::accumulate(part.begin(), part.end(), 0.0);
    if (!(all > 0)) return share_out(ledger, -volume);
    for (size_t k = 0; k < part.size(); ++k) ledger.expected[k] -= volume * part[k] / all;
}

template <int D>
bool correct_volumes(Field<D>& phi, Ledger<D>& ledger, const WetPart<D>& wet, double band, double share,
                     const Tiles<D>& tiles, const Tiles<D>& inner)
{
    const size_t components = ledger.expected.size();
    if (components == 0) return false;
    constexpr double enough = 1e-5, furthest = 0.25, furthest_of_all = 4;
    constexpr int most_steps = 30;
    const Grid<D>& grid = phi.grid();
    const Cell<D> cells = grid.cells;
    const double cell = cell_volume(grid), h = grid.h;
    const float epsilon = smearing * static_cast<float>(h), limit = static_cast<float>(band);
    const auto p = phi.view();
    const View<D, const float> old = p;
    const auto own = std::as_const(ledger.body).view();
    // What was before the step is not asked for any more.
    Field<D, int>& nearest = ledger.before;
    const auto label = std::as_const(nearest).view();
    // How much water a way brings, per cell.
    const auto area_at = [=] TARN_HD(Cell<D> c) {
        const float delta = smeared_delta(old(c), epsilon);
        return delta > 0 ? delta * length(gradient_per_cell<D>(old, cells, c)) * wet.outside(c) : 0.0f;
    };

    // 1. Each by itself.
    bool apart = false;
    std::vector<double> inside;
    const auto volumes = [&] {
        std::vector<double> now =
            sum_by_component<D>(components, label, cells, tiles, [=] TARN_HD(Cell<D> c) { return wet(c); });
        for (size_t k = 0; k <= components; ++k) now[k] += inside[k];
        return now;
    };
    if (components > 1) {
        spread_components(nearest, ledger.body, phi, wet.sheets, tiles);
        inside = sum_by_component<D>(components, own, cells, inner, [=] TARN_HD(Cell<D> c) { return wet(c); });
        std::vector<double> now = volumes(), should(components + 1), area;
        for (size_t k = 1; k <= components; ++k) should[k] = now[k] + share * (ledger.expected[k - 1] / cell - now[k]);
        std::vector<Place> places(components + 1, Place(furthest * share));
        for (int n = 0; n < most_steps; ++n) {
            std::vector<float> shift(components + 1);
            bool any = false;
            for (size_t k = 1; k <= components; ++k) {
                const double missing = should[k] - now[k];
                if (std::fabs(missing) <= enough * std::max(should[k], 0.0)) continue;
                if (area.empty()) area = sum_by_component<D>(components, label, cells, tiles, area_at);
                shift[k] = static_cast<float>(h * places[k].next(missing, area[k]));
                any = any || shift[k] != 0;
            }
            if (!any) break;
            apart = true;
            const Mirror mirror;
            const float* const by = mirror.of(shift.data(), shift.size());
            parallel_for("correct volumes", tiles, [=] TARN_KERNEL(Cell<D> c) {
                const int i = p.index(c);
                if (label[i] > 0) p[i] = clamp(p[i] - by[label[i]], -limit, limit);
            });
            now = volumes();
        }
    }

    // 2. All of them. A cell beside which phi is level stays as it is.
    const double total = std::accumulate(ledger.expected.begin(), ledger.expected.end(), 0.0) / cell;
    const auto sum_wet = [=](const Tiles<D>& where) {
        return parallel_sum("components", where, [=] TARN_KERNEL(Cell<D> c) { return static_cast<double>(wet(c)); });
    };
    const double deep = sum_wet(inner);
    double now = sum_wet(tiles) + deep, area = 0;
    Place place(furthest_of_all);
    const bool labelled = components > 1;
    for (int n = 0; n < most_steps; ++n) {
        const double missing = total - now;
        if (std::fabs(missing) <= enough * std::max(total, 0.0)) break;
        if (n == 0)
            area = parallel_sum("components", tiles,
                                [=] TARN_KERNEL(Cell<D> c) { return static_cast<double>(area_at(c)); });
        const float by = static_cast<float>(h * place.next(missing, area));
        if (by == 0) break;
        parallel_for("correct volumes", tiles, [=] TARN_KERNEL(Cell<D> c) {
            const int i = p.index(c);
            if (!labelled || label[i] >= 0) p[i] = clamp(p[i] - by, -limit, limit);
        });
        now = sum_wet(tiles) + deep;
    }
    if (components == 1) {
        ledger.actual[0] = cell * now;
    } else {
        const std::vector<double> held = volumes();
        for (size_t k = 1; k <= components; ++k) ledger.actual[k - 1] = cell * held[k];
    }
    return apart;
}

#define TARN_INSTANTIATE(D)                                                                                         \
    template void find_components(std::vector<Lost<D>>&, double, const Field<D, int>&, const Sheets<D>&);           \
    template void take_droplets(Ledger<D>&, std::vector<Lost<D>>&, bool, const Grid<D>&);                           \
    template double scatter_gone(std::vector<Lost<D>>&, const std::vector<double>&, const Ledger<D>&,               \
                               const FaceField<D>&, const Tiles<D>&, double, FragmentRoom<D>&);                     \
    template void give(Ledger<D>&, int, double);                                                                    \
    template void forgive(Ledger<D>&, double);                                                                      \
    template bool correct_volumes(Field<D>&, Ledger<D>&, const WetPart<D>&, double, double, const Tiles<D>&,          \
                                  const Tiles<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
