#pragma once
// Rigid bodies in the pressure's system. A body's velocity V (and spin) moves the closed parts of faces, and the pressure on
// them moves the body. With J_i, the flow out of cell i for each unit of velocity and spin, over the area of a face,
//
//   cell i:   (A x)_i + J_i . V = b_i,        body:   M (V - V*) = rho h^D sum_i J_i x_i     (x = p dt / (rho h))
//
// V is eliminated: (A + sum over bodies of J^T S J) x = b - J^T V*  with  S = rho h^D M^-1  (Batty, Bertails and Bridson 2007,
// with the face fractions of Ng et al. 2009). It is applied in factors: sums of J x for each body, and J times S of them. The
// multigrid of A alone is the preconditioner: with it the spectrum reaches from 1 to 1 + added mass / mass.

#include <array>
#include <vector>

#include "tarn/backend/parallel.h"
#include "tarn/field/field.h"

namespace tarn {

// Velocities, then spins: about z alone in two dimensions.
template <int D>
inline constexpr int rigid_freedoms = D == 2 ? 3 : 6;

template <int D>
struct RigidTerm {
    int body, cell;
    float j[rigid_freedoms<D>];
};

template <int D>
class RigidRows {
public:
    static constexpr int freedoms = rigid_freedoms<D>;
    using Freedoms = std::array<double, freedoms>;
    using Response = std::array<Freedoms, freedoms>;  // S, symmetric

    bool any() const { return terms_count_ > 0; }

    // Takes over terms in any order; those of the same body and cell are added up.
    void set(std::vector<RigidTerm<D>> terms, const std::vector<Response>& response);
    // One term for each body and cell, by body and then cell.
    const std::vector<RigidTerm<D>>& terms() const { return terms_; }
    // S of every body, row by row; on a GPU, for kernels alone.
    const double* response() const { return response_.data(); }

    // z += J^T S J p, and what it adds to p . z.
    void add_product(Field<D>& z, const Field<D>& p, double* dot) const;
    // r -= J^T S J x.
    void subtract_product(Field<D>& r, const Field<D>& x) const;
    // J x of every body.
    std::vector<Freedoms> sums(const Field<D>& x) const;

    // Parts of the above. A GPU's compiler makes no kernels in private functions.
    void sum_terms(const Field<D>& x) const;
    void add_changes(Field<D>& f, float sign) const;

private:
    int count_ = 0, terms_count_ = 0, chunks_ = 0, cells_ = 0;
    std::vector<RigidTerm<D>> terms_;
    Memory<RigidTerm<D>> term_;
    Memory<int> chunk_, first_chunk_;           // of terms; of each body's chunks
    Memory<int> by_cell_, cell_start_;          // terms in the order of their cells
    Memory<double> response_;
    mutable Memory<double> partial_, sum_, change_;
};

}  // namespace tarn
