#pragma once
// Wind over the water, and water that is made to settle: beyond the surface the velocity is a mixture of what was
// carried there and the air's own, u = (1 - alpha) u_ext + alpha u_wind.   [EMF02] §3.3.3, equation 8
//
// The surface moves with that velocity, and water whose path comes from beyond the surface takes it on. How much does
// so in a step hangs on the cells and on dt: alpha is a control, no coefficient of drag.

#include <cstdint>

#include "tarn/backend/parallel.h"
#include "tarn/field/field.h"
#include "tarn/scene/scene.h"

namespace tarn {

// The wind at one time, as kernels see it. Without any, air is at rest.
struct Wind {
    Vec3 direction;  // of length one
    double speed = 0, shear = 0, shear_from = 0;
    double alpha = 0, fade = 1;
    ShapesView where;
    bool everywhere = true;

    // How much of it there is: it grows from nothing at the edge of its shape to all inside.
    TARN_HD double part_at(Vec3 x) const
    {
        if (everywhere) return 1;
        const double inside = -where.distance(x) / fade;
        return inside < 0 ? 0 : (inside > 1 ? 1 : inside);
    }
    // It blows faster with height, and never turns around.
    TARN_HD double speed_at(Vec3 x) const
    {
        const double s = speed + shear * (x[1] - shear_from);
        return s > 0 ? s : 0;
    }
    TARN_HD Vec3 velocity_at(Vec3 x) const { return (speed_at(x) * part_at(x)) * direction; }
};
// `where` is the geometry of the scene's wind at time t, and must stay as long as the wind.
Wind wind_of(const Scene& scene, const KernelShapes& where, double t, double h);

// Mixes the scene's wind at time t into the velocity on the air side of the surface, on the given tiles. `known` marks
// the faces that belong to the water, `workspace` holds the new values. The domain's own sides are left alone: wind blows along them,
// not through them.
//
// Deviation from [EMF02] §3.3.3: nor does it blow through the surface. With w the wind and n the surface's normal,
//
//   u = u_ext + alpha (I - n n^T) (w - u_ext),
//
// so that the surface goes where the water does. With all of w - u_ext it left the water behind: a drop that was thrown
// across the wind lost most of its volume.
template <int D>
void blow(FaceField<D>& velocity, const FaceField<D, uint8_t>& known, const Field<D>& phi, const Scene& scene,
          const Tiles<D>& tiles, double t, FaceField<D>& workspace);

}  // namespace tarn
