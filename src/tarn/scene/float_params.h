#pragma once
// Solids with motion = "float": what they ask of a scene.   [FM96] §5

#include <optional>

#include "tarn/scene/validate.h"

namespace tarn {

// Floats are carried by frames that are kept, and have no part in what the water does.
std::optional<Problem> check_floats(const Params& params);

// Takes them, and what is cut out of them, from the solids that the water meets.
void set_floats_apart(Params& params);

}  // namespace tarn
