#pragma once
// The state of water with a free surface: what a checkpoint holds and what a step advances.

#include "tarn/bodies/solids.h"
#include "tarn/field/field.h"

namespace tarn {

template <int D>
struct Water {
    Grid<D> grid;
    double time = 0;
    long step = 0;

    Field<D> phi;            // signed distance to the surface, negative in water, exact within the band
    FaceField<D> velocity;
    Field<D> pressure;       // the newest, where the next solve starts
    Solids<D> solids;        // made from the scene and the time; not part of a checkpoint

    double volume_expected = 0;  // what was there at the start, plus sources, minus sinks
};

}  // namespace tarn
