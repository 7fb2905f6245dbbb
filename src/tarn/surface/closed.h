#pragma once
// Solids as the surface meets them.

#include "tarn/field/thin_walls.h"

namespace tarn {

// The open part of each face, and the distance at nodes. What lies behind a closed face is another water's, or a
// solid's inside, and does not count. `forget` says that phi comes from shapes, whose sides may run along walls: those
// are no surface.
template <int D>
struct ClosedFaces {
    const FaceField<D>& open;
    const Field<D>& distance;
    bool forget = false;
    ThinWalls<D> thin_walls = {};           // walls thinner than a cell
    const Field<D>* volume_fraction = nullptr;  // with such walls: the part of a cell that is its side's
};

}  // namespace tarn
