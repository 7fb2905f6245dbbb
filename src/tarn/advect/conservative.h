#pragma once
// Moving what is carried without being lost:  d rho / dt + div(rho u) = 0.
//
// What leaves a cell through a face enters the one behind it, so that the sum is kept to the rounding of floats, whatever the step.
// A step is divided until no cell gives away more than it holds, and each substep sweeps over the axes in turn, then back. In a sweep the
// value that flows through a face is third order in space and time (Leonard 1979), limited so that there are no new extremes. A sweep alone
// squeezes air; how much of a cell it has filled is carried along with it and divided by, so that what is the same everywhere stays so
// (Easter 1993).
//
// On an octree every level sweeps over its leaves. Values beside them are, within parents, the means of what these hold, and within larger
// cells what a limited slope has there, so that the parts of a cell have its mean. What flows through a large face that meets small ones is
// the sum of what flows through those, for both sides alike.

#include <vector>

#include "tarn/backend/parallel.h"
#include "tarn/field/levels.h"

namespace tarn {

// What is known of the flow, and fields to work in.
template <int D>
struct Conservative {
    FaceField<D> flux;   // through each face in a step, as a part of a cell
    Field<D> capacity;   // how much of a cell there is to fill, 0 to 1
    Field<D> filled, next_filled, next[2];

    Conservative() = default;
    explicit Conservative(const Grid<D>& grid) : flux(grid), capacity(grid), filled(grid), next_filled(grid)
    {
        for (auto& field : next) field = Field<D>(grid);
    }
};

// Both fields on a level, and what is known of the flow there.
template <int D>
struct CarriedLevel {
    Field<D>* fields[2];
    Conservative<D>* workspace;
};

// Carries both fields, on all of the grid, for the step whose flux is given. What enters through the grid's sides brings nothing of
// them. Where `source` (may be null; on the finest level) is not zero, flow appears or vanishes, with what is there. Returns how much of each
// left through the sides, in the finest cells. `octree` has no levels on a uniform grid; its small faces have the flux of the large ones over them.
template <int D>
std::vector<double> carry(const std::vector<CarriedLevel<D>>& levels, const Octree<D>& octree, const Field<D>* source,
                          const bool (&open)[D][2]);

// Fills in what lies beside the leaves of every level.
template <int D>
void join_carried(const std::vector<CarriedLevel<D>>& levels, const Octree<D>& octree);

}  // namespace tarn
