#pragma once
// One step of water and air together.   [SSK05] §3

#include <functional>

#include "tarn/step/step.h"

namespace tarn::two_phase {

template <int D>
Water<D> initial_water(const Scene& scene);

// What a step consists of, in this order. With droplets.after_projection droplets and bubbles come back to the grid last.
enum class StepPart { surface, droplets, advection, forces, projection };

// `after` is called at the end of each part, for those who want to see what it did.
template <int D>
StepReport step(Water<D>& water, const Scene& scene, double dt, const std::function<void(StepPart)>& after = {});

// The largest velocity component on a face of a cell in the water or beside its surface.
template <int D>
double fastest_near_water(const Water<D>& water);

// Inside solids the velocity goes on as it is outside, less what would cross their surface: where air flows everywhere.
template <int D>
void extend_into_solids(Water<D>& water, const Boundary<D>& boundary);

}  // namespace tarn::two_phase
