#pragma once
// A simple denoiser: each pixel becomes a mean of its neighbours, weighed by how alike they are in what is seen there
// (albedo, normal, depth) and, within the noise that the picture itself tells, in light. Edges of things and shadows
// stay; texture stays, because light is divided by albedo first.

#include "tarn/render/film.h"

namespace tarn {

std::vector<Vec3f> denoise(const Film& film);

}  // namespace tarn
