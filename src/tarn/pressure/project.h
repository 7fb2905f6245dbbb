#pragma once
// The projection: the velocity becomes free of divergence.
//
//   div(grad p / rho) = div u* / dt,   u = u* - dt grad p / rho
//
// Free surface: p = sigma kappa + p_s on it, with the atmosphere's p_s, where phi crosses zero between two cells, second order (ghost fluid, Gibou et
// al. 2002). Solids: each face counts with its open fraction, the rest moves with the solid (Batty et al. 2007). The
// unknown is x = p dt / (rho h), a velocity, so that every coefficient is a plain fraction.

#include <functional>

#include "tarn/params/params.h"
#include "tarn/pressure/boundary.h"
#include "tarn/pressure/conjugate_gradients.h"
#include "tarn/pressure/enclosed_air.h"
#include "tarn/pressure/octree.h"
#include "tarn/pressure/surface_fraction.h"

namespace tarn {

// What a projection keeps from step to step.
template <int D>
struct Projection {
    Multigrid<D> multigrid;
    BlackBox black_box;  // instead, with air in two dimensions
    Field<D> inverse_diagonal, dirichlet;
    IterationWorkspace workspace;
    Field<D, int> labels;   // only with solids or inlets: of components without Dirichlet rows
    InClosedComponent<D> in_closed;  // in the newest solve
    WallFaces<D> walls;     // the faces of closed sides
    Field<D> correction;    // only with air: what the newest solve added to the pressure

    Projection() = default;
    explicit Projection(const Grid<D>& grid, Sweeps sweeps = {})
        : multigrid(grid, on_device(), sweeps), inverse_diagonal(grid), dirichlet(grid)
    {
    }
};

// Fields that it may work in.
template <int D>
struct ProjectionScratch {
    FaceField<D>& w;
    Field<D>&b, &p, &z;
};

// The larger cells of an octree: their velocity and pressure, and the rows of the system that are theirs.
template <int D>
struct LargerCells {
    std::vector<CoarseLevel<D>>& coarse;
    OctreeSystem<D>& system;
};

// What pushes the water, besides its own inertia: nothing where null.
template <int D>
struct ProjectionForces {
    const Field<D>* kappa = nullptr;        // curvature of the surface at cells, for surface tension
    const Field<D>* surface_pressure = nullptr;  // of the atmosphere on the surface, at cells, Pa
    const Field<D>* volume_rate = nullptr;  // volume made in a cell per second, as a fraction of the cell
    const Field<D>* divergence_source = nullptr;     // more of the same
    EnclosedAir<D>* air = nullptr;          // enclosed regions
    double correction_rate = 0;             // at which their volume errors are corrected, 1/s
    // The active set of walls, which phi tells, for x = p dt / (rho h): water separates from the walls that pull at it,
    // and water that would pass a wall within dt (before the first solve, where x is null: that flows towards one)
    // rejoins it. Both tell whether anything changed. Where empty, walls hold what is at them.
    std::function<bool(const Field<D>& x)> separate = {};
    std::function<bool(const Field<D>* x)> rejoin = {};
    // Rigid bodies in the system, for the walls as they are; and what they do after a solve for x. V* is the boundary's.
    std::function<const RigidRows<D>*()> bodies = {};
    std::function<void(const Field<D>& x)> move_bodies = {};
    LargerCells<D>* larger = nullptr;
    bool gaps = false;  // whether some water is separated from a side, so that the set is likely to change
    double fastest = 0;                     // flow to hold the remaining divergence against; found where not given
};

// Projects `velocity` on the tiles `active` (water and all faces around it); the unknowns are the cells with phi < 0,
// all in the tiles flagged 1 in `wet`. The solve starts from `pressure`, in Pa, and leaves it there. Faces whose
// velocity is right afterwards are marked 1 in `known`, others 0.
template <int D>
SolveReport project(FaceField<D>& velocity, Field<D>& pressure, FaceField<D, uint8_t>& known, const Field<D>& phi,
                    const ProjectionForces<D>& forces, const Boundary<D>& boundary, const TileMap<D>& wet,
                    const Tiles<D>& active, const FluidParams& fluid, const PressureParams& params, double dt,
                    Projection<D>& projection, const ProjectionScratch<D>& scratch);

}  // namespace tarn
