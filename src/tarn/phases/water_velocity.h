#pragma once
// What of the other phase's velocity (phases/phase_velocities.h) water and air take, and the surface does.
//
// The surface is made of water, and moves with it: by the velocity on faces of cells of water, extended from there into the air,
// grad phi . grad u = 0, as far as it comes within the step (Sussman et al. 2007). That across the surface water and air share, so that
// cells of water keep their volume; that along it jumps, and the air's is not the surface's: in a gap that closes air leaves at the gap's
// length over its width times the speed at which it closes, and would tear drops off the gap's rim, which arrive somewhere else with
// 1000 times its mass.
//
// Heuristic: of a face beside a cell of water, air may still hold most, and leave through it. So each component is held to the range of
// those that faces of water, and what bounds it, have in the tiles that it can reach, and half as much again on either side; a range, so
// that water that falls as a whole is held to its fall. `scenes/solids_with_air_2d.toml` comes to 7.7 m/s on 256 cells with half, 8.4 with
// once and 15.5 with twice as much, and to 12.7 without any.

#include "tarn/phases/phase_velocities.h"
#include "tarn/pressure/boundary.h"

namespace tarn {

// Makes `velocity` what moves the surface, which is at phases.phi, for dt. Leaves what it was in `phases.air`. `known` and `scratch` are
// fields to work in.
template <int D>
void find_surface_velocity(FaceField<D>& velocity, PhaseVelocities<D>& phases, FaceField<D, uint8_t>& known, FaceField<D>& scratch,
                           const Boundary<D>& boundary, const CutFaces<D>& cut, double dt, const Tiles<D>& tiles);

// After part_velocities: what a phase may not take from the other is in proportion to the difference of their densities, as of
// equal ones each face's velocity is that of both. So extended velocities count with the Atwood number, |rho_water - rho_air| over
// the sum, and what was there before with the rest.
template <int D>
void weigh_extensions(FaceField<D>& velocity, Gradient<D> (&gradient)[D], PhaseVelocities<D>& phases, const Params& params,
                      const CutFaces<D>& cut, const Tiles<D>& tiles);

}  // namespace tarn
