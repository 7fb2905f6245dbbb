#pragma once
// The pressure's system in the larger cells of an octree, and across T-faces.   [LGF04] §4.1, and Losasso, Fedkiw and Osher
// 2006, "Spatially adaptive techniques for level set methods and incompressible flow"
//
// Rows are sums of flows, never divided by a volume; x = p dt / (rho h) with the finest h. A cell of level l is 2^l wide and its
// faces have the area a = 2^(l (D - 1)).
//
//   between two cells of level l    G = (x+ - x-) / 2^l, flow a G
//   T-face, a leaf B of level l and C = 2^(D-1) children S_k across it: one velocity, G = ± (mean of x_S - x_B) / (3/4 2^l); the flow
//   a G belongs to B's row, and a share of 1/C to the row of each S_k.
//
// The mean of the children's centres lies on the large face's axis, so G is exact for linear x: water at rest stays. The
// matrix is G^T M G: symmetric, positive. Siblings get a small positive coupling. "losasso-2004" has the difference with each
// x_S alone, over one of four distances.
//
// Levels keep to the stencil of a uniform grid, in which what lies across a T-face has x = 0 and an ordinary conductance; what
// that is wrong by is added apart, for every T-face. In a sweep of Gauss-Seidel this part is that of before the sweep, which
// keeps the cycle symmetric and does not depend on any order.

#include "tarn/field/levels.h"
#include "tarn/params/params.h"
#include "tarn/pressure/poisson.h"

namespace tarn {

template <int D>
struct OctreeSystem {
    // The unknowns in leaves of level n + 1, and what conjugate gradients keep of them. Zero everywhere else.
    struct Level {
        Field<D> x, r, p, z, kept;
    };

    const Octree<D>* octree = nullptr;
    std::vector<Level> levels;
    bool mean_of_children = true;    // second order
    float over_distance = 4.0f / 3;  // one over the distance across a T-face, in large cells
    bool open[D][2] = {};            // sides of the domain that larger cells meet air outside at: p = 0, a cell away
    std::vector<float> saved;        // see add_across()
    double volume = 0;               // of all unknowns, in the finest cells

    OctreeSystem() = default;
    OctreeSystem(const Octree<D>& octree, const OctreeParams& params);

    int count() const { return static_cast<int>(levels.size()) + 1; }
    const OctreeLevel<D>& level(int l) const { return octree->levels[static_cast<size_t>(l)]; }
    Level& unknowns(int l) { return levels[static_cast<size_t>(l) - 1]; }
};

// The conductance of a face between cells of level l, and the area of a face and the volume of a cell.
template <int D>
constexpr float conductance(int l) { return D == 3 ? static_cast<float>(1 << l) : 1.0f; }
template <int D>
constexpr float area(int l) { return static_cast<float>(1 << (l * (D - 1))); }
template <int D>
constexpr float volume(int l) { return static_cast<float>(1L << (l * D)); }

// Gives the faces between levels l - 1 and l the conductance of ordinary ones of level l - 1.
template <int D>
void conduct_across(FaceField<D>& w, const OctreeSystem<D>& system, int l);

// The coefficients of level l, which holds leaves beside parents: first all are zero, then those of parents are united from the level
// below, then come those of leaves.
template <int D>
void clear_level(FaceField<D>& w, Field<D>& dirichlet, Field<D>& x, const OctreeSystem<D>& system, int l);
template <int D>
void add_leaves(FaceField<D>& w, Field<D>& dirichlet, const OctreeSystem<D>& system, int l);
// Whether any leaf of a larger cell has such a term.
template <int D>
bool any_leaf_at_open_side(const OctreeSystem<D>& system);

// z = A x in the leaves of level l, but for what belongs to T-faces.
template <int D>
void product_in_leaves(Field<D>& z, const Field<D>& x, const OctreeSystem<D>& system, int l);
// Adds that to z = A x of all levels, or takes it away with sign = -1; returns what it adds to x . z. `z` and `x` begin with the finest level.
template <int D>
double add_t_faces(const std::vector<Field<D>*>& z, const std::vector<const Field<D>*>& x, const OctreeSystem<D>& system, float sign);

// Before a sweep over level l - 1: b gets what the T-faces to level l add, with x of before the sweep; `above`, x of level l, may be null
// for zero. Afterwards b gets back, exactly, what it was.
template <int D>
void add_across(Field<D>& b, const Field<D>& x, const Field<D>* above, OctreeSystem<D>& system, int l);
template <int D>
void restore_across(Field<D>& b, OctreeSystem<D>& system, int l);

// b of a multigrid level in its leaves: their residual, and what flows in through T-faces from x of the level below.
template <int D>
void restrict_to_leaves(Field<D>& b, const Field<D>& r, const Field<D>& x_below, const OctreeSystem<D>& system, int l);

// In the leaves of level l, r -= z; z . p, also on other tiles.
template <int D>
void subtract_leaves(Field<D>& r, const Field<D>& z, const OctreeSystem<D>& system, int l);
template <int D>
double dot_in(const Field<D>& z, const Field<D>& p, const Tiles<D>& tiles);
template <int D>
double dot_in_leaves(const Field<D>& z, const Field<D>& p, const OctreeSystem<D>& system, int l)
{
    return dot_in(z, p, system.level(l).leaves);
}

// For a second solve, from zero, with the diagonal alone.
template <int D>
void keep_right_hand_side(OctreeSystem<D>& system);
template <int D>
void start_again(OctreeSystem<D>& system);
template <int D>
void divide_leaves_by_diagonal(OctreeSystem<D>& system);

// In the leaves of level l.
template <int D>
void copy_leaves(Field<D>& to, const Field<D>& from, const OctreeSystem<D>& system, int l);

// Takes off f, a residual, its sum, by volume; or off f, a pressure, its mean. The finest level's unknowns are where `inverse` is positive.
template <int D>
void remove_mean(const std::vector<Field<D>*>& f, const Poisson<D>& poisson, bool residual);

// Labels of the smallest cells that touch larger ones.
template <int D>
void mark_beside_larger_cells(Field<D, int>& labels, int label, const OctreeSystem<D>& system);

// Of the velocity on large faces: those of the domain's closed sides become zero.
template <int D>
void close_coarse_walls(std::vector<CoarseLevel<D>>& coarse, const OctreeSystem<D>& system);
// b = - sum of what flows out; the solve starts from the pressure times `scale`, or from x as it is where that is zero.
template <int D>
void coarse_right_hand_side(OctreeSystem<D>& system, const std::vector<CoarseLevel<D>>& coarse, float scale);
// u = u* - G on all large faces, and on the small ones that T-faces cover; where the others are done on the finest level. The
// pressure becomes x / to_x.
template <int D>
void apply_coarse_pressure(FaceField<D>& finest_velocity, std::vector<CoarseLevel<D>>& coarse, const Field<D>& finest,
                           OctreeSystem<D>& system, float to_x);

}  // namespace tarn
