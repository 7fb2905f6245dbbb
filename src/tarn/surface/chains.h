#pragma once
// Marker chains: closed loops of linked points along the water's boundary, in 2D.   [FM96] §4.2
//
// A loop runs along the free surface and along walls with the water on its left: a body of water has one that goes round
// counter-clockwise, and one clockwise for every hole of air in it. Between two points the surface is a spline, so that it
// is finer than the grid. The points go with the flow. Then
//
//   links that have become too long get a point on their spline, points too close to each other become one;
//   where surfaces have come together, across air or across water, the links change partners: bodies join or part;
//   cells that no link passes are full or empty by regions, which grow until they meet links.
//
// Points are held as those of Particles, loop after loop: positions in cells, a cell's centre having its integer index. The
// radius says where a point's link leads: to the next point, or, where it is positive, back to the first of its loop.
// A few thousand points: everything here is the program's, one after another.

#include <functional>
#include <vector>

#include "tarn/surface/markers.h"

namespace tarn {


using Chain = std::vector<Vec2>;  // a closed loop; in cells
using Chains = std::vector<Chain>;

Chains read_chains(const Particles<2>& markers);
void write_chains(Particles<2>& markers, const Chains& chains);

// Around the water of phi, in metres at a place in cells, outside of walls.
Chains chains_around(const std::function<double(Vec2)>& phi, const Labels<2>& labels);

// Twice enclosed counts twice, and holes are taken off: in cells.
double area(const Chain& chain);
double area(const Chains& chains);

// Takes the points to where they have moved; those at walls along them.
void carry(Chains& chains, const Chains& moved, const Labels<2>& labels);

// After the points have moved: those at walls stay at them, links are joined and divided, surfaces that meet reconnect.
void mend(Chains& chains, const Labels<2>& labels);
// The parts of that.
void keep_at_walls(Chains& chains, const Labels<2>& labels);
void respace(Chains& chains, const Labels<2>& labels);
enum class Reconnected { air, water };
void reconnect(Chains& chains, Reconnected what);
void resolve_crossings(Chains& chains);

// Moves the free surface outwards, that it encloses so many cells more.
void move_out(Chains& chains, double by, const Labels<2>& labels);

// Labels cells: those that a link passes or a loop encloses hold water. The others are decided region by region.   [FM96] §4.2
void label_cells(Labels<2>& labels, const Chains& chains);

// The signed distance to the free surface, in metres: exact within `reach` cells, `reach` cells beyond. Links along walls are
// no surface. `finer` times as many cells along each side as the grid of the chains has, and of their splines.
void find_phi(Field<2>& phi, const Chains& chains, const Labels<2>& labels, double reach, int finer = 1);

}  // namespace tarn
