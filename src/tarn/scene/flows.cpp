#include "tarn/scene/flows.h"

#include <algorithm>
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
    const double reach = (0.5 * tile_size * std::sqrt(D) + 4) * grid.h;
    for (size_t i = 0; i < map.flags.size(); ++i) {
        const Box<D> box = map.box(map.tile(i));
        const Vec<D> middle = 0.5 * grid.h * (box.lo + box.hi).template as<double>();
        if (distance(shapes, lift<D>(middle)) < reach) map.flags[i] = 1;
    }
    return select(map, 1);
}

// A source, and where it is while it moves along `way`.
struct Swept {
    ShapesView source;
    Vec3 way;

    TARN_HD double distance(Vec3 x) const
    {
        double d = source.distance(x);
        for (int n = 1; n <= 2; ++n) {
            const double there = source.distance(x - 0.5 * n * way);
            d = there < d ? there : d;
        }
        return d;
    }
};

// The part of a cell inside a shape, so that its width counts to less than a cell: the mean over pieces of the cell, each
// cut by a plane.
template <int D, class Shape>
TARN_HD inline double part_inside(const Shape& shape, const Grid<D>& grid, Cell<D> c)
{
    const double d = shape.distance(lift<D>(grid.centre(c))) / grid.h;
    if (d > 1 || d < -1) return d < 0 ? 1 : 0;
    constexpr int pieces = 4, all = D == 2 ? pieces * pieces : pieces * pieces * pieces;
    double sum = 0;
    for (int n = 0; n < all; ++n) {
        Vec<D> x = grid.centre(c);
        for (int a = 0, rest = n; a < D; ++a, rest /= pieces)
            x[a] += grid.h * ((rest % pieces + 0.5) / pieces - 0.5);
        const double part = 0.5 - pieces * shape.distance(lift<D>(x)) / grid.h;
        sum += part < 0 ? 0 : (part > 1 ? 1 : part);
    }
    return sum / all;
}

// In smoke, a source's velocity is that of its air before the pressure acts, and no nozzle.
bool is_inlet(const Scene& scene, size_t s)
{
    return scene.params.method.phases != Phases::smoke && scene.params.source[s].is_inlet();
}

bool gives_nothing(const SourceParams& source, double t, double dt)
{
    // So that what a source gives in all does not depend on the steps, its means over them count.
    return source.is_inlet() ? source.velocity->mean(t, dt) == Vec3{} : !(source.rate && source.rate->mean(t, dt) > 0);
}

bool is_closed(const SinkParams& sink, double t, double dt) { return sink.open.mean(t, dt) < 0.5; }

// A place inside a shape, in the domain and outside of solids, as far from its surface as any cell's centre.
template <int D>
Vec3 deepest_point(const std::vector<Shape>& source, const std::vector<Shape>& solids, const Tiles<D>& tiles)
{
    Vec3 deepest;
    double least = HUGE_VAL;
    for (const Box<D>& box : tiles.boxes)
        backend::each(box, [&](Cell<D> c) {
            const Vec3 x = lift<D>(tiles.grid.centre(c));
            const double inside = distance(source, x), d = solids.empty() ? inside : std::max(inside, -distance(solids, x));
            if (!(d < least)) return;
            least = d;
            deepest = x;
        });
    return deepest;
}

// Which cells are inside of the inlets that are open.
template <int D>
void place_inlets(Flows<D>& flows, const Scene& scene)
{
    flows.front_velocity.clear();
    const Grid<D> grid = flows.inlet.grid();
    const auto inlet = flows.inlet.view();
    const auto part = flows.inlet_part.view();
    for (size_t s = 0; s < scene.sources.size(); ++s)
        parallel_for("inlets", flows.source_tiles[s], [=] TARN_KERNEL(Cell<D> c) {
            inlet(c) = 0;
            part(c) = 0;
        });
    uint8_t number = 0;
    for (size_t s = 0; s < scene.sources.size(); ++s) {
        if (!scene.params.source[s].is_inlet()) continue;
        ++number;
        if (flows.shut[s]) continue;
        const KernelShapes shapes = scene.sources[s].for_kernels(0);
        const ShapesView source = shapes.view();
        const uint8_t own = number;
        parallel_for("inlets", flows.source_tiles[s], [=] TARN_KERNEL(Cell<D> c) {
            const float inside = static_cast<float>(part_inside(source, grid, c));
            if (source.distance(lift<D>(grid.centre(c))) < 0) inlet(c) = own;
            part(c) = inside > part(c) ? inside : part(c);
        });
    }
}

// What inlets give through their surface, v . n where it leads out: the volume that the shape covers when it moves on by a
// cell. Where several do, the fastest counts.
template <int D>
void find_fronts(Flows<D>& flows, const Scene& scene)
{
    const Grid<D> grid = flows.inlet.grid();
    const auto part = std::as_const(flows.inlet_part).view();
    const auto front = flows.inlet_front.view();
    const auto which = flows.inlet_which.view();
    for (const Tiles<D>& tiles : flows.source_tiles)
        parallel_for("inlets", tiles, [=] TARN_KERNEL(Cell<D> c) { front(c) = 0; });
    flows.front_velocity = flows.inlet_velocity;
    size_t number = 0;
    for (size_t s = 0; s < scene.sources.size(); ++s) {
        if (!scene.params.source[s].is_inlet()) continue;
        const Vec3 v = lift<D>(flows.inlet_velocity[number++].template as<double>());
        const double speed = length(v);
        if (flows.shut[s] || !(speed > 0)) continue;
        const KernelShapes shapes = scene.sources[s].for_kernels(0);
        const Vec3 way = grid.h / speed * v;
        const uint8_t own_number = static_cast<uint8_t>(number);
        const Swept on{shapes.view(), way};
        parallel_for("inlets", flows.source_tiles[s], [=] TARN_KERNEL(Cell<D> c) {
            const float out = static_cast<float>(speed * (part_inside(on, grid, c) - double(part(c))));
            if (out > front(c)) which(c) = own_number;
            front(c) = out > front(c) ? out : front(c);
        });
    }
}

// Whether a cell can give water to others, or take it: some of its faces are open, and no inlet moves it.
template <int D>
struct Available {
    bool solids, inlets;
    FaceView<D, const float> open;
    View<D, const uint8_t> inlet;

    Available(const Flows<D>& flows, const Solids<D>& s) : solids(s.any), inlets(flows.any_inlet)
    {
        if (solids) open = s.open.view();
        if (inlets) inlet = flows.inlet.view();
    }
    TARN_HD bool operator()(Cell<D> c) const
    {
        if (inlets && inlet(c)) return false;
        if (!solids) return true;
        bool any = false;
        for (int a = 0; a < D; ++a) any = any || open[a](c) > 0 || open[a](moved<D>(c, a, 1)) > 0;
        return any;
    }
};

// The volume of water on tiles, in cells.
template <int D>
double wet_cells(const Field<D>& phi, const Solids<D>& solids, const Tiles<D>& tiles)
{
    const WetPart<D> wet = wet_part(phi, solids);
    return parallel_sum("sources", tiles, [=] TARN_KERNEL(Cell<D> c) { return static_cast<double>(wet(c)); });
}

// Fills a source with a volume, in cells, or as much as it can hold, by a ball around its middle. Returns what it was.
template <int D>
double fill_source(Field<D>& phi, FaceField<D>& velocity, const ShapesView& source, Vec3 middle, double volume,
                   const Solids<D>& solids, const Tiles<D>& tiles, Field<D>& scratch)
{
    const Grid<D> grid = phi.grid();
    const auto p = phi.view(), trial = scratch.view();
    const View<D, const float> old = p;
    const auto fill = [&](const View<D>& to, double radius) {
        parallel_for("sources", tiles, [=] TARN_KERNEL(Cell<D> c) {
            const Vec3 x = lift<D>(grid.centre(c));
            const double inside = source.distance(x), ball = length(x - middle) - radius;
            const float d = static_cast<float>(inside > ball ? inside : ball), before = old(c);
            to(c) = d < before ? d : before;
        });
    };
    const auto added = [&](double radius, double before) {
        fill(trial, radius);
        return wet_cells(scratch, solids, tiles) - before;
    };
    // On tiles alone the volume is not all of the water's, but its differences are right.
    const double before = added(-HUGE_VAL, 0);
    double less = 0, more = length(lift<D>(grid.size()));
    if (added(more, before) > volume)
        for (int n = 0; n < 16; ++n) {
            const double radius = 0.5 * (less + more);
            (added(radius, before) > volume ? more : less) = radius;
        }
    const double filled = added(more, before);
    // Water that appears has no velocity yet.
    for (int a = 0; a < D; ++a) {
        const auto u = velocity[a].view();
        const View<D, const float> now = trial;
        parallel_for_faces("sources", tiles, a, [=] TARN_KERNEL(Cell<D> c) {
            const Cell<D> below = moved<D>(c, a, -1);
            const bool upper = grid.contains(c), lower = grid.contains(below);
            const bool wet_before = (upper && old(c) < 0) || (lower && old(below) < 0);
            const bool wet_now = (upper && now(c) < 0) || (lower && now(below) < 0);
            if (wet_now && !wet_before) u(c) = 0;
        });
    }
    parallel_for("sources", tiles, [=] TARN_KERNEL(Cell<D> c) { p(c) = trial(c); });
    return filled;
}

}  // namespace

template <int D>
Flows<D> make_flows(const Scene& scene, const Grid<D>& grid)
{
    Flows<D> flows;
    const size_t count = scene.sources.size();
    const std::vector<Shape> solids = scene.solids.empty() ? std::vector<Shape>{} : scene.solids.at(0);
    size_t inlets = 0;
    for (size_t s = 0; s < count; ++s) {
        inlets += is_inlet(scene, s);
        flows.any_rate |= scene.params.source[s].fills();
        flows.source_tiles.push_back(tiles_near<D>(scene.sources[s].at(0), grid));
        flows.middle.push_back(deepest_point<D>(scene.sources[s].at(0), solids, flows.source_tiles[s]));
        flows.shut.push_back(gives_nothing(scene.params.source[s], 0, 0));
        flows.due.push_back(is_inlet(scene, s) && flows.shut[s] ? 1 : 0);
    }
    for (size_t s = 0; s < scene.sinks.size(); ++s) {
        flows.any_rate |= scene.params.sink[s].rate.has_value();
        flows.sink_tiles.push_back(tiles_near<D>(scene.sinks[s].at(0), grid));
        flows.sink_shut.push_back(is_closed(scene.params.sink[s], 0, 0));
    }
    if (flows.any_rate) flows.volume_rate = Field<D>(grid);
    flows.any_inlet = inlets > 0;
    if (!flows.any_inlet) return flows;
    if (inlets > 255) throw InputError(scene.file + ": source: more than 255 inlets; unite some");
    flows.inlet = Field<D, uint8_t>(grid);
    flows.inlet_which = Field<D, uint8_t>(grid);
    for (Field<D>* field : {&flows.inlet_part, &flows.inlet_front}) *field = Field<D>(grid);
    flows.inlet_velocity.resize(inlets);
    flows.inlet_velocity_there = Memory<Vec<D, float>>(inlets);
    place_inlets(flows, scene);
    return flows;
}

template <int D>
void shut_sources(Flows<D>& flows, const Scene& scene, double t, double dt)
{
    bool changed = false;
    for (size_t s = 0; s < scene.sources.size(); ++s) {
        const uint8_t off = gives_nothing(scene.params.source[s], t, dt);
        changed |= flows.shut[s] != off && is_inlet(scene, s);
        flows.shut[s] = off;
    }
    if (changed) place_inlets(flows, scene);
    for (size_t s = 0; s < scene.sinks.size(); ++s) flows.sink_shut[s] = is_closed(scene.params.sink[s], t, dt);
}

template <int D>
double fill_and_drain(Field<D>& phi, FaceField<D>* velocity, Flows<D>& flows, const Solids<D>& solids,
                      const Scene& scene, Field<D>& scratch)
{
    // What the grid can show: a ball of so many cells.
    constexpr double least = 1 << D;
    const Grid<D> grid = phi.grid();
    const auto p = phi.view();
    double taken = 0;
    for (size_t s = 0; s < scene.sources.size(); ++s) {
        const KernelShapes shapes = scene.sources[s].for_kernels(0);
        const ShapesView source = shapes.view();
        const Tiles<D>& tiles = flows.source_tiles[s];
        double& due = flows.due[s];
        if (scene.params.source[s].drops) continue;
        if (scene.params.source[s].rate) {
            if (!velocity || !(due > least * cell_volume(grid))) continue;
            const double filled =
                fill_source(phi, *velocity, source, flows.middle[s], due / cell_volume(grid), solids, tiles, scratch);
            due -= filled * cell_volume(grid);
            taken -= filled;
            continue;
        }
        if (flows.shut[s]) {
            due = 1;
            continue;
        }
        // An inlet that opens fills its cells at once; later what leaves them does.
        const double before = due > 0 ? wet_cells(phi, solids, tiles) : 0;
        parallel_for("sources", tiles, [=] TARN_KERNEL(Cell<D> c) {
            const float d = static_cast<float>(source.distance(lift<D>(grid.centre(c))));
            p(c) = d < p(c) ? d : p(c);
        });
        if (due > 0) taken -= wet_cells(phi, solids, tiles) - before;
        due = 0;
    }
    for (size_t s = 0; s < scene.sinks.size(); ++s) {
        if (scene.params.sink[s].rate || flows.sink_shut[s]) continue;
        const KernelShapes shapes = scene.sinks[s].for_kernels(0);
        const ShapesView sink = shapes.view();
        const double before = wet_cells(phi, solids, flows.sink_tiles[s]);
        parallel_for("sinks", flows.sink_tiles[s], [=] TARN_KERNEL(Cell<D> c) {
            const float d = -static_cast<float>(sink.distance(lift<D>(grid.centre(c))));
            p(c) = d > p(c) ? d : p(c);
        });
        taken += before - wet_cells(phi, solids, flows.sink_tiles[s]);
    }
    return taken * cell_volume(grid);
}

template <int D>
void obey_flows(Particles<D>& particles, const Field<D>& phi, const Flows<D>& flows, const Solids<D>& solids,
                const Scene& scene)
{
    const ThinWalls<D> thin_walls = thin_walls_of(solids, phi.grid());
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
            if (side * sample_one_side(f, thin_walls, x) > 0) return;  // not proved wrong
            const Vec<D> there = h * (x + Vec<D, float>::all(0.5f)).template as<double>();
            if (shape.distance(lift<D>(there)) < h) p.radius[i] = 0;
        });
    };
    for (size_t s = 0; s < scene.sources.size(); ++s)
        if (!scene.params.source[s].drops) obey(scene.sources[s], 1);
    for (size_t s = 0; s < scene.sinks.size(); ++s)
        if (!scene.params.sink[s].rate && !flows.sink_shut[s]) obey(scene.sinks[s], -1);
}

template <int D>
double set_rates(Flows<D>& flows, const Field<D>& phi, const Solids<D>& solids, const Scene& scene, double t,
                 double dt)
{
    size_t inlets = 0;
    for (size_t s = 0; s < scene.sources.size(); ++s)
        if (is_inlet(scene, s))
            flows.inlet_velocity[inlets++] = take<D>(scene.params.source[s].velocity->mean(t, dt)).template as<float>();
    if (flows.any_inlet) {
        backend::copy(flows.inlet_velocity_there.data(), flows.inlet_velocity.data(),
                      flows.inlet_velocity.size() * sizeof(Vec<D, float>));
        if (flows.front_velocity != flows.inlet_velocity) find_fronts(flows, scene);
    }
    if (!flows.any_rate) return 0;

    const Grid<D> grid = phi.grid();
    const double cell = cell_volume(grid);
    const auto made = flows.volume_rate.view();
    const auto clear = [&](const Tiles<D>& tiles) {
        parallel_for<true>("rates", tiles, [=] TARN_KERNEL(Cell<D> c) { made(c) = 0; });
    };
    for (size_t s = 0; s < scene.sources.size(); ++s)
        if (scene.params.source[s].fills()) clear(flows.source_tiles[s]);
    for (size_t s = 0; s < scene.sinks.size(); ++s)
        if (scene.params.sink[s].rate) clear(flows.sink_tiles[s]);

    const auto p = phi.view();
    const WetPart<D> wet = wet_part(phi, solids);
    const Available<D> available(flows, solids);
    const auto count = [&](const Tiles<D>& tiles, const auto& f) { return parallel_sum("rates", tiles, f); };
    double gained = 0;
    for (size_t s = 0; s < scene.sources.size(); ++s) {
        if (!scene.params.source[s].fills() || flows.shut[s]) continue;
        const KernelShapes shapes = scene.sources[s].for_kernels(0);
        const ShapesView shape = shapes.view();
        const Tiles<D>& tiles = flows.source_tiles[s];
        const auto inside = [=] TARN_KERNEL(Cell<D> c) {
            return shape.distance(lift<D>(grid.centre(c))) < 0 && available(c);
        };
        const double cells = count(tiles, [=] TARN_KERNEL(Cell<D> c) { return inside(c) ? 1.0 : 0.0; });
        const double of_water = count(tiles, [=] TARN_KERNEL(Cell<D> c) { return p(c) < 0 && inside(c) ? 1.0 : 0.0; });
        if (cells == 0) continue;
        const double rate = scene.params.source[s].rate->mean(t, dt);
        const float share = static_cast<float>(rate / (cells * cell));
        parallel_for("rates", tiles, [=] TARN_KERNEL(Cell<D> c) {
            if (p(c) < 0 && inside(c)) made(c) += share;
        });
        gained += rate * dt * of_water / cells;
        flows.due[s] += rate * dt * (1 - of_water / cells);
    }
    // The whole rate as long as a quarter of the sink is wet, then in proportion: a pump that runs dry. Of each cell not
    // more than is there.
    constexpr double least_wet = 0.25;
    for (size_t s = 0; s < scene.sinks.size(); ++s) {
        if (!scene.params.sink[s].rate || flows.sink_shut[s]) continue;
        const KernelShapes shapes = scene.sinks[s].for_kernels(0);
        const ShapesView shape = shapes.view();
        const Tiles<D>& tiles = flows.sink_tiles[s];
        const auto inside = [=] TARN_KERNEL(Cell<D> c) {
            return shape.distance(lift<D>(grid.centre(c))) < 0 && available(c);
        };
        const auto there = [=] TARN_KERNEL(Cell<D> c) { return p(c) < 0 && inside(c) ? wet(c) : 0.0f; };
        const double cells = count(tiles, [=] TARN_KERNEL(Cell<D> c) { return inside(c) ? 1.0 : 0.0; });
        const double of_water = count(tiles, [=] TARN_KERNEL(Cell<D> c) { return static_cast<double>(there(c)); });
        if (of_water == 0) continue;
        const double part = scene.params.sink[s].rate->mean(t, dt) / (cell * std::max(of_water, least_wet * cells));
        const double most = dt > 0 ? std::min(part, 1 / dt) : part;
        const float share = static_cast<float>(most);
        parallel_for("rates", tiles, [=] TARN_KERNEL(Cell<D> c) { made(c) -= share * there(c); });
        gained -= most * of_water * cell * dt;
    }
    return gained;
}

template <int D>
double inlet_volume(const Flows<D>& flows, const Solids<D>& solids, double dt)
{
    if (!flows.any_inlet) return 0;
    const Grid<D> grid = flows.inlet.grid();
    const auto front = flows.inlet_front.view();
    const auto which = flows.inlet_which.view();
    const Vec<D, float>* const velocity = flows.inlet_velocity_there.data();
    const bool any_solids = solids.any;
    FaceView<D, const float> open{};
    if (any_solids) open = solids.open.view();
    TileMap<D> near(grid);
    for (const Tiles<D>& tiles : flows.source_tiles)
        for (const Box<D>& box : tiles.boxes)
            for (int x = box.lo[0]; x < box.hi[0]; x += tile_size) {
                Cell<D> t = box.lo;
                t[0] = x;
                for (int a = 0; a < D; ++a) t[a] /= tile_size;
                near.flags[near.index(t)] = 1;
            }
    const double flow = parallel_sum("inlets", select(near, 1), [=] TARN_KERNEL(Cell<D> c) {
        if (!(front(c) > 0)) return 0.0;
        // Through the side that the flow comes from, and not through a wall.
        const Vec<D, float> v = velocity[which(c) - 1];
        int axis = 0;
        for (int a = 1; a < D; ++a)
            if (std::fabs(v[a]) > std::fabs(v[axis])) axis = a;
        const float passes = any_solids ? open[axis](moved<D>(c, axis, v[axis] < 0)) : 1.0f;
        return static_cast<double>(passes * front(c));
    });
    return flow * cell_volume(grid) / grid.h * dt;
}

#define TARN_INSTANTIATE(D)                                                                                       \
    template Flows<D> make_flows(const Scene&, const Grid<D>&);                                                   \
    template void shut_sources(Flows<D>&, const Scene&, double, double);                                          \
    template double fill_and_drain(Field<D>&, FaceField<D>*, Flows<D>&, const Solids<D>&, const Scene&, Field<D>&); \
    template void obey_flows(Particles<D>&, const Field<D>&, const Flows<D>&, const Solids<D>&, const Scene&);    \
    template double set_rates(Flows<D>&, const Field<D>&, const Solids<D>&, const Scene&, double, double);        \
    template double inlet_volume(const Flows<D>&, const Solids<D>&, double);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
