#pragma once
// Water with a free surface on tall cells.   [IGLF06]
//
// The optical layer is the uniform grid's: its step is step/free_surface.h, with another way to carry the velocity and another
// projection. Below it there are columns of tall cells; see grid/columns.h for what they are.

#include "tarn/effects/vortex_forces.h"
#include "tarn/scene/forces.h"
#include "tarn/step/free_surface.h"

namespace tarn::tall {

template <int D>
Water<D> initial_water(const Scene& scene);

template <int D>
StepReport step(Water<D>& water, const Scene& scene, double dt);

// Rebuilds what a checkpoint does not hold.
template <int D>
void restore(Water<D>& water, const Scene& scene);

// ---- The grid (step/tall_grid.cpp) ----

// So much of the band counts as around the surface: where phi is continued into solids round-off may bring it into the band.
inline constexpr double nearly = 0.999;

// Why a tile keeps all its rows: the scene says so, or something is near that moves.
inline constexpr uint8_t refined_always = 1, refined_now = 2;

// What the scene asks for, with phi and solids as they are at the start.
template <int D>
void make_cells(Water<D>& water, const Scene& scene);

// Tiles around what moves, where it is at time t, keep all their rows.   [IGLF06] §3
template <int D>
void refine_around_movers(Water<D>& water, const Scene& scene, double t);

// Tiles in which gauges read more than the surface keep all their rows.
template <int D>
void refine_around_gauges(Water<D>& water, const Scene& scene);

// Of the tiles with water or its surface, the layer and what paths from it may look at stay active.
template <int D>
void keep_layer(const Water<D>& water, std::vector<uint8_t>& flags);

// The columns for the surface as it is.
template <int D>
TallColumns choose_columns(const Water<D>& water, const Boundary<D>& boundary, std::vector<int>& bottom);

// The faces between columns, with what is open of them. They take over the memory of others that are not needed any more.
template <int D>
FaceColumns make_faces(const Water<D>& water, const Boundary<D>& boundary, const TallColumns& columns, const std::vector<int>& bottom,
                       int axis, FaceColumns memory = {});

// The mean of what is open of the faces along y of a column, at rows from <= j < to.
template <int D>
float mean_open(const TallCells<D>& cells, int column, int from, int to);

// Whether a tile is full of water that nothing is in, and so is all beside it.
template <int D>
bool is_whole(const Water<D>& water, size_t tile);

// ---- The pressure's system (step/tall_system.cpp) ----

// The finest level of the system: links with the mean of what is open, the ends' Dirichlet terms.
template <int D>
void find_system(Water<D>& water, const Boundary<D>& boundary, std::vector<float>& flow);

// b = - sum of what flows out of the rows that a node stands for.
template <int D>
void find_right_hand_side(Water<D>& water, const Boundary<D>& boundary, const ProjectionForces<D>& forces,
                          const std::vector<float>& flow, std::vector<float>& b);

// u = u* - grad x on the rows of faces, on links, and on the faces at the ends of pieces.
template <int D>
void apply_pressure(Water<D>& water, const Boundary<D>& boundary, const std::vector<float>& x);

// ---- The velocity (step/tall_velocity.cpp) ----

// Carries the velocity in the gaps; the layer's has been carried to `water.velocity`, `before` is what it was.
template <int D>
ColumnVelocity advect_gaps(const Water<D>& water, double dt);

// The velocity of the columns at any place in the water, as long as the water stays as it is.
template <int D>
VelocityAt<D> velocity_anywhere(const Water<D>& water);

// The same by conservative upwind fluxes (step/tall_upwind.cpp), which take the layer's first row, too. Once the layer's velocity has been carried, the grid gets that row.
template <int D>
ColumnVelocity advect_gaps_upwind(const Water<D>& water, double dt);
template <int D>
void join_upwind(Water<D>& water);

// Lets forces act on the velocity in the gaps.
template <int D>
void push_gaps(Water<D>& water, const Pushed& pushed);

// The velocity along y that forces have given to what flows, where the ground is: by gravity, and by others.
struct Ground {
    double gravity = 0;
    Pushed pushed = {};
};

// The velocity on new columns: in the layer the uniform grid's, below it `moved`, the old one carried, by least squares.
template <int D>
ColumnVelocity regrid(const Water<D>& water, const ColumnVelocity& moved, const TallColumns& columns, const FaceColumns faces[2],
                      const std::vector<int>& bottom, const Ground& ground);

// Gives the faces of the uniform grid in active tiles the velocity of the columns.
template <int D>
void spread(Water<D>& water);

// What the water has at the rows of faces and links at the start.
template <int D>
ColumnVelocity initial_velocity(const Water<D>& water, const Scene& scene, const TallColumns& columns, const FaceColumns faces[2]);

// ---- What a report says: the water below the active tiles (step/tall_velocity.cpp) ----

template <int D>
double volume_below(const Water<D>& water);

// For unit density, and gravity g.
struct Below {
    double kinetic = 0, potential = 0;
    long cells = 0;
};
template <int D>
Below measure_below(const Water<D>& water, const Vec<D>& g);

}  // namespace tarn::tall
