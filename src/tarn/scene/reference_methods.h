#pragma once
// What the methods of [FM96], kept for reference, ask of a scene.

#include <optional>

#include "tarn/scene/validate.h"

namespace tarn {

// The first thing that does not go with method.solver = "foster-metaxas", its surfaces or pressure.solver = "relaxation".
std::optional<Problem> check_reference_methods(const Params& params);

}  // namespace tarn
