#pragma once
// Fields on the levels of an octree above the finest, whose fields are those of the uniform grid; and how values go from level
// to level.

#include "tarn/field/field.h"
#include "tarn/grid/octree.h"

namespace tarn {

template <int D>
struct CoarseLevel {
    FaceField<D> velocity;  // of leaves; of parents and around leaves, what follows from other levels
    Field<D> pressure;
    Field<D> smoke_density, temperature;  // only with smoke, as on the finest level

    // Workspace.
    FaceField<D> next;
    Field<D> wet;  // as a distance to the surface is: negative
    Field<D> scratch[3];
};

// The finest level's, beside those above it.
template <int D>
using LevelVelocities = std::vector<FaceField<D>*>;

template <int D>
LevelVelocities<D> velocities_of(FaceField<D>& finest, std::vector<CoarseLevel<D>>& coarse)
{
    LevelVelocities<D> all{&finest};
    for (CoarseLevel<D>& level : coarse) all.push_back(&level.velocity);
    return all;
}

// The small faces that a T-face covers get its value.
template <int D>
void copy_to_small_faces(const LevelVelocities<D>& velocity, const Octree<D>& octree);

// The faces of parents near leaves get the mean of the small ones that they cover.
template <int D>
void restrict_to_parents(const LevelVelocities<D>& velocity, const Octree<D>& octree);

// The same of some cells and faces.
template <int D>
void restrict_faces(FaceField<D>& coarse, const FaceField<D>& fine, const Tiles<D>& tiles);
template <int D>
void restrict_cells(Field<D>& coarse, const Field<D>& fine, const Tiles<D>& tiles);

// The faces of `tiles` of a level get values between those of the level above it, by linear interpolation.
template <int D>
void interpolate_faces(FaceField<D>& fine, const FaceField<D>& coarse, const Tiles<D>& tiles);
template <int D>
void interpolate_cells(Field<D>& fine, const Field<D>& coarse, const Tiles<D>& tiles);

// Cells of `tiles` get values with slopes in those of the level above that are the lesser of both sides' along each axis: the mean of a cell is
// kept, and nothing becomes more or less than there is around.
template <int D>
void fill_between(Field<D>& fine, const Field<D>& coarse, const Tiles<D>& tiles);

// Around every level, from the coarsest on, what is found between the values of the level above.
template <int D>
void fill_rims(const LevelVelocities<D>& velocity, const Octree<D>& octree);

}  // namespace tarn
