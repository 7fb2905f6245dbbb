#pragma once
// Random numbers that follow from what they are for, so that they are the same on any number of threads and after a
// resume.

#include <cstdint>

#include "tarn/base/macros.h"

namespace tarn {

// Every bit of the result depends on every bit of the key (the finaliser of MurmurHash3).
TARN_HD constexpr uint32_t scramble(uint32_t key)
{
    key ^= key >> 16;
    key *= 0x85ebca6bu;
    key ^= key >> 13;
    key *= 0xc2b2ae35u;
    return key ^ key >> 16;
}

class Random {
public:
    TARN_HD constexpr Random(uint32_t a, uint32_t b, uint32_t c) : state_(scramble(a ^ scramble(b ^ scramble(c)))) {}

    // In [0, 1).
    TARN_HD constexpr float next()
    {
        state_ += 0x9e3779b9u;
        return static_cast<float>(scramble(state_) >> 8) * 0x1p-24f;
    }

private:
    uint32_t state_;
};

}  // namespace tarn
