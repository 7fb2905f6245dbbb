#pragma once
// What a picture collects, and the files it becomes: PNG for the eye, EXR for compositors and denoisers.

#include <string>
#include <vector>

#include "tarn/render/integrator.h"
#include "tarn/render/preview.h"

namespace tarn {

struct Film {
    int width = 0, height = 0;
    int samples = 0;  // of each pixel
    // Sums over the samples, top row first. `odd` holds the light of every second one alone, from which noise is told.
    std::vector<Vec3f> light, odd, albedo, normal, velocity;
    std::vector<float> depth;

    Film(int w, int h);
    size_t pixels() const { return light.size(); }
    void add(size_t pixel, int sample, Vec3f radiance, const Features& features);
    Vec3f mean(size_t pixel) const { return (1 / static_cast<float>(samples)) * light[pixel]; }
};

// The picture developed: exposure in stops, filmic curve, sRGB.
Image develop(const std::vector<Vec3f>& radiance, int width, int height, double exposure);

// R G B, albedo, normal, velocity (m/s) and Z (m, infinite for the sky), as half floats; Z as float.
void write_exr(const std::string& path, const Film& film, const std::vector<Vec3f>& radiance);
Picture read_exr(const std::string& path);
// The colours of an EXR or PNG picture as linear light. Throws InputError.
Picture read_picture(const std::string& path);

}  // namespace tarn
