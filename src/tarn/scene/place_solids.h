#pragma once
// Solids of a scene onto the grid.

#include "tarn/bodies/solids.h"
#include "tarn/scene/scene.h"

namespace tarn {

template <int D>
Solids<D> make_solids(const Scene& scene, const Grid<D>& grid);

// Whether a solid moves, by keyframes, along a path, or as a body.
bool moves(const Scene& scene, size_t solid);

// Only those that never move: their distance, open faces and thin walls.
template <int D>
Solids<D> make_still_solids(const Scene& scene, const Grid<D>& grid);

// Puts the solids where they are at time t + dt, moving as they do from t. Solids that never move are placed once, by
// make_solids.
template <int D>
void place_solids(Solids<D>& solids, const Scene& scene, double t, double dt);

}  // namespace tarn
