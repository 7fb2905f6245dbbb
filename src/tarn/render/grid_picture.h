#pragma once
// The cells that water on an octree is divided into.

#include "tarn/render/preview.h"

namespace tarn {

// A section, in 3D through the middle of the domain's depth: water by the size of its cells, and their edges.
template <int D>
Image grid_picture(const Water<D>& water, int width);

}  // namespace tarn
