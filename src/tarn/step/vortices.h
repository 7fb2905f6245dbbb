#pragma once
// Vortex particles in a step: where they start, how they move, and what they do (effects/vortex_forces.h).   [IGLF06] §6

#include "tarn/scene/forces.h"
#include "tarn/scene/scene.h"
#include "tarn/step/water.h"

namespace tarn {

// Those that are there at the start.
template <int D>
void start_vortices(Water<D>& water, const Scene& scene);

// They go with the velocity from t to t + dt, when phi and solids have come to their places at t + dt; those that have come into air or solids,
// or out of the domain, end. New ones start.
template <int D>
void move_vortices(Water<D>& water, const Scene& scene, double t, double dt);

// The velocity on the grid feels them for dt.
template <int D>
void push_by_vortices(Water<D>& water, double dt);

// Forces, and those of vortex particles after them, outside of fields.
template <int D>
Pushed with_vortices(Pushed forces, const Water<D>& water, double dt);

}  // namespace tarn
