#pragma once
// Making phi a signed distance again, |grad phi| = 1, in a band around the surface, without moving the surface.
//
// Cells next to the surface keep where it crosses between them and their neighbours: there phi becomes
// phi / |grad phi| (Russo & Smereka 2000). Deviation: the gradient is from central differences, and from the steepest
// one-sided one only across a ridge; the steepest everywhere pulls the surface along when it is done step after step.
// And slopes between `least_slope` and its inverse are left as they are: a corner's is never 1, and put right again and
// again it would wear the corner off. Where curvature is read from phi, neither will do: ripples would grow, or kinks
// stay, so a smooth surface's distance is that to its nearest point (surface/nearest.h). From these cells the eikonal
// equation is solved outwards with second-order upwind differences (Sethian's), all cells at once, a cell further each
// sweep: the same result as fast marching, in any order of cells.

#include "tarn/backend/parallel.h"
#include "tarn/field/field.h"
#include "tarn/surface/closed.h"

namespace tarn {

// What becomes of the cells next to the surface.
struct NearSurface {
    float least_slope = 0.9f;
    bool smooth = false;  // where the surface is smooth, the distance to its nearest point
};

// Redistances on the tiles, up to `band` metres; beyond, phi becomes +-band. Phi's padding is `outside`. `scratch` is a
// field to work in.
template <int D>
void redistance(Field<D>& phi, const Tiles<D>& tiles, double band, Field<D>& scratch, NearSurface near = {});
template <int D>
void redistance(Field<D>& phi, const Tiles<D>& tiles, double band, Field<D>& scratch, const ClosedFaces<D>& closed,
                NearSurface near = {});

}  // namespace tarn
