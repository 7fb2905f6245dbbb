#include "tarn/step/smoke.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tarn/advect/advect.h"
#include "tarn/field/curl.h"
#include "tarn/field/nodes.h"
#include "tarn/field/sample.h"
#include "tarn/scene/forces.h"
#include "tarn/scene/place_solids.h"
#include "tarn/step/bodies.h"
#include "tarn/step/boundary.h"
#include "tarn/step/octree.h"
#include "tarn/step/smoke_levels.h"
#include "tarn/step/surface.h"
#include "tarn/step/two_phase.h"
#include "tarn/step/vortices.h"

namespace tarn::smoke {

namespace {

// On an octree the open part of faces is measured where small cells come to see it; once for all where solids stand.
template <int D>
void measure_seen_faces(Water<D>& w)
{
    if (!w.octree.any() || !w.solids.any || w.solids.moving || w.solids.thin || w.solids.any_no_slip) return;
    TileMap<D> seen = w.octree.levels[0].map;
    dilate(seen, 1);
    measure_faces(w.solids, select(seen, 1), sliver);
}

// How much of every cell there is to fill.
template <int D>
void find_capacity(Water<D>& w)
{
    measure_seen_faces(w);
    const auto capacity = w.carrying.capacity.view();
    const bool cut = w.solids.any && !w.solids.moving;
    const FaceView<D, const float> open = cut ? std::as_const(w.solids.open).view() : FaceView<D, const float>{};
    parallel_for("capacity", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
        float widest = cut ? 0.0f : 1.0f;
        for (int a = 0; a < D && cut; ++a)
            for (int side = 0; side < 2; ++side) {
                const float part = open[a](moved<D>(c, a, side));
                widest = part > widest ? part : widest;
            }
        capacity(c) = widest;
    });
}

// What flows through every face in dt, as a part of a cell, as the projection left it.
template <int D>
void find_flux(Water<D>& w, const Boundary<D>& boundary, double dt)
{
    // Larger cells meet no solids, nor do the faces towards them.
    for (AirLevel<D>& level : levels_of(w))
        for (int a = 0; a < D && w.octree.any(); ++a) {
            const float s = static_cast<float>(dt / level.grid.h);
            const auto flux = level.carrying.flux[a].view();
            const auto u = std::as_const(level.velocity)[a].view();
            parallel_for_faces<true>("flux", level.around, a, [=] TARN_KERNEL(Cell<D> c) { flux(c) = s * u(c); });
        }
    const float s = static_cast<float>(dt / w.grid.h);
    for (int a = 0; a < D; ++a) {
        const auto flux = w.carrying.flux[a].view();
        const auto u = std::as_const(w.velocity)[a].view();
        parallel_for_faces("flux", w.tiles_active, a, [=] TARN_KERNEL(Cell<D> c) {
            const float part = boundary.open_at(c, a);
            flux(c) = s * (part * u(c) + (1 - part) * boundary.closed_velocity(c, a));
        });
    }
}

// The smoke that there is, times the volume it fills.
template <int D>
double amount(Water<D>& w)
{
    double sum = 0;
    for (const AirLevel<D>& level : levels_of(w)) {
        const auto density = std::as_const(level.density).view(), capacity = std::as_const(level.carrying.capacity).view();
        sum += cell_volume(level.grid) * parallel_sum<true>("amount", level.cells, [=] TARN_KERNEL(Cell<D> c) {
                   return static_cast<double>(capacity(c) * density(c));
               });
    }
    return sum;
}

// Brings a value into a shape, a cell at its edge in part.
template <int D>
void fill_shape(const Shape* shape, const Grid<D>& grid, const Tiles<D>& tiles, Field<D>& field, double value)
{
    const auto f = field.view();
    const float to = static_cast<float>(value);
    parallel_for("fill shape", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const double inside = 0.5 - distance(*shape, lift<D>(grid.centre(c))) / grid.h;
        const float part = static_cast<float>(inside < 0 ? 0 : (inside > 1 ? 1 : inside));
        f(c) += part * (to - f(c));
    });
}

// The faces in a shape get a velocity.
template <int D>
void set_velocity(FaceField<D>& velocity, const Shape* shape, const Grid<D>& grid, const Tiles<D>& tiles, Vec3 value)
{
    for (int a = 0; a < D; ++a) {
        const auto u = velocity[a].view();
        const float to = static_cast<float>(value[a]);
        parallel_for_faces("source velocity", tiles, a, [=] TARN_KERNEL(Cell<D> c) {
            if (distance(*shape, lift<D>(grid.face(c, a))) < 0) u(c) = to;
        });
    }
}

// Whether a source gives anything from t to t + dt: density, warmth, velocity or volume.
bool gives(const SourceParams& s, const SmokeParams& smoke, double t, double dt)
{
    return (s.density && s.density->mean(t, dt) > 0) || (s.temperature && s.temperature->mean(t, dt) != smoke.ambient) ||
           (s.velocity && !(s.velocity->mean(t, dt) == Vec3{})) || (s.rate && s.rate->mean(t, dt) > 0);
}

// Sources hold their density and temperature, and sinks without a rate nothing. Returns the smoke that this added.
template <int D>
double obey_sources(Water<D>& w, const Scene& scene, double t, double dt)
{
    const SmokeParams& smoke = scene.params.smoke;
    const double before = scene.sources.empty() && scene.sinks.empty() ? 0 : amount(w);
    for (size_t s = 0; s < scene.sources.size(); ++s) {
        const SourceParams& source = scene.params.source[s];
        if (!gives(source, smoke, t, dt)) continue;
        const KernelShapes kept = scene.sources[s].for_kernels(t);
        const Tiles<D>& tiles = w.flows.source_tiles[s];
        if (source.density) fill_shape(kept.view().shapes, w.grid, tiles, w.smoke_density, source.density->mean(t, dt));
        if (source.temperature)
            fill_shape(kept.view().shapes, w.grid, tiles, w.temperature, source.temperature->mean(t, dt) - smoke.ambient);
    }
    for (size_t s = 0; s < scene.sinks.size(); ++s) {
        if (scene.params.sink[s].rate || w.flows.sink_shut[s]) continue;
        const KernelShapes kept = scene.sinks[s].for_kernels(t);
        for (Field<D>* field : {&w.smoke_density, &w.temperature})
            fill_shape(kept.view().shapes, w.grid, w.flows.sink_tiles[s], *field, 0);
    }
    return scene.sources.empty() && scene.sinks.empty() ? 0 : amount(w) - before;
}

// Cells whose centre is in a solid, or within half a cell of it, have its temperature.   [LGF04] §4
template <int D>
void obey_solids(Water<D>& w, const Scene& scene, double t)
{
    bool any = false;
    std::vector<float> warmth;
    for (const SolidParams& solid : scene.params.solid) {
        any = any || solid.temperature;
        if (solid.subtract)
            warmth.push_back(warmth.empty() ? outside : warmth.back());
        else
            warmth.push_back(solid.temperature ? static_cast<float>(*solid.temperature - scene.params.smoke.ambient) : outside);
    }
    if (!any) return;
    const KernelShapes kept = scene.solids.for_kernels(t);
    const ShapesView shapes = kept.view();
    const DeviceCopy device_copy;
    const float* const of_solid = device_copy.of(warmth.data(), warmth.size());
    const auto nodes = std::as_const(w.solids.distance).view();
    const auto temperature = w.temperature.view();
    const Grid<D> grid = w.grid;
    const float near = static_cast<float>(0.5 * grid.h);
    parallel_for("warm solids", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
        if (!(nodes_at_cell<D>(nodes, c) < near)) return;
        int owner = 0;
        (void)shapes.distance(lift<D>(grid.centre(c)), &owner);
        if (!is_outside(of_solid[owner])) temperature(c) = of_solid[owner];
    });
}

// Smoke vanishes, and what is warm cools.
template <int D>
void decay(Water<D>& w, const SmokeParams& smoke, double dt)
{
    const auto shrink = [&](Field<D>& field, const Tiles<D>& tiles, double rate) {
        if (!(rate > 0)) return;
        const auto f = field.view();
        const float kept = static_cast<float>(std::exp(-rate * dt));
        parallel_for<true>("decay", tiles, [=] TARN_KERNEL(Cell<D> c) { f(c) *= kept; });
    };
    for (AirLevel<D>& level : levels_of(w)) {
        shrink(level.density, level.cells, smoke.dissipation);
        shrink(level.temperature, level.cells, smoke.cooling);
    }
    w.volume_expected *= std::exp(-smoke.dissipation * dt);
}

// How much heavier than the air around that of a cell is, as a part of its weight: alpha density - beta (T - T_ambient).
template <int D>
struct Heaviness {
    View<D, const float> density, temperature;
    float alpha, beta;

    TARN_HD float operator()(int i) const { return alpha * density[i] - beta * temperature[i]; }
};
template <int D>
Heaviness<D> heaviness_of(const AirLevel<D>& level, const SmokeParams& smoke)
{
    return {std::as_const(level.density).view(), std::as_const(level.temperature).view(), static_cast<float>(smoke.weight),
            static_cast<float>(smoke.buoyancy)};
}

template <int D>
double strongest_lift(Water<D>& w, const Params& p)
{
    double most = 0;
    for (const AirLevel<D>& level : levels_of(w)) {
        const Heaviness<D> heaviness = heaviness_of(level, p.smoke);
        const double here = parallel_max(
            "lift", level.cells, [=] TARN_KERNEL(Cell<D> c) { return std::fabs(heaviness(heaviness.density.index(c))); });
        most = here < most ? most : here;  // a NaN comes through
    }
    return length(p.domain.gravity.at(w.time)) * most;
}

// u += dt g (alpha density - beta (T - T_ambient)), g downwards.   [LGF04] §4
template <int D>
void add_buoyancy(const AirLevel<D>& level, const Params& p, double t, double dt)
{
    const Vec<D, float> g = (dt * take<D>(p.domain.gravity.mean(t, dt))).template as<float>();
    const Heaviness<D> heaviness = heaviness_of(level, p.smoke);
    const Cell<D> cells = level.grid.cells;
    for (int a = 0; a < D; ++a) {
        if (g[a] == 0) continue;
        const auto u = level.velocity[a].view();
        parallel_for_faces("buoyancy", level.around, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = u.index(c), n = u.next(a);
            const float upper = heaviness(c[a] < cells[a] ? i : i - n), lower = heaviness(c[a] > 0 ? i - n : i);
            u[i] += g[a] * 0.5f * (upper + lower);
        });
        // Air at rest whose temperature is linear along g has a pressure that is quadratic. The discrete gradient of its means over cells is the
        // temperature's value at the faces between equal cells, nothing across T-faces that stand upright, and across those that lie its value a
        // third of a large cell from the large one's centre.
        for (int side = 0; side < 2 && level.tree; ++side) {
            const std::vector<TFace>& faces = level.tree->faces[a][side];
            parallel_range("buoyancy", static_cast<int>(faces.size()), [&](int n) {
                const int leaf = faces[static_cast<size_t>(n)].leaf, next = u.next(a);
                const float large = heaviness(leaf), across = heaviness(side ? leaf + next : leaf - next);
                u[side ? leaf + next : leaf] += g[a] * (large - across) / 6;
            });
        }
    }
}

// u += dt epsilon h (N x omega), N = grad|omega| / |grad|omega||; at a face the mean of its cells.   [LGF04] §4
template <int D>
void confine_vorticity(const AirLevel<D>& level, const Solids<D>* solids, double epsilon, double dt)
{
    if (!(epsilon > 0)) return;
    const FaceView<D, const float> u = std::as_const(level.velocity).view();
    const Cell<D> cells = level.grid.cells;
    const auto strength = level.carrying.filled.view();
    const View<D, const float> nodes = solids ? solids->distance.view() : View<D, const float>{};
    parallel_for("vorticity", level.around,
                 [=] TARN_KERNEL(Cell<D> c) { strength(c) = length(curl_at<D>(u, cells, c)); });
    View<D> force[D];
    for (int a = 0; a < D; ++a) force[a] = level.scratch[a].view();
    FaceView<D> along;
    for (int a = 0; a < D; ++a) along.axis[a] = force[a];
    // omega has h of u / h, and h (N x omega) has it back.
    const float s = static_cast<float>(dt * epsilon);
    parallel_for("confinement", level.around, [=] TARN_KERNEL(Cell<D> c) {
        Vec3f n;
        for (int a = 0; a < D; ++a) {
            const Cell<D> upper = c[a] + 1 < cells[a] ? moved<D>(c, a, 1) : c, lower = c[a] > 0 ? moved<D>(c, a, -1) : c;
            n[a] = strength(upper) - strength(lower);
        }
        const float steep = length(n);
        const bool any = steep > 0 && !(nodes.data && nodes_at_cell<D>(nodes, c) < 0);
        const Vec3f push = any ? (s / steep) * cross(n, curl_at<D>(u, cells, c)) : Vec3f{};
        for (int a = 0; a < D; ++a) along[a](c) = push[a];
    });
    for (int a = 0; a < D; ++a) {
        const auto v = level.velocity[a].view();
        const View<D, const float> f = force[a];
        parallel_for_faces("confinement", level.around, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = v.index(c), n = v.next(a);
            const float upper = f[c[a] < cells[a] ? i : i - n], lower = f[c[a] > 0 ? i - n : i];
            v[i] += 0.5f * (upper + lower);
        });
    }
}

template <int D>
SolveReport apply_viscosity(Water<D>& w, const Params& p, const Boundary<D>& boundary, double dt)
{
    Viscosity<D> viscosity;
    viscosity.constant = static_cast<float>(p.air.viscosity.constant());
    return diffuse(w.velocity, w.phi, viscosity, boundary, no_slip_of(w, p), w.tiles_active, dt, 0.1 * p.pressure.tolerance,
                   ViscosityScratch<D>{w.faces, w.viscosity[0], w.viscosity[1], w.viscosity[2]});
}

template <int D>
SolveReport make_divergence_free(Water<D>& w, const Params& p, const Boundary<D>& boundary, double dt)
{
    ProjectionForces<D> forces;
    if (w.flows.any_rate) forces.volume_rate = &w.flows.volume_rate;
    LargerCells<D> larger = larger_cells(w);
    if (w.octree.any()) forces.larger = &larger;
    FluidParams air = p.fluid;
    air.density = p.air.density;
    return project(w.velocity, w.pressure, w.known, w.phi, forces, boundary, w.map, w.tiles_active, air, p.pressure, dt,
                   w.projection, ProjectionScratch<D>{w.faces, w.scratch[0], w.scratch[1], w.scratch[2]});
}

// 1. Density and temperature go with the air.
template <int D>
void carry_smoke(Water<D>& w, const Scene& scene, double dt)
{
    find_flux(w, boundary_of(w, scene.params), dt);
    const Field<D>* const source = w.flows.any_rate ? &w.flows.volume_rate : nullptr;
    const std::vector<double> left = carry<D>(carried_levels(w), w.octree, source, w.ends.open);
    w.volume_expected -= left[0] * cell_volume(w.grid);
}

template <int D>
void self_advect(Water<D>& w, const Params& p, double dt)
{
    Field<D>* const scratch[] = {&w.scratch[0], &w.scratch[1], &w.scratch[2]};
    const Sides<D> sides = sides_of(w.solids, w.grid);
    advect_larger_cells(w, p.octree.advection, dt);
    if (is_cip(p.method.advection))
        self_advect_cip(w.velocity, w.velocity_gradient, w.faces, w.phi, w.tiles_active, dt, scratch, w.cip, sides);
    else
        tarn::self_advect(w.velocity, w.faces, w.phi, tiles_to_advect(w, p), dt, p.method.advection, scratch, sides);
}

// Air that comes in through open sides was at rest outside: of what a face gets, the part whose way began there has no velocity, and the
// pressure sets it going. With the velocity that it has at the side, as paths go on beyond the grid, what comes in brings ever more energy: a plume between
// open sides then blows up within seconds.
template <int D>
void rest_outside(const AirLevel<D>& level, const Ends<D>& ends, double fastest, double dt)
{
    if (!ends.any_open()) return;
    const FaceView<D, const float> before = std::as_const(level.before).view();
    const Cell<D> cells = level.grid.cells;
    const float s = static_cast<float>(dt / level.grid.h), reach = s * static_cast<float>(fastest) + 1;
    for (int a = 0; a < D; ++a) {
        const auto u = level.velocity[a].view();
        parallel_for_faces("rest outside", level.around, a, [=] TARN_KERNEL(Cell<D> c) {
            bool near = false;
            for (int b = 0; b < D; ++b) {
                const float x = static_cast<float>(c[b]);
                near = near || (ends.open[b][0] && x < reach) || (ends.open[b][1] && x > static_cast<float>(cells[b] - 1) - reach);
            }
            if (!near) return;
            const Vec<D, float> v = velocity_at_face(before, cells, c, a);
            float inside = 1;
            for (int b = 0; b < D; ++b) {
                // From cells' centres on: the grid ends half a cell beyond the outermost.
                const float from = static_cast<float>(c[b]) - (b == a ? 0.5f : 0.0f) - s * v[b];
                const float below = -0.5f - from, above = from - (static_cast<float>(cells[b]) - 0.5f);
                if (ends.open[b][0] && below > 0) inside *= below < 1 ? 1 - below : 0.0f;
                if (ends.open[b][1] && above > 0) inside *= above < 1 ? 1 - above : 0.0f;
            }
            u(c) *= inside;
        });
    }
}

template <int D>
void set_source_velocities(Water<D>& w, const Scene& scene, double dt)
{
    for (size_t s = 0; s < scene.sources.size(); ++s) {
        const SourceParams& source = scene.params.source[s];
        if (!source.velocity || !gives(source, scene.params.smoke, w.time, dt)) continue;
        const KernelShapes kept = scene.sources[s].for_kernels(w.time);
        set_velocity(w.velocity, kept.view().shapes, w.grid, w.flows.source_tiles[s], source.velocity->mean(w.time, dt));
    }
}

// On an octree the edges of clouds have small cells, as long as they are sharp.
template <int D>
void divide_first(Water<D>& w, const Scene& scene)
{
    if (!w.octree.any()) return;
    const std::vector<TileMap<D>> least = w.octree_least;
    TileMap<D>& map = w.octree_least[0];
    const KernelShapes kept = scene.clouds.for_kernels(0);
    const double reach = (0.5 * tile_size * std::sqrt(D) + 2) * w.grid.h;
    map.for_each([&](size_t i, Cell<D> t) {
        const Box<D> box = map.box(t);
        const Vec3 x = lift<D>(0.5 * w.grid.h * (box.lo + box.hi).template as<double>());
        for (size_t s = 0; s < scene.params.cloud.size(); ++s)
            if (std::fabs(distance(kept.view().shapes[s], x)) < reach) map.flags[i] = 1;
    });
    (void)divide_air(w);
    w.octree_least = least;
}

// Clouds, later ones over those before.
template <int D>
void place_clouds(Water<D>& w, const Scene& scene)
{
    const Params& p = scene.params;
    const KernelShapes kept = scene.clouds.for_kernels(0);
    for (AirLevel<D>& level : levels_of(w))
        for (size_t s = 0; s < p.cloud.size(); ++s) {
            const CloudParams& cloud = p.cloud[s];
            const Shape* const shape = kept.view().shapes + s;
            const double warmth = cloud.temperature ? *cloud.temperature - p.smoke.ambient : 0;
            fill_shape(shape, level.grid, level.cells, level.density, cloud.density);
            fill_shape(shape, level.grid, level.cells, level.temperature, warmth);
            if (!(cloud.velocity == Vec3{})) set_velocity(level.velocity, shape, level.grid, level.around, cloud.velocity);
        }
}

}  // namespace

template <int D>
Water<D> initial_water(const Scene& scene)
{
    const Params& p = scene.params;
    Water<D> w;
    w.grid = make_grid<D>(p.domain);
    w.smoke = true;
    w.ambient = p.smoke.ambient;
    for (int a = 0; a < D; ++a)
        for (int side = 0; side < 2; ++side) w.ends.open[a][side] = wall_kind(p.domain.walls, a, side) == WallKind::open;
    w.band = 4 * w.grid.h;
    w.map = TileMap<D>(w.grid, tile_wet | tile_active | tile_deep);
    w.tiles_active = w.tiles_deep = all_tiles(w.grid);
    w.velocity = FaceField<D>(w.grid);
    w.faces = FaceField<D>(w.grid);
    w.known = FaceField<D, uint8_t>(w.grid);
    for (Field<D>* field : {&w.pressure, &w.divergence_source, &w.smoke_density, &w.temperature, &w.scratch[0], &w.scratch[1], &w.scratch[2]})
        *field = Field<D>(w.grid);
    w.carrying = Conservative<D>(w.grid);
    w.projection = Projection<D>(w.grid);
    if (p.air.viscosity.constant() > 0)
        for (auto& field : w.viscosity) field = FaceField<D>(w.grid);
    w.solids = make_solids<D>(scene, w.grid);
    if (w.solids.any) w.to_water = distance_field(w.grid, static_cast<float>(w.band));
    w.flows = make_flows<D>(scene, w.grid);
    make_air_levels(w, scene);
    w.phi = w.octree.any() ? Field<D>(w.grid) : distance_field(w.grid, static_cast<float>(-w.band));
    divide_first(w, scene);
    if (w.octree.any() && w.solids.any && !w.solids.moving && !w.solids.thin && !w.solids.any_no_slip) w.solids.open = FaceField<D>(w.grid);
    find_capacity(w);
    place_clouds(w, scene);
    if (w.solids.any) {
        const auto density = w.smoke_density.view();
        const auto nodes = std::as_const(w.solids.distance).view();
        const float deep = static_cast<float>(-0.5 * w.grid.h);
        parallel_for("clouds", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
            if (nodes_at_cell<D>(nodes, c) < deep) density(c) = 0;
        });
    }
    obey_sources(w, scene, 0, 0);
    obey_solids(w, scene, 0);
    if (w.octree.any()) join_carried(carried_levels(w), w.octree);
    w.volume_expected = amount(w);

    shut_sources(w.flows, scene, 0, 0);
    (void)set_rates(w.flows, w.phi, w.solids, scene, 0, 0);
    set_source_velocities(w, scene, 0);
    const Boundary<D> boundary = boundary_of(w, p);
    (void)make_divergence_free(w, p, boundary, 1.0 / p.time.rate);
    w.pressure = Field<D>(w.grid);
    for (CoarseLevel<D>& level : w.coarse) level.pressure = Field<D>(level.pressure.grid());
    two_phase::extend_into_solids(w, boundary);
    if (w.octree.any()) join_levels(w);
    if (is_cip(p.method.advection)) {
        w.cip = CipWorkspace<D>(w.grid, false, p.method.advection == Advection::rational_cip);
        start_gradients(w);
    }
    start_vortices(w, scene);
    smoke::restore(w, scene);
    return w;
}

template <int D>
void restore(Water<D>& w, const Scene& scene)
{
    // As the newest step placed them: what flows through faces that they sweep is carried in the next one.
    if (w.solids.moving) place_solids(w.solids, scene, w.placed_from, w.ahead);
    if (w.octree.any() && w.step > 0) {
        w.octree_states.clear();  // the state says which cells there are
        (void)divide_air(w, true);
        find_capacity(w);
    }
    w.fastest = fastest_face(w);
    w.lift = strongest_lift(w, scene.params);
}

template <int D>
StepReport step(Water<D>& w, const Scene& scene, double dt)
{
    const Params& p = scene.params;
    StepReport report;
    report.dt = dt;

    // 1. Density and temperature are carried, and those of sources, solids and the air around are theirs.
    {
        const Stage stage(report.seconds_surface);
        carry_smoke(w, scene, dt);
        shut_sources(w.flows, scene, w.time, dt);
        w.placed_from = w.time;
        w.ahead = dt;
        if (w.solids.moving) place_solids(w.solids, scene, w.placed_from, w.ahead);
        move_vortices(w, scene, w.time, dt);
        if (divide_air(w)) find_capacity(w);
        decay(w, p.smoke, dt);
        w.volume_expected += obey_sources(w, scene, w.time, dt);
        obey_solids(w, scene, w.time + dt);
        if (w.octree.any()) join_carried(carried_levels(w), w.octree);
        (void)set_rates(w.flows, w.phi, w.solids, scene, w.time, dt);
    }

    // 2. u* = advect(u) + dt f.
    const Boundary<D> boundary = boundary_of(w, p);
    {
        const Stage stage(report.seconds_advect);
        self_advect(w, p, dt);
        for (const AirLevel<D>& level : levels_of(w)) {
            const bool finest = &level.velocity == &w.velocity;
            rest_outside(level, w.ends, w.fastest, dt);
            add_buoyancy(level, p, w.time, dt);
            confine_vorticity(level, finest && w.solids.any ? &w.solids : nullptr, p.smoke.confinement, dt);
        }
        push(w.velocity, w.phi, false, scene, w.tiles_active, w.time, dt);
        push_by_vortices(w, dt);
        push_larger_cells(w, scene, w.time, dt);
        set_source_velocities(w, scene, dt);
        if (p.air.viscosity.constant() > 0) report.viscosity = apply_viscosity(w, p, boundary, dt);
    }

    // 3. div(grad p / rho) = div u* / dt,  u = u* - dt grad p / rho.
    {
        const Stage stage(report.seconds_pressure);
        report.pressure = make_divergence_free(w, p, boundary, dt);
    }
    {
        const Stage stage(report.seconds_advect);
        two_phase::extend_into_solids(w, boundary);
        if (w.octree.any()) join_levels(w);
        if (is_cip(p.method.advection))
            follow_velocity(w.velocity_gradient, w.velocity, CipNear<D>{}, w.tiles_active, w.cip);
    }
    w.time += dt;
    ++w.step;
    w.fastest = fastest_face(w);
    w.lift = strongest_lift(w, p);
    report.finite = std::isfinite(w.volume_expected) && std::isfinite(w.fastest) && std::isfinite(w.lift);
    return report;
}

template <int D>
void measure(Measures& m, Water<D>& w, const Params& p)
{
    const Vec<D> g = take<D>(p.domain.gravity.at(w.time));
    m.volume = amount(w);
    double wet = 0, fastest = 0;
    for (const AirLevel<D>& level : levels_of(w)) {
        const Grid<D> grid = level.grid;
        const auto capacity = std::as_const(level.carrying.capacity).view(), density = std::as_const(level.density).view();
        const FaceView<D, const float> u = std::as_const(level.velocity).view();
        const double mass = p.air.density.at(w.time) * cell_volume(grid);
        m.kinetic_energy += 0.5 * mass * parallel_sum("measure", level.cells, [=] TARN_KERNEL(Cell<D> c) {
                                const Vec<D, float> v = velocity_at_cell(u, c);
                                return static_cast<double>(capacity(c) * dot(v, v));
                            });
        const double here = parallel_max("measure", level.cells, [=] TARN_KERNEL(Cell<D> c) {
            const Vec<D, float> v = velocity_at_cell(u, c);
            return capacity(c) > 0 ? dot(v, v) : 0.0f;
        });
        fastest = here < fastest ? fastest : here;  // a NaN comes through
        const Heaviness<D> heaviness = heaviness_of(level, p.smoke);
        m.potential_energy -= mass * parallel_sum("measure", level.cells, [=] TARN_KERNEL(Cell<D> c) {
            return capacity(c) * heaviness(density.index(c)) * dot(g, grid.centre(c));
        });
        m.unknowns += static_cast<long>(
            parallel_sum("measure", level.cells, [=] TARN_KERNEL(Cell<D> c) { return capacity(c) > 0 ? 1.0 : 0.0; }));
        wet += parallel_sum("measure", level.cells, [=] TARN_KERNEL(Cell<D> c) { return density(c) > 1e-3f ? 1.0 : 0.0; });
    }
    m.max_speed = std::sqrt(fastest);
    m.cells_wet = static_cast<long>(wet);
}

#define TARN_INSTANTIATE(D)                                    \
    template Water<D> initial_water(const Scene&);             \
    template void restore(Water<D>&, const Scene&);            \
    template StepReport step(Water<D>&, const Scene&, double); \
    template void measure(Measures&, Water<D>&, const Params&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn::smoke
