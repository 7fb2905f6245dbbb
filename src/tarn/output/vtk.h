#pragma once
// VTK's XML files, which ParaView opens as a sequence: frame_*.vtp and frame_*.vti, each with its time.

#include <string>
#include <vector>

#include "tarn/output/particles.h"
#include "tarn/output/surface.h"

namespace tarn {

// Poly data with point arrays Normals and velocity; of drops, velocity, radius and age.
void write_vtp(const std::string& path, const Mesh& mesh, double time);
void write_vtp(const std::string& path, const std::vector<Drop>& drops, double time);

// Image data whose points are the cells' centres, so that `Contour` finds the surface: phi and velocity, and the
// distance to solids where there are any.
template <int D>
void write_vti(const std::string& path, const Water<D>& water);

}  // namespace tarn
