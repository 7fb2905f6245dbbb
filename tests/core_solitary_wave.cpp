// The solitary wave of [EMF02] §4.2: its shape, its velocity, and how fast it travels.

#include "run_water.h"
#include "tarn/surface/measure.h"

namespace tarn {
namespace {

ShapeParams wave_params(double crest, double depth, double height)
{
    ShapeParams p;
    p.shape = ShapeKind::solitary_wave;
    p.crest = crest;
    p.depth = depth;
    p.height = height;
    return p;
}

TEST(SolitaryWave, stands_on_still_water)
{
    const Shape wave = make_shape(wave_params(30, 10, 7), 3);
    EXPECT_NEAR(distance(wave, {30, 17, 5}), 0, 1e-12);
    EXPECT_NEAR(distance(wave, {-200, 10, 0}), 0, 1e-6);
    EXPECT_LT(distance(wave, {30, 16.9, 0}), 0);
    EXPECT_GT(distance(wave, {30, 17.1, 0}), 0);
    // It is half as high where sech² is a half: cosh(k x) = sqrt(2).
    const double half = std::acosh(std::sqrt(2.0)) / std::sqrt(3 * 7 / 4e3);
    EXPECT_NEAR(distance(wave, {30 + half, 13.5, 0}), 0, 1e-9);
}

// Against the nearest of many points of the surface.
TEST(SolitaryWave, is_never_nearer_than_its_distance)
{
    const Shape wave = make_shape(wave_params(0, 10, 7), 3);
    const double k = std::sqrt(3 * 7 / 4e3);
    for (double x = -40; x <= 40; x += 3.7)
        for (double y = 1; y <= 40; y += 2.9) {
            double nearest = 1e9;
            for (double s = -90; s <= 90; s += 0.01)
                nearest = std::min(nearest, std::hypot(s - x, 10 + 7 / std::pow(std::cosh(k * s), 2) - y));
            const double d = std::fabs(distance(wave, {x, y, 0}));
            EXPECT_LE(d, nearest + 1e-9);
            EXPECT_GE(d, 0.6 * nearest);
        }
}

// Differences over a tenth of a metre leave their own error, which is far below u / d = 0.69 1/s.
TEST(SolitaryWave, has_a_velocity_without_divergence)
{
    for (const Toward toward : {Toward::right, Toward::left}) {
        ShapeParams p = wave_params(30, 10, 7);
        p.toward = toward;
        const Shape wave = make_shape(p, 2);
        const double e = 0.05, sign = toward == Toward::right ? 1 : -1;
        const auto u = [&](double x, double y) { return own_velocity(wave, {x, y, 0}, 9.81); };
        for (double x = 0; x < 60; x += 2.3)
            for (double y = 0.5; y < 17; y += 3.1)
                EXPECT_NEAR((u(x + e, y)[0] - u(x - e, y)[0] + u(x, y + e)[1] - u(x, y - e)[1]) / (2 * e), 0, 1e-4);
        // Equation (9) at the crest; the bottom lets nothing through; ahead of the crest the water rises.
        EXPECT_NEAR(u(30, 12)[0], sign * std::sqrt(9.81 * 10) * 0.7, 1e-9);
        EXPECT_EQ(u(20, 0)[1], 0);
        EXPECT_GT(u(30 + 10 * sign, 10)[1], 1);
        EXPECT_LT(u(30 - 10 * sign, 10)[1], -1);
    }
}

TEST(SolitaryWave, turns_and_grows_with_its_shape)
{
    ShapeParams p = wave_params(0, 1, 0.5);
    p.scale = 4;
    p.rotate = Vec3{0, 90, 0};
    p.translate = Vec3{1, 2, 3};
    const Shape wave = make_shape(p, 3);
    EXPECT_NEAR(distance(wave, {-7, 2 + 4 * 1.5, 3}), 0, 1e-9);
    // A turn by 90 degrees about y takes x to -z.
    const Vec3 u = own_velocity(wave, {5, 4, 3}, 9.81);
    EXPECT_NEAR(u[0], 0, 1e-9);
    EXPECT_NEAR(u[2], -std::sqrt(9.81 * 4) * 0.5, 1e-9);
}

// A tank 40 m long and 1 m deep, a wave a fifth as high, which is two cells: it runs at sqrt(g (d + H)) within 1 % and
// keeps its height within a tenth. The volume of the wave itself is 2 H / k.
TEST(SolitaryWave, travels_at_its_speed)
{
    for (const Toward toward : {Toward::right, Toward::left}) {
        Params p;
        p.domain.size = {40, 1.6};
        p.domain.cells = 400;
        p.water.emplace_back();
        static_cast<ShapeParams&>(p.water[0]) = wave_params(toward == Toward::right ? 12 : 28, 1, 0.2);
        p.water[0].toward = toward;
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        double top = 0;
        const auto crest = [&] {
            double moment = 0, mass = 0;
            top = 0;
            for (int i = 0; i < w.grid.cells[0]; ++i) {
                const double rise = level(w, i) - 1, weight = rise > 0 ? rise * rise : 0;
                moment += weight * w.grid.centre(Cell<2>{i, 0})[0];
                mass += weight;
                top = std::max(top, rise);
            }
            return moment / mass;
        };
        const double from = crest();
        EXPECT_NEAR(from, *p.water[0].crest, 0.05);
        EXPECT_NEAR(top, 0.2, 0.005);
        const double k = std::sqrt(0.75 * 0.2);
        EXPECT_NEAR(measure(w, p).volume, 40 + 2 * 0.2 / k, 0.02);
        run_to(w, scene, 4.0);
        const double speed = (crest() - from) / 4.0, expected = std::sqrt(9.81 * 1.2);
        EXPECT_NEAR(speed, toward == Toward::right ? expected : -expected, 0.01 * expected);
        EXPECT_NEAR(top, 0.2, 0.02);
    }
}

}  // namespace
}  // namespace tarn
