#pragma once
// Walls that are drawn by hand, as shapes of a scene: a line of round brush strokes is discs joined by boxes.

#include <vector>

#include "tarn/params/params.h"

namespace tarn {

// The points that a line needs to pass no farther than `tolerance` from all of them (Ramer 1972, Douglas and Peucker 1973).
std::vector<Vec<2>> simplified(const std::vector<Vec<2>>& line, double tolerance);

// The shapes of a line as wide as a brush of that radius; cut out of what is there before where `subtract`.
std::vector<SolidParams> wall_along(const std::vector<Vec<2>>& line, double radius, bool subtract);

}  // namespace tarn
