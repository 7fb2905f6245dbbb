#include "tarn/render/sky.h"

#include <cmath>
#include <numbers>

#include "tarn/backend/parallel.h"
#include "tarn/render/medium.h"
#include "tarn/render/ray.h"

namespace tarn {

namespace {

// Lengths in metres; the eye stands on the ground.
constexpr double earth = 6.36e6, top = 6.42e6;
constexpr double air_height = 7994, haze_height = 1200;
// Scattering at the ground for 680, 550 and 440 nm (Bruneton and Neyret 2008), and ozone's absorption overhead.
const Vec3 air{5.8e-6, 13.5e-6, 33.1e-6};
constexpr double haze = 4e-6, haze_forward = 0.76;
const Vec3 ozone{0.65e-6, 1.88e-6, 0.085e-6};
// Brought to where white paper in the sun is about one.
constexpr double sunlight = 4.4;
// The mean radiance around a place in the air, per unit of sunlight: of the ground, which throws back a third, and of
// the sky itself. Scattered again, it is what keeps the horizon from turning brown.
const Vec3 around{0.050, 0.056, 0.066};

double way_out(Vec3 x, Vec3 d)
{
    const double b = dot(x, d), c = dot(x, x) - top * top;
    return -b + std::sqrt(std::max(0.0, b * b - c));
}

// How much air, haze and ozone a ray meets, as lengths at the density of the ground.
struct Depths {
    double air = 0, haze = 0, ozone = 0;
};
Depths depths(Vec3 x, Vec3 d, int steps)
{
    const double length_of_step = way_out(x, d) / steps;
    Depths sum;
    for (int i = 0; i < steps; ++i) {
        const double height = std::max(0.0, length(x + ((i + 0.5) * length_of_step) * d) - earth);
        sum.air += std::exp(-height / air_height) * length_of_step;
        sum.haze += std::exp(-height / haze_height) * length_of_step;
        sum.ozone += std::max(0.0, 1 - std::abs(height - 25e3) / 15e3) * length_of_step;
    }
    return sum;
}

Vec3 transmittance(const Depths& d, double haziness)
{
    Vec3 t;
    for (int c = 0; c < 3; ++c)
        t[c] = std::exp(-(air[c] * d.air + 1.1 * haze * haziness * d.haze + ozone[c] * d.ozone));
    return t;
}

Vec3 sky_radiance(Vec3 d, Vec3 sun, double haziness)
{
    constexpr int steps = 16;
    const Vec3 eye{0, earth + 10, 0};
    const double whole = way_out(eye, d), cosine = dot(d, sun);
    const double air_phase = 3 / (16 * std::numbers::pi) * (1 + cosine * cosine);
    const double haze_phase = phase(static_cast<float>(cosine), static_cast<float>(haze_forward));
    Vec3 light;
    Depths before;
    double from = 0;
    for (int i = 0; i < steps; ++i) {
        // Short steps first: the air is thick near the eye.
        const double to = whole * (i + 1) * (i + 1) / (steps * steps), step = to - from;
        const Vec3 x = eye + (0.5 * (from + to)) * d;
        from = to;
        const double height = std::max(0.0, length(x) - earth);
        const double here_air = std::exp(-height / air_height) * step;
        const double here_haze = std::exp(-height / haze_height) * step;
        const double here_ozone = std::max(0.0, 1 - std::abs(height - 25e3) / 15e3) * step;
        const Depths up = depths(x, sun, 8);
        const Vec3 t = transmittance({before.air + 0.5 * here_air + up.air, before.haze + 0.5 * here_haze + up.haze,
                                      before.ozone + 0.5 * here_ozone + up.ozone},
                                     haziness);
        const Vec3 seen = transmittance(
            {before.air + 0.5 * here_air, before.haze + 0.5 * here_haze, before.ozone + 0.5 * here_ozone}, haziness);
        before = {before.air + here_air, before.haze + here_haze, before.ozone + here_ozone};
        for (int c = 0; c < 3; ++c) {
            const double scattered = air[c] * here_air, hazy = haze * haziness * here_haze;
            light[c] += (scattered * air_phase + hazy * haze_phase) * t[c] + (scattered + hazy) * seen[c] * around[c];
        }
    }
    return sunlight * light;
}

}  // namespace

Dome sky_dome(const SkyParams& params)
{
    constexpr int width = 256, height = 128;  // small enough to stay close to the processor
    const Vec3 sun = normalized(params.sun).as<double>();
    std::vector<Vec3f> pixels(static_cast<size_t>(width) * height);
    parallel_rows("sky", height, [&](int j) {
        // At the very horizon rows would differ much from one to the next. Those below it repeat it, darkened.
        const int row = std::min(j, height / 2 - 2);
        const double polar = std::numbers::pi * (row + 0.5) / height;
        for (int i = 0; i < width; ++i) {
            const double longitude = 2 * std::numbers::pi * ((i + 0.5) / width - 0.5);
            const Vec3 d{std::sin(polar) * std::sin(longitude), std::cos(polar),
                         -std::sin(polar) * std::cos(longitude)};
            const Vec3 light = sky_radiance(d, sun, params.haze);
            pixels[static_cast<size_t>(j) * width + static_cast<size_t>(i)] =
                (params.strength * (j < height / 2 + 1 ? 1.0f : 0.35f)) * light.as<float>();
        }
    });
    return Dome(width, height, std::move(pixels));
}

Sun sky_sun(const SkyParams& params)
{
    Sun sun;
    sun.direction = normalized(params.sun);
    const Vec3 t = transmittance(depths({0, earth + 10, 0}, sun.direction.as<double>(), 64), params.haze);
    sun.irradiance = static_cast<float>(sunlight * params.strength) * t.as<float>();
    return sun;
}

}  // namespace tarn
