#pragma once
// One step of water with a free surface.   [EMF02] §3.4

#include <functional>

#include "tarn/step/step.h"

namespace tarn::free_surface {

// How a grid of another kind carries the velocity and makes it free of divergence; where empty, as on a uniform one.
template <int D>
struct Stages {
    std::function<void(Water<D>&, double dt)> advect = {};
    // Forces have acted on the velocity in active tiles from time t on for dt.
    std::function<SolveReport(Water<D>&, const ProjectionForces<D>&, const Boundary<D>&, double t, double dt)> project = {};
};

template <int D>
Water<D> initial_water(const Scene& scene, const Stages<D>& stages = {});

template <int D>
StepReport step(Water<D>& water, const Scene& scene, double dt, const Stages<D>& stages = {});

}  // namespace tarn::free_surface
