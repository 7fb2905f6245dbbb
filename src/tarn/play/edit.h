#pragma once
// Changes of a state of water and air between two steps, by hand: water that is poured or taken away, a velocity that is
// pushed, walls that come and go. A change of phi or velocity is followed by their gradients, as after droplets have been
// returned to the grid (step/two_phase.cpp), and the volume that it brings or takes is booked to the component of water
// where it happened, so that the volume correction does not undo it.

#include <functional>

#include "tarn/scene/scene.h"
#include "tarn/step/water.h"

namespace tarn {

// What a change of the water's state must be told: the distance from the brush, in metres, negative inside.
using BrushDistance = std::function<double(Vec<2>)>;

// Water inside the brush, which moves with `velocity`.
void pour(Water<2>& water, const Scene& scene, const BrushDistance& brush, Vec<2> middle, Vec<2> velocity);

// Air inside the brush; droplets in it are gone, too.
void remove_water(Water<2>& water, const Scene& scene, const BrushDistance& brush, Vec<2> middle);

// Whatever flows inside the brush takes on that share of `velocity`, less towards the brush's edge, `radius` from its
// middle line.
void push(Water<2>& water, const BrushDistance& brush, double radius, Vec<2> velocity, double share);

// The solids are those of the scene now. The water that they cover is gone; what they leave bare is as beside it.
void change_solids(Water<2>& water, const Scene& scene);

// Another scene of the same domain, with other methods or another number of cells, takes over the water as it is: phi,
// velocity, pressure, droplets, time.
Water<2> carried_over(const Water<2>& water, const Scene& scene);

// The volume of the water: on the grid, and in droplets less bubbles.
double volume_of(const Water<2>& water, const Params& params);

}  // namespace tarn
