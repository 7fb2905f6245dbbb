#pragma once
// The faces that a projection does not solve for: closed sides of the domain, and those that solids cut beside the surface.

#include "tarn/backend/parallel.h"
#include "tarn/field/field.h"
#include "tarn/pressure/boundary.h"

namespace tarn {

// Keeps the velocity that the water comes with to closed sides.
template <int D>
void start_walls(WallFaces<D>& walls, const FaceField<D>& velocity, const Boundary<D>& boundary, const Tiles<D>& active);

// Closed sides bring their own velocity, whether or not there is water, but not to water that has separated from them:
// that has the one it came with, before the solve.
template <int D>
void close_walls(FaceField<D>& velocity, FaceField<D, uint8_t>& known, const WallFaces<D>& walls, bool before,
                 const Boundary<D>& boundary, const Tiles<D>& active);

// Where a face between water and air is partly closed, what flows through its open part is faster the less is open. The
// velocity that the next step advects with is the mean over the whole face, with the flow inside the wet cell in place
// of the closed part: the nozzle that the grid makes of a corner throws no jet.
template <int D>
void average_cut_faces(FaceField<D>& velocity, const Field<D>& phi, const Boundary<D>& boundary, const Tiles<D>& active,
                       FaceField<D>& scratch);

}  // namespace tarn
