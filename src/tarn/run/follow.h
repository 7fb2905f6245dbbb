#pragma once
// Something that is made of a run's frames, one after another as they come: by a pass over a finished run, or while it goes on.

#include <string>

namespace tarn {

class FrameFollower {
public:
    virtual ~FrameFollower() = default;
    virtual void add(int frame, const std::string& state) = 0;
};

}  // namespace tarn
