#pragma once
// What bounds the water of a step, as the projection and the viscosity see it.

#include "tarn/params/params.h"
#include "tarn/phases/two_fluids.h"
#include "tarn/phases/viscosity.h"
#include "tarn/scene/frame.h"
#include "tarn/scene/wetted.h"
#include "tarn/step/water.h"

namespace tarn {

inline WallKind wall_kind(const WallsParams& w, int axis, int side)
{
    const WallKind kinds[3][2] = {{w.left, w.right}, {w.bottom, w.top}, {w.back, w.front}};
    return kinds[axis][side];
}

template <int D>
Boundary<D> boundary_of(const Water<D>& w, const Params& p)
{
    Boundary<D> b;
    b.cells = w.grid.cells;
    for (int a = 0; a < D; ++a)
        for (int side = 0; side < 2; ++side)
            b.wall_open[a][side] = wall_kind(p.domain.walls, a, side) == WallKind::open;
    b.solids = w.solids.any;
    b.moving = w.solids.moving;
    b.inlets = w.flows.any_inlet;
    // Air is no void: nothing parts from a wall where air would have to come from nowhere.
    if (!w.air && !w.smoke) b.phi = w.phi.view();
    if (b.solids) {
        b.open = w.solids.open.view();
        b.solid_distance = w.solids.distance.view();
        b.thin_walls = thin_walls_of(w.solids, w.grid);
    }
    if (b.moving) b.solid_velocity = w.solids.velocity.view();
    if (b.inlets) {
        b.inlet = w.flows.inlet.view();
        b.inlet_part = w.flows.inlet_part.view();
        b.water = w.phi.view();
        b.inlet_velocity = w.flows.inlet_velocity_there.data();
    }
    return b;
}

// Where solids cut faces, at time t.
template <int D>
CutFaces<D> cut_faces(const Water<D>& w, const Params& p, double t)
{
    return CutFaces<D>(boundary_of(w, p), take<D>(frame_gravity(p, t)));
}

// The cells that have a pressure.
template <int D>
WetCells<D> wet_cells(const Water<D>& w, const Params& p)
{
    WetCells<D> cells{boundary_of(w, p), w.air ? View<D, const float>{} : w.phi.view()};
    if (w.air) cells.density = w.density.view();
    cells.heavy = static_cast<float>(p.fluid.density.constant());
    return cells;
}

template <int D>
NoSlip<D> no_slip_of(const Water<D>& w, const Params& p)
{
    NoSlip<D> no_slip;
    for (int a = 0; a < D; ++a)
        for (int side = 0; side < 2; ++side)
            no_slip.wall[a][side] = wall_kind(p.domain.walls, a, side) == WallKind::no_slip;
    if (w.solids.any_no_slip) {
        no_slip.solid = w.solids.no_slip.view();
        no_slip.solid_distance = w.solids.distance.view();
    }
    return no_slip;
}

}  // namespace tarn
