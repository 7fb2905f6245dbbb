#pragma once
// What tall cells ask of a scene.

#include <optional>

#include "tarn/scene/validate.h"

namespace tarn {

// The first thing that does not go with method.grid = "tall".
std::optional<Problem> check_tall_cells(const Params& params);

}  // namespace tarn
