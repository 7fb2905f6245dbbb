#pragma once
// Gravity in a step, with all that a moving frame adds to it (scene/frame.h).
//
// The Coriolis term turns with the velocity, which the pressure changes within the same step: taken from the velocity at the
// step's start it feeds every oscillation at the rate 2 W² dt, and turned exactly, without the pressure, it brakes steady flow
// at that rate. It is taken from the mean of the velocity that what arrives started with, u(x - u dt), and of that which its
// place will have at the end, u + dt du/dt with du/dt over the step before: of second order, and exact in steady flow.

#include "tarn/scene/frame.h"
#include "tarn/step/water.h"

namespace tarn {

// Room for it; nothing where the frame rests.
template <int D>
void start_frame(Water<D>& water, const Params& params);

// At the start of a step of dt: the velocity that its end is expected to have.
template <int D>
void expect_velocity(Water<D>& water, const Params& params, double dt);

// u += dt (weight and Coriolis term) where there is water, and where there is air if it flows.
template <int D>
void add_gravity(Water<D>& water, const FrameForces& frame, double dt);

// Without air: what the velocity has changed by since expect_velocity, per second, where water was and is.
template <int D>
void note_acceleration(Water<D>& water, const Params& params, double dt);

}  // namespace tarn
