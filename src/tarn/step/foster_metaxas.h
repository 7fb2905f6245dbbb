#pragma once
// One step of water by the explicit marker-and-cell scheme.   [FM96] §7
//
// Cells are obstacle, full, surface or empty; markers tell which. A step is short: water crosses less than a cell in it.
// Forward differences in time of central ones in space grow by themselves, as a viscosity of -u^2 dt / 2 would make them
// (Hirt 1968), so that a share of the momentum is taken from upstream, which adds u h / 2 of it: the least share that is
// stable is u dt / h - 2 nu / (u h), with u the sum of the fastest components (upwind_share). Deviation: the paper has central differences alone.

#include "tarn/step/step.h"
#include "tarn/surface/labels.h"

namespace tarn::foster_metaxas {

template <int D>
Water<D> initial_water(const Scene& scene);

// The longest step that the scheme is stable with: max |u| dt < h and nu dt D / h^2 < 1/2, each to the share that time.cfl
// asks for, and what gravity waves allow.
template <int D>
double choose_dt(const Water<D>& water, const Scene& scene);

// The share of momentum that is taken from upstream, where the components of the velocity add up to `fastest` at most.
double upwind_share(double fastest, double viscosity, double h, double dt);

// Refuses a dt beyond max |u| dt = h or nu dt D / h^2 = 1/2: nothing is done then, and the report says how long it may be.
template <int D>
StepReport step(Water<D>& water, const Scene& scene, double dt);

// What every cell holds now.
template <int D>
Labels<D> cell_contents(const Water<D>& water, const Scene& scene);

}  // namespace tarn::foster_metaxas
