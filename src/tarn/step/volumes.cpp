// What the volume of the water should be, and what there is: what comes in, leaves and cannot go anywhere.

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "tarn/step/boundary.h"
#include "tarn/step/surface.h"
#include "tarn/step/tall.h"

namespace tarn {

template <int D>
double add_to_targets(Water<D>& w, double gained)
{
    std::vector<double>& target = w.targets.expected;
    const double held = std::accumulate(target.begin(), target.end(), w.targets.elsewhere);
    gained = std::max(gained, -std::max(0.0, std::min(held, w.volume_expected)));
    if (gained == 0) return 0;
    std::vector<double> weight;
    if (w.flows.any_inlet || w.flows.any_rate) {
        SumsByComponent sums(w.targets.expected.size());
        const SumsByComponent::Adder add = sums.adder();
        const auto body = std::as_const(w.targets.body).view();
        const View<D, const uint8_t> inlet =
            w.flows.any_inlet ? std::as_const(w.flows.inlet).view() : View<D, const uint8_t>{};
        const View<D, const float> rate =
            w.flows.any_rate ? std::as_const(w.flows.volume_rate).view() : View<D, const float>{};
        parallel_for("ledger", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
            if (body(c) == 0) return;
            if ((inlet.data && inlet(c)) || (rate.data && rate(c) != 0)) add(c, body(c), 1);
        });
        weight = sums.result();
    }
    const double all = std::accumulate(weight.begin(), weight.end(), 0.0);
    double rest = gained;
    for (size_t i = 0; i < weight.size() && all > 0; ++i) {
        const double part = std::max(gained * weight[i] / all, -target[i]);
        target[i] += part;
        rest -= part;
    }
    share_out(w.targets, rest);
    return gained;
}

template <int D>
Pressed find_pressed(const Water<D>& w, const Boundary<D>& boundary)
{
    const InClosedComponent<D> in_closed = w.projection.in_closed;
    const bool rates = w.flows.any_rate;
    if (!boundary.moving && !boundary.inlets && !rates) return {};
    if (!in_closed.everything && !in_closed.labels.data) return {};
    const auto phi = w.phi.view();
    const View<D, const float> rate = rates ? w.flows.volume_rate.view() : View<D, const float>{};
    const float h = static_cast<float>(w.grid.h);
    const auto sum = [&](bool of_sources) {
        const double flow = parallel_sum("pressed", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
            if (!(phi(c) < 0) || !in_closed(phi.index(c))) return 0.0;
            float in = of_sources && rates ? h * rate(c) : 0.0f, open = 0;
            for (int a = 0; a < D; ++a)
                for (int side = 0; side < 2; ++side) {
                    const Cell<D> face = moved<D>(c, a, side);
                    const float part = boundary.open_at(face, a);
                    const float flow = (1 - part) * boundary.closed_velocity(face, a);
                    if ((boundary.inlet_at(face, a) > 0) == of_sources) in += side ? -flow : flow;
                    open += part;
                }
            return open > 0 ? static_cast<double>(in) : 0.0;
        });
        return flow * cell_volume(w.grid) / w.grid.h;
    };
    return {sum(true), boundary.moving ? sum(false) : 0};
}

template <int D>
double water_volume(const Water<D>& w)
{
    const WetPart<D> wet = wet_part(w.phi, w.solids);
    double elsewhere = w.tall.on ? tall::volume_below(w) : 0.0;
    for (const OctreeLevel<D>& level : w.octree.levels)
        if (level.grid.h != w.grid.h) elsewhere += cell_volume(level.grid) * static_cast<double>(level.leaves.cells());
    return elsewhere + cell_volume(w.grid) * parallel_sum("volume", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
                           return static_cast<double>(wet(c));
                       });
}

#define TARN_INSTANTIATE(D)                                             \
    template double add_to_targets(Water<D>&, double);                       \
    template Pressed find_pressed(const Water<D>&, const Boundary<D>&); \
    template double water_volume(const Water<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
