#pragma once
// Small pockets of air inside the water.
//
// Only water is simulated, and air has no pressure. In a pocket that water encloses this is wrong: real air there can
// hardly be compressed, but a pocket without pressure collapses, and where its walls meet, jets shoot out that are far
// faster than anything around them. So the pressure is solved for in small pockets as if they were water: they keep
// their volume and go with the flow. They have no weight, so that the water around them lifts them; with the inertia of
// water they set out at less than half of what a bubble does, but rise with its force.
//
// The water that follows a bubble would soon pass through its middle, and the grid would lose the ring that is left. In
// nature surface tension holds small bubbles together. Here each step brings a pocket nearer to a ball that holds as
// much air. How much that is goes with its cells from step to step, so that it lasts until it reaches the surface.
//
// Large pockets stay as they are. Before they close they are small. So do those at walls.

#include <vector>

#include "tarn/backend/memory.h"
#include "tarn/grid/tiles.h"
#include "tarn/pressure/boundary.h"
#include "tarn/surface/measure.h"
#include "tarn/surface/particles.h"

namespace tarn {

// The cells of small pockets, in ascending order, the pocket that each is in, and the air that it holds, in cells.
struct PocketAir {
    std::vector<int> cells, pockets;
    std::vector<float> volumes;
};

// In cells.
template <int D>
struct Ball {
    Vec<D, float> centre;
    float radius;
};

// Those that pockets away from walls should be, and the cells of these pockets.
template <int D>
struct PocketBalls {
    std::vector<Ball<D>> balls;
    std::vector<int> cells;
};

template <int D>
class AirPockets {
public:
    // Finds the small pockets of phi on the tiles and fills them: phi becomes that of water there. What they hold has
    // come with the velocity for dt from where it was. `labels` is room to work in. Returns whether there are any.
    bool fill(Field<D>& phi, PocketAir& held, const WetPart<D>& wet, const FaceField<D>& velocity, double dt,
              const Boundary<D>& boundary, const Tiles<D>& tiles, Field<D, int>& labels);
    // After gravity has pulled at them for dt as at water: it should not.
    void undo_gravity(FaceField<D>& velocity, Vec<D> gravity, double dt) const;
    // Phi becomes what it was, or a little rounder. Particles that this leaves on the wrong side go.
    void empty(Field<D>& phi, Particles<D>& particles, const Field<D, int>& labels) const;

    // The parts of fill(). A GPU's compiler makes no kernels in private functions.
    std::vector<int> find(const Field<D>& phi, const Boundary<D>& boundary, const Tiles<D>& tiles,
                          Field<D, int>& labels);
    std::vector<int> follow(const PocketAir& held, const FaceField<D>& velocity, const Field<D>& phi, double dt);
    PocketBalls<D> balance(PocketAir& held, const std::vector<int>& roots, const std::vector<float>& volumes,
                           const std::vector<int>& went, const Grid<D>& grid);
    void find_targets(const Field<D>& phi, const std::vector<Ball<D>>& balls, const Boundary<D>& boundary,
                      Field<D, int>& labels);

private:
    int count_ = 0;  // of the cells in small pockets, and then of those away from walls
    Memory<int> cells_, root_;
    Memory<float> phi_, volume_;  // of those cells
    int near_count_ = 0;          // of the cells in and beside them
    Memory<int> near_;
    Memory<float> target_;  // of those cells
};

}  // namespace tarn
