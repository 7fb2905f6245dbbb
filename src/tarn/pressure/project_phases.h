#pragma once
// The projection of water and air together, both incompressible:   [SSK05] §4.3
//
//   div(grad p / rho) = div u* / dt  (10),   u = u* - dt grad p / rho  (13)
//
// Every cell outside of solids is an unknown, and rho is given on faces. Where no side of the domain is open the
// pressure is known only up to a constant. The unknown is x = p dt / (rho_water h), a velocity.
//
// The solve is for what the pressure changes by since the newest one, whose gradient is taken off first: so the air, in
// which a difference of pressure counts 1000 times as much as in water, keeps its digits. Where the surface has moved
// too far for that pressure to help, the solve starts from none.

#include "tarn/params/params.h"
#include "tarn/pressure/boundary.h"
#include "tarn/pressure/project.h"

namespace tarn {

// What a projection with air keeps from step to step. In two dimensions the black box solves for the pressure; foam
// with a sharp interface, which has films of any thinness, needs its W-cycle and bubbles apart. In three dimensions, at
// a density jump of 1000, more sweeps each way halve the iterations. Steps of many cells leave spray and bubbles, the
// more the finer the grid; on few cells the iterations are few anyway. Where a cup fills, 4 and 8 sweeps take 7.5
// iterations in the mean and 11 at most, 3 and 6 take 8.6 and 13 and just as long. With a sharp interface bubbles are
// relaxed as a whole there, too: in a box that is turned over, 10 iterations at most instead of 23.
template <int D>
Projection<D> projection_with_air(const Grid<D>& grid, Interface interface)
{
    constexpr long few_cells = 10000;
    if constexpr (D == 2) {
        Projection<D> projection;
        projection.black_box = BlackBox(
            grid, interface == Interface::sharp ? BlackBoxEffort{.visits = 2, .bodies = true} : BlackBoxEffort{});
        projection.inverse_diagonal = Field<D>(grid);
        projection.dirichlet = Field<D>(grid);
        projection.correction = Field<D>(grid);
        return projection;
    } else {
        const bool sharp = interface == Interface::sharp;
        const Sweeps few{2, 2, sharp}, many = sharp ? Sweeps{6, 12, true} : Sweeps{4, 8};
        Projection<D> projection(grid, grid.count() <= few_cells ? few : many);
        projection.correction = Field<D>(grid);
        return projection;
    }
}

// Projects `velocity` everywhere. `pressure`, in Pa, is the newest, and becomes the new one. Faces whose velocity is
// right afterwards are marked 1 in `known`, others 0. `forces` gives rates of volume; its curvature is not looked at.
template <int D>
SolveReport project_phases(FaceField<D>& velocity, Field<D>& pressure, FaceField<D, uint8_t>& known,
                           const FaceField<D>& density, const ProjectionForces<D>& forces, const Boundary<D>& boundary,
                           const Tiles<D>& tiles, const FluidParams& fluid, const PressureParams& params, double dt,
                           Projection<D>& projection, const ProjectionScratch<D>& scratch);

}  // namespace tarn
