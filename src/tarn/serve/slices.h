#pragma once
// Cuts through the state of a frame, and its droplets and bubbles, for a viewer.

#include <mutex>
#include <string>

#include "tarn/output/frame_state.h"

namespace tarn {

enum class SliceOf { phi, speed };

// Reads states and keeps the newest, as a viewer cuts the same frame again and again. May be asked from several threads.
class Slices {
public:
    // Width and height as 32-bit integers, then a float for each cell, rows from the bottom, little-endian. The layer of cells lies at
    // a share of the domain along the axis; a frame in 2D is its only layer. Throws RunError where the file is no state.
    std::string cut(const std::string& path, int dimension, SliceOf what, int axis, double share);

    // Five floats each: where it is and its radius in metres, and what kind it is (phases/droplets.h).
    std::string drops(const std::string& path, int dimension);

private:
    void read(const std::string& path, int dimension);
    template <int D>
    std::string cut_state(const FrameState<D>& state, SliceOf what, int axis, double share) const;

    std::mutex mutex_;
    std::string path_;
    FrameState<2> flat_;
    FrameState<3> state_;
};

}  // namespace tarn
