#pragma once
// Implicit viscosity, constant or varying from cell to cell:
//
//   u - dt/rho div( mu (grad u + grad u^T) ) = u*
//
// Normal stresses live at cells, shear stresses at edges (corners in 2D). No stress acts across the free surface; a
// no-slip wall holds the water at its own speed, at its true distance; a slip wall leaves it alone. The system over all
// components is symmetric positive definite and solved by conjugate gradients.

#include "tarn/backend/parallel.h"
#include "tarn/field/nodes.h"
#include "tarn/params/params.h"
#include "tarn/pressure/boundary.h"
#include "tarn/pressure/report.h"

namespace tarn {

// With a density on faces the viscosity is the dynamic one, mu, and the equation is multiplied by rho, which keeps it
// symmetric; without, it is mu / rho.
template <int D>
struct Viscosity {
    float constant = 0;                     // m²/s
    View<D, const float> varying = {};      // at cells; replaces the constant where given
    FaceView<D, const float> density = {};  // data null: the same everywhere

    TARN_HD float at(Cell<D> c) const { return varying.data ? varying(c) : constant; }
};

// Where walls hold the water: the domain's sides, and solids through `no_slip` of Solids.
template <int D>
struct NoSlip {
    bool wall[D][2] = {};
    FaceView<D, const uint8_t> solid = {};     // data null: none
    View<D, const float> solid_distance = {};  // at nodes
};

template <int D>
struct ViscosityScratch {
    FaceField<D>&r, &p, &q, &inverse;
};

template <int D>
SolveReport diffuse(FaceField<D>& velocity, const Field<D>& phi, const Viscosity<D>& viscosity,
                    const Boundary<D>& boundary, const NoSlip<D>& no_slip, const Tiles<D>& tiles, double dt,
                    double tolerance, const ViscosityScratch<D>& scratch);

}  // namespace tarn
