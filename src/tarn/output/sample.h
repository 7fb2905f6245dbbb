#pragma once
// Values of a field between its samples: multilinear inside the domain, constant beyond it. What is written out and
// drawn reads the state through these.

#include <algorithm>
#include <cmath>

#include "tarn/field/field.h"

namespace tarn
{

// f at x, where x counts in samples and only samples 0 ... last are valid.
template <int D>
inline float interpolate(View<D, const float> f, Vec<D> x, Cell<D> last)
{
    Cell<D> c;
    float t[D];
    for (int a = 0; a < D; ++a) {
        const double inside = std::clamp(x[a], 0.0, static_cast<double>(last[a]));
        c[a] = std::min(static_cast<int>(inside), std::max(last[a] - 1, 0));
        t[a] = static_cast<float>(inside - c[a]);
    }
    // Along an axis with a single sample t is 0, and the stride beyond it must not be read.
    int step[D];
    for (int a = 0; a < D; ++a) step[a] = last[a] > 0 ? f.stride[a] : 0;
    const float* at = &f(c);
    const auto mix = [](float p, float q, float s) { return p + s * (q - p); };
    const auto plane = [&](const float* p) {
        return mix(mix(p[0], p[step[0]], t[0]), mix(p[step[1]], p[step[0] + step[1]], t[0]), t[1]);
    };
    if constexpr (D == 2)
        return plane(at);
    else
        return mix(plane(at), plane(at + step[2]), t[2]);
}

// At a position in metres: of values at cell centres, at nodes, and of velocity on faces.
template <int D>
inline float sample_centres(const Field<D>& f, Vec<D> x)
{
    const Grid<D>& g = f.grid();
    return interpolate(f.view(), (1 / g.h) * x - Vec<D>::all(0.5), g.cells - Cell<D>::all(1));
}

template <int D>
inline float sample_nodes(const Field<D>& f, Vec<D> x)
{
    const Grid<D>& g = f.grid();
    return interpolate(f.view(), (1 / g.h) * x, g.cells);
}

template <int D>
inline Vec<D, float> sample_faces(const FaceField<D>& u, Vec<D> x)
{
    const Grid<D>& g = u.grid();
    Vec<D, float> r;
    for (int a = 0; a < D; ++a) {
        Vec<D> s = (1 / g.h) * x - Vec<D>::all(0.5);
        s[a] += 0.5;
        Cell<D> last = g.cells - Cell<D>::all(1);
        last[a] += 1;
        r[a] = interpolate(u[a].view(), s, last);
    }
    return r;
}

}  // namespace tarn
