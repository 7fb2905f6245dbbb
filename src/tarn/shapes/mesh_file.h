#pragma once
// Triangle meshes from files: OBJ, PLY, STL, glTF, FBX and COLLADA. Only the surface is read, of all objects in the file;
// polygons become triangles and points at the same place become one.

#include <string>
#include <vector>

#include "tarn/base/vec.h"

namespace tarn {

struct ClosedMesh {
    std::vector<Vec3> points;
    std::vector<Cell<3>> triangles;  // indices into points
};

// Throws InputError where the file cannot be read, holds no triangles, or is not closed: a distance needs an inside.
ClosedMesh read_closed_mesh(const std::string& path);

}  // namespace tarn
