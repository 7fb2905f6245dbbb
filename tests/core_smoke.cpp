// Smoke: what is carried is kept, hot air rises, still air stays still, vortices are kept up.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>

#include "run_water.h"
#include "tarn/advect/conservative.h"
#include "tarn/step/state.h"

namespace tarn {
namespace {

constexpr double pi = std::numbers::pi;

Params air_box(int dimension, int cells)
{
    Params p;
    p.domain.size.assign(static_cast<size_t>(dimension), 1.0);
    p.domain.cells = cells;
    p.method.phases = Phases::smoke;
    p.method.advection = Advection::maccormack;
    return p;
}

CloudParams ball(Vec3 center, double radius, double temperature)
{
    CloudParams cloud;
    cloud.shape = ShapeKind::sphere;
    cloud.center = center;
    cloud.radius = radius;
    cloud.temperature = temperature;
    return cloud;
}

SolidParams solid_ball(Vec3 center, double radius)
{
    SolidParams solid;
    solid.shape = ShapeKind::sphere;
    solid.center = center;
    solid.radius = radius;
    return solid;
}

// A hot ball of smoke under a solid one, in a closed box.
Params hot_ball(int dimension, int cells)
{
    Params p = air_box(dimension, cells);
    p.cloud.push_back(ball({0.47, 0.25, dimension == 3 ? 0.5 : 0}, 0.15, 593));
    p.solid.push_back(solid_ball({0.52, 0.62, dimension == 3 ? 0.5 : 0}, 0.13));
    return p;
}

// Sets a cell field from a function of the place.
template <int D, class F>
void set_field(Field<D>& field, const F& f)
{
    const Grid<D> grid = field.grid();
    const auto v = field.view();
    parallel_for("set field", all_tiles(grid), [=](Cell<D> c) { v(c) = static_cast<float>(f(grid.centre(c))); });
}

// The mean height of the smoke.
template <int D>
double height(const Water<D>& w)
{
    const auto d = w.smoke_density.view();
    const Grid<D> grid = w.grid;
    const double all = parallel_sum("test", all_tiles(grid), [=](Cell<D> c) { return double(d(c)); });
    return parallel_sum("test", all_tiles(grid), [=](Cell<D> c) { return double(d(c)) * grid.centre(c)[1]; }) / all;
}

template <int D>
float greatest(const Field<D>& f)
{
    const auto v = f.view();
    return parallel_max("test", all_tiles(f.grid()), [=](Cell<D> c) { return v(c); });
}

// What is the same everywhere stays the same, and a disc comes back from a turn as large as it was. Third order with limits keeps a disc's
// top over a turn, which first order does not: it leaves 0.5 of it.
TEST(Smoke, fluxes_keep_what_is_the_same_everywhere_and_the_sum)
{
    const Grid<2> grid({64, 64}, 1.0 / 64);
    Conservative<2> workspace(grid);
    workspace.capacity.fill(0);
    parallel_for("set", all_tiles(grid), [v = workspace.capacity.view()](Cell<2> c) { v(c) = 1; });
    Field<2> one(grid), disc(grid);
    set_field(one, [](Vec<2>) { return 1.0; });
    set_field(disc, [](Vec<2> x) { return std::hypot(x[0] - 0.5, x[1] - 0.7) < 0.12 ? 1.0 : 0.0; });
    const auto sum = [&](const Field<2>& f) {
        return parallel_sum("test", all_tiles(grid), [v = f.view()](Cell<2> c) { return double(v(c)); });
    };
    const double before = sum(disc);
    // A vortex that vanishes at the walls, as differences of its stream function; 3 cells a step at most.
    const int steps = 60;
    const auto stream = [&](double x, double y) { return 3.0 / pi * 64 * std::pow(std::sin(pi * x) * std::sin(pi * y), 2) / 64; };
    for (int a = 0; a < 2; ++a) {
        const auto f = workspace.flux[a].view();
        parallel_for_faces("set", all_tiles(grid), a, [=](Cell<2> c) {
            const Vec<2> x = grid.node(c);
            f(c) = static_cast<float>(a == 0 ? 64 * (stream(x[0], x[1] + grid.h) - stream(x[0], x[1]))
                                             : -64 * (stream(x[0] + grid.h, x[1]) - stream(x[0], x[1])));
        });
    }
    const bool closed[2][2] = {};
    Field<2>* const fields[2] = {&one, &disc};
    for (int n = 0; n < steps; ++n) carry<2>({{{fields[0], fields[1]}, &workspace}}, {}, nullptr, closed);
    float off = 0;
    off = parallel_max("test", all_tiles(grid), [v = std::as_const(one).view()](Cell<2> c) { return std::fabs(v(c) - 1); });
    std::printf("one off by %.2g, sum off by %.2g, top %.4f\n", double(off), sum(disc) / before - 1, double(greatest(disc)));
    EXPECT_LT(off, 3e-4);  // rounding of float fluxes, 2e-4 after 240 substeps
    EXPECT_NEAR(sum(disc), before, 1e-5 * before);
    EXPECT_LT(greatest(disc), 1.0005f);
}

// The mean of a closed box's smoke is kept to the rounding of floats, 6e-8 here.
template <int D>
void smoke_is_conserved(const Params& p, double seconds)
{
    const Scene scene = scene_of(p);
    Water<D> w = initial_water<D>(scene);
    const double before = measure(w, p).volume;
    double divergence = 0;
    run_to(w, scene, seconds, [&](const StepReport&) {
        const Measures m = measure(w, p);
        divergence = std::max(divergence, m.max_divergence * w.grid.h / std::max(m.max_speed, 1e-3));
    });
    const Measures m = measure(w, p);
    std::printf("%dD: volume off by %.2g, from what is expected by %.2g, divergence %.2g, height %.3f\n", D, m.volume / before - 1,
                m.volume / w.volume_expected - 1, divergence, height(w));
    EXPECT_NEAR(m.volume, before, 1e-4 * before);
    EXPECT_NEAR(m.volume, w.volume_expected, 1e-4 * before);
    // The pressure's tolerance: no cell's divergence is more than that times the fastest flow.
    EXPECT_LT(divergence, 3 * p.pressure.tolerance);
    EXPECT_LT(greatest(w.smoke_density), 1.05f);
}

TEST(Smoke, density_is_conserved_around_solids)
{
    smoke_is_conserved<2>(hot_ball(2, 64), 1.5);
    smoke_is_conserved<3>(hot_ball(3, 24), 1.0);
}

TEST(Smoke, density_is_conserved_by_solids_that_move)
{
    Params p = hot_ball(2, 64);
    p.solid[0].translate.keys = {{0, Vec3{}}, {1, Vec3{-0.2, -0.3, 0}}, {2, Vec3{0.2, 0, 0}}};
    smoke_is_conserved<2>(p, 1.5);
}

TEST(Smoke, hot_air_rises_and_heavy_smoke_sinks)
{
    for (const double temperature : {593.0, 293.0}) {
        Params p = air_box(2, 48);
        p.cloud.push_back(ball({0.5, 0.5, 0}, 0.12, temperature));
        if (temperature == 293) p.smoke.weight = 0.5;
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        const double before = height(w);
        run_to(w, scene, 0.4);
        std::printf("%.0f K: from %.3f to %.3f m\n", temperature, before, height(w));
        if (temperature > 293) {
            EXPECT_GT(height(w), before + 0.1);
        } else {
            EXPECT_LT(height(w), before - 0.05);
        }
    }
}

// A warm solid warms the air beside it, which rises; no smoke enters it. A cold one makes it sink.
TEST(Smoke, solids_warm_and_cool_the_air_beside_them)
{
    for (const double temperature : {393.0, 193.0}) {
        Params p = air_box(2, 48);
        p.solid.push_back(solid_ball({0.5, 0.5, 0}, 0.1));
        p.solid[0].temperature = temperature;
        p.cloud.push_back(ball({0.5, 0.5, 0}, 0.2, 293));
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        const double before = height(w), volume = measure(w, p).volume;
        run_to(w, scene, 0.6);
        std::printf("%.0f K: from %.3f to %.3f m\n", temperature, before, height(w));
        if (temperature > 293) {
            EXPECT_GT(height(w), before + 0.01);
        } else {
            EXPECT_LT(height(w), before - 0.01);
        }
        EXPECT_NEAR(measure(w, p).volume, volume, 1e-4 * volume);
        EXPECT_EQ(w.smoke_density({24, 24}), 0);
    }
}

// Warm above cold, around a solid and over a slope: buoyancy is the slope of a pressure, which balances it to its tolerance.
TEST(Smoke, still_stratified_air_stays_still)
{
    Params p = air_box(2, 48);
    p.solid.push_back(solid_ball({0.5, 0.5, 0}, 0.18));
    SolidParams slope;
    slope.shape = ShapeKind::plane;
    slope.point = Vec3{0.5, 0.1, 0};
    slope.normal = Vec3{0.3, 1, 0};
    p.solid.push_back(slope);
    p.cloud.push_back(ball({0.5, 0.5, 0}, 0.01, 293));
    p.smoke.weight = 0.2;
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    set_field(w.temperature, [](Vec<2> x) { return 100 * x[1]; });
    set_field(w.smoke_density, [](Vec<2> x) { return std::max(0.0, 1 - 2 * x[1]); });
    restore(w, scene);
    double fastest = 0;
    for (int n = 0; n < 100; ++n) {
        ASSERT_TRUE(step(w, scene, 1.0 / 30).pressure.converged);
        fastest = std::max(fastest, measure(w, p).max_speed);
    }
    std::printf("fastest %.2g m/s\n", fastest);
    EXPECT_LT(fastest, 1e-3);  // 1e-4 of what buoyancy would make of it falling through the box, sqrt(2 g/3)
}

// A vortex ring two thirds of a cell thick.
Water<3> vortex_ring(const Scene& scene)
{
    Water<3> w = initial_water<3>(scene);
    const Grid<3> grid = w.grid;
    constexpr double radius = 0.22, core = 0.03, speed = 0.5;
    for (int a = 0; a < 3; ++a) {
        const auto u = w.velocity[a].view();
        parallel_for_faces("set", all_tiles(grid), a, [=](Cell<3> c) {
            const Vec<3> x = grid.face(c, a) - Vec3{0.5, 0.4, 0.5};
            const double r = std::hypot(x[0], x[2]), out = r - radius, up = x[1], s = std::hypot(out, up);
            const double swirl = s > 0 ? speed * core / s * -std::expm1(-s * s / (core * core)) / s : 0;
            const double radial = -up * swirl;
            u(c) = static_cast<float>(a == 1 ? out * swirl : r > 0 ? radial * x[a] / r : 0);
        });
    }
    restore(w, scene);
    (void)step(w, scene, 1e-4);
    return w;
}

// By the time that the scheme alone has halved a ring's energy, confinement has kept 0.93 of it. It must not
// feed it either.
TEST(Smoke, confinement_keeps_a_vortex_ring_up)
{
    Params p = air_box(3, 24);
    p.domain.gravity = Vec3{};
    p.cloud.push_back(ball({0.5, 0.5, 0.5}, 0.1, 293));
    const auto energy = [&](const Water<3>& w) { return measure(const_cast<Water<3>&>(w), p).kinetic_energy; };
    const Scene plain = scene_of(p);
    Water<3> w = vortex_ring(plain);
    const double before = energy(w);
    while (energy(w) > 0.5 * before && w.time < 20) (void)step(w, plain, 1.0 / 15);
    const double halved = w.time;
    const long steps = w.step;
    EXPECT_LT(halved, 20);

    p.smoke.confinement = 0.8;
    const Scene confined = scene_of(p);
    w = vortex_ring(confined);
    while (w.time < halved - 1e-9) (void)step(w, confined, 1.0 / 15);
    std::printf("halved after %.2f s, %ld steps; with confinement %.3f, %ld steps\n", halved, steps, energy(w) / before, w.step);
    EXPECT_GT(energy(w), 0.8 * before);
    EXPECT_LT(energy(w), 1.2 * before);
}

// Air that comes in was at rest outside. If it brought the velocity that there is at the side, this whirl's energy would be 7.5 times as much after
// two seconds; so it is a quarter.
TEST(Smoke, a_whirl_between_open_sides_does_not_feed_itself)
{
    Params p = air_box(3, 20);
    p.domain.gravity = Vec3{};
    p.domain.walls = {WallKind::open, WallKind::open, WallKind::slip, WallKind::open, WallKind::open, WallKind::open};
    p.cloud.push_back(ball({0.5, 0.5, 0.5}, 0.2, 293));
    const Scene scene = scene_of(p);
    Water<3> w = initial_water<3>(scene);
    const Grid<3> grid = w.grid;
    for (int a = 0; a < 3; a += 2) {
        const auto u = w.velocity[a].view();
        parallel_for_faces("set", all_tiles(grid), a, [=](Cell<3> c) {
            const Vec<3> x = grid.face(c, a) - Vec3::all(0.5);
            u(c) = static_cast<float>(a == 0 ? 0.1 - 3 * x[2] : 2.8 * x[0]);
        });
    }
    restore(w, scene);
    const double before = measure(w, p).kinetic_energy, smoke = measure(w, p).volume;
    run_to(w, scene, 2.0, [&](const StepReport&) { EXPECT_LT(measure(w, p).kinetic_energy, 1.01 * before); });
    const Measures m = measure(w, p);
    std::printf("energy %.3f of what it was, smoke %.3f\n", m.kinetic_energy / before, m.volume / smoke);
    EXPECT_LT(m.kinetic_energy, 0.5 * before);
    EXPECT_NEAR(m.volume, w.volume_expected, 1e-4 * smoke);
}

TEST(Smoke, a_rise_is_the_same_at_other_resolutions)
{
    double heights[3];
    for (int n = 0; n < 3; ++n) {
        Params p = air_box(2, 32 << n);
        p.cloud.push_back(ball({0.5, 0.25, 0}, 0.15, 443));
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        run_to(w, scene, 0.6);
        heights[n] = height(w);
    }
    std::printf("heights %.4f %.4f %.4f\n", heights[0], heights[1], heights[2]);
    EXPECT_NEAR(heights[0], heights[1], 0.015);
    EXPECT_NEAR(heights[2], heights[1], 0.015);
}

TEST(Smoke, large_and_small_steps_and_many_cells_do_not_blow_up)
{
    for (const double cfl : {0.5, 2.0, 5.0})
        for (const Advection advection : {Advection::maccormack, Advection::cip, Advection::semi_lagrangian}) {
            Params p = hot_ball(2, 64);
            p.method.advection = advection;
            p.time.cfl = cfl;
            p.smoke.confinement = 0.1;
            const Scene scene = scene_of(p);
            Water<2> w = initial_water<2>(scene);
            const double fastest = run_to(w, scene, 1.0);
            std::printf("cfl %.1f, %d: fastest %.2f m/s, height %.3f\n", cfl, int(advection), fastest, height(w));
            // A ball that turned all its potential energy into motion: sqrt(2 g' H), g' = 9.81 * 300 / 293, H = 0.7.
            EXPECT_LT(fastest, 3.7);
        }
    Params p = hot_ball(2, 256);
    p.time.cfl = 5;
    p.smoke.confinement = 0.1;
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    EXPECT_LT(run_to(w, scene, 0.5), 3.7);
}

}  // namespace
}  // namespace tarn
