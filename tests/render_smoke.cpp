// Light in smoke: what it scatters is not lost, what it takes off is exp(-sigma d), and it throws a shadow.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "render_worlds.h"
#include "tarn/render/integrator.h"

namespace tarn {
namespace {

constexpr int n = 20;

// A cube of smoke a metre wide.
SmokeVolume cube(const std::function<double(Vec3)>& density, float extinction, float albedo, float forward)
{
    std::vector<float> values;
    for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) values.push_back(static_cast<float>(density((1.0 / n) * Vec3{i + 0.5, j + 0.5, k + 0.5})));
    return SmokeVolume({n, n, n}, 1.0f / n, std::move(values), extinction, Vec3f::all(albedo), forward);
}

double uneven(Vec3 x) { return 1 + std::sin(9 * x[0]) * std::cos(7 * x[1]) * std::sin(5 * x[2] + 1); }

struct Mean {
    double mean = 0, error = 0;
};
template <class F>
Mean mean_of(int count, const F& f)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < count; ++i) {
        Random random(static_cast<uint32_t>(i), 21, 22);
        const double v = f(random);
        sum += v;
        squares += v * v;
    }
    const double mean = sum / count;
    return {mean, std::sqrt(std::max(0.0, squares / count - mean * mean) / count)};
}

// Rays from all around through a scattering cube of two optical depths, before a sky of one.
TEST(SmokeLight, a_white_furnace_with_smoke_stays_white)
{
    for (const float forward : {0.0f, 0.6f}) {
        World world;
        world.smoke = cube(uneven, 2, 1, forward);
        world.lights.dome = Dome::uniform(Vec3f::all(1));
        world.make_ready();
        const Mean m = mean_of(1200000, [&](Random& random) {
            const float z = 2 * random.next() - 1, a = 2 * std::numbers::pi_v<float> * random.next(), r = std::sqrt(1 - z * z);
            const Vec3f from = Vec3f::all(0.5f) + 4.0f * Vec3f{r * std::cos(a), z, r * std::sin(a)};
            const Vec3f to{random.next(), random.next(), random.next()};
            return double(radiance(world, nullptr, {.bounces = 1000}, {from, normalized(to - from)}, random)[1]);
        });
        std::printf("g = %.1f: %.5f +- %.5f\n", double(forward), m.mean, m.error);
        EXPECT_NEAR(m.mean, 1, 1e-3);
        EXPECT_LT(m.error, 5e-4);
    }
}

// Beer's law, by delta tracking and by ratio tracking, straight and askew, in a cube that is the same everywhere and in one that is not.
TEST(SmokeLight, light_falls_as_exp_of_minus_the_optical_depth)
{
    const Ray rays[] = {{{-1, 0.31f, 0.47f}, {1, 0, 0}}, {{-0.5f, -0.4f, -0.3f}, normalized(Vec3f{1, 0.9f, 0.8f})}, {{0.5f, 0.5f, 0.5f}, {0, -1, 0}}};
    for (const bool same : {true, false})
        for (const Ray& ray : rays) {
            const SmokeVolume smoke = cube(same ? [](Vec3) { return 1.0; } : uneven, 2, 0, 0);
            double depth = 0;
            constexpr int steps = 40000;
            for (int i = 0; i < steps; ++i) depth += double(smoke.extinction_at(ray.at(4 * (float(i) + 0.5f) / steps))) * 4 / steps;
            const Mean ratio = mean_of(100000, [&](Random& random) { return double(smoke.transmittance(ray, endless, random)); });
            const Mean delta = mean_of(100000, [&](Random& random) {
                float t;
                return smoke.collides(t, ray, endless, random) ? 0.0 : 1.0;
            });
            std::printf("exp(-%.4f) = %.5f, ratio %.5f +- %.5f, delta %.5f +- %.5f\n", depth, std::exp(-depth), ratio.mean, ratio.error,
                        delta.mean, delta.error);
            EXPECT_NEAR(ratio.mean, std::exp(-depth), 4 * ratio.error + 1e-4);
            EXPECT_NEAR(delta.mean, std::exp(-depth), 4 * delta.error + 1e-4);
        }
    // Half way through the cube its depth is known: 1.
    const SmokeVolume half = cube([](Vec3) { return 1.0; }, 2, 0, 0);
    EXPECT_NEAR(mean_of(100000, [&](Random& random) { return double(half.transmittance(rays[0], 1.5f, random)); }).mean,
                std::exp(-1.0), 6e-3);
}

// A floor under a cube of black smoke is lit by exp(-sigma d) of the sun, and the sun's light in thin smoke is its phase function's.
TEST(SmokeLight, throws_a_shadow_and_shines)
{
    World world;
    world.smoke = cube([](Vec3) { return 1.0; }, 1.5f, 0, 0);
    world.lights.suns.push_back({});
    world.lights.suns[0].irradiance = Vec3f::all(1);
    add_floor(world, -0.5f, matt(0.5f));
    world.make_ready();
    const auto floor_light = [&](float x) {
        return mean_of(50000, [&](Random& random) {
            const Vec3f from{x - 1.5f, -0.2f, 0.5f}, to{x, -0.5f, 0.5f};
            return double(radiance(world, nullptr, {.bounces = 1}, {from, normalized(to - from)}, random)[1]);
        });
    };
    const Mean lit = floor_light(3), shaded = floor_light(0.5f);
    EXPECT_NEAR(lit.mean, 0.5 / std::numbers::pi, 1e-3);
    EXPECT_NEAR(shaded.mean / lit.mean, std::exp(-1.5), 5 * shaded.error / lit.mean);

    // Once scattered along a way of a metre, with depths of a hundredth: sigma / (4 pi).
    World thin;
    thin.smoke = cube([](Vec3) { return 1.0; }, 0.01f, 1, 0);
    thin.lights.suns = world.lights.suns;
    thin.make_ready();
    const Mean glow = mean_of(400000, [&](Random& random) {
        return double(radiance(thin, nullptr, {.bounces = 4}, {{-1, 0.5f, 0.5f}, {1, 0, 0}}, random)[1]);
    });
    EXPECT_NEAR(glow.mean, 0.01 / (4 * std::numbers::pi), 4 * glow.error + 2e-5);
}

}  // namespace
}  // namespace tarn
