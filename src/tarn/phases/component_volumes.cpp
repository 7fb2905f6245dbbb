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

constexpr double enough = 1e-5;  // of what there should be
constexpr int most_moves = 30;

// How much water a way brings, per cell.
template <int D>
struct AreaAt {
    View<D, const float> phi;
    WetPart<D> wet;
    float epsilon;

    TARN_HD float operator()(Cell<D> c) const
    {
        const float delta = smeared_delta(phi(c), epsilon);
        return delta > 0 ? delta * length(gradient_per_cell<D>(phi, wet.cells, c)) * wet.outside(c) : 0.0f;
    }
};

// What components hold, in cells, with `inside` away from the surface; first what is of none.
template <int D>
std::vector<double> volumes_of(const Ledger<D>& ledger, const WetPart<D>& wet, const std::vector<double>& inside,
                               const Tiles<D>& tiles)
{
    std::vector<double> now = sum_by_component<D>(inside.size() - 1, ledger.before.view(), wet.cells, tiles,
                                                  [=] TARN_HD(Cell<D> c) { return wet(c); });
    for (size_t k = 0; k < now.size(); ++k) now[k] += inside[k];
    return now;
}

// Each component moves by itself. Returns whether any did.
template <int D>
bool move_each(Field<D>& phi, const Ledger<D>& ledger, const WetPart<D>& wet, const std::vector<double>& inside,
               double band, double share, const Tiles<D>& tiles)
{
    constexpr double furthest = 0.25;
    const size_t components = ledger.expected.size();
    const double cell = cell_volume(phi.grid()), h = phi.grid().h;
    const float limit = static_cast<float>(band);
    const auto p = phi.view();
    const auto label = ledger.before.view();
    std::vector<double> now = volumes_of(ledger, wet, inside, tiles), should(components + 1), area;
    for (size_t k = 1; k <= components; ++k) should[k] = now[k] + share * (ledger.expected[k - 1] / cell - now[k]);
    std::vector<Place> places(components + 1, Place(furthest * share));
    for (int n = 0; n < most_moves; ++n) {
        std::vector<float> shift(components + 1);
        bool any = false;
        for (size_t k = 1; k <= components; ++k) {
            const double missing = should[k] - now[k];
            if (std::fabs(missing) <= enough * std::max(should[k], 0.0)) continue;
            if (area.empty())
                area = sum_by_component<D>(components, label, wet.cells, tiles,
                                           AreaAt<D>{p, wet, smearing * static_cast<float>(h)});
            shift[k] = static_cast<float>(h * places[k].next(missing, area[k]));
            any = any || shift[k] != 0;
        }
        if (!any) return n > 0;
        const Mirror mirror;
        const float* const by = mirror.of(shift.data(), shift.size());
        parallel_for("correct volumes", tiles, [=] TARN_KERNEL(Cell<D> c) {
            const int i = p.index(c);
            if (label[i] > 0) p[i] = clamp(p[i] - by[label[i]], -limit, limit);
        });
        now = volumes_of(ledger, wet, inside, tiles);
    }
    return true;
}

// All of the surface moves. Cells beside which phi is level stay as they are, where components have been spread. Returns what
// there is then, in cells.
template <int D>
double move_all(Field<D>& phi, const Ledger<D>& ledger, const WetPart<D>& wet, double band, const Tiles<D>& tiles,
                const Tiles<D>& inner)
{
    constexpr double furthest = 4;
    const double h = phi.grid().h, cell = cell_volume(phi.grid());
    const double should = std::accumulate(ledger.expected.begin(), ledger.expected.end(), 0.0) / cell;
    const float limit = static_cast<float>(band);
    const bool spread = ledger.expected.size() > 1 || wet.nodes.data;
    const auto p = phi.view();
    const auto label = ledger.before.view();
    const auto sum_wet = [=](const Tiles<D>& where) {
        return parallel_sum("components", where, [=] TARN_KERNEL(Cell<D> c) { return static_cast<double>(wet(c)); });
    };
    const double deep = sum_wet(inner);
    double now = sum_wet(tiles) + deep, area = 0;
    Place place(furthest);
    for (int n = 0; n < most_moves; ++n) {
        const double missing = should - now;
        if (std::fabs(missing) <= enough * std::max(should, 0.0)) break;
        const AreaAt<D> area_at{p, wet, smearing * static_cast<float>(h)};
        if (n == 0)
            area = parallel_sum("components", tiles,
                                [=] TARN_KERNEL(Cell<D> c) { return static_cast<double>(area_at(c)); });
        const float by = static_cast<float>(h * place.next(missing, area));
        if (by == 0) break;
        parallel_for("correct volumes", tiles, [=] TARN_KERNEL(Cell<D> c) {
            const int i = p.index(c);
            if (!spread || label[i] >= 0) p[i] = clamp(p[i] - by, -limit, limit);
        });
        now = sum_wet(tiles) + deep;
    }
    return now;
}

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
    const double cell = cell_volume(phi.grid());
    // Beside walls there may be cells that do not move.
    if (components == 1 && !wet.nodes.data) {
        ledger.actual[0] = cell * move_all(phi, ledger, wet, band, tiles, inner);
        return false;
    }
    // What was before the step is not asked for any more.
    spread_components(ledger.before, ledger.body, phi, wet.sheets, tiles);
    const std::vector<double> inside =
        sum_by_component<D>(components, std::as_const(ledger.body).view(), phi.grid().cells, inner,
                            [=] TARN_HD(Cell<D> c) { return wet(c); });
    const bool apart = move_each(phi, ledger, wet, inside, band, share, tiles);
    (void)move_all(phi, ledger, wet, band, tiles, inner);
    const std::vector<double> now = volumes_of(ledger, wet, inside, tiles);
    for (size_t k = 1; k <= components; ++k) ledger.actual[k - 1] = cell * now[k];
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
