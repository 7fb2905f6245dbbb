#pragma once
// Drawings made again from what a run has kept: `tarn preview DIR`.

#include <string>

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

}  // namespace tarn
