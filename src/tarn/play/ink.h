#pragma once
// Ink: three dyes that the flow carries and nothing else feels. Each is the share of its light that a cell takes away.
//
// Semi-Lagrangian, the path traced by the midpoint rule, the end of it interpolated by cubics that stay between the values
// around, so that threads of ink stay thin for long and nothing is brighter than it was put in.

#include "tarn/field/field.h"

namespace tarn {

class Ink {
public:
    explicit Ink(const Grid<2>& grid);

    bool any() const { return any_; }
    const Field<2>& dye(int n) const { return dye_[n]; }
    void clear();
    // Brings the colour's complement to the cell, by that share.
    void add(Cell<2> cell, const float (&color)[3], float share);
    void advect(const FaceField<2>& velocity, double dt);
    // The same ink on another grid.
    Ink on(const Grid<2>& grid) const;
    void copy(const Ink& from);

private:
    Field<2> dye_[3], next_;
    bool any_ = false;
};

}  // namespace tarn
