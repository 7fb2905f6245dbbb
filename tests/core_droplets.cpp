// Droplets and bubbles: how they come to be, move, merge and go, and that nothing is lost on the way.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "run_water.h"
#include "tarn/scene/frame.h"
#include "tarn/step/boundary.h"
#include "tarn/step/surface.h"

namespace tarn {
namespace {

constexpr double pi = std::numbers::pi;

Params tank(int dimension, int cells, double level)
{
    Params p = pool(dimension, cells, level);
    p.method.phases = Phases::water_air;
    p.method.surface = SurfaceKind::level_set;
    p.method.advection = p.surface.advection = Advection::cip;
    return p;
}

template <int D>
WaterParams ball(Vec3 center, double radius, bool subtract)
{
    WaterParams b;
    b.shape = ShapeKind::sphere;
    b.center = center;
    b.radius = radius;
    b.subtract = subtract;
    return b;
}

// What fragments hold is what they were given, to round-off: a few digits of double, of all that went to and fro.
template <int D>
void expect_accounted(const Water<D>& w, const Params& p, double through)
{
    const FragmentTotals t = totals(w.droplets, w.grid, p);
    EXPECT_NEAR(t.volume_droplets + t.volume_bubbles, w.exchange.volume, 1e-12 * (through + t.volume_droplets));
    for (int a = 0; a < D; ++a)
        EXPECT_NEAR(t.momentum[a], w.exchange.momentum[a] + w.exchange.gravity[a],
                    1e-10 * (1 + std::fabs(w.exchange.momentum[a]) + std::fabs(w.exchange.gravity[a])));
}

// A drop of less than a cell's radius is a droplet after one step, and no water is left of it on the grid. It falls
// freely: drag by air, 1.2 / 1000 as dense, takes less than a percent in a quarter of a second.
template <int D>
void expect_droplet(int cells)
{
    Params p = tank(D, cells, 0.2);
    const double h = 1.0 / cells, middle = (cells / 2 + 0.4) * h;
    p.water.push_back(ball<D>(Vec3{middle, 0.7, D == 3 ? middle : 0}, (D == 3 ? 0.55 : 0.7) * h, false));
    const Scene scene = scene_of(p);
    Water<D> w = initial_water<D>(scene);
    const double before = measure(w, p).volume;
    run_to(w, scene, 0.02);
    ASSERT_EQ(w.droplets.count(), 1);
    EXPECT_EQ(read_fragments(w.droplets)[0].kind, DropletKind::droplet);
    EXPECT_NEAR(measure(w, p).volume, before, 1e-4 * before);
    run_to(w, scene, 0.25);
    ASSERT_EQ(w.droplets.count(), 1);
    const Droplet<D> f = read_fragments(w.droplets)[0];
    EXPECT_NEAR(f.u[1], -9.81 * 0.25, 0.03 * 9.81 * 0.25);
    expect_accounted(w, p, 1);
    // It falls into the pool, which takes it back.
    run_to(w, scene, 0.6);
    EXPECT_EQ(w.droplets.count(), 0);
    EXPECT_NEAR(measure(w, p).volume, before, 1e-4 * before);
    expect_accounted(w, p, 1);
}
TEST(Droplets, a_drop_too_small_for_the_grid_flies_on)
{
    expect_droplet<2>(32);
    expect_droplet<3>(24);
}

// A droplet in air at rest, where the pressure falls by 1e5 Pa a metre, is pressed to 0.1 m/s in a millisecond. The air has felt that
// pressure in the whole of its cells already, and feels the droplet's drag alone. Handed on to the air, 1000 times as light, it made
// a wind of 30 m/s, which moved water beside it.
TEST(Droplets, a_droplet_does_not_hand_the_pressure_on_to_the_air)
{
    Params p = tank(2, 32, 0.2);
    p.domain.gravity = Vec3{};
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const auto pressure = w.pressure.view();
    const Grid<2> grid = w.grid;
    parallel_for("pressure", all_tiles(grid), [=](Cell<2> c) { pressure(c) = static_cast<float>(-1e5 * grid.centre(c)[0]); });
    w.velocity.fill(0);
    add_fragments(w.droplets, {Lost<2>{Vec2{16.3, 24.3}, Vec2{}, 1.5, DropletKind::droplet}}, w.grid, p, w.exchange);
    std::vector<Lost<2>> returned;
    (void)move_fragments(w.droplets, w.phi, w.velocity, w.pressure, w.density, boundary_of(w, p), p, frame_forces(p, 0, 1e-3), 1e-3,
                         w.exchange, returned);
    ASSERT_EQ(w.droplets.count(), 1);
    EXPECT_NEAR(read_fragments(w.droplets)[0].u[0], 0.1, 0.002);
    EXPECT_LT(fastest_face(w), 0.1);
}

// What a droplet loses to the air's drag the air gains, and what water's drag takes from a bubble the water: the momentum of all faces together
// is that which the fragment lost, to the digits of a float.
TEST(Droplets, give_the_grid_what_drag_takes_from_them)
{
    Params p = tank(2, 32, 0.5);
    p.domain.gravity = Vec3{};
    p.droplets.drag = 20;
    const Scene scene = scene_of(p);
    for (const DropletKind kind : {DropletKind::droplet, DropletKind::bubble}) {
        Water<2> w = initial_water<2>(scene);
        for (int a = 0; a < 2; ++a) w.velocity[a].fill(0);
        w.pressure.fill(0);
        const Vec2 x{12.3, kind == DropletKind::droplet ? 24.3 : 7.6};
        add_fragments(w.droplets, {Lost<2>{x, Vec2{1, 0.5}, 0.8, kind}}, w.grid, p, w.exchange);
        const FragmentTotals before = totals(w.droplets, w.grid, p);
        std::vector<Lost<2>> returned;
        (void)move_fragments(w.droplets, w.phi, w.velocity, w.pressure, w.density, boundary_of(w, p), p, frame_forces(p, 0, 0.01), 0.01,
                             w.exchange, returned);
        const FragmentTotals after = totals(w.droplets, w.grid, p);
        ASSERT_EQ(w.droplets.count(), 1);
        for (int a = 0; a < 2; ++a) {
            const double lost = before.momentum[a] - after.momentum[a];
            const auto u = w.velocity[a].view(), rho = w.density[a].view();
            const double gained = cell_volume(w.grid) * parallel_sum("momentum", all_tiles(w.grid), [=](Cell<2> c) {
                                      return static_cast<double>(rho(c)) * static_cast<double>(u(c));
                                  });
            EXPECT_GT(lost, 5e-4 * before.momentum[a]);
            EXPECT_NEAR(gained, lost, 1e-4 * lost);
        }
    }
}

// A bubble likewise. In still water it rises with the speed at which drag carries its buoyancy,
// (1 - rho_a / rho) V g = C/2 rho pi r^2 v^2, within a few percent: the water it drags along moves, too.
TEST(Droplets, a_bubble_rises_with_its_terminal_speed)
{
    Params p = tank(3, 24, 0.9);
    const double h = 1.0 / 24;
    p.water.push_back(ball<3>(Vec3{0.51, 0.2, 0.51}, 0.7 * h, true));
    const Scene scene = scene_of(p);
    Water<3> w = initial_water<3>(scene);
    run_to(w, scene, 0.15);
    ASSERT_EQ(w.droplets.count(), 1);
    const Droplet<3> f = read_fragments(w.droplets)[0];
    EXPECT_EQ(f.kind, DropletKind::bubble);
    const double volume = f.volume * h * h * h, r = std::cbrt(3 * volume / (4 * pi));
    const double terminal = std::sqrt((1 - 0.0012) * volume * 9.81 / (0.25 * pi * r * r));
    EXPECT_NEAR(f.u[1], terminal, 0.15 * terminal);
    expect_accounted(w, p, 1);
    // It comes up and bursts.
    run_to(w, scene, 0.9);
    EXPECT_EQ(w.droplets.count(), 0);
    EXPECT_NEAR(measure(w, p).volume, w.volume_expected, 1e-4);
}

// With a life, it stays as foam at the surface: foam_life / r.
TEST(Droplets, foam_stays_for_its_life)
{
    Params p = tank(2, 32, 0.5);
    const double h = 1.0 / 32;
    p.water.push_back(ball<2>(Vec3{0.512, 0.4, 0}, 0.7 * h, true));
    p.droplets.foam_life = 0.01;
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    run_to(w, scene, 0.25);
    ASSERT_EQ(w.droplets.count(), 1);
    const Droplet<2> f = read_fragments(w.droplets)[0];
    EXPECT_EQ(f.kind, DropletKind::foam);
    EXPECT_NEAR(h * (f.x[1] + 0.5), 0.5, h);
    const double r = h * std::sqrt(f.volume / pi);
    run_to(w, scene, 0.25 + 0.01 / r);
    EXPECT_EQ(w.droplets.count(), 0);
}

// Droplets that touch become one, with the volume and momentum of both; one beyond two cells goes back to the grid.
TEST(Droplets, merge_and_return_to_the_grid_when_large)
{
    Params p = tank(2, 32, 0.1);
    p.domain.gravity = Vec3{};
    p.time.max_step = 0.01;
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const double before = measure(w, p).volume;
    const auto lost = [](double x, double u, double volume) {
        return Lost<2>{Vec2{x, 20.3}, Vec2{u, 0}, volume, DropletKind::droplet};
    };
    add_fragments(w.droplets, {lost(10, 1, 0.5), lost(10.5, 0, 1)}, w.grid, p, w.exchange);
    w.volume_expected += w.exchange.volume;
    run_to(w, scene, 0.01);
    ASSERT_EQ(w.droplets.count(), 1);
    const Droplet<2> f = read_fragments(w.droplets)[0];
    EXPECT_NEAR(f.volume, 1.5, 1e-6);
    EXPECT_NEAR(f.u[0], 1.0 / 3, 0.02);
    expect_accounted(w, p, 1);
    const double more = w.exchange.volume;
    add_fragments(w.droplets, {lost(f.x[0] + 0.3, f.u[0], 2.5)}, w.grid, p, w.exchange);
    w.volume_expected += w.exchange.volume - more;
    run_to(w, scene, 0.05);
    EXPECT_EQ(w.droplets.count(), 0);
    EXPECT_NEAR(measure(w, p).volume, before + 4.0 / (32 * 32), 1e-4);
    expect_accounted(w, p, 1);
}

// The faster, the more pieces, which together have the volume and the momentum of the whole.
TEST(Droplets, fast_ones_break_into_pieces)
{
    Params p = tank(3, 16, 0.1);
    p.droplets.pieces_per_speed = 1;
    p.droplets.most_pieces = 6;
    const Scene scene = scene_of(p);
    for (const double speed : {0.5, 3.2, 20.0}) {
        Water<3> w = initial_water<3>(scene);
        const Lost<3> lost{Vec3{8, 8, 8}, Vec3{speed, 0, 0}, 0.8, DropletKind::droplet};
        add_fragments(w.droplets, {lost}, w.grid, p, w.exchange);
        EXPECT_EQ(w.droplets.count(), speed < 1 ? 1 : (speed < 4 ? 4 : 6));
        const double cell = cell_volume(w.grid);
        const FragmentTotals t = totals(w.droplets, w.grid, p);
        EXPECT_NEAR(t.volume_droplets, 0.8 * cell, 1e-6 * cell);
        EXPECT_NEAR(t.momentum[0], 1000 * 0.8 * cell * speed, 1e-5 * 1000 * cell * speed);
        EXPECT_NEAR(t.momentum[1], 0, 1e-5 * 1000 * cell * speed);
    }
}

// A dam break at steps of many cells: fragments come and go, all is accounted for, and the volume stays.
TEST(Droplets, a_splash_loses_nothing)
{
    Params p = tank(2, 64, 0.6);
    p.water[0].max = Vec3{0.4, 0.6, 2};
    p.time.cfl = 25;
    p.droplets.pieces_per_speed = 1;
    p.droplets.foam_life = 0.01;
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const double before = measure(w, p).volume;
    long most = 0;
    run_to(w, scene, 2.0, [&](const StepReport&) {
        most = std::max(most, static_cast<long>(w.droplets.count()));
        expect_accounted(w, p, 10);
        EXPECT_NEAR(measure(w, p).volume, before, 1e-4 * before);
    });
    EXPECT_GT(most, 5);
}

}  // namespace
}  // namespace tarn
