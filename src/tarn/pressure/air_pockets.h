#pragma once
// Small pockets of air inside the water.
//
// Only water is simulated, and air has no pressure. In a pocket that water encloses this is wrong: real air there can
// hardly be compressed, but a pocket without pressure collapses, and where its walls meet, jets shoot out that are far
// faster than anything around them. So the pressure is solved for in small pockets as if they were water: they keep
// their volume and go with the flow. For their buoyancy gravity pulls at them the other way. A weightless ball sets out
// with 2 g, since it must move half its volume of water, and a disc in 2D, which must move all of its own, with g. So
// does one of water whose weight is -(D - 1) rho g: D rho g = (1 + 1 / (D - 1)) rho (D - 1) g.
//
// Large pockets stay as they are. Before they close they are small.

#include "tarn/backend/memory.h"
#include "tarn/grid/tiles.h"
#include "tarn/pressure/boundary.h"

namespace tarn {

template <int D>
class AirPockets {
public:
    // Finds the small pockets of phi on the tiles and fills them: phi becomes that of water there. `labels` is room to
    // work in. Returns whether there are any pockets at all.
    bool fill(Field<D>& phi, const Boundary<D>& boundary, const Tiles<D>& tiles, Field<D, int>& labels);
    // After gravity has pulled at them for dt as at water.
    void add_buoyancy(FaceField<D>& velocity, Vec<D> gravity, double dt) const;
    // Phi becomes what it was.
    void empty(Field<D>& phi) const;

private:
    int count_ = 0;
    Memory<int> cells_;
    Memory<float> phi_;
};

}  // namespace tarn
