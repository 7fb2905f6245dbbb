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

// The component of the nearest wet cell around x, up to two cells away, on its side of thin walls.
template <int D>
TARN_HD inline int component_near(const View<D, const int>& component, const ThinWalls<D>& thin_walls, Cell<D> cells,
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
        if (!(far < least) || (thin_walls.any() && !(go(thin_walls, middle, there) == there))) continue;
        least = far;
        nearest = component(c);
    }
    return nearest;
}

}  // namespace

template <int D>
void find_components(std::vector<Lost<D>>& places, double back, const Field<D, int>& component, const ThinWalls<D>& thin_walls)
{
    if (places.empty()) return;
    std::vector<Vec<D, float>> at;
    for (const Lost<D>& l : places) at.push_back((l.x - back * l.u).template as<float>());
    const int n = static_cast<int>(at.size());
    const DeviceCopy device_copy;
    const Vec<D, float>* const where = device_copy.of(at.data(), at.size());
    Memory<int> found(at.size());
    int* const out = found.data();
    const auto label = component.view();
    const Cell<D> cells = component.grid().cells;
    parallel_range("components", n,
                   [=] TARN_KERNEL(int i) { out[i] = component_near(label, thin_walls, cells, where[i]); });
    std::vector<int> bodies(at.size());
    backend::copy(bodies.data(), out, bodies.size() * sizeof(int));
    for (size_t i = 0; i < places.size(); ++i) places[i].body = bodies[i];
}

template <int D>
void take_droplets(TargetVolumes<D>& targets, std::vector<Lost<D>>& lost, bool kept, const Grid<D>& grid)
{
    const double cell = cell_volume(grid);
    std::vector<double> taken(targets.expected.size() + 1);
    const auto counts = [](const Lost<D>& l) { return l.kind == DropletKind::droplet && !l.guessed; };
    for (const Lost<D>& l : lost)
        if (counts(l)) taken[static_cast<size_t>(l.body)] += cell * l.volume;
    for (Lost<D>& l : lost) {
        if (!counts(l)) continue;
        const size_t from = static_cast<size_t>(l.body);
        const double there = from > 0 ? std::max(0.0, targets.expected[from - 1]) : taken[0];
        if (kept && taken[from] > there) l.volume *= there / taken[from];
    }
    for (const Lost<D>& l : lost)
        if (counts(l)) (l.body > 0 ? targets.expected[static_cast<size_t>(l.body - 1)] : targets.elsewhere) -= cell * l.volume;
}

template <int D>
double scatter_gone(std::vector<Lost<D>>& lost, const std::vector<double>& gone, const TargetVolumes<D>& targets,
                  const FaceField<D>& velocity, const Tiles<D>& tiles, double dt, DropletWorkspace<D>& workspace)
{
    const Grid<D> grid = velocity.grid();
    const double cell = cell_volume(grid);
    std::vector<double> droplets(gone.size());
    const auto from = [&](const Lost<D>& l) {
        const bool known = l.kind == DropletKind::droplet && !l.guessed && l.body > 0;
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
    std::vector<Lost<D>> cells_gone = cells_of(targets.before, wanted, velocity, tiles, dt, workspace);
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
void give(TargetVolumes<D>& targets, int component, double volume)
{
    if (component > 0)
        targets.expected[static_cast<size_t>(component - 1)] += volume;
    else
        share_out(targets, volume);
}

template <int D>
void forgive(TargetVolumes<D>& targets, double volume)
{
    std::vector<double> part(targets.expected.size());
    for (size_t k = 0; k < part.size(); ++k) {
        const double missing = targets.expected[k] - targets.actual[k];
        part[k] = missing * volume > 0 ? std::fabs(missing) : 0;
    }
    const double all = std::accumulate(part.begin(), part.end(), 0.0);
    if (!(all > 0)) return share_out(targets, -volume);
    for (size_t k = 0; k < part.size(); ++k) targets.expected[k] -= volume * part[k] / all;
}

#define TARN_INSTANTIATE(D)                                                                                         \
    template void find_components(std::vector<Lost<D>>&, double, const Field<D, int>&, const ThinWalls<D>&);           \
    template void take_droplets(TargetVolumes<D>&, std::vector<Lost<D>>&, bool, const Grid<D>&);                           \
    template double scatter_gone(std::vector<Lost<D>>&, const std::vector<double>&, const TargetVolumes<D>&,               \
                               const FaceField<D>&, const Tiles<D>&, double, DropletWorkspace<D>&);                     \
    template void give(TargetVolumes<D>&, int, double);                                                                    \
    template void forgive(TargetVolumes<D>&, double);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
