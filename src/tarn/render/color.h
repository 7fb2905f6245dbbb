#pragma once
// Colours: linear light as three floats, and how they become bytes on a screen.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tarn/base/vec.h"

namespace tarn {

// Componentwise product: light through a filter or off a surface.
TARN_HD inline Vec3f operator*(Vec3f a, Vec3f b) { return {a[0] * b[0], a[1] * b[1], a[2] * b[2]}; }
TARN_HD inline Vec3f mix(Vec3f a, Vec3f b, float t) { return a + t * (b - a); }
TARN_HD inline float mix(float a, float b, float t) { return a + t * (b - a); }
TARN_HD inline Vec3f exp(Vec3f a) { return {std::exp(a[0]), std::exp(a[1]), std::exp(a[2])}; }
TARN_HD inline float smoothstep(float from, float to, float x)
{
    const float t = std::clamp((x - from) / (to - from), 0.0f, 1.0f);
    return t * t * (3 - 2 * t);
}

// The transfer curve of sRGB (IEC 61966-2-1), and its inverse for colours chosen by eye.
TARN_HD inline float to_srgb(float x) { return x <= 0.0031308f ? 12.92f * x : 1.055f * std::pow(x, 1 / 2.4f) - 0.055f; }
TARN_HD inline float from_srgb(float x) { return x <= 0.04045f ? x / 12.92f : std::pow((x + 0.055f) / 1.055f, 2.4f); }
TARN_HD inline Vec3f srgb(float r, float g, float b) { return {from_srgb(r), from_srgb(g), from_srgb(b)}; }

// A film's shoulder: straight for dim light, approaching white without ever clipping. x -> 1 - exp(-x).
TARN_HD inline Vec3f expose(Vec3f light) { return Vec3f::all(1) - exp(-light); }

// Film's curve: a toe that keeps shadows deep, a long shoulder that lets highlights bloom to white (Narkowicz's fit of
// the ACES reference curve, 2015).
TARN_HD inline float filmic(float x) { return x * (2.51f * x + 0.03f) / (x * (2.43f * x + 0.59f) + 0.14f); }

// A little more contrast than a sensor has, as prints do; of a value as the screen shows it, 0...1.
TARN_HD inline float print(float x) { return mix(x, smoothstep(0, 1, x), 0.45f); }

TARN_HD inline uint8_t to_byte(float srgb_value)
{
    return static_cast<uint8_t>(std::clamp(srgb_value, 0.0f, 1.0f) * 255 + 0.5f);
}

}  // namespace tarn
