// Rigid bodies in water: what Archimedes, Newton and Galilei say of them. Each bound says where it comes from.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "rigid_bodies.h"
#include "run_water.h"
#include "tarn/base/error.h"
#include "tarn/pressure/surface_fraction.h"
#include "tarn/scene/validate.h"
#include "tarn/step/bodies.h"
#include "tarn/step/boundary.h"

namespace tarn {
namespace {

TEST(Bodies, fall_with_g)
{
    Params p = pool(2, 24, 0.1);
    p.solid = {ball({0.5, 0.8, 0}, 0.07, 500)};
    p.solid[0].velocity = Vec3{0.1, 0, 0};
    p.solid[0].spin = Vec3{0, 0, 3};
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const double start = w.bodies[0].position[1];
    run_to(w, scene, 0.2, [](const StepReport&) {});
    const RigidBody b = bodies_now(w, p)[0];
    EXPECT_NEAR(b.position[1], start - 0.5 * 9.81 * 0.2 * 0.2, 1e-12);
    EXPECT_NEAR(b.velocity[1], -9.81 * 0.2, 1e-12);
    EXPECT_NEAR(b.velocity[0], 0.1, 1e-12);
    EXPECT_NEAR(b.spin[2], 3, 1e-12);
}

// How deep a ball of radius 1 lies when a fraction of its volume (or area) is under water: the depth of its lowest point.
double depth_of_ball(double fraction, int dimension)
{
    double lo = 0, hi = 2;
    for (int i = 0; i < 60; ++i) {
        const double d = 0.5 * (lo + hi);
        const double under = dimension == 3 ? d * d * (3 - d) / 4
                                            : (std::acos(1 - d) - (1 - d) * std::sqrt(d * (2 - d))) / std::numbers::pi;
        (under < fraction ? lo : hi) = d;
    }
    return 0.5 * (lo + hi);
}

double under_water(double depth, int dimension)
{
    const double d = std::clamp(depth, 0.0, 2.0);
    return dimension == 3 ? d * d * (3 - d) / 4 : (std::acos(1 - d) - (1 - d) * std::sqrt(d * (2 - d))) / std::numbers::pi;
}

// Started where Archimedes says, a body stays there: in the mean over a second, the part of it under water is its density over
// the water's, `within` so much of that.
template <int D>
void expect_afloat(SolidParams s, double level, int cells, double r, double height, bool round, double within = 0.01)
{
    Params p = pool(D, cells, level);
    p.solid = {s};
    ASSERT_TRUE(problems(p).empty()) << problems(p)[0].key;
    const Scene scene = scene_of(p);
    Water<D> w = initial_water<D>(scene);
    double sum = 0, time = 0, most = 0;
    run_to(w, scene, 1.0, [&](const StepReport& report) {
        const double depth = level - (w.bodies[0].position[1] - 0.5 * height);
        const double part = round ? under_water(2 * depth / height, D) : std::clamp(depth / height, 0.0, 1.0);
        sum += report.dt * part;
        time += report.dt;
        most = std::max(most, std::fabs(part - r));
    });
    std::printf("%dD %s r %.2f, %.1f cells high: %.4f under water in the mean, at most %.4f off, turned by %.4f\n", D,
                round ? "ball" : "box ", r, height * cells, sum / time, most, 2 * length(w.bodies[0].rotation.v));
    EXPECT_NEAR(sum / time, r, within * r);
    EXPECT_LT(most, 0.02);
}

// `shift`: in cells, of all that there is, against the grid.
template <int D>
void expect_ball_afloat(double r, int cells, double across, double shift = 0, double within = 0.01)
{
    const double level = 0.5037 + shift / cells, radius = 0.5 * across / cells;
    const double z = D == 3 ? 0.487 : 0.0, y = level + radius * (1 - depth_of_ball(r, D));
    expect_afloat<D>(ball({0.513 + shift / cells, y, z}, radius, 1000 * r), level, cells, r, 2 * radius, true, within);
}
template <int D>
void expect_box_afloat(double r, int cells, double across)
{
    const double level = 0.5037, half = 0.5 * across / cells, low = 0.6 * half;
    const double z = D == 3 ? 0.487 : 0.0, y = level + low * (1 - 2 * r);
    expect_afloat<D>(box({0.513, y, z}, {half, low, half}, 1000 * r), level, cells, r, 2 * low, false);
}

TEST(Bodies, float_with_their_part_under_water)
{
    for (const double r : {0.1, 0.5, 0.75, 0.95})
        for (const double across : {16.0, 32.0}) {
            expect_ball_afloat<2>(r, across == 16 ? 48 : 80, across);
            expect_box_afloat<2>(r, across == 16 ? 48 : 80, across);
        }
}

// What is hardly under water leans over it far out, in any place on the grid: the highest cell under water is known by its centre, which
// in one place of those looked at costs 1.1 % on 16 cells across.
TEST(Bodies, float_high_wherever_they_are)
{
    for (const double shift : {0.2, 0.25, 0.5, 0.85}) expect_ball_afloat<2>(0.1, 48, 16, shift);
    expect_ball_afloat<2>(0.1, 48, 16, 0.7, 0.015);
    expect_ball_afloat<2>(0.05, 80, 32, 0.4);
    expect_ball_afloat<3>(0.1, 32, 16, 0.4);
}

TEST(Bodies, float_in_3d)
{
    for (const double r : {0.1, 0.5, 0.95}) {
        expect_ball_afloat<3>(r, 32, 14.3);
        expect_box_afloat<3>(r, 32, 14.3);
    }
}

// The same with air over the water.
TEST(Bodies, float_between_water_and_air)
{
    for (const double r : {0.1, 0.5, 0.95}) {
        Params p = pool(2, 48, 0.5037);
        p.method.phases = Phases::water_air;
        p.method.advection = p.surface.advection = Advection::cip;
        p.domain.walls.top = WallKind::open;
        p.solid = {box({0.513, 0.5037 + 0.09 * (1 - 2 * r), 0}, {0.15, 0.09, 0}, 1000 * r)};
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        double sum = 0;
        run_to(w, scene, 1.0, [&](const StepReport& report) {
            sum += report.dt * (0.5037 - (w.bodies[0].position[1] - 0.09)) / 0.18;
        });
        std::printf("with air, r %.2f: %.4f under water in the mean\n", r, sum);
        EXPECT_NEAR(sum, r, 0.01);
    }
}

// A body as heavy as water stays where it is: less than 1 % of its size in two seconds.
TEST(Bodies, as_heavy_as_water_stay)
{
    for (const int cells : {40, 57}) {
        Params p = pool(2, cells, 0.8);
        p.solid = {ball({0.493, 0.411, 0}, 0.15, 1000)};
        Params q = pool(2, cells, 0.8);
        q.solid = {box({0.493, 0.411, 0}, {0.15, 0.1, 0}, 1000, 20)};
        for (const Params& each : {p, q}) {
            const Scene scene = scene_of(each);
            Water<2> w = initial_water<2>(scene);
            const Vec3 start = w.bodies[0].position;
            run_to(w, scene, 2.0, [](const StepReport&) {});
            std::printf("r 1, %d cells: moved by %.5f of its size\n", cells, length(w.bodies[0].position - start) / 0.3);
            EXPECT_LT(length(w.bodies[0].position - start), 0.01 * 0.3);
        }
    }
}

// A heavy body sinks, with less than its weight in vacuum: added mass and buoyancy take g (r - 1) / (r + c) at first, with
// c = 1 for a disc far from walls.
TEST(Bodies, heavy_ones_sink)
{
    Params p = pool(2, 96, 0.9);
    p.solid = {ball({0.5, 0.6, 0}, 0.05, 7800)};
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    run_to(w, scene, 0.05, [](const StepReport&) {});
    const double a = -bodies_now(w, p)[0].velocity[1] / 0.05;
    std::printf("r 7.8: starts to sink with %.3f m/s2\n", a);
    EXPECT_NEAR(a, 9.81 * 6.8 / 8.8, 0.05 * 9.81 * 6.8 / 8.8);
}

template <int D>
Vec<D> momentum(const Water<D>& w, const Params& p)
{
    // As the pressure moves it: the mass of the open part of each face.
    Vec<D> sum;
    const double mass = p.fluid.density.constant() * cell_volume(w.grid);
    const auto phi = w.phi.view();
    const Boundary<D> boundary = boundary_of(w, p);
    const float h = static_cast<float>(w.grid.h);
    for (int a = 0; a < D; ++a) {
        const auto u = w.velocity[a].view();
        sum[a] = mass * parallel_sum("momentum", all_tiles(w.grid), [=](Cell<D> c) {
                     if (c[a] == 0) return 0.0;
                     const float up = phi(c), down = phi(moved<D>(c, a, -1));
                     if (up >= 0 && down >= 0) return 0.0;
                     const double wet = up < 0 && down < 0 ? 1 : up < 0 ? surface_fraction(up, down, h) : surface_fraction(down, up, h);
                     return wet * static_cast<double>(boundary.open_at(c, a)) * static_cast<double>(u(c));
                 });
        sum[a] += w.bodies[0].mass * w.bodies[0].velocity[a];
    }
    return sum;
}

// A drop and a ball, without gravity.
Params ball_and_drop(int cells, Vec3 centre, double density)
{
    Params p = pool(2, cells, 0.5);
    p.domain.gravity = Vec3{};
    WaterParams drop;
    drop.shape = ShapeKind::sphere;
    drop.center = Vec3{0.6, 0.5, 0};
    drop.radius = 0.25;
    p.water = {drop};
    p.solid = {ball(centre, 0.1, density)};
    p.solid[0].velocity = Vec3{1, 0.3, 0};
    return p;
}

// The impulse that a body gets from the pressure is the one that the water loses: in a step so short that nothing else
// happens, a ball that starts to move in water at rest shares its momentum and loses none. Behind it the water may separate,
// where velocities at faces between water and air are averaged after the solve: that alone is off, by 0.05 % and less here.
TEST(Bodies, share_their_momentum_with_the_water)
{
    for (const double density : {100.0, 1000.0, 7800.0})
        for (const int cells : {48, 64, 100}) {
            Params p = ball_and_drop(cells, {0.61, 0.47, 0}, density);
            p.pressure.tolerance = 1e-6;
            const Scene scene = scene_of(p);
            Water<2> w = initial_water<2>(scene);
            for (int a = 0; a < 2; ++a) w.velocity[a].fill(0);
            w.step = 1;  // the first changes the velocity twice
            const Vec<2> before = momentum(w, p);
            const StepReport report = step(w, scene, 1e-5);
            EXPECT_TRUE(report.pressure.converged);
            const Vec<2> after = momentum(w, p);
            std::printf("r %.1f, %d cells: momentum off by %.6f, ball %.3f m/s\n", density / 1000, cells,
                        length(after - before) / length(before), w.bodies[0].velocity[0]);
            EXPECT_LT(w.bodies[0].velocity[0], 0.96);
            EXPECT_LT(length(after - before), 1e-3 * length(before));
        }
}

// A ball that strikes a drop. The solve loses nothing of their momentum; how the water's velocity is carried, which is not
// written as a conservation law, does: 3 % with 64 cells, and 1.9 % with 96 and steps a quarter as long.
TEST(Bodies, a_ball_meets_a_drop)
{
    for (const int cells : {64, 96}) {
        const Params p = ball_and_drop(cells, {0.22, 0.46, 0}, 800);
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        const Vec<2> before = momentum(w, p);
        double worst = 0;
        run_to(w, scene, 0.2, [&](const StepReport&) {
            worst = std::max(worst, length(momentum(w, p) - before) / length(before));
        });
        std::printf("ball meets drop, %d cells: momentum off by %.5f at most, ball %.3f m/s\n", cells, worst,
                    w.bodies[0].velocity[0]);
        EXPECT_LT(w.bodies[0].velocity[0], 0.9);
        EXPECT_LT(worst, 0.05);
    }
}

// Iterations with bodies against fixed solids in their place: with those as heavy as water at most two more. With an exact
// inverse of A the spectrum would reach to 1 + added mass / mass, 6 for balls of 0.1: sqrt(6) = 2.4 times as many, and a little
// more where they crowd.
TEST(Bodies, cost_few_iterations)
{
    const auto iterations = [](double density, int count) {
        Params p = pool(3, 40, 0.7);
        p.water[0].velocity = Vec3{1, 0, 0.5};
        for (int n = 0; n < count; ++n) {
            const int i = n % 3, j = n / 3 % 3, k = n / 9;
            SolidParams s = ball({0.2 + 0.3 * i, 0.12 + 0.2 * j, 0.2 + 0.3 * k}, 0.075, 1000);
            s.density = density > 0 ? std::optional<double>(density) : std::nullopt;
            if (!(density > 0)) s.motion = SolidMotion::keyframes;
            p.solid.push_back(s);
        }
        const Scene scene = scene_of(p);
        Water<3> w = initial_water<3>(scene);
        double sum = 0;
        int steps = 0;
        run_to(w, scene, 0.1, [&](const StepReport& r) { sum += r.pressure.iterations; ++steps; });
        return sum / steps;
    };
    for (const int count : {1, 27}) {
        const double fixed = iterations(0, count), like_water = iterations(1000, count), light = iterations(100, count);
        std::printf("%d balls: iterations fixed %.1f, r 1 %.1f, r 0.1 %.1f\n", count, fixed, like_water, light);
        EXPECT_LE(like_water, fixed + 2);
        EXPECT_LE(light, (count == 1 ? 2.5 : 3.2) * fixed);
    }
}

// A box of half the water's density that starts 4 cm above its place heaves: slower than without the water that it takes along,
// T = 2 pi sqrt(r H / g), and as fast on twice as many cells. On 320 cells half a period is 0.687 s, with steps of any length.
double half_period(int cells, double cfl)
{
    Params p = pool(2, cells, 1.0);
    p.domain.size = {4.0, 1.5};
    p.water[0].max = Vec3{9, 1, 0};
    p.time.cfl = cfl;
    p.solid = {box({2.013, 1.04, 0}, {0.3, 0.2, 0}, 500)};
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    double found = 0, before = 0;
    run_to(w, scene, 1.0, [&](const StepReport& report) {
        const double v = bodies_now(w, p)[0].velocity[1];
        if (found == 0 && before < 0 && v >= 0) found = w.time - report.dt * v / (v - before);
        before = v;
    });
    std::printf("heave, %d cells, cfl %.1f: half a period %.4f s\n", cells, cfl, found);
    return found;
}

TEST(Bodies, heave_slower_than_without_added_mass)
{
    EXPECT_GT(2 * half_period(80, 2), 1.3 * 2 * std::numbers::pi * std::sqrt(0.5 * 0.4 / 9.81));
    EXPECT_NEAR(half_period(80, 2), 0.687, 0.02 * 0.687);
    EXPECT_NEAR(half_period(160, 2), 0.687, 0.005 * 0.687);
    EXPECT_NEAR(half_period(160, 0.5), 0.687, 0.005 * 0.687);
    EXPECT_NEAR(half_period(160, 5), 0.687, 0.005 * 0.687);
}

// A raft that floats still stays so: neither it nor the water gets faster in four seconds.
TEST(Bodies, a_still_float_gains_no_energy)
{
    for (const double r : {0.1, 0.5, 0.95}) {
        Params p = pool(2, 40, 0.5037);
        p.solid = {box({0.513, 0.5037 + 0.1 * (1 - 2 * r), 0}, {0.2, 0.1, 0}, 1000 * r)};
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        double most = 0;
        run_to(w, scene, 4.0, [&](const StepReport&) {
            most = std::max(most, w.bodies[0].fastest() + measure(w, p).max_speed);
        });
        std::printf("a still float of %.2f: %.5f m/s at most in 4 s\n", r, most);
        EXPECT_LT(most, 0.01);
    }
}

TEST(Bodies, what_cannot_be_a_body_is_refused)
{
    const auto key = [](const SolidParams& s) {
        Params p = pool(2, 24, 0.5);
        p.solid = {s};
        const auto all = problems(p);
        return all.empty() ? "" : all[0].key;
    };
    SolidParams s = ball({0.5, 0.5, 0}, 0.1, 500);
    EXPECT_EQ(key(s), "");
    s.mass = 1;
    EXPECT_EQ(key(s), "solid.0.mass");
    s.mass.reset();
    s.density.reset();
    EXPECT_EQ(key(s), "solid.0.density");
    s = ball({0.5, 0.5, 0}, 0.1, 500);
    s.motion = SolidMotion::keyframes;
    EXPECT_EQ(key(s), "solid.0.density");
    const auto message = [](const std::vector<SolidParams>& solids) -> std::string {
        Params p = pool(2, 24, 0.5);
        p.solid = solids;
        try {
            (void)scene_of(p);
        } catch (const InputError& e) {
            return e.what();
        }
        return "";
    };
    EXPECT_NE(message({ball({0.5, 0.5, 0}, 0.1, 15)}).find("lighter than 0.02"), std::string::npos);
    EXPECT_NE(message({ball({3, 0.5, 0}, 0.1, 500)}).find("outside"), std::string::npos);
    EXPECT_NE(message({ball({0.5, 0.5, 0}, 0.1, 500), ball({0.55, 0.5, 0}, 0.1, 500)}).find("overlaps"), std::string::npos);
    EXPECT_EQ(message({ball({0.5, 0.5, 0}, 0.1, 500), ball({0.75, 0.5, 0}, 0.1, 500)}), "");
}

}  // namespace
}  // namespace tarn
