#pragma once
// Pictures from a cache: `tarn render DIR`.
//
// The run may be finished or still going on: the states that are there are rendered, into DIR/render, or into DIR/try
// where the size is not the scene's own. A frame that is finished has a mark,
// frame_NNNN.done, beside its picture, and is skipped. Who works on a frame says so by a claim beside it, so that many
// machines that share the folder each take another; a claim that is not renewed for a while belongs to a machine that
// is gone.

#include <string>

#include "tarn/scene/read.h"

namespace tarn {

struct RenderOptions {
    std::string dir;
    std::string frames;    // "12", "10-20", "10-20/5", or several with commas; empty: all
    int samples = 0;       // instead of render.samples
    double scale = 1;      // of width and height
    bool preview = false;  // few samples at half the size, denoised
    bool again = false;    // render frames that are finished
    int threads = 0;
    bool quiet = false;
    std::vector<std::string> floats;  // sets of `tarn float` to show
    Overrides settings;  // of the scene's keys
};

int render(const RenderOptions& options);

}  // namespace tarn
