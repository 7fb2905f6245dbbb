#include "tarn/step/smoke.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tarn/advect/advect.h"
#include "tarn/field/nodes.h"
#include "tarn/field/sample.h"
#include "tarn/scene/forces.h"
#include "tarn/scene/place_solids.h"
#include "tarn/step/bodies.h"
#include "tarn/step/boundary.h"
#include "tarn/step/surface.h"
#include "tarn/step/two_phase.h"

namespace tarn::smoke {

namespace {

// How much of every cell there is to fill.
template <int D>
void find_capacity(Water<D>& w)
{
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
double amount(const Water<D>& w)
{
    const auto density = w.smoke_density.view(), capacity = w.carrying.capacity.view();
    return cell_volume(w.grid) * parallel_sum<true>("amount", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
               return static_cast<double>(capacity(c) * density(c));
           });
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
            warmth.push_back(warmth.empty() ? nowhere : warmth.back());
        else
            warmth.push_back(solid.temperature ? static_cast<float>(*solid.temperature - scene.params.smoke.ambient) : nowhere);
    }
    if (!any) return;
    const KernelShapes kept = scene.solids.for_kernels(t);
    const ShapesView shapes = kept.view();
    const Mirror mirror;
    const float* const of_solid = mirror.of(warmth.data(), warmth.size());
    const auto nodes = std::as_const(w.solids.distance).view();
    const auto temperature = w.temperature.view();
    const Grid<D> grid = w.grid;
    const float near = static_cast<float>(0.5 * grid.h);
    parallel_for("warm solids", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
        if (!(nodes_at_cell<D>(nodes, c) < near)) return;
        int owner = 0;
        (void)shapes.distance(lift<D>(grid.centre(c)), &owner);
        if (!is_nowhere(of_solid[owner])) temperature(c) = of_solid[owner];
    });
}

// Smoke vanishes, and what is warm cools.
template <int D>
void decay(Water<D>& w, const SmokeParams& smoke, double dt)
{
    const auto shrink = [&](Field<D>& field, double rate) {
        if (!(rate > 0)) return;
        const auto f = field.view();
        const float kept = static_cast<float>(std::exp(-rate * dt));
        parallel_for<true>("decay", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) { f(c) *= kept; });
    };
    shrink(w.smoke_density, smoke.dissipation);
    shrink(w.temperature, smoke.cooling);
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
Heaviness<D> heaviness_of(const Water<D>& w, const SmokeParams& smoke)
{
    return {w.smoke_density.view(), w.temperature.view(), static_cast<float>(smoke.weight), static_cast<float>(smoke.buoyancy)};
}

template <int D>
double strongest_lift(const Water<D>& w, const Params& p)
{
    const Heaviness<D> heaviness = heaviness_of(w, p.smoke);
    const View<D, const float> density = w.smoke_density.view();
    return length(p.domain.gravity.at(w.time)) *
           parallel_max("lift", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) { return std::fabs(heaviness(density.index(c))); });
}

// u += dt g (alpha density - beta (T - T_ambient)), g downwards.   [LGF04] §4
template <int D>
void add_buoyancy(Water<D>& w, const Params& p, double dt)
{
    const Vec<D, float> g = (dt * take<D>(p.domain.gravity.mean(w.time, dt))).template as<float>();
    const Heaviness<D> heaviness = heaviness_of(w, p.smoke);
    const Cell<D> cells = w.grid.cells;
    for (int a = 0; a < D; ++a) {
        if (g[a] == 0) continue;
        const auto u = w.velocity[a].view();
        parallel_for_faces("buoyancy", w.tiles_active, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = u.index(c), n = u.next(a);
            const float upper = heaviness(c[a] < cells[a] ? i : i - n), lower = heaviness(c[a] > 0 ? i - n : i);
            u[i] += g[a] * 0.5f * (upper + lower);
        });
    }
}

// The velocity's slope along an axis at a cell: between the centres beside it, as far as there are any.
template <int D>
TARN_HD inline Vec<D, float> slope_at(const FaceView<D, const float>& u, Cell<D> cells, Cell<D> c, int axis)
{
    const Cell<D> upper = c[axis] + 1 < cells[axis] ? moved<D>(c, axis, 1) : c, lower = c[axis] > 0 ? moved<D>(c, axis, -1) : c;
    const float per = 1 / static_cast<float>(upper[axis] - lower[axis]);
    return per * (velocity_at_cell(u, upper) - velocity_at_cell(u, lower));
}

// h times the curl of the velocity at a cell; in 2D along z.
template <int D>
TARN_HD inline Vec3f curl_at(const FaceView<D, const float>& u, Cell<D> cells, Cell<D> c)
{
    const Vec<D, float> dx = slope_at(u, cells, c, 0), dy = slope_at(u, cells, c, 1);
    Vec3f curl;
    curl[2] = dx[1] - dy[0];
    if constexpr (D == 3) {
        const Vec<D, float> dz = slope_at(u, cells, c, 2);
        curl[0] = dy[2] - dz[1];
        curl[1] = dz[0] - dx[2];
    }
    return curl;
}

// u += dt epsilon h (N x omega), N = grad|omega| / |grad|omega||; at a face the mean of its cells.   [LGF04] §4
template <int D>
void confine_vorticity(Water<D>& w, double epsilon, double dt)
{
    if (!(epsilon > 0)) return;
    const FaceView<D, const float> u = std::as_const(w.velocity).view();
    const Cell<D> cells = w.grid.cells;
    const auto strength = w.carrying.filled.view();
    const View<D, const float> nodes = w.solids.any ? w.solids.distance.view() : View<D, const float>{};
    parallel_for("vorticity", w.tiles_active,
                 [=] TARN_KERNEL(Cell<D> c) { strength(c) = length(curl_at<D>(u, cells, c)); });
    View<D> force[D];
    for (int a = 0; a < D; ++a) force[a] = w.scratch[a].view();
    FaceView<D> along;
    for (int a = 0; a < D; ++a) along.axis[a] = force[a];
    // omega has h of u / h, and h (N x omega) has it back.
    const float s = static_cast<float>(dt * epsilon);
    parallel_for("confinement", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
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
        const auto v = w.velocity[a].view();
        const View<D, const float> f = force[a];
        parallel_for_faces("confinement", w.tiles_active, a, [=] TARN_KERNEL(Cell<D> c) {
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
    Field<D>* const fields[2] = {&w.smoke_density, &w.temperature};
    const Field<D>* const source = w.flows.any_rate ? &w.flows.volume_rate : nullptr;
    const std::vector<double> left = carry<D>(fields, w.carrying, source, w.ends.open);
    w.volume_expected -= left[0] * cell_volume(w.grid);
}

template <int D>
void self_advect(Water<D>& w, const Params& p, double dt)
{
    Field<D>* const scratch[] = {&w.scratch[0], &w.scratch[1], &w.scratch[2]};
    const Sides<D> sides = sides_of(w.solids, w.grid);
    if (is_cip(p.method.advection))
        self_advect_cip(w.velocity, w.velocity_gradient, w.faces, w.phi, w.tiles_active, dt, scratch, w.cip, sides);
    else
        tarn::self_advect(w.velocity, w.faces, w.phi, w.tiles_active, dt, p.method.advection, scratch, sides);
}

// Air that comes in through open sides was at rest outside: of what a face gets, the part whose way began there has no velocity, and the
// pressure sets it going. With the velocity that it has at the side, as paths go on beyond the grid, what comes in brings ever more energy: a plume between
// open sides then blows up within seconds.
template <int D>
void rest_outside(Water<D>& w, double dt)
{
    if (!w.ends.any_open()) return;
    const FaceView<D, const float> before = std::as_const(w.faces).view();  // where self_advect leaves it
    const Ends<D> ends = w.ends;
    const Cell<D> cells = w.grid.cells;
    const float s = static_cast<float>(dt / w.grid.h), reach = s * static_cast<float>(w.fastest) + 1;
    for (int a = 0; a < D; ++a) {
        const auto u = w.velocity[a].view();
        parallel_for_faces("rest outside", w.tiles_active, a, [=] TARN_KERNEL(Cell<D> c) {
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
    w.phi = distance_field(w.grid, static_cast<float>(-w.band));
    w.map = TileMap<D>(w.grid, tile_wet | tile_active | tile_deep);
    w.tiles_active = w.tiles_deep = all_tiles(w.grid);
    w.velocity = FaceField<D>(w.grid);
    w.faces = FaceField<D>(w.grid);
    w.known = FaceField<D, uint8_t>(w.grid);
    for (Field<D>* field : {&w.pressure, &w.swelling, &w.smoke_density, &w.temperature, &w.scratch[0], &w.scratch[1], &w.scratch[2]})
        *field = Field<D>(w.grid);
    w.carrying = Conservative<D>(w.grid);
    w.projection = Projection<D>(w.grid);
    if (p.air.viscosity.constant() > 0)
        for (auto& field : w.viscosity) field = FaceField<D>(w.grid);
    w.solids = make_solids<D>(scene, w.grid);
    if (w.solids.any) w.to_water = distance_field(w.grid, static_cast<float>(w.band));
    w.flows = make_flows<D>(scene, w.grid);
    find_capacity(w);

    // Clouds, later ones over those before, and outside of solids.
    const KernelShapes kept = scene.clouds.for_kernels(0);
    for (size_t s = 0; s < p.cloud.size(); ++s) {
        const CloudParams& cloud = p.cloud[s];
        const Shape* const shape = kept.view().shapes + s;
        const double warmth = cloud.temperature ? *cloud.temperature - p.smoke.ambient : 0;
        fill_shape(shape, w.grid, w.tiles_active, w.smoke_density, cloud.density);
        fill_shape(shape, w.grid, w.tiles_active, w.temperature, warmth);
        if (!(cloud.velocity == Vec3{})) set_velocity(w.velocity, shape, w.grid, w.tiles_active, cloud.velocity);
    }
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
    w.volume_expected = amount(w);

    shut_sources(w.flows, scene, 0, 0);
    (void)set_rates(w.flows, w.phi, w.solids, scene, 0, 0);
    set_source_velocities(w, scene, 0);
    const Boundary<D> boundary = boundary_of(w, p);
    (void)make_divergence_free(w, p, boundary, 1.0 / p.time.rate);
    w.pressure.fill(0);
    two_phase::extend_into_solids(w, boundary);
    if (is_cip(p.method.advection)) {
        w.cip = CipRoom<D>(w.grid, false, p.method.advection == Advection::rational_cip);
        start_gradients(w);
    }
    smoke::restore(w, scene);
    return w;
}

template <int D>
void restore(Water<D>& w, const Scene& scene)
{
    // As the newest step placed them: what flows through faces that they sweep is carried in the next one.
    if (w.solids.moving) place_solids(w.solids, scene, w.placed_from, w.ahead);
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
        decay(w, p.smoke, dt);
        w.volume_expected += obey_sources(w, scene, w.time, dt);
        obey_solids(w, scene, w.time + dt);
        (void)set_rates(w.flows, w.phi, w.solids, scene, w.time, dt);
    }

    // 2. u* = advect(u) + dt f.
    const Boundary<D> boundary = boundary_of(w, p);
    {
        const Stage stage(report.seconds_advect);
        self_advect(w, p, dt);
        rest_outside(w, dt);
        add_buoyancy(w, p, dt);
        confine_vorticity(w, p.smoke.confinement, dt);
        push(w.velocity, w.phi, false, scene, w.tiles_active, w.time, dt);
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
void measure(Measures& m, const Water<D>& w, const Params& p)
{
    const Grid<D> grid = w.grid;
    const auto capacity = w.carrying.capacity.view(), density = w.smoke_density.view();
    const FaceView<D, const float> u = w.velocity.view();
    const double mass = p.air.density.at(w.time) * cell_volume(grid);
    m.volume = amount(w);
    m.kinetic_energy = 0.5 * mass * parallel_sum("measure", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
                           const Vec<D, float> v = velocity_at_cell(u, c);
                           return static_cast<double>(capacity(c) * dot(v, v));
                       });
    m.max_speed = std::sqrt(parallel_max("measure", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
        const Vec<D, float> v = velocity_at_cell(u, c);
        return capacity(c) > 0 ? dot(v, v) : 0.0f;
    }));
    const Vec<D> g = take<D>(p.domain.gravity.at(w.time));
    const Heaviness<D> heaviness = heaviness_of(w, p.smoke);
    m.potential_energy = -mass * parallel_sum("measure", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
        return capacity(c) * heaviness(density.index(c)) * dot(g, grid.centre(c));
    });
    m.cells_wet = static_cast<long>(
        parallel_sum("measure", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) { return density(c) > 1e-3f ? 1.0 : 0.0; }));
}

#define TARN_INSTANTIATE(D)                                    \
    template Water<D> initial_water(const Scene&);             \
    template void restore(Water<D>&, const Scene&);            \
    template StepReport step(Water<D>&, const Scene&, double); \
    template void measure(Measures&, const Water<D>&, const Params&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn::smoke
