#pragma once
// Fields of force on what flows, and zones before the domain's sides that make and absorb waves:
//
//   du/dt = f(x, t) + r(x, t) (U(x, t) - u),
//
// with f the accelerations and r the rates of drags to velocities U. Over a step the drag is solved exactly,
//
//   u <- U + (u - U) exp(-r dt) + dt f,
//
// so that it never overshoots. f, and gravity, which is added later, are not dragged within the step: the pressure
// balances them in water at rest, which else would rest as if they were weaker, by exp(-r dt). Where several drags overlap their rates add up, and U is the mean by rate.
//
// A force towards a shape is minus the slope of a potential that grows with the shape's signed distance d alone. What rests under it
// has its surface where d, with gravity strength d + g y, is the same everywhere: water of the shape's volume takes its form.
//
// A zone of waves is a drag of the water to the velocity of a wave that travels away from its side, or, where it only
// absorbs, to rest. A wave's energy is half kinetic, so that along its way the amplitude A, and that of waves that come
// from elsewhere, B, follow
//
//   c_g dA/dx = r/2 (1 - A),   c_g dB/dx = - r/2 B,
//
// with the group velocity c_g. r = r_max sin²(pi s) over the zone's width W vanishes at the side, through which no water
// flows, and rises and falls smoothly, which keeps it from reflecting; r_max = 4 N c_g / W lets N nepers pass. N is
// chosen so that exp(-N) of a wave is left, and exp(-2 N) of one that the side behind the zone reflects. The volume of
// water stays as it is. Compare the relaxation zones of Jacobsen, Fuhrman, Fredsoe 2012, which replace the surface, too.

#include <functional>

#include "tarn/backend/parallel.h"
#include "tarn/field/field.h"
#include "tarn/phases/droplets.h"
#include "tarn/scene/scene.h"
#include "tarn/scene/wave_theory.h"

namespace tarn {

// Whether this program knows forces, waves, surface pressure and rain.
bool control_available();

// Whether a scene has any.
bool has_forces(const Scene& scene);

// The most that they accelerate water at rest at time t, m/s².
double strongest_force(const Scene& scene, double t);

// Lets the scene's forces act on the velocity from t to t + dt, on the given tiles: on the water, and, where `air` flows,
// on air, too; waves on water alone.
template <int D>
void push(FaceField<D>& velocity, const Field<D>& phi, bool air, const Scene& scene, const Tiles<D>& tiles, double t,
          double dt);

// The same one by one, outside of fields, for the program: the velocity along an axis that u becomes at x. Empty where there are no forces.
using Pushed = std::function<double(Vec3 x, int axis, double u)>;
Pushed pushed_by(const Scene& scene, double t, double dt, double h);

// Likewise on droplets.
template <int D>
void push(Droplets<D>& droplets, const Grid<D>& grid, const Scene& scene, double t, double dt);

}  // namespace tarn
