#pragma once
// What fills a body: it takes light away (Beer and Lambert) and may scatter it.

#include <algorithm>

#include "tarn/params/params.h"
#include "tarn/render/color.h"

namespace tarn {

struct Medium {
    Vec3f absorption;   // 1/m
    Vec3f scattering;   // 1/m
    float forward = 0;  // mean cosine of the scattering angle (Henyey and Greenstein's g)

    bool scatters() const { return scattering[0] + scattering[1] + scattering[2] > 0; }
    bool clear() const { return !scatters() && absorption[0] + absorption[1] + absorption[2] == 0; }
    Vec3f extinction() const { return absorption + scattering; }
    Vec3f transmittance(float distance) const { return exp((-distance) * extinction()); }
};

// Pure water at 650, 550 and 450 nm (Pope and Fry 1997).
inline Medium pure_water() { return {{0.340f, 0.0565f, 0.00922f}, {}, 0}; }

// Red, green and blue of what the words mean. A pool: pure water, but as if the domain were six metres long. Silt: by
// eye. Milk: Jensen et al. 2001, whole milk, with its scattering as if it were even in all directions.
inline Medium medium_of(const RenderParams& params, double longest)
{
    Medium m = pure_water();
    if (params.water == WaterLook::pool) m.absorption *= static_cast<float>(std::max(1.0, 6 / longest));
    if (params.water == WaterLook::murky) m = {{0.9f, 0.45f, 0.60f}, {2.2f, 2.4f, 2.0f}, 0.7f};
    if (params.water == WaterLook::milk) m = {{1.1f, 2.4f, 14.0f}, {2550, 3210, 3770}, 0};
    if (params.absorption) m.absorption = params.absorption->as<float>();
    if (params.scattering) m.scattering = params.scattering->as<float>();
    return m;
}

// Of smoke with density one, 1/m: where it is not given a tenth of the longest side takes nine tenths off light.
inline double smoke_extinction(const Params& params)
{
    const double longest = *std::max_element(params.domain.size.begin(), params.domain.size.end());
    return params.render.smoke_extinction.value_or(23 / longest);
}

// Per steradian, for light that turns by an angle of that cosine.
inline float phase(float cosine, float g)
{
    constexpr float inverse_4_pi = 0.0795774715f;
    const float d = 1 + g * g - 2 * g * cosine;
    return inverse_4_pi * (1 - g * g) / (d * std::sqrt(std::max(d, 1e-12f)));
}
// The cosine of an angle drawn with that density.
inline float sample_phase(float u, float g)
{
    if (std::abs(g) < 1e-3f) return 1 - 2 * u;
    const float s = (1 - g * g) / (1 - g + 2 * g * u);
    return std::clamp((1 + g * g - s * s) / (2 * g), -1.0f, 1.0f);
}

}  // namespace tarn
