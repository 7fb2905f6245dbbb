#include <algorithm>
#include <cmath>

#include "tarn/render/camera.h"
#include "tarn/render/color.h"
#include "tarn/render/preview.h"

namespace tarn {

namespace {

const Vec3f drop_colour{0.86f, 0.93f, 0.98f};  // sRGB

void blend(uint8_t* rgb, float cover)
{
    for (int c = 0; c < 3; ++c) rgb[c] = to_byte(mix(static_cast<float>(rgb[c]) / 255, drop_colour[c], cover));
}

// Whether a solid stands between a drop and the camera.
bool hidden(const std::vector<Shape>& solids, Vec3 x, Vec3 eye)
{
    const double whole = length(eye - x);
    const Vec3 towards = (1 / whole) * (eye - x);
    constexpr double touch = 1e-4;  // of the way
    for (double t = 0.01 * whole; t < whole;) {
        const double d = distance(solids, x + t * towards);
        if (d < touch * whole) return true;
        t += d;
    }
    return false;
}

}  // namespace

void paint_drop(Image& image, float x, float y, float radius)
{
    // A drop finer than a pixel is paler, not larger.
    const float drawn = std::max(radius, 0.6f), strength = 0.8f * std::min(1.0f, radius * radius / (drawn * drawn));
    const int x0 = std::max(0, static_cast<int>(x - drawn - 1)), y0 = std::max(0, static_cast<int>(y - drawn - 1));
    const int x1 = std::min(image.width - 1, static_cast<int>(x + drawn + 1));
    const int y1 = std::min(image.height - 1, static_cast<int>(y + drawn + 1));
    for (int j = y0; j <= y1; ++j)
        for (int i = x0; i <= x1; ++i) {
            const float off = std::hypot(static_cast<float>(i) + 0.5f - x, static_cast<float>(j) + 0.5f - y);
            const float cover = strength * std::clamp(drawn - off + 0.5f, 0.0f, 1.0f);
            if (cover > 0)
                blend(
                    &image
                         .rgb[3 * (static_cast<size_t>(j) * static_cast<size_t>(image.width) + static_cast<size_t>(i))],
                    cover);
        }
}

void paint_drops(Image& image, const std::vector<Drop>& drops, const Scene& scene, Vec3 size, double time)
{
    const Camera camera = make_camera(scene.params.camera, size, static_cast<double>(image.width) / image.height, time);
    const std::vector<Shape> solids = scene.solids.at(time);
    for (const Drop& drop : drops) {
        const Vec3f d = drop.position - camera.position;
        const float ahead = dot(d, camera.forward);
        if (!(ahead > 0)) continue;
        if (!solids.empty() && hidden(solids, drop.position.as<double>(), camera.position.as<double>())) continue;
        const float half = 0.5f * static_cast<float>(image.width), scale = half / (ahead * camera.tan_x);
        paint_drop(image, half + scale * dot(d, camera.right),
                   0.5f * static_cast<float>(image.height) - scale * dot(d, camera.up), scale * drop.radius);
    }
}

}  // namespace tarn
