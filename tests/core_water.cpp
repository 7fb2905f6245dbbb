// What water does, in small boxes. Each bound says where it comes from.

#include <gtest/gtest.h>

#include <cmath>

#include "run_water.h"

namespace tarn {
namespace {

// Nothing that a viewer could see moves in a second: 1e-4 of the speed of waves, sqrt(g d).
constexpr double still = 1e-4;

class StillWater : public testing::TestWithParam<double> {};

template <int D>
void expect_still(Params p, double depth)
{
    const Scene scene = scene_of(p);
    Water<D> w = initial_water<D>(scene);
    const double before = measure(w, p).volume;
    EXPECT_LT(run_to(w, scene, 1.0), still * std::sqrt(9.81 * depth));
    EXPECT_NEAR(measure(w, p).volume, before, 1e-4 * before);
}

// A floor that rises by 20 degrees to the right and runs through (0.5, 0.3).
SolidParams sloped_floor()
{
    SolidParams floor;
    floor.shape = ShapeKind::plane;
    floor.point = Vec3{0.5, 0.3, 0};
    floor.normal = Vec3{-0.34202, 0.93969, 0};
    return floor;
}

SolidParams ball(int dimension)
{
    SolidParams ball;
    ball.shape = ShapeKind::sphere;
    ball.center = Vec3{0.5, 0.27, dimension == 2 ? 0.0 : 0.5};
    ball.radius = 0.15;
    return ball;
}

TEST_P(StillWater, stays_still_over_a_flat_floor)
{
    expect_still<2>(pool(2, 32, GetParam()), GetParam());
    expect_still<3>(pool(3, 16, GetParam()), GetParam());
}

TEST_P(StillWater, stays_still_over_a_sloped_floor)
{
    Params p = pool(2, 32, GetParam());
    p.solid.push_back(sloped_floor());
    expect_still<2>(p, GetParam());
    p = pool(3, 16, GetParam());
    p.solid.push_back(sloped_floor());
    expect_still<3>(p, GetParam());
}

TEST_P(StillWater, stays_still_around_a_submerged_ball)
{
    Params p = pool(2, 32, GetParam());
    p.solid.push_back(ball(2));
    expect_still<2>(p, GetParam());
    p = pool(3, 16, GetParam());
    p.solid.push_back(ball(3));
    expect_still<3>(p, GetParam());
}

// Levels between cell centres, close to one on either side, and at a face.
INSTANTIATE_TEST_SUITE_P(any_level, StillWater, testing::Values(0.5, 0.5155, 0.5157, 0.503, 0.522));

}  // namespace
}  // namespace tarn
