#pragma once
// The pressure's system on tall cells (grid/columns.h), solved by conjugate gradients.
//
//   sum over faces of E^T W E x  +  sum over links of c (x_n - x_(n+1))  +  dirichlet x  =  b
//
// E takes the difference of the pressures of two columns at the rows of the face between them, W holds the face's weights.
// The preconditioner is a multigrid that smooths whole columns, each a tridiagonal system (Thomas), red ones and black ones in
// turn, and coarsens 2 x 2 columns (in 2D two), along the horizontal only. A coarse column has the nodes of all of its columns,
// so that a value goes down to the node of the same row and comes back as it is. Coarse faces are half of the sum of the fine
// ones, discretised anew on the coarse rows so that columns stay tridiagonal; links and Dirichlet terms are summed.

#include <functional>

#include "tarn/grid/columns.h"
#include "tarn/pressure/conjugate_gradients.h"

namespace tarn {

// One level of the system. The finest is filled in by who knows the water.
struct ColumnLevel {
    TallColumns columns;
    FaceColumns faces[2];
    std::vector<float> link;       // of each node to the next: open fraction over the distance in rows
    std::vector<float> dirichlet;  // not negative
    std::vector<float> rows;       // that a node stands for: the sum of its hat
    // Follow from those.
    // Of each face: the rows [from, to) at which both columns have nodes, one after the other, and nothing lies between.
    struct Run {
        int from = 0, to = 0;
    };
    std::vector<Run> runs[2];
    std::vector<float> weight[2];        // of each row of a face: own times scale
    std::vector<float> diagonal, off;    // of the columns' own systems; off is of a node to the next
    std::vector<float> pivot;            // the inverses in Thomas's elimination
    std::vector<int> coarse;             // of each node, on the next level
    std::vector<float> x, b;             // on coarse levels
    std::vector<float> r;                // workspace
};

// What unknowns that many nodes share add to products: z += (A' - A) x, where A is the system without them. Empty: nothing.
using SharedProduct = std::function<void(const std::vector<float>& x, std::vector<float>& z)>;

class ColumnSolver {
public:
    // The finest level; to be filled in before build().
    ColumnLevel& fine()
    {
        if (levels_.empty()) levels_.resize(1);
        return levels_[0];
    }
    const ColumnLevel& fine() const { return levels_[0]; }
    int unknowns() const { return levels_.empty() ? 0 : levels_[0].columns.nodes(); }
    // Makes columns' systems and coarse levels.
    void build();
    // Solves for x, from x. The residual is that of a row: of a node, over the rows that it stands for.
    SolveReport solve(std::vector<float>& x, std::vector<float>& b, const Goal& goal, const SharedProduct& shared = {});
    // y = A x on the finest level.
    void product(const std::vector<float>& x, std::vector<float>& y) const;
    // z = M r.
    void precondition(std::vector<float>& z, const std::vector<float>& r);

private:
    void find_components();
    void remove_means(std::vector<float>& f) const;
    void cycle(size_t level, std::vector<float>& x, const std::vector<float>& b);

    std::vector<ColumnLevel> levels_;
    std::vector<int> pocket_;             // of each node: its component without Dirichlet terms, or -1; empty: there are none
    std::vector<double> pocket_rows_;     // of each of them
    std::vector<float> r_, z_, p_, ap_;
};

}  // namespace tarn
