#pragma once
// The water of one frame, small enough to keep for every frame: what drawings, renders, meshes and volumes are made of,
// but not enough to go on from, which is a checkpoint's part.
//
// phi is rounded to 1/8192 of a cell within 3 cells of the surface, and beyond them only its sign is kept. Velocities are
// rounded to 1/1024 of the largest component, in water and 3 cells around it, and are zero elsewhere. Pressures are rounded to
// 1/16384 of the largest; a cell without one has zero, and one with any has more. So are density and temperature of smoke.

#include <string>
#include <vector>

#include "tarn/step/water.h"

namespace tarn {

// Where the program reads it.
template <int D>
struct FrameState {
    Grid<D> grid;
    double time = 0;
    Field<D> phi;
    FaceField<D> velocity;
    Field<D> pressure;  // Pa; none of it in states of earlier versions
    bool any_pressure = false;
    Field<D> smoke_density, temperature;  // above that around, K; only of smoke
    Droplets<D> droplets{Where::program};
    Particles<D> points{Where::program};  // that carry the surface: chains of markers, or heights
};

// Written to a temporary name, then renamed. The program must be able to read the water. `points`: with the particles, which are
// few where they carry the surface.
template <int D>
void write_state(const std::string& path, const Water<D>& water, bool points = false);

// Throws RunError on a file that is damaged or something else.
template <int D>
FrameState<D> read_state(const std::string& path);

// Puts a frame into water that initial_water made; what follows from it is restore's to make.
template <int D>
void load_state(const std::string& path, Water<D>& water);

// What a picture needs of a frame in 3D: phi at the centres of all cells, and the velocity there, x fastest.
struct Volume {
    Grid<3> grid;
    double time = 0;
    std::vector<float> phi;
    std::vector<Vec3f> velocity;
    std::vector<float> density;  // of smoke; empty with water
};
Volume volume_of(const FrameState<3>& state);

}  // namespace tarn
