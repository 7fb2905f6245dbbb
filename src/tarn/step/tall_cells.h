#pragma once
// Water on tall cells: the state of what lies below the rows that the uniform grid holds, and what follows from it.
//
// Near the surface, in the optical layer, phi, velocity and particles are the uniform grid's own. Below it the water has a
// velocity at each row of the faces between columns at which one of them has a node, and a vertical one between each node and
// the next. In the active tiles the uniform grid's velocity continues it: the virtual rows, which paths from the layer look at.

#include <cstdint>
#include <vector>

#include "tarn/grid/columns.h"
#include "tarn/grid/tiles.h"
#include "tarn/pressure/column_solver.h"

namespace tarn {

// Open fractions of faces that do not change, by runs of rows with the same: what a tall cell knows of the ground.
struct OpenRuns {
    std::vector<int> start;  // of each face column; one more at the end. Empty: all is open
    std::vector<int> row;    // first row of each run
    std::vector<float> open;

    bool any() const { return !start.empty(); }
};

// The velocity below the surface: `u` at the rows of the faces along x and z, `v` of each node to the next.
struct ColumnVelocity {
    std::vector<float> u[2], v;
};

template <int D>
struct TallCells {
    bool on = false;

    // A checkpoint.
    TallColumns columns;
    ColumnVelocity velocity;
    std::vector<float> pressure;  // Pa, at nodes

    // Made from the scene.
    int layer = 0;                 // rows of the optical layer below the lowest one within the band around the surface
    bool single = false;           // one gap
    std::vector<uint8_t> refined;  // tiles that keep all their rows
    OpenRuns open[3];              // of the faces along x, of those along z, of those along y
    OpenRuns cells;                // 1 where a cell has an open face
    std::vector<float> full_volume, full_height;  // of each tile, if it is all water: cells, and cells times rows

    // Made from the state.
    std::vector<int> bottom;       // of each column: the lowest row of its layer
    FaceColumns faces[2];
    double fastest = 0;            // in gaps
    double divergence = 0;         // the largest that the newest solve left, 1/s

    ColumnSolver solver;
    std::vector<float> b;
};

}  // namespace tarn
