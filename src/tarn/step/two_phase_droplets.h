#pragma once
// Droplets and bubbles of a step with air: what they and the grid give each other, and which component of water each belongs to.
// [SSK05] §5

#include <vector>

#include "tarn/advect/cip.h"
#include "tarn/step/water.h"

namespace tarn::two_phase {

// The water and the air around it, which CIP carries. Deviation: farther air is carried linearly, which saves half the
// time; what detail it has nobody sees.
template <int D>
inline CipNear<D> near_water(const Water<D>& w, const Params& p)
{
    if (p.method.cip_far_air) return {};
    return {&w.phi, 0.99 * w.band};
}

// How much water there should be more than there is. The grid shows bubbles as water, and droplets as air.
template <int D>
double missing_volume(const Water<D>& w, const Params& p);

// Droplets and bubbles move for dt with what the newest step left; phi and velocity change where they push the grid and
// where it takes them back, and the gradients follow. Returns those that it took back.
template <int D>
std::vector<Lost<D>> exchange_fragments(Water<D>& w, const Params& p, const Boundary<D>& boundary, double dt);

// What the grid took back goes to the components that it came to.
template <int D>
void book_returned(Water<D>& w, std::vector<Lost<D>>& returned);

// The components of water are found, and what each should hold: that of where its water came from, less what became
// droplets, with what has returned and the bubbles in it. What the grid lost becomes droplets; those whose volume can
// only be guessed hold what is missing in all.
template <int D>
void book_components(Water<D>& w, const Params& p, std::vector<Lost<D>>& lost, std::vector<Lost<D>>& returned,
                     double dt);

// The surface goes where there is volume that was carried, but is not there: after the droplets, as the grid takes
// them back but nearly.
template <int D>
void follow_volume(Water<D>& w);

}  // namespace tarn::two_phase
