#pragma once
// One step of water and air together.   [SSK05] §3

#include "tarn/step/step.h"

namespace tarn::two_phase {

template <int D>
Water<D> initial_water(const Scene& scene);

template <int D>
StepReport step(Water<D>& water, const Scene& scene, double dt);

// The largest velocity component on a face of a cell in the water or beside its surface.
template <int D>
double fastest_near_water(const Water<D>& water);

// Inside solids the velocity goes on as it is outside, less what would cross their surface: where air flows everywhere.
template <int D>
void extend_into_solids(Water<D>& water, const Boundary<D>& boundary);

}  // namespace tarn::two_phase
