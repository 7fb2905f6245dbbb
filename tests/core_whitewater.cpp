// Spray, bubbles and foam over water that is given: what appears, how it moves, and what becomes of it.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>

#include "run_water.h"
#include "tarn/effects/whitewater.h"
#include "tarn/step/boundary.h"

namespace tarn {
namespace {

// Water in a box, phi and velocity given by formulas, that does not change from frame to frame.
template <int D>
struct Given {
    Scene scene;
    Water<D> water;
    Whitewater<D> white;

    template <class Phi, class Velocity>
    Given(const Params& p, const Phi& phi, const Velocity& velocity) : scene(scene_of(p)), water(initial_water<D>(scene))
    {
        const auto f = water.phi.view();
        const Grid<D> grid = water.grid;
        parallel_for("test", all_tiles(grid), [=](Cell<D> c) { f(c) = static_cast<float>(phi(grid.centre(c))); });
        for (int a = 0; a < D; ++a) {
            const auto u = water.velocity[a].view();
            parallel_for_faces("test", all_tiles(grid), a,
                               [=](Cell<D> c) { u(c) = static_cast<float>(velocity(grid.face(c, a))[a]); });
        }
    }
    void step(double dt, Vec3 wind = {})
    {
        Surroundings around;
        around.gravity = scene.params.domain.gravity.at(0);
        around.wind.speed = length(wind);
        if (length(wind) > 0) around.wind.direction = (1 / length(wind)) * wind;
        const TwoFrames<D> frames{{&water.phi, &water.phi}, {&water.velocity, &water.velocity}, dt};
        tarn::step(white, frames, 1, 1, water.solids, boundary_of(water, scene.params), around, scene.params);
    }
    std::vector<Droplet<D>> drops() const
    {
        std::vector<Droplet<D>> all = read_fragments(white.drops);
        std::erase_if(all, [](const Droplet<D>& f) { return !(f.volume > 0); });
        return all;
    }
    int count(DropletKind kind) const
    {
        int n = 0;
        for (const Droplet<D>& f : drops()) n += f.kind == kind ? 1 : 0;
        return n;
    }
};

// A box whose emitters are all off.
template <int D>
Params quiet(int cells)
{
    Params p = pool(D, cells, 0.5);
    p.whitewater.rise = p.whitewater.crest = p.whitewater.trapped = 0.0;
    p.whitewater.impact = p.whitewater.split = p.whitewater.scatter = p.whitewater.drag = 0;
    return p;
}
template <int D>
auto still(double level)
{
    return [level](Vec<D> x) { return x[1] - level; };
}
template <int D>
auto flow(Vec<D> u)
{
    return [u](Vec<D>) { return u; };
}

TEST(Whitewater, still_water_stays_clear)
{
    Given<2> flat(pool(2, 32, 0.5), still<2>(0.5), flow<2>({}));
    Given<3> deep(pool(3, 16, 0.5), still<3>(0.5), flow<3>({}));
    for (int n = 0; n < 5; ++n) {
        flat.step(0.1);
        deep.step(0.1);
    }
    EXPECT_EQ(flat.drops().size(), 0u);
    EXPECT_EQ(deep.drops().size(), 0u);
}

// rise (w - rise_speed) A t drops: each cell rounds its number up or down by chance, with a variance of 1/4 at most, two cells
// hold the surface of a column, and the bound is four standard deviations of the sum. Whatever the resolution.
template <int D>
void expect_rising(int cells)
{
    Params p = quiet<D>(cells);
    p.whitewater.rise = 1e5;
    p.whitewater.rise_speed = 0.5;
    p.whitewater.foam_life = 0;
    p.domain.gravity = Vec3{0, -1e-6, 0};
    Given<D> rising(p, still<D>(0.4), flow<D>(1.5 * Vec<D>::unit(1)));
    constexpr int steps = 50;
    for (int n = 0; n < steps; ++n) rising.step(1e-3);
    const double expected = 1e5 * (1.5 - 0.5) * 1.0 * steps * 1e-3, surface = std::pow(cells, D - 1);
    EXPECT_NEAR(static_cast<double>(rising.drops().size()), expected, 4 * std::sqrt(0.25 * steps * 2 * surface)) << cells;
    for (const Droplet<D>& f : rising.drops()) EXPECT_NEAR(f.u[1], 1.5, 1e-3);
    // No faster than the threshold, and it throws up nothing.
    Given<D> slow(p, still<D>(0.4), flow<D>(0.49 * Vec<D>::unit(1)));
    for (int n = 0; n < 10; ++n) slow.step(1e-3);
    EXPECT_EQ(slow.drops().size(), 0u);
}
TEST(Whitewater, a_surface_that_rises_fast_throws_up_drops)
{
    expect_rising<2>(32);
    expect_rising<2>(100);
    expect_rising<3>(16);
    expect_rising<3>(32);
}

// A ball of radius 1/4 that grows has the curvature 8 / m in 3D and 4 / m in 2D.
template <int D>
void expect_crest(int cells)
{
    const double kappa = D == 3 ? 8 : 4;
    const auto ball = [](Vec<D> x) { return length(x - Vec<D>::all(0.5)) - 0.25; };
    const auto grows = [](Vec<D> x) { return 4.0 * (x - Vec<D>::all(0.5)); };
    Params p = quiet<D>(cells);
    p.whitewater.crest = D == 3 ? 1e6 : 1e5;
    p.whitewater.foam_life = 0;
    for (const double threshold : {0.9 * kappa, 1.1 * kappa}) {
        p.whitewater.crest_curvature = threshold;
        Given<D> given(p, ball, grows);
        given.step(1e-2);
        const double pi = std::numbers::pi, area = D == 3 ? 4 * pi / 16 : 2 * pi / 4, n = area * *p.whitewater.crest * 1e-2;
        if (threshold < kappa)
            EXPECT_NEAR(static_cast<double>(given.drops().size()), n, 0.05 * n) << cells;
        else
            EXPECT_LT(static_cast<double>(given.drops().size()), 0.01 * n) << cells;
        // Inwards it throws up nothing.
        Given<D> shrinks(p, ball, [&](Vec<D> x) { return -1.0 * grows(x); });
        shrinks.step(1e-2);
        EXPECT_EQ(shrinks.drops().size(), 0u);
    }
}
TEST(Whitewater, crests_throw_up_drops)
{
    expect_crest<2>(64);
    expect_crest<3>(48);
}

// Two walls of water a cell and a half apart: they enclose bubbles where they meet, half as many where they shear (with no
// threshold), and none where they part.
template <int D>
void expect_trapped(int cells)
{
    Params p = quiet<D>(cells);
    p.whitewater.trapped = 1e5;
    p.whitewater.trapped_speed = 0.0;
    p.whitewater.drag = 0.5;
    p.domain.gravity = Vec3{};
    const double half = 0.75 / cells;
    const auto gap = [half](Vec<D> x) { return half - std::fabs(x[0] - 0.5); };
    const auto number = [&](Vec<D> left) {
        Given<D> given(p, gap, [left](Vec<D> x) { return x[0] < 0.5 ? left : -1.0 * left; });
        given.step(1e-2);
        EXPECT_EQ(given.count(DropletKind::droplet), 0);
        for (const Droplet<D>& f : given.drops()) EXPECT_LT(gap(given.water.grid.h * (f.x + Vec<D>::all(0.5))), 1e-6);
        return given.count(DropletKind::bubble);
    };
    const int meet = number(Vec<D>::unit(0)), shear = number(Vec<D>::unit(1));
    EXPECT_GT(meet, 500);
    EXPECT_NEAR(shear, 0.5 * meet, 0.05 * meet);
    EXPECT_EQ(number(-1.0 * Vec<D>::unit(0)), 0);
}
TEST(Whitewater, surfaces_that_meet_enclose_bubbles)
{
    expect_trapped<2>(64);
    expect_trapped<3>(24);
}

// A droplet without drag flies along a parabola, whatever the step.
TEST(Whitewater, droplets_fly_as_thrown)
{
    for (const int steps : {1, 7}) {
        Params p = quiet<2>(32);
        Given<2> given(p, still<2>(-1), flow<2>({}));
        add(given.white, {{.x = {4, 8}, .u = {2, 1}, .volume = 0.01}});
        for (int n = 0; n < steps; ++n) given.step(0.2 / steps);
        const double h = 1.0 / 32;
        ASSERT_EQ(given.drops().size(), 1u);
        EXPECT_NEAR(given.drops()[0].x[0], 4 + 2 * 0.2 / h, 1e-3);
        EXPECT_NEAR(given.drops()[0].x[1], 8 + (1 * 0.2 - 0.5 * 9.81 * 0.04) / h, 1e-3);
    }
}

// In the end a droplet has the velocity of the wind across, and of v² = m g / (rho_air C A / 2) down.
TEST(Whitewater, wind_and_drag_carry_droplets)
{
    Params p = quiet<3>(16);
    p.domain.size = {100, 100, 100};
    p.whitewater.drag = 0.5;
    Given<3> given(p, still<3>(-10), flow<3>({}));
    const double r = 1e-3, h = 100.0 / 16, pi = std::numbers::pi;
    add(given.white, {{.x = {1, 14, 8}, .u = {}, .volume = 4 * pi / 3 * std::pow(r / h, 3)}});
    for (int n = 0; n < 200; ++n) given.step(0.03, {3, 0, 0});
    ASSERT_EQ(given.drops().size(), 1u);
    const Droplet<3> f = given.drops()[0];
    EXPECT_NEAR(f.u[0], 3, 0.03);
    EXPECT_NEAR(f.u[1], -std::sqrt(8 * r * 9.81 * 1000 / (3 * 0.5 * 1.2)), 0.02);
}

// With the rate a there are N e^(a t) after a time t; N = 2000 and a t = 1 makes 5437, with a standard deviation of
// sqrt(N e (e - 1)) = 97. They hold as much as before.
TEST(Whitewater, droplets_divide_and_keep_their_volume)
{
    Params p = quiet<2>(32);
    p.whitewater.split = 4;
    p.domain.gravity = Vec3{};
    Given<2> given(p, still<2>(-1), flow<2>({}));
    std::vector<Droplet<2>> list(2000, Droplet<2>{.x = {16, 16}, .u = {}, .volume = 0.01});
    add(given.white, list);
    for (int n = 0; n < 50; ++n) given.step(0.005);
    double volume = 0;
    for (const Droplet<2>& f : given.drops()) volume += f.volume;
    EXPECT_NEAR(static_cast<double>(given.drops().size()), 2000 * std::numbers::e, 4 * 97);
    EXPECT_NEAR(volume, 20, 20 * 1e-5);
}

// What lands becomes foam, lies on the surface and goes with it; its life is 1 s in the mean and in proportion to its radius.
TEST(Whitewater, drops_that_land_are_foam_for_a_while)
{
    Params p = quiet<2>(32);
    p.whitewater.size = 0.001;
    Given<2> given(p, [](Vec<2> x) { return x[1] - 0.5; }, flow<2>({0.1, 0}));
    std::vector<Droplet<2>> list;
    const double pi = std::numbers::pi, h = 1.0 / 32;
    for (int n = 0; n < 4000; ++n) {
        const double r = (n % 2 ? 0.0005 : 0.0015) / h;
        list.push_back({.x = {4 + 0.001 * n, 16.5}, .u = {0, -1}, .volume = pi * r * r});
    }
    add(given.white, list);
    given.step(0.1);
    ASSERT_EQ(given.count(DropletKind::foam), 4000);
    double sum[2] = {};
    int n = 0;
    for (int t = 0; t < 330; ++t) {
        for (const Droplet<2>& f : given.drops()) {
            sum[f.volume > pi * std::pow(0.001 / h, 2)] += 0.01;
            if (t == 20) EXPECT_NEAR(f.x[1], 15.5, 1e-3);
            n += t == 20 ? 1 : 0;
        }
        given.step(0.01);
    }
    EXPECT_GT(n, 2000);
    EXPECT_EQ(given.drops().size(), 0u);
    // Uniform from 0 to twice the mean: the mean of 2000 is known to 1.3 %.
    EXPECT_NEAR(sum[0] / 2000, 0.5, 0.05 * 0.5);
    EXPECT_NEAR(sum[1] / 2000, 1.5, 0.05 * 1.5);
}

// A drop that lands with three times impact_speed throws up two in the mean; with what it leaves as foam they hold what it did.
TEST(Whitewater, an_impact_throws_up_drops)
{
    Params p = quiet<3>(24);
    p.whitewater.impact = 1;
    p.whitewater.impact_speed = 1;
    p.domain.gravity = Vec3{};
    Given<3> given(p, still<3>(0.5), flow<3>({}));
    std::vector<Droplet<3>> list(1000, Droplet<3>{.x = {12, 12.5, 12}, .u = {0, -3, 0}, .volume = 1e-4});
    add(given.white, list);
    given.step(0.02);
    EXPECT_EQ(given.count(DropletKind::foam), 1000);
    EXPECT_NEAR(given.count(DropletKind::droplet), 2000, 100);
    double volume = 0;
    for (const Droplet<3>& f : given.drops()) {
        volume += f.volume;
        EXPECT_LE(length(f.u), 3 * 0.5 * 1.5 + 1e-6);
    }
    EXPECT_NEAR(volume, 0.1, 0.1 * 1e-4);
}

// A bubble rises with its terminal speed, and is foam at the top.
TEST(Whitewater, bubbles_rise_and_become_foam)
{
    Params p = quiet<3>(16);
    p.whitewater.size = 0.005;
    p.whitewater.drag = 0.5;
    Given<3> given(p, still<3>(0.8), flow<3>({}));
    const double r = 0.005, h = 1.0 / 16;
    add(given.white, {{.x = {8, 2, 8}, .u = {}, .volume = 4 * std::numbers::pi / 3 * std::pow(r / h, 3), .kind = DropletKind::bubble}});
    const double terminal = std::sqrt(8 * r * 9.81 * (1 - 1.2 / 1000) / (3 * 0.5));
    for (int n = 0; n < 20; ++n) given.step(0.01);
    ASSERT_EQ(given.drops().size(), 1u);
    EXPECT_NEAR(given.drops()[0].u[1], terminal, 0.01 * terminal);
    EXPECT_NEAR(given.drops()[0].x[1], 2 + 0.2 * terminal / h, 0.1);
    for (int n = 0; n < 300 && given.count(DropletKind::bubble) > 0; ++n) given.step(0.01);
    EXPECT_EQ(given.count(DropletKind::foam), 1);
}

// There are never more than asked for, but by chance; and it is told.
TEST(Whitewater, keeps_to_the_most_that_may_be)
{
    Params p = quiet<2>(64);
    p.whitewater.rise = 1e8;
    p.whitewater.rise_speed = 0.0;
    p.whitewater.most = 1000;
    Given<2> given(p, still<2>(0.5), flow<2>({0, 1}));
    given.step(0.01);
    EXPECT_TRUE(given.white.full);
    EXPECT_NEAR(given.white.drops.count(), 1000, 64);
}

// The same bits on one and on several threads.
TEST(Whitewater, is_the_same_on_any_number_of_threads)
{
    const auto run = [] {
        Params p = pool(3, 24, 0.5);
        const auto wave = [](Vec<3> x) { return x[1] - 0.5 - 0.1 * std::sin(9 * x[0]) * std::cos(7 * x[2]); };
        Given<3> given(p, wave, [](Vec<3> x) { return Vec<3>{x[1], 2 + std::sin(8 * x[0]), x[2] - 0.5}; });
        for (int n = 0; n < 6; ++n) given.step(0.02);
        std::vector<float> numbers;
        for (int c = 0; c < Droplets<3>::columns; ++c)
            numbers.insert(numbers.end(), given.white.drops.column(c), given.white.drops.column(c) + given.white.drops.count());
        return numbers;
    };
    set_threads(1);
    const std::vector<float> one = run();
    set_threads(0);
    const std::vector<float> more = run();
    ASSERT_GT(one.size(), 11 * 1000u);
    ASSERT_EQ(one.size(), more.size());
    EXPECT_EQ(std::memcmp(one.data(), more.data(), one.size() * sizeof(float)), 0);
}

}  // namespace
}  // namespace tarn
