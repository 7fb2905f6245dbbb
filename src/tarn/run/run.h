#pragma once
// The loop: choose dt, step, report, write, recover.

#include <string>

#include "tarn/run/exit_code.h"
#include "tarn/run/folder.h"
#include "tarn/scene/scene.h"

namespace tarn {

struct RunOptions {
    std::string out;  // folder; out/<scene> where empty
    int threads = 0;  // as many as there are cores where 0
    Existing existing = Existing::refuse;
    bool quiet = false;
    std::string command;  // what was typed, without --out and --resume: the start of the command that replays a failure
};

// Runs the scene to its last frame. Throws InputError before anything was changed. A state that cannot be advanced, or
// cannot be written, is reported on stderr, in log.txt and in run.json, saved, and answered by exit_failed.
int run(const Scene& scene, const RunOptions& options);

}  // namespace tarn
