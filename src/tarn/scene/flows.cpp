#include "tarn/scene/flows.h"

#include <utility>

#include "tarn/surface/measure.h"

namespace tarn {

namespace {

// The tiles that a shape comes near to.
template <int D>
Tiles<D> tiles_near(const std::vector<Shape>& shapes, const Grid<D>& grid)
{
    TileMap<D> map(grid);
    const double reach = (0.5 * tile_size * std::sqrt(D) + 2) * grid.h;
    for (size_t i = 0; i < map.flags.size(); ++i) {
        const Box<D> box = map.box(map.tile(i));
        const Vec<D> middle = 0.5 * grid.h * (box.lo + box.hi).template as<double>();
        if (distance(shapes, lift<D>(middle)) < reach) map.flags[i] = 1;
    }
    return select(map, 1);
}

template <int D, class F>
void each_cell(const Tiles<D>& tiles, const F& f)
{
    for (const Box<D>& box : tiles.boxes) backend::each(box, f);
}

}  // namespace

template <int D>
Flows<D> make_flows(const Scene& scene, const Grid<D>& grid)
{
    Flows<D> flows;
    for (size_t s = 0; s < scene.sources.size(); ++s) {
        flows.any_inlet |= scene.params.source[s].velocity.has_value();
        flows.any_rate |= scene.params.source[s].rate.has_value();
        flows.source_tiles.push_back(tiles_near<D>(scene.sources[s].at(0), grid));
    }
    for (size_t s = 0; s < scene.sinks.size(); ++s) {
        flows.any_rate |= scene.params.sink[s].rate.has_value();
        flows.sink_tiles.push_back(tiles_near<D>(scene.sinks[s].at(0), grid));
    }
    if (flows.any_rate) flows.volume_rate = Field<D>(grid);
    if (!flows.any_inlet) return flows;

    flows.inlet = Field<D, uint8_t>(grid);
    for (size_t s = 0; s < scene.sources.size(); ++s) {
        if (!scene.params.source[s].velocity) continue;
        flows.inlet_velocity.emplace_back();
        if (flows.inlet_velocity.size() > 255)
            throw InputError(scene.file + ": source: more than 255 inlets; unite some");
        const auto shapes = scene.sources[s].at(0);
        each_cell(flows.source_tiles[s], [&](Cell<D> c) {
            if (distance(shapes, lift<D>(grid.centre(c))) < 0)
                flows.inlet(c) = static_cast<uint8_t>(flows.inlet_velocity.size());
        });
    }
    return flows;
}

template <int D>
double fill_and_drain(Field<D>& phi, const Flows<D>& flows, const Solids<D>& solids, const Scene& scene)
{
    const Grid<D> grid = phi.grid();
    const auto p = phi.view();
    for (size_t s = 0; s < scene.sources.size(); ++s) {
        const auto shapes = scene.sources[s].at(0);
        parallel_for("sources", flows.source_tiles[s], [&](Cell<D> c) {
            p(c) = std::min(p(c), static_cast<float>(distance(shapes, lift<D>(grid.centre(c)))));
        });
    }
    double taken = 0;
    for (size_t s = 0; s < scene.sinks.size(); ++s) {
        if (scene.params.sink[s].rate) continue;
        const auto shapes = scene.sinks[s].at(0);
        const auto volume = [&] {
            const float h = static_cast<float>(grid.h);
            return parallel_sum("sinks", flows.sink_tiles[s], [&](Cell<D> c) {
                const float wet = wet_fraction<D>(p, grid.cells, c, h);
                return static_cast<double>(solids.any && wet > 0 ? wet * fluid_fraction<D>(solids.distance.view(), c, h)
                                                                 : wet);
            });
        };
        const double before = volume();
        parallel_for("sinks", flows.sink_tiles[s], [&](Cell<D> c) {
            p(c) = std::max(p(c), -static_cast<float>(distance(shapes, lift<D>(grid.centre(c)))));
        });
        taken += before - volume();
    }
    return taken * cell_volume(grid);
}

template <int D>
double set_rates(Flows<D>& flows, const Field<D>& phi, const Scene& scene, double t, double dt)
{
    size_t inlets = 0;
    for (const auto& source : scene.params.source)
        if (source.velocity) flows.inlet_velocity[inlets++] = take<D>(source.velocity->at(t)).template as<float>();
    if (!flows.any_rate) return 0;

    double gained = 0;
    const Grid<D>& grid = phi.grid();
    const auto set = [&](const Geometry& geometry, const Tiles<D>& tiles, double rate) {
        const auto shapes = geometry.at(0);
        std::vector<Cell<D>> inside;
        each_cell(tiles, [&](Cell<D> c) {
            if (phi(c) < 0 && distance(shapes, lift<D>(grid.centre(c))) < 0) inside.push_back(c);
        });
        if (inside.empty()) return;
        const double share = rate / (static_cast<double>(inside.size()) * cell_volume(grid));
        for (const Cell<D>& c : inside) flows.volume_rate(c) += static_cast<float>(share);
        gained += rate * dt;
    };
    const auto clear = [&](const Tiles<D>& tiles) { each_cell(tiles, [&](Cell<D> c) { flows.volume_rate(c) = 0; }); };
    for (size_t s = 0; s < scene.sources.size(); ++s)
        if (scene.params.source[s].rate) clear(flows.source_tiles[s]);
    for (size_t s = 0; s < scene.sinks.size(); ++s)
        if (scene.params.sink[s].rate) clear(flows.sink_tiles[s]);
    for (size_t s = 0; s < scene.sources.size(); ++s)
        if (const auto& rate = scene.params.source[s].rate) set(scene.sources[s], flows.source_tiles[s], rate->at(t));
    for (size_t s = 0; s < scene.sinks.size(); ++s)
        if (const auto& rate = scene.params.sink[s].rate) set(scene.sinks[s], flows.sink_tiles[s], -rate->at(t));
    return gained;
}

template <int D>
double inlet_volume(const Flows<D>& flows, const Field<D>& phi, const Scene& scene, double dt)
{
    const Grid<D>& grid = phi.grid();
    double flow = 0;
    size_t inlet = 0;
    for (size_t s = 0; s < scene.sources.size(); ++s) {
        if (!scene.params.source[s].velocity) continue;
        const Vec<D, float> u = flows.inlet_velocity[inlet++];
        const auto shapes = scene.sources[s].at(0);
        // The part of a cell inside the source, so that its width counts to less than a cell.
        const auto inside = [&](Cell<D> c) {
            const double d = distance(shapes, lift<D>(grid.centre(c)));
            return std::min(1.0, std::max(0.0, 0.5 - d / grid.h));
        };
        each_cell(flows.source_tiles[s], [&](Cell<D> c) {
            const double here = inside(c);
            if (here == 0) return;
            for (int a = 0; a < D; ++a)
                for (int side = 0; side < 2; ++side) {
                    Cell<D> other = c;
                    other[a] += 2 * side - 1;
                    const double out = side ? u[a] : -u[a];
                    if (!grid.contains(other) || out == 0) continue;
                    const double beyond = inside(other);
                    if (out > 0) flow += out * std::max(0.0, here - beyond);
                    if (out < 0 && beyond == 0 && phi(other) < 0) flow += out * here;
                }
        });
    }
    return flow * cell_volume(grid) / grid.h * dt;
}

#define TARN_INSTANTIATE(D)                                                                     \
    template Flows<D> make_flows(const Scene&, const Grid<D>&);                                 \
    template double fill_and_drain(Field<D>&, const Flows<D>&, const Solids<D>&, const Scene&); \
    template double set_rates(Flows<D>&, const Field<D>&, const Scene&, double, double);        \
    template double inlet_volume(const Flows<D>&, const Field<D>&, const Scene&, double);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
