#pragma once
// The air between the domain's closed sides and water that has separated from them. phi's padding holds it, so that no
// component of cells does: a gap is part of the enclosed region that it leads to along its side, whose pressure it then has
// and whose volume it is part of. One that leads to nothing is a void.

#include <vector>

#include "tarn/backend/parallel.h"
#include "tarn/pressure/region_faces.h"

namespace tarn {

template <int D>
class WallGaps {
public:
    // Adds the faces of enclosed regions at the domain's sides. `region`: of cells, counted from 1, where there is enclosed air;
    // `with_voids`: the region that voids are part of, or 0. Returns whether there are voids.
    bool add_faces(std::vector<RegionFace>& faces, const View<D, const float>& phi, const FaceView<D, const float>& velocity,
                   const Boundary<D>& boundary, const View<D, const int>& region, int with_voids, const Grid<D>& grid);

    // Its parts. A GPU's compiler makes no kernels in private functions.
    void follow_gaps(const Boundary<D>& boundary, const Tiles<D>& layer, int axis, int places);
    bool add_side(std::vector<RegionFace>& faces, const View<D, const float>& phi, const FaceView<D, const float>& velocity,
                  const Boundary<D>& boundary, const Tiles<D>& layer, int axis, int side, int with_voids);

private:
    Memory<int> region_, next_;  // of each place along a side
    Memory<RegionFace> faces_;
    Memory<int> count_;
};

}  // namespace tarn
