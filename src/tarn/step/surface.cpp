#include "tarn/step/surface.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "tarn/advect/advect.h"
#include "tarn/bodies/wall_separation.h"
#include "tarn/effects/vortex_forces.h"
#include "tarn/field/sample.h"
#include "tarn/phases/two_fluids.h"
#include "tarn/scene/forces.h"
#include "tarn/scene/frame.h"
#include "tarn/scene/place_solids.h"
#include "tarn/step/bodies.h"
#include "tarn/shapes/sight.h"
#include "tarn/step/boundary.h"
#include "tarn/step/octree.h"
#include "tarn/step/tall.h"
#include "tarn/surface/correct_volumes.h"
#include "tarn/surface/redistance.h"
#include "tarn/surface/reinitialize.h"

namespace tarn {

namespace {

// The surface moves up to `cfl` cells in a step; paths and stencils reach a little further.
// With air phi is moved everywhere, so its band need not reach that far.
double band_of(const Params& p, double h)
{
    if (p.method.phases == Phases::water_air) return h * std::max(p.surface.band, 4.0);
    return h * std::max(p.surface.band, std::ceil(p.time.cfl) + 3);
}

// The tiles around the surface, and those it may have entered.
template <int D>
Tiles<D> around_band(const Water<D>& w, double cfl)
{
    TileMap<D> grown = w.map;
    for (int n = 0; n < std::max(1, static_cast<int>(std::ceil(cfl / tile_size))); ++n) dilate(grown, tile_band);
    return select(grown, tile_band);
}

// Phi from the shapes beside a thin wall. The water's shape ends inside the wall, and that end is no surface: only what
// can be seen is. A surface further from the wall runs on to it straight.
template <int D>
TARN_HD inline double initial_phi_beside_wall(const ShapesView& water, const ShapesView& solids, double h, Vec3 x)
{
    const double d = distance_at<D>(water, x);
    Vec3 y = x;
    if (!stand_outside<D>(solids, h, y) || distance_at<D>(solids, y) > 3 * h) return d;
    const double here = distance_at<D>(water, y);
    const auto sees_surface = [&](Vec3 from) {
        Vec3 at = from;
        for (int n = 0; n < 3; ++n) at -= distance_at<D>(water, at) * normal_at<D>(water, at, h);
        return std::fabs(distance_at<D>(water, at)) < 0.01 * h && sees<D>(solids, h, from, at);
    };
    if (sees_surface(y)) return (d < 0) == (here < 0) ? d : here;
    const Vec3 n = normal_at<D>(solids, y, h);
    for (int cells = 2; cells <= 6; cells += 2) {
        const Vec3 away = cells * h * n;
        if (!sees<D>(solids, h, y, y + away)) break;
        if (!sees_surface(y + away)) continue;
        const double straight = distance_at<D>(water, x + away) - dot(normal_at<D>(water, x + away, h), away);
        return (straight < 0) == (here < 0) ? straight : here;
    }
    return here < 0 ? -HUGE_VAL : HUGE_VAL;
}

// The gradient that CIP carries follows what particles and redistancing have done to phi. Beside thin walls it was not
// carried.
template <int D>
void follow_phi(Water<D>& w, const Tiles<D>& tiles, bool thin_walls)
{
    if (thin_walls) return find_gradient(w.phi_gradient, w.phi, -1, tiles);
    follow_change(w.phi_gradient, w.phi, w.cip.moved_phi, -1, tiles);
}

template <int D>
void make_distance(Water<D>& w, const Tiles<D>& tiles, double band, bool forget = false)
{
    // Where density is spread over cells around the surface, or curvature is found there, its distance counts more
    // than corners.
    NearSurface near;
    if (w.air && !forget) near.least_slope = 1;
    near.smooth = (w.air || w.kappa.size() > 0) && !forget;
    if (w.distance != Redistancing::eikonal && !forget) {
        Field<D>* const scratch[2] = {&w.scratch[0], &w.scratch[1]};
        reinitialize(w.phi, tiles, band, scratch,
                     w.distance == Redistancing::enright_2002 ? SmoothedSign::of_start
                     : w.distance == Redistancing::song_2005  ? SmoothedSign::of_now
                                                              : SmoothedSign::subcell);
    } else if (const auto closed = closed_faces(w.solids, forget))
        redistance(w.phi, tiles, band, w.scratch[0], *closed, near);
    else
        redistance(w.phi, tiles, band, w.scratch[0], near);
}

}  // namespace

template <int D>
void carry_bodies(Water<D>& w, const Params& p, double dt, std::vector<double>* gone)
{
    const auto closed = closed_faces(w.solids);
    carry(w.targets, w.phi, w.velocity, closed ? &*closed : nullptr, w.tiles_shallow, w.tiles_deep, dt, p.time.cfl,
          sides_of(w.solids, w.grid), gone, w.tiles_inner);
}

template <int D>
double falling_time(const Grid<D>& grid, const Params& p)
{
    double g = 0;
    for (const auto& key : p.domain.gravity.keys) g = std::max(g, length(take<D>(key.v)));
    return std::sqrt(grid.h / (g > 0 ? g : 9.81));
}

template <int D>
void correct_volumes(Water<D>& w, const Params& p, double dt)
{
    if (!p.surface.volume_correction) return;
    TileMap<D> inner(w.grid);
    for (size_t i = 0; i < inner.flags.size(); ++i)
        inner.flags[i] = (w.map.flags[i] & tile_wet) && !(w.map.flags[i] & tile_band);
    const bool gradient = w.phi_gradient.any();
    Field<D>& before = gradient ? w.cip.moved_phi : w.scratch[0];
    // Without its padding: others rely on that of working fields being zero.
    const auto old = before.view();
    const auto phi = std::as_const(w.phi).view();
    TileMap<D> kept(w.grid, 1);
    if (w.octree.any()) {
        kept = w.octree.levels[0].map;
        dilate(kept, 1);
    }
    const Tiles<D> copied = w.tall.on ? w.tiles_active : select(kept, 1);
    parallel_for<true>("copy phi", copied, [=] TARN_KERNEL(Cell<D> c) { old(c) = phi(c); });
    VolumeCorrection<D> how{.share = -std::expm1(-dt / falling_time(w.grid, p))};
    if (!w.air) how.unsure = 2e-4;  // water at rest is not touched
    if (!w.air && !w.enclosed_air.cells.empty()) how.enclosed = w.enclosed.marked();
    for (size_t i = 0; i < inner.flags.size() && w.octree.any(); ++i)
        if (w.map.flags[i] & tile_coarse) {
            inner.flags[i] = 0;
            how.deep += static_cast<double>(w.map.box(w.map.tile(i)).volume());
        }
    if (!correct_volumes(w.phi, w.targets, wet_part(w.phi, w.solids), w.band, how, w.tiles_band, select(inner, 1))) return;
    if (gradient) follow_change(w.phi_gradient, w.phi, before, -1, w.tiles_active);
    if (has_particles(p)) follow_surface(w.particles, before, w.phi, thin_walls_of(w.solids, w.grid));
    if (!w.air) find_tiles_again(w);
}

template <int D>
double fastest_face(const Water<D>& w)
{
    const auto u = w.velocity.view();
    double fastest = 0;
    for (int a = 0; a < D; ++a) {
        const auto ua = u[a];
        const double v =
            parallel_max<true>("fastest", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) { return std::fabs(ua(c)); });
        fastest = v < fastest ? fastest : v;  // a NaN comes through
    }
    for (int l = 1; l < w.octree.count(); ++l) {
        const double v = fastest_in_leaves(w.coarse[static_cast<size_t>(l) - 1].velocity, w.octree.levels[static_cast<size_t>(l)]);
        fastest = v < fastest ? fastest : v;
    }
    return fastest;
}

template <int D>
void keep_seeded(Water<D>& w, const Params& p)
{
    const Seeding seeding{p.surface.particles_per_cell, p.method.surface == SurfaceKind::particle_level_set,
                          p.surface.seeding == SeedingKind::even};
    reseed(w.particles, w.phi, w.map, tile_band, w.solids.any ? &w.solids.distance : nullptr, seeding, w.step,
           w.seeding, thin_walls_of(w.solids, w.grid));
}

template <int D>
void move_boundaries(Water<D>& w, const Scene& scene, double dt)
{
    shut_sources(w.flows, scene, w.time, dt);
    move_bodies(w, scene, dt);
    if (w.solids.moving) place_solids(w.solids, scene, w.time, dt);
    if (w.tall.on) tall::refine_around_movers(w, scene, w.time + dt);
}

template <int D>
void reseed_periodically(Water<D>& w, const Params& p, double dt)
{
    if (!has_particles(p)) return;
    // A frame's end is met up to rounding.
    const double period = p.surface.reseed_frames * p.time.frame_seconds();
    const bool now = period > 0 ? std::floor((w.time + dt) / period + 1e-6) > std::floor(w.time / period + 1e-6)
                                : (w.step + 1) % p.surface.reseed_every == 0;
    if (now) keep_seeded(w, p);
}

Escape escape_of(const Params& p)
{
    Escape escape{.alike = !p.surface.close_gaps};
    if (p.method.surface == SurfaceKind::foster_fedkiw_2001) escape.least_curvature = static_cast<float>(p.surface.least_curvature);
    return escape;
}

// As many substeps as keep the fastest water within max_step cells, and how much of phi they need.   [EMF02] §3.4, 2: "via an explicit
// time step subcycling method"
template <int D>
static SurfaceMotion<D> plan_motion(Water<D>& w, const Params& p, double dt)
{
    SurfaceMotion<D> motion;
    const double cells = w.fastest * dt / w.grid.h;
    // Thin walls that move do so once a step. They may part water from air where no surface is near.
    motion.sides = sides_of(w.solids, w.grid);
    const bool swept = motion.sides.any() && w.solids.moving;
    const bool cip = is_cip(p.surface.advection);
    motion.substeps = swept ? 1 : std::max(1, static_cast<int>(std::ceil(cells / p.surface.max_step)));
    motion.dt = dt / motion.substeps;
    motion.around = around_band(w, p.time.cfl);
    motion.first = swept ? select(w.map, tile_candidate) : cip ? motion.around : w.tiles_band;
    // A path spans so many cells, and its end is interpolated from one more. MacCormack goes forth and back, where the
    // surface may come to. Until the step is over, nothing further away counts.
    const double path = (std::max(p.time.cfl, cells) / motion.substeps + 1) * w.grid.h;
    motion.near = std::min(w.band - path, std::max(path - w.grid.h, 3 * w.grid.h));
    motion.band = motion.near + path;
    motion.far = p.surface.advection == Advection::maccormack ? motion.band : path;
    motion.ends = w.ends;
    motion.ends.reach = cells / motion.substeps + 1;
    motion.air.everywhere = !p.surface.close_gaps;
    motion.air.enclosed = w.enclosed.marked();
    motion.escape = escape_of(p);
    if (cip) find_deformation(w.cip, w.velocity, motion.around);
    return motion;
}

template <int D>
void advect_particles(Water<D>& w, const Params& p, const SurfaceMotion<D>& motion)
{
    if (!has_particles(p)) return;
    // Deviation: by Runge and Kutta's second-order scheme, not by Euler's unless that is asked for, as substeps span up to max_step
    // cells.
    advect(w.particles, w.velocity, w.phi, motion.dt, motion.sides, motion.air, p.surface.advection == Advection::forward_euler);
    if (motion.ends.any_open()) let_out(w.particles, w.grid.cells, motion.ends.open);
}

template <int D>
void advect_phi(Water<D>& w, const Params& p, const SurfaceMotion<D>& motion, const Tiles<D>& tiles)
{
    Ends<D> ends = motion.ends;
    ends.gaps = w.gaps;
    Field<D>* const scratch[2] = {&w.scratch[0], &w.scratch[1]};
    // Deviation: by MacCormack's or the CIP scheme along paths, unless forward Euler is asked for: that allows longer substeps.
    if (is_cip(p.surface.advection))
        advect_cip(w.phi, w.phi_gradient, w.velocity, tiles, motion.dt, motion.far, w.cip, ends, motion.sides, motion.air, motion.path);
    else
        advect(w.phi, w.velocity, tiles, motion.dt, p.surface.advection, motion.near, motion.far, scratch, ends, motion.sides, motion.air);
    if (w.gaps) {
        move_gaps(w.phi, motion.around);
        w.gaps = any_gap_at_sides(w.phi, all_tiles(w.grid));
    }
}

template <int D>
void correct_phi(Water<D>& w, const Params& p, const SurfaceMotion<D>& motion)
{
    if (!has_particles(p)) return;
    Field<D>* const scratch[2] = {&w.scratch[0], &w.scratch[1]};
    // Deviation: particles of air leave gaps that close, where nothing holds the air back. A given flow carries air, too.
    if (!p.flow) squeeze_out(w.particles, w.phi, w.velocity, motion.dt, motion.sides.after, motion.air);
    correct(w.phi, w.particles, motion.around, nullptr, scratch, motion.sides.after, motion.escape);
}

template <int D>
void smooth_phi(Water<D>& w, const Params& p, const SurfaceMotion<D>& motion, double band)
{
    Field<D>* const scratch[2] = {&w.scratch[0], &w.scratch[1]};
    make_distance(w, motion.around, band);
    if (has_particles(p)) correct(w.phi, w.particles, motion.around, &w.lost, scratch, motion.sides.after, motion.escape);
    if (is_cip(p.surface.advection)) follow_phi(w, motion.around, motion.sides.any());
}

template <int D>
void carry_surface(Water<D>& w, const Params& p, double dt)
{
    const SurfaceMotion<D> motion = plan_motion(w, p, dt);
    for (int n = 0; n < motion.substeps; ++n) {
        // §3.2.2. Particles and phi are integrated separately.
        advect_particles(w, p, motion);
        advect_phi(w, p, motion, n == 0 ? motion.first : motion.around);
        // §3.2.3. Particles correct phi "after any computational step in which phi has been modified" (§3.2.4): here,
        correct_phi(w, p, motion);
        // and when phi has become a distance again.
        smooth_phi(w, p, motion, n + 1 < motion.substeps ? motion.band : w.band);
    }
}

template <int D>
Water<D> initial_surface(const Scene& scene)
{
    const Params& p = scene.params;
    Water<D> w;
    w.grid = make_grid<D>(p.domain);
    w.air = p.method.phases == Phases::water_air;
    w.distance = p.surface.distance;
    for (int a = 0; a < D; ++a)
        for (int side = 0; side < 2; ++side)
            w.ends.open[a][side] = wall_kind(p.domain.walls, a, side) == WallKind::open;
    w.band = band_of(p, w.grid.h);
    w.phi = distance_field(w.grid, static_cast<float>(w.band));
    w.velocity = FaceField<D>(w.grid);
    w.pressure = Field<D>(w.grid);
    w.faces = FaceField<D>(w.grid);
    w.known = FaceField<D, uint8_t>(w.grid);
    for (auto& field : w.scratch) field = Field<D>(w.grid);
    w.bodies = scene.bodies;
    tell_poses(w, scene, 0);
    w.solids = make_solids<D>(scene, w.grid);
    w.flows = make_flows<D>(scene, w.grid);

    // Phi from the shapes. Where they run along the domain's sides there is no surface, only more water beyond: the
    // redistancing that follows forgets those sides.
    const KernelShapes kept = scene.water.for_kernels(0);
    const ShapesView shapes = kept.view();
    const Tiles<D> all = all_tiles(w.grid);
    {
        const Grid<D> grid = w.grid;
        const double band = w.band;
        const auto phi = w.phi.view();
        const KernelShapes kept_solids = scene.solids.for_kernels(0);
        const ShapesView solids = kept_solids.view();
        const bool thin = w.solids.thin;
        parallel_for("initial phi", all, [=] TARN_KERNEL(Cell<D> c) {
            const Vec3 x = lift<D>(grid.centre(c));
            // Infinite where there are none.
            const double d = thin ? initial_phi_beside_wall<D>(shapes, solids, grid.h, x) : shapes.distance(x);
            phi(c) = static_cast<float>(d < -band ? -band : (d > band ? band : d));
        });
    }
    (void)fill_and_drain<D>(w.phi, nullptr, w.flows, w.solids, scene, w.scratch[0]);
    // In larger and tall cells what is far from any surface stays as it is, so that nothing more than phi is touched there.
    const bool uniform = p.method.grid == GridKind::uniform;
    const Tiles<D> near = uniform ? all : near_surface(w.phi, w.band);
    // Each time the surface runs on into solids: what lies there is seen through the faces that they cut.
    for (int n = 0; n < 3; ++n) {
        make_distance(w, near, w.band, true);
        if (w.solids.any) extend_into_solids(w.phi, w.solids, all, w.band, false, w.scratch[0]);
    }
    // What that has touched far from the surface is given back.
    if (!uniform) w.scratch[0] = Field<D>(w.grid);
    w.map = TileMap<D>(w.grid, tile_candidate);
    make_levels(w, scene);
    tall::make_cells(w, scene);
    find_tiles(w);
    if (has_particles(p)) keep_seeded(w, p);

    if (is_cip(p.surface.advection) || is_cip(p.method.advection)) 
        w.cip = CipWorkspace<D>(w.grid, p.surface.advection == Advection::rational_cip, p.method.advection == Advection::rational_cip);
    if (is_cip(p.surface.advection)) {
        w.phi_gradient = Gradient<D>(w.grid);
        find_gradient(w.phi_gradient, w.phi, -1, all);
    }

    w.targets = TargetVolumes<D>(w.grid);
    w.divergence_source = Field<D>(w.grid);
    const auto closed = closed_faces(w.solids);
    find_bodies(w.targets, w.phi, closed ? &*closed : nullptr, w.tiles_shallow, w.tiles_deep, w.tiles_inner);
    w.targets.expected = w.targets.actual;
    w.volume_expected = std::accumulate(w.targets.expected.begin(), w.targets.expected.end(), 0.0);
    return w;
}

// How fast solids will move where there is water, from their keyframes.
template <int D>
static double fastest_solid(const Water<D>& w, const Scene& scene)
{
    if (!w.solids.moving) return 0;
    const double soon = 0.1 / scene.params.time.rate;
    const Grid<D> grid = w.grid;
    const auto nodes = w.solids.distance.view();
    double fastest = 0;
    for (const RigidBody& body : w.bodies) {
        // What has left the domain meets no water any more.
        bool inside = true;
        for (int a = 0; a < D; ++a)
            inside = inside && body.position[a] > -body.radius && body.position[a] < grid.size()[a] + body.radius;
        if (inside) fastest = std::max(fastest, body.fastest());
    }
    for (size_t s = 0; s < scene.solids.size(); ++s) {
        if (scene.solids.body_of(s) >= 0) continue;
        const Pose pose = scene.solids.displacement(s, w.time, w.time + soon);
        fastest = std::max(fastest, parallel_max("fastest", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
                               if (nodes_at_cell<D>(nodes, c) > grid.h) return 0.0f;
                               const Vec3 x = lift<D>(grid.centre(c));
                               return static_cast<float>(length(pose.apply(x) - x) / soon);
                           }));
    }
    return fastest;
}

// Capillary waves as short as the grid can carry must not outrun it (Brackbill et al. 1992).
template <int D>
static double capillary_step(const Grid<D>& grid, const Params& p)
{
    const double density = p.fluid.density.constant() + (p.method.phases == Phases::water_air ? p.air.density.constant() : 0);
    return std::sqrt(density * grid.h * grid.h * grid.h / (4 * std::numbers::pi * p.fluid.surface_tension.constant()));
}

// The curvature that pulls at the surface is that of where it will be half a capillary step from now. This damps a wave
// of frequency omega at the rate omega^2 capillary_step / 4: the shortest ones, which redistancing and extension stir
// up and nothing else calms, at once, and those of twenty cells by a few percent a period. Without it the
// currents around a drop at rest are up to twice as fast.
template <int D>
void find_curvature(Water<D>& w, const Params& p)
{
    if (!(p.fluid.surface_tension.constant() > 0)) return;
    const auto k = w.kappa.view(), ahead = w.scratch[0].view();
    const View<D, const float> later = ahead;
    const auto phi = std::as_const(w.phi).view();
    const auto u = std::as_const(w.velocity).view();
    const Cell<D> cells = w.grid.cells;
    const float h = static_cast<float>(w.grid.h);
    const float s = static_cast<float>(0.5 * capillary_step(w.grid, p) / w.grid.h);
    const ThinWalls<D> thin_walls = thin_walls_of(w.solids, w.grid);
    // Where it is asked for: a smeared layer and a cell more. Further out its differences would see where the band
    // ends.
    const float reach = (w.air ? smearing + 1 : 2) * h;
    parallel_for("curvature", w.tiles_band, [=] TARN_KERNEL(Cell<D> c) {
        ahead(c) = phi(c) - s * dot(velocity_at_cell(u, c), gradient_per_cell<D>(phi, cells, c, thin_walls));
    });
    parallel_for("curvature", w.tiles_band, [=] TARN_KERNEL(Cell<D> c) {
        k(c) = std::fabs(phi(c)) < reach ? curvature<D>(later, cells, c, h, thin_walls) : 0.0f;
    });
    if (w.air) average_curvature(w.kappa, w.phi, reach, w.tiles_band, w.scratch[0]);
}

template <int D>
void set_initial_velocity(FaceField<D>& velocity, const Tiles<D>& tiles, const Scene& scene)
{
    const Params& p = scene.params;
    const KernelShapes kept = scene.water.for_kernels(0);
    const ShapesView shapes = kept.view();
    const Grid<D> grid = velocity.grid();
    const double g = length(p.domain.gravity.at(0));
    for (size_t s = 0; s < p.water.size(); ++s) {
        const Vec3 u = p.water[s].velocity;
        const bool moves = p.water[s].shape == ShapeKind::solitary_wave || !(u == Vec3{});
        if (p.water[s].subtract || !moves) continue;
        const Shape* const shape = shapes.shapes + s;
        for (int a = 0; a < D; ++a) {
            const auto ua = velocity[a].view();
            parallel_for_faces("initial velocity", tiles, a, [=] TARN_KERNEL(Cell<D> c) {
                const Vec3 x = lift<D>(grid.face(c, a));
                if (distance(*shape, x) < 0.5 * grid.h)
                    ua(c) = static_cast<float>(u[a] + own_velocity(*shape, x, g)[a]);
            });
        }
    }
}

template <int D>
double longest_step(const Water<D>& w, const Scene& scene)
{
    const Params& p = scene.params;
    double fastest = std::max(w.fastest, fastest_solid(w, scene));
    for (const SourceParams& source : p.source)
        if (source.is_inlet() || (w.smoke && source.velocity))
            for (int a = 0; a < D; ++a) fastest = std::max(fastest, std::fabs(source.velocity->at(w.time)[a]));

    // u dt + g dt^2 / 2 <= cfl h: water at rest starts to fall within the step.
    const double reach = p.time.cfl * w.grid.h;
    const double weight = w.smoke ? w.lift : length(p.domain.gravity.at(w.time));
    const double g =
        weight + strongest_force(scene, w.time) + strongest(w.vortices.particles, w.grid.h) + strongest_in_frame(p, w.time, fastest);
    double dt = std::numeric_limits<double>::infinity();
    if (fastest > 0 || g > 0) dt = 2 * reach / (fastest + std::sqrt(fastest * fastest + 2 * g * reach));
    if (p.fluid.surface_tension.constant() > 0) dt = std::min(dt, capillary_step(w.grid, p));
    // The surface moves, then gravity acts on where it has come to: waves are stable while omega dt < 2. The shortest that
    // the grid carries have omega^2 = pi g / h; beside solids that leave little of a face open some are a fifth faster.
    // With air, whose velocity CIP carries with little loss, they must also be told well enough not to be fed by longer ones:
    // half of that. In steps of a frame, on 128 cells, spikes of a cell stay on calm water for ever.
    const double most = w.air ? 0.5 * 2 : 0.8 * 2;
    if (g > 0) dt = std::min(dt, most / std::sqrt(std::numbers::pi * g / w.grid.h));
    const double spin = length(frame_spin(p, w.time));
    if (spin > 0) dt = std::min(dt, most_turn / spin);
    return std::min(dt, p.time.max_step);
}

template <int D>
void start_gradients(Water<D>& w)
{
    for (int a = 0; a < D; ++a) {
        w.velocity_gradient[a] = Gradient<D>(w.grid);
        find_gradient(w.velocity_gradient[a], w.velocity[a], a, w.tiles_active);
    }
}

#define TARN_INSTANTIATE(D)                                                             \
    template Water<D> initial_surface(const Scene&);                                    \
    template void start_gradients(Water<D>&);                                           \
    template void find_curvature(Water<D>&, const Params&);                             \
    template void set_initial_velocity(FaceField<D>&, const Tiles<D>&, const Scene&);   \
    template double longest_step(const Water<D>&, const Scene&);                        \
    template void move_boundaries(Water<D>&, const Scene&, double);                     \
    template void carry_surface(Water<D>&, const Params&, double);                      \
    template void advect_particles(Water<D>&, const Params&, const SurfaceMotion<D>&);  \
    template void advect_phi(Water<D>&, const Params&, const SurfaceMotion<D>&, const Tiles<D>&); \
    template void correct_phi(Water<D>&, const Params&, const SurfaceMotion<D>&);       \
    template void smooth_phi(Water<D>&, const Params&, const SurfaceMotion<D>&, double); \
    template void keep_seeded(Water<D>&, const Params&);                                \
    template void reseed_periodically(Water<D>&, const Params&, double);                \
    template void carry_bodies(Water<D>&, const Params&, double, std::vector<double>*); \
    template double falling_time(const Grid<D>&, const Params&);                        \
    template void correct_volumes(Water<D>&, const Params&, double);                    \
    template double fastest_face(const Water<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
