#pragma once
// Sources whose water enters as drops, such as rain: each drop starts at a place of its own in the source, with the
// source's velocity, at a time of its own within the step, and then flies as any droplet does (effects/spray.h,
// phases/droplets.h). What a rate gives is kept until it makes a whole drop, so that the sum of all drops is the rate,
// whatever the steps are. Places follow from the drop's number: the same scene makes the same rain.

#include "tarn/phases/droplets.h"
#include "tarn/scene/flows.h"

namespace tarn {

// Adds the drops of a step from t to t + dt. Returns their volume, m³ (m² in 2D).
template <int D>
double rain(Droplets<D>& droplets, Flows<D>& flows, const Scene& scene, const Grid<D>& grid, Exchange& exchange,
            double t, double dt);

}  // namespace tarn
