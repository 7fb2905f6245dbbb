// Water and air together: at rest, in waves, in drops, and at the full density ratio.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "run_water.h"
#include "tarn/advect/advect.h"
#include "tarn/field/sample.h"
#include "tarn/phases/phase_velocities.h"
#include "tarn/phases/two_fluids.h"
#include "tarn/phases/water_velocity.h"
#include "tarn/step/boundary.h"

namespace tarn {
namespace {

constexpr double pi = std::numbers::pi;

Params with_air(Params p, Interface interface)
{
    p.method.phases = Phases::water_air;
    p.method.interface = interface;
    p.method.surface = SurfaceKind::level_set;
    p.method.advection = p.surface.advection = Advection::cip;
    return p;
}

// A box a third full, shaken sideways at 2 g for so many seconds, in steps of a whole frame.
Params shaken_box(int dimension, int cells, double seconds)
{
    Params p = pool(dimension, cells, 0.3);
    p.domain.size[1] = 0.75;
    p.domain.gravity.keys.clear();
    for (int n = 0; n <= 10 * seconds; ++n)
        p.domain.gravity.keys.push_back({0.1 * n, Vec3{20 * std::sin(2 * pi * n / 12), -9.81, 0}});
    p.surface.carry_volume = true;
    p.time.cfl = 100;
    return p;
}

// Water whose surface is tilted by a quarter.
WaterParams tilted(double level)
{
    WaterParams water;
    water.shape = ShapeKind::plane;
    water.point = Vec3{0.5, level, 0};
    water.normal = Vec3{0.25, 1, 0};
    return water;
}

// Sets phi at the start from a function of position, whose zero is the surface and whose slope there is about 1.
template <int D, class F>
void set_surface(Water<D>& w, const F& f)
{
    const auto phi = w.phi.view();
    const double band = w.band;
    const Grid<D> grid = w.grid;
    parallel_for("set surface", all_tiles(grid),
                 [=](Cell<D> c) { phi(c) = static_cast<float>(std::clamp<double>(f(grid.centre(c)), -band, band)); });
    if (w.phi_gradient.any()) find_gradient(w.phi_gradient, w.phi, -1, all_tiles(grid));
    w.volume_expected = 0;
    const WetPart<D> wet = wet_part(w.phi, w.solids);
    w.volume_expected =
        cell_volume(grid) * parallel_sum("volume", all_tiles(grid), [=](Cell<D> c) { return double(wet(c)); });
}

class Interfaces : public testing::TestWithParam<Interface> {};
INSTANTIATE_TEST_SUITE_P(both, Interfaces, testing::Values(Interface::smeared, Interface::sharp),
                         [](const auto& info) { return info.param == Interface::smeared ? "smeared" : "sharp"; });

// Each solve leaves a divergence of 1e-4 of what gravity adds in a step, dt g = 0.1 m/s here, and the next one starts
// from its pressure. The bound is that of water alone, 1e-4 sqrt(g d), where the water is.
TEST_P(Interfaces, a_pool_under_air_stays_still)
{
    for (const double depth : {0.5, 0.5157}) {
        const Params p = with_air(pool(2, 32, depth), GetParam());
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        const double speed = run_to(w, scene, 1.0);
        EXPECT_LT(speed, 1e-4 * std::sqrt(9.81 * depth)) << depth;
        EXPECT_NEAR(measure(w, p).volume, depth, 1e-4 * depth);
    }
    const Params p = with_air(pool(3, 16, 0.503), GetParam());
    const Scene scene = scene_of(p);
    Water<3> w = initial_water<3>(scene);
    EXPECT_LT(run_to(w, scene, 0.5), 1e-4 * std::sqrt(9.81 * 0.5));
}

// A dam breaks under air at 1000 : 1.2. As with water alone, 12 iterations are enough for 1e-4.
template <int D>
void expect_few_iterations(int cells, Interface interface, double t)
{
    Params p = with_air(pool(D, cells, 0.6), interface);
    p.water[0].max = Vec3{0.4, 0.6, 2};
    p.time.cfl = 5;
    const Scene scene = scene_of(p);
    Water<D> w = initial_water<D>(scene);
    int most = 0;
    run_to(w, scene, t, [&](const StepReport& r) {
        most = std::max(most, r.pressure.iterations);
        EXPECT_LE(r.pressure.residual, 1e-4);
    });
    EXPECT_LE(most, 12);
    EXPECT_NEAR(measure(w, p).volume, w.volume_expected, 1e-4 * w.volume_expected);
}
TEST_P(Interfaces, pressure_takes_few_iterations_at_the_full_density_ratio)
{
    expect_few_iterations<2>(64, GetParam(), 1.0);
    expect_few_iterations<3>(32, GetParam(), 0.5);
}

// The same where all is foam: a box a third full, shaken sideways at 2 g, in steps of a whole frame, at CFL 25 to 100.
template <int D>
void expect_few_iterations_in_foam(int cells, Interface interface, double seconds)
{
    const Scene scene = scene_of(with_air(shaken_box(D, cells, seconds), interface));
    Water<D> w = initial_water<D>(scene);
    int most = 0;
    run_to(w, scene, seconds, [&](const StepReport& r) { most = std::max(most, r.pressure.iterations); });
    EXPECT_LE(most, 12) << D;
}
TEST_P(Interfaces, pressure_takes_few_iterations_in_foam)
{
    expect_few_iterations_in_foam<2>(64, GetParam(), 4);
    expect_few_iterations_in_foam<3>(32, GetParam(), 1);
}

// A drop of radius 0.25 at rest, sigma = 1: its pressure is higher by sigma / R = 4 (2D), to 1 %, and its
// currents fall with the size of cells. Measured: 0.3 % of the speed of the drop's own waves;
// 1.7 % (smeared) and 3.7 % (sharp) where viscosity spreads the pull and phi is made a distance with ripples.
const double own_waves = std::sqrt(1 / (1000 * 0.25));  // sqrt(sigma / (rho R))
struct Resting {
    double jump, speed;
};
Resting resting_drop(int cells, Interface interface, double max_step = std::numeric_limits<double>::infinity())
{
    Params p;
    p.domain.size = {1, 1};
    p.domain.cells = cells;
    p.domain.gravity = Vec3{};
    p.fluid.density = 1000;
    p.air.density = 1.2;
    p.fluid.surface_tension = 1;
    p.fluid.viscosity = p.air.viscosity = 1e-5;
    p = with_air(p, interface);
    p.water.emplace_back();
    p.water[0].shape = ShapeKind::sphere;
    p.water[0].center = Vec3{0.5, 0.5, 0};
    p.water[0].radius = 0.25;
    p.time.rate = 10;
    p.time.max_step = max_step;
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const double speed = run_to(w, scene, 0.5);
    const auto pressure = std::as_const(w.pressure).view();
    const auto at = [&](double x, double y) {
        return sample_cells(pressure, w.grid.cells,
                            Vec<2, float>{float(x / w.grid.h - 0.5), float(y / w.grid.h - 0.5)});
    };
    return {at(0.5, 0.5) - 0.25 * (at(0.05, 0.05) + at(0.95, 0.05) + at(0.05, 0.95) + at(0.95, 0.95)), speed};
}
TEST_P(Interfaces, a_resting_drop_has_the_pressure_of_Laplace)
{
    const Resting coarse = resting_drop(32, GetParam()), fine = resting_drop(64, GetParam());
    EXPECT_NEAR(coarse.jump, 4, 0.04);
    EXPECT_NEAR(fine.jump, 4, 0.04);
    EXPECT_LT(fine.speed, coarse.speed);
    EXPECT_LT(coarse.speed, 0.01 * own_waves);
}
// An eighth of the capillary step: eight times as often phi is moved, made a distance again, and pulls. Measured:
// 1.1 %; ripples that grow with every step made it 14 % and 21 %.
TEST_P(Interfaces, a_resting_drop_is_calm_in_short_steps)
{
    const Resting drop = resting_drop(32, GetParam(), 0.006);
    EXPECT_NEAR(drop.jump, 4, 0.04);
    EXPECT_LT(drop.speed, 0.02 * own_waves);
}

// Heavy over light, 3 : 1, a ripple of one wavelength in a box of 1 m: a = a0 cosh(s t), s^2 = A g k, A = 1/2.
TEST_P(Interfaces, heavy_over_light_grows_as_Rayleigh_and_Taylor_say)
{
    Params p = with_air(Params{}, GetParam());
    p.domain.size = {1, 2};
    p.domain.cells = 128;
    p.fluid.density = 3;
    p.air.density = 1;
    p.water.emplace_back();
    p.water[0].min = Vec3{-1, 1, 0};
    p.water[0].max = Vec3{2, 3, 0};
    p.time.rate = 60;
    p.time.cfl = 0.5;
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const double k = 2 * pi, a0 = 0.005, s = std::sqrt(0.5 * 9.81 * k);
    set_surface(w, [=](Vec2 x) { return 1 + a0 * std::cos(k * x[0]) - x[1]; });
    const auto amplitude = [&] {
        double sum = 0;
        for (int i = 0; i < w.grid.cells[0]; ++i)
            sum -= 2.0 / w.grid.cells[0] * level(w, i) * std::cos(k * w.grid.centre(Cell<2>{i, 0})[0]);
        return sum;
    };
    EXPECT_NEAR(amplitude(), a0, 0.02 * a0);
    run_to(w, scene, 0.5);
    const double growth = std::acosh(amplitude() / a0) / 0.5;
    EXPECT_NEAR(growth, s, 0.05 * s);
}

// A capillary wave between two liquids alike, wavelength 1, a0 = 0.01, sigma = 1, rho = 1, mu = 0.0182571749236: the
// amplitude by Prosperetti 1981, at tau = omega0 t with omega0 = 11.1366559937, every 5.9 / 2.4 of tau or so: to
// 3 % rms of a0 at 32 cells a wavelength.
TEST_P(Interfaces, a_capillary_wave_decays_as_Prosperetti_says)
{
    constexpr struct {
        double t, a;
    } exact[] = {{0.0730296, 0.00728893},  {0.164317, -0.000333907}, {0.255604, -0.00635957}, {0.34689, -0.0066766},
                 {0.438178, -0.00213708},  {0.529465, 0.00304101},   {0.620752, 0.00498941},  {0.712039, 0.00292754},
                 {0.803326, -0.000869143}, {0.894613, -0.00330996},  {0.985897, -0.00288688}, {1.07719, -0.000459997},
                 {1.16847, 0.00182421},    {1.25976, 0.00233908},    {1.35105, 0.00105501},   {1.44234, -0.00074789},
                 {1.53362, -0.00166202},   {1.62491, -0.00119671},   {1.7162, 4.3669e-05},    {1.80748, 0.00101021},
                 {1.89877, 0.00105573},    {1.99006, 0.000325967},   {2.08134, -0.000499708}, {2.17264, -0.000804185}};
    Params p = with_air(Params{}, GetParam());
    p.domain.size = {1, 2};
    p.domain.cells = 64;
    p.domain.gravity = Vec3{};
    p.fluid.density = p.air.density = 1;
    p.fluid.viscosity = p.air.viscosity = 0.0182571749236;
    p.fluid.surface_tension = 1;
    p.water.emplace_back();
    p.water[0].min = Vec3{-1, -1, 0};
    p.water[0].max = Vec3{2, 1, 0};
    p.time.rate = 50;
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const double k = 2 * pi, a0 = 0.01;
    set_surface(w, [=](Vec2 x) { return x[1] - 1 - a0 * std::cos(k * x[0]); });
    double sum = 0;
    for (const auto& e : exact) {
        run_to(w, scene, e.t);
        double a = 0;
        for (int i = 0; i < w.grid.cells[0]; ++i)
            a += 2.0 / w.grid.cells[0] * level(w, i) * std::cos(k * w.grid.centre(Cell<2>{i, 0})[0]);
        sum += std::pow((a - e.a) / a0, 2);
    }
    const double rms = std::sqrt(sum / std::size(exact));
    EXPECT_LT(rms, 0.03);
}

// A cup pressed mouth down into water keeps its air: of a cavity 0.24 m wide and 0.26 m deep nine tenths stay dry,
// where water alone would fill it to the level outside. The rest may have left under the rim while the cup came to a
// stop.
TEST_P(Interfaces, a_cup_pressed_down_keeps_its_air)
{
    Params p = with_air(pool(2, 64, 0.4), GetParam());
    p.domain.walls.top = WallKind::open;
    Keyed<Vec3> down;
    down.keys = {{0, Vec3{0.5, 0.7, 0}}, {1.2, Vec3{0.5, 0.3, 0}}};
    p.solid.resize(2);
    p.solid[0].min = Vec3{-0.16, -0.15, -1};
    p.solid[0].max = Vec3{0.16, 0.15, 1};
    p.solid[1].min = Vec3{-0.12, -0.3, -1};
    p.solid[1].max = Vec3{0.12, 0.11, 1};
    p.solid[1].subtract = true;
    for (SolidParams& solid : p.solid) solid.translate = down;
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    run_to(w, scene, 2.0);
    double dry = 0, all = 0;
    parallel_for("cup", all_tiles(w.grid), [&](Cell<2> c) {
        const Vec2 x = w.grid.centre(c) - Vec2{0.5, 0.3};
        if (std::fabs(x[0]) > 0.1 || x[1] < -0.13 || x[1] > 0.09) return;
        ++all;
        dry += w.phi(c) > 0;
    });
    EXPECT_GT(dry, 0.9 * all);
    EXPECT_NEAR(measure(w, p).volume, w.volume_expected, 1e-3 * w.volume_expected);
}

// What cells should hold is carried by steps of 20 cells through a vortex, some cells being wanted many times and some
// never: the sum stays, but for what nobody wants, which is rounded to 2^-20 of a cell, and for the digits of floats.
template <int D>
void expect_volume_carried(int n)
{
    Cell<D> cells;
    for (int a = 0; a < D; ++a) cells[a] = n + 3 * a;
    const Grid<D> grid(cells, 1.0 / n);
    const Tiles<D> tiles = all_tiles(grid);
    Field<D> phi = distance_field(grid, 1.0f), volume_error(grid);
    FaceField<D> velocity(grid), path(grid);
    const auto p = phi.view();
    parallel_for("ball", tiles,
                 [=](Cell<D> c) { p(c) = static_cast<float>(length(grid.centre(c) - Vec<D>::all(0.4)) - 0.27); });
    for (int a = 0; a < 2; ++a) {
        const auto u = velocity[a].view();
        parallel_for_faces("vortex", tiles, a, [=](Cell<D> c) {
            const Vec<D> x = grid.face(c, a);
            const double inside = c[a] > 0 && c[a] < cells[a] ? 1 : 0, s = pi * n;
            u(c) = static_cast<float>(inside * std::sin(s * x[a] / cells[a]) * std::cos(s * x[1 - a] / cells[1 - a]) *
                                      (a == 0 ? 20 : -20) * grid.h);
        });
    }
    trace_paths(path, velocity, tiles, 1.0);
    CarriedVolume<D> workspace(grid);
    Boundary<D> boundary;
    boundary.cells = cells;
    const WetPart<D> wet(phi, nullptr);
    carry_volume(workspace, volume_error, wet, velocity, path, boundary, tiles, 1.0);
    const auto held = workspace.held.view();
    const double before = parallel_sum("sum", tiles, [=](Cell<D> c) { return double(wet(c)); });
    const double after = parallel_sum("sum", tiles, [=](Cell<D> c) { return double(held(c)); });
    EXPECT_GT(before, 10);
    EXPECT_NEAR(after, before, 1e-5 * before);
}
TEST(CarriedVolume, is_neither_made_nor_lost)
{
    expect_volume_carried<2>(48);
    expect_volume_carried<3>(20);
}

// The box of violent sloshing, without the correction of volume, where the level set alone is off by tens of
// percent. Phi moves until all but 0.2 % is paid of what cells should hold, or for eight times: 1 % leaves
// room for steps in which that is not enough.
TEST_P(Interfaces, foam_keeps_its_volume_where_it_is_carried)
{
    Params p = with_air(shaken_box(2, 64, 4), GetParam());
    p.surface.volume_correction = false;
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const double first = measure(w, p).volume;
    for (int frame = 1; frame <= 120; ++frame) {
        run_to(w, scene, frame / 30.0);
        EXPECT_NEAR(measure(w, p).volume, first, 0.01 * first) << frame;
    }
}

Params dam(int cells, double cfl, Interface interface)
{
    Params p = with_air(Params{}, interface);
    p.domain.size = {1, 1};
    p.domain.cells = cells;
    p.time.cfl = cfl;
    WaterParams water;
    water.min = Vec3{0, 0, 0};
    water.max = Vec3{0.4, 0.6, 1};
    p.water.push_back(water);
    return p;
}

// A dam of 0.4 x 0.6 m breaks. With one velocity for both phases, faces that became water took the speed of the air, and
// a sharp interface ended at 1e4 m/s; with films on walls that redistancing made thicker in every step, four times the
// energy. Nothing drives the water but its weight: it is at most 2.5 times as fast as what falls the box's height
// (4.43 m/s), and its energy does not grow. The centre of the water in a cell is taken for the cell's, which is wrong
// by up to rho g h^2 / 8 per metre of a level surface: 0.1 % here. Two percent are those of random scenes (validation/soak):
// in a step in which a gap of air closes, what the drops in it have is told at once, and what the rest has lost by half.
TEST_P(Interfaces, a_dam_breaks_at_any_resolution_and_step)
{
    for (const SurfaceKind surface : {SurfaceKind::level_set, SurfaceKind::particle_level_set})
        for (const int cells : {48, 64, 96})
            for (const double cfl : {0.5, 2.0, 5.0}) {
                if (cells == 96 && (cfl < 1 || surface == SurfaceKind::particle_level_set)) continue;
                Params p = dam(cells, cfl, GetParam());
                p.method.surface = surface;
                const Scene scene = scene_of(p);
                Water<2> w = initial_water<2>(scene);
                const auto energy = [&] {
                    const Measures m = measure(w, p);
                    return m.kinetic_energy + m.potential_energy;
                };
                const double first = energy();
                double most = 0, fastest = 0;
                run_to(w, scene, 1.5, [&](const StepReport&) {
                    most = std::max(most, energy());
                    fastest = std::max(fastest, measure(w, p).max_speed);
                });
                EXPECT_LT(most, 1.02 * first) << cells << ' ' << cfl;
                EXPECT_LT(fastest, 2.5 * 4.43) << cells << ' ' << cfl;
            }
}

// The same without the volume correction: what the level set itself gains and loses, and what goes to droplets and comes
// back. Droplets that left their particles behind were made twice, and the water came to 2.6 times its volume. The bound
// is twice that of level sets with particles without air (validation/soak).
TEST_P(Interfaces, a_dam_breaks_and_makes_no_water)
{
    for (const double cfl : {0.5, 2.0, 5.0}) {
        Params p = dam(64, cfl, GetParam());
        p.method.surface = SurfaceKind::particle_level_set;
        p.surface.volume_correction = false;
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        const double first = measure(w, p).volume;
        run_to(w, scene, 1.5, [&](const StepReport&) { EXPECT_NEAR(measure(w, p).volume, first, 0.1 * first) << cfl; });
    }
}

// A drop falls through a closed box of 72 cells, and bursts on its floor. What components should hold and what droplets and
// bubbles hold is the water, and the water on the grid is what it should be, to 1e-4.
TEST_P(Interfaces, a_drop_bursts_and_every_part_is_accounted_for)
{
    Params p = with_air(Params{}, GetParam());
    p.domain.size = {0.4106, 0.471};
    p.domain.cells = 72;
    WaterParams drop;
    drop.shape = ShapeKind::sphere;
    drop.center = Vec3{0.1618, 0.3444, 0};
    drop.radius = 0.031302;
    p.water.push_back(drop);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const double first = measure(w, p).volume;
    size_t most = 0;
    run_to(w, scene, 1.0, [&](const StepReport&) {
        const FragmentTotals apart = totals(w.droplets, w.grid, p);
        double booked = w.targets.elsewhere + apart.volume_droplets - apart.volume_bubbles;
        for (const double volume : w.targets.expected) booked += volume;
        EXPECT_NEAR(booked, first, 1e-9 * first);
        EXPECT_NEAR(measure(w, p).volume, first, 1e-4 * first);
        most = std::max(most, w.targets.expected.size());
    });
    EXPECT_GT(most, 1u);
}

// A column collapses on one side of a wall, on the other is a pool at rest. What the splash gains or loses does not come
// from the pool, but for what the whole surface takes up until components are given back what they lack: 0.2 % here, and less
// than 0.1 % when the splash is over.
TEST_P(Interfaces, a_splash_does_not_change_the_pool_behind_a_wall)
{
    Params p = with_air(Params{}, GetParam());
    p.domain.size = {1, 1};
    p.domain.cells = 64;
    SolidParams wall;
    wall.shape = ShapeKind::box;
    wall.min = Vec3{0.45, -1, 0};
    wall.max = Vec3{0.55, 2, 0};
    p.solid = {wall};
    WaterParams column, rest;
    column.min = Vec3{-1, -1, 0};
    column.max = Vec3{0.15, 0.6, 1};
    rest.min = Vec3{0.5, -1, 0};
    rest.max = Vec3{2, 0.3, 1};
    p.water = {column, rest};
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const double before = level(w, 50);
    run_to(w, scene, 1.5, [&](const StepReport&) { EXPECT_NEAR(level(w, 50), before, 3e-3 * before); });
    run_to(w, scene, 4);
    EXPECT_NEAR(level(w, 50), before, 1e-3 * before);
}

// Ripples of two cells, a fifth of a cell high, on a pool that is else at rest. The surface moves, then gravity acts on
// where it has come to: in steps beyond 2 / omega such waves grow, and stay for ever. In stable ones they die.
TEST_P(Interfaces, ripples_of_a_cell_die)
{
    Params p = with_air(pool(2, 128, 0.3), GetParam());
    p.domain.size[1] = 0.5;
    p.time.cfl = 8;
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const double h = w.grid.h;
    set_surface(w, [h](Vec2 x) { return x[1] - 0.3 - 0.2 * h * std::cos(pi * (x[0] / h - 0.5)); });
    run_to(w, scene, 5.0);
    double ripple = 0;
    for (int i = 8; i < 120; ++i)
        ripple = std::max(ripple, 0.5 * std::fabs(level(w, i) - 0.5 * (level(w, i - 1) + level(w, i + 1))) / h);
    EXPECT_LT(ripple, 0.05);
}

// Air blows at 10 m/s along still water. To advection each phase shows its own velocity past the surface, and none of the
// other's; joined again, faces have the mean by mass.
TEST_P(Interfaces, each_phase_keeps_its_own_velocity_at_the_surface)
{
    const Params p = with_air(Params{}, GetParam());
    const Grid<2> grid({16, 16}, 1.0 / 16);
    const Tiles<2> tiles = all_tiles(grid);
    Field<2> phi = distance_field(grid, 0.0f);
    FaceField<2> velocity(grid), scratch(grid), moved(grid);
    FaceField<2, uint8_t> known(grid);
    Gradient<2> gradient[2];
    PhaseVelocities<2> phases(grid, false);
    backend::each(grid.box(), [&](Cell<2> c) { phi(c) = static_cast<float>((c[1] - 7.5) * grid.h); });
    phases.phi.copy(phi);
    parallel_for_faces("wind", tiles, 0, [&](Cell<2> c) { velocity[0](c) = c[1] > 7 ? 10.0f : 0.0f; });
    part_velocities(velocity, gradient, phases, known, scratch, moved, CutFaces<2>{}, ThinWalls<2>{}, tiles);
    for (int i = 0; i <= 16; ++i) {
        for (int j = 0; j <= 10; ++j) EXPECT_EQ(velocity[0](Cell<2>{i, j}), 0.0f) << i << ' ' << j;
        for (int j = 5; j < 16; ++j) EXPECT_EQ(phases.air[0](Cell<2>{i, j}), 10.0f) << i << ' ' << j;
    }
    join_velocities(velocity, gradient, phases, phi, p, CutFaces<2>{}, tiles);
    const float epsilon = smearing * static_cast<float>(grid.h), in_air = 1 - smeared_step(phi(Cell<2>{5, 7}), epsilon);
    const float at_surface =
        GetParam() == Interface::sharp ? 0.0f : 10 * 1.2f * in_air / (1.2f * in_air + 1000 * (1 - in_air));
    for (int i = 0; i <= 16; ++i) {
        EXPECT_EQ(velocity[0](Cell<2>{i, 5}), 0.0f);
        EXPECT_NEAR(velocity[0](Cell<2>{i, 7}), at_surface, 1e-4);
        EXPECT_EQ(velocity[0](Cell<2>{i, 9}), 10.0f);
    }
}

// A drop of one cell falls at 2 m/s two cells above a pool at rest. No face of it is half full: what it takes along is its own velocity all
// the same, not that of the pool.
TEST(PhaseVelocities, a_drop_of_a_cell_keeps_its_own)
{
    const Grid<2> grid({16, 16}, 1.0 / 16);
    const Tiles<2> tiles = all_tiles(grid);
    FaceField<2> velocity(grid), scratch(grid), moved(grid);
    FaceField<2, uint8_t> known(grid);
    Gradient<2> gradient[2];
    PhaseVelocities<2> phases(grid, false);
    const Vec2 drop{7, 9};
    backend::each(grid.box(), [&](Cell<2> c) {
        const Vec2 x = c.as<double>();
        phases.phi(c) = static_cast<float>(grid.h * std::min(x[1] - 5.5, length(x - drop) - 0.3));
    });
    parallel_for_faces("drop", tiles, 1, [&](Cell<2> c) { velocity[1](c) = c[0] == 7 && (c[1] == 9 || c[1] == 10) ? -2.0f : 0.0f; });
    part_velocities(velocity, gradient, phases, known, scratch, moved, CutFaces<2>{}, ThinWalls<2>{}, tiles);
    EXPECT_EQ(velocity[1](Cell<2>{7, 9}), -2.0f);
    EXPECT_EQ(velocity[1](Cell<2>{7, 10}), -2.0f);
    EXPECT_EQ(velocity[1](Cell<2>{7, 6}), 0.0f);
}

// A wall leaves a fifth of a column of cells open, and water reaches it: their centres, in the wall, are a quarter of a cell beyond where
// phi goes on to be zero, but what is beside the wall is water. Where it was as light as air, a front that met a wall squeezed it out at
// five times the speed of what falls.
TEST_P(Interfaces, a_film_along_a_wall_is_no_air)
{
    Params p = with_air(Params{}, GetParam());
    p.domain.size = {1, 1};
    p.domain.cells = 32;
    const double h = 1.0 / 32;
    SolidParams wall;
    wall.shape = ShapeKind::box;
    wall.min = Vec3{16.2 * h, -1, 0};
    wall.max = Vec3{2, 2, 0};
    p.solid = {wall};
    WaterParams water;
    water.min = Vec3{-1, -1, 0};
    water.max = Vec3{2, 0.5, 0};
    p.water = {water};
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    set_surface(w, [h](Vec2 x) { return x[0] - 16.25 * h; });
    find_density(w.density, w.phi, p, CutFaces<2>(boundary_of(w, p), Vec2{0, -9.81}), w.tiles_active);
    EXPECT_FLOAT_EQ(w.solids.open[1](Cell<2>{16, 8}), 0.2f);
    EXPECT_GT(w.phi(Cell<2>{16, 8}), 0);
    EXPECT_GT(w.density[1](Cell<2>{16, 8}), GetParam() == Interface::sharp ? 999.0f : 500.0f);
    EXPECT_LT(w.density[1](Cell<2>{18, 8}), GetParam() == Interface::sharp ? 2.0f : 200.0f);
}

// Water goes at 1 m/s, and the air along it at 10 m/s: the surface is moved with no more than twice what the fastest water has, and
// what it was is kept for what follows.
TEST_P(Interfaces, the_surface_is_hardly_faster_than_the_water)
{
    const Grid<2> grid({16, 16}, 1.0 / 16);
    const Tiles<2> tiles = all_tiles(grid);
    FaceField<2> velocity(grid);
    PhaseVelocities<2> phases(grid, false);
    backend::each(grid.box(), [&](Cell<2> c) { phases.phi(c) = static_cast<float>((c[1] - 7.5) * grid.h); });
    parallel_for_faces("wind", tiles, 0, [&](Cell<2> c) { velocity[0](c) = c[1] > 7 ? -10.0f : 1.0f; });
    hold_to_water(velocity, phases, tiles);
    for (int i = 0; i <= 16; ++i)
        for (int j = 0; j < 16; ++j) {
            EXPECT_EQ(velocity[0](Cell<2>{i, j}), j > 7 ? -2.0f : 1.0f) << i << ' ' << j;
            EXPECT_EQ(phases.air[0](Cell<2>{i, j}), j > 7 ? -10.0f : 1.0f) << i << ' ' << j;
        }
}

// A slab of water is thrown flat on the floor. The air under it leaves at its half width over the gap times its speed, many
// times as fast as the slab in the last cell, and where it carried the surface along it tore off drops: with a sharp interface they came to 5.6 times the speed of what falls, and the energy rose by a tenth. The bounds are those of
// random scenes (validation/soak).
TEST_P(Interfaces, a_slab_lands_flat_on_the_floor)
{
    Params p = with_air(Params{}, GetParam());
    p.method.surface = SurfaceKind::particle_level_set;
    p.surface.volume_correction = false;
    p.domain.size = {1, 0.5844};
    p.domain.cells = 75;
    WaterParams slab;
    slab.min = Vec3{0.2534, 0.1436, 0};
    slab.max = Vec3{0.6352, 0.2961, 1};
    slab.velocity = Vec3{0.583, -1.76, 0};
    p.water.push_back(slab);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const auto energy = [&] {
        const Measures m = measure(w, p);
        return m.kinetic_energy + m.potential_energy;
    };
    const double first = energy(), falls = std::sqrt(2 * 9.81 * 0.5844 + 0.583 * 0.583 + 1.76 * 1.76);
    run_to(w, scene, 0.15, [&](const StepReport&) {
        EXPECT_LT(energy(), 1.02 * first) << w.time;
        EXPECT_LT(measure(w, p).max_speed, 3 * falls) << w.time;
    });
}

// A tank 1 m long, 0.375 m deep, tilted by a quarter, swings for ten periods of 1.244 s. CIP leaves two thirds of the
// energy and, with a smeared interface, more than linear interpolation does (0.90 and 0.63; with a sharp one both leave
// 0.77 to 0.78). No scheme makes any, whatever the steps: 2 % of the swing are what the
// water in cells that the surface cuts is taken to lie at their centres, rho g h^2 / 8 per metre.
TEST_P(Interfaces, cip_keeps_the_energy_of_a_swing)
{
    const auto left = [&](Advection scheme, double cfl) {
        Params p = with_air(Params{}, GetParam());
        p.domain.size = {1, 0.75};
        p.domain.cells = 64;
        p.method.advection = p.surface.advection = scheme;
        p.time.cfl = cfl;
        p.water.push_back(tilted(0.375));
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        const auto energy = [&] {
            const Measures m = measure(w, p);
            return m.kinetic_energy + m.potential_energy - 0.5 * 1000 * 9.81 * m.volume * m.volume;  // less level water
        };
        const double first = energy();
        double most = 0;
        run_to(w, scene, 12.44, [&](const StepReport&) { most = std::max(most, energy()); });
        EXPECT_LT(most, 1.02 * first) << cfl;
        return energy() / first;
    };
    const double cip = left(Advection::cip, 0.5);
    EXPECT_GT(cip, 0.67);
    const double linear = left(Advection::semi_lagrangian, 0.5);
    if (GetParam() == Interface::smeared) EXPECT_GT(cip, linear);
    EXPECT_GT(left(Advection::cip, 2), 0.67);
    EXPECT_GT(left(Advection::cip, 25), 0.67);
}

// Water in a round bowl, tilted by a quarter, swings for two seconds. Its wall cuts cells in all ways, but slips: it
// takes nothing. What a swing is worth is how fast the water becomes.
TEST_P(Interfaces, a_round_bowl_does_not_slow_a_swing)
{
    Params p = with_air(Params{}, GetParam());
    p.domain.size = {1, 1};
    p.domain.cells = 48;
    p.time.cfl = 0.5;
    SolidParams block, inside;
    block.shape = ShapeKind::box;
    block.min = Vec3{-1, -1, 0};
    block.max = Vec3{2, 2, 0};
    inside.shape = ShapeKind::sphere;
    inside.center = Vec3{0.5, 0.5, 0};
    inside.radius = 0.42;
    inside.subtract = true;
    p.solid = {block, inside};
    p.water.push_back(tilted(0.4));
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    // With that of droplets, which the run-up at the wall may throw.
    const auto energy = [&] {
        const Measures m = measure(w, p);
        double sum = m.kinetic_energy + m.potential_energy;
        for (const Droplet<2>& f : read_fragments(w.droplets))
            if (f.kind == DropletKind::droplet)
                sum += 1000 * cell_volume(w.grid) * f.volume * (9.81 * w.grid.h * (f.x[1] + 0.5) + 0.5 * dot(f.u, f.u));
        return sum;
    };
    const double first = energy();
    double swing = 0;
    run_to(w, scene, 2, [&](const StepReport&) { swing = std::max(swing, measure(w, p).kinetic_energy); });
    EXPECT_NEAR(energy(), first, 0.1 * swing);
}

SolidParams falling_box(Vec3 min, Vec3 max)
{
    SolidParams box;
    box.shape = ShapeKind::box;
    box.min = min;
    box.max = max;
    box.translate.keys = {{0, Vec3{0.5, 0.57, 0}}, {1.2, Vec3{0.5, 0.21, 0}}};  // at 0.3 m/s
    return box;
}

// Air is squeezed out of the narrowing gap under a plate of half width R that comes down flat on water, at R / gap of
// the plate's speed: some 200 times as fast where the gap is a tenth of a cell. It takes some of the water along. The
// smeared interface is heavy before the gap is that narrow; measured were 6 times the plate's speed, with the sharp
// one 44.
TEST_P(Interfaces, a_plate_comes_down_on_water)
{
    for (const bool cup : {false, true}) {
        Params p = with_air(pool(2, 128, 0.4), GetParam());
        p.domain.size = {1, 0.75};
        p.domain.walls.top = WallKind::open;
        p.solid.push_back(falling_box({-0.16, -0.15, 0}, {0.16, 0.15, 0}));
        if (cup) {
            p.solid.push_back(falling_box({-0.12, -0.3, 0}, {0.12, 0.11, 0}));
            p.solid[1].subtract = true;
        }
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        const double fastest = run_to(w, scene, 0.6);
        EXPECT_LT(fastest, (GetParam() == Interface::smeared ? 10 : 60) * 0.3) << cup;
    }
}

}  // namespace
}  // namespace tarn
