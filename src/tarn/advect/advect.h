#pragma once
// Moving fields with the flow: d phi / dt + u . grad phi = 0.
//
// Semi-Lagrangian: the value at x is the old value where the flow was a step ago [EMF02 §3.3.2], the path traced by RK2
// (midpoint) or RK3 (Ralston). MacCormack (Selle et al. 2008): traced forth and back to find the error, half of which
// is taken off, limited to the values around the departure point so that nothing overshoots. WENO5 with TVD-RK3
// (Jiang & Peng 2000) is the reference for phi; it takes as many substeps as its own stability needs.
//
// Beside thin walls paths and samples stay on their side. There MacCormack is not corrected, and with such walls
// anywhere WENO5 gives way to the semi-Lagrangian method with RK3.

#include "tarn/advect/trace.h"
#include "tarn/backend/parallel.h"
#include "tarn/field/field.h"
#include "tarn/params/params.h"

namespace tarn {

// Moves a distance on the given tiles. MacCormack corrects only where |phi| < `near`, from where no path of this step
// leaves the tiles. Cells with |phi| > `far` cannot change their side in this step: they keep their value, which
// redistancing will put right. `scratch` are two fields to work in. `past_ends` says that phi's padding is not all
// `nowhere`: paths from beyond the grid bring what is there.
template <int D>
void advect(Field<D>& phi, const FaceField<D>& velocity, const Tiles<D>& tiles, double dt, Advection scheme,
            double near, double far, Field<D>* const scratch[2], bool past_ends = false, const Sides<D>& sides = {});

// Moves the velocity with itself. `next` holds the old velocity afterwards. Faces away from water (phi >= 0 on both
// sides) become zero: they are extrapolated later. `scratch` are D fields to work in.
template <int D>
void self_advect(FaceField<D>& velocity, FaceField<D>& next, const Field<D>& phi, const Tiles<D>& tiles, double dt,
                 Advection scheme, Field<D>* const scratch[D], const Sides<D>& sides = {});

}  // namespace tarn
