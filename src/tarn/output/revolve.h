#pragma once
// A surface of revolution from the outline of 2D water.   [FM96] §7

#include "tarn/output/surface.h"

namespace tarn {

// Turned about x = 0, which the outline does not cross: what lies on it is no surface.
Mesh revolved(const Mesh& outline);

}  // namespace tarn
