#pragma once
// Moving fields with the flow: d phi / dt + u . grad phi = 0.
//
// Semi-Lagrangian: the value at x is the old value where the flow was a step ago [EMF02 §3.3.2], the path traced by RK2
// (midpoint) where it is short and by RK3 (Ralston) where it is long. MacCormack (Selle et al. 2008): traced forth and
// back to find the error, half of which is taken off, limited to the values around the departure point so that nothing
// overshoots. WENO5 with TVD-RK3 (Jiang & Peng 2000) is the reference for phi; it takes as many substeps as its own
// stability needs.
//
// Monotonic CIP has its own page, advect/cip.h.
//
// Beside thin walls paths and samples stay on their side. There MacCormack is not corrected, and with such walls
// anywhere WENO5 gives way to the semi-Lagrangian method with RK3.

#include "tarn/advect/cip.h"
#include "tarn/advect/near_contact.h"
#include "tarn/advect/trace.h"
#include "tarn/backend/parallel.h"
#include "tarn/field/field.h"
#include "tarn/params/params.h"

namespace tarn {

// The domain's sides, as paths from beyond the grid meet them. Those bring air, through open sides and out of gaps
// between the water and the others, which phi's padding tells. No path spans more than `reach` cells.
template <int D>
struct Ends {
    bool gaps = false;
    bool open[D][2] = {};
    double reach = 0;

    bool any_open() const
    {
        bool any = false;
        for (int a = 0; a < D; ++a) any = any || open[a][0] || open[a][1];
        return any;
    }
    // Whether an open side bounds the cell.
    TARN_HD bool open_at(Cell<D> c, Cell<D> cells) const
    {
        bool any = false;
        for (int a = 0; a < D; ++a) any = any || (open[a][0] && c[a] == 0) || (open[a][1] && c[a] == cells[a] - 1);
        return any;
    }
};

// Moves a distance on the given tiles. MacCormack corrects only where |phi| < `near`, from where no path of this step
// leaves the tiles. Cells with |phi| > `far` cannot change their side in this step: they keep their value, which
// redistancing will put right. `scratch` are two fields to work in. Where surfaces come together, air
// vanishes unless it flows.
template <int D>
void advect(Field<D>& phi, const FaceField<D>& velocity, const Tiles<D>& tiles, double dt, Advection scheme,
            double near, double far, Field<D>* const scratch[2], const Ends<D>& ends = {}, const Sides<D>& sides = {},
            const NearContactAir<D>& air = {});

// Moves the velocity with itself. `next` holds the old velocity afterwards. Faces away from water (phi >= 0 on both
// sides) become zero: they are extrapolated later. `scratch` are D fields to work in.
template <int D>
void self_advect(FaceField<D>& velocity, FaceField<D>& next, const Field<D>& phi, const Tiles<D>& tiles, double dt,
                 Advection scheme, Field<D>* const scratch[D], const Sides<D>& sides = {});

// Finds the paths back from cells' centres for a step of dt, as offsets in cells, however long they are.
template <int D>
void trace_paths(FaceField<D>& path, const FaceField<D>& velocity, const Tiles<D>& tiles, double dt);

// Finds them again, by another velocity, for the cells with |phi| < near.
template <int D>
void retrace_paths(FaceField<D>& path, const FaceField<D>& velocity, const Field<D>& phi, double near,
                   const Tiles<D>& tiles, double dt);

// Both by monotonic CIP, with the gradients that go with them. `workspace` keeps what was moved, for follow_change. They go
// along `path`, if it is known already; then the velocity's deformation must be known, too.
template <int D>
void advect_cip(Field<D>& phi, Gradient<D>& gradient, const FaceField<D>& velocity, const Tiles<D>& tiles, double dt,
                double far, CipWorkspace<D>& workspace, const Ends<D>& ends = {}, const Sides<D>& sides = {},
                const NearContactAir<D>& air = {}, const FaceField<D>* path = nullptr);
template <int D>
void self_advect_cip(FaceField<D>& velocity, Gradient<D> (&gradient)[D], FaceField<D>& next, const Field<D>& phi,
                     const Tiles<D>& tiles, double dt, Field<D>* const scratch[D], CipWorkspace<D>& workspace,
                     const Sides<D>& sides = {}, const CipNear<D>& near = {}, const FaceField<D>* path = nullptr);

// After forces and pressure have changed a velocity that self_advect_cip moved: its gradient follows. Beside faces that
// are not near, it is found anew.
template <int D>
void follow_velocity(Gradient<D> (&gradient)[D], const FaceField<D>& velocity, const CipNear<D>& near,
                     const Tiles<D>& tiles, CipWorkspace<D>& workspace);

}  // namespace tarn
