#pragma once
// Marker particles: massless points through the whole liquid that show where it is.   [FM96] §4.1
//
// They start as a lattice of m^D in every cell, go with the flow, enter at inflows as further rows of that lattice, and
// leave at open sides and sinks. A marker stands for 1/m^D of a cell. Positions are held as those of Particles: in cells, a
// cell's centre has its integer index; the radius is that of a ball of a marker's volume, negative as phi is in water.

#include "tarn/surface/labels.h"
#include "tarn/surface/particles.h"

namespace tarn {

// How many stand along a cell's side, that there are at least so many in a cell.
template <int D>
int markers_along(int per_cell)
{
    int m = 1;
    const auto all = [](int n) { return D == 2 ? n * n : n * n * n; };
    while (all(m) < per_cell) ++m;
    return m;
}
// The volume that a marker stands for, in cells.
template <int D>
double marker_share(int along)
{
    return D == 2 ? 1.0 / (along * along) : 1.0 / (along * along * along);
}

// Fills the water of phi, outside of walls, with the lattice.
template <int D>
void seed_markers(Particles<D>& markers, const Field<D>& phi, const Labels<D>& labels, int along);

// Adds markers at these places, in cells.
template <int D>
void add_markers(Particles<D>& markers, const std::vector<Vec<D, float>>& places, int along);

// Removes the markers for which `gone`, filled by the caller, is not zero. Returns how many went.
template <int D>
int remove_markers(Particles<D>& markers, const Memory<int>& gone);

// Labels every cell that may hold water by its markers: none, empty; some and an empty cell beside it, surface; else full.
// Walls, inflow and outflow stay.   [FM96] §4.1
template <int D>
void label_cells(Labels<D>& labels, const Particles<D>& markers);
// The same by a field that is not zero where there is water.
template <int D>
void label_wet_cells(Labels<D>& labels, const Field<D, int>& wet);

// Moves markers by the velocity around them, weighted by area, for dt; they do not enter walls. They reach less than a cell.
// Deviation: by the midpoint rule. With Euler's, markers that go round drift outwards, and the water grows.
template <int D>
void move_markers(Particles<D>& markers, const FaceField<D>& velocity, const Labels<D>& labels, double dt);

// Phi near the surface of what the markers fill. A cell's share of water is the sum of its markers' area weights, over what
// a cell in the midst of water has, and over the part of the weights that no wall covers:
//   f = sum W(x - x_p) / m^D / sum over cells that are no walls of their part of W.
// Across a plane at distance d cells f = (1 - d)^2 / 2 in front of it and 1 - (1 + d)^2 / 2 behind, which gives d from f.
template <int D>
void find_phi(Field<D>& phi, const Particles<D>& markers, const Labels<D>& labels, int along);

}  // namespace tarn
