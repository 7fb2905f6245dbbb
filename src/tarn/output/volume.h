#pragma once
// OpenVDB volumes that Blender and Houdini recognise: `surface` (a level set) and `vel` (m/s); and `phi`, from which
// Tarn renders.

#include <string>
#include <vector>

#include "tarn/step/water.h"

namespace tarn {

template <int D>
void write_vdb(const std::string& path, const Water<D>& water);

// What a picture needs of a frame in 3D: phi at the centres of all cells, and the velocity there, x fastest.
struct Volume {
    Grid<3> grid;
    double time = 0;
    std::vector<float> phi;
    std::vector<Vec3f> velocity;
};
// Throws RunError on a file that is no such volume.
Volume read_vdb(const std::string& path);

}  // namespace tarn
