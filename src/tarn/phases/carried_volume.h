#pragma once
// What a level set forgets, kept: the volume of water that every cell should hold goes with the flow, and the surface
// follows it.
//
// The volume is carried conservatively however long the step is (Lentine, Aanjaneya & Fedkiw 2011): a cell's path comes
// from between 2^D cells and wants a share of each. Of a cell that is wanted more than once everyone gets less; what
// nobody wants of a cell goes where the flow takes it.
//
// What a cell should hold more than phi says is its volume error. The carried volume diffuses and phi does not, so that only
// the mean of the volume error over some cells around counts. Where there is a surface among them phi moves to pay it, the more
// surface the less; elsewhere, as in water that has swallowed bubbles too small for the grid, it is carried on. Water
// and volume error together stay what they are.

#include "tarn/backend/parallel.h"
#include "tarn/field/field.h"
#include "tarn/phases/droplets.h"
#include "tarn/pressure/boundary.h"
#include "tarn/surface/measure.h"

namespace tarn {

template <int D>
struct CarriedVolume {
    Field<D> held;     // what a cell should hold, in cells
    Field<D> before;   // what it held by phi
    Field<D> surface;  // how much surface is around
    Field<D> scratch;
    Memory<int> wanted;  // how much of a cell paths want
    Memory<int> given;   // what went where the flow takes it

    CarriedVolume() = default;
    explicit CarriedVolume(const Grid<D>& grid)
        : held(grid),
          before(grid),
          surface(grid),
          scratch(grid),
          wanted(static_cast<size_t>(grid.storage())),
          given(static_cast<size_t>(grid.storage()))
    {
    }
};

// Before phi moves along `path` for dt: what every cell should hold then. What nobody wants and leaves through an open
// side is gone.
template <int D>
void carry_volume(CarriedVolume<D>& workspace, const Field<D>& volume_error, const WetPart<D>& wet, const FaceField<D>& velocity,
                  const FaceField<D>& path, const Boundary<D>& boundary, const Tiles<D>& tiles, double dt);

// Cells no longer hold what has become droplets; what has become bubbles is water again. Guesses are forgotten: the
// volume error knows better.
template <int D>
void take_from(Field<D>& held, std::vector<Lost<D>>& lost);

// After it has moved: what cells hold too little. `wet` looks at phi.
template <int D>
void find_volume_error(Field<D>& volume_error, const WetPart<D>& wet, const Tiles<D>& tiles, const CarriedVolume<D>& workspace);

// Phi moves to pay what is missing.
template <int D>
void correct_volume_error(Field<D>& phi, Field<D>& volume_error, const WetPart<D>& wet, const Tiles<D>& tiles, CarriedVolume<D>& workspace);

// Before something else changes phi: what cells hold. And after it: so much, in cells, is missing where it did.
template <int D>
void note_volume(CarriedVolume<D>& workspace, const WetPart<D>& wet, const Tiles<D>& tiles);
template <int D>
void add_volume_error(Field<D>& volume_error, double volume, const WetPart<D>& wet, const Tiles<D>& tiles, const CarriedVolume<D>& workspace);

}  // namespace tarn
