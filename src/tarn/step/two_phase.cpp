#include "tarn/step/two_phase.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tarn/advect/advect.h"
#include "tarn/field/extrapolate.h"
#include "tarn/field/sample.h"
#include "tarn/phases/component_volumes.h"
#include "tarn/phases/two_fluids.h"
#include "tarn/pressure/project_phases.h"
#include "tarn/scene/forces.h"
#include "tarn/scene/place_solids.h"
#include "tarn/scene/rain.h"
#include "tarn/step/bodies.h"
#include "tarn/step/boundary.h"
#include "tarn/step/frame.h"
#include "tarn/step/surface.h"

namespace tarn::two_phase {

namespace {

bool viscous(const Params& p) { return p.fluid.viscosity.constant() > 0 || p.air.viscosity.constant() > 0; }

// The water and the air around it, which CIP carries. Deviation: farther air is carried linearly, which saves half the
// time; what detail it has nobody sees.
template <int D>
CipNear<D> near_water(const Water<D>& w)
{
    return {&w.phi, 0.99 * w.band};
}

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
                    sheets_of(w.solids, w.grid));
    close_sheets(w.velocity, w.solids, w.tiles_active);
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
    if (gradient) follow_velocity(w.velocity_gradient, w.velocity, near_water(w), w.tiles_active, w.cip);
}

// Surface and velocity leap past each other: the surface moves for dt with a velocity that then changes for dt. This is
// of second order, and keeps the energy of waves, where the velocity is that of the middle of the surface's step: its
// newest change must have lasted for half of the step before and half of this one (leapfrog). Where dt changes it has
// not, and each change in time with a wave would pump it:   u += (dt - dt before) / 2 du/dt.
template <int D>
void centre_in_time(Water<D>& w, double dt)
{
    const bool gradient = w.velocity_gradient[0].any();
    // By no more than half of the newest change. The first step knows what gravity does at the start.
    const float by = static_cast<float>(w.step > 0 ? std::min(0.5 * dt - w.ahead, w.ahead) : 0.5 * dt);
    const bool moves = by != 0;
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
    if (moves && gradient) follow_velocity(w.velocity_gradient, w.velocity, near_water(w), w.tiles_active, w.cip);
}

// Faces that the surface has passed went from one phase's velocity to the other's, which is no acceleration.
template <int D>
void find_acceleration(Water<D>& w, double dt)
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
    w.ahead = 0.5 * dt;
}

// What a phase may not take from the other is in proportion to the difference of their densities: of equal ones each
// face's velocity is that of both. So extended velocities count with the Atwood number, |rho_water - rho_air| over the
// sum, and what was there before with the rest.
template <int D>
void weigh_extensions(Water<D>& w, const Params& p, const Tiles<D>& tiles)
{
    const double water = p.fluid.density.constant(), air = p.air.density.constant();
    const float rest = static_cast<float>(1 - std::fabs(water - air) / (water + air));
    const bool gradients = w.velocity_gradient[0].any();
    const auto phi = std::as_const(w.phases.phi).view();
    for (int a = 0; a < D; ++a) {
        const auto of_water = w.velocity[a].view(), of_air = w.phases.air[a].view();
        const FaceView<D> g_water = gradients ? w.velocity_gradient[a].view() : FaceView<D>{};
        const FaceView<D> g_air = gradients ? w.phases.air_gradient[a].view() : FaceView<D>{};
        const int n = phi.next(a), last = w.grid.cells[a];
        parallel_for_faces("phase velocities", tiles, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = phi.index(c);
            const float lower = c[a] > 0 ? phi[i - n] : phi[i], upper = c[a] < last ? phi[i] : phi[i - n];
            const bool wet = lower + upper <= 0;
            const float own = wet ? of_water[i] : of_air[i], extended = wet ? of_air[i] : of_water[i];
            (wet ? of_air : of_water)[i] = extended + rest * (own - extended);
            for (int b = 0; b < D && gradients; ++b) {
                const float g_own = wet ? g_water[b][i] : g_air[b][i], g = wet ? g_air[b][i] : g_water[b][i];
                (wet ? g_air : g_water)[b][i] = g + rest * (g_own - g);
            }
        });
    }
}

// Velocities move, each phase's by itself. `around` holds the surface at the start of the step: only there do they
// differ.
template <int D>
void advect_velocities(Water<D>& w, const Params& p, const Tiles<D>& around, double dt)
{
    Field<D>* const scratch[] = {&w.scratch[0], &w.scratch[1], &w.scratch[2]};
    const Sides<D> sides = sides_of(w.solids, w.grid);
    part_velocities(w.velocity, w.velocity_gradient, w.phases, w.known, w.faces, w.cip.moved,
                    sheets_of(w.solids, w.grid), around);
    weigh_extensions(w, p, around);
    for (const bool water : {true, false}) {
        FaceField<D>& u = water ? w.velocity : w.phases.air;
        auto& gradient = water ? w.velocity_gradient : w.phases.air_gradient;
        find_carried(w.phases, w.phi, water, w.tiles_active);
        if (p.method.advection == Advection::cip) {
            // Away from the surface the paths are known.
            if (!sides.any()) {
                retrace_paths(w.path, u, w.phi, w.band, w.tiles_active, dt);
                find_deformation(w.cip, u, w.tiles_active);
            }
            self_advect_cip(u, gradient, w.faces, w.phases.carried, w.tiles_active, dt, scratch, w.cip, sides,
                            near_water(w), &w.path);
        } else {
            self_advect(u, w.faces, w.phases.carried, w.tiles_active, dt, p.method.advection, scratch, sides);
        }
    }
    join_velocities(w.velocity, w.velocity_gradient, w.phases, w.phi, p, w.tiles_active);
    for (int a = 0; a < D && w.velocity_gradient[0].any(); ++a) w.cip.moved[a].copy(w.velocity[a]);
}

// How much water there should be more than there is. The grid shows bubbles as water, and droplets as air.
template <int D>
double missing_volume(const Water<D>& w, const Params& p)
{
    const FragmentTotals apart = totals(w.fragments, w.grid, p);
    return w.volume_expected - apart.volume_droplets + apart.volume_bubbles - water_volume(w);
}

template <int D>
void find_all_tiles(Water<D>& w)
{
    for (uint8_t& flags : w.map.flags) flags |= tile_candidate;
    find_tiles(w);
}

// The surface moves. Returns the volume that sinks took. What the grid lost is to become fragments.
template <int D>
double move_surface(Water<D>& w, const Scene& scene, double dt, std::vector<Lost<D>>& lost)
{
    const Params& p = scene.params;
    for (uint8_t& flags : w.map.flags) flags |= tile_candidate;
    const bool carried = w.debt.size() > 0;
    SubstepHooks hooks;
    if (p.surface.spray || carried) {
        hooks.before = [&](double substep) {
            if (carried)
                carry_volume(w.carried, w.debt, wet_part(w.phi, w.solids), w.velocity, w.path, boundary_of(w, p),
                             w.tiles_active, substep);
            // In shorter steps every cell is referred to. What is not, carried volume tells of.
            else if (w.fastest * substep > w.grid.h)
                lost = find_never_referred(w.phi, w.velocity, w.path, wet_part(w.phi, w.solids), w.tiles_active,
                                           substep, w.fragmenting);
        };
        hooks.after = [&](double) {
            if (!p.surface.spray) return;
            keep_out_of_place(lost, w.phi);
            const std::vector<Lost<D>> isolated = take_isolated(w.phi, has_particles(p) ? &w.particles : nullptr, w.velocity,
                                                                wet_part(w.phi, w.solids), w.tiles_active, w.fragmenting);
            lost.insert(lost.end(), isolated.begin(), isolated.end());
            if (carried) take_from(w.carried.held, lost);
        };
    }
    carry_surface(w, p, dt, hooks);
    if (carried) find_debt(w.debt, wet_part(w.phi, w.solids), w.tiles_active, w.carried);
    w.lost.count = 0;
    const double taken = fill_and_drain(w.phi, &w.velocity, w.flows, w.solids, scene, w.scratch[0]);
    if (has_particles(p)) obey_flows(w.particles, w.phi, w.flows, w.solids, scene);
    if (w.solids.any) tarn::extend_into_solids(w.phi, w.solids, w.tiles_active, w.band, false, w.scratch[0]);
    find_all_tiles(w);
    return taken;
}

// Droplets and bubbles move for dt with what the newest step left; phi and velocity change where they push the grid and
// where it takes them back, and the gradients follow. Returns those that it took back.
template <int D>
std::vector<Lost<D>> exchange_fragments(Water<D>& w, const Params& p, const Boundary<D>& boundary, double dt)
{
    std::vector<Lost<D>> returned;
    if (w.fragments.count() == 0) return returned;
    const bool phi_gradient = w.phi_gradient.any(), velocity_gradient = w.velocity_gradient[0].any();
    if (phi_gradient) w.cip.moved_phi.copy(w.phi);
    for (int a = 0; a < D && velocity_gradient; ++a) w.cip.moved[a].copy(w.velocity[a]);
    const bool carried = w.debt.size() > 0;
    const double missing = carried ? missing_volume(w, p) : 0;
    if (carried) note_volume(w.carried, wet_part(w.phi, w.solids), w.tiles_active);
    const double left = move_fragments(w.fragments, w.phi, w.velocity, w.pressure, w.density, boundary, p,
                                       frame_forces(p, w.time, dt), dt, w.exchange, returned);
    w.volume_expected = std::max(0.0, w.volume_expected - left);  // fragments' volumes are rounded
    if (has_particles(p)) remove_strays(w.particles, w.phi, returned, w.tiles_active, w.fragmenting);
    if (carried)
        owe(w.debt, (missing_volume(w, p) - missing) / cell_volume(w.grid), wet_part(w.phi, w.solids), w.tiles_active,
            w.carried);
    if (phi_gradient) follow_change(w.phi_gradient, w.phi, w.cip.moved_phi, -1, w.tiles_active);
    if (velocity_gradient) follow_velocity(w.velocity_gradient, w.velocity, near_water(w), w.tiles_active, w.cip);
    return returned;
}

// The components of water are found, and what each should hold: that of where its water came from, less what became
// droplets, with what has returned and the bubbles in it. What the grid lost becomes fragments; those whose volume can
// only be guessed hold what is missing in all.
template <int D>
void book_components(Water<D>& w, const Params& p, std::vector<Lost<D>>& lost, std::vector<Lost<D>>& returned,
                     double dt)
{
    const double cell = cell_volume(w.grid);
    const Sheets<D> sheets = sheets_of(w.solids, w.grid);
    // Where volume is carried, the debt knows what was lost.
    const bool kept = p.surface.volume_correction && p.surface.spray && w.debt.size() == 0;
    find_components(lost, dt / w.grid.h, w.ledger.body, sheets);
    take_droplets(w.ledger, lost, kept, w.grid);
    std::vector<double> gone;
    carry_bodies(w, p, dt, kept ? &gone : nullptr);
    if (kept)
        give(w.ledger, 0, scatter_gone(lost, gone, w.ledger, w.velocity, w.tiles_active, dt, w.fragmenting));

    std::vector<Lost<D>> bubbles, guessed;
    for (const Lost<D>& l : lost) (l.guessed ? guessed : bubbles).push_back(l);
    std::erase_if(lost, [](const Lost<D>& l) { return l.guessed; });
    std::erase_if(bubbles, [](const Lost<D>& l) { return l.kind == FragmentKind::droplet; });
    find_components(bubbles, 0, w.ledger.body, sheets);
    for (const Lost<D>& l : bubbles) give(w.ledger, l.body, cell * l.volume);
    find_components(returned, 0, w.ledger.body, sheets);
    for (const Lost<D>& l : returned)
        give(w.ledger, l.body, l.kind == FragmentKind::droplet ? cell * l.volume : -cell * l.volume);
    if (!guessed.empty()) {
        double missing = w.ledger.elsewhere;
        for (size_t k = 0; k < w.ledger.expected.size(); ++k) missing += w.ledger.expected[k] - w.ledger.actual[k];
        share_missing(guessed, missing / cell);
        double volume = 0;
        for (const Lost<D>& l : guessed) volume += l.kind == FragmentKind::droplet ? cell * l.volume : -cell * l.volume;
        forgive(w.ledger, volume);
        lost.insert(lost.end(), guessed.begin(), guessed.end());
    }
    // The velocity that moved the grid is that of the middle of the step; until its end a droplet falls.
    const FrameForces frame = frame_forces(p, w.time, dt);
    for (Lost<D>& l : lost)
        if (l.kind == FragmentKind::droplet)
            l.u += 0.5 * dt * take<D>(frame.on_particle(lift<D>(w.grid.h * (l.x + Vec<D>::all(0.5))), lift<D>(l.u), 0.5 * dt));
    // What is too little to follow stays with the rest.
    constexpr double least = 1e-6;
    for (const Lost<D>& l : lost)
        if (l.volume < least) give(w.ledger, 0, l.kind == FragmentKind::droplet ? cell * l.volume : -cell * l.volume);
    std::erase_if(lost, [](const Lost<D>& l) { return l.volume < least; });
    add_fragments(w.fragments, lost, w.grid, p, w.exchange);
    // What rounding took from fragments.
    const FragmentTotals apart = totals(w.fragments, w.grid, p);
    const double booked = std::accumulate(w.ledger.expected.begin(), w.ledger.expected.end(), w.ledger.elsewhere);
    give(w.ledger, 0, w.volume_expected - apart.volume_droplets + apart.volume_bubbles - booked);
    // A bubble may have burst in a component that holds less than it did.
    double under = 0;
    for (double& volume : w.ledger.expected) {
        under += std::min(volume, 0.0);
        volume = std::max(volume, 0.0);
    }
    if (under < 0) give(w.ledger, 0, under);
}

// The surface goes where there is volume that was carried, but is not there: after the fragments, as the grid takes
// them back but nearly.
template <int D>
void follow_volume(Water<D>& w)
{
    if (w.debt.size() == 0) return;
    const bool phi_gradient = w.phi_gradient.any();
    if (phi_gradient) w.cip.moved_phi.copy(w.phi);
    pay_debt(w.phi, w.debt, wet_part(w.phi, w.solids), w.tiles_active, w.carried);
    if (phi_gradient) follow_change(w.phi_gradient, w.phi, w.cip.moved_phi, -1, w.tiles_active);
}

// Density, viscosity and curvature where the surface is now.
template <int D>
void find_properties(Water<D>& w, const Params& p)
{
    find_density(w.density, w.phi, p, w.tiles_active);
    if (viscous(p)) find_viscosity(w.mu, w.phi, p, w.tiles_active);
    if (p.fluid.surface_tension.constant() > 0) find_curvature(w, p);
}

template <int D>
SolveReport apply_viscosity(Water<D>& w, const Params& p, const Boundary<D>& boundary, double dt)
{
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
    share_out(w.ledger, volume - w.volume_expected);
    w.volume_expected = volume;
    w.fluid = Field<D>(w.grid);
    w.fluid.fill(-1);
    w.density = FaceField<D>(w.grid);
    w.path = FaceField<D>(w.grid);
    w.acceleration = FaceField<D>(w.grid);
    w.phases = PhaseVelocities<D>(w.grid, p.method.advection == Advection::cip);
    if (viscous(p)) {
        w.mu = Field<D>(w.grid);
        for (auto& field : w.viscosity) field = FaceField<D>(w.grid);
    }
    if (p.fluid.surface_tension.constant() > 0) w.kappa = Field<D>(w.grid);
    if (p.surface.carry_volume) {
        w.debt = Field<D>(w.grid);
        w.carried = CarriedVolume<D>(w.grid);
    }
    w.projection = projection_with_air(w.grid, p.method.interface);
    if (w.solids.any) w.to_water = distance_field(w.grid, static_cast<float>(w.band));
    set_initial_velocity(w.velocity, w.tiles_active, scene);

    // Water that moves at the start takes the air around it along.
    (void)set_rates(w.flows, w.phi, w.solids, scene, 0, 0);
    const Boundary<D> boundary = boundary_of(w, p);
    find_density(w.density, w.phi, p, w.tiles_active);
    (void)project_all(w, p, boundary, 1.0 / p.time.rate);
    start_frame(w, p);
    start_hydrostatic(w, p, boundary);
    set_body_velocities(w);
    extend_into_solids(w, boundary);
    if (p.method.advection == Advection::cip) start_gradients(w);
    w.fastest = fastest_near_water(w);
    return w;
}

template <int D>
StepReport step(Water<D>& w, const Scene& scene, double dt)
{
    const Params& p = scene.params;
    StepReport report;
    report.dt = dt;
    find_all_tiles(w);  // the volume correction has changed phi since they were found
    const Tiles<D> around = w.tiles_band;
    std::vector<Lost<D>> returned;

    // 1. The level set moves. Droplets and bubbles do, too, and the grid takes back those that have arrived (§5.2,
    // §5.3): before the velocity is projected, as what they do to it is not free of divergence. Density and viscosity
    // follow.
    {
        const Stage stage(report.seconds_surface);
        w.phases.phi.copy(w.phi);
        expect_velocity(w, p, dt);
        centre_in_time(w, dt);
        shut_sources(w.flows, scene, w.time, dt);
        move_bodies(w, scene, dt);
        if (w.solids.moving) place_solids(w.solids, scene, w.time, dt);
        const Boundary<D> boundary = boundary_of(w, p);
        double gained = -0.5 * dt * outflow(w, boundary);
        std::vector<Lost<D>> lost;
        gained -= move_surface(w, scene, dt, lost);
        gained -= 0.5 * dt * outflow(w, boundary);
        gained += set_rates(w.flows, w.phi, w.solids, scene, w.time, dt);
        gained += inlet_volume(w.flows, w.solids, dt);
        returned = exchange_fragments(w, p, boundary, dt);
        w.volume_expected += rain(w.fragments, w.flows, scene, w.grid, w.exchange, w.time, dt);
        follow_volume(w);
        if (!returned.empty() || w.debt.size() > 0) find_all_tiles(w);
        book_components(w, p, lost, returned, dt);
        w.volume_expected += book_gain(w, gained);
        if (p.surface.volume_correction) correct_volumes(w, p, dt);
        if (has_particles(p) && (w.step + 1) % p.surface.reseed_every == 0) keep_seeded(w, p);
        find_properties(w, p);
    }

    // 2. The velocity moves and feels its forces: u* = advect(u) + dt f / rho, and viscosity, implicitly.
    const Boundary<D> boundary = boundary_of(w, p);
    {
        const Stage stage(report.seconds_advect);
        widen_jets(w, p, boundary);
        advect_velocities(w, p, around, dt);
        add_momentum(w.velocity, returned, w.density, p);
        push(w.velocity, w.phi, true, scene, w.tiles_active, w.time, dt);
        push(w.fragments, w.grid, scene, w.time, dt);
        add_gravity(w, frame_forces(p, w.time, dt), dt);
        if (viscous(p)) report.viscosity = apply_viscosity(w, p, boundary, dt);
        // Last, as the pressure balances most of it: what viscosity spread to other faces, it could not.
        if (p.fluid.surface_tension.constant() > 0)
            add_surface_tension(w.velocity, w.phi, w.kappa, w.density, p, w.tiles_band, dt);
    }

    // 3. It becomes divergence free: div(grad p / rho) = div u* / dt  (10),  u = u* - dt grad p / rho  (13).
    {
        const Stage stage(report.seconds_pressure);
        predict_bodies(w, scene, w.time + dt, w.time, dt);
        ProjectionForces<D> forces;
        couple_bodies(forces, w, scene, w.time + dt, dt);
        report.pressure = project_all(w, p, boundary, dt, std::move(forces));
        touch(w, scene, w.time + dt, dt, dt);
    }

    {
        const Stage stage(report.seconds_advect);
        extend_into_solids(w, boundary);
        if (p.method.advection == Advection::cip)
            follow_velocity(w.velocity_gradient, w.velocity, near_water(w), w.tiles_active, w.cip);
        find_acceleration(w, dt);
    }
    w.time += dt;
    ++w.step;
    w.fastest = fastest_near_water(w);
    report.finite = std::isfinite(w.volume_expected) && std::isfinite(w.fastest);
    return report;
}

#define TARN_INSTANTIATE(D)                                    \
    template Water<D> initial_water(const Scene&);             \
    template StepReport step(Water<D>&, const Scene&, double); \
    template double fastest_near_water(const Water<D>&);       \
    template void extend_into_solids(Water<D>&, const Boundary<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn::two_phase
