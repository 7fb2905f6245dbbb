#pragma once
// Solids on the grid: a distance at the nodes, the open fraction of every face, and how the solid moves there.

#include "tarn/backend/parallel.h"
#include "tarn/pressure/boundary.h"
#include "tarn/surface/measure.h"

namespace tarn {

template <int D>
struct Solids {
    bool any = false;  // false: the fields below stay empty and every inner face is open
    bool moving = false;
    Field<D> distance;              // at nodes, negative inside the solid
    FaceField<D> open;              // 0 closed ... 1 open
    FaceField<D> velocity;          // of the solid, along each axis; only where `moving`
    FaceField<D, uint8_t> no_slip;  // whether water sticks to the solid at a face; only where any solid is so
    bool any_no_slip = false;
};

// The open fraction of every face on the tiles, from the distances at its nodes. A sliver is closed, since the pressure
// could not be solved through it.
template <int D>
void measure_faces(Solids<D>& solids, const Tiles<D>& tiles);

// Continues phi into solids along their normals, straight on, so that a flat surface stays flat where it meets a wall
// of any slope. With `keep_gaps`, air behind water stays, as where water has parted from the solid.
template <int D>
void extend_into_solids(Field<D>& phi, const Solids<D>& solids, const Tiles<D>& tiles, double band, bool keep_gaps,
                        Field<D>& scratch);

// Takes the velocity found by extrapolation inside solids and removes what would cross their surface, but for the air
// behind water that leaves them.
template <int D>
void slide_along_solids(FaceField<D>& velocity, const Solids<D>& solids, const Boundary<D>& boundary,
                        const Tiles<D>& tiles, FaceField<D>& scratch);

}  // namespace tarn
