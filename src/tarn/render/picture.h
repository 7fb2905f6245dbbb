#pragma once
// One picture: passes of a few samples a pixel, each with its own photons, worked on in tiles by all threads. The same
// bits on any number of them.

#include <functional>

#include "tarn/render/camera.h"
#include "tarn/render/film.h"

namespace tarn {

struct PictureParams {
    int width = 640, height = 360;
    int samples = 64;
    int photons = 200000;  // of each pass; 0 is none
    LightPathParams path;
    uint32_t seed = 0;
};

// `between` is told after each pass what share is done; if it answers false, there is no picture.
std::optional<Film> take_picture(const World& world, const Camera& camera, const PictureParams& params,
                                 const std::function<bool(double)>& between = {});

}  // namespace tarn
