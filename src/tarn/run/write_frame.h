#pragma once
// The files of one frame: what [output] asks for.

#include <string>
#include <vector>

#include "tarn/output/particles.h"
#include "tarn/output/surface.h"
#include "tarn/scene/scene.h"
#include "tarn/step/water.h"

namespace tarn {

// Empty where [output] does not ask for it. USD has the spray in the surface's file. Solids that stand still are
// written with the first frame.
struct FramePaths {
    int frame = 0;
    std::string dir;  // of the run
    std::string surface, solids, volume, heights, particles, vortices, preview, grid, state;

    // Whether they take more of the state than its spray.
    bool need_fields() const
    {
        return !surface.empty() || !volume.empty() || !heights.empty() || !preview.empty() || !vortices.empty() || !grid.empty() ||
               !state.empty();
    }
    // Those whose files are not there yet, and whether there are any.
    FramePaths missing() const;
    bool any() const;

    std::vector<std::string*> all() { return {&surface, &solids, &volume, &heights, &particles, &vortices, &preview, &grid, &state}; }
};
FramePaths frame_paths(const std::string& dir, const Scene& scene, int frame);
// Likewise, where it is known whether solids are written with this frame.
FramePaths frame_paths(const std::string& dir, const OutputParams& output, int frame, bool solids);

// The folders that those paths name, and what their frames have in common; `solids` tells whether any frame has them.
void prepare_frames(const std::string& dir, const Params& params, bool solids);
void prepare_frames(const std::string& dir, const Scene& scene);

// What can be written of a frame without its fields.
struct FrameShapes {
    double time = 0;
    Mesh surface, solids;
    std::vector<Drop> spray;
};
void write_shapes(const FramePaths& paths, const Params& params, const FrameShapes& shapes);

template <int D>
void write_frame(const FramePaths& paths, const Water<D>& water, const Scene& scene);

}  // namespace tarn
