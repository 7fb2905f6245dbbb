#pragma once
// One step of a surface that a given velocity carries: what is left of free_surface without the water's own motion.
// [EMF02] §3.1 and figure 2 judge by it what keeps a surface.

#include "tarn/step/step.h"

namespace tarn::carried_surface {

template <int D>
Water<D> initial_water(const Scene& scene);

// The longest step that CFL and max_step allow while the flow is at its fastest.
template <int D>
double choose_dt(const Water<D>& water, const Scene& scene);

template <int D>
StepReport step(Water<D>& water, const Scene& scene, double dt);

}  // namespace tarn::carried_surface
