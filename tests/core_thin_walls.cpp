// Walls of 0.3 cells hold water: nothing of it gets to the other side, whether they stand or move. Each bound says
// where it comes from.

#include <gtest/gtest.h>

#include <cmath>

#include "run_water.h"

namespace tarn {
namespace {

// A cup with walls 0.3 cells thick, around the origin of its own frame: `inner` is half its inner width, `height` its
// inner height above its bottom at y = 0.
struct Cup {
    int dimension = 2;
    double inner = 0.18, height = 0.4, wall = 0;
    Keyed<Vec3> translate, rotate;

    SolidParams placed(SolidParams s) const
    {
        s.translate = translate;
        s.rotate = rotate;
        return s;
    }
    std::vector<SolidParams> solids() const
    {
        const auto box = [&](Vec3 min, Vec3 max) {
            SolidParams s;
            s.min = min;
            s.max = max;
            return placed(s);
        };
        if (dimension == 2)
            return {box({-inner - wall, -wall, 0}, {inner + wall, 0, 0}),
                    box({-inner - wall, -wall, 0}, {-inner, height, 0}),
                    box({inner, -wall, 0}, {inner + wall, height, 0})};
        SolidParams outer, hollow;
        outer.shape = hollow.shape = ShapeKind::cylinder;
        outer.center = Vec3{0, 0.5 * (height - wall), 0};
        outer.radius = inner + wall;
        outer.height = height + wall;
        hollow.center = Vec3{0, 0.5 * height + 0.5, 0};
        hollow.radius = inner;
        hollow.height = height + 1;
        hollow.subtract = true;
        return {placed(outer), placed(hollow)};
    }
    // Fills it up to a level, counted in the domain. The shape ends in the middle of the wall.
    std::vector<WaterParams> water(double level) const
    {
        const double half = 0.5 * wall;
        WaterParams fill, above;
        fill.translate = translate.at(0);
        fill.rotate = rotate.at(0);
        if (dimension == 2) {
            fill.min = Vec3{-inner - half, -half, 0};
            fill.max = Vec3{inner + half, height, 0};
        } else {
            fill.shape = ShapeKind::cylinder;
            fill.center = Vec3{0, 0.5 * (height - half), 0};
            fill.radius = inner + half;
            fill.height = height + half;
        }
        above.shape = ShapeKind::plane;
        above.point = Vec3{0, level, 0};
        above.normal = Vec3{0, -1, 0};
        above.subtract = true;
        return {fill, above};
    }
    bool holds(Vec3 x, double t) const
    {
        const Vec3 y = make_pose(translate.at(t), rotate.at(t)).apply_inverse(x);
        const double across = dimension == 2 ? std::fabs(y[0]) : std::hypot(y[0], y[2]);
        return across < inner + wall && y[1] > -wall && y[1] < height;
    }
};

Params scene_with(const Cup& cup, int cells, double level)
{
    Params p;
    p.domain.size.assign(static_cast<size_t>(cup.dimension), 1.0);
    p.domain.cells = cells;
    p.solid = cup.solids();
    p.water = cup.water(level);
    return p;
}

// Calls f with every cell of the grid.
template <int D, class F>
void for_each_cell(const Grid<D>& grid, const F& f)
{
    Cell<D> c;
    for (int k = 0; k < (D == 3 ? grid.cells[D - 1] : 1); ++k)
        for (c[1] = 0; c[1] < grid.cells[1]; ++c[1])
            for (c[0] = 0; c[0] < grid.cells[0]; ++c[0]) {
                if (D == 3) c[D - 1] = k;
                f(c);
            }
}

template <int D>
int wet_outside(const Water<D>& w, const Cup& cup)
{
    int wet = 0;
    for_each_cell(w.grid, [&](Cell<D> c) { wet += w.phi(c) < 0 && !cup.holds(lift<D>(w.grid.centre(c)), w.time); });
    return wet;
}

Cup tilted(int dimension, int cells)
{
    Cup cup;
    cup.dimension = dimension;
    cup.wall = 0.3 / cells;
    cup.translate = Vec3{0.55, 0.25, dimension == 2 ? 0.0 : 0.5};
    cup.rotate = Vec3{0, 0, 17};
    return cup;
}

// Lifted, carried to the right and tilted back, by steps of up to 0.2 cells.
Cup carried(int dimension, int cells)
{
    Cup cup = tilted(dimension, cells);
    const double z = dimension == 2 ? 0 : 0.5;
    cup.translate.keys = {{0, {0.4, 0.2, z}},   {0.5, {0.42, 0.21, z}}, {1, {0.47, 0.24, z}},
                          {2, {0.57, 0.28, z}}, {2.5, {0.59, 0.28, z}}, {3, {0.57, 0.26, z}}};
    cup.rotate.keys = {{0, {0, 0, 17}}, {1, {0, 0, 15}}, {2, {0, 0, 8}}, {3, {0, 0, 12}}};
    return cup;
}

// What a cup with walls of three cells gives and takes on the same way (2D) is 1.4 %.
constexpr double kept_when_carried = 0.015;

template <int D>
void expect_carried(int cells, bool correct)
{
    const Cup cup = carried(D, cells);
    Params p = scene_with(cup, cells, 0.38);
    p.surface.volume_correction = correct;
    const Scene scene = scene_of(p);
    Water<D> w = initial_water<D>(scene);
    const double before = measure(w, p).volume;
    EXPECT_EQ(wet_outside(w, cup), 0);
    double least = before, most = before;
    run_to(w, scene, 3, [&](const StepReport&) {
        const double volume = measure(w, p).volume;
        least = std::min(least, volume);
        most = std::max(most, volume);
        EXPECT_EQ(wet_outside(w, cup), 0) << w.time;
    });
    EXPECT_GT(least, (1 - kept_when_carried) * before);
    EXPECT_LT(most, (1 + kept_when_carried) * before);
}

TEST(ThinWalls, carry_water_and_lose_none)
{
    expect_carried<2>(48, false);
    expect_carried<2>(48, true);
    expect_carried<3>(24, true);
}

// Particles in the water, never seeded anew: none leaves the cells on its side.
TEST(ThinWalls, keep_particles_on_their_side)
{
    const int cells = 48;
    const Cup cup = carried(2, cells);
    const Params p = scene_with(cup, cells, 0.38);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    FaceField<2> velocity(w.grid);
    Field<2> phi(w.grid);
    std::vector<Vec<2, float>> places;
    for_each_cell(w.grid, [&](Cell<2> c) {
        if (w.phi(c) < 0) places.push_back(c.as<float>());
    });
    Particles<2> particles;
    particles.resize(static_cast<int>(places.size()));
    const ParticleView<2> view = particles.view();
    for (size_t i = 0; i < places.size(); ++i) {
        view.put(static_cast<int>(i), places[i]);
        view.radius[i] = -most_radius;
    }
    const auto keep = [&] {
        for (int a = 0; a < 2; ++a) velocity[a].copy(w.velocity[a]);
        phi.copy(w.phi);
    };
    keep();
    int outside = 0;
    run_to(w, scene, 2, [&](const StepReport& report) {
        advect(particles, velocity, phi, report.dt, sides_of(w.solids, w.grid));
        for (int i = 0; i < particles.count(); ++i)
            outside += !cup.holds(lift<2>(w.grid.centre(cell_at(view.at(i), w.grid.cells))), w.time);
        keep();
    });
    EXPECT_EQ(outside, 0);
}

TEST(ThinWalls, go_on_with_the_same_bits)
{
    const Params p = scene_with(carried(2, 32), 32, 0.38);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene), resumed = initial_water<2>(scene);
    run_to(w, scene, 1.0);
    resumed.time = w.time;
    resumed.step = w.step;
    resumed.volume_expected = w.volume_expected;
    resumed.ahead = w.ahead;
    resumed.phi.copy(w.phi);
    resumed.particles.copy(w.particles);
    resumed.droplets.copy(w.droplets);
    resumed.targets.expected = w.targets.expected;
    resumed.targets.elsewhere = w.targets.elsewhere;
    resumed.targets.body.copy(w.targets.body);
    resumed.pressure.copy(w.pressure);
    for (int a = 0; a < 2; ++a) resumed.velocity[a].copy(w.velocity[a]);
    restore(resumed, scene);
    run_to(w, scene, 1.2);
    run_to(resumed, scene, 1.2);
    for_each_cell(w.grid, [&](Cell<2> c) { EXPECT_EQ(w.phi(c), resumed.phi(c)); });
}

// The bound is that of still water elsewhere: 1e-4 sqrt(g d) for one second.
template <int D>
void expect_still_in_cup(int cells)
{
    const Cup cup = tilted(D, cells);
    const Params p = scene_with(cup, cells, 0.45);
    const Scene scene = scene_of(p);
    Water<D> w = initial_water<D>(scene);
    const double before = measure(w, p).volume;
    EXPECT_LT(run_to(w, scene, 1.0), 1e-4 * std::sqrt(9.81 * 0.2));
    EXPECT_NEAR(measure(w, p).volume, before, 1e-4 * before);
    EXPECT_EQ(wet_outside(w, cup), 0);
}

TEST(ThinWalls, keep_still_water_still)
{
    expect_still_in_cup<2>(48);
    expect_still_in_cup<3>(24);
}

// A wall 0.3 cells thick through (0.5, 0.3) that leans to the left by 10 degrees.
SolidParams leaning_wall(int cells)
{
    SolidParams wall;
    wall.min = Vec3{-0.15 / cells, -1, 0};
    wall.max = Vec3{0.15 / cells, 1, 0};
    wall.translate = Vec3{0.5, 0.3, 0};
    wall.rotate = Vec3{0, 0, 10};
    return wall;
}

// Wet cells to the left and to the right of it.
Cell<2> wet_beside(const Water<2>& w, const SolidParams& wall)
{
    Cell<2> wet;
    const Pose pose = make_pose(wall.translate.at(0), wall.rotate.at(0));
    for_each_cell(w.grid, [&](Cell<2> c) {
        wet[pose.apply_inverse(lift<2>(w.grid.centre(c)))[0] > (*wall.max)[0]] += w.phi(c) < 0;
    });
    return wet;
}

TEST(ThinWalls, hold_two_levels_apart)
{
    Params p = pool(2, 48, 0.2);
    p.solid.push_back(leaning_wall(48));
    // 0.5 m to the left of the middle of the wall.
    WaterParams left, above;
    left.min = Vec3{-2, -2, 0};
    left.max = Vec3{0, 2, 0};
    left.translate = p.solid[0].translate;
    left.rotate = p.solid[0].rotate;
    above.shape = ShapeKind::plane;
    above.point = Vec3{0, 0.5, 0};
    above.normal = Vec3{0, -1, 0};
    above.subtract = true;
    p.water = {left, above, p.water[0]};
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const Cell<2> before = wet_beside(w, p.solid[0]);
    EXPECT_LT(run_to(w, scene, 3.0), 1e-4 * std::sqrt(9.81 * 0.5));
    EXPECT_EQ(wet_beside(w, p.solid[0]), before);
}

TEST(ThinWalls, keep_what_is_poured_on_one_side)
{
    Params p = pool(2, 48, 0.2);
    p.solid.push_back(leaning_wall(48));
    p.water[0].min = Vec3{0.1, 0.1, 0};
    p.water[0].max = Vec3{0.35, 0.6, 0};
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    run_to(w, scene, 2.0, [&](const StepReport&) { EXPECT_EQ(wet_beside(w, p.solid[0])[1], 0); });
    EXPECT_GT(wet_beside(w, p.solid[0])[0], 200);
}

}  // namespace
}  // namespace tarn
