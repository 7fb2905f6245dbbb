#include "tarn/render/picture.h"

#include <cmath>
#include <numbers>

#include "tarn/backend/parallel.h"

namespace tarn {

namespace {

constexpr int tile = 16, samples_of_pass = 4;

// A tent over the pixel and half of its neighbours: edges are neither stepped nor soft.
float tent(float u) { return u < 0.5f ? std::sqrt(2 * u) - 1 : 1 - std::sqrt(2 - 2 * u); }

Ray ray_through(const Camera& camera, float x, float y, float u, float v)
{
    Ray ray{camera.position, camera.direction(x, y)};
    if (camera.lens > 0) {
        const Vec3f sharp = ray.at(camera.focus / dot(ray.d, camera.forward));
        const float r = camera.lens * std::sqrt(u), angle = 2 * std::numbers::pi_v<float> * v;
        ray.o += (r * std::cos(angle)) * camera.right + (r * std::sin(angle)) * camera.up;
        ray.d = normalized(sharp - ray.o);
    }
    return ray;
}

// Samples n of a pixel spread evenly by an additive recurrence (Roberts 2018), shifted pixel by pixel.
struct Spread {
    double shift[5];
    Spread(uint32_t pixel, uint32_t seed)
    {
        Random random(pixel, seed, 0x73707265u);
        for (double& s : shift) s = random.next();
    }
    float at(int dimension, int n) const
    {
        // Powers of 1/g, where g is the root of g^6 = g + 1.
        constexpr double step[] = {0.8812714616335696, 0.7766393890897682, 0.6844301295853426, 0.6031687406857282,
                                   0.5315553977157836};
        const double a = shift[dimension] + step[dimension] * n;
        return static_cast<float>(a - std::floor(a));
    }
};

}  // namespace

std::optional<Film> take_picture(const World& world, const Camera& camera, const PictureParams& params,
                                 const std::function<bool(double)>& between)
{
    Film film(params.width, params.height);
    // Photons know no smoke: with it, chance hits bring light through glass.
    const bool caustics =
        params.photons > 0 && !world.smoke && world.any_clear() && !(world.lights.suns.empty() && world.lights.areas.empty());
    const float radius = caustics ? first_radius(world, params.photons) : 0;
    const int across = (params.width + tile - 1) / tile, down = (params.height + tile - 1) / tile;
    for (int first = 0, pass = 0; first < params.samples; first += samples_of_pass, ++pass) {
        std::optional<Photons> photons;
        if (caustics)
            photons = shoot_photons(world, params.photons, pass + static_cast<int>(params.seed) * 4096,
                                    radius_of_pass(radius, pass));
        const int last = std::min(first + samples_of_pass, params.samples);
        parallel_rows("picture", across * down, [&](int t) {
            const int x0 = t % across * tile, y0 = t / across * tile;
            for (int y = y0; y < std::min(y0 + tile, params.height); ++y)
                for (int x = x0; x < std::min(x0 + tile, params.width); ++x) {
                    const uint32_t pixel =
                        static_cast<uint32_t>(y) * static_cast<uint32_t>(params.width) + static_cast<uint32_t>(x);
                    const Spread spread(pixel, params.seed);
                    for (int n = first; n < last; ++n) {
                        Random random(pixel, static_cast<uint32_t>(n), params.seed);
                        const float px = static_cast<float>(x) + 0.5f + tent(spread.at(0, n));
                        const float py = static_cast<float>(y) + 0.5f + tent(spread.at(1, n));
                        Ray ray = ray_through(camera, 2 * px / static_cast<float>(params.width) - 1,
                                              1 - 2 * py / static_cast<float>(params.height), spread.at(2, n),
                                              spread.at(3, n));
                        ray.time = spread.at(4, n);
                        Features features;
                        const Vec3f light =
                            radiance(world, photons ? &*photons : nullptr, params.path, ray, random, &features);
                        film.add(pixel, n, light, features);
                    }
                }
        });
        film.samples = last;
        if (between && !between(static_cast<double>(last) / params.samples)) return {};
    }
    return film;
}

}  // namespace tarn
