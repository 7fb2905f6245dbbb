#include "tarn/scene/rain.h"

#include <numbers>

#include "tarn/base/random.h"

namespace tarn {

namespace {

template <int D>
double drop_volume(double diameter)
{
    return std::numbers::pi * (D == 3 ? diameter * diameter * diameter / 6 : diameter * diameter / 4);
}

}  // namespace

template <int D>
double rain(Droplets<D>& droplets, Flows<D>& flows, const Scene& scene, const Grid<D>& grid, Exchange& exchange,
            double t, double dt)
{
    constexpr int patience = 1000;  // to find a place inside of the source
    double all = 0;
    std::vector<Lost<D>> drops;
    for (size_t s = 0; s < scene.sources.size(); ++s) {
        const SourceParams& source = scene.params.source[s];
        if (!source.drops) continue;
        const std::vector<Shape> shape = scene.sources[s].at(0);
        const std::vector<Shape> solids = scene.solids.empty() ? std::vector<Shape>{} : scene.solids.at(t);
        Vec<D> lo = grid.size(), hi{};
        for (const Box<D>& box : flows.source_tiles[s].boxes)
            for (int a = 0; a < D; ++a) {
                lo[a] = std::min(lo[a], grid.h * box.lo[a]);
                hi[a] = std::max(hi[a], std::min(grid.size()[a], grid.h * box.hi[a]));
            }
        const double each = drop_volume<D>(*source.drops);
        const Vec<D> velocity = source.velocity ? take<D>(source.velocity->mean(t, dt)) : Vec<D>{};
        double& due = flows.due[s];
        for (due += source.rate->mean(t, dt) * dt; due >= each; due -= each) {
            const uint32_t number = static_cast<uint32_t>(exchange.next_id) + static_cast<uint32_t>(drops.size());
            Random random(number, static_cast<uint32_t>(s), 0x7a19);
            Vec<D> x;
            bool found = false;
            for (int n = 0; n < patience && !found; ++n) {
                for (int a = 0; a < D; ++a) x[a] = lo[a] + double(random.next()) * (hi[a] - lo[a]);
                found = distance(shape, lift<D>(x)) < 0 && (solids.empty() || distance(solids, lift<D>(x)) > 0);
            }
            if (!found) break;
            // It has flown since a moment within the step.
            x += (double(random.next()) * dt) * velocity;
            for (int a = 0; a < D; ++a) x[a] = std::min(std::max(x[a], 0.0), grid.size()[a]);
            drops.push_back({(1 / grid.h) * x - Vec<D>::all(0.5), velocity, each / cell_volume(grid), DropletKind::droplet});
            all += each;
        }
    }
    if (!drops.empty()) add_fragments(droplets, drops, grid, scene.params, exchange);
    return all;
}

template double rain(Droplets<2>&, Flows<2>&, const Scene&, const Grid<2>&, Exchange&, double, double);
template double rain(Droplets<3>&, Flows<3>&, const Scene&, const Grid<3>&, Exchange&, double, double);

}  // namespace tarn
