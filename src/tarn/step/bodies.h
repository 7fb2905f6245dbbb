#pragma once
// Rigid bodies in a step of the water: they move with the velocity that they had, gravity pulls at them, and the pressure that
// makes the water free of divergence pushes them, all in one solve (pressure/rigid_rows.h).

#include "tarn/pressure/project.h"
#include "tarn/scene/scene.h"
#include "tarn/step/water.h"

namespace tarn {

// Lets the scene's geometry know where the bodies are at time t.
template <int D>
void tell_poses(const Water<D>& water, const Scene& scene, double t);

// The faces that bodies close get their velocities.
template <int D>
void set_body_velocities(Water<D>& water);

// The bodies with the velocity of the time at which they are where they are. That of the state is the water's, which is ahead.
template <int D>
std::vector<RigidBody> bodies_now(const Water<D>& water, const Params& params);

// Moves the bodies for dt, with the velocity that they have.
template <int D>
void move_bodies(Water<D>& water, const Scene& scene, double dt);

// V* = V + dt g, where they are at time t, from `start` on, with what else is known before the solve: the pressure's change from cells' centres to the bodies' surfaces
// (scene/wetted.h), and the contacts of the step before.
template <int D>
void predict_bodies(Water<D>& water, const Scene& scene, double t, double start, double dt);

// The bodies as part of the pressure's system.
template <int D>
void couple_bodies(ProjectionForces<D>& forces, Water<D>& water, const Scene& scene, double dt);

// Contacts among bodies, solids and the domain's sides, and joints, after a solve over dt, for the move that follows, which is as
// long as `move`: what they change of the velocities is remembered as a force over dt, which the next solve starts with, so that
// a body that rests on the floor is at rest for the water, too.
template <int D>
void touch(Water<D>& water, const Scene& scene, double t, double dt, double move);

}  // namespace tarn
