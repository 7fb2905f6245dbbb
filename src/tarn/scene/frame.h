#pragma once
// A scene in a frame that moves: [domain.motion]. A point x of the frame is at
//
//   X = c + T(t) + R(t) (x - c)
//
// in the world, with the centre c, the way T and the turn R. Positions and velocities are the frame's, and what moves freely
// is accelerated by
//
//   du/dt = R^T (g - T'') - W x (W x r) - W' x r - 2 W x u,   r = x - c,
//
// with the angular velocity W in the frame's own axes: gravity turned into the frame, and the centrifugal, Euler and Coriolis
// terms. All but the last are a field of acceleration that is linear in x: a weight that the pressure balances in what rests.
//
// Over a step, T'' and W' are the differences of the velocities at its ends over its length, so that a frame that starts or
// stops at once gives all that it has in one step, and the sum does not depend on the steps. W is the mean of both ends; R is
// that of the middle.

#include <optional>

#include "tarn/base/frame_forces.h"
#include "tarn/base/quaternion.h"
#include "tarn/params/params.h"

namespace tarn {

// Where the frame is.
struct FramePose {
    Vec3 center, origin;  // of its turn: in the frame, and in the world
    Quaternion turn;

    Vec3 to_world(Vec3 x) const { return origin + turn.rotate(x - center); }
    Vec3 to_frame(Vec3 x) const { return center + turn.inverse().rotate(x - origin); }
};
FramePose frame_pose(const Params& params, double t);
// Its angular velocity, in its own axes.
Vec3 frame_spin(const Params& params, double t);

// From t to t + dt; of no time, what they are at t.
FrameForces frame_forces(const Params& params, double t, double dt);
// Gravity in the frame's axes at time t.
Vec3 frame_gravity(const Params& params, double t);

// The most that the frame itself accelerates anything in the domain that moves with at most `speed`, m/s².
double strongest_in_frame(const Params& params, double t, double speed);
// No step turns the frame by more than this, rad: what it does to velocities is told well by a step's middle.
inline constexpr double most_turn = 0.25;

// A box around the domain in the world over all frames.
struct Reach {
    Vec3 lo, hi;
};
Reach reach_of(const Params& params);

}  // namespace tarn
