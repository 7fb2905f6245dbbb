#include "tarn/surface/reinitialize.h"

#include <utility>

#include "tarn/field/sample.h"
#include "tarn/surface/nearest.h"

namespace tarn {

namespace {

constexpr float fictitious_step = 0.5f;  // cells

TARN_HD inline float minmod(float a, float b)
{
    if (!(a * b > 0)) return 0;
    return std::fabs(a) < std::fabs(b) ? a : b;
}

// Phi along an axis around a cell, by offset; at the grid's ends it goes on as it is there.
template <int D>
struct Line {
    const View<D, const float>& phi;
    int i, n, low, high;  // how far there are cells, at most two

    TARN_HD Line(const View<D, const float>& p, Cell<D> cells, Cell<D> c, int axis)
        : phi(p),
          i(p.index(c)),
          n(p.next(axis)),
          low(c[axis] < 2 ? -c[axis] : -2),
          high(cells[axis] - 1 - c[axis] < 2 ? cells[axis] - 1 - c[axis] : 2)
    {
    }
    TARN_HD float operator()(int k) const { return phi[i + n * (k < low ? low : (k > high ? high : k))]; }
};

template <int D>
TARN_HD inline float reinitialized(const View<D, const float>& phi, const View<D, const float>& start, Cell<D> cells,
                                   Cell<D> c, float h, SmoothedSign smoothed)
{
    const float own = phi(c), first = start(c);
    const float side = first < 0 ? -1.0f : 1.0f;
    bool crossed = false;
    float slope2 = 0, square = 0, central2 = 0;
    TARN_UNROLL
    for (int a = 0; a < D; ++a) {
        const Line<D> was(start, cells, c, a), now(phi, cells, c, a);
        crossed = crossed || (was(-1) < 0) != (first < 0) || (was(1) < 0) != (first < 0);
        // The steepest of the differences at the start tells how far the surface is.
        const float d0 = 0.5f * (was(1) - was(-1)), d1 = was(1) - first, d2 = first - was(-1);
        float steepest = std::fabs(d0);
        steepest = std::fabs(d1) > steepest ? std::fabs(d1) : steepest;
        steepest = std::fabs(d2) > steepest ? std::fabs(d2) : steepest;
        slope2 += steepest * steepest;
        const float c0 = now(1) - 2 * own + now(-1), cl = own - 2 * now(-1) + now(-2), cr = now(2) - 2 * now(1) + own;
        const float down = side * (own - now(-1) + 0.5f * minmod(c0, cl));
        const float up = side * (now(1) - own - 0.5f * minmod(c0, cr));
        // Godunov: what comes from the surface counts.
        const float p = down > 0 ? down : 0.0f, q = up < 0 ? -up : 0.0f, most = p > q ? p : q;
        square += most * most;
        const float central = 0.5f * (now(1) - now(-1));
        central2 += central * central;
    }
    if (crossed && smoothed == SmoothedSign::subcell) {
        const float nearest = smooth_distance<D>(start, cells, c, h);
        const float distance = is_outside(nearest) ? h * first / std::sqrt(slope2 + 1e-12f * h * h) : nearest;
        return own - fictitious_step * (side * std::fabs(own) - distance);
    }
    const float sign = smoothed == SmoothedSign::of_start ? first / std::sqrt(first * first + h * h)
                                                          : own / std::sqrt(own * own + central2 + 1e-12f * h * h);
    return own - fictitious_step * std::fabs(sign) * side * (std::sqrt(square) - h);
}

}  // namespace

template <int D>
void reinitialize(Field<D>& phi, const Tiles<D>& tiles, double band, Field<D>* const scratch[2], SmoothedSign sign)
{
    const Cell<D> cells = phi.grid().cells;
    const float h = static_cast<float>(phi.grid().h), limit = static_cast<float>(band);
    const auto p = phi.view(), start = scratch[0]->view(), next = scratch[1]->view();
    const View<D, const float> pc = p, sc = start;
    parallel_for<true>("reinitialize", tiles, [=] TARN_KERNEL(Cell<D> c) { start(c) = p(c); });
    const int steps = static_cast<int>(std::ceil(band / phi.grid().h / fictitious_step)) + 2;
    for (int n = 0; n < steps; ++n) {
        parallel_for("reinitialize", tiles, [=] TARN_KERNEL(Cell<D> c) {
            next(c) = clamp(reinitialized<D>(pc, sc, cells, c, h, sign), -limit, limit);
        });
        parallel_for<true>("reinitialize", tiles, [=] TARN_KERNEL(Cell<D> c) { p(c) = next(c); });
    }
}

template void reinitialize(Field<2>&, const Tiles<2>&, double, Field<2>* const[2], SmoothedSign);
template void reinitialize(Field<3>&, const Tiles<3>&, double, Field<3>* const[2], SmoothedSign);

}  // namespace tarn
