#pragma once
// Droplets, bubbles and foam as one list of drops, and the file it is written to.

#include <string>
#include <vector>

#include "tarn/step/water.h"

namespace tarn {

struct Drop {
    Vec3f position, velocity;  // m, m/s
    float radius, age;         // m, s; a sphere of the same volume has this radius
    int id = -1, kind = 0;     // DropletKind
    float stretch = 1;         // how much longer than wide, along its velocity
};

// Those that the program can read, on a grid of cells of size h.
template <int D>
std::vector<Drop> drops_of(const Droplets<D>& droplets, double h, const DropletParams& params);
template <int D>
std::vector<Drop> drops_of(const Water<D>& water, const DropletParams& params)
{
    return drops_of(water.droplets, water.grid.h, params);
}

// Binary little-endian PLY: points with velocity (vx vy vz), radius, age, id, kind (0 droplet, 1 bubble, 2 foam) and
// stretch. Written to a temporary name, then renamed.
void write_particles(const std::string& path, const std::vector<Drop>& drops);
// Those of such a file. Throws RunError on one that is damaged or something else.
std::vector<Drop> read_particles(const std::string& path);

// Vortex particles as such points: position, strength (sx sy sz), radius, and the life that is left.
template <int D>
void write_vortices(const std::string& path, const Water<D>& water);

// On a grid of cells of size h: the inverse of drops_of, but for what foam has left to live.
template <int D>
std::vector<Droplet<D>> fragments_of(const std::vector<Drop>& drops, double h);

}  // namespace tarn
