#pragma once
// Water on an octree: small cells around the surface, solids, sources and sinks, larger ones in the depth.   [LGF04]
//
// The step is that of the uniform grid (step/free_surface.cpp). The finest level's fields are the uniform grid's, so all that has to do
// with the surface is that of the uniform grid, too; what is said here is what the velocity and the pressure do in larger cells.
//
// Deviation: velocities sit on faces in every cell, and phi exists on the finest level alone. [LGF04] keep both at nodes, which
// averages velocities to and fro in every step (Irving et al. 2006, §1).
// Deviation: trees are graded, cells that touch differ by one level at most.

#include "tarn/scene/scene.h"
#include "tarn/step/water.h"

namespace tarn {

// The tiles with values within the band, and those around them.
template <int D>
Tiles<D> near_surface(const Field<D>& phi, double band);

// Makes the levels that the scene asks for, if it does.
template <int D>
void make_levels(Water<D>& water, const Scene& scene);

// Divides the domain after the tiles have been found: what becomes small or large gets its values from what was there. A tile of small
// cells stays one while it is beside one that must be (hysteresis). With `as_before`, they are those of the state alone. Returns whether
// any cell has changed.
template <int D>
bool divide_domain(Water<D>& water, bool as_before = false);

// What the projection takes of them.
template <int D>
LargerCells<D> larger_cells(Water<D>& water)
{
    water.octree_system.octree = &water.octree;
    return {water.coarse, water.octree_system};
}

// Where the velocity on the finest level is carried: MacCormack's scheme looks around what it carries.
template <int D>
Tiles<D> tiles_to_advect(const Water<D>& water, const Params& params);

// Without tiles of larger cells alone.
template <int D>
TileMap<D> fine_map(const TileMap<D>& map);

// The velocity in larger cells moves with itself.
template <int D>
void advect_larger_cells(Water<D>& water, Advection scheme, double dt);
// And feels forces, and gravity.
template <int D>
void push_larger_cells(Water<D>& water, const Scene& scene, double start, double dt, Vec3 gravity = {});

// Every level gets what its neighbours know: parents the means of their children, and what lies around a level values between those of
// the level above.
template <int D>
void join_levels(Water<D>& water);

// The initial velocity and pressure in larger cells; `level` is the height of the surface.
template <int D>
void start_larger_cells(Water<D>& water, const Scene& scene);
template <int D>
void start_larger_cells_hydrostatic(Water<D>& water, Vec<D> gravity, double density, double level);

// Of the leaves of all larger cells.
struct LargerMeasures {
    double volume = 0, kinetic = 0, potential = 0;  // potential: the sum of volume times g . x
    double fastest = 0, divergence = 0;
    long cells = 0;
};
template <int D>
LargerMeasures measure_larger_cells(Water<D>& water, Vec<D> gravity, double ahead);

// The largest velocity component on a face of a level's leaves; NaN where any is.
template <int D>
double fastest_in_leaves(const FaceField<D>& velocity, const OctreeLevel<D>& level);

// Cells that hold water on every level; of a uniform grid none.
template <int D>
std::vector<long> cells_of_levels(const Water<D>& water);

}  // namespace tarn
