#include "tarn/surface/redistance.h"

#include "tarn/field/sample.h"

namespace tarn {

namespace {

// The neighbour's value along an axis, or the cell's own where the grid ends.
template <int D>
TARN_HD inline float neighbour(const View<D, const float>& f, Cell<D> cells, Cell<D> c, int i, int axis, int side)
{
    const int p = c[axis] + side;
    return f[p >= 0 && p < cells[axis] ? i + side * f.next(axis) : i];
}

// Next to the surface: the distance that keeps its crossings. Elsewhere phi as it is.
template <int D>
TARN_HD inline float beside_surface(const View<D, const float>& phi, Cell<D> cells, Cell<D> c, float h)
{
    const int i = phi.index(c);
    const float p = phi[i];
    bool crossed = false;
    float steepest2 = 0;
    for (int a = 0; a < D; ++a) {
        const float lo = neighbour(phi, cells, c, i, a, -1), hi = neighbour(phi, cells, c, i, a, 1);
        crossed = crossed || (lo < 0) != (p < 0) || (hi < 0) != (p < 0);
        const float central = std::fabs(0.5f * (hi - lo)), up = std::fabs(hi - p), down = std::fabs(p - lo);
        const float one_sided = up > down ? up : down;
        const float slope = central > one_sided ? central : one_sided;
        steepest2 += slope * slope;
    }
    return crossed ? p * h / std::sqrt(steepest2 + 1e-12f * h * h) : p;
}

// The distance at a cell from its neighbours' distances: sum over axes of alpha (T - t)^2 = h^2 over the axes with
// t < T, where second order uses alpha = 9/4 and t = (4 d1 - d2) / 3, and first order alpha = 1 and t = d1. Cells with a
// neighbour across the surface stay as they are.
template <int D>
TARN_HD inline float eikonal(const View<D, const float>& phi, Cell<D> cells, Cell<D> c, float h)
{
    const int i = phi.index(c);
    const float side = phi[i] < 0 ? -1.0f : 1.0f;
    float t[D], alpha[D];
    bool crossed = false;
    for (int a = 0; a < D; ++a) {
        const float lo = side * neighbour(phi, cells, c, i, a, -1), hi = side * neighbour(phi, cells, c, i, a, 1);
        crossed = crossed || lo < 0 || hi < 0;
        const int s = lo < hi ? -1 : 1;
        const float d1 = lo < hi ? lo : hi;
        const int far = c[a] + 2 * s;
        const float d2 = far >= 0 && far < cells[a] ? side * phi[i + 2 * s * phi.next(a)] : 1e30f;
        // The second neighbour may lie across the surface; its distance, negative then, still continues the line.
        const bool second = d2 < d1;
        t[a] = second ? (4 * d1 - d2) * (1.0f / 3) : d1;
        alpha[a] = second ? 2.25f : 1.0f;
    }
    if (crossed) return phi[i];
    // Nearest axes first.
    for (int a = 0; a < D; ++a)
        for (int b = 0; b + 1 < D - a; ++b)
            if (t[b] > t[b + 1]) {
                const float x = t[b], y = alpha[b];
                t[b] = t[b + 1], alpha[b] = alpha[b + 1];
                t[b + 1] = x, alpha[b + 1] = y;
            }
    float A = 0, B = 0, C = -h * h, T = 0;
    for (int a = 0; a < D; ++a) {
        if (a > 0 && T <= t[a]) break;
        A += alpha[a];
        B += alpha[a] * t[a];
        C += alpha[a] * t[a] * t[a];
        const float root = B * B - A * C;
        T = (B + std::sqrt(root > 0 ? root : 0)) / A;
    }
    return side * T;
}

}  // namespace

template <int D>
void redistance(Field<D>& phi, const Tiles<D>& tiles, double band, Field<D>& scratch)
{
    const Cell<D> cells = phi.grid().cells;
    const float h = static_cast<float>(phi.grid().h), limit = static_cast<float>(band);
    const auto p = phi.view();
    const auto q = scratch.view();

    const auto replace = [&](const char* name, auto&& value) {
        parallel_for(name, tiles, [=](Cell<D> c) { q(c) = value(c); });
        parallel_for("redistance copy", tiles, [=](Cell<D> c) { p(c) = q(c); });
    };
    replace("redistance near", [=](Cell<D> c) { return beside_surface<D>(p, cells, c, h); });
    const int sweeps = static_cast<int>(std::ceil(band / phi.grid().h)) + 1;
    for (int n = 0; n < sweeps; ++n)
        replace("redistance sweep", [=](Cell<D> c) { return clamp(eikonal<D>(p, cells, c, h), -limit, limit); });
}

template void redistance(Field<2>&, const Tiles<2>&, double, Field<2>&);
template void redistance(Field<3>&, const Tiles<3>&, double, Field<3>&);

}  // namespace tarn
