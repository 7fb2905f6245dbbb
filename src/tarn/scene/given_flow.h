#pragma once
// Velocities that are given instead of simulated: the fields by which methods for surfaces are compared.
//
//   rotation      a rigid turn about the middle of the domain (in 3D about z), as in figure 2 of [EMF02]
//   vortex        psi = sin^2(pi x) sin^2(pi y) / pi in a unit box, times cos(pi t / period) (LeVeque 1996)
//   deformation   u = 2 sin^2(pi x) sin(2 pi y) sin(2 pi z), v = -sin(2 pi x) sin^2(pi y) sin(2 pi z),
//                 w = -sin(2 pi x) sin(2 pi y) sin^2(pi z), times cos(pi t / period) (LeVeque 1996)
//
// The last two take everything back by t = period. In another box than the unit one, positions and velocities are
// stretched with it, so that the same happens in the same time.

#include "tarn/backend/parallel.h"
#include "tarn/field/field.h"
#include "tarn/params/params.h"

namespace tarn {

// Sets the velocity on the tiles to the flow's at time t.
template <int D>
void prescribe(FaceField<D>& velocity, const FlowParams& flow, const Tiles<D>& tiles, double t);

// The largest velocity component of the flow, anywhere and ever.
template <int D>
double fastest(const FlowParams& flow, const Grid<D>& grid);

}  // namespace tarn
