#pragma once
// USD for Houdini, Blender and whatever else reads it: a layer of text for each frame, and a small one on top that ties
// them together.

#include <string>
#include <vector>

#include "tarn/output/particles.h"
#include "tarn/output/surface.h"

namespace tarn {

// Frames are time codes. Written to a temporary name, then renamed.
//   /tarn/surface, a Mesh, and /tarn/spray, Points; of a run that writes no particles, `spray` is null
void write_usd(const std::string& path, int frame, const Mesh& surface, const std::vector<Drop>* spray);
//   /tarn/solids, a Mesh
void write_usd_solids(const std::string& path, int frame, const Mesh& solids);

struct UsdRun {
    std::string title;
    double rate = 0;  // frames per second
    bool spray = false, solids = false;
};

// What the frames in surface/ and solids/ have in common, in manifest.usda there.
void write_usd_manifests(const std::string& dir, const UsdRun& run);
// tarn.usda, which is the file to open. It names the frames that are there, so that a run can be seen while it goes on.
void write_usd_top(const std::string& dir, const UsdRun& run);

}  // namespace tarn
