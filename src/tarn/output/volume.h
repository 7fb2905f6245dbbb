#pragma once
// OpenVDB volumes that Blender and Houdini recognise: `surface` (a level set), `vel` (m/s) and `pressure` (Pa).

#include <string>

#include "tarn/step/water.h"

namespace tarn {

template <int D>
void write_vdb(const std::string& path, const Water<D>& water);

}  // namespace tarn
