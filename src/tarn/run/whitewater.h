#pragma once
// Spray, bubbles and foam over a finished run: `tarn whitewater DIR`.

#include <string>

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

}  // namespace tarn
