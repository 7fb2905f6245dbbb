// Hinges and sliders: what mechanics says of bodies on them.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <numbers>

#include "rigid_bodies.h"
#include "run_water.h"
#include "tarn/scene/validate.h"
#include "tarn/step/bodies.h"

namespace tarn {
namespace {

JointParams joint(JointKind kind, const std::string& body, const std::string& to = "")
{
    JointParams j;
    j.kind = kind;
    j.body = body;
    j.to = to;
    return j;
}
JointParams hinge(Vec3 point, const std::string& body, const std::string& to = "")
{
    JointParams j = joint(JointKind::hinge, body, to);
    j.point = point;
    return j;
}
SolidParams named(SolidParams s, const std::string& name)
{
    s.name = name;
    return s;
}

// Times at which a swing passes its lowest point, by its turn about z.
template <int D>
double period_of(Params p, double until, double* energy_lost = nullptr)
{
    EXPECT_TRUE(problems(p).empty()) << problems(p)[0].key << ": " << problems(p)[0].text;
    const Scene scene = scene_of(p);
    Water<D> w = initial_water<D>(scene);
    const Vec3 pivot = *p.joint[0].point;
    std::vector<double> passes;
    double last_angle = 0, last_time = 0, apart = 0, highest = 0, first_highest = 0;
    bool started = false;
    run_to(w, scene, until, [&](const StepReport&) {
        const RigidBody& b = w.bodies[0];
        const Vec3 arm = b.position - pivot;
        const double angle = std::atan2(arm[0], -arm[1]);
        if (started && angle * last_angle < 0)
            passes.push_back(last_time + (w.time - last_time) * last_angle / (last_angle - angle));
        started = true;
        last_angle = angle;
        last_time = w.time;
        (w.time < 0.3 * until ? first_highest : highest) = std::max(w.time < 0.3 * until ? first_highest : highest, std::fabs(angle));
        apart = std::max(apart, length(b.position + b.rotation.rotate(pivot - b.centre) - pivot));
    });
    std::printf("%dD: joint apart by at most %.2e m; swings to %.4f, then to %.4f\n", D, apart, first_highest, highest);
    EXPECT_LT(apart, 1e-3);
    if (energy_lost) *energy_lost = 1 - highest / first_highest;
    if (passes.size() < 3) return 0;
    return 2 * (passes.back() - passes.front()) / static_cast<double>(passes.size() - 1);
}

// A rod that swings about its upper end: T = 2 pi sqrt(I / (m g d)) (1 + A² / 16).
TEST(Joints, a_pendulum_has_its_period)
{
    for (const double step : {0.01, 0.004}) {
        const double half = 0.15, thick = 0.02, angle = 20;
        const double a = angle * std::numbers::pi / 180;
        Params p = pool(2, 24, 0.1);
        p.solid = {named(box({0.5 + half * std::sin(a), 0.8 - half * std::cos(a), 0}, {thick, half, 0}, 700, angle), "rod")};
        p.joint = {hinge({0.5, 0.8, 0}, "rod")};
        p.time.step = StepKind::fixed;
        p.time.max_step = step;
        const double inertia = (4 * half * half + 4 * thick * thick) / 12 + half * half;
        const double expected = 2 * std::numbers::pi * std::sqrt(inertia / (9.81 * half)) * (1 + a * a / 16);
        double lost = 0;
        const double period = period_of<2>(p, 5, &lost);
        std::printf("steps of %.3f s: period %.5f s, expected %.5f s\n", step, period, expected);
        EXPECT_NEAR(period, expected, 0.01 * expected);
        EXPECT_LT(std::fabs(lost), 0.01);
    }
}

TEST(Joints, a_pendulum_in_space_has_its_period)
{
    const double half = 0.15, thick = 0.03, angle = 15, a = angle * std::numbers::pi / 180;
    Params p = pool(3, 16, 0.06);
    p.solid = {named(box({0.5 + half * std::sin(a), 0.8 - half * std::cos(a), 0.5}, {thick, half, thick}, 700, angle), "rod")};
    p.joint = {hinge({0.5, 0.8, 0.5}, "rod")};
    p.time.step = StepKind::fixed;
    p.time.max_step = 0.008;
    const double inertia = (4 * half * half + 4 * thick * thick) / 12 + half * half;
    const double expected = 2 * std::numbers::pi * std::sqrt(inertia / (9.81 * half)) * (1 + a * a / 16);
    const double period = period_of<3>(p, 3);
    std::printf("period %.5f s, expected %.5f s\n", period, expected);
    EXPECT_NEAR(period, expected, 0.01 * expected);
}

// On a slanted slider a body falls with the part of g along it, does not leave it and does not turn.
template <int D>
void expect_on_slider()
{
    Params p = pool(D, 24, 0.1);
    const double z = D == 3 ? 0.5 : 0;
    p.solid = {named(box({0.4, 0.75, z}, {0.06, 0.04, D == 3 ? 0.05 : 0}, 600, 10), "sled")};
    p.solid[0].spin = Vec3{0, 0, 1};
    JointParams j = joint(JointKind::slider, "sled");
    const Vec3 along = D == 3 ? Vec3{0.6, -0.7, 0.2} : Vec3{0.6, -0.8, 0};
    j.along = along;
    p.joint = {j};
    ASSERT_TRUE(problems(p).empty()) << problems(p)[0].text;
    const Scene scene = scene_of(p);
    Water<D> w = initial_water<D>(scene);
    const Vec3 start = w.bodies[0].position, axis = (1 / length(along)) * along;
    double off = 0;
    run_to(w, scene, 0.25, [&](const StepReport&) {
        const Vec3 way = w.bodies[0].position - start;
        off = std::max(off, length(way - dot(way, axis) * axis));
    });
    const double speed = dot(bodies_now(w, p)[0].velocity, axis), expected = -9.81 * axis[1] * 0.25;
    std::printf("%dD: off the axis by at most %.2e m, %.4f m/s of %.4f m/s, turned by %.2e\n", D, off, speed, expected,
                2 * length(w.bodies[0].rotation.v));
    EXPECT_LT(off, 1e-3);
    EXPECT_NEAR(speed, expected, 0.01 * expected);
    // But for what the first move was given.
    EXPECT_LT(2 * length(w.bodies[0].rotation.v), 0.02);
}
TEST(Joints, a_slider_keeps_to_its_axis)
{
    expect_on_slider<2>();
    expect_on_slider<3>();
}

// Two bodies that are joined to nothing else fall as one: their centre of mass with g, and their angular momentum stays.
TEST(Joints, joined_bodies_keep_their_momentum)
{
    Params p = pool(2, 24, 0.05);
    p.solid = {named(box({0.4, 0.7, 0}, {0.08, 0.03, 0}, 600), "a"), named(box({0.62, 0.7, 0}, {0.08, 0.03, 0}, 900), "b")};
    p.solid[0].velocity = Vec3{0, 1, 0};
    p.joint = {hinge({0.51, 0.7, 0}, "a", "b")};
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const auto momentum = [&] {
        Vec3 sum;
        for (const RigidBody& b : bodies_now(w, p)) sum += b.mass * b.velocity;
        return sum;
    };
    double mass = 0;
    for (const RigidBody& b : w.bodies) mass += b.mass;
    const Vec3 before = momentum();
    double apart = 0;
    run_to(w, scene, 0.2, [&](const StepReport&) {
        const auto point = [&](size_t n) {
            const RigidBody& b = w.bodies[n];
            return b.position + b.rotation.rotate(Vec3{0.51, 0.7, 0} - b.centre);
        };
        if (w.step > 1) apart = std::max(apart, length(point(0) - point(1)));
    });
    std::printf("apart by at most %.2e m\n", apart);
    EXPECT_LT(length(momentum() - before - mass * 0.2 * Vec3{0, -9.81, 0}), 1e-9 * mass);
    EXPECT_LT(apart, 1e-3);
}

// A gate on a hinge that floats: a pontoon's arm rises with the water's lift, and stays on its hinge.
TEST(Joints, a_float_on_a_hinge_rests_on_the_water)
{
    Params p = pool(2, 40, 0.5);
    p.solid = {named(box({0.5, 0.52, 0}, {0.2, 0.05, 0}, 400), "gate")};
    p.joint = {hinge({0.3, 0.52, 0}, "gate")};
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    double apart = 0;
    run_to(w, scene, 1.0, [&](const StepReport&) {
        const RigidBody& b = w.bodies[0];
        apart = std::max(apart, length(b.position + b.rotation.rotate(Vec3{0.3, 0.52, 0} - b.centre) - Vec3{0.3, 0.52, 0}));
    });
    std::printf("apart by at most %.2e m, turned by %.3f, spin %.3f\n", apart, 2 * w.bodies[0].rotation.v[2], w.bodies[0].spin[2]);
    EXPECT_LT(apart, 1e-3);
    EXPECT_LT(std::fabs(2 * w.bodies[0].rotation.v[2]), 0.3);
}

TEST(Joints, what_they_lack_is_told)
{
    Params p = pool(2, 24, 0.3);
    p.solid = {named(ball({0.5, 0.6, 0}, 0.1, 500), "ball")};
    const auto refused = [&](const JointParams& j, const std::string& key, const std::string& text) {
        Params q = p;
        q.joint = {j};
        const auto all = problems(q);
        ASSERT_FALSE(all.empty()) << key;
        EXPECT_EQ(all[0].key, key);
        EXPECT_NE(all[0].text.find(text), std::string::npos) << all[0].text;
    };
    refused(hinge({0.5, 0.8, 0}, "bell"), "joint.0.body", "there are \"ball\"");
    refused(hinge({0.5, 0.8, 0}, "ball", "ball"), "joint.0.to", "same body");
    refused(joint(JointKind::hinge, "ball"), "joint.0.point", "missing");
    refused(joint(JointKind::slider, "ball"), "joint.0.along", "missing");
}

}  // namespace
}  // namespace tarn
