#pragma once
// Small bodies that conduct far better than what is around them, as bubbles do in water, relaxed as a whole.
//
// Inside of such a body all is of one pressure, and only the thin links around it say which. Sweeps from cell to cell
// hardly move it, and where several lie within the cells of a coarse level they are no longer told apart there: their
// pressures are the errors that a cycle of the multigrid leaves. But each follows from one equation, the sum of those
// of its cells, in which the links inside cancel.

#include "tarn/pressure/poisson.h"

namespace tarn {

template <int D>
class DeflationAggregates {
public:
    // Finds the bodies of a system whose inverse diagonal is not looked at.
    void find(const Poisson<D>& system, const Field<D>& dirichlet);

    // Moves every body's x by one number, so that its residuals add up to zero, or would if the others stayed: that is
    // symmetric.
    void relax(Field<D>& x, const Field<D>& b) const;

private:
    const FaceField<D>* w_ = nullptr;
    int bodies_ = 0;
    Field<D, int> labels_;        // the lowest index of the body that a cell is of, or `no_body`
    Memory<int> starts_, taken_;  // of bodies by that index: where their cells begin, and how many are listed
    Memory<int> roots_, cells_;   // bodies, and their cells
    Memory<int> count_;
    Memory<float> dirichlet_terms_;     // the Dirichlet term of each listed cell
    Memory<float> inverse_;  // of each body: one over what it conducts to others
    mutable Memory<float> shifts_;
};

}  // namespace tarn
