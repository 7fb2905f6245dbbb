#pragma once
// Gauges: instruments in the water, read after every step.

#include <string>
#include <vector>

#include "tarn/scene/scene.h"
#include "tarn/scene/wetted.h"
#include "tarn/step/surface_velocity.h"

namespace tarn {

// The columns of all gauges, in the order of the scene: a gauge's name, or name_x, name_y, name_z for a vector.
std::vector<std::string> gauge_columns(const Params& params);

// Their values at the time of the surface, in SI units; nothing where the scene has no gauges. Without the velocity before, what
// depends on the velocity is of the newest one's time.
template <int D>
std::vector<double> read_gauges(const Water<D>& water, const Scene& scene, const VelocityBefore<D>& before = {});

SolidEntries entries_of_solid(const Params& params, const std::string& name);

}  // namespace tarn
