#pragma once
// The files of one frame: what [output] asks for.

#include <string>

#include "tarn/scene/scene.h"
#include "tarn/step/water.h"

namespace tarn {

// Empty where [output] does not ask for it.
struct FramePaths {
    std::string surface, volume, particles, render;

    // Whether they take more of the state than its spray.
    bool need_fields() const { return !surface.empty() || !volume.empty() || !render.empty(); }
    // Whether every file is there.
    bool exist() const;
};
FramePaths frame_paths(const std::string& dir, const OutputParams& output, int frame);

// The folders that those paths name.
void make_frame_folders(const std::string& dir, const OutputParams& output);

template <int D>
void write_frame(const FramePaths& paths, const Water<D>& water, const Scene& scene);

}  // namespace tarn
