#include "tarn/scene/frame.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tarn/scene/validate.h"

namespace tarn {

namespace {

constexpr double radian = std::numbers::pi / 180;

// About x, then y, then z, as shapes turn.
Quaternion turn_of(Vec3 degrees)
{
    const auto about = [&](int axis) { return rotation_by(radian * degrees[axis] * Vec3::unit(axis)); };
    return about(2) * about(1) * about(0);
}

Vec3 size_of(const Params& params)
{
    Vec3 size;
    for (int a = 0; a < params.dimension(); ++a) size[a] = params.domain.size[static_cast<size_t>(a)];
    return size;
}

Vec3 center_of(const Params& params) { return params.motion->center.value_or(0.5 * size_of(params)); }

template <class F>
void for_each_corner(const Params& params, F&& f)
{
    const Vec3 size = size_of(params);
    for (int n = 0; n < (1 << params.dimension()); ++n)
        f(Vec3{n & 1 ? size[0] : 0, n & 2 ? size[1] : 0, n & 4 ? size[2] : 0});
}

}  // namespace

FramePose frame_pose(const Params& params, double t)
{
    if (!params.motion) return {};
    const Vec3 center = center_of(params);
    return {center, center + params.motion->translate.at(t), turn_of(params.motion->rotate.at(t))};
}

Vec3 frame_spin(const Params& params, double t)
{
    if (!params.motion) return {};
    const Vec3 angles = params.motion->rotate.at(t), rates = radian * params.motion->rotate.change(t);
    // Each turn is about an axis that the later ones carry along: seen from the frame, the later ones are undone.
    const Quaternion x = rotation_by(radian * angles[0] * Vec3::unit(0)).inverse();
    const Quaternion y = rotation_by(radian * angles[1] * Vec3::unit(1)).inverse();
    return rates[0] * Vec3::unit(0) + x.rotate(rates[1] * Vec3::unit(1)) + x.rotate(y.rotate(rates[2] * Vec3::unit(2)));
}

FrameForces frame_forces(const Params& params, double t, double dt)
{
    FrameForces f;
    f.gravity = params.domain.gravity.at(t);
    if (!params.motion) return f;
    constexpr double instant = 1e-4;
    const double over = dt > 0 ? dt : instant;
    const Keyed<Vec3>& way = params.motion->translate;
    const Quaternion back = frame_pose(params, t + 0.5 * dt).turn.inverse();
    const Vec3 before = frame_spin(params, t), after = frame_spin(params, t + over);
    const Vec3 change = (1 / over) * (after - before);
    f.moves = true;
    f.gravity = back.rotate(f.gravity - (1 / over) * (way.change(t + over) - way.change(t)));
    f.center = center_of(params);
    f.spin = dt > 0 ? 0.5 * (before + after) : before;
    // By what they do to the axes: the columns of the matrix.
    for (int a = 0; a < 3; ++a) {
        const Vec3 r = Vec3::unit(a), column = -cross(f.spin, cross(f.spin, r)) - cross(change, r);
        for (int b = 0; b < 3; ++b) f.rows[b][a] = column[b];
    }
    return f;
}

Vec3 frame_gravity(const Params& params, double t)
{
    const Vec3 g = params.domain.gravity.at(t);
    return params.motion ? frame_pose(params, t).turn.inverse().rotate(g) : g;
}

double strongest_in_frame(const Params& params, double t, double speed)
{
    if (!params.motion) return 0;
    const FrameForces f = frame_forces(params, t, 0);
    const Vec3 g = frame_gravity(params, t);
    double most = 0;
    for_each_corner(params, [&](Vec3 x) { most = std::max(most, length(f.at(x) - g)); });
    return most + 2 * length(f.spin) * speed;
}

Reach reach_of(const Params& params)
{
    if (!params.motion) return {{}, size_of(params)};
    Reach reach{Vec3::all(HUGE_VAL), Vec3::all(-HUGE_VAL)};
    constexpr int between = 4;  // looks a frame
    for (int n = 0; n <= between * params.time.frames; ++n) {
        const FramePose pose = frame_pose(params, n * params.time.frame_seconds() / between);
        for_each_corner(params, [&](Vec3 corner) {
            const Vec3 x = pose.to_world(corner);
            for (int a = 0; a < 3; ++a) {
                reach.lo[a] = std::min(reach.lo[a], x[a]);
                reach.hi[a] = std::max(reach.hi[a], x[a]);
            }
        });
    }
    return reach;
}

std::optional<Problem> check_motion(const Params& params)
{
    if (!params.motion) return {};
    const auto no_part = [](const char* key, const std::string& why) {
        return Problem{key, why + "; remove it, or [domain.motion]"};
    };
    if (params.flow) return no_part("flow", "has no part in a domain that moves, as its velocity is given");
    if (params.method.solver == Solver::foster_metaxas)
        return no_part("method.solver", "\"foster-metaxas\" knows gravity alone");
    if (!params.waves.empty()) return no_part("waves", "need a domain at rest, with gravity along y");
    // A jump takes no time, so that nothing can follow it.
    const double end = params.time.time_of(params.time.frames);
    constexpr int tries = 2000;
    constexpr double fast = 1e4, quick = 1e3;
    for (int n = 0; n <= tries; ++n) {
        const double t = end * n / tries;
        if (!(length(params.motion->translate.change(t)) < fast))
            return Problem{"domain.motion.translate", "moves faster than " + std::to_string(static_cast<int>(fast)) +
                                                          " m/s at t = " + std::to_string(t) + "; give it more time"};
        if (!(length(frame_spin(params, t)) < quick))
            return Problem{"domain.motion.rotate", "turns faster than " + std::to_string(static_cast<int>(quick)) +
                                                       " rad/s at t = " + std::to_string(t) + "; give it more time"};
    }
    return {};
}

}  // namespace tarn
