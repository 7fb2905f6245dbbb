#pragma once
// Spray, droplets, bubbles and foam as one list of drops, and the file it is written to.

#include <string>
#include <vector>

#include "tarn/step/water.h"

namespace tarn {

struct Drop {
    Vec3f position, velocity;  // m, m/s
    float radius, age;         // m, s; a sphere of the same volume has this radius
    int id, kind;              // spray has the id -1; FragmentKind
    float stretch;             // how much longer than wide, along its velocity
};

// Those of a water that the program can read.
template <int D>
std::vector<Drop> drops_of(const Water<D>& water, const FragmentParams& params);

// Binary little-endian PLY: points with velocity (vx vy vz), radius, age, id, kind (0 droplet, 1 bubble, 2 foam) and
// stretch. Written to a temporary name, then renamed.
void write_particles(const std::string& path, const std::vector<Drop>& drops);

}  // namespace tarn
