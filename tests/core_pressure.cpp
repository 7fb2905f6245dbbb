// The projection: how exact its pressure is, how little divergence it leaves, and how quickly it is solved.

#include <numbers>
#include <random>

#include "run_water.h"
#include "tarn/pressure/project.h"

namespace tarn {
namespace {

// A body of water given by phi alone, with all that a projection needs.
template <int D>
struct Basin {
    Grid<D> grid;
    Field<D> phi, pressure, kappa, b, p, z;
    FaceField<D> velocity, w;
    FaceField<D, uint8_t> known;
    Projection<D> projection;
    Boundary<D> boundary;
    TileMap<D> map;
    Tiles<D> tiles;
    FluidParams fluid{.density = 1, .viscosity = 0, .surface_tension = 0};
    PressureParams params;

    template <class F>
    Basin(int cells, const F& phi_at)
        : grid(Cell<D>::all(cells), 1.0 / cells),
          phi(distance_field(grid, 1.0f)),
          pressure(grid),
          kappa(grid),
          b(grid),
          p(grid),
          z(grid),
          velocity(grid),
          w(grid),
          known(grid),
          projection(grid),
          map(grid, 1),
          tiles(all_tiles(grid))
    {
        boundary.cells = grid.cells;
        parallel_for("phi", tiles, [&](Cell<D> c) { phi(c) = static_cast<float>(phi_at(grid.centre(c))); });
    }
    SolveReport solve(double dt, const Field<D>* volume_rate = nullptr)
    {
        ProjectionForces<D> forces;
        forces.volume_rate = volume_rate;
        if (fluid.surface_tension.any()) forces.kappa = &kappa;
        return project(velocity, pressure, known, phi, forces, boundary, map, tiles, fluid, params, dt, projection,
                       ProjectionScratch<D>{w, b, p, z});
    }
    // The largest velocity component on the faces of the water, and the largest |div u| in it, times h.
    double speed() const
    {
        const auto u = velocity.view();
        const auto wet = phi.view();
        return parallel_max("speed", tiles, [=](Cell<D> c) {
            float fastest = 0;
            for (int a = 0; a < D; ++a) fastest = std::max(fastest, std::fabs(u[a](c)));
            return wet(c) < 0 ? fastest : 0.0f;
        });
    }
    double divergence() const
    {
        const auto u = velocity.view();
        const auto wet = phi.view();
        return parallel_max("divergence", tiles, [=](Cell<D> c) {
            float out = 0;
            for (int a = 0; a < D; ++a) {
                const int i = u[a].index(c);
                out += u[a][i + u[a].next(a)] - u[a][i];
            }
            return wet(c) < 0 ? std::fabs(out) : 0.0f;
        });
    }
};

// A pressure to find again: u* = grad p, so that p is what the projection takes off (dt = rho = 1). On the surface it
// is prescribed as a tension of 1 N/m times the curvature p. The error is relative to the largest |p|.
template <int D, class Phi, class P>
double pressure_error(int cells, const Phi& phi, const P& exact)
{
    Basin<D> basin(cells, phi);
    basin.fluid.surface_tension = 1;
    basin.params.tolerance = 1e-6;
    const double step = 1e-4;
    for (int a = 0; a < D; ++a)
        parallel_for_faces("u*", basin.tiles, a, [&](Cell<D> c) {
            Vec<D> hi = basin.grid.face(c, a), lo = hi;
            hi[a] += step;
            lo[a] -= step;
            basin.velocity[a](c) = static_cast<float>((exact(hi) - exact(lo)) / (2 * step));
        });
    parallel_for("p", basin.tiles,
                 [&](Cell<D> c) { basin.kappa(c) = static_cast<float>(exact(basin.grid.centre(c))); });
    const SolveReport report = basin.solve(1);
    EXPECT_TRUE(report.converged);
    double worst = 0, largest = 0;
    backend::each(basin.grid.box(), [&](Cell<D> c) {
        if (!(basin.phi(c) < 0)) return;
        const double p = exact(basin.grid.centre(c));
        worst = std::max(worst, std::fabs(basin.pressure(c) - p));
        largest = std::max(largest, std::fabs(p));
    });
    return worst / largest;
}

// The slope of a line through (log2 h, log2 error).
double fitted_order(const std::vector<int>& cells, const std::vector<double>& errors)
{
    double x = 0, y = 0, xx = 0, xy = 0;
    for (size_t i = 0; i < cells.size(); ++i) {
        const double h = -std::log2(cells[i]), e = std::log2(errors[i]);
        x += h, y += e, xx += h * h, xy += h * e;
    }
    const double n = static_cast<double>(cells.size());
    return (n * xy - x * y) / (n * xx - x * x);
}

template <int D, class Phi, class P>
void expect_second_order(const std::vector<int>& cells, const Phi& phi, const P& exact)
{
    std::vector<double> errors;
    for (const int n : cells) errors.push_back(pressure_error<D>(n, phi, exact));
    EXPECT_GE(fitted_order(cells, errors), 1.9);
}

constexpr double pi = std::numbers::pi;

// The ghost-fluid surface is second order (Gibou et al. 2002): 1.9 in the maximum norm, as a fit over these grids scatters. The surface cuts the cells at every fraction.
TEST(Pressure, is_second_order_under_a_wavy_surface)
{
    expect_second_order<2>(
        {16, 23, 32, 45, 64, 91, 128},
        [](Vec2 x) { return 0.8 * (x[1] - 0.55 - 0.13 * std::sin(2 * pi * x[0] + 0.7)); },
        [](Vec2 x) { return std::cos(pi * x[0]) * std::cos(pi * x[1]); });
}
TEST(Pressure, is_second_order_in_an_ellipse)
{
    const auto inside = [](Vec2 x) {
        const double a = (x[0] - 0.49) / 0.37, b = (x[1] - 0.52) / 0.23;
        return 0.5 * (a * a + b * b - 1);
    };
    expect_second_order<2>(
        {16, 23, 32, 45, 64, 91, 128}, [=](Vec2 x) { return 0.2 * inside(x); },
        [=](Vec2 x) { return -inside(x) * std::exp(2 * x[0] - x[1]); });
}
TEST(Pressure, is_second_order_in_an_ellipsoid)
{
    const auto inside = [](Vec3 x) {
        const double a = (x[0] - 0.49) / 0.37, b = (x[1] - 0.52) / 0.23, c = (x[2] - 0.5) / 0.31;
        return 0.5 * (a * a + b * b + c * c - 1);
    };
    expect_second_order<3>(
        {12, 17, 24, 34, 48}, [=](Vec3 x) { return 0.2 * inside(x); },
        [=](Vec3 x) { return -inside(x) * std::exp(2 * x[0] - x[1]); });
}

enum class Fill { full, half, wavy };

// Water that is stirred: smooth eddies, and on them as much noise as asked for.
template <int D>
Basin<D> stirred(int cells, Fill fill, double noise)
{
    Basin<D> basin(cells, [=](Vec<D> x) {
        if (fill == Fill::full) return -1.0;
        return x[1] - 0.503 - (fill == Fill::wavy ? 0.2 * std::sin(7 * x[0]) * std::cos(5 * x[D - 1]) : 0.0);
    });
    std::mt19937 random(1);
    for (int a = 0; a < D; ++a)
        for (const Box<D>& box : basin.tiles.boxes)
            backend::each(box, [&](Cell<D> c) {
                const Vec<D> x = basin.grid.face(c, a);
                const double eddy = std::sin(5 * x[(a + 1) % D] + a) * std::cos(3 * x[a] - 1);
                const double rough = static_cast<double>(random()) / static_cast<double>(std::mt19937::max()) - 0.5;
                basin.velocity[a](c) = static_cast<float>(c[a] == 0 ? 0 : eddy + noise * rough);
            });
    return basin;
}

// A multigrid takes as many iterations on every grid: more than a factor of two each, so 12 to 1e-4, and at most 3 more from the
// coarsest grid to the finest. What is left of the divergence is the tolerance, of max|u|/h.
TEST(Projection, leaves_no_divergence_and_stays_quick)
{
    for (const Fill fill : {Fill::full, Fill::half, Fill::wavy})
        for (const double noise : {0.0, 1.0}) {
            int least = 1000, most = 0;
            for (const int cells : {32, 64, 128}) {
                Basin<3> basin = stirred<3>(cells, fill, noise);
                const SolveReport report = basin.solve(0.01);
                EXPECT_TRUE(report.converged);
                EXPECT_LE(basin.divergence(), 1e-4 * basin.speed());
                least = std::min(least, report.iterations);
                most = std::max(most, report.iterations);
            }
            EXPECT_LE(most, 12);
            EXPECT_LE(most, least + 3);
        }
}

// The tuned kernels for a plain box give what the general ones do. A source of nothing asks for the general ones.
TEST(Projection, is_the_same_in_a_plain_box_and_in_general)
{
    for (const Fill fill : {Fill::full, Fill::half, Fill::wavy})
        for (const bool open : {false, true}) {
            Basin<3> tuned = stirred<3>(24, fill, 1), plain = stirred<3>(24, fill, 1);
            for (Basin<3>* basin : {&tuned, &plain})
                basin->boundary.wall_open[0][0] = basin->boundary.wall_open[1][1] = open;
            const Field<3> nothing(plain.grid);
            (void)tuned.solve(0.01);
            (void)plain.solve(0.01, &nothing);
            for (int a = 0; a < 3; ++a)
                parallel_for_faces("compare", tuned.tiles, a, [&](Cell<3> c) {
                    EXPECT_NEAR(tuned.velocity[a](c), plain.velocity[a](c), 1e-5);
                    EXPECT_EQ(tuned.known[a](c), plain.known[a](c));
                });
        }
}

// Water that has left leaves nothing behind: a solve after it gives the same bits as the first one ever, whether small
// levels are done one by one or together, in a plain box and in general.
TEST(Projection, forgets_where_water_was)
{
    for (const bool together : {false, true})
        for (const bool general : {false, true}) {
            Basin<3> used = stirred<3>(64, Fill::full, 1), fresh = stirred<3>(64, Fill::full, 1);
            const Field<3> nothing(used.grid);
            used.projection.multigrid = Multigrid<3>(used.grid, together);
            fresh.projection.multigrid = Multigrid<3>(fresh.grid, together);
            (void)used.solve(0.01, general ? &nothing : nullptr);
            for (Basin<3>* basin : {&used, &fresh}) {
                const Basin<3> start = stirred<3>(64, Fill::full, 1);
                for (int a = 0; a < 3; ++a) basin->velocity[a].copy(start.velocity[a]);
                basin->pressure.fill(0);
                basin->map = TileMap<3>(basin->grid);
                backend::each(basin->grid.box(), [&](Cell<3> c) {
                    const Vec3 x = basin->grid.centre(c) - Vec3{0.3, 0.35, 0.6};
                    basin->phi(c) = static_cast<float>(length(x) - 0.17);
                    Cell<3> tile = c;
                    for (int a = 0; a < 3; ++a) tile[a] /= tile_size;
                    if (basin->phi(c) < 0) basin->map.flags[basin->map.index(tile)] = 1;
                });
            }
            const SolveReport again = used.solve(0.01, general ? &nothing : nullptr);
            const SolveReport first = fresh.solve(0.01, general ? &nothing : nullptr);
            EXPECT_EQ(again.iterations, first.iterations);
            EXPECT_EQ(again.residual, first.residual) << together << general;
        }
}

// The smallest levels of the multigrid, all as one kernel, do what they do one by one.
TEST(Projection, is_the_same_with_small_levels_together)
{
    for (const Fill fill : {Fill::full, Fill::half, Fill::wavy}) {
        Basin<3> plain = stirred<3>(37, fill, 1), together = stirred<3>(37, fill, 1);
        together.projection.multigrid = Multigrid<3>(together.grid, true);
        const SolveReport one_by_one = plain.solve(0.01), at_once = together.solve(0.01);
        EXPECT_EQ(at_once.iterations, one_by_one.iterations);
        for (int a = 0; a < 3; ++a)
            parallel_for_faces("compare", plain.tiles, a,
                               [&](Cell<3> c) { EXPECT_NEAR(together.velocity[a](c), plain.velocity[a](c), 1e-5); });
    }
}

// Relaxation passes what a cell knows on to its neighbours, sweep by sweep, so that with a given coefficient the number of sweeps
// grows as the square of the cells along a side: 4 times at twice the cells. The multigrid's iterations do not. Either leaves no
// more divergence than it was asked for.
TEST(Projection, relaxation_takes_the_square_of_the_cells)
{
    int sweeps[3] = {}, iterations[3] = {};
    for (int n = 0; n < 3; ++n)
        for (const bool relaxed : {true, false}) {
            const int cells = 16 << n;
            Basin<2> basin(cells, [&](Vec<2> x) { return x[1] - 0.75; });
            basin.params.solver = relaxed ? PressureSolver::relaxation : PressureSolver::multigrid;
            basin.params.max_iterations = 100000;
            // Water that starts to fall on one side.
            const auto v = basin.velocity[1].view();
            parallel_for_faces("fall", basin.tiles, 1, [=](Cell<2> c) { v(c) = c[0] < cells / 4 ? -1.0f : 0.0f; });
            const SolveReport report = basin.solve(0.01);
            EXPECT_TRUE(report.converged) << cells;
            EXPECT_LE(report.residual, basin.params.tolerance);
            EXPECT_LT(basin.divergence(), 2 * basin.params.tolerance) << cells;
            (relaxed ? sweeps : iterations)[n] = report.iterations;
        }
    for (int n = 1; n < 3; ++n) {
        EXPECT_NEAR(double(sweeps[n]) / sweeps[n - 1], 4, 1) << sweeps[n - 1] << " to " << sweeps[n];
        EXPECT_LE(iterations[n], iterations[n - 1] + 3);
    }
}

// Enclosed air joins many cells into one unknown; sweeps take what it was a sweep before, and still come to the same pressure.
TEST(Projection, relaxation_moves_water_as_the_multigrid_does)
{
    Params p = pool(2, 32, 0.4);
    p.water.push_back({});
    p.water.back().shape = ShapeKind::sphere;
    p.water.back().center = Vec3{0.5, 0.7, 0};
    p.water.back().radius = 0.15;
    p.pressure.tolerance = 1e-5;
    double energy[2];
    for (const bool relaxed : {false, true}) {
        p.pressure.solver = relaxed ? PressureSolver::relaxation : PressureSolver::multigrid;
        p.pressure.max_iterations = relaxed ? 100000 : 200;
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        run_to(w, scene, 0.4);
        energy[relaxed] = measure(w, p).kinetic_energy;
    }
    EXPECT_NEAR(energy[1], energy[0], 0.02 * energy[0]);
}

// scenes/dam_break.toml on a coarse grid: splashes may cost three iterations more than the 12 of quiet water.
TEST(Projection, stays_quick_while_a_dam_breaks)
{
    Params p;
    p.domain.size = {1, 1, 0.5};
    p.domain.cells = 32;
    WaterParams water;
    water.min = Vec3{0, 0, 0};
    water.max = Vec3{0.4, 0.6, 0.5};
    p.water.push_back(water);
    const Scene scene = scene_of(p);
    Water<3> w = initial_water<3>(scene);
    double worst = 0;
    int most = 0;
    run_to(w, scene, 1.5, [&](const StepReport& report) {
        most = std::max(most, report.pressure.iterations);
        const Measures m = measure(w, p);
        worst = std::max(worst, m.max_divergence * w.grid.h / m.max_speed);
    });
    EXPECT_LE(most, 15);
    EXPECT_LE(worst, 1e-4);
}

}  // namespace
}  // namespace tarn
