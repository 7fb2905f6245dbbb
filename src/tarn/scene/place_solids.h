#pragma once
// Solids of a scene onto the grid.

#include "tarn/bodies/solids.h"
#include "tarn/scene/scene.h"

namespace tarn {

// Less of a face than this is closed: what is drawn or squeezed through a gap that leaves so little of a cell open, by
// enclosed air or where it closes, would be as fast as the gap is narrow.
inline constexpr float sliver = 0.1f;

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
