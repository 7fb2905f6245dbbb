#include "tarn/step/free_surface.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "tarn/advect/advect.h"
#include "tarn/bodies/wall_separation.h"
#include "tarn/field/extrapolate.h"
#include "tarn/field/sample.h"
#include "tarn/pressure/closing_gaps.h"
#include "tarn/scene/forces.h"
#include "tarn/scene/place_solids.h"
#include "tarn/scene/rain.h"
#include "tarn/scene/surface_pressure.h"
#include "tarn/scene/wind.h"
#include "tarn/step/bodies.h"
#include "tarn/step/boundary.h"
#include "tarn/step/frame.h"
#include "tarn/step/octree.h"
#include "tarn/step/surface.h"
#include "tarn/step/vortices.h"

namespace tarn {

namespace {

// Deviation from [EMF02]: the dry cells beside the water let out what flows in, too. A velocity that is merely constant
// across the surface moves it too little where the water under it stretches, so thin sheets and films would gain
// volume. The faces that lead from such a cell away from the water share its divergence; each belongs to one such cell
// alone. Nothing flows through faces that solids close.
template <int D>
void balance_first_layer(Water<D>& w, const Boundary<D>& boundary, const Tiles<D>& tiles)
{
    FaceView<D, const uint8_t> known = std::as_const(w.known).view();
    const FaceView<D, const float> old = std::as_const(w.velocity).view();
    const auto phi = std::as_const(w.phi).view();
    const ThinWalls<D> thin_walls = thin_walls_of(w.solids, w.grid);
    // A dry cell with a wet neighbour.
    const auto beside = [=] TARN_KERNEL(Cell<D> c) {
        const int i = phi.index(c);
        if (!(phi[i] >= 0) || is_outside(phi[i])) return false;
        bool any = false;
        for (int a = 0; a < D; ++a) {
            const int n = phi.next(a);
            any = any || (phi[i - n] < 0 && !thin_walls.below(i, a)) || (phi[i + n] < 0 && !thin_walls.above(i, a));
        }
        return any;
    };
    const auto closed = [=] TARN_KERNEL(Cell<D> face, int b) { return boundary.solids && !(boundary.open[b](face) > 0); };
    for (int a = 0; a < D; ++a) {
        const auto next = w.faces[a].view();
        const float near = 2 * static_cast<float>(w.grid.h);
        const int back = phi.next(a);
        parallel_for_faces("balance first layer", tiles, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = phi.index(c);
            next[i] = outside;
            if (known[a][i] || thin_walls.below(i, a) || (phi[i] > near && phi[i - back] > near) || closed(c, a)) return;
            Cell<D> below = c;
            --below[a];
            const bool upper = beside(c), lower = beside(below);
            if (upper == lower) return;
            const Cell<D> cell = upper ? c : below;
            float out = 0;
            int away = 0;
            for (int b = 0; b < D; ++b)
                for (int side = 0; side < 2; ++side) {
                    Cell<D> face = cell, other = cell;
                    face[b] += side;
                    other[b] += 2 * side - 1;
                    const bool shut = closed(face, b);
                    const float flow = shut ? boundary.closed_velocity(face, b) : old[b](face);
                    const float there = side ? flow : -flow;
                    // What flows towards a wall fills the air before it: it is the projection that turns water aside, once it is there.
                    const float towards = (side ? 1.0f : -1.0f) * old[b](moved<D>(cell, b, 1 - side));
                    const bool wall = shut || (boundary.at_wall(face, b) && !boundary.wall_open[b][side]);
                    out += wall && towards > there ? towards : there;
                    if (!known[b](face) && !thin_walls.below(phi.index(face), b) && !beside(other) && !shut) ++away;
                }
            next[i] = old[a][i] + (upper ? out : -out) / static_cast<float>(away);
        });
    }
    for (int a = 0; a < D; ++a) {
        const auto next = w.faces[a].view();
        const auto u = w.velocity[a].view();
        parallel_for_faces<true>("balance first layer", tiles, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = u.index(c);
            const float balanced = next[i], before = u[i];
            u[i] = is_outside(balanced) ? before : balanced;
        });
    }
}

// The velocity past the surface and inside solids at time t, as far as the next step looks.   [EMF02] §3.3.1, §3.3.3
template <int D>
void extend_velocity(Water<D>& w, const Scene& scene, const Boundary<D>& boundary, double t)
{
    const int layers = static_cast<int>(std::ceil(w.band / w.grid.h));
    const Tiles<D>& tiles = w.solids.any ? w.tiles_active : w.tiles_band;
    // Inside solids wet cells have faces that the pressure did not move.
    const Tiles<D>& unknown = w.solids.any ? w.tiles_active : w.tiles_dry;
    Field<D>& distance = w.solids.any ? w.to_water : w.phi;
    if (w.solids.any) {
        const auto d = distance.view();
        const auto phi = std::as_const(w.phi).view(), nodes = std::as_const(w.solids.distance).view();
        parallel_for("distance to water", tiles, [=] TARN_KERNEL(Cell<D> c) {
            const float solid = -nodes_at_cell<D>(nodes, c);
            d(c) = phi(c) > solid ? phi(c) : solid;
        });
    }
    for (int a = 0; a < D; ++a)
        extrapolate(w.velocity[a], w.known[a], a, distance, tiles, unknown, layers, w.faces[a],
                    thin_walls_of(w.solids, w.grid));
    close_thin_walls(w.velocity, w.solids, tiles);
    if (scene.params.method.extrapolation == Extrapolation::divergence_free) balance_first_layer(w, boundary, unknown);
    blow(w.velocity, w.known, w.phi, scene, tiles, t, w.faces);
    if (w.gaps) carry_to_separated_walls(w.velocity, w.phi, tiles);
    if (w.solids.any) slide_along_solids(w.velocity, w.solids, boundary, tiles, w.faces);
    if (w.octree.any()) join_levels(w);
}

// Separates the water from the walls that would have to pull at it, where x = p dt / (rho h). Returns whether there were
// any.
template <int D>
bool separate_from_walls(Water<D>& w, const Params& p, const Boundary<D>& boundary, const FrameForces& frame, double dt,
                         const Field<D>& x)
{
    Suction<D> suction;
    suction.frame = frame;
    suction.per_metre = dt / w.grid.h;
    const Vec<D> g = take<D>(suction.frame.gravity);
    // A tenth of a cell's weight, and what the solver leaves.
    suction.least = static_cast<float>(0.1 * dt * length(g) + 10 * p.pressure.tolerance * w.fastest - w.enclosed.lowest());
    suction.in_closed = w.projection.in_closed;
    const bool from_sides = separate_from_sides(w.phi, x, suction, boundary, w.band, w.tiles_active);
    const bool from_solids =
        w.solids.any && separate_from_solids(w.phi, x, suction, boundary, w.band, w.tiles_active, w.scratch[0]);
    w.gaps = w.gaps || from_sides;
    return from_sides || from_solids;
}

template <int D>
SolveReport apply_viscosity(Water<D>& w, const Params& p, const Boundary<D>& boundary, double dt)
{
    if (!(p.fluid.viscosity.constant() > 0)) return {};
    return diffuse(w.velocity, w.phi, Viscosity<D>{static_cast<float>(p.fluid.viscosity.constant())}, boundary, no_slip_of(w, p),
                   w.tiles_active, dt, 0.1 * p.pressure.tolerance,
                   ViscosityScratch<D>{w.faces, w.viscosity[0], w.viscosity[1], w.viscosity[2]});
}

// Spray flies and lands, and rain begins to fall; what they hold is part of no target volume. Returns what has landed.
template <int D>
std::vector<Landing<D>> move_spray(Water<D>& w, const Scene& scene, double dt)
{
    const Params& p = scene.params;
    const double cell = cell_volume(w.grid);
    const KernelShapes where = scene.wind.for_kernels(w.time);
    std::vector<Landing<D>> landings =
        fly(w.droplets, w.phi, w.targets, w.solids, boundary_of(w, p), p, wind_of(scene, where, w.time, w.grid.h),
            frame_forces(p, w.time, dt), dt, w.spraying);
    add_volume(w.phi, w.particles, landings, thin_walls_of(w.solids, w.grid), w.tiles_active, w.spraying);
    if (!landings.empty()) find_wet_tiles(w);
    for (const Landing<D>& l : landings) {
        if (l.body == 0) {
            // No more than there is, to round-off.
            w.volume_expected = std::max(0.0, w.volume_expected - cell * l.volume);
            continue;
        }
        w.targets.expected[static_cast<size_t>(l.body - 1)] += cell * l.volume;
        w.targets.actual[static_cast<size_t>(l.body - 1)] += cell * l.placed;
    }
    push(w.droplets, w.grid, scene, w.time, dt);
    w.volume_expected += rain(w.droplets, w.flows, scene, w.grid, w.exchange, w.time, dt);
    return landings;
}

// Moves the surface for dt and lets sources and sinks change it. Returns the volume that this brought: less than nothing where sinks and
// open sides take some.
template <int D>
double move_surface(Water<D>& w, const Scene& scene, double dt)
{
    const Params& p = scene.params;
    // What leaves does so with this velocity, from under the surface as it is.
    const Boundary<D> boundary = boundary_of(w, p);
    double gained = -outflow(w, boundary, dt);
    find_candidates(w, p.time.cfl);
    carry_surface(w, p, dt);
    // Particles that the grid has lost become spray, with the velocity that has carried them.
    take_up(w.droplets, w.particles, w.lost, w.velocity, w.targets, thin_walls_of(w.solids, w.grid),
            p.surface.spray ? 1.0 / p.surface.particles_per_cell : 0.0, dt, w.exchange.next_id, w.spraying);
    w.lost.count = 0;
    gained -= fill_and_drain(w.phi, &w.velocity, w.flows, w.solids, scene, w.scratch[0]);
    if (has_particles(p)) obey_flows(w.particles, w.phi, w.flows, w.solids, scene);
    if (w.solids.any) extend_into_solids(w.phi, w.solids, select(w.map, tile_candidate), w.band, true, w.scratch[0]);
    find_tiles(w);
    return gained;
}

// The target volume of every component goes with its water, and leaves with it.
template <int D>
void carry_targets(Water<D>& w, const Params& p, double dt)
{
    std::vector<double> gone;
    carry_bodies(w, p, dt, w.ends.any_open() ? &gone : nullptr);
    let_components_out(w, gone);
}

// Sources and sinks get the velocities and rates of this step, and what they bring, with what is gained so far, becomes part of the
// target volumes.
template <int D>
void pour(Water<D>& w, const Scene& scene, double gained, double dt)
{
    gained += set_rates(w.flows, w.phi, w.solids, scene, w.time, dt);
    gained += inlet_volume(w.flows, w.solids, dt);
    w.volume_expected += add_to_targets(w, gained);
}

// The regions of air that water and solids enclose now.
template <int D>
void find_enclosed_air(Water<D>& w, const Params& p, const Boundary<D>& boundary, double dt)
{
    if (!p.method.enclosed_air) return;
    const WetPart<D> wet = wet_part(w.phi, w.solids);
    // Water below a layer that is active is no air.
    TileMap<D> map = w.map;
    for (uint8_t& flags : map.flags)
        if (flags & tile_wet) flags |= tile_active;
    w.enclosed.find(w.enclosed_air, {w.phi, wet, w.velocity, w.targets.before, boundary, map, tile_active, tile_shallow, dt});
    w.enclosed.mark(w.enclosed_air, w.grid);
}

// The first solve starts from the pressure of water at rest below its highest cell's surface, so that a still pool is
// still from the first step on.
template <int D>
void start_hydrostatic(Water<D>& w, const Params& p)
{
    const Vec<D> g = take<D>(frame_forces(p, w.time, 0).gravity);
    const double strength = length(g), scale = p.fluid.density.constant() * strength;
    if (!(strength > 0)) return;
    // Heights are counted from below everything.
    const Grid<D> grid = w.grid;
    const double bottom = -length(grid.size()) - w.band;
    const auto phi = std::as_const(w.phi).view();
    const auto pressure = w.pressure.view();
    const View<D, const float> nodes = w.solids.any ? std::as_const(w.solids.distance).view() : View<D, const float>{};
    // Beside the surface and outside of solids phi is the distance of a plane.
    const double level = bottom + parallel_max("initial pressure", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
                             const double height = -dot(g, grid.centre(c)) / strength - static_cast<double>(phi(c));
                             const bool beside = phi(c) < 0 && static_cast<double>(phi(c)) > -grid.h;
                             const bool counts = beside && !(nodes.data && nodes_at_cell<D>(nodes, c) < 0);
                             return counts ? static_cast<float>(height - bottom) : 0.0f;
                         });
    parallel_for("initial pressure", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
        const double depth = phi(c) < 0 ? level + dot(g, grid.centre(c)) / strength : 0;
        pressure(c) = static_cast<float>(depth > 0 ? scale * depth : 0);
    });
    start_larger_cells_hydrostatic(w, g, p.fluid.density.constant(), level);
}

// A change of the velocity: from `start` on over dt, on the surface that there is at time t, before this moves for `move`.
struct Change {
    double t, start, dt, move;
};

// The projection with all that pushes the water: surface tension, sources, the volume correction, enclosed air, and walls
// that push and do not pull. Gaps at walls may close in the surface's next step, which is as long as its newest.
template <int D>
SolveReport make_divergence_free(Water<D>& w, const Scene& scene, const Boundary<D>& boundary, const Change& change,
                                 const free_surface::Stages<D>& stages)
{
    const Params& p = scene.params;
    const double dt = change.dt;
    ProjectionForces<D> forces;
    couple_bodies(forces, w, scene, dt);
    if (p.fluid.surface_tension.constant() > 0) forces.kappa = &w.kappa;
    if (!p.surface_pressure.empty()) {
        set_surface_pressure(w.surface_pressure, scene, w.tiles_active, change.t);
        forces.surface_pressure = &w.surface_pressure;
    }
    if (w.flows.any_rate) forces.volume_rate = &w.flows.volume_rate;
    forces.fastest = 0.25 * w.fastest;  // an impact may take most of the speed away within the step
    const auto divergence_source = w.divergence_source.view();
    parallel_for<true>("clear", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) { divergence_source(c) = 0; });
    forces.divergence_source = &w.divergence_source;
    if (p.method.enclosed_air) forces.air = &w.enclosed;
    if (p.surface.volume_correction) forces.correction_rate = -std::expm1(-4 * dt / falling_time(w.grid, p)) / dt;
    // Gaps that close, unless the scene asks for the papers' own gaps and walls.
    ClosingGaps<D> between;
    const bool closes = p.surface.close_gaps && p.method.wall_separation;
    const typename ClosingGaps<D>::Now closing_now{
        w.velocity, boundary, w.enclosed.any_marked() ? w.enclosed.marked() : View<D, const int>{}, w.tiles_active, change.move};
    bool separated = false;
    if (p.method.wall_separation) forces.separate = [&](const Field<D>& x) {
        if (between.separate(w.phi, w.divergence_source, w.projection.walls, x)) return true;
        const bool any = separate_from_walls(w, p, boundary, frame_forces(p, change.start, dt), dt, x);
        separated = separated || any;
        return any;
    };
    forces.gaps = w.gaps;
    if (p.method.wall_separation) forces.rejoin = [&](const Field<D>* x) {
        const bool closed = !x && closes && between.close(w.phi, w.divergence_source, w.projection.walls, closing_now);
        const bool sides = w.gaps && rejoin_sides(w.phi, x, w.projection.walls, boundary, change.move, w.tiles_active);
        const bool solids = w.solids.any && rejoin_solids(w.phi, x, w.velocity, boundary, change.move, w.divergence_source, w.band,
                                                          w.tiles_active, w.scratch[0]);
        if (closed || solids) find_wet_tiles(w);
        return sides || solids;
    };
    const auto open_again = [&] {
        if (between.restore(w.phi)) find_wet_tiles(w);
    };
    if (stages.project) {
        const SolveReport report = stages.project(w, forces, boundary, change.start, dt);
        open_again();
        return report;
    }
    LargerCells<D> larger = larger_cells(w);
    if (w.octree.any()) forces.larger = &larger;
    const SolveReport report =
        project(w.velocity, w.pressure, w.known, w.phi, forces, boundary, w.map, w.tiles_active, p.fluid, p.pressure, dt,
                w.projection, ProjectionScratch<D>{w.faces, w.scratch[0], w.scratch[1], w.scratch[2]});
    open_again();
    if (separated) find_tiles_again(w);
    return report;
}

// A surface that moves for dt with a velocity that then changes for dt keeps the energy of what falls and of waves where this
// velocity is that of the middle of the surface's step (leapfrog). So it is ahead of the surface by half a step, from the first
// one on. Where dt changes it comes back to that by changing for longer or shorter, but by no more than a tenth: water and its
// velocity must be carried about equally far.
// Without leapfrog the velocity changes for as long as the surface has moved.
inline double time_to_middle(const Params& p, double ahead, double dt)
{
    return p.method.leapfrog ? std::clamp(0.5 * dt - ahead, 0.9 * dt, 1.1 * dt) : dt;
}

// The surface and its particles move for dt, and what follows from where the surface is then. Returns the spray that has landed.
// [EMF02] §3.4, 2.
template <int D>
std::vector<Landing<D>> move_water(Water<D>& w, const Scene& scene, double dt, StepReport& report)
{
    const Stage stage(report.seconds_surface);
    const Params& p = scene.params;
    expect_velocity(w, p, dt);
    move_boundaries(w, scene, dt);
    const double gained = move_surface(w, scene, dt);
    carry_targets(w, p, dt);
    std::vector<Landing<D>> landings = move_spray(w, scene, dt);
    pour(w, scene, gained, dt);
    find_enclosed_air(w, p, boundary_of(w, p), dt);
    correct_volumes(w, p, dt);
    reseed_periodically(w, p, dt);
    find_curvature(w, p);
    move_vortices(w, scene, w.time, dt);
    return landings;
}

// u* = u(x - dt u): the convective term of (7), along the flow's paths, from linear values as in the paper; by MacCormack's scheme or CIP,
// which lose less of the motion, where the scene asks for it.   [EMF02] §3.3.2
template <int D>
void advect_velocity(Water<D>& w, const Scene& scene, const Change& change, StepReport& report, const free_surface::Stages<D>& stages)
{
    const Stage stage(report.seconds_advect);
    const Params& p = scene.params;
    const double dt = change.dt;
    Field<D>* const scratch[] = {&w.scratch[0], &w.scratch[1], &w.scratch[2]};
    advect_larger_cells(w, p.octree.advection, dt);
    if (stages.advect)
        stages.advect(w, dt);
    else if (is_cip(p.method.advection))
        self_advect_cip(w.velocity, w.velocity_gradient, w.faces, w.phi, w.tiles_active, dt, scratch, w.cip, sides_of(w.solids, w.grid));
    else
        self_advect(w.velocity, w.faces, w.phi, tiles_to_advect(w, p), dt, p.method.advection, scratch, sides_of(w.solids, w.grid));
}

// "This estimate is further augmented by the viscous and forcing terms": u* += dt (g + nu laplace u), and the momentum of spray that
// has landed.   [EMF02] §3.4, 3.
// Deviation: viscosity is solved for implicitly; the paper reduces it where it would limit dt.
template <int D>
void add_forces(Water<D>& w, const Scene& scene, const Boundary<D>& boundary, const std::vector<Landing<D>>& landings,
                const Change& change, StepReport& report)
{
    const Stage stage(report.seconds_advect);
    const Params& p = scene.params;
    push(w.velocity, w.phi, false, scene, w.tiles_active, change.start, change.dt);
    push_by_vortices(w, change.dt);
    add_gravity(w, frame_forces(p, change.start, change.dt), change.dt);
    push_larger_cells(w, scene, change.start, change.dt, frame_forces(p, change.start, change.dt).gravity);
    add_momentum(w.velocity, landings, w.phi, boundary);
    report.viscosity = apply_viscosity(w, p, boundary, change.dt);
}

// div(grad p / rho) = div u* / dt,  u = u* - dt grad p / rho, together with the bodies that float.   [EMF02] §3.4, 3.
template <int D>
void project_velocity(Water<D>& w, const Scene& scene, const Boundary<D>& boundary, const Change& change, StepReport& report,
                      const free_surface::Stages<D>& stages)
{
    const Stage stage(report.seconds_pressure);
    predict_bodies(w, scene, change.t, change.start, change.dt);
    report.pressure = make_divergence_free(w, scene, boundary, change, stages);
    touch(w, scene, change.t, change.dt, change.move);
}

// The velocity is extrapolated across the surface, and modified there.   [EMF02] §3.4, 1.
template <int D>
void extrapolate_velocity(Water<D>& w, const Scene& scene, const Boundary<D>& boundary, const Change& change, StepReport& report)
{
    const Stage stage(report.seconds_advect);
    extend_velocity(w, scene, boundary, change.t);
    if (is_cip(scene.params.method.advection))
        follow_velocity(w.velocity_gradient, w.velocity, CipNear<D>{&w.phi, 0}, w.tiles_active, w.cip);
}

// The velocity moves and feels its forces, becomes divergence free, and is carried past the surface, where the next step will
// look for it.
template <int D>
void change_velocity(Water<D>& w, const Scene& scene, const std::vector<Landing<D>>& landings, const Change& change,
                     StepReport& report, const free_surface::Stages<D>& stages)
{
    const Boundary<D> boundary = boundary_of(w, scene.params);
    advect_velocity(w, scene, change, report, stages);
    add_forces(w, scene, boundary, landings, change, report);
    project_velocity(w, scene, boundary, change, report, stages);
    extrapolate_velocity(w, scene, boundary, change, report);
    note_acceleration(w, scene.params, change.dt);
    w.ahead += change.dt;
}

// The velocity comes to the middle of the first step. Returns whether it could be solved for.
template <int D>
bool start_moving(Water<D>& w, const Scene& scene, double dt, StepReport& report, const free_surface::Stages<D>& stages)
{
    find_enclosed_air(w, scene.params, boundary_of(w, scene.params), 0);
    find_curvature(w, scene.params);
    expect_velocity(w, scene.params, 0.5 * dt);
    change_velocity(w, scene, {}, {w.time, w.time, 0.5 * dt, dt}, report, stages);
    return report.pressure.converged && report.viscosity.converged;
}

// What sources pressed into water that has no surface could not go anywhere, and has not been given.
template <int D>
void take_back_pressed(Water<D>& w, const Params& p, double dt, StepReport& report)
{
    const Pressed pressed = find_pressed(w, boundary_of(w, p));
    report.pressed = pressed.by_sources + pressed.by_solids;
    if (pressed.by_sources != 0) w.volume_expected += add_to_targets(w, -dt * pressed.by_sources);
}

}  // namespace

namespace free_surface {

template <int D>
Water<D> initial_water(const Scene& scene, const Stages<D>& stages)
{
    const Params& p = scene.params;
    Water<D> w = initial_surface<D>(scene);
    if (p.fluid.viscosity.constant() > 0)
        for (auto& field : w.viscosity) field = FaceField<D>(w.grid);
    if (p.fluid.surface_tension.constant() > 0) w.kappa = Field<D>(w.grid);
    if (!p.surface_pressure.empty()) w.surface_pressure = Field<D>(w.grid);
    w.projection = Projection<D>(w.grid);
    if (w.solids.any) w.to_water = distance_field(w.grid, static_cast<float>(w.band));
    set_initial_velocity(w.velocity, w.tiles_active, scene);
    if (w.octree.any()) start_larger_cells(w, scene);

    // The first step needs velocities past the surface, consistent with walls and solids.
    (void)set_rates(w.flows, w.phi, w.solids, scene, 0, 0);
    set_body_velocities(w);
    const Boundary<D> boundary = boundary_of(w, p);
    ProjectionForces<D> forces;
    if (w.flows.any_rate) forces.volume_rate = &w.flows.volume_rate;
    LargerCells<D> larger = larger_cells(w);
    if (w.octree.any()) forces.larger = &larger;
    if (stages.project)
        (void)stages.project(w, forces, boundary, 0, 1.0 / p.time.rate);
    else
        (void)project(w.velocity, w.pressure, w.known, w.phi, forces, boundary, w.map, w.tiles_active, p.fluid, p.pressure,
                      1.0 / p.time.rate, w.projection,
                      ProjectionScratch<D>{w.faces, w.scratch[0], w.scratch[1], w.scratch[2]});
    start_hydrostatic(w, p);
    start_frame(w, p);
    extend_velocity(w, scene, boundary, 0);
    if (is_cip(p.method.advection)) start_gradients(w);
    start_vortices(w, scene);
    w.fastest = fastest_face(w);
    return w;
}

// The three steps of [EMF02] §3.4, from the second one on.
// Deviation: the first one, the extrapolation, is the last thing that a step does: so the state between two steps has the velocity that
// its surface moves with, and dt is chosen from it.
template <int D>
StepReport step(Water<D>& w, const Scene& scene, double dt, const Stages<D>& stages)
{
    StepReport report;
    report.dt = dt;
    // Deviation: surface and velocity leap past each other by half a step each time, where the paper takes both to the same time: that
    // keeps the energy of what falls and of waves. In the first step the velocity gets ahead.
    if (w.step == 0 && scene.params.method.leapfrog && !start_moving(w, scene, dt, report, stages)) return report;

    // 2. "The water surface and marker particles are integrated forward in time ... with the appropriate corrections to phi."
    const std::vector<Landing<D>> landings = move_water(w, scene, dt, report);
    w.time += dt;
    w.ahead -= dt;
    ++w.step;

    // 3. "The velocity field is updated with equation 7", until the middle of the surface's next step; and
    // 1. "the current surface velocity is smoothly extrapolated across the surface into the air region".
    const Change change{w.time, w.time + w.ahead, time_to_middle(scene.params, w.ahead, dt), dt};
    change_velocity(w, scene, landings, change, report, stages);

    take_back_pressed(w, scene.params, dt, report);
    w.fastest = fastest_face(w);
    report.finite = std::isfinite(w.volume_expected) && std::isfinite(w.fastest);
    return report;
}

#define TARN_INSTANTIATE(D)                                           \
    template Water<D> initial_water(const Scene&, const Stages<D>&); \
    template StepReport step(Water<D>&, const Scene&, double, const Stages<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace free_surface

}  // namespace tarn
