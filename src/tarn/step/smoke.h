#pragma once
// One step of smoke, in air that fills the domain.   [LGF04] §4 after Fedkiw, Stam, Jensen 2001
//
//   du/dt + u . grad u = - grad p / rho + f,   div u = 0,   d(density)/dt + u . grad(density) = 0,   likewise the temperature,
//   f = - g (alpha density - beta (T - T_ambient)) + epsilon h (N x omega).
//
// g points up and has the strength of gravity: alpha and beta are parts of the air's weight. omega = curl u, N = grad|omega| /
// |grad|omega||: the second term is vorticity confinement.
//
// Everything is on the MAC grid, scalars at cell centres; on an octree, on those of its levels (step/smoke_levels.h). The pressure is what it is above that of air at rest.
//
// Deviation from [LGF04]: density and temperature are carried in conservation form (advect/conservative.h), which div u = 0 makes the
// same equation. Along paths, the weights with which a value is taken on do not add up to one: a hot ball of smoke that rises in a closed
// box of 64 x 64 cells gains 15 % in 1.5 s by MacCormack's method and loses 1.2 % around a solid by semi-Lagrangian; by fluxes nothing.
// method.advection says how the velocity is carried.
//
// Deviation from [LGF04]: solids are cut cells, and no smoke enters them. Where no solid moves, a cell holds as much as the widest of its
// faces is open; where any does, a whole cell, and what flows through a face is what the solid sweeps and what flows beside it.

#include "tarn/step/step.h"

namespace tarn::smoke {

template <int D>
Water<D> initial_water(const Scene& scene);

// What follows from the state.
template <int D>
void restore(Water<D>& water, const Scene& scene);

template <int D>
StepReport step(Water<D>& water, const Scene& scene, double dt);

// `volume` is that of the smoke, times its density; cells with smoke are those with a thousandth of density one.
template <int D>
void measure(Measures& measures, Water<D>& water, const Params& params);

}  // namespace tarn::smoke
