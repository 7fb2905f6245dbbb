#pragma once
// A camera: a pinhole, or a thin lens that is focused at a distance.

#include "tarn/params/params.h"

namespace tarn {

struct Camera {
    Vec3f position, forward, right, up;
    float tan_x = 1, tan_y = 1;  // half the picture's extent at unit distance
    float lens = 0, focus = 1;   // the lens's radius and what it is focused at, m; a pinhole has no radius

    // The direction through a point of the picture; (-1,-1) is its lower left corner.
    TARN_HD Vec3f direction(float x, float y) const
    {
        const Vec3f d = forward + (x * tan_x) * right + (y * tan_y) * up;
        return (1 / length(d)) * d;
    }
};

// The scene's camera, with the points of the path that it moves along.
CameraParams camera_of(const Params& params);

// At a time of the scene. Where position or target are not given, the box of `size` from `lo` on is framed in a three-quarter
// view.
Camera make_camera(const CameraParams& params, Vec3 size, double aspect, double time, Vec3 lo = {});
// The scene's own, framing all that its domain reaches.
Camera make_camera(const Params& params, double aspect, double time);

}  // namespace tarn
