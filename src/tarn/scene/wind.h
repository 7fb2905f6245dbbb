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

// Mixes the scene's wind at time t into the velocity on the air side of the surface, on the given tiles. `known` marks
// the faces that belong to the water. The domain's own sides are left alone: wind blows along them, not through them.
template <int D>
void blow(FaceField<D>& velocity, const FaceField<D, uint8_t>& known, const Field<D>& phi, const Scene& scene,
          const Tiles<D>& tiles, double t);

}  // namespace tarn
