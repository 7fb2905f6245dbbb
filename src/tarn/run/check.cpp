#include "tarn/run/check.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "tarn/backend/parallel.h"
#include "tarn/run/check_heights.h"
#include "tarn/run/check_levels.h"
#include "tarn/run/frames.h"
#include "tarn/run/machine.h"
#include "tarn/run/tall_estimate.h"
#include "tarn/scene/validate.h"
#include "tarn/surface/markers.h"

namespace tarn {
namespace {

// What a run takes, measured; tests/run_check.cpp holds the memory to 20 %.
namespace cost {
constexpr double program = 49e6;                         // bytes of the program itself, its libraries and threads
constexpr double device_program = 600e6;                 // bytes of the GPU's own program, lists and reductions
constexpr double device_runtime = 300e6;                 // bytes of its driver in the program
constexpr double memory_per_tall_node = 400;             // its columns' levels, faces and velocities, twice
constexpr double memory_per_cell = 28;                   // bytes, wet or dry
constexpr double memory_per_octree_cell = 16;            // instead, where those that are not touched are in larger ones
constexpr double memory_per_touched_cell[] = {78, 112};  // bytes on top where water comes, in 2D and 3D
constexpr double memory_per_solid_field = 4;  // bytes a cell; a distance and open faces
constexpr double memory_per_sample = 24;      // bytes, of a mesh or terrain: most of it while distances are found
constexpr double memory_per_pixel = 15;       // bytes, of the preview
constexpr double memory_per_state_cell = 12;  // bytes, while two fields of a state are packed at once
constexpr double memory_per_mesh_byte = 8;    // bytes held while a byte of a mesh file is made
constexpr double memory_per_volume_byte = 8;  // of OpenVDB, which packs them
constexpr double memory_per_plain_volume_byte = 4;
constexpr double state_per_wet_cell = 4;     // bytes, once it is in motion
constexpr double state_per_smoke_cell = 5;   // bytes, all over the domain
constexpr double ply_per_surface_cell = 66;  // bytes
constexpr double obj_per_surface_cell = 170;
constexpr double usd_per_surface_cell = 150;
constexpr double vtp_per_surface_cell = 73;
constexpr double vdb_per_wet_cell = 25;
constexpr double vdb_per_smoke_cell = 6;     // bytes, all over the domain
constexpr double png_per_pixel = 0.55;
constexpr double checkpoint_per_cell = 14;
constexpr double memory_per_particle[] = {60, 80};  // bytes, with the room they are sorted in
constexpr double particles_across = 4.75;           // times those of a cell: around a flat surface, for each cell of it
constexpr double particles_growth = 1.85;           // what splashing does to their number
constexpr double surface_growth = 2;                // splashing water has about so much more surface than at the start
constexpr double preview_aspect = 16.0 / 9.0;
constexpr double margin_cells = 15;  // work reaches past the water: the band on either side, and whole tiles
}  // namespace cost

std::string size_text(double bytes)
{
    if (bytes < 1e6) return fmt::format("{:.0f} kB", std::ceil(bytes / 1e3));
    if (bytes < 1e9) return fmt::format("{:.0f} MB", bytes / 1e6);
    return fmt::format("{:.1f} GB", bytes / 1e9);
}

// Calls near(x) for the centre of every cell that lies within `reach` of the zero set of `distance`, and whole(box,
// inside) for boxes of cells that lie wholly on one side. Boxes are halved until they do, so the work follows the
// surface.
template <int D, class Distance, class Near, class Whole>
void scan(const Grid<D>& grid, const Box<D>& box, const Distance& distance, double reach, const Near& near,
          const Whole& whole)
{
    Vec<D> centre;
    int longest = 0;
    double radius = 0;
    for (int a = 0; a < D; ++a) {
        const int n = box.hi[a] - box.lo[a];
        centre[a] = grid.h * 0.5 * (box.lo[a] + box.hi[a]);
        radius += 0.25 * n * n * grid.h * grid.h;
        if (n > box.hi[longest] - box.lo[longest]) longest = a;
    }
    const double d = distance(lift<D>(centre));
    if (box.volume() == 1) {
        if (std::abs(d) <= reach) return near(lift<D>(centre), d);
        return whole(box, d < 0);
    }
    // Some distances are estimates: twice the box's radius leaves them room.
    if (std::abs(d) > reach + 2 * std::sqrt(radius)) return whole(box, d < 0);
    Box<D> lower = box, upper = box;
    lower.hi[longest] = upper.lo[longest] = (box.lo[longest] + box.hi[longest]) / 2;
    scan(grid, lower, distance, reach, near, whole);
    scan(grid, upper, distance, reach, near, whole);
}

// How many cells have their centre inside.
template <int D, class Distance>
int64_t count_inside(const Grid<D>& grid, const Distance& distance)
{
    int64_t n = 0;
    scan(
        grid, grid.box(), distance, 0.0, [&](Vec3, double) {},
        [&](const Box<D>& box, bool inside) { n += inside ? box.volume() : 0; });
    return n;
}

template <int D>
class Checker {
public:
    explicit Checker(const Scene& scene)
        : scene_(scene),
          params_(scene.params),
          grid_(make_grid<D>(params_.domain)),
          water_(scene.water.at(0)),
          solids_(scene.solids.at(0))
    {
    }

    CheckReport run()
    {
        if (smoke_ && on_device())
            add(Finding::error, fmt::format("{}: method.phases: \"smoke\" runs on processors only; leave out --backend cuda", scene_.file));
        size();
        placement();
        walls_that_do_not_stick();
        thin_walls();
        heights();
        fit();
        return std::move(report_);
    }

private:
    void add(Finding::Level level, std::string text) { report_.findings.push_back({level, std::move(text)}); }

    double in_solid(Vec3 x) const
    {
        return scene_.solids.empty() ? std::numeric_limits<double>::infinity() : distance(solids_, x);
    }
    // Negative within the domain.
    double in_domain(Vec3 x) const
    {
        double d = -std::numeric_limits<double>::infinity();
        for (int a = 0; a < D; ++a) d = std::max({d, -x[a], x[a] - grid_.size()[a]});
        return d;
    }

    void size()
    {
        Estimate& e = report_.estimate;
        e.h = grid_.h;
        e.cells = grid_.count();
        for (int a = 0; a < D; ++a) e.grid += fmt::format("{}{}", a ? " x " : "", grid_.cells[a]);

        // The surface that is written runs along walls and solids too: the boundary of (water without solids) in the
        // domain.
        int64_t surface_cells = 0;
        if (!scene_.water.empty()) {
            const auto wet = [&](Vec3 x) { return std::max({distance(water_, x), -in_solid(x), in_domain(x)}); };
            scan(
                grid_, grid_.box(), wet, 0.5 * e.h,
                [&](Vec3, double d) {
                    ++surface_cells;
                    e.wet += d < 0;
                },
                [&](const Box<D>& box, bool inside) { e.wet += inside ? box.volume() : 0; });
        }
        if (smoke_) e.wet = smoky_cells();
        // What sources bring spreads over the floor, which has two sides.
        double surface = cost::surface_growth * double(surface_cells);
        if (!scene_.sources.empty()) surface = std::max(surface, 2.0 * double(e.cells) / grid_.cells[1]);

        if (params_.method.grid == GridKind::octree) e.levels = levels_at_start<D>(scene_);
        const OutputParams& o = params_.output;
        const double pixels = o.preview_width * o.preview_width / cost::preview_aspect;
        if (o.surface == SurfaceFormat::ply) e.surface = cost::ply_per_surface_cell;
        if (o.surface == SurfaceFormat::obj) e.surface = cost::obj_per_surface_cell;
        if (o.surface == SurfaceFormat::usd) e.surface = cost::usd_per_surface_cell;
        if (o.surface == SurfaceFormat::vtp) e.surface = cost::vtp_per_surface_cell;
        e.surface *= (smoke_ ? 0 : surface) + moving_solid_cells();
        if (o.volume) e.volume = volume();
        const double held = double(e.levels.empty() ? e.wet : std::min(e.wet, octree_cells()));  // values that differ
        if (o.state) e.state = smoke_ ? cost::state_per_smoke_cell * double(e.cells) : cost::state_per_wet_cell * held;
        if (o.preview) e.preview = cost::png_per_pixel * pixels;
        e.checkpoint = cost::checkpoint_per_cell * (e.levels.empty() ? double(e.cells) : 2 * held);

        if (on_device()) {
            e.device = cost::device_program +
                       (device_bytes_per_cell() + more_bytes_per_cell()) * double(grid_.storage()) +
                       cost::memory_per_particle[D - 2] * particles();
            if (D == 3 && o.preview) e.device += cost::memory_per_pixel * pixels;
            // The states that frames are written from.
            const double state = 4.0 * (2 + D) * double(grid_.storage());
            e.memory = cost::program + cost::device_runtime + state * states_at_once(state) +
                       cost::memory_per_mesh_byte * e.surface + memory_per_volume_byte() * e.volume +
                       (o.preview ? cost::memory_per_pixel * pixels : 0) +
                       (o.state ? cost::memory_per_state_cell * double(e.cells) : 0);
            return;
        }
        // Fields are resident where water has been.
        const double fields = smoke_ ? (smoke_bytes_per_cell() + more_bytes_per_cell()) * (e.levels.empty() ? double(grid_.storage()) : double(octree_cells()))
                                     : cost::memory_per_particle[D - 2] * particles() + (e.levels.empty() ? cost::memory_per_cell : cost::memory_per_octree_cell) * double(e.cells) +
                                           (cost::memory_per_touched_cell[D - 2] + more_bytes_per_cell()) *
                                               (params_.method.grid == GridKind::tall ? in_layer() : double(touched_cells()));
        e.memory = cost::program + fields + cost::memory_per_tall_node * e.unknowns +
                   cost::memory_per_mesh_byte * e.surface + memory_per_volume_byte() * e.volume;
        if (o.preview) e.memory += cost::memory_per_pixel * pixels;
        if (o.state) e.memory += cost::memory_per_state_cell * double(e.cells);
        if (!scene_.solids.empty())
            e.memory += cost::memory_per_solid_field * double(e.cells) * (1 + D);
        for (const Shape& s : solids_)
            e.memory += cost::memory_per_sample * s.sampled.nodes[0] * s.sampled.nodes[1] * s.sampled.nodes[2];
    }

    // Tall cells: the unknowns of columns of mean depth, and the cells of the tiles that hold their layer.
    double in_layer()
    {
        const double columns = double(grid_.count()) / grid_.cells[1];
        const TallEstimate tall = estimate_tall(params_, std::max(1.0, double(report_.estimate.wet) / columns), grid_.h);
        report_.estimate.per_column = tall.per_column;
        report_.estimate.unknowns = columns * tall.per_column;
        return std::min(double(touched_cells()), columns * (tall.layer + 2.5 * tile_size));
    }

    // Solids that move are written every frame, as meshes twice as fine as the water's.
    double moving_solid_cells() const
    {
        if (D == 2 || !scene_.solids.moving()) return 0;
        double cells = 0;
        scan(
            grid_, grid_.box(), [&](Vec3 x) { return std::max(in_solid(x), in_domain(x)); }, 0.5 * grid_.h,
            [&](Vec3, double) { ++cells; }, [](const Box<D>&, bool) {});
        return 4 * cells;
    }

    double memory_per_volume_byte() const
    {
        return params_.output.volume_format == VolumeFormat::vdb ? cost::memory_per_volume_byte
                                                                 : cost::memory_per_plain_volume_byte;
    }

    // Bytes of a volume on disk. OpenVDB stores what is wet; the others every cell's phi, velocity and distance to
    // solids.
    double volume() const
    {
        if (params_.output.volume_format == VolumeFormat::vdb)
            return smoke_ ? cost::vdb_per_smoke_cell * double(grid_.count()) : cost::vdb_per_wet_cell * double(report_.estimate.wet);
        const int components = params_.output.volume_format == VolumeFormat::vti ? 3 : D;
        return 4.0 * (1 + components + (scene_.solids.empty() ? 0 : 1)) * double(grid_.count());
    }

    // What CIP and air add, as step/water.h, advect/cip.h and run/backup.h name the fields.
    double more_bytes_per_cell() const
    {
        const bool phi = is_cip(params_.surface.advection),
                   velocity = is_cip(params_.method.advection);
        double fields = (phi ? 2 * D : 0) + (velocity ? 2 * D * D : 0);                        // gradients, twice
        if (phi || velocity) fields += D + (D == 2 ? 1 : 4) + D * D + (velocity ? D : 0) + 1;  // room
        if (params_.method.phases != Phases::water_air) return 4 * fields;
        fields += 1 + D + 1 + (params_.surface.spray ? 1 : 0);  // fluid, density, the correction of pressure, referred
        fields += 2 + D + (velocity ? D * D : 0) + 2 * D;  // the air's own velocity, acceleration and its backup
        if (params_.fluid.viscosity.any() || params_.air.viscosity.any()) fields += 1 + 3 * D;
        return 4 * fields;
    }

    // The cells that smoke is in at the start.
    int64_t smoky_cells() const
    {
        const auto clouds = scene_.clouds.at(0);
        return clouds.empty() ? 0 : count_inside(grid_, [&](Vec3 x) { return std::max(distance(clouds, x), -in_solid(x)); });
    }

    // Of a whole domain of air with smoke, as step/smoke.cpp makes them.
    double smoke_bytes_per_cell() const
    {
        const double state = 4 * (4 + D);  // phi, pressure, density, temperature, velocity; twice
        // Swelling, scratch, faces, known; fluxes, capacity, filled, next; diagonal, Dirichlet terms, coarse levels.
        double bytes = 2 * state + 4 * 4 + 5 * D + 4 * (D + 5) + 4 * 2 + 4.0 * (3 + D) / ((1 << D) - 1);
        if (params_.air.viscosity.any()) bytes += 3 * 4 * D;
        if (!scene_.solids.empty()) bytes += 4 + 4;           // distance to fluid, labels of closed components
        return bytes + (D == 3 && params_.output.preview ? 4 : 0);  // a level set without water
    }

    // A GPU keeps every field whole; this counts them, as step/water.h names them.
    double device_bytes_per_cell() const
    {
        const double state = 4 * (2 + D);                      // phi, pressure, velocity
        const double work = 4 * D + D + 4 * 3 + 4;             // faces, known, scratch, the inverse diagonal
        const double levels = 4.0 * (3 + D) / ((1 << D) - 1);  // x, b, 1/diagonal, w of all coarse ones
        double bytes = 2 * state + work + levels;              // twice: before and after the step
        bytes += 5 * 4;                                        // bodies of water: now, before, moving, in the backup; divergence source
        const bool solids = !scene_.solids.empty();
        if (params_.fluid.viscosity.any()) bytes += 3 * 4 * D;
        if (params_.fluid.surface_tension.any()) bytes += 4;
        if (solids)
            bytes += 4 + 4 + 4 * D + (scene_.solids.moving() ? 4 * D : 0);  // to water, distance, open, velocity
        for (const SolidParams& s : params_.solid)
            if (s.no_slip) {
                bytes += D;
                break;
            }
        bool inlets = false, rates = false;
        for (const SourceParams& s : params_.source) inlets |= s.velocity.has_value(), rates |= s.rate.has_value();
        for (const SinkParams& s : params_.sink) rates |= s.rate.has_value();
        return bytes + (inlets ? 1 : 0) + (rates ? 4 : 0) + (solids || inlets ? 4 : 0);
    }

    // How many particles the surface will have.
    double particles() const
    {
        const SurfaceKind kind = params_.method.surface;
        if (kind == SurfaceKind::level_set || kind == SurfaceKind::marker_chains || scene_.water.empty()) return 0;
        if (kind == SurfaceKind::height_field) return double(grid_.count()) / grid_.cells[1];
        if (params_.method.surface == SurfaceKind::markers)
            return double(report_.estimate.wet) / marker_share<D>(markers_along<D>(params_.surface.particles_per_cell));
        double free_surface = 0;  // in cells; it has one on either side
        scan(
            grid_, grid_.box(), [&](Vec3 x) { return distance(water_, x); }, 0.99 * grid_.h,
            [&](Vec3 x, double d) {
                const bool at_wall = std::fabs(d - in_domain(x)) < 0.1 * grid_.h;
                free_surface += in_solid(x) > 0 && !at_wall ? 0.5 : 0;
            },
            [](const Box<D>&, bool) {});
        const double sides = params_.method.surface == SurfaceKind::particle_level_set ? 1 : 0.5;
        return sides * cost::particles_growth * cost::particles_across * params_.surface.particles_per_cell *
               free_surface;
    }

    // The cells that water may come to. It rises to its head and no further, but for spray: its height plus what its
    // speed can lift it by, u^2 / 2g.
    int64_t touched_cells() const
    {
        if (params_.method.grid == GridKind::octree) return octree_cells();
        const Vec3 gravity = params_.domain.gravity.at(0);
        const double g = length(gravity);
        if (!(g > 0) || params_.flow || params_.method.phases == Phases::water_air) return grid_.count();
        const auto height = [&](Vec3 x) { return -dot(gravity, x) / g; };
        double head = -std::numeric_limits<double>::infinity();
        const auto raise = [&](const std::vector<Shape>& shapes, double speed) {
            const auto d = [&](Vec3 x) { return distance(shapes, x); };
            // The highest point is on the boundary: of the shape, or of the domain.
            scan(
                grid_, grid_.box(), [&](Vec3 x) { return std::max(d(x), in_domain(x)); }, grid_.h,
                [&](Vec3 x, double) { head = std::max(head, height(x) + 0.5 * speed * speed / g); },
                [](const Box<D>&, bool) {});
        };
        double speed = 0;
        for (size_t i = 0; i < params_.water.size(); ++i) {
            const WaterParams& w = params_.water[i];
            double own = 0;
            if (w.shape == ShapeKind::solitary_wave)  // fastest at the crest
                own = length(own_velocity(water_[i], water_[i].pose.apply({w.scale * *w.crest, 0, 0}), g));
            speed = std::max(speed, length(w.velocity) + own);
        }
        if (!scene_.water.empty()) raise(water_, speed);
        for (size_t i = 0; i < scene_.sources.size(); ++i) {
            double fastest = 0;
            if (params_.source[i].velocity)
                for (const auto& key : params_.source[i].velocity->keys) fastest = std::max(fastest, length(key.v));
            raise(scene_.sources[i].at(0), fastest);
        }
        head += cost::margin_cells * grid_.h;
        return count_inside(grid_, [&](Vec3 x) { return std::max(height(x) - head, -in_solid(x)); });
    }

    // Of an octree, the cells whose memory is touched: small ones around the surface, of which there may come to be more, and
    // larger ones.
    int64_t octree_cells() const
    {
        double cells = 0;
        for (size_t l = 0; l < report_.estimate.levels.size(); ++l)
            cells += (l == 0 ? cost::surface_growth : 1) * double(report_.estimate.levels[l]);
        return std::min(int64_t(cells), grid_.count());
    }

    // Whether a shape is where it can do anything. The reader has refused water, sources, sinks and wind outside the
    // domain.
    void placement()
    {
        Vec3 size = lift<D>(grid_.size());
        for (size_t i = 0; i < solids_.size(); ++i) {
            const SolidParams& p = params_.solid[i];
            if (p.subtract || p.translate.varies() || p.rotate.varies()) continue;  // what moves may come in later
            if (!reaches(solids_[i], size, D, 0.125 * grid_.h))
                add(Finding::warning,
                    fmt::format("{}: {}", place("solid", p.line), why_outside(solids_[i], params_.domain)));
            else if (const std::string hint = unit_hint(solids_[i], params_.domain); !hint.empty())
                add(Finding::warning, fmt::format("{}: {}", place("solid", p.line), hint));
        }
        for (const GaugeParams& g : params_.gauge)
            if ((g.kind == GaugeKind::pressure || g.kind == GaugeKind::velocity) && in_solid(*g.point) < -grid_.h)
                add(Finding::error,
                    fmt::format("{}: gauge {}: point lies inside a solid; move it out, or to the solid's surface",
                                place("gauge", g.line), g.name));
        for (size_t i = 0; i < scene_.sources.size(); ++i)
            outlet("source", Finding::error, scene_.sources[i], params_.source[i]);
        for (size_t i = 0; i < scene_.sinks.size(); ++i)
            outlet("sink", Finding::warning, scene_.sinks[i], params_.sink[i]);
        if (!scene_.wind.empty() && !scene_.wind.moving())
            outlet("wind", Finding::warning, scene_.wind, *params_.wind->where);
        if (params_.wind && params_.wind->alpha == Keyed<double>(0.0))
            add(Finding::warning, fmt::format("{}: wind: alpha is 0, so that it does nothing; raise it, or remove "
                                              "[wind]",
                                              scene_.file));

        if (smoke_ && report_.estimate.wet == 0 && scene_.sources.empty())
            add(Finding::error, fmt::format("{}: all the smoke lies inside solids, or is thinner than a cell", scene_.file));
        if (!scene_.water.empty() && !scene_.solids.empty()) {
            const int64_t both =
                count_inside(grid_, [&](Vec3 x) { return std::max(distance(water_, x), in_solid(x)); });
            if (both > 0)
                add(Finding::info,
                    fmt::format("{}: water and solids overlap in {} cells; the solid wins", scene_.file, both));
        }
        if (!smoke_ && report_.estimate.wet == 0 && scene_.sources.empty())
            add(Finding::error,
                fmt::format("{}: all the water lies inside solids, or is thinner than a cell", scene_.file));
    }

    // What stands in the way of a source, a sink or the wind.
    void outlet(const char* kind, Finding::Level level, const Geometry& geometry, const ShapeParams& params)
    {
        const std::vector<Shape> shapes = geometry.at(0);
        const auto d = [&](Vec3 x) { return distance(shapes, x); };
        const int64_t all = count_inside(grid_, d);
        if (all == 0) {
            add(level, fmt::format("{}: covers no cell's centre; make it larger than a cell, {:.3g} m",
                                   place(kind, params.line), grid_.h));
            return;
        }
        if (scene_.solids.empty()) return;
        const int64_t blocked = count_inside(grid_, [&](Vec3 x) { return std::max(d(x), in_solid(x)); });
        if (blocked == all)
            add(level, fmt::format("{}: lies wholly inside a solid; move it out", place(kind, params.line)));
        else if (2 * blocked > all)
            add(Finding::warning,
                fmt::format("{}: more than half of it lies inside a solid", place(kind, params.line)));
    }

    // "scene.toml:14: source": as the reader names places.
    std::string place(const char* kind, int line) const { return fmt::format("{}:{}: {}", scene_.file, line, kind); }

    // At the domain's sides no-slip acts by viscosity alone; the scheme of 1996 has it in its velocities. A solid's is also in the velocity
    // that the water is carried with beside it.
    void walls_that_do_not_stick()
    {
        const bool air = (smoke_ || params_.method.phases == Phases::water_air) && params_.air.viscosity.any();
        if (params_.fluid.viscosity.any() || air || params_.method.solver == Solver::foster_metaxas) return;
        const WallsParams& w = params_.domain.walls;
        for (const WallKind kind : {w.left, w.right, w.bottom, w.top, w.back, w.front})
            if (kind == WallKind::no_slip) {
                add(Finding::warning, fmt::format("{}: domain.walls: \"no-slip\" does nothing to {} without viscosity; give {}.viscosity, or "
                                                  "make it \"slip\"",
                                                  scene_.file, smoke_ ? "air" : "water", smoke_ ? "air" : "fluid"));
                break;
            }
    }

    // A wall thinner than a cell is seen as a sheet between cells. A mesh's is lost where it passes between samples.
    // The centres of the cells near a solid are carried to its surface; from there a walk inward along the normal must
    // stay in the solid for a cell's length.
    void thin_walls()
    {
        if (scene_.solids.empty()) return;
        const double h = grid_.h;
        int64_t points = 0, thin = 0, sampled = 0;
        double least = h;
        Vec3 where;
        // Outwards, of any length.
        const auto outwards = [&](Vec3 x) {
            const double eps = 1e-3 * h;
            Vec3 n;
            for (int a = 0; a < D; ++a) {
                const Vec3 e = eps * Vec3::unit(a);
                n[a] = in_solid(x + e) - in_solid(x - e);
            }
            return n;
        };
        const auto look = [&](Vec3 x, double d) {
            Vec3 normal = outwards(x);
            const double size = length(normal);
            if (!(size > 1e-3 * h)) return;  // midway between two surfaces: its neighbours see them
            normal = (1 / size) * normal;
            const Vec3 surface = x - d * normal;
            ++points;
            for (double depth = h / 16; depth < h; depth += h / 16) {
                const Vec3 y = surface - depth * normal;
                if (in_domain(y) > 0) return;  // the domain's wall stands behind it
                if (in_solid(y) > 0) {
                    // The sides of a wall face away from each other; at a sharp edge they meet.
                    const Vec3 other = outwards(y);
                    if (dot(other, normal) > -0.8 * length(other)) return;
                    ++thin;
                    int owner = 0;
                    (void)distance(solids_, surface, &owner);
                    sampled += solids_[static_cast<size_t>(owner)].sampled.values != nullptr;
                    if (depth < least) {
                        least = depth;
                        where = surface;
                    }
                    return;
                }
            }
        };
        scan(
            grid_, grid_.box(), [&](Vec3 x) { return in_solid(x); }, h, look, [](const Box<D>&, bool) {});
        // Tips and sharp edges are always thin somewhere; only what is thin over some of the surface is a wall.
        if (thin == 0 || double(thin) < thin_share * double(points)) return;
        const std::string spot = fmt::format(
            "{}: solids are thinner than a cell ({:.3g} m) over {:.0f} % of their surface, near ({:.3g}, {:.3g}{})",
            scene_.file, h, 100.0 * double(thin) / double(points), where[0], where[1],
            D == 3 ? fmt::format(", {:.3g}", where[2]) : "");
        if (params_.method.solver == Solver::foster_metaxas)
            add(Finding::error, spot + "; the solver \"foster-metaxas\" fills whole cells: make them thicker, raise domain.cells, or "
                                       "choose the solver \"projection\"");
        else if (double(sampled) >= thin_share * double(points))
            add(Finding::warning, spot + "; water may pass through a mesh: make it thicker or raise domain.cells");
        else
            add(Finding::info, spot + "; they hold water, which keeps to them as to the grid's nearest faces");
        // ThinWalls, where they go in a step, and the room beside them: see bodies/solids.h.
        Estimate& e = report_.estimate;
        const double bytes = 4 + 2 * D + (scene_.solids.moving() ? 2 * D : 0);
        (on_device() ? e.device : e.memory) += bytes * double(e.cells);
    }

    void heights()
    {
        if (const std::string what = height_field_problem(scene_); !what.empty()) add(Finding::error, what);
    }

    void fit()
    {
        const Estimate& e = report_.estimate;
        if (on_device() && e.device > device().memory_free)
            add(Finding::error, fmt::format("{}: needs {} of memory on the GPU and {} are free; lower domain.cells",
                                            scene_.file, size_text(e.device), size_text(device().memory_free)));
        const double available = double(memory_available());
        if (e.memory > available)
            add(Finding::error, fmt::format("{}: needs about {} of memory and {} are available; lower domain.cells",
                                            scene_.file, size_text(e.memory), size_text(available)));
    }

    static constexpr double thin_share = 0.02;

    const Scene& scene_;
    const Params& params_;
    const Grid<D> grid_;
    const std::vector<Shape> water_, solids_;
    const bool smoke_ = params_.method.phases == Phases::smoke;
    CheckReport report_;
};

}  // namespace

CheckReport check(const Scene& scene)
{
    return scene.params.dimension() == 2 ? Checker<2>(scene).run() : Checker<3>(scene).run();
}

void check_disk(CheckReport& report, const Scene& scene, const std::string& out)
{
    const int64_t free = disk_available(out);
    if (free < 0) return;
    const Estimate& e = report.estimate;
    const double first = e.disk_per_frame() + 2 * e.checkpoint, all = e.disk(scene.params.time.frames);
    if (all <= double(free)) return;
    report.findings.push_back(
        {first > double(free) ? Finding::error : Finding::warning,
         fmt::format("{}: the run needs about {} and {} are free there; make room, or give another "
                     "folder with --out",
                     out, size_text(all), size_text(double(free)))});
}

void print_check(const Scene& scene, const CheckReport& report)
{
    const Estimate& e = report.estimate;
    const Params& p = scene.params;
    fmt::print("{}: {}\n", scene.file, p.title.empty() ? scene.name : p.title);
    fmt::print("  grid     {} = {} cells of {:.4g} m, {:.0f} % {} at the start\n", e.grid, e.cells, e.h,
               100.0 * double(e.wet) / double(e.cells), p.method.phases == Phases::smoke ? "with smoke" : "wet");
    if (e.unknowns > 0)
        fmt::print("  columns  about {:.0f} unknowns of the pressure, {:.0f} in each\n", e.unknowns, e.per_column);
    for (size_t l = 0; l < e.levels.size(); ++l)
        fmt::print("{}{} of {:.4g} m{}", l ? ", " : "  octree   ", e.levels[l], e.h * double(1 << l), l + 1 < e.levels.size() ? "" : "\n");
    fmt::print("  time     {} frames at {:g} per second: {:.4g} s{}\n", p.time.frames, p.time.rate,
               p.time.time_of(p.time.frames),
               p.time.speed == 1 ? "" : fmt::format(", {:.4g} s on the screen", p.time.frames / p.time.rate));
    if (on_device())
        fmt::print("  GPU      {}, of {} free on {}\n", size_text(e.device), size_text(device().memory_free),
                   device().name);
    fmt::print("  memory   about {}, of {} available\n", size_text(e.memory), size_text(double(memory_available())));
    fmt::print("  disk     about {} ({} a frame{}, checkpoints {})\n", size_text(e.disk(p.time.frames)),
               size_text(e.disk_per_frame()),
               e.state > 0 ? fmt::format(", of it {} to make other files from", size_text(e.state)) : "",
               size_text(2 * e.checkpoint));
    for (const Finding& f : report.findings)
        if (f.level != Finding::error)
            fmt::print("  {}: {}\n", f.level == Finding::warning ? "warning" : "note", f.text);
    std::fflush(stdout);
    for (const Finding& f : report.findings)
        if (f.level == Finding::error) throw InputError(f.text);
    fmt::print("  can run\n");
}

}  // namespace tarn
