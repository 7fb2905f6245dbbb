#include "tarn/render/camera.h"

#include <algorithm>
#include <numbers>

#include "tarn/scene/frame.h"

namespace tarn {

namespace {

Vec3 normalized(Vec3 a) { return (1 / length(a)) * a; }

struct Axes {
    Vec3 forward, right, up;
    explicit Axes(Vec3 along) : forward(normalized(along))
    {
        // Looking straight up or down, "right" is still x.
        const Vec3 side = cross(forward, Vec3{0, 1, 0});
        right = length(side) > 1e-6 ? normalized(side) : Vec3{1, 0, 0};
        up = cross(right, forward);
    }
};

}  // namespace

CameraParams camera_of(const Params& params)
{
    CameraParams camera = params.camera;
    if (const PathParams* path = params.find_path(camera.path)) camera.position = path->way();
    return camera;
}

Camera make_camera(const CameraParams& params, Vec3 size, double aspect, double time, Vec3 lo)
{
    constexpr double margin = 1.08;  // air around the box in the picture
    const double tan_y = std::tan(0.5 * params.fov.at(time) * std::numbers::pi / 180), tan_x = tan_y * aspect;

    Vec3 target = params.target ? params.target->at(time) : lo + 0.5 * size;
    Vec3 position;
    if (params.position) {
        position = params.position->at(time);
    } else {
        // From the front, a little from the right and from above. A corner at (x, y, z) along right, up and towards the
        // viewer from the target is in the picture when |x| <= tan_x (distance - z), |y| <= tan_y (distance - z).
        const Vec3 back = normalized({0.52, 0.36, 1.0});
        const Axes axes(-back);
        const auto corner_of = [&](int n) {
            return lo + Vec3{n & 1 ? size[0] : 0, n & 2 ? size[1] : 0, n & 4 ? size[2] : 0} - target;
        };
        double distance = 0;
        for (int pass = 0; pass < 8; ++pass) {
            distance = 0;
            double top = -1e30, bottom = 1e30;
            for (int corner = 0; corner < 8; ++corner) {
                const Vec3 c = corner_of(corner);
                const double x = dot(c, axes.right), y = dot(c, axes.up), z = dot(c, back);
                distance = std::max({distance, z + margin * std::abs(x) / tan_x, z + margin * std::abs(y) / tan_y});
            }
            for (int corner = 0; corner < 8; ++corner) {
                const Vec3 c = corner_of(corner);
                const double y = dot(c, axes.up) / (distance - dot(c, back));
                top = std::max(top, y);
                bottom = std::min(bottom, y);
            }
            // Perspective makes the near corners hang lower: the target moves until the margins above and below are
            // equal.
            if (params.target) break;
            target += (0.5 * (top + bottom) * distance) * axes.up;
        }
        position = target + distance * back;
    }

    // To the right as the picture shows it.
    const double turn = params.orbit * time * std::numbers::pi / 180;
    const Vec3 arm = position - target;
    position = target + Vec3{std::cos(turn) * arm[0] + std::sin(turn) * arm[2], arm[1],
                             std::cos(turn) * arm[2] - std::sin(turn) * arm[0]};

    const Axes axes(length(target - position) > 0 ? target - position : Vec3{0, 0, -1});
    Camera camera;
    camera.position = position.as<float>();
    camera.forward = axes.forward.as<float>();
    camera.right = axes.right.as<float>();
    camera.up = axes.up.as<float>();
    camera.tan_x = static_cast<float>(tan_x);
    camera.tan_y = static_cast<float>(tan_y);
    camera.lens = static_cast<float>(0.5 * params.aperture);
    camera.focus = static_cast<float>(params.focus ? params.focus->at(time) : dot(target - position, axes.forward));
    return camera;
}

Camera make_camera(const Params& params, double aspect, double time)
{
    const Reach reach = reach_of(params);
    return make_camera(camera_of(params), reach.hi - reach.lo, aspect, time, reach.lo);
}

}  // namespace tarn
