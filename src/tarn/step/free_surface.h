#pragma once
// One step of water with a free surface.   [EMF02] §3.4

#include "tarn/step/step.h"

namespace tarn::free_surface {

template <int D>
Water<D> initial_water(const Scene& scene);

template <int D>
StepReport step(Water<D>& water, const Scene& scene, double dt);

}  // namespace tarn::free_surface
