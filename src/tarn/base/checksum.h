#pragma once
// Sixty-four bits over a file, by which a torn or damaged one is recognised.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tarn {

// Every step is a bijection of the state for a given word, and of the word for a given state, so that a change
// confined to one word can never cancel out.
inline uint64_t checksum(std::string_view bytes)
{
    uint64_t state = 0x9e3779b97f4a7c15u ^ bytes.size();
    for (size_t i = 0; i < bytes.size(); i += 8) {
        uint64_t word = 0;
        std::memcpy(&word, bytes.data() + i, std::min<size_t>(8, bytes.size() - i));
        state = (state ^ word) * 0xd6e8feb86659fd93u;
        state ^= state >> 32;
    }
    return state;
}

}  // namespace tarn
