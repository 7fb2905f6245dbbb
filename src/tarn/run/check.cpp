#include "tarn/run/check.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "tarn/run/machine.h"

namespace tarn {
namespace {

// What a run takes, measured; tests/run_check.cpp holds them to 20 %.
namespace cost {
constexpr double program = 40e6;              // bytes of the program itself, its libraries and threads
constexpr double memory_per_cell = 60;        // bytes, wet or dry: fields that every cell has
constexpr double memory_per_wet_cell = 60;    // bytes on top, where there is water
constexpr double ply_per_surface_cell = 120;  // bytes
constexpr double obj_per_surface_cell = 300;
constexpr double vdb_per_surface_cell = 60;
constexpr double vdb_per_wet_cell = 8;
constexpr double png_per_pixel = 0.5;
constexpr double preview_aspect = 16.0 / 9.0;
constexpr double checkpoint_per_cell(int dimension) { return 4.0 * (dimension + 2); }  // phi, pressure and velocity
}  // namespace cost

// The solver's linear index is an int.
constexpr double most_cells = 2e9;

std::string size_text(double bytes)
{
    if (bytes < 1e6) return fmt::format("{:.0f} kB", std::ceil(bytes / 1e3));
    if (bytes < 1e9) return fmt::format("{:.0f} MB", bytes / 1e6);
    return fmt::format("{:.1f} GB", bytes / 1e9);
}

// "scene.toml:14: water 2": where the reader finds it.
std::string place(const Scene& scene, const char* kind, size_t i, int line)
{
    return fmt::format("{}:{}: {} {}", scene.file, line, kind, i + 1);
}

// Calls near(x) for the centre of every cell that lies within `reach` of the zero set of `distance`, and whole(box, inside) for
// boxes of cells that lie wholly on one side. Boxes are halved until they do, so the work follows the surface.
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
        size();
        placement();
        thin_walls();
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

        // The surface that is written runs along walls and solids too: the boundary of (water without solids) in the domain.
        int64_t surface_cells = 0;
        if (!scene_.water.empty()) {
            const auto wet = [&](Vec3 x) {
                return std::max({distance(water_, x), -in_solid(x), in_domain(x)});
            };
            scan(
                grid_, grid_.box(), wet, 0.5 * e.h,
                [&](Vec3, double d) {
                    ++surface_cells;
                    e.wet += d < 0;
                },
                [&](const Box<D>& box, bool inside) { e.wet += inside ? box.volume() : 0; });
        }
        e.memory = cost::program + cost::memory_per_cell * double(e.cells) + cost::memory_per_wet_cell * double(e.wet);
        const OutputParams& o = params_.output;
        if (o.surface == SurfaceFormat::ply) e.surface = cost::ply_per_surface_cell * double(surface_cells);
        if (o.surface == SurfaceFormat::obj) e.surface = cost::obj_per_surface_cell * double(surface_cells);
        if (o.volume)
            e.volume = cost::vdb_per_surface_cell * double(surface_cells) + cost::vdb_per_wet_cell * double(e.wet);
        if (o.preview)
            e.preview = cost::png_per_pixel * o.preview_width * o.preview_width / cost::preview_aspect;
        e.checkpoint = cost::checkpoint_per_cell(D) * double(grid_.storage());
    }

    // Whether a shape is where it can do anything.
    void placement()
    {
        outside("water", Finding::error, params_.water, water_);
        outside("solid", Finding::warning, params_.solid, solids_);
        for (size_t i = 0; i < scene_.sources.size(); ++i) outlet("source", Finding::error, scene_.sources[i], i, params_.source[i]);
        for (size_t i = 0; i < scene_.sinks.size(); ++i) outlet("sink", Finding::warning, scene_.sinks[i], i, params_.sink[i]);

        if (!scene_.water.empty() && !scene_.solids.empty()) {
            const int64_t both =
                count_inside(grid_, [&](Vec3 x) { return std::max(distance(water_, x), in_solid(x)); });
            if (both > 0)
                add(Finding::info, fmt::format("{}: water and solids overlap in {} cells; the solid wins", scene_.file, both));
        }
        if (report_.estimate.wet == 0 && scene_.sources.empty())
            add(Finding::error, fmt::format("{}: there is no water and no source; add [[water]] that covers some cells "
                                            "outside the solids",
                                            scene_.file));
    }

    template <class ShapeList>
    void outside(const char* kind, Finding::Level level, const ShapeList& list, const std::vector<Shape>& shapes)
    {
        for (size_t i = 0; i < shapes.size(); ++i) {
            if (shapes[i].subtract) continue;
            if (list[i].translate.varies() || list[i].rotate.varies()) continue;  // it may come in later
            if (!reaches_domain([&](Vec3 x) { return distance(shapes[i], x); }))
                add(level, fmt::format("{}: lies outside the domain, which is {} m",
                                       place(scene_, kind, i, list[i].line), domain_text()));
        }
    }

    void outlet(const char* kind, Finding::Level level, const Geometry& geometry, size_t i, const ShapeParams& params)
    {
        const std::vector<Shape> shapes = geometry.at(0);
        const auto d = [&](Vec3 x) { return distance(shapes, x); };
        if (!reaches_domain(d)) {
            add(Finding::error, fmt::format("{}: lies outside the domain, which is {} m", place(scene_, kind, i, params.line),
                                            domain_text()));
            return;
        }
        const int64_t all = count_inside(grid_, d);
        if (all == 0) {
            add(level, fmt::format("{}: covers no cell's centre; make it larger than a cell, {:.3g} m",
                                   place(scene_, kind, i, params.line), grid_.h));
            return;
        }
        if (scene_.solids.empty()) return;
        const int64_t blocked = count_inside(grid_, [&](Vec3 x) { return std::max(d(x), in_solid(x)); });
        if (blocked == all)
            add(level, fmt::format("{}: lies wholly inside a solid", place(scene_, kind, i, params.line)));
        else if (2 * blocked > all)
            add(Finding::warning, fmt::format("{}: more than half of it lies inside a solid",
                                              place(scene_, kind, i, params.line)));
    }

    // Whether the shape has a point in the domain, to within a cell.
    template <class Distance>
    bool reaches_domain(const Distance& d) const
    {
        bool found = false;
        scan(
            grid_, grid_.box(), d, grid_.h, [&](Vec3, double) { found = true; },
            [&](const Box<D>&, bool inside) { found |= inside; });
        return found;
    }

    // A wall thinner than a cell leaks or vanishes between the nodes. The centres of the cells near a solid are carried to its
    // surface; from there a walk inward along the normal must stay in the solid for a cell's length.
    void thin_walls()
    {
        if (scene_.solids.empty()) return;
        const double h = grid_.h;
        int64_t points = 0, thin = 0;
        double least = h;
        Vec3 where;
        const auto look = [&](Vec3 x, double d) {
            const double eps = 1e-3 * h;
            Vec3 normal;
            for (int a = 0; a < D; ++a) {
                const Vec3 e = eps * Vec3::unit(a);
                normal[a] = in_solid(x + e) - in_solid(x - e);
            }
            const double size = length(normal);
            if (!(size > eps)) return;  // midway between two surfaces: its neighbours see them
            normal = (1 / size) * normal;
            const Vec3 surface = x - d * normal;
            ++points;
            for (double depth = h / 16; depth < h; depth += h / 16) {
                const Vec3 y = surface - depth * normal;
                if (in_domain(y) > 0) return;  // the domain's wall stands behind it
                if (in_solid(y) > 0) {
                    ++thin;
                    if (depth < least) {
                        least = depth;
                        where = surface;
                    }
                    return;
                }
            }
        };
        scan(grid_, grid_.box(), [&](Vec3 x) { return in_solid(x); }, h, look, [](const Box<D>&, bool) {});
        // Tips and sharp edges are always thin somewhere; only what is thin over some of the surface is a wall.
        if (thin > 0 && double(thin) >= thin_share * double(points))
            add(Finding::warning,
                fmt::format("{}: solids are thinner than a cell ({:.3g} m) over {:.0f} % of their surface, near ({:.3g}, {:.3g}{}); "
                            "water may pass: make them thicker or raise domain.cells",
                            scene_.file, h, 100.0 * double(thin) / double(points), where[0], where[1],
                            D == 3 ? fmt::format(", {:.3g}", where[2]) : ""));
    }

    void fit()
    {
        const Estimate& e = report_.estimate;
        const double available = double(memory_available());
        if (e.memory > available)
            add(Finding::error, fmt::format("{}: needs about {} of memory and {} are available; lower domain.cells",
                                            scene_.file, size_text(e.memory), size_text(available)));
    }

    std::string domain_text() const
    {
        std::string text;
        for (int a = 0; a < D; ++a) text += fmt::format("{}{:.4g}", a ? " x " : "", grid_.size()[a]);
        return text;
    }

    static constexpr double thin_share = 0.02;

    const Scene& scene_;
    const Params& params_;
    const Grid<D> grid_;
    const std::vector<Shape> water_, solids_;
    CheckReport report_;
};

}  // namespace

CheckReport check(const Scene& scene)
{
    // Before a grid is made of it: a number of cells that no index reaches.
    const auto& size = scene.params.domain.size;
    const double h = *std::max_element(size.begin(), size.end()) / scene.params.domain.cells;
    double cells = 1;
    for (double s : size) cells *= std::max(1.0, s / h) + 2;
    if (cells > most_cells) {
        CheckReport report;
        report.findings.push_back({Finding::error, fmt::format("{}: domain.cells = {} makes {:.2g} cells; at most {:.2g} can be "
                                                               "addressed: lower domain.cells",
                                                               scene.file, scene.params.domain.cells, cells, most_cells)});
        return report;
    }
    return scene.params.dimension() == 2 ? Checker<2>(scene).run() : Checker<3>(scene).run();
}

void print_check(const Scene& scene, const CheckReport& report)
{
    const Estimate& e = report.estimate;
    const Params& p = scene.params;
    fmt::print("{}: {}\n", scene.file, p.title.empty() ? scene.name : p.title);
    if (e.cells > 0) {
        fmt::print("  grid     {} = {} cells of {:.4g} m, {:.0f} % wet at the start\n", e.grid, e.cells, e.h,
                   100.0 * double(e.wet) / double(e.cells));
        fmt::print("  time     {} frames at {:g} per second: {:.4g} s\n", p.time.frames, p.time.rate,
                   p.time.frames / p.time.rate);
        fmt::print("  memory   about {}, of {} available\n", size_text(e.memory), size_text(double(memory_available())));
        fmt::print("  disk     about {} ({} a frame, checkpoints {})\n", size_text(e.disk(p.time.frames)),
                   size_text(e.disk_per_frame()), size_text(2 * e.checkpoint));
    }
    for (const Finding& f : report.findings)
        if (f.level != Finding::error) fmt::print("  {}: {}\n", f.level == Finding::warning ? "warning" : "note", f.text);
    std::fflush(stdout);
    for (const Finding& f : report.findings)
        if (f.level == Finding::error) throw InputError(f.text);
    fmt::print("  can run\n");
}

}  // namespace tarn
