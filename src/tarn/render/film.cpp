#include "tarn/render/film.h"

#include <cmath>

namespace tarn {

Film::Film(int w, int h) : width(w), height(h)
{
    const size_t n = static_cast<size_t>(w) * static_cast<size_t>(h);
    for (auto* sums : {&light, &odd, &albedo, &normal, &velocity}) sums->resize(n);
    depth.resize(n, endless);
}

void Film::add(size_t pixel, int sample, Vec3f radiance, const Features& features)
{
    light[pixel] += radiance;
    if (sample & 1) odd[pixel] += radiance;
    albedo[pixel] += features.albedo;
    normal[pixel] += features.normal;
    velocity[pixel] += features.velocity;
    // The nearest: a mean of distances before and behind an edge is neither.
    depth[pixel] = std::min(depth[pixel], features.depth);
}

Image develop(const std::vector<Vec3f>& radiance, int width, int height, double exposure)
{
    Image image{width, height, std::vector<uint8_t>(3 * radiance.size())};
    const float gain = static_cast<float>(std::exp2(exposure));
    for (size_t i = 0; i < radiance.size(); ++i)
        for (int c = 0; c < 3; ++c)
            image.rgb[3 * i + static_cast<size_t>(c)] =
                to_byte(print(to_srgb(std::clamp(filmic(gain * std::max(radiance[i][c], 0.0f)), 0.0f, 1.0f))));
    return image;
}

}  // namespace tarn
