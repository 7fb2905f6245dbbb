#pragma once
// What the surface moves with: the water's own velocity, extended some cells into the air (phases/phase_velocities.h).
//
// The surface is carried by the velocity across it, which water and air share, and not by that along it, which jumps. In a
// gap that closes air leaves at the gap's length over its width times the speed at which it closes; with a mean of both
// velocities its speed would tear drops off the gap's rim, which arrive somewhere else with 1000 times its mass. So water
// goes where its momentum goes. What one phase keeps for itself is in proportion to the difference of their densities: of equal
// ones the surface is carried by what both have in the mean.

#include "tarn/phases/phase_velocities.h"

namespace tarn {

// Makes `velocity` the water's, and leaves what it was in `phases.air`.
template <int D>
void take_water(FaceField<D>& velocity, PhaseVelocities<D>& phases, const Params& params, FaceField<D, uint8_t>& known,
                FaceField<D>& scratch, const Sheets<D>& sheets, const Tiles<D>& tiles);

// After part_velocities: what a phase may not take from the other is in proportion to the difference of their densities, too.
// Extended velocities count with the Atwood number, |rho_water - rho_air| over the sum, and what was there before with the rest.
template <int D>
void weigh_extensions(FaceField<D>& velocity, Gradient<D> (&gradient)[D], PhaseVelocities<D>& phases, const Params& params,
                      const Tiles<D>& tiles);

}  // namespace tarn
