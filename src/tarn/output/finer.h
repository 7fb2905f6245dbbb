#pragma once
// Surfaces finer than the grid: what meshes and drawings are made of where chains or heights carry the surface.   [FM96] §7
//
// Chains in 2D and heights go on as splines between their points; phi is taken from those on a grid of more cells, and
// everything else between the values that there are. Whatever shows water shows this one likewise.

#include <optional>

#include "tarn/output/frame_state.h"
#include "tarn/scene/scene.h"
#include "tarn/step/water.h"

namespace tarn {

// Whether points carry the surface that a frame must keep.
bool keeps_points(const Params& params);

// The same water on finer cells; nothing where its surface is as fine as its cells.
template <int D>
std::optional<Water<D>> finer(const Water<D>& water, const Scene& scene);

// What of it a picture needs.
FrameState<3> shown_state(Water<3>& water);

}  // namespace tarn
