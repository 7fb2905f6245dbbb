#pragma once
// A clear day: sunlight scattered once by air and haze, integrated through a round atmosphere (after Nishita et al.
// 1993), with the sun that belongs to it.

#include "tarn/render/light.h"

namespace tarn {

struct SkyParams {
    Vec3f sun{-0.5f, 0.7f, 0.5f};  // towards it, of any length
    float haze = 1;                // how much dust and mist is in the air; 0 is none
    float strength = 1;            // scales sun and sky alike
};

// The dome above the horizon; below it lies ground of the horizon's colour.
Dome sky_dome(const SkyParams& params);
Sun sky_sun(const SkyParams& params);

}  // namespace tarn
