#pragma once
// Density and viscosity where water and air meet, and the pull of the surface between them.   [SSK05] §4.2, §5.1
//
// Smeared: both change over 1.5 cells on either side of the surface, with the Heaviside function (15); the surface
// tension is the body force of Brackbill et al. (7)-(9) in that layer. Sharp (ghost fluid, Kang, Fedkiw & Liu 2000): a
// face has the density of the mixture that the way between its two cells crosses, and the pressure jumps by
// sigma kappa from one cell to the next.
//
// Deviation: the force is sigma kappa grad H / rho with H differenced between the same two cells as the pressure,
// rather than sigma kappa delta grad phi, so that a round drop is at rest (Francois et al. 2006); and sigma is in N/m.

#include <numbers>

#include "tarn/backend/parallel.h"
#include "tarn/field/field.h"
#include "tarn/params/params.h"

namespace tarn {

inline constexpr float smearing = 1.5f;  // epsilon, in cells

// H_epsilon (15) of water: 1 in water, 0 in air, for phi that is negative in water. The sine, of which
// sin(pi x) / (2 pi) = x (1 - x^2) P(x^2), is a polynomial fitted to 5e-8, so that many are found at once.
TARN_HD inline float smeared_step(float phi, float epsilon)
{
    const float t = -phi / epsilon, x = t < -1 ? -1.0f : (t > 1 ? 1.0f : t), y = x * x;
    const float p = 0.49999988f + y * (-0.32246093f + y * (0.083354956f + y * (-0.01183206f + y * 0.00093827299f)));
    return 0.5f + x * (0.5f + (1 - y) * p);
}
// The share of water on the way between two cells: all, none, or up to where the surface crosses it.
TARN_HD inline float wet_share(float lower, float upper)
{
    if ((lower < 0) == (upper < 0)) return lower < 0 ? 1.0f : 0.0f;
    const float wet = lower < 0 ? lower : upper, dry = lower < 0 ? upper : lower;
    return wet / (wet - dry);
}

// Density on every face.
template <int D>
void find_density(FaceField<D>& density, const Field<D>& phi, const Params& params, const Tiles<D>& tiles);

// Dynamic viscosity at cells.
template <int D>
void find_viscosity(Field<D>& mu, const Field<D>& phi, const Params& params, const Tiles<D>& tiles);

// Makes curvatures at cells, which are those of phi there, that of the surface nearby, and takes means over neighbours
// within `reach` of the surface: what one cell sees too curved, and the next too flat, makes currents. Its own counts
// as much as twice all of theirs, as means weaken short waves.
template <int D>
void average_curvature(Field<D>& kappa, const Field<D>& phi, float reach, const Tiles<D>& tiles, Field<D>& scratch);

// Adds the pull of the surface for dt.
template <int D>
void add_surface_tension(FaceField<D>& velocity, const Field<D>& phi, const Field<D>& kappa,
                         const FaceField<D>& density, const Params& params, const Tiles<D>& tiles, double dt);

}  // namespace tarn
