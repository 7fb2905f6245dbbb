#pragma once
// A state on disk: every member of step/state.h, with a checksum, so that a torn file is recognised. The same file serves every backend.

#include <cstdint>
#include <string>

#include "tarn/step/water.h"

namespace tarn {

template <int D>
void save_checkpoint(const std::string& path, const Water<D>& water, int frame);

// Fills the fields of `water`, which must be of the same grid. Returns the frame. Throws RunError on a torn or foreign
// file.
template <int D>
int load_checkpoint(const std::string& path, Water<D>& water);

// Sixty-four bits over every member of the state: two states with the same hash are the same to the last bit, but for a chance of 2^-64.
template <int D>
uint64_t state_hash(const Water<D>& water);

}  // namespace tarn
