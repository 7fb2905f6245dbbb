#pragma once
// One step of water by the explicit marker-and-cell scheme.   [FM96] §7
//
// Cells are obstacle, full, surface or empty; markers tell which. A step is short: water crosses less than a cell in it.
//
// Deviation: the paper has central differences alone. Forward in time they act as a viscosity of -u^2 dt / 2 (Hirt 1968), and
// they carry waves of two cells where the viscosity nu is less than u h / 2. So a share of the momentum is taken from upstream,
// which adds share u h / 2 to the viscosity: as much as makes nu + share u h / 2 = u h / 2 for the fastest u (upwind_share).
// That is all of it without viscosity, and more than u^2 dt / 2 at every dt. A smaller share, that of u dt / h which is stable by
// itself, does not do where cells fill and empty: a dam break on 64 cells with steps of 0.05 cells then scatters all over
// the tank, with a fifth of its volume lost, and with the whole share keeps it to 2.4 %.

#include <optional>

#include "tarn/step/step.h"
#include "tarn/surface/labels.h"

namespace tarn::foster_metaxas {

template <int D>
Water<D> initial_water(const Scene& scene);

// The longest step that the scheme is stable with: max |u| dt < h and nu dt D / h^2 < 1/2, each to the share that time.cfl
// asks for, and what gravity waves allow.
template <int D>
double choose_dt(const Water<D>& water, const Scene& scene);

// The share of momentum that is taken from upstream.
double upwind_share(double fastest, double viscosity, double h);

// Refuses a dt beyond max |u| dt = h or nu dt D / h^2 = 1/2: nothing is done then, and the report says how long it may be.
template <int D>
StepReport step(Water<D>& water, const Scene& scene, double dt);

// Of a scene by a height field: where water hangs over air at the start, or comes in over it, in metres.
template <int D>
std::optional<Vec3> overhang(const Scene& scene);

// What every cell holds now.
template <int D>
Labels<D> cell_contents(const Water<D>& water, const Scene& scene);

}  // namespace tarn::foster_metaxas
