#include "tarn/scene/flows.h"

#include <utility>

#include "tarn/field/sample.h"
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

// The part of a cell inside a source, so that its width counts to less than a cell.
template <int D>
TARN_HD inline double part_inside(const ShapesView& source, const Grid<D>& grid, Cell<D> c)
{
    const double part = 0.5 - source.distance(lift<D>(grid.centre(c))) / grid.h;
    return part < 0 ? 0 : (part > 1 ? 1 : part);
}

// Whether keyframes have come to an end at zero.
template <class T>
bool ended(const std::optional<Keyed<T>>& flow, double t)
{
    return flow && flow->varies() && t >= flow->keys.back().t && flow->keys.back().v == T{};
}

}  // namespace

template <int D>
Flows<D> make_flows(const Scene& scene, const Grid<D>& grid)
{
    Flows<D> flows;
    flows.shut.assign(scene.sources.size(), 0);
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
        const KernelShapes shapes = scene.sources[s].for_kernels(0);
        const ShapesView source = shapes.view();
        const auto inlet = flows.inlet.view();
        const uint8_t number = static_cast<uint8_t>(flows.inlet_velocity.size());
        parallel_for("inlets", flows.source_tiles[s], [=] TARN_KERNEL(Cell<D> c) {
            if (source.distance(lift<D>(grid.centre(c))) < 0) inlet(c) = number;
        });
    }
    flows.inlet_velocity_there = Memory<Vec<D, float>>(flows.inlet_velocity.size());
    return flows;
}

template <int D>
void shut_sources(Flows<D>& flows, const Scene& scene, double t)
{
    uint8_t number = 0;
    for (size_t s = 0; s < scene.sources.size(); ++s) {
        const SourceParams& source = scene.params.source[s];
        if (source.velocity) ++number;
        if (flows.shut[s] || !(ended(source.velocity, t) || ended(source.rate, t))) continue;
        flows.shut[s] = 1;
        if (!source.velocity) continue;
        const auto inlet = flows.inlet.view();
        parallel_for("inlets", flows.source_tiles[s], [=] TARN_KERNEL(Cell<D> c) {
            if (inlet(c) == number) inlet(c) = 0;
        });
    }
}

template <int D>
double fill_and_drain(Field<D>& phi, const Flows<D>& flows, const Solids<D>& solids, const Scene& scene)
{
    const Grid<D> grid = phi.grid();
    const auto p = phi.view();
    for (size_t s = 0; s < scene.sources.size(); ++s) {
        if (flows.shut[s]) continue;
        const KernelShapes shapes = scene.sources[s].for_kernels(0);
        const ShapesView source = shapes.view();
        parallel_for("sources", flows.source_tiles[s], [=] TARN_KERNEL(Cell<D> c) {
            const float d = static_cast<float>(source.distance(lift<D>(grid.centre(c))));
            p(c) = d < p(c) ? d : p(c);
        });
    }
    double taken = 0;
    const WetPart<D> wet = wet_part(phi, solids);
    for (size_t s = 0; s < scene.sinks.size(); ++s) {
        if (scene.params.sink[s].rate) continue;
        const KernelShapes shapes = scene.sinks[s].for_kernels(0);
        const ShapesView sink = shapes.view();
        const auto volume = [&] {
            return parallel_sum("sinks", flows.sink_tiles[s],
                                [=] TARN_KERNEL(Cell<D> c) { return static_cast<double>(wet(c)); });
        };
        const double before = volume();
        parallel_for("sinks", flows.sink_tiles[s], [=] TARN_KERNEL(Cell<D> c) {
            const float d = -static_cast<float>(sink.distance(lift<D>(grid.centre(c))));
            p(c) = d > p(c) ? d : p(c);
        });
        taken += before - volume();
    }
    return taken * cell_volume(grid);
}

template <int D>
void obey_flows(Particles<D>& particles, const Field<D>& phi, const Solids<D>& solids, const Scene& scene)
{
    const Sheets<D> sheets = sheets_of(solids, phi.grid());
    const double h = phi.grid().h;
    const auto f = phi.view();
    const ParticleView<D> p = particles.view();
    const auto obey = [&](const Geometry& geometry, float side) {
        const KernelShapes shapes = geometry.for_kernels(0);
        const ShapesView shape = shapes.view();
        parallel_range("obey flows", particles.count(), [=] TARN_KERNEL(int i) {
            const float r = p.radius[i];
            if (!(side * r > 0)) return;
            const Vec<D, float> x = p.at(i);
            if (side * sample_one_side(f, sheets, x) > 0) return;  // not proved wrong
            const Vec<D> there = h * (x + Vec<D, float>::all(0.5f)).template as<double>();
            if (shape.distance(lift<D>(there)) < h) p.radius[i] = 0;
        });
    };
    for (const Geometry& source : scene.sources) obey(source, 1);
    for (size_t s = 0; s < scene.sinks.size(); ++s)
        if (!scene.params.sink[s].rate) obey(scene.sinks[s], -1);
}

template <int D>
double set_rates(Flows<D>& flows, const Field<D>& phi, const Scene& scene, double t, double dt)
{
    size_t inlets = 0;
    for (const auto& source : scene.params.source)
        if (source.velocity) flows.inlet_velocity[inlets++] = take<D>(source.velocity->at(t)).template as<float>();
    if (flows.any_inlet)
        backend::copy(flows.inlet_velocity_there.data(), flows.inlet_velocity.data(),
                      flows.inlet_velocity.size() * sizeof(Vec<D, float>));
    if (!flows.any_rate) return 0;

    double gained = 0;
    const Grid<D> grid = phi.grid();
    const auto p = phi.view();
    const auto made = flows.volume_rate.view();
    const auto set = [&](const Geometry& geometry, const Tiles<D>& tiles, double rate) {
        const KernelShapes shapes = geometry.for_kernels(0);
        const ShapesView shape = shapes.view();
        const double inside = parallel_sum("rates", tiles, [=] TARN_KERNEL(Cell<D> c) {
            return p(c) < 0 && shape.distance(lift<D>(grid.centre(c))) < 0 ? 1.0 : 0.0;
        });
        if (inside == 0) return;
        const float share = static_cast<float>(rate / (inside * cell_volume(grid)));
        parallel_for("rates", tiles, [=] TARN_KERNEL(Cell<D> c) {
            if (p(c) < 0 && shape.distance(lift<D>(grid.centre(c))) < 0) made(c) += share;
        });
        gained += rate * dt;
    };
    const auto clear = [&](const Tiles<D>& tiles) {
        parallel_for<true>("rates", tiles, [=] TARN_KERNEL(Cell<D> c) { made(c) = 0; });
    };
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
    const Grid<D> grid = phi.grid();
    const auto p = phi.view();
    double flow = 0;
    size_t inlet = 0;
    for (size_t s = 0; s < scene.sources.size(); ++s) {
        if (!scene.params.source[s].velocity) continue;
        const Vec<D, float> u = flows.inlet_velocity[inlet++];
        if (flows.shut[s]) continue;
        const KernelShapes shapes = scene.sources[s].for_kernels(0);
        const ShapesView source = shapes.view();
        flow += parallel_sum("inlets", flows.source_tiles[s], [=] TARN_KERNEL(Cell<D> c) {
            const double here = part_inside(source, grid, c);
            double out_of_cell = 0;
            if (here == 0) return out_of_cell;
            for (int a = 0; a < D; ++a)
                for (int side = 0; side < 2; ++side) {
                    Cell<D> other = c;
                    other[a] += 2 * side - 1;
                    const double out = side ? u[a] : -u[a];
                    if (!grid.contains(other) || out == 0) continue;
                    const double beyond = part_inside(source, grid, other);
                    if (out > 0 && here > beyond) out_of_cell += out * (here - beyond);
                    if (out < 0 && beyond == 0 && p(other) < 0) out_of_cell += out * here;
                }
            return out_of_cell;
        });
    }
    return flow * cell_volume(grid) / grid.h * dt;
}

#define TARN_INSTANTIATE(D)                                                                     \
    template Flows<D> make_flows(const Scene&, const Grid<D>&);                                 \
    template void shut_sources(Flows<D>&, const Scene&, double);                                \
    template double fill_and_drain(Field<D>&, const Flows<D>&, const Solids<D>&, const Scene&); \
    template void obey_flows(Particles<D>&, const Field<D>&, const Solids<D>&, const Scene&);   \
    template double set_rates(Flows<D>&, const Field<D>&, const Scene&, double, double);        \
    template double inlet_volume(const Flows<D>&, const Field<D>&, const Scene&, double);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
