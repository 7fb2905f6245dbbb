#pragma once
// What the machine is and has: for run.json, for the live line, and to refuse what cannot fit.

#include <cstdint>
#include <string>

namespace tarn {

struct Machine {
    std::string cpu;  // as the processor calls itself
    int cores = 1;    // that this process may use
};

Machine this_machine();

// Bytes that a new process may still take: what the kernel calls available, or what the control group leaves, whichever
// is less. TARN_MEMORY_MB in the environment stands in for it.
int64_t memory_available();

// Bytes of this process: now, and at most so far.
int64_t memory_resident();
int64_t memory_peak();

// Bytes free for a file under `path`, which need not exist yet; negative where that cannot be told.
int64_t disk_available(const std::string& path);

}  // namespace tarn
