#pragma once
// Solids on the grid: a distance at the nodes, the open fraction of every face, and how the solid moves there.

#include "tarn/field/field.h"

namespace tarn {

template <int D>
struct Solids {
    bool any = false;         // false: the fields below stay empty and every inner face is open
    bool moving = false;
    Field<D> distance;        // at nodes, negative inside the solid
    FaceField<D> open;        // 0 closed ... 1 open
    FaceField<D> velocity;    // of the solid, on faces; only where `moving`
};

}  // namespace tarn
