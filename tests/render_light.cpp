// What light does at and through clear things. Numbers: Fresnel's and Snell's equations for n = 1.333 (water) and 1.5
// (glass), and what follows from them in closed form.

#include <gtest/gtest.h>

#include <numbers>

#include "render_worlds.h"
#include "tarn/backend/parallel.h"
#include "tarn/render/integrator.h"
#include "tarn/render/picture.h"
#include "tarn/render/sky.h"

namespace tarn {
namespace {

constexpr double pi = std::numbers::pi;
float cosine_of(double degrees) { return static_cast<float>(std::cos(degrees * pi / 180)); }

TEST(Optics, reflectances_follow_fresnel)
{
    const struct {
        double n1, n2, degrees, reflectance;
    } rows[] = {{1, 1.333, 0, 0.020373},  {1, 1.333, 30, 0.021436}, {1, 1.333, 53.12, 0.039129},
                {1, 1.333, 60, 0.059691}, {1, 1.333, 80, 0.347917}, {1, 1.333, 89, 0.896276},
                {1.333, 1, 30, 0.025519}, {1.333, 1, 45, 0.139458}, {1.333, 1, 48, 0.433077},
                {1.333, 1, 50, 1},        {1, 1.5, 0, 0.04},        {1.333, 1.5, 0, 0.003475}};
    for (const auto& row : rows)
        EXPECT_NEAR(fresnel(cosine_of(row.degrees), float(row.n1 / row.n2)), row.reflectance, 2e-6)
            << row.n1 << " to " << row.n2 << " at " << row.degrees;
}

TEST(Optics, beyond_the_critical_angle_nothing_leaves)
{
    const struct {
        float n1, n2;
        double degrees;
    } rows[] = {{water_ior, 1, 48.606626}, {glass_ior, 1, 41.810315}, {glass_ior, water_ior, 62.706176}};
    for (const auto& row : rows) {
        EXPECT_LT(fresnel(cosine_of(row.degrees - 0.01), row.n1 / row.n2), 1.0f);
        EXPECT_EQ(fresnel(cosine_of(row.degrees + 0.01), row.n1 / row.n2), 1.0f);
    }
}

// The mean over all directions of diffuse light.
TEST(Optics, diffuse_reflectance_of_water)
{
    const auto mean = [](float eta) {
        double sum = 0;
        constexpr int n = 20000;
        for (int i = 0; i < n; ++i) sum += fresnel(std::sqrt((float(i) + 0.5f) / n), eta);
        return sum / n;
    };
    EXPECT_NEAR(mean(1 / 1.333f), 0.066406, 2e-5);
    EXPECT_NEAR(mean(1.333f), 0.474591, 1e-4);
}

// d' / d = 1 / n for a view straight down.
TEST(Optics, a_pool_looks_three_quarters_as_deep)
{
    World world;
    add_body(world, level_set([](Vec3 x) { return x[1] - 0.5; }, 32, {0, 0, 0}, 1), clear(water_ior));
    add_floor(world, 0.1f, matt(0.5f));
    world.make_ready();
    const float tilt = 0.02f;
    Ray ray{{0.5f, 0.9f, 0.5f}, normalized({tilt, -1, 0})};
    Hit hit;
    ASSERT_TRUE(world.hit(hit, ray, {}));
    const float enters = hit.position[0];
    Vec3f bent;
    ASSERT_TRUE(refract(bent, ray.d, hit.normal, 1 / water_ior));
    const Inside inside = world.beyond({}, hit);
    ASSERT_TRUE(world.hit(hit, {world.leave(hit, bent), bent}, inside));
    // Straight on, the eye sees the same place of the floor higher up.
    const float across = hit.position[0] - enters, looks = across / tilt;
    EXPECT_NEAR(looks / 0.4f, 0.750188, 0.001);
}

// ---- Furnaces: in light that is the same from everywhere nothing clear can be seen. ----

// Means of paths along random rays through the middle of a world, and how many were not 1.
struct Furnace {
    double mean = 0, error = 0;  // standard error of the mean
    double wrong = 0;            // share of single paths off by more than rounding
};
Furnace furnace(const World& world, int paths, float reach, Vec3f middle, const Photons* photons = nullptr)
{
    LightPathParams params;
    params.bounces = 1000;
    double sum = 0, squares = 0;
    int wrong = 0;
    for (int i = 0; i < paths; ++i) {
        Random random(static_cast<uint32_t>(i), 11, 12);
        const float z = 2 * random.next() - 1, a = 2 * float(pi) * random.next(), r = std::sqrt(1 - z * z);
        // From above, outside of everything.
        const Vec3f from = middle + Vec3f{4 * r * std::cos(a), 1.5f + 4 * std::abs(z), 4 * r * std::sin(a)};
        const Vec3f to = middle + reach * Vec3f{2 * random.next() - 1, 2 * random.next() - 1, 2 * random.next() - 1};
        const float light = radiance(world, photons, params, {from, normalized(to - from)}, random)[1];
        sum += light;
        squares += double(light) * light;
        wrong += std::abs(light - 1) > 1e-3f;
    }
    Furnace f;
    f.mean = sum / paths;
    f.error = std::sqrt(std::max(0.0, squares / paths - f.mean * f.mean) / paths);
    f.wrong = double(wrong) / paths;
    return f;
}

TEST(Furnace, a_white_furnace_stays_white)
{
    const auto ball = [](double r) { return [r](Vec3 x) { return length(x - Vec3{0.5, 0.5, 0.5}) - r; }; };
    const auto tumbler = [](Vec3 x) {
        const double outer = cylinder_distance(x, {0.5, 0.5, 0.5}, {0, 1, 0}, 0.30, 0.8);
        const double inner = cylinder_distance(x, {0.5, 0.65, 0.5}, {0, 1, 0}, 0.25, 0.9);
        return std::max(outer, -inner);
    };
    // Water that reaches into the glass, as simulated water does.
    const auto water = [](Vec3 x) { return cylinder_distance(x, {0.5, 0.4, 0.5}, {0, 1, 0}, 0.275, 0.5); };

    const auto expect_white = [](World& world, const char* what) {
        world.lights.dome = Dome::uniform(Vec3f::all(1));
        world.make_ready();
        const Furnace f = furnace(world, 20000, 0.3f, {0.5f, 0.5f, 0.5f});
        // A path through clear things brings back exactly what it finds. Single ones that circle in a corner until
        // they are given up, or that rounding puts on the wrong side, are fewer than one in a thousand.
        EXPECT_LT(f.wrong, 1e-3) << what;
        EXPECT_NEAR(f.mean, 1, 1e-3) << what;
    };
    {
        World world;
        add_body(world, level_set(ball(0.3), 48, {0, 0, 0}, 1), clear(water_ior));
        expect_white(world, "a ball of water");
    }
    {
        World world;
        add_body(world, level_set(ball(0.3), 48, {0, 0, 0}, 1), clear(water_ior, 1));
        add_body(world, level_set(ball(0.2), 48, {0, 0, 0}, 1), clear(glass_ior, 2));
        add_body(world, level_set(ball(0.1), 48, {0, 0, 0}, 1), clear(1.0f, 3));
        expect_white(world, "air in glass in water");
    }
    {
        World world;
        add_body(world, level_set(tumbler, 96, {0, 0, 0}, 1), clear(glass_ior, 2));
        add_body(world, level_set(water, 64, {0, 0, 0}, 1), clear(water_ior, 1));
        expect_white(world, "a glass of water");
    }
    {
        World world;
        add_body(world, level_set(ball(0.4), 48, {0, 0, 0}, 1), clear(water_ior, 1));
        world.materials.push_back(clear(1.0f, 3));
        std::vector<Sphere> bubbles;
        for (int i = 0; i < 27; ++i)
            bubbles.push_back(
                {{0.35f + 0.15f * float(i % 3), 0.35f + 0.15f * float(i / 3 % 3), 0.35f + 0.15f * float(i / 9)},
                 0.05f,
                 {}});
        world.meshes.add_spheres(bubbles, 1);
        expect_white(world, "bubbles in water");
    }
    {
        World world;
        world.materials.push_back(clear(water_ior));
        std::vector<Sphere> drops;
        Random random(7, 8, 9);
        for (int i = 0; i < 200; ++i)
            drops.push_back({{random.next(), random.next(), random.next()}, 0.01f + 0.03f * random.next(), {}});
        // Drops that overlap are one in nature; here they stay apart.
        std::vector<Sphere> apart;
        for (const Sphere& d : drops) {
            bool alone = true;
            for (const Sphere& o : apart) alone = alone && length(o.centre - d.centre) > o.radius + d.radius + 0.01f;
            if (alone) apart.push_back(d);
        }
        world.meshes.add_spheres(apart, 0);
        expect_white(world, "drops");
    }
}

// White surfaces reflect all light: a matt ball on a matt floor, dry and under water. Here the mean is 1 by chance
// alone, so it is held to its own standard error.
TEST(Furnace, white_walls_vanish_too)
{
    const auto ball = [](Vec3 x) { return length(x - Vec3{0.5, 0.3, 0.5}) - 0.15; };
    for (const bool wet : {false, true}) {
        World world;
        add_body(world, level_set(ball, 48, {0, 0, 0}, 1), matt(1));
        if (wet) add_body(world, box_of_water({-1, -0.1f, -1}, {2, 0.6f, 2}), clear(water_ior));
        add_floor(world, 0.1f, matt(1));
        world.lights.dome = Dome::uniform(Vec3f::all(1));
        world.make_ready();
        const Furnace f = furnace(world, 30000, 0.15f, {0.5f, 0.3f, 0.5f});
        EXPECT_LT(f.error, 0.01);
        EXPECT_NEAR(f.mean, 1, 4 * f.error) << (wet ? "under water" : "dry");
    }
}

// R + (1-R)² e^-t / (1 - R e^-t) with t = sigma 2r = 1, along a ray through the middle.
TEST(Furnace, an_absorbing_ball_is_dark_in_its_middle)
{
    World world;
    const Medium dye{Vec3f::all(1 / 0.6f), {}, 0};
    add_body(world,
             level_set(
                 [](Vec3 x) {
                     return length(x - Vec3{0.5, 0.5, 0.5}) - 0.3;
                 },
                 48, {0, 0, 0}, 1),
             clear(water_ior, 1, dye));
    world.lights.dome = Dome::uniform(Vec3f::all(1));
    world.make_ready();
    double sum = 0;
    constexpr int paths = 40000;
    for (int i = 0; i < paths; ++i) {
        Random random(static_cast<uint32_t>(i), 1, 2);
        sum += radiance(world, nullptr, {1000, 0}, {{0.5f, 0.5f, 3}, {0, 0, -1}}, random)[1];
    }
    // A path brings 1 with chance R and e^-1 otherwise: a standard error of 0.0005.
    EXPECT_NEAR(sum / paths, 0.376082, 0.0015);
}

// A medium that scatters and takes nothing away is white in a furnace, whatever its phase function.
TEST(Furnace, milk_without_absorption_is_white)
{
    for (const float forward : {0.0f, 0.8f}) {
        World world;
        const Medium milk{{}, {4, 8, 16}, forward};
        add_body(world,
                 level_set(
                     [](Vec3 x) {
                         return length(x - Vec3{0.5, 0.5, 0.5}) - 0.3;
                     },
                     48, {0, 0, 0}, 1),
                 clear(water_ior, 1, milk));
        world.lights.dome = Dome::uniform(Vec3f::all(1));
        world.make_ready();
        const Furnace f = furnace(world, 20000, 0.2f, {0.5f, 0.5f, 0.5f});
        EXPECT_LT(f.error, 0.01);
        EXPECT_NEAR(f.mean, 1, 4 * f.error) << forward;
    }
}

// ---- Photons ----

Sun sun_at(double degrees_from_zenith)
{
    Sun sun;
    sun.direction = {std::sin(float(degrees_from_zenith * pi / 180)), cosine_of(degrees_from_zenith), 0};
    sun.irradiance = Vec3f::all(1);
    return sun;
}

TEST(Photons, energy_out_is_energy_in)
{
    World world;
    const auto ball = [](Vec3 x) { return length(x - Vec3{0.5, 0.5, 0.5}) - 0.3; };
    add_body(world, level_set(ball, 48, {0, 0, 0}, 1), clear(water_ior, 1, {{1, 0.5f, 0.1f}, {}, 0}));
    add_floor(world, 0.1f, matt(0.5f));
    world.lights.suns.push_back(sun_at(20));
    world.lights.areas.push_back(make_area_light({1, 2, 1}, {0.5f, 0.5f, 0.5f}, 0.5f, 0.5f, Vec3f::all(10)));
    world.make_ready();
    const Photons photons = shoot_photons(world, 50000, 0, 0.02f);
    const PhotonLedger& l = photons.ledger;
    EXPECT_GT(l.stored, 0.05 * l.emitted);
    EXPECT_NEAR(l.missed + l.stored + l.stored_in_media + l.absorbed + l.escaped + l.lost, l.emitted, 1e-6 * l.emitted);
    EXPECT_LT(l.lost, 1e-4 * l.emitted);
    double on_map = 0;
    for (const Photon& p : photons.surface.photons()) on_map += double(p.flux[0]) + p.flux[1] + p.flux[2];
    EXPECT_NEAR(on_map, l.stored, 1e-6 * l.emitted);
}

// T(30°) exp(-a d / cos of the bent ray), for 2 m of water with a = 0.0565 per metre.
TEST(Photons, flat_water_dims_its_floor)
{
    World world;
    add_body(world, box_of_water({-6, 0, -6}, {6, 2.5f, 6}), clear(water_ior, 1, {Vec3f::all(0.0565f), {}, 0}));
    add_floor(world, 0.5f, matt(0.5f));
    world.lights.suns.push_back(sun_at(30));
    world.make_ready();
    const Photons photons = shoot_photons(world, 400000, 0, 0.1f);
    double flux = 0;
    for (const Photon& p : photons.surface.photons())
        if (std::abs(p.position[0]) < 3 && std::abs(p.position[2]) < 3) flux += p.flux[1];
    const double relative = flux / 36 / std::cos(30 * pi / 180);
    // A tenth of the photons land here: a standard error of 0.4 %.
    EXPECT_NEAR(relative, 0.866260, 0.008);

    // The estimate from the map, in the middle.
    double sum = 0;
    int points = 0;
    for (float x = -2; x <= 2; x += 0.25f)
        for (float z = -2; z <= 2; z += 0.25f, ++points)
            photons.surface.on_surface({x, 0.5f, z}, {0, 1, 0},
                                       [&](const Photon& p, float w) { sum += double(w) * p.flux[1]; });
    EXPECT_NEAR(sum / points / std::cos(30 * pi / 180), 0.866260, 0.015);
}

// n / (n - 1) radii of curvature below a crest: y = a cos(k x) has R = 1 / (a k²) there.
TEST(Photons, a_sine_wave_focuses_four_radii_down)
{
    const double a = 0.02, k = 2 * pi, radius = 1 / (a * k * k);
    const auto surface = [&](Vec3 x) {
        const double slope = -a * k * std::sin(k * x[0]);
        return (x[1] - 0.5 - a * std::cos(k * x[0])) / std::sqrt(1 + slope * slope);
    };
    const LevelSet water = level_set(surface, 128, {-0.5f, 0, -0.5f}, 1);
    // Inside each ray beside the crest crosses the line straight below it. Close to the crest, where the wave is a
    // parabola, all do so at the focus.
    for (const float x : {0.01f, 0.02f, 0.03f}) {
        LevelSet::Crossing c;
        const Ray down{{x, 0.9f, 0.013f}, {0, -1, 0}};
        ASSERT_TRUE(water.cross(c, down, endless, false));
        Vec3f bent;
        ASSERT_TRUE(refract(bent, down.d, c.normal, 1 / water_ior));
        const double depth = x / -bent[0] * -bent[1];
        EXPECT_NEAR(depth / radius, 4.003003, 0.08) << x;
    }
}

// The same light by two ways: through a surface of water onto its floor, from a light large enough to be hit by chance.
TEST(Photons, bring_what_chance_hits_bring)
{
    World world;
    const auto waves = [](Vec3 x) { return x[1] - 0.4 - 0.02 * std::sin(12 * x[0]) * std::sin(9 * x[2]); };
    add_body(world, level_set(waves, 64, {0, 0, 0}, 1), clear(water_ior, 1, pure_water()));
    add_floor(world, 0.1f, matt(0.7f));
    world.lights.areas.push_back(make_area_light({0.5f, 1.5f, 0.5f}, {0.5f, 0.4f, 0.5f}, 1, 1, Vec3f::all(5)));
    world.make_ready();
    PictureParams params;
    params.width = params.height = 24;
    params.samples = 64;
    const Camera camera{{0.5f, 0.9f, 0.501f}, {0, -1, 0}, {1, 0, 0}, {0, 0, -1}, 0.3f, 0.3f};
    const auto mean = [&](int photons, int samples) {
        params.photons = photons;
        params.samples = samples;
        const auto film = take_picture(world, camera, params);
        double sum = 0;
        for (size_t i = 0; i < film->pixels(); ++i) sum += film->mean(i)[1];
        return sum / double(film->pixels());
    };
    const double by_photons = mean(100000, 16), by_chance = mean(0, 256);
    EXPECT_NEAR(by_photons, by_chance, 0.02 * by_chance);
}

TEST(Photons, blur_falls_from_pass_to_pass)
{
    // r² of pass n is that of the first times the product of (i + 2/3) / (i + 1): it falls as n^(-1/3).
    EXPECT_FLOAT_EQ(radius_of_pass(1, 0), 1);
    EXPECT_NEAR(std::pow(radius_of_pass(1, 800) / radius_of_pass(1, 100), 2), 0.5, 0.002);
}

// ---- Pictures ----

World pool()
{
    World world;
    const auto waves = [](Vec3 x) { return x[1] - 0.5 - 0.03 * std::sin(12 * x[0]) * std::sin(9 * x[2]); };
    add_body(world, level_set(waves, 48, {0, 0, 0}, 1), clear(water_ior, 1, pure_water()));
    add_floor(world, 0.02f, matt(0.6f));
    const SkyParams sky;
    world.lights.dome = sky_dome(sky);
    world.lights.suns.push_back(sky_sun(sky));
    world.make_ready();
    return world;
}
const Camera above{
    {0.5f, 1.4f, 1.6f}, normalized({0, -0.6f, -0.8f}), {1, 0, 0}, normalized({0, 0.8f, -0.6f}), 0.5f, 0.5f};

TEST(Pictures, are_the_same_on_any_number_of_threads)
{
    const World world = pool();
    PictureParams params;
    params.width = 48, params.height = 32, params.samples = 8, params.photons = 20000;
    set_threads(1);
    const auto one = take_picture(world, above, params);
    set_threads(3);
    const auto three = take_picture(world, above, params);
    set_threads(0);
    ASSERT_TRUE(one && three);
    EXPECT_TRUE(one->light == three->light);
    EXPECT_TRUE(one->depth == three->depth);
}

TEST(Pictures, four_times_the_samples_halve_the_noise)
{
    const World world = pool();
    PictureParams params;
    params.width = 48, params.height = 32, params.photons = 20000;
    const auto noise = [&](int samples) {
        params.samples = samples;
        const auto film = take_picture(world, above, params);
        // The difference of two halves; brightest glints left out, of which there are too few to tell.
        std::vector<double> squares;
        for (size_t i = 0; i < film->pixels(); ++i) {
            const double odd = film->odd[i][1], even = film->light[i][1] - odd;
            squares.push_back(std::pow((odd - even) / samples, 2));
        }
        std::sort(squares.begin(), squares.end());
        squares.resize(squares.size() * 95 / 100);
        double sum = 0;
        for (const double s : squares) sum += s;
        return std::sqrt(sum / double(squares.size()));
    };
    EXPECT_NEAR(noise(128) / noise(32), 0.5, 0.08);
}

TEST(Sky, is_blue_above_and_pale_at_the_horizon)
{
    const SkyParams sky;
    const Dome dome = sky_dome(sky);
    const Vec3f up = dome.radiance({0, 1, 0}), low = dome.radiance(normalized({1, 0.03f, 0}));
    EXPECT_GT(up[2], 1.8f * up[0]);
    EXPECT_GT(luminance(low), 1.5f * luminance(up));
    EXPECT_LT(low[2] / low[0], up[2] / up[0]);
    // The sun gives several times the light of all the sky, as on a clear day.
    double of_sky = 0;
    constexpr int n = 20000;
    for (int i = 0; i < n; ++i) {
        Random random(static_cast<uint32_t>(i), 5, 6);
        of_sky += pi * luminance(dome.radiance(sample_cosine({0, 1, 0}, random.next(), random.next()))) / n;
    }
    const Sun sun = sky_sun(sky);
    const double of_sun = luminance(sun.irradiance) * sun.direction[1];
    EXPECT_GT(of_sun, 3 * of_sky);
    EXPECT_LT(of_sun, 15 * of_sky);
}

// What is drawn by brightness has the density that it says.
TEST(Sky, samples_have_their_density)
{
    const Dome dome = sky_dome({});
    double sum = 0;
    constexpr int n = 50000;
    for (int i = 0; i < n; ++i) {
        Random random(static_cast<uint32_t>(i), 7, 6);
        const Dome::Look drawn = dome.sample(random.next(), random.next()), seen = dome.look(drawn.direction);
        sum += 1.0 / drawn.density / n;
        EXPECT_NEAR(drawn.density, seen.density, 0.02 * seen.density);
        EXPECT_NEAR(drawn.radiance[1], seen.radiance[1], 1e-3 * seen.radiance[1]);
    }
    EXPECT_NEAR(sum, 4 * pi, 0.25);
}

// Rough metal and plastic reflect no more than they get, and their samples have the density that they say.
TEST(Materials, samples_have_their_density)
{
    for (const MaterialKind kind : {MaterialKind::diffuse, MaterialKind::metal, MaterialKind::plastic})
        for (const float roughness : {0.4f, 0.7f}) {
            Material m;
            m.kind = kind;
            m.roughness = roughness;
            const Vec3f white = Vec3f::all(1), n{0, 0, 1}, out = normalized({0.5f, 0.2f, 0.7f});
            double weights = 0, straight = 0;
            constexpr int paths = 100000;
            for (int i = 0; i < paths; ++i) {
                Random random(static_cast<uint32_t>(i), 3, 4);
                Scattered s;
                if (sample(s, m, white, n, out, random)) weights += s.weight[1] / paths;
                const Vec3f d = sample_cosine(n, random.next(), random.next());
                straight += pi * value(m, white, n, out, d)[1] / paths;
            }
            EXPECT_LT(weights, 1.005);
            EXPECT_NEAR(weights, straight, 0.03) << int(kind) << " " << roughness;
        }
}

}  // namespace
}  // namespace tarn
