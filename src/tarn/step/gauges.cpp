// What gauges read. Heights and fluxes come from phi and the velocity; pressures and forces from the pressure of the newest
// solve, which holds at the centres of wet cells and is continued from there by its own gradient, so that water at rest has its
// hydrostatic pressure everywhere, up to walls and surface.

#include "tarn/step/gauges.h"

#include <algorithm>
#include <cmath>

#include "tarn/field/sample.h"
#include "tarn/pressure/surface_fraction.h"
#include "tarn/scene/frame.h"
#include "tarn/scene/make_bodies.h"
#include "tarn/scene/wetted.h"
#include "tarn/step/boundary.h"

namespace tarn {

namespace {

int numbers_of(GaugeKind kind, int dimension)
{
    if (kind == GaugeKind::velocity || kind == GaugeKind::force) return dimension;
    return kind == GaugeKind::torque && dimension == 3 ? 3 : 1;
}

// Calls f once where kernels run, and returns what it gives.
template <int D, class F>
Vec<D> read_once(const F& f)
{
    Memory<Vec<D>> value(1);
    Vec<D>* const to = value.data();
    parallel_range("gauge", 1, [=] TARN_KERNEL(int) { *to = f(); });
    Vec<D> read;
    backend::copy(&read, to, sizeof read);
    return read;
}

// A position in cells, as kernels sample fields.
template <int D>
Vec<D, float> in_cells(const Grid<D>& grid, Vec3 x)
{
    return (1 / grid.h * take<D>(x) - Vec<D>::all(0.5)).template as<float>();
}

// The height of the surface over a point: the highest place along the vertical where water begins, outside of solids; 0 where
// there is no water.
template <int D>
double height(const Water<D>& w, Vec3 point)
{
    const auto phi = w.phi.view();
    const View<D, const float> nodes = w.solids.any ? w.solids.distance.view() : View<D, const float>{};
    const Cell<D> cells = w.grid.cells;
    const Vec<D, float> foot = in_cells(w.grid, point);
    const Vec<D> found = read_once<D>([=] TARN_KERNEL() {
        Vec<D> result;
        float above = 1;  // phi one cell higher; past the top there is air
        for (int j = cells[1] - 1; j >= 0; --j) {
            Vec<D, float> x = foot;
            x[1] = static_cast<float>(j);
            const float here = sample_cells(phi, cells, x);
            const bool solid = nodes.data && nodes_at_cell<D>(nodes, cell_at(x, cells)) < 0;
            if (here < 0 && !solid) {
                const float part = j + 1 < cells[1] && above > 0 ? here / (here - above) : 0.5f;
                result[0] = static_cast<double>(j) + 0.5 + static_cast<double>(part);
                return result;
            }
            above = here;
        }
        return result;
    });
    return w.grid.h * found[0];
}

// The pressure's change from one cell to the next along an axis, at a wet cell: from wet neighbours through open faces, or else
// towards the surface, where p = 0.
template <int D>
TARN_HD inline float pressure_slope(const View<D, const float>& pressure, const WetCells<D>& wet, Cell<D> c, int axis, float h)
{
    float sum = 0, to_surface = 0;
    int sides = 0, surfaces = 0;
    for (int side = 0; side < 2; ++side) {
        const Cell<D> face = moved<D>(c, axis, side), other = moved<D>(c, axis, 2 * side - 1);
        if (!(wet.boundary.open_at(face, axis) > 0)) continue;
        const float sign = side ? 1.0f : -1.0f;
        if (wet(other)) {
            sum += sign * (pressure(other) - pressure(c));
            ++sides;
        } else if (wet.phi.data && Box<D>{{}, wet.boundary.cells}.contains(other)) {
            to_surface -= sign * pressure(c) / surface_fraction(wet.phi(c), wet.phi(other), h);
            ++surfaces;
        }
    }
    if (sides > 0) return sum / static_cast<float>(sides);
    return surfaces > 0 ? to_surface / static_cast<float>(surfaces) : 0.0f;
}

// The pressure at a point, from the nearest cell that has one: 0 in the air, and where there is none near.
template <int D>
double pressure_at(const Water<D>& w, const Params& p, Vec3 point)
{
    const WetCells<D> wet = wet_cells(w, p);
    const auto pressure = w.pressure.view();
    const Cell<D> cells = w.grid.cells;
    const float h = static_cast<float>(w.grid.h);
    const Vec<D, float> x = in_cells(w.grid, point);
    return read_once<D>([=] TARN_KERNEL() {
        Vec<D> result;
        if (wet.phi.data && !(sample_cells(wet.phi, cells, x) < 0)) return result;
        const Cell<D> middle = cell_at(x, cells);
        float least = 1e30f;
        for (int n = 0; n < (D == 2 ? 9 : 27); ++n) {
            Cell<D> c = middle;
            for (int a = 0, rest = n; a < D; ++a, rest /= 3) c[a] += rest % 3 - 1;
            const Vec<D, float> away = x - c.template as<float>();
            if (!wet(c) || !(length(away) < least)) continue;
            least = length(away);
            float value = pressure(c);
            for (int a = 0; a < D; ++a) value += away[a] * pressure_slope(pressure, wet, c, a, h);
            result[0] = static_cast<double>(value);
        }
        return result;
    })[0];
}

// The newest velocity and the one before, and how much of the latter there is in that of the surface's time.
template <int D>
struct VelocityNow {
    FaceView<D, const float> newest, before;
    double share = 0;
};

template <int D>
VelocityNow<D> velocity_now(const Water<D>& w, const VelocityBefore<D>& before)
{
    const FaceView<D, const float> newest = w.velocity.view();
    const double share = share_of_before(w, before);
    return {newest, share == 0 ? newest : before.velocity->view(), share};
}

// The velocity of the water at a point; 0 where there is none.
template <int D>
Vec<D> velocity_at(const Water<D>& w, const VelocityNow<D>& u, Vec3 point)
{
    const auto phi = w.phi.view();
    const Cell<D> cells = w.grid.cells;
    const Vec<D, float> x = in_cells(w.grid, point);
    return read_once<D>([=] TARN_KERNEL() {
        if (!(sample_cells(phi, cells, x) < 0)) return Vec<D>{};
        const Vec<D> newest = sample_velocity(u.newest, cells, x).template as<double>();
        const Vec<D> before = sample_velocity(u.before, cells, x).template as<double>();
        return newest + u.share * (before - newest);
    });
}

// The axis along which the rectangle of a flux is flat.
int flat_axis(const GaugeParams& g, int dimension)
{
    for (int a = 0; a < dimension; ++a)
        if ((*g.min)[a] == (*g.max)[a]) return a;
    return 0;
}

// What flows through a rectangle across an axis, towards larger coordinates: the wet and open part of each face times its
// velocity, between the two layers of faces beside it.
template <int D>
double flux(const Water<D>& w, const VelocityNow<D>& u, const Params& p, const GaugeParams& g)
{
    const int axis = flat_axis(g, D);
    const Grid<D> grid = w.grid;
    const Boundary<D> boundary = boundary_of(w, p);
    const auto phi = w.phi.view();
    const View<D, const float> newest = u.newest[axis], before = u.before[axis];
    const double share = u.share;
    const Vec<D> lo = take<D>(*g.min), hi = take<D>(*g.max);
    const double plane = std::clamp(lo[axis] / grid.h, 0.0, static_cast<double>(grid.cells[axis]));
    const float h = static_cast<float>(grid.h);
    const double sum = parallel_sum("gauge", all_tiles(grid), [=] TARN_KERNEL(Cell<D> c) {
        // A cell gives to its lower face, and the last one to its upper face, too.
        double flow = 0;
        for (int last = 0; last < (c[axis] + 1 == grid.cells[axis] ? 2 : 1); ++last) {
            const Cell<D> face = moved<D>(c, axis, last);
            const double away = std::fabs(face[axis] - plane);
            if (away >= 1) continue;
            const double late = static_cast<double>(newest(face)), early = static_cast<double>(before(face));
            double part = (1 - away) * static_cast<double>(boundary.open_at(face, axis)) * (late + share * (early - late));
            for (int a = 0; a < D; ++a) {
                if (a == axis) continue;
                const double from = lo[a] > c[a] * grid.h ? lo[a] : c[a] * grid.h;
                const double to = hi[a] < (c[a] + 1) * grid.h ? hi[a] : (c[a] + 1) * grid.h;
                part *= to > from ? to - from : 0;
            }
            if (part == 0) continue;
            // Past an end of the domain the surface goes on as it is there.
            const Cell<D> upper = face[axis] < grid.cells[axis] ? face : moved<D>(face, axis, -1);
            const Cell<D> lower = face[axis] > 0 ? moved<D>(face, axis, -1) : face;
            Vec<D, float> slope = gradient_per_cell<D>(phi, grid.cells, upper);
            slope += gradient_per_cell<D>(phi, grid.cells, lower);
            slope *= 0.5f;
            slope[axis] = 0;
            flow += part * static_cast<double>(fraction_behind<D>(0.5f * (phi(upper) + phi(lower)) / h, (1 / h) * slope));
        }
        return flow;
    });
    return sum;
}

// The force of the water on a solid (number 0 to D - 1), or its torque about a point (D and on).
template <int D>
double force_on_solid(const Water<D>& w, const Scene& scene, SolidEntries entries, Vec3 about, int number)
{
    const Params& p = scene.params;
    const WetCells<D> wet = wet_cells(w, p);
    const auto pressure = w.pressure.view(), nodes = w.solids.distance.view();
    const KernelShapes kept = scene.solids.for_kernels(w.time, {lift<D>(w.grid.size()), w.grid.h});
    const ShapesView shapes = kept.view();
    const Grid<D> grid = w.grid;
    const FrameForces frame = frame_forces(p, w.time, 0);
    const double scale = p.fluid.density.constant() * grid.h;
    const float near = static_cast<float>(1.5 * grid.h);
    const double sum = parallel_sum("gauge", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
        if (std::fabs(nodes_at_cell<D>(nodes, c)) > near || !wet(c)) return 0.0;
        const auto owns = [&](Cell<D> face, int axis) {
            int owner = 0;
            (void)shapes.distance(lift<D>(grid.face(face, axis)), &owner);
            return owner >= entries.first && owner <= entries.last;
        };
        const SolidPatch<D> patch = patch_in_cell(wet, shapes, entries, grid, c, owns);
        if (!patch.any && !(patch.volume > 0)) return 0.0;
        const double here = static_cast<double>(pressure(c));
        const Vec<D> slope = wet.relative_density(c) * (scale * take<D>(frame.at(lift<D>(grid.centre(c)))));
        if (number < D) return patch.force(here, slope)[number];
        const Vec3 torque = cross(lift<D>(grid.centre(c) + grid.h * patch.middle) - about, lift<D>(patch.at_middle(here, slope)));
        return torque[D == 2 ? 2 : number - D];
    });
    return sum * cell_volume(grid) / grid.h;
}

// The water's force on a body over the newest step, or its torque about a point, its centre of mass where none is given.
double of_body(const RigidBody& b, bool torque, const std::optional<Vec3>& about, int number, int dimension)
{
    if (!torque) return b.force[number];
    const Vec3 all = about ? b.torque + cross(b.position - *about, b.force) : b.torque;
    return all[dimension == 2 ? 2 : number];
}

// The highest wet point outside of solids, within the box where one is given; 0 where there is no water.
template <int D>
double runup(const Water<D>& w, const GaugeParams& g)
{
    const Grid<D> grid = w.grid;
    const auto phi = w.phi.view();
    const View<D, const float> nodes = w.solids.any ? w.solids.distance.view() : View<D, const float>{};
    const Vec<D> lo = g.min ? take<D>(*g.min) : Vec<D>{}, hi = g.max ? take<D>(*g.max) : grid.size();
    return parallel_max("gauge", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
        if (!(phi(c) < 0) || (nodes.data && nodes_at_cell<D>(nodes, c) < 0)) return 0.0f;
        const Vec<D> x = grid.centre(c);
        for (int a = 0; a < D; ++a)
            if (x[a] < lo[a] || x[a] > hi[a]) return 0.0f;
        const float above = c[1] + 1 < grid.cells[1] ? phi(moved<D>(c, 1, 1)) : 1.0f;
        const float part = above > 0 && c[1] + 1 < grid.cells[1] ? phi(c) / (phi(c) - above) : 0.5f;
        return static_cast<float>(x[1] + grid.h * static_cast<double>(part));
    });
}

}  // namespace

std::vector<std::string> gauge_columns(const Params& params)
{
    std::vector<std::string> columns;
    for (const GaugeParams& g : params.gauge) {
        const int n = numbers_of(*g.kind, params.dimension());
        for (int a = 0; a < n; ++a) columns.push_back(n == 1 ? g.name : g.name + "_" + "xyz"[a]);
    }
    return columns;
}

SolidEntries entries_of_solid(const Params& params, const std::string& name)
{
    for (int i = 0; i < static_cast<int>(params.solid.size()); ++i)
        if (params.solid[static_cast<size_t>(i)].name == name) return {i, last_entry(params, i)};
    return {0, -1};
}

template <int D>
std::vector<double> read_gauges(const Water<D>& w, const Scene& scene, const VelocityBefore<D>& before)
{
    if (fluids_vary(scene.params)) return read_gauges(w, at_time(scene, w.time), before);
    const Params& p = scene.params;
    const VelocityNow<D> velocity = velocity_now(w, before);
    std::vector<double> values;
    for (const GaugeParams& g : p.gauge) {
        const Vec3 point = g.point.value_or(Vec3{});
        const int n = numbers_of(*g.kind, D);
        switch (*g.kind) {
            case GaugeKind::height:
                values.push_back(height(w, point));
                break;
            case GaugeKind::pressure:
                values.push_back(pressure_at(w, p, point));
                break;
            case GaugeKind::velocity: {
                const Vec<D> u = velocity_at(w, velocity, point);
                for (int a = 0; a < D; ++a) values.push_back(u[a]);
                break;
            }
            case GaugeKind::flux:
                values.push_back(flux(w, velocity, p, g));
                break;
            case GaugeKind::force:
            case GaugeKind::torque: {
                const SolidEntries entries = entries_of_solid(p, g.solid);
                const int body = scene.solids.body_of(static_cast<size_t>(entries.first));
                const bool torque = *g.kind == GaugeKind::torque;
                for (int a = 0; a < n; ++a)
                    values.push_back(body < 0 ? force_on_solid(w, scene, entries, point, (torque ? D : 0) + a)
                                              : of_body(w.bodies[static_cast<size_t>(body)], torque, g.point, a, D));
                break;
            }
            case GaugeKind::runup:
                values.push_back(runup(w, g));
                break;
        }
    }
    return values;
}

template std::vector<double> read_gauges(const Water<2>&, const Scene&, const VelocityBefore<2>&);
template std::vector<double> read_gauges(const Water<3>&, const Scene&, const VelocityBefore<3>&);

}  // namespace tarn
