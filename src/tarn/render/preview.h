#pragma once
// A quick picture of the water, for every frame of a run: rays marched through phi in 3D, a drawing in 2D.

#include <cstdint>
#include <string>
#include <vector>

#include "tarn/scene/scene.h"
#include "tarn/step/water.h"

namespace tarn {

struct Image {
    int width = 0, height = 0;  // even, as video codecs want them
    std::vector<uint8_t> rgb;   // sRGB, top row first
};

template <int D>
Image preview(const Water<D>& water, const Scene& scene, int width);
template <>
Image preview(const Water<2>& water, const Scene& scene, int width);
template <>
Image preview(const Water<3>& water, const Scene& scene, int width);

void write_png(const std::string& path, const Image& image);

// Joins DIR/render/frame_*.png into DIR/movie.mp4 with ffmpeg. Throws RunError that says what to do if that fails.
void make_movie(const std::string& dir, double rate);

}  // namespace tarn
