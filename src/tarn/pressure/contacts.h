#pragma once
// Water that would pass a wall within the surface's next step: it comes to the wall, and no further.
//
// Walls push water across a gap delta of air that the water closes within dt (Signorini's condition with a gap):
//
//   0 <= p,  u . n >= -delta / dt  (n: away from the wall),  and one of the two holds as an equality.
//
// Where it is the second, the face between the water and the gap moves as the wall does that it will be at: with -delta / dt. So the water
// turns aside as it arrives and not a step later, when what had passed the wall would be lost. The air of a gap is a column of dry
// cells along an axis, from the surface to the wall.

#include "tarn/backend/parallel.h"
#include "tarn/field/field.h"
#include "tarn/pressure/boundary.h"
#include "tarn/pressure/surface_view.h"

namespace tarn {

struct Contacts {
    int faces = 0;  // that are in contact
    Memory<int> workspace;
};

// Marks the faces that are in contact, and takes the mark from those that are not, for x = p dt / (rho h) of the newest solve and the
// velocity before it; or for x = null by the velocity alone. Air that is `enclosed` keeps its volume: nothing comes to a wall across it.
// Returns whether any changed.
template <int D>
[[nodiscard]] bool find_contacts(FaceField<D, uint8_t>& known, const FaceField<D>& velocity, const Field<D>* x,
                                 const Boundary<D>& boundary, const SurfaceView<D>& surface, View<D, const int> enclosed,
                                 const Tiles<D>& active, Contacts& contacts);

// The air of the gaps moves as the water does that closes them.
template <int D>
void carry_to_contacts(FaceField<D>& velocity, const FaceField<D, uint8_t>& known, const Boundary<D>& boundary, const Tiles<D>& active);

}  // namespace tarn
