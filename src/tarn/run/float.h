#pragma once
// Bodies that a finished run carries along and that do not disturb its water: `tarn float DIR --scene FILE`.   [FM96] §5

#include <memory>
#include <string>

#include "tarn/run/follow.h"
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

// The set of the run's own [[solid]]s with motion = "float", which are carried while it goes on.
inline constexpr const char* live_set = "live";

class LiveFloats : public FrameFollower {
public:
    virtual std::vector<RigidPose> poses() const = 0;  // after the newest frame
};
// Into DIR/float/live; null where the scene has none. Throws InputError.
std::unique_ptr<LiveFloats> live_floats(const std::string& dir, const Scene& run);
// The scene with them, to be drawn; where they are is the caller's to record.
Scene with_live_floats(const Scene& run);

// A run's scene with its own floats and the sets of those names, where they were at every frame. Throws InputError.
Scene with_floats(const Scene& run, const std::string& dir, const std::vector<std::string>& names);

}  // namespace tarn
