#include "tarn/step/surface.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "tarn/advect/advect.h"
#include "tarn/bodies/parting.h"
#include "tarn/scene/place_solids.h"
#include "tarn/shapes/sight.h"
#include "tarn/surface/redistance.h"

namespace tarn {

namespace {

// The surface moves up to `cfl` cells in a step; paths and stencils reach a little further.
double band_of(const Params& p, double h) { return h * std::max(p.surface.band, std::ceil(p.time.cfl) + 3); }

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

template <int D>
void make_distance(Water<D>& w, const Tiles<D>& tiles, double band, bool forget = false)
{
    if (const auto closed = closed_faces(w.solids, forget))
        redistance(w.phi, tiles, band, w.scratch[0], *closed);
    else
        redistance(w.phi, tiles, band, w.scratch[0]);
}

}  // namespace

template <int D>
void find_tiles(Water<D>& w)
{
    const auto phi = std::as_const(w.phi).view();
    const float band = static_cast<float>(w.band);
    const std::vector<uint8_t> found =
        parallel_any("find tiles", w.map, tile_candidate, [=] TARN_KERNEL(Cell<D> c) -> uint8_t {
            const float p = phi(c);
            const int wet = p < 0 ? tile_wet | tile_active : 0;
            return static_cast<uint8_t>(wet | (std::fabs(p) < band ? tile_band | tile_active : 0));
        });
    TileMap<D> left(w.grid);
    for (size_t i = 0; i < found.size(); ++i) {
        left.flags[i] = (w.map.flags[i] & tile_active) && !(found[i] & tile_active);
        if (w.map.flags[i] & tile_candidate) w.map.flags[i] = found[i];
    }
    const Tiles<D> cleared = select(left, 1);
    if (w.ledger.body.size() > 0) {
        const auto body = w.ledger.body.view(), before = w.ledger.before.view();
        parallel_for<true>("clear tiles", cleared, [=] TARN_KERNEL(Cell<D> c) { body(c) = before(c) = 0; });
    }
    for (int a = 0; a < D; ++a) {
        const auto u = w.velocity[a].view(), f = w.faces[a].view();
        const auto k = w.known[a].view();
        parallel_for_faces("clear tiles", cleared, a, [=] TARN_KERNEL(Cell<D> c) { u(c) = f(c) = k(c) = 0; });
    }
    for (uint8_t& flags : w.map.flags) {
        // Inside solids phi need not be water's.
        const bool deep = (flags & tile_wet) && !(flags & tile_band) && !w.solids.any;
        flags = static_cast<uint8_t>(flags & ~(tile_deep | tile_shallow));
        if (flags & tile_active) flags |= deep ? tile_deep : tile_shallow;
    }
    w.tiles_band = select(w.map, tile_band);
    w.tiles_active = select(w.map, tile_active);
    w.tiles_deep = select(w.map, tile_deep);
    w.tiles_shallow = select(w.map, tile_shallow);
}

template <int D>
void find_candidates(Water<D>& w, double cfl)
{
    for (uint8_t& flags : w.map.flags)
        flags = static_cast<uint8_t>(flags & tile_active ? flags | tile_candidate : flags & ~tile_candidate);
    for (const Tiles<D>& tiles : w.flows.source_tiles)
        for (const Box<D>& box : tiles.boxes)
            for (int x = box.lo[0]; x < box.hi[0]; x += tile_size) {
                Cell<D> t = box.lo;
                t[0] = x;
                for (int a = 0; a < D; ++a) t[a] /= tile_size;
                w.map.flags[w.map.index(t)] |= tile_candidate;
            }
    for (int n = 0; n < std::max(1, static_cast<int>(std::ceil(cfl / tile_size))); ++n) dilate(w.map, tile_candidate);
}

template <int D>
void carry_bodies(Water<D>& w, const Params& p, double dt)
{
    const auto closed = closed_faces(w.solids);
    carry(w.ledger, w.phi, w.velocity, closed ? &*closed : nullptr, w.tiles_shallow, w.tiles_deep, dt, p.time.cfl,
          sides_of(w.solids, w.grid));
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
    return fastest;
}

template <int D>
void keep_seeded(Water<D>& w, const Params& p)
{
    const Seeding seeding{p.surface.particles_per_cell, p.method.surface == SurfaceKind::particle_level_set};
    reseed(w.particles, w.phi, w.map, tile_band, w.solids.any ? &w.solids.distance : nullptr, seeding, w.step,
           w.seeding, sheets_of(w.solids, w.grid));
}

// Deviation: phi is carried by MacCormack's scheme, not by forward Euler, which allows longer substeps.
template <int D>
void carry_surface(Water<D>& w, const Params& p, double dt)
{
    Field<D>* const scratch[2] = {&w.scratch[0], &w.scratch[1]};
    const double cells = w.fastest * dt / w.grid.h;
    // Thin walls that move do so once a step. They may part water from air where no surface is near.
    const Sides<D> sides = sides_of(w.solids, w.grid);
    const bool swept = sides.any() && w.solids.moving;
    const int substeps = swept ? 1 : std::max(1, static_cast<int>(std::ceil(cells / p.surface.max_step)));
    const Tiles<D> first = swept ? select(w.map, tile_candidate) : w.tiles_band;
    const Tiles<D> around = around_band(w, p.time.cfl);
    // A path spans so many cells, and its end is interpolated from one more. MacCormack goes forth and back, where the
    // surface may come to. Until the step is over, nothing further away counts.
    const double path = (std::max(p.time.cfl, cells) / substeps + 1) * w.grid.h;
    const double near = std::min(w.band - path, std::max(path - w.grid.h, 3 * w.grid.h)), band = near + path;
    for (int n = 0; n < substeps; ++n) {
        if (has_particles(p)) advect(w.particles, w.velocity, w.phi, dt / substeps, sides);
        advect(w.phi, w.velocity, n == 0 ? first : around, dt / substeps, p.surface.advection, near,
               p.surface.advection == Advection::maccormack ? band : path, scratch, w.gaps, sides);
        if (w.gaps) {
            move_gaps(w.phi, around);
            w.gaps = any_gap_at_sides(w.phi, all_tiles(w.grid));
        }
        if (has_particles(p)) {
            if (!p.flow)
                squeeze_out(w.particles, w.phi, w.velocity, dt / substeps,
                            sides.after);  // a given flow carries air, too
            correct(w.phi, w.particles, around, nullptr, scratch, sides.after);
        }
        make_distance(w, around, n + 1 < substeps ? band : w.band);
        if (has_particles(p)) correct(w.phi, w.particles, around, &w.lost, scratch, sides.after);
    }
}

template <int D>
Water<D> initial_surface(const Scene& scene)
{
    const Params& p = scene.params;
    Water<D> w;
    w.grid = make_grid<D>(p.domain);
    w.band = band_of(p, w.grid.h);
    w.phi = distance_field(w.grid, static_cast<float>(w.band));
    w.velocity = FaceField<D>(w.grid);
    w.pressure = Field<D>(w.grid);
    w.faces = FaceField<D>(w.grid);
    w.known = FaceField<D, uint8_t>(w.grid);
    for (auto& field : w.scratch) field = Field<D>(w.grid);
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
    (void)fill_and_drain(w.phi, w.flows, w.solids, scene);
    for (int n = 0; n < 3; ++n) make_distance(w, all, w.band, true);
    if (w.solids.any) extend_into_solids(w.phi, w.solids, all, w.band, false, w.scratch[0]);
    w.map = TileMap<D>(w.grid, tile_candidate);
    find_tiles(w);
    if (has_particles(p)) keep_seeded(w, p);

    w.ledger = Ledger<D>(w.grid);
    w.swelling = Field<D>(w.grid);
    const auto closed = closed_faces(w.solids);
    find_bodies(w.ledger, w.phi, closed ? &*closed : nullptr, w.tiles_shallow, w.tiles_deep);
    w.ledger.expected = w.ledger.actual;
    w.volume_expected = std::accumulate(w.ledger.expected.begin(), w.ledger.expected.end(), 0.0);
    return w;
}

#define TARN_INSTANTIATE(D)                                        \
    template Water<D> initial_surface(const Scene&);               \
    template void find_tiles(Water<D>&);                           \
    template void find_candidates(Water<D>&, double);              \
    template void carry_surface(Water<D>&, const Params&, double); \
    template void keep_seeded(Water<D>&, const Params&);           \
    template void carry_bodies(Water<D>&, const Params&, double);  \
    template double fastest_face(const Water<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
