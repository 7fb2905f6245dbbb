#pragma once
// What droplets and bubbles do to the volume of each connected component of water beside air (surface/target_volumes.h).
//
// V*_k, what component k should hold, goes with its water, less the droplets that leave it, plus those that return and the
// bubbles in it, which the grid shows as water.

#include <vector>

#include "tarn/phases/droplets.h"
#include "tarn/surface/target_volumes.h"

namespace tarn {

// Sets l.body for each of the places l.x - back l.u (in cells): the component of the nearest wet cell up to two cells
// away, 0 where there is none.
template <int D>
void find_components(std::vector<Lost<D>>& places, double back, const Field<D, int>& component, const ThinWalls<D>& thin_walls);

// Droplets leave the components that they came from: `lost` knows which, by the numbers that the target volumes have now. Where
// the volume is `kept`, they leave with no more than there should be.
template <int D>
void take_droplets(TargetVolumes<D>& targets, std::vector<Lost<D>>& lost, bool kept, const Grid<D>& grid);

// What components should have held that are gone (surface/target_volumes.h) is in the droplets that they became; and where they
// became none, in new ones, one for each of their cells, where the flow takes it. Returns what that cannot be said of: of
// components that should have held less than nothing, after bubbles in them had burst.
template <int D>
double scatter_gone(std::vector<Lost<D>>& lost, const std::vector<double>& gone, const TargetVolumes<D>& targets,
                  const FaceField<D>& velocity, const Tiles<D>& tiles, double dt, DropletWorkspace<D>& workspace);

// A volume, in m³, comes to a component, or to all where it is 0.
template <int D>
void give(TargetVolumes<D>& targets, int component, double volume);

// What components hold too little, or too much where the volume is negative, is taken from what they should hold, in
// proportion.
template <int D>
void forgive(TargetVolumes<D>& targets, double volume);

}  // namespace tarn
