#pragma once
// Gaps of air between two surfaces that approach each other.
//
// Across the last cell of such a gap the velocity changes from one surface's to the other's, and what lies between
// would be squeezed, the water in the cell's outer parts with it: impacts would cost a layer of water. Deviation from
// [EMF02]: there each surface keeps the velocity of its own side until they meet.

#include "tarn/field/thin_walls.h"

namespace tarn {

// Where air goes elsewhere instead of vanishing: wherever it is simulated, and where it is enclosed
// (pressure/enclosed_air.h).
template <int D>
struct NearContactAir {
    bool everywhere = false;
    View<D, const int> enclosed = {};  // positive where it is; data null: nowhere

    TARN_HD bool at(int i) const { return everywhere || (enclosed.data && enclosed[i] > 0); }
};

// The axis along which a dry cell lies between two wet ones that approach each other, or -1.
template <int D, class T>
TARN_HD TARN_INLINE int near_contact_axis(const View<D, const float>& phi, const FaceView<D, T>& u, const NearContactAir<D>& air,
                                     Cell<D> c)
{
    const int i = phi.index(c);
    if (phi[i] < 0) return -1;
    for (int a = 0; a < D; ++a) {
        const int n = phi.next(a);
        if (phi[i - n] < 0 && phi[i + n] < 0 && u[a][i + n] < u[a][i]) return air.at(i) ? -1 : a;
    }
    return -1;
}

// Whether a position in such a cell is nearer to the upper of the two surfaces.
template <int D>
TARN_HD inline bool nearer_above(const View<D, const float>& phi, Cell<D> c, int axis, float x)
{
    const int i = phi.index(c), n = phi.next(axis);
    const float own = phi[i], below = -phi[i - n], above = -phi[i + n];
    // Where the surfaces lie between the centres of the cells, counted from those of the wet ones.
    const float lower = below / (below + own), upper = above / (above + own);
    return x > static_cast<float>(c[axis]) + 0.5f * (lower - upper);
}

// The velocity at a position, of the nearer surface in a gap that closes.
template <int D, class T>
TARN_HD TARN_INLINE Vec<D, float> sample_velocity_in_gaps(const FaceView<D, T>& u, const View<D, const float>& phi,
                                                          const NearContactAir<D>& air, Cell<D> cells, Vec<D, float> x)
{
    Vec<D, float> v = sample_velocity(u, cells, x);
    const Cell<D> c = cell_at(x, cells);
    const int a = near_contact_axis(phi, u, air, c);
    if (a >= 0) {
        const int i = phi.index(c);
        v[a] = u[a][nearer_above(phi, c, a, x[a]) ? i + phi.next(a) : i];
    }
    return v;
}
// The same from one side of thin walls. Gaps beside them are none.
template <int D, class T>
TARN_HD inline Vec<D, float> sample_velocity_in_gaps(const FaceView<D, T>& u, const View<D, const float>& phi,
                                                     const NearContactAir<D>& air, const ThinWalls<D>& thin_walls, Vec<D, float> x)
{
    const bool beside = !undivided(thin_walls, x) || thin_walls.around(phi.index(cell_at(x, thin_walls.cells)));
    return beside ? velocity_one_side(u, thin_walls, x) : sample_velocity_in_gaps(u, phi, air, thin_walls.cells, x);
}

}  // namespace tarn
