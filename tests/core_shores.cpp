// Still water whose surface a solid pierces: beaches, overhangs, balls and tilted blocks at any place. With phi planar on
// both sides of every open face, p = rho g (level - y) satisfies every row of the pressure's system.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "run_water.h"
#include "tarn/base/random.h"

namespace tarn {
namespace {

// The bound for still water everywhere: 1e-4 sqrt(g d), here in 100 steps.
constexpr double still = 1e-4;
constexpr int steps = 100;

// The largest speed in a number of steps, of sqrt(g d).
template <int D>
double largest_speed(const Params& p, double level)
{
    const Scene scene = scene_of(p);
    Water<D> w = initial_water<D>(scene);
    double fastest = 0;
    for (int n = 0; n < steps; ++n) {
        const StepReport report = step(w, scene, std::min(choose_dt(w, scene), 1 / p.time.rate));
        EXPECT_TRUE(report.finite && report.pressure.converged);
        fastest = std::max(fastest, measure(w, p).max_speed);
    }
    return fastest / std::sqrt(9.81 * level);
}

// A plane through the surface at `at`, which rises in the direction `towards` (radians, in the horizontal plane) by
// `angle` degrees from the horizontal; over 90 it leans over the water.
SolidParams slope(Vec3 at, double angle, double towards)
{
    const double a = angle * std::numbers::pi / 180;
    SolidParams plane;
    plane.shape = ShapeKind::plane;
    plane.point = at;
    plane.normal = Vec3{-std::sin(a) * std::cos(towards), std::cos(a), -std::sin(a) * std::sin(towards)};
    return plane;
}

// Numbers from 0 to 1 that only depend on where they are asked for.
double chance(int scene, int n)
{
    return static_cast<double>(Random(static_cast<uint32_t>(scene), static_cast<uint32_t>(n), 1).next());
}

TEST(Shore, rests_at_any_angle)
{
    int n = 0;
    for (const double angle : {5.0, 9.0, 20.0, 45.0, 70.0, 85.0, 95.0, 110.0, 135.0, 150.0}) {
        ++n;
        const double level = 0.3 + 0.4 * chance(n, 0), x = 0.35 + 0.3 * chance(n, 1);
        Params p = pool(2, 24 + static_cast<int>(40 * chance(n, 2)), level);
        p.solid.push_back(slope({x, level, 0}, angle, n % 2 ? 0 : std::numbers::pi));
        EXPECT_LT(largest_speed<2>(p, level), still) << angle << " degrees, 2D";
    }
    for (const double angle : {8.0, 50.0, 130.0}) {
        ++n;
        const double level = 0.3 + 0.4 * chance(n, 0), x = 0.4 + 0.2 * chance(n, 1), z = 0.4 + 0.2 * chance(n, 3);
        Params p = pool(3, 14 + static_cast<int>(4 * chance(n, 2)), level);
        p.solid.push_back(slope({x, level, z}, angle, 2 * std::numbers::pi * chance(n, 4)));
        EXPECT_LT(largest_speed<3>(p, level), still) << angle << " degrees, 3D";
    }
}

TEST(Shore, rests_around_a_ball_and_a_tilted_block)
{
    for (int n = 100; n < 106; ++n) {
        const double level = 0.35 + 0.3 * chance(n, 0);
        Params p = pool(2, 24 + static_cast<int>(40 * chance(n, 2)), level);
        SolidParams solid;
        solid.shape = n % 2 ? ShapeKind::sphere : ShapeKind::box;
        solid.radius = 0.1 + 0.1 * chance(n, 3);
        solid.center = Vec3{0.5, level + 0.12 * (chance(n, 4) - 0.5), 0};
        solid.min = Vec3{-0.15, -0.08, 0};
        solid.max = Vec3{0.15, 0.08, 0};
        if (n % 2 == 0) {
            solid.translate.keys[0].v = Vec3{0.5, level, 0};
            solid.rotate.keys[0].v = Vec3{0, 0, n == 100 ? 0 : 180 * chance(n, 5)};
        }
        p.solid.push_back(solid);
        EXPECT_LT(largest_speed<2>(p, level), still) << n;
    }
    for (int n = 110; n < 112; ++n) {
        const double level = 0.4 + 0.2 * chance(n, 0);
        Params p = pool(3, 18, level);
        SolidParams ball;
        ball.shape = ShapeKind::sphere;
        ball.radius = 0.2;
        ball.center = Vec3{0.5, level + 0.1 * (chance(n, 4) - 0.5), 0.45};
        p.solid.push_back(ball);
        EXPECT_LT(largest_speed<3>(p, level), still) << n;
    }
}

// On fine grids the shortest waves are faster than frames: steps must follow them.
TEST(Shore, rests_on_fine_grids)
{
    for (const double level : {0.588, 0.673})
        for (const bool beach : {false, true}) {
            Params p = pool(2, 200, level);
            p.domain.size = {0.2, 1};
            if (beach) p.solid.push_back(slope({0.1, level, 0}, 35, 0));
            EXPECT_LT(largest_speed<2>(p, level), still) << level << ' ' << beach;
        }
}

// Gravity that is not along an axis: the surface is level with it.
TEST(Shore, rests_where_gravity_is_tilted)
{
    for (const double angle : {20.0, 70.0, 120.0}) {
        Params p = pool(2, 40, 0.5);
        const double tilt = 0.3;
        p.domain.gravity = Vec3{9.81 * std::sin(tilt), -9.81 * std::cos(tilt), 0};
        p.water[0].shape = ShapeKind::plane;
        p.water[0].point = Vec3{0.5, 0.5, 0};
        p.water[0].normal = Vec3{-std::sin(tilt), std::cos(tilt), 0};
        p.solid.push_back(slope({0.45, 0.5 + (0.45 - 0.5) * std::tan(tilt), 0}, angle, 0));
        EXPECT_LT(largest_speed<2>(p, 0.5), still) << angle;
    }
}

// Where gravity leans a little, the surface passes close to many cells' centres, and the faces of such a cell must agree about where it
// is: where each kept its own distance from the centre, single cells fell freely for a step, 0.1 m/s fast.
TEST(Shore, rests_where_gravity_leans_a_little)
{
    const auto leaning = [](int dimension, int cells, double x, double z) {
        Params p = pool(dimension, cells, 0.5);
        const double length = std::sqrt(1 + x * x + z * z);
        const Vec3 up{-x / length, 1 / length, z / length};
        p.domain.gravity = -9.81 * up;
        p.water[0].shape = ShapeKind::plane;
        p.water[0].point = Vec3{0.5, 0.5, dimension == 3 ? 0.5 : 0};
        p.water[0].normal = up;
        return p;
    };
    for (const double lean : {0.01, 0.03, 0.1}) EXPECT_LT(largest_speed<2>(leaning(2, 80, lean, 0), 0.5), still) << lean;
    EXPECT_LT(largest_speed<3>(leaning(3, 20, 0.03, 0.08), 0.5), still);
}

// Water that was tilted by a tenth runs up and down a beach, and comes to rest: after 30 periods of the
// slowest wave in a basin of its width the energy of motion is 5 % of the largest, and nothing but the scheme damps it.
TEST(Shore, comes_to_rest)
{
    Params p = pool(2, 24, 0.5);
    p.water[0].shape = ShapeKind::plane;
    p.water[0].point = Vec3{0.5, 0.5, 0};
    p.water[0].normal = Vec3{-0.0995, 0.995, 0};
    p.solid.push_back(slope({0.8, 0.5, 0}, 35, 0));
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    double most = 0, last = 0;
    run_to(w, scene, 30.0, [&](const StepReport&) {
        last = measure(w, p).kinetic_energy;
        most = std::max(most, last);
    });
    EXPECT_LT(last, 0.1 * most);
}

}  // namespace
}  // namespace tarn
