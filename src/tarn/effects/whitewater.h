#pragma once
// Whitewater: spray, bubbles and foam over water that has been simulated already, and that they do not change.
//   [FM96] §6, and emitters after Ihmsen et al. 2012, Unified spray, foam and bubbles for particle-based fluids
//
// The water is known at the ends of frames. Between two of them the surface is that of both, moved along its own
// velocity and weighted by time,
//
//   phi(x, s) = (1 - s) phi_0(x - s dt u_0(x)) + s phi_1(x + (1 - s) dt u_1(x)),
//
// and so is the velocity, where both frames have one. Expected numbers that appear in a time dt, by area A of the surface:
//
//   rising surface   rise (w - rise_speed) A dt                 w = u . up, droplets with the velocity of the water [FM96]
//   crests           crest (u . n) A dt                         where it moves outwards and kappa > crest_curvature
//   trapped air      trapped (s - trapped_speed) A dt           bubbles; s = (|v| - v . d) / 2 of water on two sides of a
//                                                               cell of air, v and d their differences of velocity and place
//   impact           impact (s / impact_speed - 1)              droplets of one that lands with s against the surface
//
// s is the whole difference where the two sides meet, half of it where they shear, and nothing where they part. What
// happens to a whole number of drops is decided by random numbers that follow from the cell, the step and the seed.
//
// Droplets fly under gravity and the drag of air at rest or of wind, and divide by chance; bubbles rise under buoyancy
// and the drag of water; walls and solids stop both (phases/flight.h). A droplet that lands and a bubble that comes to
// the surface become foam, which goes with the surface as long as it lives: a random time in proportion to its radius.
// They are held like all droplets and bubbles (phases/droplets.h). Their volume is not taken from the water.

#include "tarn/effects/spray.h"

namespace tarn {

// [whitewater] of a scene with what is not given there filled in: lengths and speeds follow from the domain's longest
// side, so that they are the same at any resolution.
WhitewaterParams filled_in(const Params& params);

template <int D>
struct Whitewater {
    Droplets<D> drops;
    double next_id = 0;
    long step = 0;
    bool full = false;  // in the newest step fewer appeared than should have, since there are no more than `most`

    // Workspace.
    Field<D> phi;  // between two frames
    SprayWorkspace<D> workspace;
    Memory<int> born, bubbles;  // by cell
    Memory<float> thrown[3];    // by drop
};

// Two frames of water.
template <int D>
struct TwoFrames {
    const Field<D>* phi[2];
    const FaceField<D>* velocity[2];
    double dt;  // between them
};

// What they move in.
struct Surroundings {
    Wind wind;
    Vec3 gravity;
};

// A step that ends when a share `s` of the time between the frames has gone by and takes the share `ds`. Whatever
// appears, appears at some time within.
template <int D>
void step(Whitewater<D>& w, const TwoFrames<D>& frames, double s, double ds, const Solids<D>& solids,
          const Boundary<D>& boundary, const Surroundings& around, const Params& params);

// Takes over droplets: the run's own, say, that land before the next frame.
template <int D>
void add(Whitewater<D>& w, std::vector<Droplet<D>> droplets);

}  // namespace tarn
