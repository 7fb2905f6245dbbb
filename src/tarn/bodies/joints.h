#pragma once
// Joints between rigid bodies, or between one and the domain: a hinge, which leaves a turn about an axis through a point; a
// slider, which leaves the way along an axis.
//
// With the poses q and velocities v of all bodies, a joint is C(q) = 0, and its impulses are J^T L with J = dC/dq. They are
// those after which the next move, with these velocities, ends where the joint wants it:
//
//   v' = v + M^-1 J(q)^T L,   C(q + dt v') = 0
//
// (SHAKE: Ryckaert, Ciccotti, Berendsen 1977): of second order, without the loss of energy that velocities along the tangent
// would have, and an error of one step does not outlive the next. Newton's method, joint after joint in their order, each as
// one small system, until all hold.

#include <vector>

#include "tarn/bodies/rigid.h"
#include "tarn/params/params.h"

namespace tarn {

struct Joint {
    JointKind kind = JointKind::hinge;
    int first = 0, second = -1;  // bodies; -1: the domain
    Vec3 at_first, at_second;    // the point at the start, from each one's centre of mass; of the domain, itself
    Vec3 axis;                   // at the start, of length one
};

// Gives the bodies the velocities, after which they hold at the end of a move of dt.
void hold(std::vector<RigidBody>& bodies, const std::vector<Joint>& joints, double dt, int dimension);

}  // namespace tarn
