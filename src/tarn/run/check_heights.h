#pragma once
// Whether a height field can be what a scene asks for.

#include <string>

#include "tarn/scene/scene.h"

namespace tarn {

// Water that hangs over air where the scene has a height field, with its line and what to do; empty where there is none.
std::string height_field_problem(const Scene& scene);

}  // namespace tarn
