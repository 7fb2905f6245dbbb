#pragma once

#include <string>

#include "tarn/step/step.h"

namespace tarn {

// What was wrong with a step; empty where nothing was. A solve that misses its tolerance is an error however little
// it misses it by: the tolerance is a parameter of the scene, and to loosen it is for the scene to say.
std::string complaint(const StepReport& report, const Params& params);

// What is wrong where a frame cannot be divided into steps that are short enough (see frames.h).
std::string step_too_short(double limit, double max_speed);

}  // namespace tarn
