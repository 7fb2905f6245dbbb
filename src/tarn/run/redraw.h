#pragma once
// Drawings made again from what a run has kept: `tarn preview DIR`.

#include <string>

#include "tarn/run/float.h"
#include "tarn/scene/read.h"

namespace tarn {

struct RedrawOptions {
    std::string dir;
    std::string frames;  // as of `tarn render`; empty: all
    int threads = 0;
    bool quiet = false;
    std::vector<std::string> floats;  // sets of `tarn float` to show
    Overrides settings;  // of the scene's keys
};

// All frames take the place of the drawings in DIR/preview and their movie is made; single ones are a try, and lie in
// DIR/try/preview.
int redraw(const RedrawOptions& options);

// Draws frames as a run goes on, with what follows it. `floats`, if any, must outlive it and be given each frame before.
std::unique_ptr<FrameFollower> live_drawer(const std::string& dir, const Scene& run, const LiveFloats* floats);

}  // namespace tarn
