#pragma once
// The air of a domain with smoke as the grids that it is on: the uniform one, or the levels of an octree.   [LGF04] §4
//
// An octree has small cells beside solids, at sources, where vorticity is high and where the density is that of smoke's edge; sharp edges count, too:
// between neighbours that are on both sides. What is thick, clear or smooth has larger ones.

#include "tarn/step/step.h"

namespace tarn::smoke {

template <int D>
struct AirLevel {
    Grid<D> grid;
    FaceField<D>& velocity;
    FaceField<D>& before;  // where advection leaves the velocity that there was
    Field<D>& density;
    Field<D>& temperature;
    Field<D>* scratch;  // D of them
    Conservative<D>& carrying;
    Tiles<D> cells;   // of this level
    Tiles<D> around;  // and what lies beside them in parents and in larger cells, whose values follow from those
    const OctreeLevel<D>* tree = nullptr;  // of larger cells
};

// The finest first.
template <int D>
std::vector<AirLevel<D>> levels_of(Water<D>& water);
template <int D>
std::vector<CarriedLevel<D>> carried_levels(Water<D>& water);

// The levels that the scene asks for, if it does, for air that is at rest.
template <int D>
void make_air_levels(Water<D>& water, const Scene& scene);

// Divides the domain by what there is now, and tells the cells that there are; on a uniform grid does nothing. Returns whether they are others.
template <int D>
bool divide_air(Water<D>& water, bool as_before = false);

}  // namespace tarn::smoke
