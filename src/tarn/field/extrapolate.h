#pragma once
// Carrying the velocity past the water's surface and into solids: grad phi . grad u = 0.   [EMF02] §3.3.1
//
// Each unknown face takes the mean of its known neighbours that lie nearer to the water, weighted by how much nearer
// they are, which is the upwind discretisation of the equation. Faces become known layer by layer, in order of
// distance.

#include "tarn/backend/parallel.h"
#include "tarn/field/thin_walls.h"

namespace tarn {

// Extends component `axis` of a face field from the faces marked known (1) to those within `layers` cells, on the given
// tiles, of which `unknown` have all the others. `distance` is at cell centres, `outside` beyond the grid, and grows
// away from the known faces. Faces not reached become 0. `scratch` is a field to work in. Nothing comes through a
// sheet, nor to a face that has one.
//
// With `otherwise`, values that are there already, faces not reached keep those, and without thin walls the others go on
// from their neighbours with the slope so far, as far as it leads towards what is there (minmod): a smooth field stays
// what it is to second order, and none gets new extremes.
template <int D>
void extrapolate(Field<D>& u, const Field<D, unsigned char>& known, int axis, const Field<D>& distance,
                 const Tiles<D>& tiles, const Tiles<D>& unknown, int layers, Field<D>& scratch,
                 const ThinWalls<D>& thin_walls = {}, const Field<D>* otherwise = nullptr);

}  // namespace tarn
