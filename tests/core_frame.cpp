// Water and bodies in a domain that moves: what an observer at rest would see. Each bound says where it comes from.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <numbers>

#include "rigid_bodies.h"
#include "run_water.h"
#include "tarn/scene/frame.h"
#include "tarn/scene/validate.h"

namespace tarn {
namespace {

constexpr double g = 9.81;

// Turns about an axis (2: z) with w rad/s from the start on.
Keyed<Vec3> steady_turn(int axis, double w)
{
    Keyed<Vec3> keyed;
    keyed.keys = {{0, {}, Ease::linear}, {100, (100 * w * 180 / std::numbers::pi) * Vec3::unit(axis), Ease::linear}};
    return keyed;
}
Keyed<Vec3> steady_push(double a)
{
    Keyed<Vec3> keyed;
    keyed.keys = {{0, {}, Ease::in}, {10, Vec3{0.5 * a * 100, 0, 0}, Ease::linear}};
    return keyed;
}

// A drag to rest: how water comes to rest does not matter.
ForceParams calming()
{
    ForceParams f;
    f.kind = ForceKind::drag;
    f.rate = 4.0;
    return f;
}

TEST(Frame, a_value_in_time_knows_how_fast_it_changes)
{
    for (const Ease ease : {Ease::linear, Ease::in, Ease::out, Ease::in_out, Ease::curve, Ease::smooth}) {
        Keyed<double> k;
        k.keys = {{0.1, 1, ease}, {0.6, 3, ease}, {1.4, 2, ease}, {2, 5, ease}};
        for (const double t : {0.05, 0.23, 0.9, 1.7, 2.3})
            EXPECT_NEAR(k.change(t), (k.at(t + 1e-5) - k.at(t - 1e-5)) / 2e-5, 1e-6) << static_cast<int>(ease) << " at " << t;
        EXPECT_EQ(k.change(0.0999), 0);
    }
}

// The angular velocity against differences of the turn itself: R^T dR/dt = W x.
TEST(Frame, its_spin_is_that_of_its_turn)
{
    Params p = pool(3, 16, 0.5);
    p.motion.emplace();
    p.motion->rotate.keys = {{0, {10, -20, 30}, Ease::smooth}, {1, {80, 50, -70}, Ease::smooth}, {2, {-40, 20, 160}, Ease::smooth}};
    for (const double t : {0.2, 0.9, 1.6}) {
        const Quaternion turn = frame_pose(p, t).turn;
        const Vec3 spin = frame_spin(p, t);
        for (int a = 0; a < 3; ++a) {
            const Vec3 later = frame_pose(p, t + 1e-6).turn.rotate(Vec3::unit(a)), before = frame_pose(p, t - 1e-6).turn.rotate(Vec3::unit(a));
            const Vec3 rate = turn.inverse().rotate((1 / 2e-6) * (later - before)), expected = cross(spin, Vec3::unit(a));
            EXPECT_LT(length(rate - expected), 1e-6 * length(spin));
        }
    }
}

// Seen from the world, what nothing touches moves with g alone. The fall from the start to t, its velocity, and its turn.
double off_the_straight_line(int dimension, double dt)
{
    Params p = pool(dimension, 16, 0.05);
    p.motion.emplace();
    p.motion->rotate = dimension == 2 ? steady_turn(2, 3) : steady_turn(0, 2);
    if (dimension == 3) p.motion->rotate.keys[1].v += Vec3{0, 20 * 180 / std::numbers::pi, 0};
    p.motion->translate.keys = {{0, {}, Ease::smooth}, {1, {0.1, 0.05, 0}, Ease::smooth}, {2, {0.3, 0, 0}, Ease::smooth}};
    p.solid = {box({0.5, 0.7, dimension == 3 ? 0.5 : 0}, {0.06, 0.04, dimension == 3 ? 0.05 : 0}, 700)};
    p.solid[0].velocity = Vec3{0.3, 0.6, 0};
    p.solid[0].spin = Vec3{0, 0, 2};
    p.time.step = StepKind::fixed;
    p.time.max_step = dt;
    const Scene scene = scene_of(p);
    const FramePose start = frame_pose(p, 0);
    const RigidBody& was = scene.bodies[0];
    const auto world_velocity = [&](const RigidBody& b, double t) {
        const FramePose pose = frame_pose(p, t);
        return p.motion->translate.change(t) + pose.turn.rotate(b.velocity + cross(frame_spin(p, t), b.position - pose.center));
    };
    const auto momentum = [&](const RigidBody& b, double t) {
        return frame_pose(p, t).turn.rotate(b.inertia_now() * (b.spin + frame_spin(p, t)));
    };
    const Vec3 x0 = start.to_world(was.position), v0 = world_velocity(was, 0), l0 = momentum(was, 0);
    double worst = 0;
    const auto compare = [&](const RigidBody& b, double t) {
        const Vec3 x = x0 + t * v0 + (0.5 * t * t) * p.domain.gravity.at(0);
        worst = std::max(worst, length(frame_pose(p, t).to_world(b.position) - x));
        EXPECT_LT(length(momentum(b, t) - l0), 1e-9 * length(l0));
    };
    if (dimension == 2) {
        Water<2> w = initial_water<2>(scene);
        run_to(w, scene, 0.25, [&](const StepReport&) { compare(w.bodies[0], w.time); });
    } else {
        Water<3> w = initial_water<3>(scene);
        run_to(w, scene, 0.25, [&](const StepReport&) { compare(w.bodies[0], w.time); });
    }
    return worst;
}
TEST(Frame, a_free_body_moves_in_a_straight_line_in_the_world)
{
    for (const int dimension : {2, 3}) {
        const double coarse = off_the_straight_line(dimension, 0.01), fine = off_the_straight_line(dimension, 0.0025);
        std::printf("%dD: %.5f m off after 0.25 s in steps of 10 ms, %.5f m in steps of 2.5 ms\n", dimension, coarse, fine);
        // Of first order, as a fall is: g t dt / 2 = 12 mm.
        EXPECT_LT(coarse, 0.02);
        EXPECT_LT(fine, 0.3 * coarse);
    }
}

// The surface of what turns steadily about an upright axis at x = c is y = w² (x - c)² / (2 g) + const, in a plane as in space.
// Started as that, and started level, after it has come to rest.
template <int D>
double off_the_paraboloid(Phases phases, double w, double center)
{
    Params p = pool(D, D == 2 ? 48 : 32, 0.5);
    p.motion.emplace();
    p.motion->rotate = steady_turn(1, w);
    p.motion->center = Vec3{center, 0, D == 3 ? 0.5 : 0};
    p.method.phases = phases;
    if (phases == Phases::water_air) p.method.advection = p.surface.advection = Advection::cip;
    p.force = {calming()};
    EXPECT_TRUE(problems(p).empty());
    const Scene scene = scene_of(p);
    Water<D> water = initial_water<D>(scene);
    run_to(water, scene, D == 2 ? 4.0 : 3.0, [](const StepReport&) {});
    // The height of the surface over the middle row, against the parabola with the same mean.
    double sum = 0, worst = 0, span = 0;
    std::vector<double> heights, parabola;
    const auto phi = water.phi.view();
    for (int i = 0; i < water.grid.cells[0]; ++i) {
        Cell<D> c;
        c[0] = i;
        if constexpr (D == 3) c[2] = water.grid.cells[2] / 2;
        double height = 0;
        for (int j = 1; j < water.grid.cells[1]; ++j) {
            c[1] = j;
            const float above = phi(c), below = phi(moved<D>(c, 1, -1));
            if (below < 0 && above >= 0) height = (j - 0.5 + below / (below - above)) * water.grid.h;
        }
        const Vec<D> x = water.grid.centre(c);
        double square = (x[0] - center) * (x[0] - center);
        if constexpr (D == 3) square += (x[2] - 0.5) * (x[2] - 0.5);
        heights.push_back(height);
        parabola.push_back(w * w * square / (2 * g));
        sum += heights.back() - parabola.back();
    }
    const double mean = sum / static_cast<double>(heights.size());
    for (size_t i = 0; i < heights.size(); ++i) {
        worst = std::max(worst, std::fabs(heights[i] - mean - parabola[i]));
        span = std::max(span, parabola[i]);
    }
    std::printf("%dD %s, axis at %.1f: %.4f m off of %.4f m, at most %.4f m/s\n", D, phases == Phases::water ? "water" : "with air",
                center, worst, span, measure(water, p).max_speed);
    return worst / span;
}
TEST(Frame, water_in_steady_rotation_rests_as_a_paraboloid)
{
    EXPECT_LT(off_the_paraboloid<2>(Phases::water, 5, 0.5), 0.03);
    EXPECT_LT(off_the_paraboloid<2>(Phases::water, 2.2, -0.6), 0.03);
    EXPECT_LT(off_the_paraboloid<2>(Phases::water_air, 5, 0.5), 0.03);
    EXPECT_LT(off_the_paraboloid<3>(Phases::water, 4, 0.5), 0.03);
}

// A tank that is accelerated rests with a surface that is tilted by atan(a / g).
TEST(Frame, an_accelerated_tank_tilts_its_water)
{
    for (const Phases phases : {Phases::water, Phases::water_air})
        for (const double a : {2.0, -3.5}) {
            Params p = pool(2, 48, 0.5);
            p.motion.emplace();
            p.motion->translate = steady_push(a);
            p.method.phases = phases;
            if (phases == Phases::water_air) p.method.advection = p.surface.advection = Advection::cip;
            p.force = {calming()};
            const Scene scene = scene_of(p);
            Water<2> w = initial_water<2>(scene);
            run_to(w, scene, 4.0, [](const StepReport&) {});
            const double slope = (level(w, 42) - level(w, 5)) / (37 * w.grid.h);
            std::printf("a = %.1f: slope %.4f, -a / g = %.4f\n", a, slope, -a / g);
            EXPECT_NEAR(slope, -a / g, 0.02 * std::fabs(a / g));
        }
}

// A body as heavy as water rests with the water around it, wherever the axis is.
double drift_of_water_heavy_body(int cells)
{
    Params p = pool(2, cells, 2);
    p.domain.gravity = Vec3{};
    p.motion.emplace();
    p.motion->rotate = steady_turn(2, 4);
    p.motion->center = Vec3{0.1, 0.2, 0};
    p.solid = {ball({0.62, 0.55, 0}, 0.13, 1000)};
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const Vec3 start = w.bodies[0].position;
    run_to(w, scene, 0.4, [](const StepReport&) {});
    return length(w.bodies[0].position - start);
}
TEST(Frame, a_body_as_heavy_as_water_turns_with_it)
{
    const double coarse = drift_of_water_heavy_body(40), fine = drift_of_water_heavy_body(80);
    std::printf("moved by %.5f and %.5f m in 0.4 s\n", coarse, fine);
    // At 10 m/s² a weight wrong by 0.1 % would move it by 0.8 mm.
    EXPECT_LT(coarse, 0.0008);
    EXPECT_LT(fine, 0.0008);
}

// In the plane a steady turn does nothing to water that fills its tank: the Coriolis and centrifugal terms are gradients. A
// vortex in it keeps its energy as it does in a tank at rest.
TEST(Frame, a_turning_plane_does_nothing_to_water_without_a_surface)
{
    double energy[2];
    for (const bool turns : {false, true}) {
        Params p = pool(2, 48, 2);
        p.domain.gravity = Vec3{};
        p.method.advection = Advection::maccormack;
        WaterParams ring;
        ring.shape = ShapeKind::box;
        ring.min = Vec3{0.2, 0.2, 0};
        ring.max = Vec3{0.8, 0.5, 0};
        ring.velocity = Vec3{0.5, 0, 0};
        p.water.push_back(ring);
        if (turns) {
            p.motion.emplace();
            p.motion->rotate = steady_turn(2, 3);
        }
        p.time.step = StepKind::fixed;
        p.time.max_step = 0.02;
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        run_to(w, scene, 2.0, [](const StepReport&) {});
        energy[turns] = measure(w, p).kinetic_energy;
    }
    std::printf("energy at rest %.5f J, turning %.5f J\n", energy[0], energy[1]);
    EXPECT_NEAR(energy[1], energy[0], 0.02 * energy[0]);
}

// A frame that starts to turn at once leaves the water in a round tank where it is, in the world: in the frame it turns back.
TEST(Frame, what_starts_at_once_leaves_the_water_at_rest_in_the_world)
{
    Params p = pool(2, 48, 2);
    p.domain.gravity = Vec3{};
    SolidParams wall;
    wall.shape = ShapeKind::box;
    wall.min = Vec3{-1, -1, -1};
    wall.max = Vec3{2, 2, 1};
    SolidParams hole;
    hole.shape = ShapeKind::sphere;
    hole.center = Vec3{0.5, 0.5, 0};
    hole.radius = 0.42;
    hole.subtract = true;
    p.solid = {wall, hole};
    p.motion.emplace();
    p.motion->rotate.keys = {{0.1, {}, Ease::linear}, {10.1, {0, 0, 1000}, Ease::linear}};
    p.time.max_step = 0.02;
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    run_to(w, scene, 0.2, [](const StepReport&) {});
    const double spin = 100 * std::numbers::pi / 180;
    double worst = 0;
    const auto u = std::as_const(w.velocity).view();
    for (int j = 12; j < 36; ++j)
        for (int i = 12; i < 36; ++i) {
            const Vec<2> x = w.grid.face({i, j}, 0);
            worst = std::max(worst, std::fabs(static_cast<double>(u[0]({i, j})) - spin * (x[1] - 0.5)));
        }
    std::printf("off by %.4f of %.4f m/s\n", worst, spin * 0.25);
    EXPECT_LT(worst, 0.03 * spin * 0.25);
}

TEST(Frame, refuses_what_it_does_not_know)
{
    Params p = pool(2, 16, 0.5);
    p.motion.emplace();
    EXPECT_TRUE(problems(p).empty());
    Params q = p;
    q.method.solver = Solver::foster_metaxas;
    q.method.surface = SurfaceKind::markers;
    ASSERT_FALSE(problems(q).empty());
    EXPECT_NE(problems(q)[0].text.find("[domain.motion]"), std::string::npos);
    q = p;
    q.motion->translate.keys = {{0, {}, Ease::linear}, {1e-5, {1, 0, 0}, Ease::linear}};
    ASSERT_FALSE(problems(q).empty());
    EXPECT_EQ(problems(q)[0].key, "domain.motion.translate");
}

}  // namespace
}  // namespace tarn
