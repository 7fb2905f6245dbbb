#pragma once
// How far a cell beside the surface is from it, where the surface is smooth: the distance to the nearest point of the
// cubic through the cells around (Chopp 2001).
//
// phi / |grad phi| with differences at the cell is that distance, too, but where it is taken again and again, as step
// after step does, ripples grow by themselves: what it does to them is to carry them along the normal with central
// differences. The cubic's value at the foot of the normal carries them as a semi-Lagrangian scheme does, which only
// ever calms them.

#include "tarn/backend/parallel.h"
#include "tarn/field/field.h"

namespace tarn {

// Lagrange's weights of four values in a row, at `x` from 0 to 1 between the middle two.
TARN_HD inline void cubic_weights(float x, float (&w)[4])
{
    const float before = x + 1, after = x - 1, beyond = x - 2;
    w[0] = x * after * beyond * (-1.0f / 6);
    w[1] = before * after * beyond * 0.5f;
    w[2] = before * x * beyond * -0.5f;
    w[3] = before * x * after * (1.0f / 6);
}

// The distance at a cell beside the surface, negative in water; `outside` where the surface is not smooth enough to
// tell. Beyond the grid's ends phi is mirrored.
template <int D>
TARN_HD inline float smooth_distance(const View<D, const float>& phi, Cell<D> cells, Cell<D> c, float h)
{
    constexpr float most_bent = 0.5f;    // what the slope may change by from one cell to the next
    constexpr float most_missed = 0.1f;  // how far off the surface the foot may be, in cells
    const int i = phi.index(c);
    const float own = phi[i] / h;
    const auto mirrored = [&](int k, int a) { return k < 0 ? -1 - k : (k < cells[a] ? k : 2 * cells[a] - 1 - k); };
    // What the slope along an axis changes by at a cell.
    const auto bend = [&](Cell<D> at, int a) {
        const int j = phi.index(at);
        const float lower = phi[j + (mirrored(at[a] - 1, a) - at[a]) * phi.next(a)] / h;
        const float upper = phi[j + (mirrored(at[a] + 1, a) - at[a]) * phi.next(a)] / h;
        return std::fabs(upper - 2 * phi[j] / h + lower);
    };
    Vec<D, float> g;
    TARN_UNROLL
    for (int a = 0; a < D; ++a) {
        const float lower = phi[i + (mirrored(c[a] - 1, a) - c[a]) * phi.next(a)] / h;
        const float upper = phi[i + (mirrored(c[a] + 1, a) - c[a]) * phi.next(a)] / h;
        if (!(std::fabs(upper - 2 * own + lower) < most_bent)) return outside;
        g[a] = 0.5f * (upper - lower);
    }
    const float slope2 = dot(g, g);
    if (!(slope2 > 0.25f && slope2 < 4)) return outside;

    // The cubic is that of a smooth surface where phi is smooth in all the cells around the foot, and not just here: in the
    // middle of a thin sheet, or of a film on a wall, it has a ridge, over which a cubic would find the surface too far out.
    for (int corner = 1; corner < (1 << D); ++corner) {
        Cell<D> at = c;
        for (int a = 0; a < D; ++a)
            if (corner >> a & 1) at[a] = mirrored(c[a] + (own * g[a] > 0 ? -1 : 1), a);
        for (int a = 0; a < D; ++a)
            if (!(bend(at, a) < most_bent)) return outside;
    }

    // The foot of the normal, within a cell from here, and the value there.
    int offset[D][4];
    float weight[D][4];
    TARN_UNROLL
    for (int a = 0; a < D; ++a) {
        const float to = -own * g[a] / slope2;
        if (!(std::fabs(to) <= 1)) return outside;
        const int first = c[a] - (to < 0 ? 2 : 1);
        cubic_weights(to < 0 ? to + 1 : to, weight[a]);
        for (int n = 0; n < 4; ++n) offset[a][n] = (mirrored(first + n, a) - c[a]) * phi.next(a);
    }
    float value = 0;
    for (int layer = 0; layer < (D == 3 ? 4 : 1); ++layer) {
        const int first = D == 3 ? i + offset[D - 1][layer] : i;
        float sum = 0;
        TARN_UNROLL
        for (int row = 0; row < 4; ++row) {
            const int at = first + offset[1][row];
            float along = 0;
            TARN_UNROLL
            for (int n = 0; n < 4; ++n) along += weight[0][n] * phi[at + offset[0][n]];
            sum += weight[1][row] * along;
        }
        value += D == 3 ? weight[D - 1][layer] * sum : sum;
    }
    const float slope = std::sqrt(slope2), missed = value / (h * slope);
    const float distance = own / slope + missed;
    return std::fabs(missed) < most_missed && distance * own > 0 ? distance * h : outside;
}

}  // namespace tarn
