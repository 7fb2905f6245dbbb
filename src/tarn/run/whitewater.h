#pragma once
// Spray, bubbles and foam over a finished run: `tarn whitewater DIR`.

#include <memory>
#include <string>

#include "tarn/run/follow.h"
#include "tarn/run/progress.h"
#include "tarn/scene/read.h"

namespace tarn {

struct WhitewaterOptions {
    std::string dir;
    int threads = 0;
    bool quiet = false;
    Overrides settings;  // of [whitewater]
};

// From the states of all frames, into DIR/whitewater, in the place of what was there: frame_NNNN.ply, like those of
// DIR/particles, and whitewater.toml with the settings. Throws InputError.
int whitewater(const WhitewaterOptions& options);

// The same pass as the run goes on, by whitewater.live; null without. DIR/scene.toml is there already.
std::unique_ptr<FrameFollower> live_whitewater(const std::string& dir, const Scene& run, Progress& progress);

}  // namespace tarn
