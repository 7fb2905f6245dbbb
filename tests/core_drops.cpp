// Drops that the grid cannot hold: what they carry, what they give back, and that the water takes it calmly.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>

#include "run_water.h"
#include "tarn/phases/flight.h"
#include "tarn/step/boundary.h"

namespace tarn {
namespace {

template <int D>
struct DropAt {
    Vec<D, float> x, u;
    float volume;
};

template <int D>
void put(Water<D>& w, const std::vector<DropAt<D>>& drops)
{
    w.droplets.resize(static_cast<int>(drops.size()));
    const FragmentView<D> s = w.droplets.view();
    for (size_t i = 0; i < drops.size(); ++i) {
        for (int a = 0; a < D; ++a) {
            s.x[a][i] = drops[i].x[a];
            s.u[a][i] = drops[i].u[a];
        }
        s.volume[i] = drops[i].volume;
        s.age[i] = s.life[i] = s.kind[i] = 0;
        s.id[i] = static_cast<float>(i);
    }
    w.volume_expected += totals(w.droplets, w.grid, Params{}).volume_droplets;
}

// Everything that water should hold: target volumes, and drops.
template <int D>
double accounted(const Water<D>& w)
{
    double sum = w.targets.elsewhere + totals(w.droplets, w.grid, Params{}).volume_droplets;
    for (const double volume : w.targets.expected) sum += volume;
    return sum;
}

// Momentum of the water on the grid, in cells times m/s: a face has half of what each of its two cells holds.
template <int D>
double momentum(const Water<D>& w, int a)
{
    const auto phi = w.phi.view();
    const auto u = w.velocity[a].view();
    const float h = static_cast<float>(w.grid.h);
    double sum = 0;
    const int depth = D == 3 ? w.grid.cells[D - 1] : 1;
    for (int k = 0; k < depth; ++k)
        for (int j = 0; j < w.grid.cells[1]; ++j)
            for (int i = 0; i < w.grid.cells[0]; ++i) {
                Cell<D> c;
                c[0] = i;
                c[1] = j;
                if constexpr (D == 3) c[2] = k;
                const double half = 0.5 * wet_fraction<D>(phi, w.grid.cells, c, h);
                Cell<D> next = c;
                ++next[a];
                sum += half * double(u(c)) + half * double(u(next));
            }
    return sum;
}

// The water gets the momentum of a drop that lands, m_d (u_d - u_f) where it is light: 1 % of a cell is mixed with up
// to one cell of water, so that a percent of it is left for the volume that comes back later. And no face gets faster
// than the faster of what is mixed, however heavy the drop.
template <int D>
void expect_momentum(int cells)
{
    const Scene scene = scene_of(pool(D, cells, 0.5));
    Water<D> w = initial_water<D>(scene);
    const Boundary<D> boundary = boundary_of(w, scene.params);
    Vec<D, float> x, u;
    for (int a = 0; a < D; ++a) {
        x[a] = 0.3f * static_cast<float>(cells) + 0.2f;
        u[a] = 2.0f - static_cast<float>(a);
    }
    x[1] = 0.5f * static_cast<float>(cells) - 1.8f;
    double before[D];
    for (int a = 0; a < D; ++a) before[a] = momentum(w, a);
    std::vector<Landing<D>> landings(3, Landing<D>{1, x, u, 0.01, 0});
    landings[1].x[0] += 0.4f;
    landings[2].body = 0;  // has left through an open side
    add_momentum(w.velocity, landings, w.phi, boundary);
    for (int a = 0; a < D; ++a)
        EXPECT_NEAR(momentum(w, a) - before[a], 0.02 * double(u[a]), 0.015 * 0.02 * std::fabs(double(u[a])));
    for (int a = 0; a < D; ++a) w.velocity[a].fill(0);
    landings[0].volume = 1000;
    add_momentum(w.velocity, landings, w.phi, boundary);
    for (int a = 0; a < D; ++a) {
        const auto v = std::as_const(w.velocity)[a].view();
        const float most = parallel_max("test", all_tiles(w.grid), [=](Cell<D> c) { return std::fabs(v(c)); });
        EXPECT_LE(most, std::fabs(u[a]) * (1 + 1e-6f));
    }
}
TEST(Drops, landing_gives_the_water_their_momentum)
{
    expect_momentum<2>(24);
    expect_momentum<3>(16);
}

// Rain of 2 m/s on a pool, in steps of 4, 1 and 0.25 ms: the water gets as fast as the heaviest impact makes it, at
// most as fast as the rain, whatever the step. All that the rain held, 5.8 % of the water, is then in the target
// volume.
TEST(Drops, landing_is_no_faster_in_shorter_steps)
{
    for (const double dt : {4e-3, 1e-3, 2.5e-4}) {
        Params p = pool(2, 32, 0.4);
        p.time.max_step = dt;
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        std::vector<DropAt<2>> rain;
        for (int i = 0; i < 200; ++i) {
            const float at = static_cast<float>(i);
            rain.push_back({{std::fmod(7.3f * at, 31.0f), 14 + std::fmod(0.37f * at, 10.0f)}, {0, -2}, 0.125f});
        }
        put(w, rain);
        EXPECT_LT(run_to(w, scene, 0.5), 2.0) << dt;  // all has landed by then
        run_to(w, scene, 1.0);
        EXPECT_EQ(w.droplets.count(), 0);
        EXPECT_NEAR(accounted(w), w.volume_expected, 1e-6 * w.volume_expected) << dt;
    }
}

Params dam_break_2d(int cells)
{
    Params p = pool(2, cells, 0.6);
    p.water[0].max = Vec3{0.4, 0.6, 2};
    return p;
}

// Volumes of drops are floats: 1e-6 of what they hold. Target volumes are never negative.
TEST(Drops, and_target_volumes_add_up_to_what_there_should_be)
{
    for (const bool correction : {true, false}) {
        Params p = dam_break_2d(48);
        p.surface.volume_correction = correction;
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        const double before = w.volume_expected;
        int most = 0;
        run_to(w, scene, 1.2, [&](const StepReport&) {
            EXPECT_NEAR(accounted(w), before, 1e-6 * before);
            for (const double volume : w.targets.expected) EXPECT_GE(volume, 0);
            most = std::max(most, w.droplets.count());
        });
        EXPECT_EQ(w.volume_expected, before);
        EXPECT_GT(most, 10) << correction;
    }
}

// Rain on a ball, on a slanted wall that is thinner than a cell, and beside both, in steps of up to four cells: no drop
// is ever inside the ball or the domain's sides, and none gets through the wall.
TEST(Drops, end_in_no_solid_and_behind_no_wall)
{
    Params p = pool(2, 40, 0.05);
    SolidParams ball;
    ball.shape = ShapeKind::sphere;
    ball.center = Vec3{0.3, 0.4, 0};
    ball.radius = 0.15;
    p.solid.push_back(ball);
    SolidParams wall;
    wall.shape = ShapeKind::box;
    wall.min = Vec3{-0.2, -0.004, 0};
    wall.max = Vec3{0.2, 0.004, 1};
    wall.translate = Vec3{0.7, 0.5, 0};
    wall.rotate = Vec3{0, 0, -40};
    p.solid.push_back(wall);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    ASSERT_TRUE(w.solids.thin);
    std::vector<DropAt<2>> rain;
    for (int i = 0; i < 2000; ++i) {
        const float at = static_cast<float>(i);
        rain.push_back({{std::fmod(7.317f * at, 39.0f), 32 + std::fmod(0.37f * at, 7.0f)},
                        {std::fmod(0.013f * at, 2.0f) - 1, -3},
                        0.02f});
    }
    put(w, rain);
    // Above the wall's middle plane, in its own coordinates, or beyond its ends.
    const double c = std::cos(-40 * std::numbers::pi / 180), s = std::sin(-40 * std::numbers::pi / 180);
    std::vector<double> above(rain.size());
    const double h = w.grid.h;
    int touching = 0;
    for (int n = 0; n < 60; ++n) {
        w.spraying.fresh = 0;
        const auto landed = fly(w.droplets, w.phi, w.targets, w.solids, boundary_of(w, p), p, Wind{},
                                FrameForces{p.domain.gravity.at(0)}, 0.02, w.spraying);
        const Obstacles<2> obstacles(boundary_of(w, p), h, sides_of(w.solids, w.grid));
        for (const Droplet<2>& f : read_fragments(w.droplets)) {
            const Vec<2, float> x = f.x.as<float>();
            EXPECT_GE(obstacles.outside(x), -1e-4f);
            touching += obstacles.outside(x) < 0.01f;
            for (int a = 0; a < 2; ++a) {
                EXPECT_GT(x[a], -0.5f);
                EXPECT_LT(x[a], 39.5f);
            }
            const double dx = h * (f.x[0] + 0.5) - 0.7, dy = h * (f.x[1] + 0.5) - 0.5;
            const double along = c * dx + s * dy, across = -s * dx + c * dy;
            double& was = above[static_cast<size_t>(f.id)];
            // Faces stand for the wall to within a cell; at its ends drops may go around it.
            if (std::fabs(along) > 0.2 - 2 * h) was = 0;
            if (was > 0) EXPECT_GT(across, -1.5 * h) << f.id;
            if (std::fabs(along) < 0.2 - 2 * h && across > 1.5 * h && across < 6 * h) was = 1;
        }
        if (n == 59) EXPECT_LT(w.droplets.count(), 20) << "they slide off";
    }
    EXPECT_GT(touching, 100);
}

// As many as there are: 100,000 drops fall into a pool, and what they hold arrives.
TEST(Drops, there_is_no_limit_to_their_number)
{
    Params p = pool(3, 16, 0.3);
    p.time.max_step = 0.02;
    const Scene scene = scene_of(p);
    Water<3> w = initial_water<3>(scene);
    std::vector<DropAt<3>> rain;
    for (int i = 0; i < 100000; ++i) {
        const float at = static_cast<float>(i);
        rain.push_back(
            {{std::fmod(0.7317f * at, 15.0f), 6 + std::fmod(0.37f * at, 9.0f), std::fmod(0.01171f * at, 15.0f)},
             {0, 0, 0},
             0.002f});
    }
    put(w, rain);
    const double before = w.volume_expected;
    run_to(w, scene, 0.1, [&](const StepReport&) { EXPECT_NEAR(accounted(w), before, 1e-6 * before); });
    EXPECT_GT(w.droplets.count(), 1 << 16);
    run_to(w, scene, 0.6, [&](const StepReport&) { EXPECT_NEAR(accounted(w), before, 1e-6 * before); });
    EXPECT_LT(w.droplets.count(), 100);
}

template <int D>
void expect_same(const Water<D>& a, const Water<D>& b)
{
    EXPECT_EQ(std::memcmp(a.phi.data(), b.phi.data(), a.phi.size() * sizeof(float)), 0);
    EXPECT_EQ(std::memcmp(a.pressure.data(), b.pressure.data(), a.phi.size() * sizeof(float)), 0);
    ASSERT_EQ(a.droplets.count(), b.droplets.count());
    for (int c = 0; c < Droplets<D>::columns; ++c)
        EXPECT_EQ(std::memcmp(a.droplets.column(c), b.droplets.column(c),
                              static_cast<size_t>(a.droplets.count()) * sizeof(float)),
                  0);
}

TEST(Drops, are_the_same_bits_on_any_number_of_threads)
{
    const int before = threads();
    const Scene scene = scene_of(dam_break_2d(64));
    Water<2> w[2] = {initial_water<2>(scene), initial_water<2>(scene)};
    for (int n = 0; n < 2; ++n) {
        set_threads(n + 1);
        run_to(w[n], scene, 0.7);
    }
    set_threads(before);
    EXPECT_GT(w[0].droplets.count(), 0);
    expect_same(w[0], w[1]);
}

// The frame rate only tells when to write: with the same steps the water is the same, bit for bit.
TEST(VolumeCorrection, does_not_know_the_frame_rate)
{
    std::vector<Water<2>> waters;
    for (const double rate : {24.0, 48.0, 96.0}) {
        Params p = dam_break_2d(32);
        p.time.rate = rate;
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        for (int n = 0; n < 192; ++n) ASSERT_TRUE(step(w, scene, 1.0 / 192).finite);
        waters.push_back(std::move(w));
    }
    expect_same(waters[0], waters[1]);
    expect_same(waters[0], waters[2]);
}

// A pool that lacks 5 % of its target volume, 0.65 cells of its height, has it back after a step, long or short, and its
// water is not set in motion by that: the surface moves, no water does.
TEST(VolumeCorrection, accelerates_no_water)
{
    for (const double dt : {4e-3, 2.5e-4}) {
        Params p = pool(2, 32, 0.4);
        p.time.max_step = dt;
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        w.targets.expected[0] += 0.02;
        w.volume_expected += 0.02;
        (void)step(w, scene, dt);
        EXPECT_NEAR(measure(w, p).volume, w.volume_expected, 3e-4 * w.volume_expected);
        EXPECT_LT(run_to(w, scene, 0.2), 1e-3);
    }
}

}  // namespace
}  // namespace tarn
