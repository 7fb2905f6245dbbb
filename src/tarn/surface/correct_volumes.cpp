#include "tarn/surface/correct_volumes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tarn/field/sample.h"
#include "tarn/surface/measure.h"

namespace tarn {

namespace {

constexpr int reach = 3;  // cells; so far around a component phi moves with it

// The component that a cell moves with, in `nearest`: its own, or that of the neighbour nearest to the water, from cell
// to cell; negative where it does not move. In each sweep only what the sweeps before have found counts, so that the order
// of cells does not.
template <int D>
void spread_components(Field<D, int>& nearest, const Field<D, int>& component, const Field<D>& phi,
                       const ThinWalls<D>& thin_walls, const View<D, const int>& enclosed, const Tiles<D>& tiles)
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
                    if (thin_walls.beside(i, a, side)) continue;
                    const int j = side ? i + near.next(a) : i - near.next(a);
                    const int there = atomic_load(near.data + j);
                    if (there == 0 || there % sweeps >= sweep || !(p[j] < least)) continue;
                    least = p[j];
                    label = there / sweeps;
                }
            if (label > 0) atomic_store(near.data + i, sweeps * label + sweep);
        });
    // A cell beside which phi is level is wet or dry as a whole. There is no surface to move. That of enclosed air stays where
    // it is: its volume is kept by its pressure. A wet cell looks along the normal, 0.7 cells past the surface: half a diagonal
    // of a cell in 2D, so that the first dry cell is met.
    const float h = static_cast<float>(phi.grid().h), level = 0.01f * h;
    parallel_for("components", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int label = near(c) / sweeps;
        const Vec<D, float> g = gradient_per_cell<D>(p, cells, c, thin_walls);
        const float slope = length(g);
        bool moves = label == 0 || slope > level;
        if (moves && label > 0 && enclosed.data) {
            const float out = p(c) < 0 ? 0.7f - p(c) / h : 0.0f;
            moves = enclosed(cell_at(c.template as<float>() + (out / slope) * g, cells)) == 0;
        }
        near(c) = moves ? label : -label;
    });
}

// Sums f over the cells of each component, row by row of a tile, as neighbours are mostly of one. First comes the sum
// over cells of none.
template <int D, class F>
std::vector<double> sum_by_component(size_t components, const View<D, const int>& label, Cell<D> cells,
                                     const Tiles<D>& tiles, const F& f)
{
    SumsByComponent sums(components + 1);
    const SumsByComponent::Adder add = sums.adder();
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
        if (moves > 0 && missing == missed) return 0;  // nothing can move
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

// What is missing, as far as that can be told.
double surely_missing(double should, double now, double unsure)
{
    const double missing = should - now, unknown = unsure * now;
    return missing - std::clamp(missing, -unknown, unknown);
}

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

// What the cells near the surface that move with a component hold, in cells; first what moves with none.
template <int D>
std::vector<double> volumes_of(const TargetVolumes<D>& targets, const WetPart<D>& wet, const Tiles<D>& tiles)
{
    return sum_by_component<D>(targets.expected.size(), targets.moves_with.view(), wet.cells, tiles,
                               [=] TARN_HD(Cell<D> c) { return wet(c); });
}

// Each component moves by itself. Returns whether any did.
template <int D>
bool move_each(Field<D>& phi, const TargetVolumes<D>& targets, const WetPart<D>& wet, const std::vector<double>& before,
               double band, const VolumeCorrection<D>& how, const Tiles<D>& tiles)
{
    constexpr double furthest = 0.25;
    const size_t components = targets.expected.size();
    const double cell = cell_volume(phi.grid()), h = phi.grid().h;
    const float limit = static_cast<float>(band);
    const auto p = phi.view();
    const auto label = targets.moves_with.view();
    std::vector<double> now = before, should(components + 1), area;
    for (size_t k = 1; k <= components; ++k)
        should[k] = now[k] + how.share / cell * surely_missing(targets.expected[k - 1], targets.actual[k - 1], how.unsure);
    std::vector<Place> places(components + 1, Place(furthest * how.share));
    for (int n = 0; n < most_moves; ++n) {
        std::vector<float> shift(components + 1);
        bool any = false;
        for (size_t k = 1; k <= components; ++k) {
            const double missing = should[k] - now[k];
            if (std::fabs(missing) <= enough * std::max(targets.expected[k - 1] / cell, 0.0)) continue;
            if (area.empty())
                area = sum_by_component<D>(components, label, wet.cells, tiles,
                                           AreaAt<D>{p, wet, 1.5f * static_cast<float>(h)});
            shift[k] = static_cast<float>(h * places[k].next(missing, area[k]));
            any = any || shift[k] != 0;
        }
        if (!any) return n > 0;
        const DeviceCopy device_copy;
        const float* const by = device_copy.of(shift.data(), shift.size());
        parallel_for("correct volumes", tiles, [=] TARN_KERNEL(Cell<D> c) {
            const int i = p.index(c);
            if (label[i] > 0) p[i] = clamp(p[i] - by[label[i]], -limit, limit);
        });
        now = volumes_of(targets, wet, tiles);
    }
    return true;
}

// All of the surface moves. Cells beside which phi is level stay as they are, where components have been spread. Returns what
// that brought, in cells.
template <int D>
double move_all(Field<D>& phi, const TargetVolumes<D>& targets, const WetPart<D>& wet, double band, const VolumeCorrection<D>& how,
                bool spread, const Tiles<D>& tiles, const Tiles<D>& inner)
{
    constexpr double furthest = 4;
    const double h = phi.grid().h;
    const float limit = static_cast<float>(band);
    const auto p = phi.view();
    const auto label = targets.moves_with.view();
    const auto sum_wet = [=](const Tiles<D>& where) {
        return parallel_sum("components", where, [=] TARN_KERNEL(Cell<D> c) { return static_cast<double>(wet(c)); });
    };
    const double deep = sum_wet(inner) + how.deep, before = sum_wet(tiles) + deep;
    const double expected = std::accumulate(targets.expected.begin(), targets.expected.end(), 0.0) / cell_volume(phi.grid());
    const double should = before + surely_missing(expected, before, how.unsure);
    double area = 0, now = before;
    Place place(furthest);
    for (int n = 0; n < most_moves; ++n) {
        const double missing = should - now;
        if (std::fabs(missing) <= enough * std::max(should, 0.0)) break;
        const AreaAt<D> area_at{p, wet, 1.5f * static_cast<float>(h)};
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
    return now - before;
}

}  // namespace

template <int D>
bool correct_volumes(Field<D>& phi, TargetVolumes<D>& targets, const WetPart<D>& wet, double band, const VolumeCorrection<D>& how,
                     const Tiles<D>& tiles, const Tiles<D>& inner)
{
    const size_t components = targets.expected.size();
    if (components == 0) return false;
    const double cell = cell_volume(phi.grid());
    // Beside walls there may be cells that do not move.
    if (components == 1 && !wet.nodes.data && !how.enclosed.data) {
        const double brought = move_all(phi, targets, wet, band, how, false, tiles, inner);
        targets.actual[0] += cell * brought;
        return brought != 0;
    }
    spread_components(targets.moves_with, targets.body, phi, wet.thin_walls, how.enclosed, tiles);
    // A component's cells are here those that move with it: of what solids cut, it may be others that tell its volume.
    const std::vector<double> before = volumes_of(targets, wet, tiles);
    const bool apart = move_each(phi, targets, wet, before, band, how, tiles);
    const bool together = move_all(phi, targets, wet, band, how, true, tiles, inner) != 0;
    if (!apart && !together) return false;
    const std::vector<double> now = volumes_of(targets, wet, tiles);
    for (size_t k = 1; k <= components; ++k) targets.actual[k - 1] += cell * (now[k] - before[k]);
    return true;
}

#define TARN_INSTANTIATE(D)                                                                                  \
    template bool correct_volumes(Field<D>&, TargetVolumes<D>&, const WetPart<D>&, double, const VolumeCorrection<D>&, \
                                  const Tiles<D>&, const Tiles<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
