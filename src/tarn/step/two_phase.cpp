#include "tarn/step/two_phase.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tarn/advect/advect.h"
#include "tarn/field/extrapolate.h"
#include "tarn/field/sample.h"
#include "tarn/phases/two_fluids.h"
#include "tarn/phases/water_velocity.h"
#include "tarn/pressure/project_phases.h"
#include "tarn/scene/forces.h"
#include "tarn/scene/place_solids.h"
#include "tarn/scene/rain.h"
#include "tarn/step/bodies.h"
#include "tarn/step/boundary.h"
#include "tarn/step/frame.h"
#include "tarn/step/surface.h"
#include "tarn/step/two_phase_droplets.h"

namespace tarn::two_phase {

namespace {

bool viscous(const Params& p) { return p.fluid.viscosity.constant() > 0 || p.air.viscosity.constant() > 0; }

}  // namespace

template <int D>
void extend_into_solids(Water<D>& w, const Boundary<D>& boundary)
{
    if (!w.solids.any) return;
    const auto d = w.to_water.view();
    const auto nodes = std::as_const(w.solids.distance).view();
    parallel_for("distance to fluid", w.tiles_active,
                 [=] TARN_KERNEL(Cell<D> c) { d(c) = -nodes_at_cell<D>(nodes, c); });
    const int layers = static_cast<int>(std::ceil(w.band / w.grid.h));
    for (int a = 0; a < D; ++a)
        extrapolate(w.velocity[a], w.known[a], a, w.to_water, w.tiles_active, w.tiles_active, layers, w.faces[a],
                    thin_walls_of(w.solids, w.grid));
    close_thin_walls(w.velocity, w.solids, w.tiles_active);
    slide_along_solids(w.velocity, w.solids, boundary, w.tiles_active, w.faces);
}

namespace {

// Air that passes through a narrow gap at a solid fills the wider face behind it, and is slower there. Deviation from
// [SSK05]: it is carried on at that speed. At the speed that it has in the gap, light as it is, it would bring heavy
// water more than it had, and get more back.
template <int D>
void widen_jets(Water<D>& w, const Params& p, const Boundary<D>& boundary)
{
    if (!boundary.solids) return;
    const bool gradient = w.velocity_gradient[0].any();
    const float half = static_cast<float>(0.5 * p.fluid.density.constant());
    for (int a = 0; a < D; ++a) {
        if (gradient) w.cip.moved[a].copy(w.velocity[a]);
        const auto u = w.velocity[a].view();
        const auto density = std::as_const(w.density)[a].view();
        const int last = boundary.cells[a];
        parallel_for_faces("widen jets", w.tiles_active, a, [=] TARN_KERNEL(Cell<D> c) {
            const float open = boundary.open[a](c);
            if (!(open > 0) || c[a] == 0 || c[a] == last || density(c) > half) return;
            const float before = boundary.open[a](moved<D>(c, a, -1)), after = boundary.open[a](moved<D>(c, a, 1));
            const float wide = before > after ? before : after;
            if (!(open < wide)) return;
            const float solid = boundary.closed_velocity(c, a);
            u(c) = solid + open / wide * (u(c) - solid);
        });
    }
    if (gradient) follow_velocity(w.velocity_gradient, w.velocity, near_water(w, p), w.tiles_active, w.cip);
}

// Surface and velocity leap past each other: the surface moves for dt with a velocity that then changes for dt. This is
// of second order, and keeps the energy of waves, where the velocity is that of the middle of the surface's step: its
// newest change must have lasted for half of the step before and half of this one (leapfrog). Where dt changes it has
// not, and each change in time with a wave would pump it:   u += (dt - dt before) / 2 du/dt.
template <int D>
void centre_in_time(Water<D>& w, const Params& p, double dt)
{
    const bool gradient = w.velocity_gradient[0].any();
    // By no more than half of the newest change. The first step knows what gravity does at the start.
    const float by = static_cast<float>(w.step > 0 ? std::min(0.5 * dt - w.ahead, w.ahead) : 0.5 * dt);
    const bool moves = p.method.leapfrog && by != 0;
    for (int a = 0; a < D; ++a) {
        const auto u = w.velocity[a].view(), rate = w.acceleration[a].view();
        if (moves && gradient) w.cip.moved[a].copy(w.velocity[a]);
        parallel_for_faces<true>("centre", w.tiles_active, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = u.index(c);
            const float now = u[i] + (moves ? by : 0.0f) * rate[i];
            u[i] = now;
            rate[i] = now;  // until the end of the step
        });
    }
    if (moves && gradient) follow_velocity(w.velocity_gradient, w.velocity, near_water(w, p), w.tiles_active, w.cip);
}

// Faces that the surface has passed went from one phase's velocity to the other's, which is no acceleration.
template <int D>
void find_acceleration(Water<D>& w, const Params& p, double dt)
{
    const auto before = std::as_const(w.phases.phi).view(), now = std::as_const(w.phi).view();
    const float share = static_cast<float>(1 / dt);
    for (int a = 0; a < D; ++a) {
        const auto rate = w.acceleration[a].view();
        const auto u = std::as_const(w.velocity)[a].view();
        const int n = now.next(a);
        parallel_for_faces<true>("acceleration", w.tiles_active, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = u.index(c);
            const float was = before[i] + before[i - n], is = now[i] + now[i - n], change = u[i] - rate[i];
            rate[i] = (was > 0 ? 1.0f : -1.0f) * (is > 0 ? 1.0f : -1.0f) > 0 ? share * change : 0.0f;
        });
    }
    w.ahead = p.method.leapfrog ? 0.5 * dt : 0;
}

// u* = advect(u), one velocity wherever something flows.   [SSK05] §3
template <int D>
void advect_one_velocity(Water<D>& w, const Params& p, double dt)
{
    Field<D>* const scratch[] = {&w.scratch[0], &w.scratch[1], &w.scratch[2]};
    const Sides<D> sides = sides_of(w.solids, w.grid);
    if (!is_cip(p.method.advection))
        return self_advect(w.velocity, w.faces, w.fluid, w.tiles_active, dt, p.method.advection, scratch, sides);
    if (!sides.any()) {
        trace_paths(w.path, w.velocity, w.tiles_active, dt);
        find_deformation(w.cip, w.velocity, w.tiles_active);
    }
    self_advect_cip(w.velocity, w.velocity_gradient, w.faces, w.fluid, w.tiles_active, dt, scratch, w.cip, sides, near_water(w, p),
                    &w.path);
}

// u* = advect(u), each phase's own velocity by itself. `around` holds the surface at the start of the step: only there do they differ.
template <int D>
void advect_velocity(Water<D>& w, const Params& p, const Boundary<D>& boundary, const Tiles<D>& around, double dt, StepReport& report)
{
    const Stage stage(report.seconds_advect);
    if (!p.method.phase_velocities) return advect_one_velocity(w, p, dt);
    widen_jets(w, p, boundary);
    Field<D>* const scratch[] = {&w.scratch[0], &w.scratch[1], &w.scratch[2]};
    const Sides<D> sides = sides_of(w.solids, w.grid);
    const CutFaces<D> cut = cut_faces(w, p, w.time + dt);
    part_velocities(w.velocity, w.velocity_gradient, w.phases, w.known, w.faces, w.cip.moved,
                    cut, thin_walls_of(w.solids, w.grid), around);
    weigh_extensions(w.velocity, w.velocity_gradient, w.phases, p, cut, around);
    for (const bool water : {true, false}) {
        FaceField<D>& u = water ? w.velocity : w.phases.air;
        auto& gradient = water ? w.velocity_gradient : w.phases.air_gradient;
        find_carried(w.phases, w.phi, water, w.tiles_active);
        if (is_cip(p.method.advection)) {
            // Away from the surface the paths are known.
            if (!sides.any()) {
                retrace_paths(w.path, u, w.phi, w.band, w.tiles_active, dt);
                find_deformation(w.cip, u, w.tiles_active);
            }
            self_advect_cip(u, gradient, w.faces, w.phases.carried, w.tiles_active, dt, scratch, w.cip, sides,
                            near_water(w, p), &w.path);
        } else {
            self_advect(u, w.faces, w.phases.carried, w.tiles_active, dt, p.method.advection, scratch, sides);
        }
    }
    join_velocities(w.velocity, w.velocity_gradient, w.phases, w.phi, p, cut, w.tiles_active);
    for (int a = 0; a < D && w.velocity_gradient[0].any(); ++a) w.cip.moved[a].copy(w.velocity[a]);
}

template <int D>
void find_all_tiles(Water<D>& w)
{
    for (uint8_t& flags : w.map.flags) flags |= tile_candidate;
    find_tiles(w);
}

// The surface moves at once, wherever there is water or air, along paths that are traced once: what that loses becomes droplets and
// bubbles.   [SSK05] §5
template <int D>
SurfaceMotion<D> plan_motion(Water<D>& w, const Params& p, double dt)
{
    SurfaceMotion<D> motion{.dt = dt, .around = w.tiles_active, .sides = sides_of(w.solids, w.grid), .ends = w.ends, .path = &w.path};
    const bool cip = is_cip(p.surface.advection), swept = motion.sides.any() && w.solids.moving;
    motion.first = cip && !swept ? motion.around : select(w.map, tile_candidate);
    motion.ends.reach = w.fastest * dt / w.grid.h + 1;
    motion.air.everywhere = true;
    motion.escape = escape_of(p);
    motion.air.enclosed = w.enclosed.marked();
    if (cip || is_cip(p.method.advection)) find_deformation(w.cip, w.velocity, motion.around);
    trace_paths(w.path, w.velocity, motion.around, dt);
    return motion;
}

// Before phi moves: where volume is carried, it is carried; else cells that nothing will come from are found, which phi will lose.
template <int D>
std::vector<Lost<D>> foresee_losses(Water<D>& w, const Params& p, double dt)
{
    if (w.volume_error.size() > 0)
        carry_volume(w.carried, w.volume_error, wet_part(w.phi, w.solids), w.velocity, w.path, boundary_of(w, p), w.tiles_active, dt);
    // In shorter steps every cell is referred to. What is not, carried volume tells of.
    else if (p.surface.spray && w.fastest * dt > w.grid.h)
        return find_never_referred(w.phi, w.velocity, w.path, wet_part(w.phi, w.solids), w.tiles_active, dt, w.fragmenting,
                                   p.droplets.unreferenced == Unreferenced::all);
    return {};
}

// After it has moved, and before it is a distance again: what is isolated is lost, too.   [SSK05] §5.1
template <int D>
void take_losses(Water<D>& w, const Params& p, std::vector<Lost<D>>& lost)
{
    if (!p.surface.spray) return;
    keep_out_of_place(lost, w.phi);
    const std::vector<Lost<D>> isolated = take_isolated(w.phi, has_particles(p) ? &w.particles : nullptr, w.velocity,
                                                        wet_part(w.phi, w.solids), w.tiles_active, w.fragmenting);
    lost.insert(lost.end(), isolated.begin(), isolated.end());
    if (w.volume_error.size() > 0) take_from(w.carried.held, lost);
}

// The surface moves, no faster than the fastest water, and sources and sinks change it. Returns the volume that this brought: less than
// nothing where sinks and open sides take some. What the grid lost is to become droplets.
template <int D>
double move_surface(Water<D>& w, const Scene& scene, double dt, std::vector<Lost<D>>& lost)
{
    const Params& p = scene.params;
    const Boundary<D> boundary = boundary_of(w, p);
    if (p.method.phase_velocities)
        hold_to_water(w.velocity, w.phases, w.tiles_active);
    else
        for (int a = 0; a < D; ++a) w.phases.air[a].copy(w.velocity[a]);
    double gained = -outflow(w, boundary, dt);
    for (uint8_t& flags : w.map.flags) flags |= tile_candidate;
    const SurfaceMotion<D> motion = plan_motion(w, p, dt);
    lost = foresee_losses(w, p, dt);
    advect_particles(w, p, motion);
    advect_phi(w, p, motion, motion.first);
    correct_phi(w, p, motion);
    take_losses(w, p, lost);
    smooth_phi(w, p, motion, w.band);
    w.velocity.swap(w.phases.air);
    if (w.volume_error.size() > 0) find_volume_error(w.volume_error, wet_part(w.phi, w.solids), w.tiles_active, w.carried);
    w.lost.count = 0;
    gained -= fill_and_drain(w.phi, &w.velocity, w.flows, w.solids, scene, w.scratch[0]);
    if (has_particles(p)) obey_flows(w.particles, w.phi, w.flows, w.solids, scene);
    if (w.solids.any) tarn::extend_into_solids(w.phi, w.solids, w.tiles_active, w.band, false, w.scratch[0]);
    find_all_tiles(w);
    return gained;
}

// Density, viscosity and curvature where the surface is now.
template <int D>
void find_properties(Water<D>& w, const Params& p, double t)
{
    find_density(w.density, w.phi, p, cut_faces(w, p, t), w.tiles_active);
    if (viscous(p)) find_viscosity(w.mu, w.phi, p, w.tiles_active);
    find_curvature(w, p);
}

template <int D>
SolveReport apply_viscosity(Water<D>& w, const Params& p, const Boundary<D>& boundary, double dt)
{
    if (!viscous(p)) return {};
    Viscosity<D> viscosity;
    viscosity.varying = std::as_const(w.mu).view();
    viscosity.density = std::as_const(w.density).view();
    return diffuse(w.velocity, w.fluid, viscosity, boundary, no_slip_of(w, p), w.tiles_active, dt,
                   0.1 * p.pressure.tolerance,
                   ViscosityScratch<D>{w.faces, w.viscosity[0], w.viscosity[1], w.viscosity[2]});
}

template <int D>
SolveReport project_all(Water<D>& w, const Params& p, const Boundary<D>& boundary, double dt,
                        ProjectionForces<D> forces = {})
{
    if (w.flows.any_rate) forces.volume_rate = &w.flows.volume_rate;
    return project_phases(w.velocity, w.pressure, w.known, w.density, forces, boundary, w.tiles_active, p.fluid,
                          p.pressure, dt, w.projection,
                          ProjectionScratch<D>{w.faces, w.scratch[0], w.scratch[1], w.scratch[2]});
}

// The first solve starts from the pressure of water and air at rest, so that a still pool is still from the first step
// on: gravity alone is projected again and again, which each time takes off most of what is left. What it leaves of
// gravity is the acceleration at the start.
template <int D>
void start_hydrostatic(Water<D>& w, const Params& p, const Boundary<D>& boundary)
{
    const double dt = 1 / p.time.rate;
    FaceField<D> own(w.grid);
    own.swap(w.velocity);
    w.pressure.fill(0);
    for (int n = 0; n < 4; ++n) {
        w.velocity.fill(0);
        add_gravity(w, frame_forces(p, 0, 0), dt);
        (void)project_all(w, p, boundary, dt);
    }
    const float share = static_cast<float>(1 / dt);
    for (int a = 0; a < D; ++a) {
        const auto rate = w.acceleration[a].view();
        const auto u = std::as_const(w.velocity)[a].view();
        parallel_for_faces<true>("acceleration", w.tiles_active, a,
                                 [=] TARN_KERNEL(Cell<D> c) { rate(c) = share * u(c); });
    }
    own.swap(w.velocity);
}

// The step begins with what the one before left, for comparison with what this one makes of it, and the velocity comes to the middle of
// the step. Returns the tiles around the surface, before it moves.
template <int D>
Tiles<D> begin(Water<D>& w, const Params& p, double dt, StepReport& report)
{
    const Stage stage(report.seconds_surface);
    find_all_tiles(w);  // the volume correction has changed phi since they were found
    const Tiles<D> around = w.tiles_band;
    w.phases.phi.copy(w.phi);
    expect_velocity(w, p, dt);
    centre_in_time(w, p, dt);
    return around;
}

// The level set moves, and droplets and bubbles do. The grid takes back those that have arrived: before the velocity is projected, as
// what they do to it is not free of divergence. Density and viscosity follow. Returns what was taken back.   [SSK05] §5
template <int D>
std::vector<Lost<D>> move_interface(Water<D>& w, const Scene& scene, double dt, StepReport& report,
                                    const std::function<void(StepPart)>& after)
{
    const Stage stage(report.seconds_surface);
    const Params& p = scene.params;
    move_boundaries(w, scene, dt);
    std::vector<Lost<D>> lost;
    double gained = move_surface(w, scene, dt, lost);
    if (after) after(StepPart::surface);
    gained += set_rates(w.flows, w.phi, w.solids, scene, w.time, dt);
    gained += inlet_volume(w.flows, w.solids, dt);
    std::vector<Lost<D>> returned;
    if (!p.droplets.after_projection) returned = exchange_fragments(w, p, boundary_of(w, p), dt);
    w.volume_expected += rain(w.droplets, w.flows, scene, w.grid, w.exchange, w.time, dt);
    follow_volume(w);
    if (!returned.empty() || w.volume_error.size() > 0) find_all_tiles(w);
    book_components(w, p, lost, returned, dt);
    w.volume_expected += add_to_targets(w, gained);
    correct_volumes(w, p, dt);
    reseed_periodically(w, p, dt);
    find_properties(w, p, w.time + dt);
    return returned;
}

// u* += dt f / rho: the momentum that droplets brought, forces, gravity, viscosity, implicitly, and surface tension.
template <int D>
void add_forces(Water<D>& w, const Scene& scene, const Boundary<D>& boundary, const std::vector<Lost<D>>& returned, double dt,
                StepReport& report)
{
    const Stage stage(report.seconds_advect);
    const Params& p = scene.params;
    add_momentum(w.velocity, returned, w.density, p);
    push(w.velocity, w.phi, true, scene, w.tiles_active, w.time, dt);
    push(w.droplets, w.grid, scene, w.time, dt);
    add_gravity(w, frame_forces(p, w.time, dt), dt);
    report.viscosity = apply_viscosity(w, p, boundary, dt);
    // Last, as the pressure balances most of it: what viscosity spread to other faces, it could not.
    if (p.fluid.surface_tension.constant() > 0) add_surface_tension(w.velocity, w.phi, w.kappa, w.density, p, w.tiles_band, dt);
}

// div(grad p / rho) = div u* / dt  (10),  u = u* - dt grad p / rho  (13), together with the bodies that float.
template <int D>
void project_velocity(Water<D>& w, const Scene& scene, const Boundary<D>& boundary, double dt, StepReport& report)
{
    const Stage stage(report.seconds_pressure);
    predict_bodies(w, scene, w.time + dt, w.time, dt);
    ProjectionForces<D> forces;
    couple_bodies(forces, w, scene, dt);
    report.pressure = project_all(w, scene.params, boundary, dt, std::move(forces));
    touch(w, scene, w.time + dt, dt, dt);
}

// As in [SSK05], whose third step simulates droplets and bubbles: what the grid takes back brings its momentum at once, and what
// of that is not free of divergence the next projection takes off.
template <int D>
void exchange_after_projection(Water<D>& w, const Params& p, const Boundary<D>& boundary, double dt, StepReport& report)
{
    if (!p.droplets.after_projection) return;
    const Stage stage(report.seconds_surface);
    std::vector<Lost<D>> returned = exchange_fragments(w, p, boundary, dt);
    if (returned.empty()) return;
    follow_volume(w);
    book_returned(w, returned);
    const bool gradient = w.velocity_gradient[0].any();
    for (int a = 0; a < D && gradient; ++a) w.cip.moved[a].copy(w.velocity[a]);
    find_density(w.density, w.phi, p, cut_faces(w, p, w.time + dt), w.tiles_active);
    add_momentum(w.velocity, returned, w.density, p);
    if (gradient) follow_velocity(w.velocity_gradient, w.velocity, near_water(w, p), w.tiles_active, w.cip);
}

// Inside solids the velocity goes on, and its gradients and its acceleration over the step follow.
template <int D>
void extend_velocity(Water<D>& w, const Params& p, const Boundary<D>& boundary, double dt, StepReport& report)
{
    const Stage stage(report.seconds_advect);
    extend_into_solids(w, boundary);
    if (is_cip(p.method.advection))
        follow_velocity(w.velocity_gradient, w.velocity, near_water(w, p), w.tiles_active, w.cip);
    find_acceleration(w, p, dt);
}

}  // namespace

template <int D>
double fastest_near_water(const Water<D>& w)
{
    const auto u = w.velocity.view();
    const auto phi = w.phi.view();
    const float near = 2 * static_cast<float>(w.grid.h);
    return parallel_max("fastest", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
        float most = 0, sum = 0;
        const int i = phi.index(c);
        for (int a = 0; a < D; ++a) {
            const float lower = std::fabs(u[a][i]), upper = std::fabs(u[a][i + phi.next(a)]);
            const float faster = lower > upper ? lower : upper;
            most = faster > most ? faster : most;
            sum += lower + upper;
        }
        // What is not a number anywhere comes through.
        return (phi[i] < near ? most : 0.0f) + (sum - sum);
    });
}

template <int D>
Water<D> initial_water(const Scene& scene)
{
    const Params& p = scene.params;
    Water<D> w = initial_surface<D>(scene);
    // There is some water without a cell's centre in it, which is of no component.
    const double volume = water_volume(w);
    share_out(w.targets, volume - w.volume_expected);
    w.volume_expected = volume;
    w.fluid = Field<D>(w.grid);
    w.fluid.fill(-1);
    w.density = FaceField<D>(w.grid);
    w.path = FaceField<D>(w.grid);
    w.acceleration = FaceField<D>(w.grid);
    w.phases = PhaseVelocities<D>(w.grid, is_cip(p.method.advection));
    if (viscous(p)) {
        w.mu = Field<D>(w.grid);
        for (auto& field : w.viscosity) field = FaceField<D>(w.grid);
    }
    if (p.fluid.surface_tension.constant() > 0) w.kappa = Field<D>(w.grid);
    if (p.surface.carry_volume) {
        w.volume_error = Field<D>(w.grid);
        w.carried = CarriedVolume<D>(w.grid);
    }
    w.projection = projection_with_air(w.grid, p.method.interface);
    if (w.solids.any) w.to_water = distance_field(w.grid, static_cast<float>(w.band));
    set_initial_velocity(w.velocity, w.tiles_active, scene);

    // Water that moves at the start takes the air around it along.
    (void)set_rates(w.flows, w.phi, w.solids, scene, 0, 0);
    const Boundary<D> boundary = boundary_of(w, p);
    find_density(w.density, w.phi, p, cut_faces(w, p, 0), w.tiles_active);
    (void)project_all(w, p, boundary, 1.0 / p.time.rate);
    start_frame(w, p);
    start_hydrostatic(w, p, boundary);
    set_body_velocities(w);
    extend_into_solids(w, boundary);
    if (is_cip(p.method.advection)) start_gradients(w);
    w.fastest = fastest_near_water(w);
    return w;
}

// The steps of [SSK05] §3, in their order.
template <int D>
StepReport step(Water<D>& w, const Scene& scene, double dt, const std::function<void(StepPart)>& after)
{
    const Params& p = scene.params;
    const auto done = [&](StepPart part) {
        if (after) after(part);
    };
    StepReport report;
    report.dt = dt;

    // Deviation: surface and velocity leap past each other, which keeps the energy of waves: the velocity comes to the middle of the step.
    const Tiles<D> around = begin(w, p, dt, report);

    // 1. The level set moves, and what the grid cannot hold becomes droplets and bubbles, or comes back from them (§5).
    const std::vector<Lost<D>> returned = move_interface(w, scene, dt, report, after);
    done(StepPart::droplets);

    // 2. The velocity moves and feels its forces: u* = advect(u) + dt f / rho.
    const Boundary<D> boundary = boundary_of(w, p);
    advect_velocity(w, p, boundary, around, dt, report);
    done(StepPart::advection);
    add_forces(w, scene, boundary, returned, dt, report);
    done(StepPart::forces);

    // 3. It becomes divergence free: div(grad p / rho) = div u* / dt  (10),  u = u* - dt grad p / rho  (13).
    project_velocity(w, scene, boundary, dt, report);
    extend_velocity(w, p, boundary, dt, report);
    exchange_after_projection(w, p, boundary, dt, report);
    done(StepPart::projection);

    w.time += dt;
    ++w.step;
    w.fastest = fastest_near_water(w);
    report.finite = std::isfinite(w.volume_expected) && std::isfinite(w.fastest);
    return report;
}

#define TARN_INSTANTIATE(D)                                                                                  \
    template Water<D> initial_water(const Scene&);                                                           \
    template StepReport step(Water<D>&, const Scene&, double, const std::function<void(StepPart)>&);         \
    template double fastest_near_water(const Water<D>&);                                                     \
    template void extend_into_solids(Water<D>&, const Boundary<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn::two_phase
