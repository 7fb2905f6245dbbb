#pragma once
// The symmetric system of the pressure:  sum over faces of w (x - x_neighbour) + dirichlet x = b  at every wet cell.
//
// w is the conductance of a face between two wet cells. `dirichlet`, never negative, ties a cell to the known pressure
// at the free surface. Keeping it apart from the faces, rather than the diagonal, leaves a component without a surface
// with a Dirichlet term of exactly zero on every level of the multigrid, however often it is summed.
//
// Products are formed as the equation is written, by differences: a constant in x then gives exactly zero where there
// is no Dirichlet term. As diagonal times x less neighbours it would give round-off times the largest conductance: at a
// density ratio of 1000, in single precision, as much as the tolerance, and p.Ap of either sign.

#include <type_traits>
#include <utility>
#include <vector>

#include "tarn/backend/parallel.h"
#include "tarn/field/field.h"
#include "tarn/pressure/regions.h"
#include "tarn/pressure/report.h"
#include "tarn/pressure/rigid_rows.h"

namespace tarn {

template <int D>
struct OctreeSystem;

template <int D>
struct Poisson {
    FaceField<D>* w = nullptr;             // zero wherever a face does not join two wet cells
    Field<D>* inverse_diagonal = nullptr;  // 1 / (dirichlet + sum of w); zero in cells that are no unknowns
    const Field<D>* dirichlet = nullptr;   // zero in cells that are no unknowns
    Tiles<D> tiles;                        // hold every unknown
    TileMap<D> map;                        // the same, as flags (bit 1)
    // Every conductance between unknowns is one, and x is zero wherever there is no unknown: then the neighbours may be
    // summed without asking w, which halves what must be read.
    bool uniform = false;
    const Regions<D>* regions = nullptr;   // unknowns that cells share, eliminated; null: none
    const RigidRows<D>* bodies = nullptr;  // rigid bodies, likewise
    OctreeSystem<D>* octree = nullptr;     // the unknowns in larger cells; null: none
};

// Labels of components without Dirichlet rows: this and less.
inline constexpr int first_closed = -2;

// Whether a cell lies in one, as kernels see it.
template <int D>
struct InClosedComponent {
    bool everything = false;
    View<D, const int> labels = {};  // null: there is none

    TARN_HD bool operator()(int i) const { return everything || (labels.data && labels[i] <= first_closed); }
};

// Bodies of water that touch no surface. Their pressure is known only up to a constant, and it exists only if what
// flows in flows out.
template <int D>
struct ClosedComponents {
    bool everything = false;  // every unknown, as one body
    int bodies = 0;           // otherwise: how many
    const Field<D, int>* labels = nullptr;
    std::vector<double> sizes;         // in cells, of a few bodies, or of everything
    mutable Memory<long long> totals;  // sums and sizes, of many

    bool any() const { return everything || bodies > 0; }
    InClosedComponent<D> cells() const { return {everything, labels ? labels->view() : View<D, const int>{}}; }
};

// Sum of the conductances around a cell.
template <int D>
TARN_HD inline float sum_faces(const FaceView<D, const float>& w, int i)
{
    float s = 0;
    TARN_UNROLL
    for (int a = 0; a < D; ++a) s += w[a][i] + w[a][i + w[a].next(a)];
    return s;
}

// Sum over faces of w x_neighbour.
template <bool uniform, int D>
TARN_HD inline float sum_neighbours(const View<D, const float>& x, const FaceView<D, const float>& w, int i)
{
    float s = 0;
    TARN_UNROLL
    for (int a = 0; a < D; ++a) {
        const int n = x.next(a);
        if constexpr (uniform)
            s += x[i - n] + x[i + n];
        else
            s += w[a][i] * x[i - n] + w[a][i + n] * x[i + n];
    }
    return s;
}

// The matrix as kernels see it.
template <int D>
struct PoissonView {
    FaceView<D, const float> w;
    View<D, const float> inverse_diagonal, dirichlet;
};
template <int D>
PoissonView<D> view_of(const Poisson<D>& system)
{
    return {std::as_const(*system.w).view(), std::as_const(*system.inverse_diagonal).view(), system.dirichlet->view()};
}

// (A x) at a cell. Cells that are no unknowns have neither conductances nor a Dirichlet term and give 0. Where every
// conductance is one the diagonal times x loses nothing that counts, and w need not be read.
template <bool uniform, int D>
TARN_HD inline float apply(const View<D, const float>& x, const PoissonView<D>& a, int i)
{
    if constexpr (uniform) {
        const float inverse = a.inverse_diagonal[i];
        const float value = x[i] / (inverse > 0 ? inverse : 1.0f) - sum_neighbours<true>(x, a.w, i);
        return inverse > 0 ? value : 0.0f;
    } else {
        const float own = x[i];
        float s = a.dirichlet[i] * own;
        TARN_UNROLL
        for (int axis = 0; axis < D; ++axis) {
            const int n = x.next(axis);
            s += a.w[axis][i] * (own - x[i - n]) + a.w[axis][i + n] * (own - x[i + n]);
        }
        return s;
    }
}

// Calls f with `uniform` as a constant, so that kernels exist in both forms.
template <class F>
auto with_uniform(bool uniform, const F& f)
{
    return uniform ? f(std::true_type{}) : f(std::false_type{});
}

// How many unknowns there are, in larger cells as well.
template <int D>
long count_unknowns(const Poisson<D>& system);

// `labels` is workspace, made when first needed; the result looks at it.
template <int D>
ClosedComponents<D> find_closed_components(const Poisson<D>& system, const Field<D>& dirichlet, Field<D, int>& labels,
                                     bool solids);

// Takes the mean over each component without Dirichlet rows off f.
template <int D>
void remove_means(Field<D>& f, const Poisson<D>& system, const ClosedComponents<D>& closed);

}  // namespace tarn
