// Chains of markers around water in 2D, and the water that they carry.   [FM96] §4.2

#include "tarn/surface/chains.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "run_water.h"
#include "tarn/step/foster_metaxas.h"

namespace tarn {
namespace {

// A box of walls around cells without anything in them.
Labels<2> empty_box(Cell<2> cells)
{
    Labels<2> labels(Grid<2>(cells, 1.0));
    for (int i = -1; i <= cells[0]; ++i)
        for (int j = -1; j <= cells[1]; ++j)
            labels({i, j}) = labels.grid().contains({i, j}) ? Contents::empty : Contents::slip_wall;
    return labels;
}

Chains discs(const Labels<2>& labels, std::vector<std::pair<Vec2, double>> all)
{
    return chains_around(
        [&](Vec2 x) {
            double d = HUGE_VAL;
            for (const auto& [middle, radius] : all) d = std::min(d, length(x - middle) - radius);
            return d;
        },
        labels);
}

template <class Velocity>
void flow(Chains& chains, const Labels<2>& labels, const Velocity& u, double t, double dt)
{
    for (double s = 0; s < t; s += dt) {
        for (Chain& c : chains)
            for (Vec2& x : c) x += dt * u(x + 0.5 * dt * u(x));
        mend(chains, labels);
    }
}

// A disc off the middle goes round once in 64 cells, and is as large as before: points come and go by the hundred, each on the
// spline. Measured: 0.002 % and less.
TEST(Chains, a_rotating_disc_keeps_its_area)
{
    for (const int cells : {32, 64, 128}) {
        const Labels<2> labels = empty_box({cells, cells});
        const double r = 0.15 * cells;
        Chains chains = discs(labels, {{Vec2{0.5 * cells, 0.7 * cells}, r}});
        const double before = area(chains);
        EXPECT_NEAR(before, std::numbers::pi * r * r, 0.002 * before);
        const Vec2 centre = Vec2::all(0.5 * cells - 0.5);
        flow(chains, labels, [&](Vec2 x) { return Vec2{centre[1] - x[1], x[0] - centre[0]}; }, 2 * std::numbers::pi,
              2 * std::numbers::pi / (8 * cells));
        ASSERT_EQ(chains.size(), 1u);
        EXPECT_NEAR(area(chains), before, 0.01 * before) << cells;
        RecordProperty("area_" + std::to_string(cells), std::to_string(area(chains) / before - 1));
    }
}

// Drawn out into a spiral by a vortex and back, as [LeVeque 1996]: many times as long on the way. Measured: 0.004 %.
TEST(Chains, a_disc_comes_back_from_a_vortex)
{
    const int cells = 64;
    const Labels<2> labels = empty_box({cells, cells});
    Chains chains = discs(labels, {{Vec2{0.5 * cells, 0.75 * cells}, 0.15 * cells}});
    const double before = area(chains);
    const auto vortex = [&](Vec2 x) {
        const double k = std::numbers::pi / cells, a = k * (x[0] + 0.5), b = k * (x[1] + 0.5);
        return cells * Vec2{-std::pow(std::sin(a), 2) * std::sin(2 * b), std::pow(std::sin(b), 2) * std::sin(2 * a)};
    };
    flow(chains, labels, vortex, 0.5, 0.002);
    size_t points = 0;
    for (const Chain& c : chains) points += c.size();
    EXPECT_GT(points, 200u);
    flow(chains, labels, [&](Vec2 x) { return -1.0 * vortex(x); }, 0.5, 0.002);
    EXPECT_EQ(chains.size(), 1u);
    EXPECT_NEAR(area(chains), before, 0.01 * before);
    RecordProperty("area", std::to_string(area(chains) / before - 1));
}

// Two discs that come together are one body with one chain; where they close a ring, two, of which one goes round the hole.
// A body that is pulled apart is two again. Areas are those of what is there.
TEST(Chains, bodies_join_and_part)
{
    const Labels<2> labels = empty_box({64, 64});
    Chains chains = discs(labels, {{Vec2{20, 32}, 8}, {Vec2{43, 32}, 8}});
    ASSERT_EQ(chains.size(), 2u);
    const double before = area(chains);
    const auto together = [](Vec2 x) { return Vec2{x[0] < 31.5 ? 1.0 : -1.0, 0.0}; };
    flow(chains, labels, together, 3.0, 0.05);
    EXPECT_EQ(chains.size(), 2u);
    flow(chains, labels, together, 0.4, 0.05);
    EXPECT_EQ(chains.size(), 1u);
    // Joined across less than 0.4 cells of air.
    EXPECT_NEAR(area(chains), before, 0.01 * before);
    flow(chains, labels, together, 1.0, 0.05);
    EXPECT_EQ(chains.size(), 1u);
    // What goes through itself counts once.
    double enclosed = 0;
    for (double y = 0; y < 64; y += 0.05) {
        const double half = std::sqrt(std::max(0.0, 64 - (y - 32) * (y - 32)));
        enclosed += 0.05 * std::min(4 * half, 2 * std::max(0.0, half + 31.5 - 24.5));
    }
    EXPECT_NEAR(area(chains), enclosed, 0.02 * enclosed);
    flow(chains, labels, [](Vec2 x) { return Vec2{x[0] < 31.5 ? -1.0 : 1.0, 8.0 * (31.5 - x[1]) / (1 + std::pow(x[0] - 31.5, 2))}; }, 4, 0.02);
    EXPECT_EQ(chains.size(), 2u);

    // Six discs in a ring grow until they touch.
    std::vector<std::pair<Vec2, double>> ring;
    for (int k = 0; k < 6; ++k)
        ring.push_back({Vec2{32 + 16 * std::cos(k * std::numbers::pi / 3), 32 + 16 * std::sin(k * std::numbers::pi / 3)}, 7.5});
    chains = discs(labels, ring);
    ASSERT_EQ(chains.size(), 6u);
    for (int step = 0; step < 16; ++step) {
        Chains grown = chains;
        for (size_t c = 0; c < chains.size(); ++c)
            for (size_t i = 0; i < chains[c].size(); ++i) {
                const Chain& old = chains[c];
                const Vec2 d = old[(i + 1) % old.size()] - old[(i + old.size() - 1) % old.size()];
                grown[c][i] += 0.05 / length(d) * Vec2{d[1], -d[0]};
            }
        chains = grown;
        mend(chains, labels);
    }
    ASSERT_EQ(chains.size(), 2u);
    EXPECT_LT(area(chains[0]) * area(chains[1]), 0) << "one goes round the hole";
}

// Regions are told by the links that bound them: a ring of water has air inside and outside.
TEST(Chains, regions_grow_up_to_the_links)
{
    Labels<2> labels = empty_box({48, 48});
    const auto ring = [](Vec2 x) { return std::fabs(length(x - Vec2{24, 24}) - 14) - 5; };
    const Chains chains = chains_around(ring, labels);
    ASSERT_EQ(chains.size(), 2u);
    label_cells(labels, chains);
    Field<2> phi = distance_field(labels.grid(), 0);
    find_phi(phi, chains, labels, 3);
    for (int i = 0; i < 48; ++i)
        for (int j = 0; j < 48; ++j) {
            const double d = ring({double(i), double(j)});
            if (d < -1.5) {
                EXPECT_EQ(labels({i, j}), Contents::full) << i << ' ' << j;
            } else if (d > 1.5) {
                EXPECT_EQ(labels({i, j}), Contents::empty) << i << ' ' << j;
            } else if (std::fabs(d) < 0.3) {
                EXPECT_TRUE(is_water(labels({i, j}))) << i << ' ' << j;
            }
            EXPECT_NEAR(phi({i, j}), std::clamp(d, -3.0, 3.0), 0.02) << i << ' ' << j;
        }
}

Params by_chains(Params p)
{
    p.method.solver = Solver::foster_metaxas;
    p.method.surface = SurfaceKind::marker_chains;
    p.pressure.solver = PressureSolver::relaxation;
    p.pressure.max_iterations = 100000;
    p.time.cfl = 0.5;
    return p;
}

// Chains run along the walls that hold the water, wherever in a cell its surface is; still water stays still.
TEST(Chains, still_water_stays_still)
{
    for (const double height : {0.4, 0.5, 0.51}) {
        const Params p = by_chains(pool(2, 24, height));
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        EXPECT_NEAR(w.volume_expected, height, 2e-3);
        const double fastest = run_to(w, scene, 1.0);
        EXPECT_LT(fastest, 0.01) << height;
        EXPECT_NEAR(area(read_chains(w.particles)) / 576, height, 2e-3);
        EXPECT_NEAR(measure(w, p).volume, height, 0.01 * height);
        EXPECT_NEAR(w.pressure({12, 0}), 9810 * (height - 0.5 / 24), 0.01 * 9810 * height);
    }
}

// A drop into a pool is two chains, and then one.
TEST(Chains, a_drop_joins_a_pool)
{
    Params p = by_chains(pool(2, 40, 0.2));
    WaterParams drop;
    drop.shape = ShapeKind::sphere;
    drop.center = Vec3{0.5, 0.5, 0};
    drop.radius = 0.12;
    p.water.push_back(drop);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const double before = area(read_chains(w.particles));
    ASSERT_EQ(read_chains(w.particles).size(), 2u);
    run_to(w, scene, 0.15);
    EXPECT_EQ(read_chains(w.particles).size(), 2u);
    EXPECT_NEAR(area(read_chains(w.particles)), before, 1e-3 * before);
    run_to(w, scene, 0.4);
    const Chains after = read_chains(w.particles);
    EXPECT_NEAR(area(after), before, 0.03 * before);
    for (size_t c = 1; c < after.size(); ++c) EXPECT_LT(std::fabs(area(after[c])), 0.1 * before);
}

// Water that sloshes over a step keeps to its corners and its volume.
TEST(Chains, water_goes_around_corners)
{
    Params p = by_chains({});
    p.domain.size = {1, 0.75};
    p.domain.cells = 48;
    p.fluid.viscosity = 1e-3;
    WaterParams water;
    water.min = Vec3{0, 0, 0};
    water.max = Vec3{0.5, 0.4, 0};
    p.water.push_back(water);
    water.max = Vec3{1, 0.3, 0};
    p.water.push_back(water);
    SolidParams block;
    block.min = Vec3{0.625, -1, 0};
    block.max = Vec3{2, 0.125, 0};
    p.solid.push_back(block);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const double before = area(read_chains(w.particles));
    for (int n = 1; n <= 12; ++n) {
        run_to(w, scene, 0.25 * n);
        double holes = 0;
        const Chains chains = read_chains(w.particles);
        for (const Chain& c : chains) holes += std::max(0.0, -area(c));
        EXPECT_LT(holes, 2) << w.time;
        EXPECT_NEAR(area(chains), before, 0.005 * before) << w.time;
        EXPECT_NEAR(measure(w, p).volume, w.volume_expected, 0.01 * w.volume_expected) << w.time;
    }
}

// A marble falls into a bowl of thick soup, as in scenes/marble_soup.toml: after three seconds the soup stands higher by what the marble
// brought, and still swings about that level. Measured: 0.8 % of the marble, and by 10 mm at the middle.   [FM96] §8
TEST(Chains, soup_rises_by_the_marble_and_swings)
{
    Params p = by_chains({});
    p.domain.size = {0.12, 0.12};
    p.domain.cells = 40;
    p.fluid.viscosity = 2e-4;
    for (const double left : {0.042, 0.09}) {
        SolidParams step;
        step.min = Vec3{left, -1, 0};
        step.max = Vec3{1, left < 0.05 ? 0.009 : 0.021, 0};
        p.solid.push_back(step);
    }
    WaterParams soup, marble;
    soup.min = Vec3{0, 0, 0};
    soup.max = Vec3{1, 0.045, 0};
    marble.shape = ShapeKind::sphere;
    marble.center = Vec3{0, 0.085, 0};
    marble.radius = 0.012;
    marble.velocity = Vec3{0, -0.5, 0};
    p.water = {soup, marble};
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const Chains before = read_chains(w.particles);
    ASSERT_EQ(before.size(), 2u);
    const double brought = 0.5 * std::numbers::pi * 0.012 * 0.012;
    run_to(w, scene, 3.0);
    // Of the chain: where it crosses the middles of columns, highest.
    const auto level = [&](const Chains& chains, int i) {
        double top = 0;
        for (const Chain& c : chains)
            for (size_t k = 0; k < c.size(); ++k) {
                const Vec2 from = c[k], to = c[(k + 1) % c.size()];
                if ((from[0] <= i) != (to[0] <= i)) top = std::max(top, from[1] + (i - from[0]) / (to[0] - from[0]) * (to[1] - from[1]));
            }
        return 0.003 * (top + 0.5);
    };
    double mean = 0, least = 1, most = 0;
    int n = 0, turns = 0;
    double last = 0, way = 0;
    run_to(w, scene, 4.0, [&](const StepReport&) {
        const Chains chains = read_chains(w.particles);
        for (int i = 0; i < 40; ++i) mean += level(chains, i) / 40;
        ++n;
        const double middle = level(chains, 0), now = middle - last;
        if (last > 0 && now * way < 0) ++turns;
        if (now != 0) way = now;
        last = middle;
        least = std::min(least, middle);
        most = std::max(most, middle);
    });
    EXPECT_NEAR((mean / n - 0.045) * 0.12, brought, 0.02 * brought);
    EXPECT_GT(most - least, 0.001);
    EXPECT_GT(turns, 3);
}

}  // namespace
}  // namespace tarn
