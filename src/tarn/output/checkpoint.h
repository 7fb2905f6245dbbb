#pragma once
// A state on disk: phi, velocity, pressure, time, step and the ledger, with a checksum, so that a torn file is
// recognised. The same file serves every backend.

#include <string>

#include "tarn/step/water.h"

namespace tarn {

template <int D>
void save_checkpoint(const std::string& path, const Water<D>& water, int frame);

// Fills the fields of `water`, which must be of the same grid. Returns the frame. Throws RunError on a torn or foreign
// file.
template <int D>
int load_checkpoint(const std::string& path, Water<D>& water);

}  // namespace tarn
