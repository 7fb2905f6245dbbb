#pragma once
// One step of water and air together.   [SSK05] §3

#include "tarn/step/step.h"

namespace tarn::two_phase {

template <int D>
Water<D> initial_water(const Scene& scene);

// The longest step that CFL of the water, capillary waves and max_step allow. Air may be faster: nothing here limits
// how far things move in a step.
template <int D>
double choose_dt(const Water<D>& water, const Scene& scene);

template <int D>
StepReport step(Water<D>& water, const Scene& scene, double dt);

// The largest velocity component on a face of a cell in the water or beside its surface.
template <int D>
double fastest_near_water(const Water<D>& water);

}  // namespace tarn::two_phase
