#pragma once
// Gaps of air that water closes within a step, where the air can leave: the water comes to a wall, or to other water.
//
// The pressure acts from the time of contact on, and over all of the area that touches then. A system that asks where the water is at the
// start of the step has p = 0 in the gap all through the step: what has touched already is driven out through the gap, as a jet of a
// single cell. So the surfaces have Signorini's condition with the gap delta:
//   p >= 0,  delta - dt (u . n) >= 0,  one of them zero,
// where u . n is the speed of approach. Cells of air between such surfaces are unknowns, which take what fills the gap.

#include "tarn/backend/memory.h"
#include "tarn/backend/parallel.h"
#include "tarn/field/field.h"
#include "tarn/pressure/boundary.h"

namespace tarn {

template <int D>
class ClosingGaps {
public:
    // What a solve asks: the velocity u*, over the time dt in which the surface will move with the result.
    struct Now {
        const FaceField<D>& velocity;
        const Boundary<D>& boundary;
        View<D, const int> enclosed;  // positive where air cannot leave; data null: nowhere
        const Tiles<D>& tiles;
        double dt;
    };

    // A cell of air that is wet for the solve, and which side is behind it: 2 a + 1 at the end of axis a, or -1.
    struct Closed {
        int cell;
        float phi;
        int side, place;
    };

    // Makes cells of air wet that water fills within dt. Between two surfaces what fills them is a `divergence`, per second; before a closed
    // side of the domain the water at the side moves with the velocity that closes the gap, as it does where the gap is thinner than half
    // a cell, and phi negative in all cells. Returns whether any cell is wet now that was not.
    bool close(Field<D>& phi, Field<D>& divergence, WallFaces<D>& walls, const Now& now);
    // Those that would pull are air again. Returns whether there were any. x = p dt / (rho h).
    bool separate(Field<D>& phi, Field<D>& divergence, WallFaces<D>& walls, const Field<D>& x);
    // After the solve phi is what it was: the surface's next step fills the gaps, and `divergence` keeps what does. Returns whether there were any.
    bool restore(Field<D>& phi);

private:
    Memory<Closed> cells_;
    Memory<int> number_;
    int count_ = 0;
};

}  // namespace tarn
