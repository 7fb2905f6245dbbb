#pragma once
// Where the free surface lies between two cells.

#include "tarn/base/macros.h"

namespace tarn {

// Deviation: the surface is kept this far, in cells, from the centre of a wet cell, so that the coefficient 1/theta
// stays within what single precision can solve. It is phi that is kept so, and not each theta: then the faces of a cell agree about
// where its surface is, and a level surface that leans against the axes is at rest up to this part of g dt.
inline constexpr float theta_min = 2e-4f;

// Where the surface lies between a wet cell and a dry neighbour, as a fraction of their distance, for cells of size h.
TARN_HD inline float surface_fraction(float wet, float dry, float h)
{
    const float least = -theta_min * h, kept = wet < least ? wet : least;
    return kept / (kept - dry);
}

}  // namespace tarn
