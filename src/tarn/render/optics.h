#pragma once
// What happens to light at an interface between two clear media: Snell's law and Fresnel's equations.

#include <algorithm>

#include "tarn/render/ray.h"

namespace tarn {

inline constexpr float water_ior = 1.333f, glass_ior = 1.5f;

inline Vec3f reflect(Vec3f d, Vec3f n) { return d - (2 * dot(d, n)) * n; }

// Unpolarised reflectance for light that comes through n1 at an angle of cosine cos_i > 0 and meets n2; eta = n1 / n2.
// 1 beyond the critical angle.
inline float fresnel(float cos_i, float eta)
{
    const float sin2_t = eta * eta * (1 - cos_i * cos_i);
    if (sin2_t >= 1) return 1;
    const float cos_t = std::sqrt(1 - sin2_t);
    const float s = (eta * cos_i - cos_t) / (eta * cos_i + cos_t), p = (cos_i - eta * cos_t) / (cos_i + eta * cos_t);
    return 0.5f * (s * s + p * p);
}

// d goes against n. False where all is reflected.
inline bool refract(Vec3f& bent, Vec3f d, Vec3f n, float eta)
{
    const float cos_i = -dot(d, n), sin2_t = eta * eta * (1 - cos_i * cos_i);
    if (sin2_t >= 1) return false;
    bent = normalized(eta * d + (eta * cos_i - std::sqrt(1 - sin2_t)) * n);
    return true;
}

}  // namespace tarn
