#pragma once
// What of the other phase's velocity (phases/phase_velocities.h) water and air take, and the surface does.
//
// The surface is carried by the velocity across it, which water and air share, and not by that along it, which jumps. Where it is
// resolved the air's does no harm, and water and air together are free of divergence. In a gap that closes it does: air leaves at the gap's
// length over its width times the speed at which it closes, and would tear drops off the gap's rim, which arrive somewhere else with
// 1000 times its mass. But no part of the surface is faster than the fastest water, which the faces of water know as well as a cell
// can. Heuristic: what moves the surface is held to twice that, so that nothing is held that is resolved. With once, twice and four times
// three random scenes that land (validation/soak --phases, seeds 65, 73, 79) come to 2.1, 2.4 and 2.2 times the speed of what falls at most;
// without, to 7.4.

#include "tarn/phases/phase_velocities.h"

namespace tarn {

// Holds every component of `velocity` to twice the largest that one has on faces of which water holds at least half, where the
// surface is at phases.phi. Leaves what it was in `phases.air`.
template <int D>
void hold_to_water(FaceField<D>& velocity, PhaseVelocities<D>& phases, const Tiles<D>& tiles);

// After part_velocities: what a phase may not take from the other is in proportion to the difference of their densities, as of
// equal ones each face's velocity is that of both. So extended velocities count with the Atwood number, |rho_water - rho_air| over
// the sum, and what was there before with the rest.
template <int D>
void weigh_extensions(FaceField<D>& velocity, Gradient<D> (&gradient)[D], PhaseVelocities<D>& phases, const Params& params,
                      const CutFaces<D>& cut, const Tiles<D>& tiles);

}  // namespace tarn
