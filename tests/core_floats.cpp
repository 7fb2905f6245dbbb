// Bodies that the water carries and that do not disturb it, in water that is given.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "run_water.h"
#include "tarn/scene/floats.h"

namespace tarn {
namespace {

// A pool up to a level with a hydrostatic pressure, that moves with a velocity, and bodies in it.
template <int D>
struct Pool {
    Scene scene;
    Field<D> phi, pressure;
    FaceField<D> velocity;
    std::vector<RigidBody> bodies;
    std::vector<FloatNodes> nodes;
    double t = 0;

    Pool(const Params& p, double level, Vec<D> u = {}) : scene(scene_of(p))
    {
        const Grid<D> grid = make_grid<D>(p.domain);
        phi = distance_field(grid, 0);
        pressure = Field<D>(grid);
        velocity = FaceField<D>(grid);
        parallel_for("test", all_tiles(grid), [&](Cell<D> c) {
            const double d = grid.centre(c)[1] - level;
            phi(c) = static_cast<float>(d);
            pressure(c) = d < 0 ? static_cast<float>(-1000 * 9.81 * d) : 0.0f;
        });
        for (int a = 0; a < D; ++a) velocity[a].fill(static_cast<float>(u[a]));
        bodies = scene.bodies;
        for (const RigidBody& b : bodies) nodes.push_back(float_nodes(b, scene));
    }
    void run(double seconds)
    {
        const FloatWater<D> water{&phi, &velocity, &pressure};
        const int steps = static_cast<int>(std::ceil(seconds / longest_float_step(bodies, nodes, scene)));
        for (int n = 0; n < steps; ++n, t += seconds / steps) step_floats(bodies, nodes, water, water, 1, scene, t, seconds / steps);
    }
    // The force of the water on every body at rest.
    void push()
    {
        const FloatWater<D> water{&phi, &velocity, &pressure};
        for (RigidBody& b : bodies) b.velocity = b.spin = {};
        step_floats(bodies, nodes, water, water, 1, scene, t, 1e-9);
    }
    // How much of a body is under the level, by fine cubes, as a part of all of it.
    double wet_part(size_t n, double level) const
    {
        const RigidBody& b = bodies[n];
        const std::vector<Shape> shapes = scene.solids.at(t);
        const std::vector<Shape> own(shapes.begin() + b.first, shapes.begin() + b.last + 1);
        double all = 0, wet = 0;
        constexpr int half = 24;
        const double side = 1.05 * b.radius / half;
        for (int k = D == 3 ? -half : 0; k <= (D == 3 ? half : 0); ++k)
            for (int j = -half; j <= half; ++j)
                for (int i = -half; i <= half; ++i) {
                    const Vec3 x = b.position + side * Vec3{double(i), double(j), double(k)};
                    const double part = std::clamp(0.5 - distance(own, x) / side, 0.0, 1.0);
                    all += part;
                    wet += part * std::clamp(0.5 - (x[1] - level) / side, 0.0, 1.0);
                }
        return wet / all;
    }
};

SolidParams body(ShapeKind shape, double density)
{
    SolidParams s;
    s.shape = shape;
    s.motion = SolidMotion::body;
    s.density = density;
    return s;
}

// Archimedes: the force is the weight of the water that a body displaces, within 3 % of the body's own, whatever its shape, its
// size in cells, how deep it is, and the resolution. And they come to rest near there: bobbing dies out slowly, since damping goes with the
// square of the velocity.
TEST(Floats, displace_their_weight)
{
    for (const int cells : {24, 40}) {
        Params p = pool(3, cells, 0.5);
        SolidParams raft = body(ShapeKind::box, 300), ball = body(ShapeKind::sphere, 500), roll = body(ShapeKind::cylinder, 800),
                    small = body(ShapeKind::sphere, 600);
        raft.min = Vec3{0.1, 0.45, 0.1}, raft.max = Vec3{0.4, 0.55, 0.4};
        ball.center = Vec3{0.7, 0.52, 0.3}, ball.radius = 0.1;
        roll.center = Vec3{0.3, 0.5, 0.7}, roll.radius = 0.08, roll.height = 0.2, roll.axis = Vec3{1, 0, 0.3};
        small.center = Vec3{0.8, 0.49, 0.8}, small.radius = 0.02;
        p.solid = {raft, ball, roll, small};
        const double densities[] = {0.3, 0.5, 0.8, 0.6};
        for (const double level : {0.46, 0.48, 0.5, 0.52, 0.54}) {
            Pool<3> still(p, level);
            still.push();
            for (size_t n = 0; n < 4; ++n) {
                const double all = 1000 * 9.81 * still.nodes[n].volume, displaced = still.wet_part(n, level);
                EXPECT_NEAR(still.bodies[n].force[1] / all, displaced, 0.03 * densities[n]) << cells << " cells, body " << n;
                EXPECT_NEAR(still.bodies[n].force[0] / all, 0, 1e-3);
            }
        }
        Pool<3> still(p, 0.5);
        still.run(20);
        for (size_t n = 0; n < 4; ++n) EXPECT_NEAR(still.wet_part(n, 0.5), densities[n], 0.06) << cells << " cells, body " << n;
    }
}

TEST(Floats, displace_their_weight_in_two_dimensions)
{
    Params p = pool(2, 48, 0.5);
    SolidParams raft = body(ShapeKind::box, 400), ball = body(ShapeKind::sphere, 700);
    raft.min = Vec3{0.1, 0.45, 0}, raft.max = Vec3{0.4, 0.55, 0};
    ball.center = Vec3{0.7, 0.5, 0}, ball.radius = 0.1;
    p.solid = {raft, ball};
    for (const double level : {0.47, 0.5, 0.52}) {
        Pool<2> still(p, level);
        still.push();
        for (size_t n = 0; n < 2; ++n)
            EXPECT_NEAR(still.bodies[n].force[1] / (1000 * 9.81 * still.nodes[n].volume), still.wet_part(n, level), 0.03 * 0.4);
    }
}

// In air a body falls as anything does; in water that flows it goes with the water in the end, and a heavy one sinks with
// v² = (1 - rho / rho_b) g rho_b l / (k rho), where damping balances weight.
TEST(Floats, fall_drift_and_sink)
{
    Params p = pool(3, 32, 0.5);
    SolidParams stone = body(ShapeKind::sphere, 2000);
    stone.center = Vec3{0.5, 0.9, 0.5};
    stone.radius = 0.03;
    p.solid = {stone};
    Pool<3> dry(p, -1);
    dry.run(0.1);
    EXPECT_NEAR(dry.bodies[0].velocity[1], -0.981, 1e-9);

    p.domain.size = {4, 4, 4};
    p.water[0].max = Vec3{5, 3.9, 5};
    p.solid[0].center = Vec3{1, 3.5, 2};
    Pool<3> deep(p, 3.9, {0.5, 0, 0});
    deep.run(2.5);
    const double l = std::cbrt(4 * std::numbers::pi / 3) * 0.03;
    EXPECT_NEAR(deep.bodies[0].velocity[1], -std::sqrt((2000 - 1000) * 9.81 * l / (0.5 * 1000)), 0.02);
    EXPECT_NEAR(deep.bodies[0].velocity[0], 0.5, 0.01);
}

// Nodes have the volume and the middle of their body.
TEST(Floats, nodes_stand_for_the_whole_body)
{
    Params p = pool(3, 32, 0.5);
    SolidParams can = body(ShapeKind::cylinder, 250);
    can.center = Vec3{0.5, 0.6, 0.5};
    can.radius = 0.033;
    can.height = 0.115;
    p.solid = {can};
    const Scene scene = scene_of(p);
    const FloatNodes nodes = float_nodes(scene.bodies[0], scene);
    EXPECT_NEAR(nodes.volume, std::numbers::pi * 0.033 * 0.033 * 0.115, 0.01 * nodes.volume);
    Vec3 middle;
    for (size_t n = 0; n < nodes.at.size(); ++n) middle += (nodes.volumes[n] / nodes.volume) * nodes.at[n];
    EXPECT_LT(length(middle), 1e-3 * 0.115);
    EXPECT_LT(nodes.at.size(), 200u);
}

}  // namespace
}  // namespace tarn
