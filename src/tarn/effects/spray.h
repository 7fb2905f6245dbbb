#pragma once
// Spray: droplets of water without air, too small for the grid.   [IGLF06] §6, there called removed negative particles
//
// A particle of water that has escaped so far that the grid will not find it again leaves the particle level set and
// flies on by itself [EMF02]. It stands for 1 / particles_per_cell of a cell of water, as it was seeded, which it takes
// from the target volume of the connected component that it was part of; where a component has less, its particles
// share that. So target volumes and spray always add up to the same, whether or not the volume is corrected.
//
// It moves by gravity and by the drag of air that is at rest or blows as the scene's wind; walls and solids stop it
// (effects/flight.h).
//
// Landing gives back volume and momentum, apart from each other and independent of the step. The surface is moved
// outwards around the place of impact until it holds as much more (the inverse of (15) in [SSK05] §5.3, to first
// order),
//
//   phi(c) <- phi(c) - sum_d b_d w_d(c),   b_d sum_c w_d(c) delta(phi(c)) h^D = V_d,   w_d(c) = 1 - |c - x_d|^2 / (3
//   h)^2,
//
// and by no more than a quarter of a cell for one drop. The drop's volume becomes part of the target volume of the
// connected component that it lands in, so that the volume correction gives back what is left of it. Momentum goes to
// the faces around the place of impact at once, as the mean by mass of what is there and of what arrives,
//
//   u_f <- (m_f u_f + sum_d w_df m_d u_d) / (m_f + sum_d w_df m_d),
//
// with w the weights of multilinear interpolation and m_f the mass of the water around the face: no component gets
// larger than the largest of all that are mixed, whatever the step.
//
// Positions are counted in cells from the first cell's centre, volumes in cells. Drops are held with all other droplets
// and bubbles (phases/droplets.h), in the order in which they came to be.

#include <vector>

#include "tarn/base/frame_forces.h"
#include "tarn/bodies/solids.h"
#include "tarn/phases/droplets.h"
#include "tarn/pressure/boundary.h"
#include "tarn/scene/wind.h"
#include "tarn/surface/target_volumes.h"
#include "tarn/surface/particles.h"

namespace tarn {

template <int D>
struct SprayWorkspace {
    Droplets<D> drops;
    Memory<int> starts, fates, shift;
    int fresh = 0;  // as many at the end of the list are of this step, and have moved already
};

// What became of spray that flies no more, in the order of the list.
template <int D>
struct Landing {
    int body;  // of the target volumes, counted from 1; 0: it left through an open side
    Vec<D, float> x, u;
    double volume, placed = 0;  // placed: as much of it is on the grid
};

// Takes out what has no volume any more, and makes room for `more` at the end. Returns where that begins. Where anything
// has changed, workspace.drops has the list as it was.
template <int D>
int compact(Droplets<D>& drops, int more, SprayWorkspace<D>& workspace);

// Turns lost particles into spray. To be asked while the target volumes have the components that were there before the surface
// moved for dt; the volume is taken from them. `next_id` counts droplets.
template <int D>
void take_up(Droplets<D>& drops, Particles<D>& particles, const LostParticles& lost, const FaceField<D>& velocity,
             TargetVolumes<D>& targets, const ThinWalls<D>& thin_walls, double volume_each, double dt, double& next_id,
             SprayWorkspace<D>& workspace);

// Lets spray fly for dt. What lands in water, or leaves, is taken out of the list.
template <int D>
std::vector<Landing<D>> fly(Droplets<D>& drops, const Field<D>& phi, const TargetVolumes<D>& targets, const Solids<D>& solids,
                            const Boundary<D>& boundary, const Params& params, const Wind& wind, const FrameForces& frame,
                            double dt, SprayWorkspace<D>& workspace);

// Gives the volume of what has landed to phi around, as far as there is a surface. Particles of air go from where it
// has come.
template <int D>
void add_volume(Field<D>& phi, Particles<D>& particles, std::vector<Landing<D>>& landings, const ThinWalls<D>& thin_walls,
                const Tiles<D>& tiles, SprayWorkspace<D>& workspace);

// Gives the momentum of what has landed to the faces around, those with water and not closed by `boundary`.
template <int D>
void add_momentum(FaceField<D>& velocity, const std::vector<Landing<D>>& landings, const Field<D>& phi,
                  const Boundary<D>& boundary);

}  // namespace tarn
