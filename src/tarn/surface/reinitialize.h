#pragma once
// Making phi a distance again by its own equation:   [SSK05] §6.1
//
//   phi_tau + sgn(phi) (|grad phi| - 1) = 0              (18)
//   sgn(phi) = phi / sqrt(phi^2 + |grad phi|^2 h^2)      (19)
//
// in several fictitious steps, each of which brings the distance half a cell further from the surface. Differences are
// second-order ENO, chosen by Godunov's rule (Peng et al. 1999).
//
// Deviation: beside the surface the step goes towards the distance to where the surface was at the start (Russo &
// Smereka 2000), to its nearest point where it is smooth (surface/nearest.h). Upwind differences across the surface
// would move it, and small drops would shrink away. `SmoothedSign` leaves it out, as the papers do.

#include "tarn/backend/parallel.h"
#include "tarn/field/field.h"

namespace tarn {

// Which signed distance function smooths the sign.
enum class SmoothedSign {
    subcell,  // (19), with the deviation above beside the surface
    of_now,   // (19) everywhere
    of_start  // of phi at tau = 0, phi / sqrt(phi^2 + h^2)   [EMF02] (5)
};

// Reinitialises on the tiles, up to `band` metres; beyond, phi becomes +-band. Phi's padding is `outside`. `scratch`
// are two fields to work in.
template <int D>
void reinitialize(Field<D>& phi, const Tiles<D>& tiles, double band, Field<D>* const scratch[2],
                  SmoothedSign sign = SmoothedSign::subcell);

}  // namespace tarn
