#pragma once
// Unknowns of the pressure's system that many cells share, such as the pressure of a volume of enclosed air:
//
//   cell i:    sum_j w_ij (x_i - x_j) + dirichlet_i x_i + sum_k t_ik (x_i - X_k) = b_i
//   region k:  sum_i t_ik (X_k - x_i) = Q_k
//
// X_k = (Q_k + sum_i t_ik x_i) / S_k with S_k = sum_i t_ik is eliminated, so that the vectors of conjugate gradients stay
// fields of cells and the rows of the regions hold exactly, whatever the tolerance:
//
//   A' = A_d - sum_k t_k t_k^T / S_k,   b' = b + sum_k t_k Q_k / S_k
//
// where A_d has every t_ik in its Dirichlet terms. In the multigrid each level has its own X, relaxed after every sweep
// on the way down and before every sweep on the way up. A coarse t is half the sum of the fine ones with the same region
// and parent cell: the terms of a region are those of a Dirichlet surface and coarsen as these do. Sums over the terms
// and X are in double, which keeps the net flux of a region at zero where its pressure is high.

#include <vector>

#include "tarn/backend/parallel.h"
#include "tarn/field/field.h"

namespace tarn {

// t_ik: what joins a cell, by its index, to a region, counted from 0.
struct RegionTerm {
    int region, cell;
    float t;
};

template <int D>
class Regions {
public:
    bool any() const { return count_ > 0; }
    int count() const { return count_; }
    // One for each region and cell, by region and then cell.
    const std::vector<RegionTerm>& terms() const { return terms_; }

    // Takes over the terms of `count` regions, in any order, and Q. Every region must have a term.
    void set(int count, std::vector<RegionTerm> terms, const std::vector<double>& q, const Grid<D>& grid);
    // The same regions one level coarser.
    void coarsen(Regions& to, const Grid<D>& coarse) const;

    // b += t Q / S, which makes it the right-hand side of the eliminated system.
    void add_sources(Field<D>& b) const;
    // z -= t (sum t p) / S and p . z with it, where z = A_d p; r += t (sum t x) / S, where r = b - A_d x.
    void subtract_shared(Field<D>& z, const Field<D>& p, double* dot) const;
    void add_shared(Field<D>& r, const Field<D>& x) const;

    // A cycle of the multigrid: X starts at zero; relax() finds X from x and tells b; finish() takes that back from b.
    void start(const Field<D>& b) const;
    void relax(const Field<D>& x, Field<D>& b) const;
    // Also corrects b . x, which was found with the changed b.
    void finish(const Field<D>& x, Field<D>& b, double* dot) const;

    // X = (Q + sum t x) / S of every region, for the program and for kernels.
    std::vector<double> solve(const Field<D>& x) const;
    const double* values() const { return value_.data(); }

    // Parts of the above. A GPU's compiler makes no kernels in private functions.
    void sum_terms(const Field<D>& x) const;
    void find_means(const Field<D>& x, double sign) const;
    void add_changes(Field<D>& f) const;

private:
    int count_ = 0, cells_ = 0, chunks_ = 0;
    Grid<D> grid_;
    std::vector<RegionTerm> terms_;  // sorted by region, then cell; one each
    Memory<RegionTerm> term_;
    Memory<int> chunk_;               // where each chunk of one region's terms begins, and where the last ends
    Memory<int> first_chunk_;         // of each region, and where the last ends
    Memory<int> cell_, cell_start_;   // the cells that have terms, ascending, and where their terms begin in
    Memory<int> cell_term_;           // this list
    Memory<double> total_, q_;        // S and Q
    mutable Memory<double> partial_;  // of each chunk
    mutable Memory<double> value_, change_;
    mutable Memory<float> saved_;  // b of the cells as it was
};

}  // namespace tarn
