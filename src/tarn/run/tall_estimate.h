#pragma once
// How many unknowns tall cells have, by what their grid is made of (step/tall_grid.cpp).

#include <algorithm>
#include <cmath>

#include "tarn/params/params.h"

namespace tarn {

struct TallEstimate {
    double layer = 0, per_column = 0;  // rows of the layer and the band above it; unknowns of a column
};

// Of a column so many rows deep.
inline TallEstimate estimate_tall(const Params& p, double depth, double h)
{
    const double band = std::max(p.surface.band, std::ceil(p.time.cfl) + 3);
    const double layer = std::max(std::ceil(p.tall.optical_depth.value_or(0) / h), band + std::ceil(p.time.cfl) + 1) + 1;
    const double gaps = p.tall.gaps == TallGaps::single ? 1 : std::log2(std::max(1.0, 0.5 * (depth - layer) + 1));
    return {layer + band, std::min(depth, layer + std::ceil(gaps))};
}

}  // namespace tarn
