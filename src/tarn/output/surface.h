#pragma once
// The water's surface as a mesh, and the files it is written to.

#include <array>
#include <string>
#include <vector>

#include "tarn/shapes/shape.h"
#include "tarn/step/water.h"

namespace tarn {

struct Mesh {
    std::vector<Vec3f> points, normals, velocities;  // m, unit, m/s
    std::vector<std::array<int, 3>> triangles;       // outward by the right hand; empty in 2D
    std::vector<std::array<int, 2>> lines;           // 2D: the outline
    std::vector<int> owners;                         // of solids: the entry of [[solid]] that each point belongs to
};

// Watertight: where water meets a wall or a solid, the surface runs along it and closes the body of water.
template <int D>
Mesh surface_mesh(const Water<D>& water);

// The solids at a time, closed along the walls of the domain, with the velocities they move by.
Mesh solid_mesh(const Geometry& solids, const Grid<3>& grid, double t);

// Binary little-endian PLY (x y z nx ny nz, the velocity, and of solids the entry) and OBJ. Written to a temporary name, then renamed.
void write_ply(const std::string& path, const Mesh& mesh);
void write_obj(const std::string& path, const Mesh& mesh);

}  // namespace tarn
