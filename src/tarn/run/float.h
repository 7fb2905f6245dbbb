#pragma once
// Bodies that a finished run carries along and that do not disturb its water: `tarn float DIR --scene FILE`.   [FM96] §5

#include <string>

#include "tarn/scene/read.h"

namespace tarn {

struct FloatOptions {
    std::string dir;    // of the run
    std::string scene;  // file of the bodies
    std::string name;   // of the set; the file's where empty
    int threads = 0;
    bool quiet = false;
};

// From the states of all frames, into DIR/float/NAME, in the place of a set of that name: scene.toml with the bodies, and
// bodies.jsonl with a line for each frame. Throws InputError.
int float_bodies(const FloatOptions& options);

// A run's scene with the sets of those names, where they were at every frame. Throws InputError.
Scene with_floats(const Scene& run, const std::string& dir, const std::vector<std::string>& names);

}  // namespace tarn
