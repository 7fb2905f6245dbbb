#pragma once
// What can be told of a scene before it runs: how large it is, what it will take, and what is likely a mistake.

#include <cstdint>
#include <string>
#include <vector>

#include "tarn/scene/scene.h"

namespace tarn {

struct Estimate {
    std::string grid;  // "128 x 128 x 64"
    int64_t cells = 0;
    int64_t wet = 0;    // at the start
    std::vector<int64_t> levels;  // on an octree: cells of each level at the start, with a few of air around the surface
    double unknowns = 0, per_column = 0;  // of the pressure at the start, in all and in a column; on tall cells
    double h = 0;       // m
    double memory = 0;  // bytes, at most resident
    double device = 0;  // bytes on the GPU, where kernels run on one
    // Bytes on disk, per frame but for the checkpoints, of which two are kept.
    double surface = 0, volume = 0, preview = 0, state = 0, checkpoint = 0;

    double disk_per_frame() const { return surface + volume + preview + state; }
    double disk(int frames) const { return (frames + 1) * disk_per_frame() + 2 * checkpoint; }
};

struct Finding {
    enum Level { info, warning, error } level = info;  // an error keeps the scene from running
    std::string text;                                  // names file and line where there are any
};

struct CheckReport {
    Estimate estimate;
    std::vector<Finding> findings;
};

CheckReport check(const Scene& scene);

// Adds what is to be said of the disk that the results go to: an error where not even the first frame fits, a warning
// where the last does not.
void check_disk(CheckReport& report, const Scene& scene, const std::string& out);

// `tarn check`: prints the report. Throws InputError with the first error in it.
void print_check(const Scene& scene, const CheckReport& report);

}  // namespace tarn
