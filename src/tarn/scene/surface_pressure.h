#pragma once
// The pressure of the atmosphere on the free surface, above what it is everywhere.   [FM96] §5
//
// Where it travels with waves it raises them from still water: p = p_0(t) cos(k . x - omega t), with omega of the
// wavelength, does work on the surface's rise, whose amplitude then grows by da/dt = p_0 omega / (2 rho g), whatever the
// depth. p_0 = 2 rho g H / (omega T) sin²(pi t / T) brings the height H = 2 a within the time T.

#include "tarn/backend/parallel.h"
#include "tarn/field/field.h"
#include "tarn/scene/scene.h"

namespace tarn {

// At time t, in Pa, at the centres of the cells of the given tiles.
template <int D>
void set_surface_pressure(Field<D>& pressure, const Scene& scene, const Tiles<D>& tiles, double t);

}  // namespace tarn
