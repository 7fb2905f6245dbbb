#pragma once
// Solids as the surface meets them.

#include "tarn/field/sheets.h"

namespace tarn {

// The open part of each face, and the distance at nodes. What lies behind a closed face is another water's, or a
// solid's inside, and does not count. `forget` says that phi comes from shapes, whose sides may run along walls: those
// are no surface.
template <int D>
struct ClosedFaces {
    const FaceField<D>& open;
    const Field<D>& distance;
    bool forget = false;
    Sheets<D> sheets = {};           // walls thinner than a cell
    const Field<D>* room = nullptr;  // with such walls: the part of a cell that is its side's
};

}  // namespace tarn
