#pragma once
// What scenes of smoke need, and which keys belong to smoke or to water alone.

#include <optional>

#include "tarn/scene/validate.h"

namespace tarn {

// The first key that has no part in the scene, or is missing from it, or nothing.
std::optional<Problem> check_smoke(const Params& params);

}  // namespace tarn
