#pragma once
// Where the free surface lies between two cells.

#include "tarn/base/macros.h"

namespace tarn {

// Deviation: the surface is kept this far, in cells, from the centre of a wet cell, so that the coefficient 1/theta
// stays within what single precision can solve.
inline constexpr float theta_min = 1e-2f;

// Where the surface lies between a wet cell and a dry neighbour, as a fraction of their distance.
TARN_HD inline float surface_fraction(float wet, float dry)
{
    const float theta = wet / (wet - dry);
    return theta < theta_min ? theta_min : theta;
}

}  // namespace tarn
