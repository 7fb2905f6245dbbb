#pragma once
// What methods that are kept for reference ask of a scene: those of [FM96], and other solvers of the pressure.

#include <optional>

#include "tarn/scene/validate.h"

namespace tarn {

// The first thing that does not go with method.solver = "foster-metaxas", its surfaces, or pressure.solver = "relaxation" or
// "hypre".
std::optional<Problem> check_reference_methods(const Params& params);

}  // namespace tarn
