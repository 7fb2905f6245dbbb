#include <algorithm>
#include <cmath>

#include "tarn/render/camera.h"
#include "tarn/render/color.h"
#include "tarn/render/preview.h"
#include "tarn/scene/frame.h"

namespace tarn {

namespace {

// sRGB. Water in the air shines; air in the water is a shell.
struct Look {
    Vec3f colour;
    float middle;  // how much of the cover there is within the shell
};
const Look shining{{0.86f, 0.93f, 0.98f}, 1}, blue{{0.10f, 0.47f, 0.80f}, 1};
const Look shell{{0.80f, 0.91f, 0.98f}, 0.35f}, white{{1, 1, 1}, 1};

const Look& look_of(const Drop& drop, bool on_paper)
{
    if (drop.kind == static_cast<int>(DropletKind::bubble)) return shell;
    if (drop.kind == static_cast<int>(DropletKind::foam)) return white;
    return on_paper ? blue : shining;
}

void blend(uint8_t* rgb, Vec3f colour, float cover)
{
    for (int c = 0; c < 3; ++c) rgb[c] = to_byte(mix(static_cast<float>(rgb[c]) / 255, colour[c], cover));
}

// Whether something stands before a drop in the pixel that it is drawn in; a drop may touch what it came from.
bool hidden(const Image& image, float x, float y, float distance, float touch)
{
    if (!(x >= 0 && y >= 0 && x < static_cast<float>(image.width) && y < static_cast<float>(image.height))) return false;
    const size_t pixel = static_cast<size_t>(y) * static_cast<size_t>(image.width) + static_cast<size_t>(x);
    return image.depth[pixel] > 0 && distance > image.depth[pixel] + touch;
}

}  // namespace

void paint_drop(Image& image, float x, float y, float radius, const Drop& drop, Vec<2, float> along, bool on_paper)
{
    const Look& look = look_of(drop, on_paper);
    // A drop finer than a pixel is paler, not larger.
    const float drawn = std::max(radius, 0.6f), strength = 0.8f * std::min(1.0f, radius * radius / (drawn * drawn));
    const float speed = length(along), stretch = speed > 0 ? drop.stretch : 1.0f;
    const Vec<2, float> way = stretch > 1 ? (1 / speed) * along : Vec<2, float>{1, 0};
    // Of the same volume: as much thinner in both other directions as it is longer.
    const float longer = std::pow(stretch, 2.0f / 3), thinner = 1 / std::sqrt(longer), reach = drawn * longer;
    const int x0 = std::max(0, static_cast<int>(x - reach - 1)), y0 = std::max(0, static_cast<int>(y - reach - 1));
    const int x1 = std::min(image.width - 1, static_cast<int>(x + reach + 1));
    const int y1 = std::min(image.height - 1, static_cast<int>(y + reach + 1));
    for (int j = y0; j <= y1; ++j)
        for (int i = x0; i <= x1; ++i) {
            const Vec<2, float> d{static_cast<float>(i) + 0.5f - x, static_cast<float>(j) + 0.5f - y};
            const float ahead = dot(d, way) / longer, aside = (d[0] * way[1] - d[1] * way[0]) / thinner;
            const float off = std::hypot(ahead, aside);
            const float part = off < 0.6f * drawn ? look.middle : 1.0f;
            const float cover = part * strength * std::clamp(drawn - off + 0.5f, 0.0f, 1.0f);
            const size_t pixel = static_cast<size_t>(j) * static_cast<size_t>(image.width) + static_cast<size_t>(i);
            if (cover > 0) blend(&image.rgb[3 * pixel], look.colour, cover);
        }
}

void paint_drops(Image& image, const std::vector<Drop>& drops, const Scene& scene, double time)
{
    if (drops.empty()) return;
    const Camera camera = make_camera(scene.params, static_cast<double>(image.width) / image.height, time);
    const FramePose pose = frame_pose(scene.params, time);
    const float touch = static_cast<float>(cell_size(scene.params.domain));
    for (const Drop& drop : drops) {
        const Vec3f d = pose.to_world(drop.position.as<double>()).as<float>() - camera.position;
        const Vec3f velocity = pose.turn.rotate(drop.velocity.as<double>()).as<float>();
        const float ahead = dot(d, camera.forward);
        if (!(ahead > 0)) continue;
        const float half = 0.5f * static_cast<float>(image.width), scale = half / (ahead * camera.tan_x);
        const float x = half + scale * dot(d, camera.right),
                    y = 0.5f * static_cast<float>(image.height) - scale * dot(d, camera.up);
        const bool droplet = drop.kind == static_cast<int>(DropletKind::droplet);
        if (droplet && hidden(image, x, y, length(d), touch)) continue;
        paint_drop(image, x, y, scale * drop.radius, drop,
                   {dot(velocity, camera.right), -dot(velocity, camera.up)}, false);
    }
}

}  // namespace tarn
