#pragma once
// What follows a run while it goes on: floats, whitewater, and drawings that show them. Each reads the states that the run keeps, so that it
// leaves what `tarn float` and `tarn whitewater` make of the finished run, to the bit.

#include <memory>
#include <vector>

#include "tarn/run/float.h"
#include "tarn/run/progress.h"

namespace tarn {

class Live {
public:
    Live(const std::string& dir, const Scene& scene, Progress& progress);

    bool any() const { return floats_ || whitewater_; }
    // Those up to a frame again, of a run that goes on.
    void catch_up(int frame);
    void add(int frame);

private:
    void follow(int frame);

    const std::string dir_;
    std::unique_ptr<LiveFloats> floats_;
    std::unique_ptr<FrameFollower> whitewater_, drawer_;
};

}  // namespace tarn
