// The playground: what brushes do to the water, that it goes on afterwards, and that what is there can be saved.

#include <cmath>

#include <gtest/gtest.h>

#include "tarn/play/balls.h"
#include "tarn/play/edit.h"
#include "tarn/play/playground.h"
#include "tarn/play/settings.h"
#include "tarn/play/walls.h"
#include "tarn/scene/validate.h"

using namespace tarn;

namespace {

// A tank a metre wide with water up to a height.
Params tank(double height, int cells = 48)
{
    Params p;
    p.domain.size = {1.0, 0.75};
    p.domain.cells = cells;
    p.method.phases = Phases::water_air;
    p.method.advection = p.surface.advection = Advection::cip;
    p.method.surface = SurfaceKind::level_set;
    p.time.cfl = 8;
    WaterParams water;
    water.min = Vec3{-1, -1, 0};
    water.max = Vec3{2, height, 0};
    p.water.push_back(water);
    return p;
}

Stroke stroke(Brush brush, Vec<2> from, Vec<2> to, double radius)
{
    Stroke s;
    s.brush = brush, s.from = from, s.to = to, s.radius = radius;
    return s;
}

double volume(Playground& p) { return p.measures().volume; }

void go_on(Playground& p, double seconds)
{
    const Advanced done = p.advance(seconds);
    EXPECT_EQ(done.wrong, "");
    EXPECT_GT(done.steps, 0);
}

}  // namespace

TEST(Play, PouredWaterStays)
{
    Playground p(tank(0.2));
    const double before = volume(p);
    p.begin_stroke();
    p.apply(stroke(Brush::pour, {0.4, 0.5}, {0.6, 0.5}, 0.05));
    // A disc's two halves and the rectangle between them.
    const double poured = 3.14159265 * 0.05 * 0.05 + 0.2 * 0.1;
    EXPECT_NEAR(volume(p) - before, poured, 0.02 * poured);
    EXPECT_NEAR(p.water().volume_expected, volume(p), 1e-9);
    go_on(p, 1);
    // The volume correction keeps what was poured, to what it leaves on a grid of 48 cells.
    EXPECT_NEAR(volume(p) - before, poured, 0.02 * poured);
}

TEST(Play, RemovedWaterIsGone)
{
    Playground p(tank(0.3));
    const double before = volume(p);
    p.apply(stroke(Brush::remove, {0.5, 0.15}, {0.5, 0.15}, 0.08));
    const double hole = 3.14159265 * 0.08 * 0.08;
    EXPECT_NEAR(before - volume(p), hole, 0.03 * hole);
    go_on(p, 0.5);
    EXPECT_NEAR(before - volume(p), hole, 0.05 * hole);
}

TEST(Play, NothingIsLeftWhereAllIsRemoved)
{
    Playground p(tank(0.05));
    p.apply(stroke(Brush::remove, {-0.2, 0.02}, {1.2, 0.02}, 0.1));
    EXPECT_NEAR(volume(p), 0, 1e-9);
    go_on(p, 0.1);
    EXPECT_NEAR(volume(p), 0, 1e-6);
    p.apply(stroke(Brush::pour, {0.5, 0.3}, {0.5, 0.3}, 0.05));
    go_on(p, 0.2);
    EXPECT_GT(volume(p), 0.007);
}

TEST(Play, UndoBringsBackTheSameBits)
{
    Playground p(tank(0.2));
    go_on(p, 0.1);
    const std::vector<float> before = p.field(Shown::phi), speed = p.field(Shown::speed);
    for (const Brush brush : {Brush::pour, Brush::remove, Brush::stir, Brush::wall, Brush::ink}) {
        p.begin_stroke();
        Stroke s = stroke(brush, {0.3, 0.15}, {0.6, 0.2}, 0.05);
        s.velocity = {2, 0};
        p.apply(s);
        go_on(p, 0.05);
        ASSERT_TRUE(p.undo());
        EXPECT_EQ(p.field(Shown::phi), before);
        EXPECT_EQ(p.field(Shown::speed), speed);
        EXPECT_FALSE(p.ink().any());
        EXPECT_TRUE(p.solids().empty());
    }
    EXPECT_FALSE(p.undo());
}

TEST(Play, AWallHoldsWater)
{
    Playground p(tank(0.05, 64));
    p.begin_stroke();
    for (const auto& [from, to] : {std::pair<Vec<2>, Vec<2>>{{0.5, -0.02}, {0.5, 0.3}}, {{0.5, 0.3}, {0.5, 0.6}}})
        p.apply(stroke(Brush::wall, from, to, 0.02));
    p.begin_stroke();
    p.apply(stroke(Brush::pour, {0.15, 0.2}, {0.35, 0.2}, 0.12));
    go_on(p, 1.5);
    const Grid<2>& grid = p.water().grid;
    const std::vector<float> phi = p.field(Shown::phi);
    double left = 0, right = 0;
    for (int j = 0; j < grid.cells[1]; ++j)
        for (int i = 0; i < grid.cells[0]; ++i)
            if (phi[size_t(j * grid.cells[0] + i)] < 0) {
                left += i < 31;
                right += i > 33;
            }
    const double dry_side = 31.0 * 0.05 * 64;  // cells under the puddle's surface
    EXPECT_GT(left, 2 * right);
    EXPECT_LT(right, 1.25 * dry_side);
}

TEST(Play, StirredWaterMoves)
{
    Playground p(tank(0.4));
    Stroke s = stroke(Brush::stir, {0.3, 0.2}, {0.6, 0.2}, 0.08);
    s.velocity = {1.5, 0};
    p.apply(s);
    EXPECT_GT(p.measures().max_speed, 0.8);
    go_on(p, 0.3);
}

TEST(Play, InkGoesAlongAndIsNeverBrighter)
{
    Playground p(tank(0.4));
    Stroke s = stroke(Brush::ink, {0.3, 0.2}, {0.7, 0.2}, 0.05);
    s.color[0] = 1;
    p.apply(s);
    s.brush = Brush::stir;
    s.velocity = {2, 1};
    p.apply(s);
    go_on(p, 0.3);
    ASSERT_TRUE(p.ink().any());
    float most = 0, least = 1;
    const Cell<2> cells = p.water().grid.cells;
    for (int j = 0; j < cells[1]; ++j)
        for (int i = 0; i < cells[0]; ++i) {
            const float dye = p.ink().dye(1)(Cell<2>{i, j});
            most = std::max(most, dye), least = std::min(least, dye);
        }
    EXPECT_LE(most, 1);
    EXPECT_GE(least, 0);
    EXPECT_GT(most, 0.2f);
    EXPECT_EQ(p.ink().dye(0)(Cell<2>{24, 13}), 0) << "red ink takes away no red";
}

namespace {

Stroke thrown(Vec<2> at, double radius, double density, Vec<2> velocity)
{
    Stroke s = stroke(Brush::ball, at, at, radius);
    s.density = density;
    s.velocity = velocity;
    return s;
}

}  // namespace

TEST(Play, AThrownBallFallsByItsWeight)
{
    Playground p(tank(0.1));
    p.apply(thrown({0.3, 0.6}, 0.06, 2000, {1, 0}));
    ASSERT_EQ(p.balls().size(), 1u);
    EXPECT_NEAR(p.balls()[0].density, 2000, 1);
    // Its velocity is that of the step's end, so that it is late by half a step.
    for (int n = 0; n < 48; ++n) go_on(p, 0.2 / 48);
    const ShownBall ball = p.balls()[0];
    EXPECT_NEAR(ball.x, 0.3 + 1 * 0.2, 0.005);
    // g t² / 2, less what air of a thousandth of its weight takes.
    EXPECT_NEAR(ball.y, 0.6 - 0.5 * 9.81 * 0.2 * 0.2, 0.006);
}

TEST(Play, LightBallsFloatAndHeavyOnesSink)
{
    Playground p(tank(0.3, 64));
    p.apply(thrown({0.3, 0.3}, 0.06, 500, {}));
    p.apply(thrown({0.7, 0.3}, 0.06, 3000, {}));
    const double before = volume(p);
    go_on(p, 2.5);
    const std::vector<ShownBall> balls = p.balls();
    ASSERT_EQ(balls.size(), 2u);
    EXPECT_GT(balls[0].y, 0.26);
    // It lies on the floor, but for a film of a fifth of a cell.
    EXPECT_NEAR(balls[1].y, 0.06, 0.4 * p.water().grid.h);
    EXPECT_NEAR(volume(p), before, 0.01 * before);
}

TEST(Play, BallsStayInTheTankAndOutOfEachOther)
{
    Playground p(tank(0.15));
    p.begin_stroke();
    p.apply(stroke(Brush::wall, {0.6, 0.3}, {0.9, 0.35}, 0.03));
    for (const double x : {0.15, 0.35, 0.55, 0.75}) p.apply(thrown({x, 0.6}, 0.07, 700, {3, -1}));
    for (int n = 0; n < 20; ++n) {
        go_on(p, 0.05);
        const std::vector<ShownBall> balls = p.balls();
        ASSERT_EQ(balls.size(), 4u);
        for (const ShownBall& a : balls) {
            EXPECT_GT(a.x, 0.95f * a.radius) << n;
            EXPECT_LT(a.x, 1 - 0.95f * a.radius) << n;
            EXPECT_GT(a.y, 0.95f * a.radius) << n;
            for (const ShownBall& b : balls)
                if (&a != &b) {
                    EXPECT_GT(std::hypot(a.x - b.x, a.y - b.y), 0.95f * (a.radius + b.radius)) << n;
                }
        }
    }
}

TEST(Play, BallsOutliveWallsGridsAndSettings)
{
    Playground p(tank(0.2));
    p.apply(thrown({0.2, 0.5}, 0.06, 600, {1.5, 0}));
    go_on(p, 0.15);
    const ShownBall before = p.balls()[0];
    const auto stays = [&](const char* what) {
        ASSERT_EQ(p.balls().size(), 1u) << what;
        EXPECT_NEAR(p.balls()[0].x, before.x, 1e-4) << what;
        EXPECT_NEAR(p.balls()[0].y, before.y, 1e-4) << what;
        EXPECT_NEAR(p.balls()[0].turn, before.turn, 1e-4) << what;
        EXPECT_NEAR(p.water().bodies[0].velocity[0], 1.5, 0.02) << what;
    };
    p.begin_stroke();
    p.apply(stroke(Brush::wall, {0.8, 0.4}, {0.8, 0.6}, 0.03));
    stays("a wall");
    p.apply(stroke(Brush::erase_wall, {0.8, 0.6}, {0.8, 0.65}, 0.03));
    stays("an erased wall");
    p.set_cells(64);
    stays("a grid");
    p.set("fluid.viscosity", "0.0001");
    stays("a setting");
    Playground again(p.saved());
    ASSERT_EQ(again.balls().size(), 1u);
    EXPECT_NEAR(again.balls()[0].x, before.x, 1e-3);
    go_on(again, 0.1);
    EXPECT_NEAR(again.balls()[0].x, before.x + 0.15, 0.01) << "it is saved without its velocity";
    go_on(p, 0.05);
    p.begin_stroke();
    p.apply(stroke(Brush::remove, {0.05, 0.4}, {0.95, 0.4}, 0.15));
    EXPECT_TRUE(p.balls().empty());
    go_on(p, 0.05);
    ASSERT_TRUE(p.undo());
    ASSERT_EQ(p.balls().size(), 1u);
    go_on(p, 0.05);
    p.restart();
    EXPECT_TRUE(p.balls().empty()) << "a ball that was thrown outlives the restart";
    EXPECT_FALSE(p.solids().empty()) << "walls do not";
    go_on(p, 0.05);
}

TEST(Play, ThereIsRoomForABallOrNone)
{
    Playground p(tank(0.2));
    p.apply(thrown({0.5, 0.5}, 0.08, 600, {}));
    EXPECT_THROW(p.apply(thrown({0.52, 0.5}, 0.08, 600, {})), InputError);
    EXPECT_EQ(p.balls().size(), 1u);
    p.begin_stroke();
    EXPECT_THROW(p.apply(stroke(Brush::wall, {0.3, 0.5}, {0.7, 0.5}, 0.03)), InputError);
    EXPECT_EQ(p.balls().size(), 1u);
    go_on(p, 0.05);
    // A wall where a scene's own body began: the water starts again without it.
    Params with_body = tank(0.2);
    with_body.solid.push_back(ball({0.3, 0.5}, 0.06, 600, {1, 0}));
    Playground own(with_body);
    go_on(own, 0.3);
    own.begin_stroke();
    own.apply(stroke(Brush::wall, {0.25, 0.5}, {0.35, 0.5}, 0.03));
    own.restart();
    EXPECT_TRUE(own.balls().empty());
    EXPECT_FALSE(own.solids().empty());
    go_on(own, 0.05);
    Playground full(tank(0.2));
    for (int n = 0; n < 18; ++n) full.apply(thrown({0.08 + 0.11 * (n % 8), 0.3 + 0.13 * (n / 8)}, 0.001, 600, {}));
    EXPECT_EQ(full.balls().size(), 16u) << "the oldest make no room";
}

TEST(Play, FluidsThatVaryArePlayedWithToo)
{
    Params p = tank(0.3);
    p.fluid.density.keys = {{0, 1000}, {0.2, 700}};
    Playground g(p);
    g.apply(thrown({0.5, 0.3}, 0.06, 800, {}));
    for (const Brush brush : {Brush::pour, Brush::remove, Brush::wall, Brush::erase_wall, Brush::stir}) {
        g.begin_stroke();
        g.apply(stroke(brush, {0.2, 0.5}, {0.3, 0.5}, 0.04));
        go_on(g, 0.03);
    }
    EXPECT_EQ(g.advance_by_parts(1.0 / 60).wrong, "");
    g.set_cells(64);
    go_on(g, 0.03);
    Playground again(g.saved());
    go_on(again, 0.02);
    g.restart();
    go_on(g, 0.05);
}

TEST(Play, AStepIsSeenPartByPart)
{
    Playground p(tank(0.3));
    Stroke s = stroke(Brush::stir, {0.3, 0.2}, {0.6, 0.25}, 0.08);
    s.velocity = {1.5, 0.5};
    p.apply(s);
    go_on(p, 0.1);
    Playground beside(tank(0.3));
    beside.apply(s);
    go_on(beside, 0.1);
    const std::vector<float> before = p.field(Shown::phi);
    const Advanced done = p.advance_by_parts(1.0 / 60);
    EXPECT_EQ(done.steps, 1);
    ASSERT_EQ(p.parts(), 6);
    EXPECT_EQ(beside.advance(1.0 / 60, true).dt, done.dt);
    EXPECT_EQ(p.field(Shown::phi), beside.field(Shown::phi)) << "to look changes the step";

    const auto largest = [&](int part, Shown shown) {
        p.show_part(part);
        float most = 0;
        for (const float v : p.field(shown)) most = std::max(most, std::fabs(v));
        return most;
    };
    p.show_part(0);
    EXPECT_EQ(p.field(Shown::phi), before);
    // Forces leave a velocity that is not free of divergence; the projection takes it away.
    EXPECT_LT(largest(5, Shown::divergence), 0.1f * largest(4, Shown::divergence));
    EXPECT_EQ(largest(5, Shown::speed), largest(-1, Shown::speed));
    p.show_part(1);
    const std::vector<float> moved = p.field(Shown::phi);
    EXPECT_NE(moved, before);
    p.show_part(4);
    EXPECT_EQ(p.field(Shown::phi).size(), moved.size());
    go_on(p, 0.05);
    EXPECT_EQ(p.parts(), 0);
}

TEST(Play, WhatIsSavedStartsWithTheSameWater)
{
    Playground p(tank(0.2, 64));
    p.begin_stroke();
    p.apply(stroke(Brush::wall, {0.6, 0.1}, {0.8, 0.3}, 0.03));
    p.apply(stroke(Brush::pour, {0.2, 0.5}, {0.3, 0.5}, 0.06));
    go_on(p, 0.25);
    const Params saved = p.saved();
    EXPECT_TRUE(problems(saved).empty());
    Playground again(saved);
    EXPECT_NEAR(volume(again), volume(p), 0.01 * volume(p));
    go_on(again, 0.1);
}

TEST(Play, AnotherGridTakesOverTheWater)
{
    Playground p(tank(0.3));
    p.apply(stroke(Brush::pour, {0.4, 0.5}, {0.5, 0.5}, 0.08));
    go_on(p, 0.1);
    const double before = volume(p);
    for (const int cells : {96, 32, 48}) {
        p.set_cells(cells);
        EXPECT_NEAR(volume(p), before, 0.03 * before) << cells;
        go_on(p, 0.05);
    }
}

TEST(Play, SettingsAreThoseOfTheTable)
{
    Playground p(tank(0.3));
    p.set("air.density", "500");
    EXPECT_EQ(p.params().air.density, 500);
    p.set("fluid.viscosity", "0.001");
    p.set("fluid.surface_tension", "0.5");
    p.set("method.advection", "linear");
    p.set("surface.advection", "maccormack");
    p.set("surface.spray", "false");
    go_on(p, 0.1);
    p.set("method.advection", "cip");
    go_on(p, 0.1);
    EXPECT_THROW(p.set("air.density", "-1"), InputError);
    EXPECT_THROW(p.set("air.density", "much"), InputError);
    EXPECT_THROW(p.set("method.advection", "magic"), InputError);
    EXPECT_THROW(p.set("method.phases", "water"), InputError);
    for (const Setting& setting : settings())
        EXPECT_NE(settings_json(p.params()).find(setting.key), std::string::npos);
}

TEST(Play, WhatIsNotFiniteRestarts)
{
    Playground p(tank(0.3));
    Stroke s = stroke(Brush::stir, {0.3, 0.2}, {0.6, 0.2}, 0.08);
    s.velocity = {std::nan(""), 0};
    p.apply(s);
    EXPECT_NE(p.advance(0.1).wrong, "");
    EXPECT_EQ(p.water().time, 0);
    go_on(p, 0.1);
}

TEST(Play, OtherScenesAreRefused)
{
    Params p = tank(0.3);
    p.domain.size = {1, 1, 1};
    EXPECT_THROW(Playground{p}, InputError);
    p = tank(0.3);
    p.wind.emplace();
    EXPECT_THROW(Playground{p}, InputError);
}

TEST(Play, ALineNeedsFewPoints)
{
    std::vector<Vec<2>> line;
    for (int i = 0; i <= 100; ++i) line.push_back({i * 0.01, i < 50 ? 0 : (i - 50) * 0.01});
    const std::vector<Vec<2>> few = simplified(line, 1e-3);
    ASSERT_EQ(few.size(), 3u);
    EXPECT_NEAR(few[1][0], 0.5, 0.011);
    EXPECT_EQ(wall_along(few, 0.1, false).size(), 5u);
}
