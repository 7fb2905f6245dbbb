#pragma once
// The octree of a scene at the start, before it runs.

#include <cstdint>
#include <vector>

#include "tarn/scene/scene.h"

namespace tarn {

// The cells of each level, those of air around the surface included.
template <int D>
std::vector<int64_t> levels_at_start(const Scene& scene);

}  // namespace tarn
