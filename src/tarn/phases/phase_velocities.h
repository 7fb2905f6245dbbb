#pragma once
// Each phase's own velocity where water and air meet.
//
// Across the surface the velocity along it may jump, and with a density ratio of 1000 the two sides have nothing to
// tell each other but through the pressure. Advection that samples one field on both sides gives faces that become
// water the speed of air at 1000 times its mass. So each phase is advected by itself: its velocity is its own on faces
// of which it holds at least half, and is extended from there some cells into the other, grad phi . grad u = 0 (as
// Fedkiw et al. 1999 do with ghost values). Faces then get the momentum of what they hold,
//
//   u = (s rho_water u_water + (1 - s) rho_air u_air) / rho,   with the share s of water on the face after the step,
//
// which is a mean of the two by mass and never beyond both. CIP's gradients are extended and averaged likewise.

#include "tarn/advect/cip.h"
#include "tarn/backend/parallel.h"
#include "tarn/field/thin_walls.h"
#include "tarn/params/params.h"

namespace tarn {

template <int D>
struct CutFaces;

// The air's velocity, beside that of the water, which is kept where the velocity is.
template <int D>
struct PhaseVelocities {
    FaceField<D> air;
    Gradient<D> air_gradient[D];  // only with CIP
    Field<D> phi;                 // at the start of the step
    Field<D> carried;             // negative where a phase is to be advected

    PhaseVelocities() = default;
    PhaseVelocities(const Grid<D>& grid, bool cip)
        : air(grid), phi(distance_field(grid, 0.0f)), carried(distance_field(grid, 0.0f))
    {
        for (int a = 0; a < D && cip; ++a) air_gradient[a] = Gradient<D>(grid);
    }
};

// Makes `velocity` the water's and `phases.air` the air's, and their gradients, if there are any. `known` and `scratch`
// are fields to work in, and `moved` another where there are gradients.
template <int D>
void part_velocities(FaceField<D>& velocity, Gradient<D> (&gradient)[D], PhaseVelocities<D>& phases,
                     FaceField<D, uint8_t>& known, FaceField<D>& scratch, FaceField<D>& moved, const CutFaces<D>& cut,
                     const ThinWalls<D>& thin_walls, const Tiles<D>& tiles);

// Marks the cells beside faces that will hold water, or air, when the surface is at phi.
template <int D>
void find_carried(PhaseVelocities<D>& phases, const Field<D>& phi, bool water, const Tiles<D>& tiles);

// Joins them again where the surface is now.
template <int D>
void join_velocities(FaceField<D>& velocity, Gradient<D> (&gradient)[D], const PhaseVelocities<D>& phases,
                     const Field<D>& phi, const Params& params, const CutFaces<D>& cut, const Tiles<D>& tiles);

}  // namespace tarn
