// Rigid bodies in water: what Archimedes, Newton and Galilei say of them. Each bound says where it comes from.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "run_water.h"
#include "tarn/scene/validate.h"

namespace tarn {
namespace {

SolidParams body(ShapeKind shape, double density)
{
    SolidParams s;
    s.shape = shape;
    s.motion = SolidMotion::body;
    s.density = density;
    return s;
}
SolidParams ball(Vec3 centre, double radius, double density)
{
    SolidParams s = body(ShapeKind::sphere, density);
    s.center = centre;
    s.radius = radius;
    return s;
}
SolidParams box(Vec3 centre, Vec3 half, double density, double angle = 0)
{
    SolidParams s = body(ShapeKind::box, density);
    s.min = -half;
    s.max = half;
    s.translate = centre;
    s.rotate = Vec3{0, 0, angle};
    return s;
}

TEST(Bodies, fall_with_g)
{
    Params p = pool(2, 24, 0.1);
    p.solid = {ball({0.5, 0.8, 0}, 0.07, 500)};
    p.solid[0].velocity = Vec3{0.1, 0, 0};
    p.solid[0].spin = Vec3{0, 0, 3};
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    run_to(w, scene, 0.2, [](const StepReport&) {});
    EXPECT_NEAR(w.bodies[0].velocity[1], -9.81 * 0.2, 1e-12);
    EXPECT_NEAR(w.bodies[0].velocity[0], 0.1, 1e-12);
    EXPECT_NEAR(w.bodies[0].spin[2], 3, 1e-12);
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
// the water's, within the 1 % of its volume.
template <int D>
void expect_afloat(SolidParams s, double level, int cells, double r, double height, bool round)
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
    EXPECT_NEAR(sum / time, r, 0.01);
    EXPECT_LT(most, 0.02);
}

template <int D>
void expect_ball_afloat(double r, int cells, double across)
{
    const double level = 0.5037, radius = 0.5 * across / cells;
    const double z = D == 3 ? 0.487 : 0.0, y = level + radius * (1 - depth_of_ball(r, D));
    expect_afloat<D>(ball({0.513, y, z}, radius, 1000 * r), level, cells, r, 2 * radius, true);
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

TEST(Bodies, float_in_3d)
{
    for (const double r : {0.1, 0.5, 0.95}) {
        expect_ball_afloat<3>(r, 32, 14.3);
        expect_box_afloat<3>(r, 32, 14.3);
    }
}

}  // namespace
}  // namespace tarn
