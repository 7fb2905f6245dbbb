#pragma once
// Faces between regions of enclosed air and the water.

#include "tarn/pressure/air_components.h"
#include "tarn/pressure/surface_fraction.h"

namespace tarn {

// A face between an enclosed region and the water.
struct RegionFace {
    int region, cell, face;  // the region, counted from 0, the wet cell, and the face
    int axis, upper;         // whether the wet cell is the upper one
    float open, closeness;   // the open part, and one over the distance to the surface in cells
    float jump, velocity;    // x - X on the surface by its tension; the velocity before the solve
};

// The faces of a dry cell, by its index, of which those to wet cells are a region's.
template <int D>
struct SurfaceFaces {
    View<D, const float> phi, kappa;
    FaceView<D, const float> u;
    Boundary<D> boundary;
    float tension;

    TARN_HD bool is_one(int i, int slot) const
    {
        const int a = slot / 2, side = slot % 2;
        const Cell<D> c = air::cell_of<D>(phi.stride, i), other = moved<D>(c, a, 2 * side - 1);
        // Closing gaps may have made the cell wet since its region was found.
        if (phi[i] < 0 || other[a] < 0 || other[a] >= boundary.cells[a] || !(phi(other) < 0)) return false;
        return boundary.open_at(moved<D>(c, a, side), a) > 0;
    }
    TARN_HD RegionFace face(int i, int slot) const
    {
        const int a = slot / 2, side = slot % 2;
        const Cell<D> c = air::cell_of<D>(phi.stride, i), other = moved<D>(c, a, 2 * side - 1);
        const Cell<D> face = moved<D>(c, a, side);
        const float theta = surface_fraction(phi(other), phi[i]);
        const float jump = kappa.data ? tension * (kappa(other) + theta * (kappa[i] - kappa(other))) : 0.0f;
        return {0, phi.index(other), phi.index(face), a, side, boundary.open_at(face, a), 1 / theta, jump, u[a](face)};
    }
};

}  // namespace tarn
