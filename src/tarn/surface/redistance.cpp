#include "tarn/surface/redistance.h"

#include "tarn/field/sample.h"

namespace tarn {

namespace {

// A neighbour's value, or the cell's own where the grid ends.
TARN_HD inline float or_own(float neighbour, float own) { return is_nowhere(neighbour) ? own : neighbour; }

// Next to the surface: the distance that keeps its crossings. Elsewhere phi as it is.
template <int D>
TARN_HD inline float beside_surface(const View<D, const float>& phi, int i, float h)
{
    const float p = phi[i];
    const bool side = p < 0;
    bool crossed = false;
    float slope2 = 0;
    TARN_UNROLL
    for (int a = 0; a < D; ++a) {
        const float lo = or_own(phi[i - phi.next(a)], p), hi = or_own(phi[i + phi.next(a)], p);
        crossed = crossed | ((lo < 0) != side) | ((hi < 0) != side);
        // Central differences, so that doing it again changes nothing; across a ridge they would see too little.
        const float up = hi - p, down = p - lo, central = 0.5f * (up + down);
        const float steeper = std::fabs(up) > std::fabs(down) ? up : down;
        const float slope = up * down > 0 ? central : steeper;
        slope2 += slope * slope;
    }
    const float kept = p * h / std::sqrt(slope2 + 1e-12f * h * h);
    return crossed ? kept : p;
}

// The distance at a cell from its neighbours' distances: sum over axes of alpha (T - t)^2 = h^2 over the axes with
// t < T, where second order uses alpha = 9/4 and t = (4 d1 - d2) / 3, and first order alpha = 1 and t = d1. Cells with
// a neighbour across the surface stay as they are.
template <int D>
TARN_HD inline float eikonal(const View<D, const float>& phi, int i, float h)
{
    const float own = phi[i];
    const float side = own < 0 ? -1.0f : 1.0f;
    float t[D], alpha[D];
    bool crossed = false;
    TARN_UNROLL
    for (int a = 0; a < D; ++a) {
        const int n = phi.next(a);
        const float below = phi[i - n], above = phi[i + n], below2 = phi[i - 2 * n], above2 = phi[i + 2 * n];
        const float lo = side * or_own(below, own), hi = side * or_own(above, own);
        crossed = crossed | (lo < 0) | (hi < 0);
        const bool down = lo < hi;
        const float d1 = down ? lo : hi, raw1 = down ? below : above, raw2 = down ? below2 : above2;
        // The second neighbour may lie across the surface; its distance, negative then, still continues the line.
        const float d2 = side * raw2;
        const bool second = !is_nowhere(raw1) & !is_nowhere(raw2) & (d2 < d1);
        t[a] = second ? (4 * d1 - d2) * (1.0f / 3) : d1;
        alpha[a] = second ? 2.25f : 1.0f;
    }
    // Nearest axes first.
    TARN_UNROLL
    for (int pass = 0; pass < D - 1; ++pass) TARN_UNROLL
    for (int b = 0; b < D - 1; ++b) {
        const bool swap = t[b] > t[b + 1];
        const float t0 = swap ? t[b + 1] : t[b], t1 = swap ? t[b] : t[b + 1];
        const float a0 = swap ? alpha[b + 1] : alpha[b], a1 = swap ? alpha[b] : alpha[b + 1];
        t[b] = t0, t[b + 1] = t1, alpha[b] = a0, alpha[b + 1] = a1;
    }
    // Distances relative to the nearest keep their digits: a (T - t0)^2 - 2 b (T - t0) + c = 0.
    float a = 0, b = 0, c = -h * h, T = 0;
    TARN_UNROLL
    for (int n = 0; n < D; ++n) {
        const float ahead = t[n] - t[0];
        const bool counts = n == 0 || T > ahead;
        const float weight = counts ? alpha[n] : 0.0f;
        a += weight;
        b += weight * ahead;
        c += weight * ahead * ahead;
        const float root = b * b - a * c;
        const float next = (b + std::sqrt(root > 0 ? root : 0.0f)) / a;
        T = counts ? next : T;
    }
    return crossed ? own : side * (t[0] + T);
}

}  // namespace

template <int D>
void redistance(Field<D>& phi, const Tiles<D>& tiles, double band, Field<D>& scratch)
{
    const float h = static_cast<float>(phi.grid().h), limit = static_cast<float>(band);
    const auto p = phi.view();
    const auto q = scratch.view();

    const auto replace = [&](const char* name, auto&& value) {
        parallel_for<true>(name, tiles, [=](Cell<D> c) { q(c) = value(p.index(c)); });
        parallel_for<true>("redistance copy", tiles, [=](Cell<D> c) { p(c) = q(c); });
    };
    replace("redistance near", [=](int i) { return beside_surface<D>(p, i, h); });
    const int sweeps = static_cast<int>(std::ceil(band / phi.grid().h)) + 1;
    for (int n = 0; n < sweeps; ++n)
        replace("redistance sweep", [=](int i) { return clamp(eikonal<D>(p, i, h), -limit, limit); });
}

template void redistance(Field<2>&, const Tiles<2>&, double, Field<2>&);
template void redistance(Field<3>&, const Tiles<3>&, double, Field<3>&);

}  // namespace tarn
