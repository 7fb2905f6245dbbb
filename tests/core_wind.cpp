// Wind: where it changes the velocity and by how much, and what the water then does.

#include "tarn/scene/wind.h"

#include <utility>

#include "run_water.h"
#include "tarn/surface/measure.h"

namespace tarn {
namespace {

// A pool 0.5 deep whose air moves at 1 m/s to the right, before any wind.
struct Sky {
    Scene scene;
    Water<2> w;
    FaceField<2> carried;  // what was beyond the surface before the wind came

    explicit Sky(const WindParams& wind) : carried(Grid<2>({32, 32}, 1.0 / 32))
    {
        Params p = pool(2, 32, 0.5);
        p.wind = wind;
        scene = scene_of(p);
        w = initial_water<2>(scene);
        for (int a = 0; a < 2; ++a) carried[a].fill(a == 0 ? 1.0f : 0.0f);
        blow(carried, w.known, w.phi, scene, w.tiles_band, 0, w.faces);
    }
    float at(Cell<2> c, int a = 0) const { return carried[a](c); }
};

WindParams breeze(double speed, double alpha)
{
    WindParams wind;
    wind.velocity = Vec3{speed, 0, 0};
    wind.alpha = alpha;
    return wind;
}

TEST(Wind, mixes_into_the_air_and_leaves_the_water)
{
    for (const double alpha : {0.0, 0.25, 1.0}) {
        const Sky sky(breeze(5, alpha));
        for (int j = 12; j < 20; ++j) {
            const float expected = j < 16 ? 1.0f : static_cast<float>((1 - alpha) * 1 + alpha * 5);
            EXPECT_FLOAT_EQ(sky.at({8, j}), expected) << "alpha " << alpha << ", row " << j;
        }
        EXPECT_EQ(sky.at({0, 18}), 1.0f) << "no wind passes through the left side";
        EXPECT_EQ(sky.at({32, 18}), 1.0f) << "nor through the right one";
    }
}

TEST(Wind, grows_with_height_and_never_turns_around)
{
    WindParams wind = breeze(-2, 1);
    wind.shear = 4;
    wind.shear_from = 0.5;
    const Sky faster(wind);
    const auto height = [](int j) { return (j + 0.5) / 32; };
    for (const int j : {16, 19}) EXPECT_NEAR(faster.at({8, j}), -2 - 4 * (height(j) - 0.5), 1e-6);
    wind.shear = -30;
    const Sky slower(wind);
    EXPECT_NEAR(slower.at({8, 16}), -2 + 30 * (height(16) - 0.5), 1e-6);
    EXPECT_EQ(slower.at({8, 19}), 0.0f);
}

TEST(Wind, blows_only_inside_its_shape)
{
    WindParams wind = breeze(5, 1);
    wind.where.emplace();
    wind.where->min = Vec3{0.25, 0, 0};
    wind.where->max = Vec3{0.75, 2, 0};
    for (const double fade : {0.0, 0.125}) {
        if (fade > 0) wind.fade = fade;
        const Sky sky(wind);
        for (const int i : {1, 4, 7, 25, 31}) EXPECT_EQ(sky.at({i, 18}), 1.0f) << i;
        EXPECT_EQ(sky.at({16, 18}), 5.0f);
        // Two cells inside: all of it with the usual fade of one cell, half of it with one of four.
        EXPECT_FLOAT_EQ(sky.at({10, 18}), fade > 0 ? 3.0f : 5.0f);
    }
}

TEST(Wind, follows_its_keyframes)
{
    WindParams wind = breeze(0, 1);
    wind.velocity.keys = {{0, Vec3{0, 0, 0}}, {2, Vec3{4, 0, 0}}};
    wind.alpha.keys = {{0, 0}, {1, 0.5}};
    Sky sky(wind);
    EXPECT_EQ(sky.at({8, 18}), 1.0f);
    blow(sky.carried, sky.w.known, sky.w.phi, sky.scene, sky.w.tiles_band, 1, sky.w.faces);
    EXPECT_FLOAT_EQ(sky.at({8, 18}), 0.5f * 1 + 0.5f * 2);
}

// The surface of a pool leans by 0.2 at the start and sloshes.
Params leaning_pool()
{
    Params p = pool(2, 48, 0.4);
    p.water[0].shape = ShapeKind::plane;
    p.water[0].point = Vec3{0.5, 0.4, 0};
    p.water[0].normal = Vec3{0.2, 1, 0};
    return p;
}

// The largest kinetic energy in the fifth second, after eight swings.
double energy_left(const Params& p)
{
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    run_to(w, scene, 4.0);
    double most = 0;
    run_to(w, scene, 5.0, [&](const StepReport&) { most = std::max(most, measure(w, scene.params).kinetic_energy); });
    return most;
}

// [EMF02] §3.3.3: air at rest lets water settle sooner, soonest with alpha = 1. Of the energy that is left without it,
// two thirds are there with alpha = 0.5 and a half with alpha = 1.
TEST(Wind, at_rest_lets_water_settle_sooner)
{
    Params p = leaning_pool();
    const double free = energy_left(p);
    p.wind = breeze(0, 0.5);
    const double some = energy_left(p);
    p.wind = breeze(0, 1);
    const double all = energy_left(p);
    EXPECT_LT(some, 0.7 * free);
    EXPECT_LT(all, 0.55 * free);
    EXPECT_LT(all, some);
}

// How far to the right a drop is carried while it falls for 0.3 s. Air at 2 m/s comes 0.6 m far.
double drift(double speed, double alpha)
{
    Params p = pool(2, 48, 0.4);
    p.water[0].shape = ShapeKind::sphere;
    p.water[0].center = Vec3{0.5, 0.7, 0};
    p.water[0].radius = 0.15;
    p.wind = breeze(speed, alpha);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    run_to(w, scene, 0.3);
    double moment = 0, mass = 0;
    backend::each(w.grid.box(), [&](Cell<2> c) {
        const double wet = wet_fraction<2>(std::as_const(w.phi).view(), w.grid.cells, c, static_cast<float>(w.grid.h));
        moment += wet * (w.grid.centre(c)[0] - 0.5);
        mass += wet;
    });
    return moment / mass;
}

TEST(Wind, carries_a_drop_along)
{
    const double none = drift(2, 0), some = drift(2, 0.3), more = drift(2, 0.6), all = drift(2, 1);
    EXPECT_LT(std::fabs(none), 1e-3);
    EXPECT_GT(some, 1e-2);
    EXPECT_GT(more, some);
    EXPECT_GT(all, more);
    EXPECT_LT(all, 0.6);
    EXPECT_NEAR(drift(-2, 0.6), -more, 0.1 * more);  // particles are placed at random, not as in a mirror
}

// Wind that blew through the surface would take it along and leave the water: the volume of this drop, in a wind that blows
// upwards, would be 17 % too large.
TEST(Wind, changes_no_volume)
{
    Params p = pool(2, 48, 0.4);
    p.water[0].shape = ShapeKind::sphere;
    p.water[0].center = Vec3{0.3, 0.6, 0};
    p.water[0].radius = 0.2;
    p.surface.volume_correction = false;
    p.wind = breeze(1, 1);
    p.wind->velocity = Vec3{1, 2, 0};
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const double before = measure(w, scene.params).volume;
    run_to(w, scene, 0.1);
    EXPECT_NEAR(measure(w, scene.params).volume, before, 0.02 * before);
}

}  // namespace
}  // namespace tarn
