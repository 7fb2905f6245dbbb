#pragma once
// bodies.jsonl: where rigid bodies are and what pushes them, one line a step; and back from there.

#include <functional>
#include <string>
#include <vector>

#include "tarn/output/line_file.h"
#include "tarn/scene/scene.h"

namespace tarn {

// No file where there are no bodies.
class BodiesFile {
public:
    BodiesFile() = default;
    // Starts the file; lines up to `step` that are already there stay, none where it is negative.
    BodiesFile(const std::string& path, long step, bool any);

    void add(long step, double time, const std::vector<RigidBody>& bodies);

private:
    LineFile file_;
    bool any_ = false;
};

// Calls f(time, poses) for every line of such a file. Throws RunError where it is missing or malformed.
void load_poses(const std::string& path, const std::function<void(double, std::vector<RigidPose>)>& f);

// Tells the scene's geometry where its bodies were at every step of a run. Throws RunError where the file is missing or
// malformed.
void load_tracks(const std::string& path, const Scene& scene);

}  // namespace tarn
