#pragma once
// Volumes for numpy: np.load("frame_0001.npz")["phi"][i, j, k].

#include <string>

#include "tarn/step/water.h"

namespace tarn {

// Arrays of values at the cells' centres, indexed along x, y (and z): phi; velocity, with its components last; pressure; solid,
// the distance to solids where there are any. Numbers h and time: the centre of cell i lies at (i + 1/2) h.
template <int D>
void write_npz(const std::string& path, const Water<D>& water);

// Of a height field: height, in metres from the bottom, along x (and z), in the middles of the cells; h and time.
template <int D>
void write_heights_npz(const std::string& path, const Water<D>& water);

}  // namespace tarn
