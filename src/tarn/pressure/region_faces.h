#pragma once
// Faces between regions of enclosed air and the water.

#include <utility>
#include <vector>

#include "tarn/pressure/air_components.h"
#include "tarn/pressure/regions.h"
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
    float tension, h;

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
        const float theta = surface_fraction(phi(other), phi[i], h);
        const float jump = kappa.data ? tension * (kappa(other) + theta * (kappa[i] - kappa(other))) : 0.0f;
        return {0, phi.index(other), phi.index(face), a, side, boundary.open_at(face, a), 1 / theta, jump, u[a](face)};
    }
};

// The unknowns of a solve: their terms, right-hand sides, and regions, counted from 1.
struct Unknowns {
    std::vector<RegionTerm> terms;
    std::vector<double> q;
    std::vector<int> regions;
};

// From the faces, sorted by region: regions without a face to the water are no unknowns, and neither are voids, whose faces are taken
// out of the list. The others have the number of their unknown. `pressed` is what presses into each region, and `missing` what it lacks,
// given its area.
template <class Missing>
Unknowns number_unknowns(std::vector<RegionFace>& list, const std::vector<bool>& is_void, const std::vector<double>& pressed,
                         const Missing& missing)
{
    Unknowns unknowns;
    std::vector<RegionFace> kept;
    for (size_t i = 0; i < list.size();) {
        const size_t k = static_cast<size_t>(list[i].region);
        if (is_void[k]) {
            ++i;
            continue;
        }
        double area = 0, flow = pressed[k];
        const int id = static_cast<int>(unknowns.q.size());
        for (; i < list.size() && static_cast<size_t>(list[i].region) == k; ++i) {
            RegionFace f = list[i];
            const double out = f.upper ? 1 : -1, open = static_cast<double>(f.open);
            area += open;
            flow += open * (out * static_cast<double>(f.velocity) +
                            static_cast<double>(f.closeness) * static_cast<double>(f.jump));
            unknowns.terms.push_back({id, f.cell, f.open * f.closeness});
            f.region = id;
            kept.push_back(f);
        }
        unknowns.regions.push_back(static_cast<int>(k) + 1);
        unknowns.q.push_back(missing(k, area) - flow);
    }
    list = std::move(kept);
    return unknowns;
}

}  // namespace tarn
