#pragma once
// Meshes and height images as distances on a grid. Both throw InputError that says what is wrong with the file and
// what to do; the caller adds where it was named.

#include <memory>
#include <string>

#include "tarn/shapes/shape.h"

namespace tarn {

// How many samples lie beyond a mesh on each side.
inline constexpr int mesh_margin = 11;

// A closed triangle mesh (see mesh_file.h), in its own coordinates. Distances hold within ten spacings of the
// surface, to a tenth of a spacing near it; farther off they stay at that value. The spacing grows where the samples
// would not fit in memory.
std::shared_ptr<const DistanceGrid> sample_mesh(const std::string& path, double spacing);

// A grey PNG as ground: black lies at min y, white at max y, the image covers min to max in x and z with its top row
// at min z. Distances are true distances within ten spacings of the surface. In 2D the image's middle row is used.
std::shared_ptr<const DistanceGrid> sample_terrain(const std::string& image, Vec3 min, Vec3 max, int dimension,
                                                   double spacing);

}  // namespace tarn
