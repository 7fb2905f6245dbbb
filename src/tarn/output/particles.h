#pragma once
// Spray as a list of drops, and the file it is written to.

#include <string>
#include <vector>

#include "tarn/step/water.h"

namespace tarn {

struct Drop {
    Vec3f position, velocity;  // m, m/s
    float radius, age;         // m, s
};

// The spray of a water that the program can read.
template <int D>
std::vector<Drop> drops_of(const Water<D>& water);

// Binary little-endian PLY: points with velocity (vx vy vz), radius and age. Written to a temporary name, then renamed.
void write_particles(const std::string& path, const std::vector<Drop>& drops);
// Such a file again. Throws RunError where it is another.
std::vector<Drop> read_particles(const std::string& path);

// What write_particles wrote. Throws InputError where the file is something else.
std::vector<Drop> read_particles(const std::string& path);

}  // namespace tarn
