#pragma once
// Values between grid points, by multilinear interpolation. Positions are in cells: a cell's centre has its integer
// index. Beyond the outermost values a field continues as it is there.

#include "tarn/field/field.h"

#if TARN_SSE
#include <immintrin.h>
#endif

namespace tarn {

// Where a position falls among a field's values: the lower corner and the weights of the upper ones.
template <int D>
struct Lattice {
    int index = 0;
    float w[D];
};

TARN_HD TARN_INLINE float clamp(float x, float lo, float hi) { return x < lo ? lo : (x > hi ? hi : x); }

// Along one axis: the lower value and the weight of the upper one. `last` is the index of the field's last value there.
TARN_HD TARN_INLINE int locate(float x, int last, float& weight)
{
    const float p = clamp(x, 0.0f, static_cast<float>(last));
    const int i = static_cast<int>(p);
    const int lower = i < last ? i : last - 1;
    weight = p - static_cast<float>(lower);
    return lower;
}

template <int D, class T>
TARN_HD TARN_INLINE Lattice<D> locate(const View<D, T>& f, Vec<D, float> x, Cell<D> last)
{
    Lattice<D> l;
    for (int a = 0; a < D; ++a) l.index += f.next(a) * locate(x[a], last[a], l.w[a]);
    return l;
}

template <class T>
TARN_HD TARN_INLINE float sample(const View<2, T>& f, const Lattice<2>& l)
{
    const float* p = f.data + l.index;
    const int sy = f.stride[1];
    const float a = p[0] + l.w[0] * (p[1] - p[0]);
    const float b = p[sy] + l.w[0] * (p[sy + 1] - p[sy]);
    return a + l.w[1] * (b - a);
}
template <class T>
TARN_HD inline float sample_plain(const View<3, T>& f, const Lattice<3>& l)
{
    const float* p = f.data + l.index;
    const int sy = f.stride[1], sz = f.stride[2];
    const float a = p[0] + l.w[0] * (p[1] - p[0]);
    const float b = p[sy] + l.w[0] * (p[sy + 1] - p[sy]);
    const float c = p[sz] + l.w[0] * (p[sz + 1] - p[sz]);
    const float d = p[sz + sy] + l.w[0] * (p[sz + sy + 1] - p[sz + sy]);
    const float e = a + l.w[1] * (b - a);
    const float g = c + l.w[1] * (d - c);
    return e + l.w[2] * (g - e);
}

template <class T>
TARN_HD TARN_INLINE float sample(const View<3, T>& f, const Lattice<3>& l)
{
#if TARN_SSE
    // The same with the four values of a layer in one register: along z, then y, then x.
    const float* p = f.data + l.index;
    const int sy = f.stride[1], sz = f.stride[2];
    const auto pairs = [](const float* a, const float* b) {
        const __m128 low = _mm_castpd_ps(_mm_load_sd(reinterpret_cast<const double*>(a)));
        return _mm_loadh_pi(low, reinterpret_cast<const __m64*>(b));
    };
    const __m128 back = pairs(p, p + sy), front = pairs(p + sz, p + sz + sy);
    const __m128 layer = _mm_add_ps(back, _mm_mul_ps(_mm_set1_ps(l.w[2]), _mm_sub_ps(front, back)));
    const __m128 upper = _mm_movehl_ps(layer, layer);
    const __m128 row = _mm_add_ps(layer, _mm_mul_ps(_mm_set1_ps(l.w[1]), _mm_sub_ps(upper, layer)));
    const float a = _mm_cvtss_f32(row), b = _mm_cvtss_f32(_mm_shuffle_ps(row, row, 1));
    return a + l.w[0] * (b - a);
#else
    return sample_plain(f, l);
#endif
}

// The cell that a position lies in; the nearest where it lies in none.
template <int D>
TARN_HD TARN_INLINE Cell<D> cell_at(Vec<D, float> x, Cell<D> cells)
{
    Cell<D> c;
    for (int a = 0; a < D; ++a) {
        const float p = clamp(x[a], 0, static_cast<float>(cells[a] - 1));
        const int lower = static_cast<int>(p);
        c[a] = lower + static_cast<int>(p - static_cast<float>(lower) >= 0.5f);
    }
    return c;
}

// A cell-centred field at a position.
template <int D, class T>
TARN_HD TARN_INLINE float sample_cells(const View<D, T>& f, Cell<D> cells, Vec<D, float> x)
{
    Cell<D> last = cells;
    for (int a = 0; a < D; ++a) --last[a];
    return sample(f, locate(f, x, last));
}

// A distance at a position, also past the grid's ends: where the padding is not `outside` it continues through it, and
// beyond grows with the distance; elsewhere it continues as it is at the end.
template <int D>
TARN_HD inline float sample_distance(const View<D, const float>& f, Cell<D> cells, Vec<D, float> x, float h)
{
    Cell<D> lower;
    float w[D], past = 0;
    for (int a = 0; a < D; ++a) {
        const float p = clamp(x[a], -1.0f, static_cast<float>(cells[a]));
        const int i = static_cast<int>(p + 1) - 1;
        lower[a] = i < cells[a] ? i : cells[a] - 1;
        w[a] = p - static_cast<float>(lower[a]);
        const float further = std::fabs(x[a] - p);
        past = further > past ? further : past;
    }
    float value = 0, beyond = 0;  // `beyond`: how much of it comes from the padding
    for (int corner = 0; corner < (1 << D); ++corner) {
        float weight = 1;
        Cell<D> c, end;
        for (int a = 0; a < D; ++a) {
            const int upper = corner >> a & 1;
            weight *= upper ? w[a] : 1 - w[a];
            c[a] = lower[a] + upper;
            end[a] = c[a] < 0 ? 0 : (c[a] < cells[a] ? c[a] : cells[a] - 1);
        }
        float v = f(end);
        for (int a = 0; a < D; ++a) {
            if (c[a] == end[a]) continue;
            Cell<D> padding = end;
            padding[a] = c[a];
            if (is_outside(f(padding))) continue;
            v = f(padding);
            beyond += weight;
            break;
        }
        value += weight * v;
    }
    return beyond > 0 ? value + beyond * past * h : sample_cells(f, cells, x);
}

// A face-centred component at a position.
template <int D, class T>
TARN_HD inline float sample_faces(const View<D, T>& f, Cell<D> cells, int axis, Vec<D, float> x)
{
    Cell<D> last = cells;
    for (int a = 0; a < D; ++a)
        if (a != axis) --last[a];
    x[axis] += 0.5f;
    return sample(f, locate(f, x, last));
}

// The velocity at a position. A component sits half a cell lower along its own axis only, so two places along each axis
// serve all components.
template <int D, class T>
TARN_HD TARN_INLINE Vec<D, float> sample_velocity(const FaceView<D, T>& u, Cell<D> cells, Vec<D, float> x)
{
    int at_cells[4], at_faces[4];
    float w_cells[4], w_faces[4];
#if TARN_SSE
    // All axes at once, in the same way.
    if constexpr (D == 3) {
        const __m128 zero = _mm_setzero_ps(), p = _mm_set_ps(0, x[2], x[1], x[0]);
        const __m128i one = _mm_set1_epi32(1), n = _mm_set_epi32(2, cells[2], cells[1], cells[0]);
        const auto place = [&](__m128 at, __m128i last, int* lower, float* weight) {
            const __m128 kept = _mm_min_ps(_mm_max_ps(at, zero), _mm_cvtepi32_ps(last));
            const __m128i i = _mm_min_epi32(_mm_cvttps_epi32(kept), _mm_sub_epi32(last, one));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(lower), i);
            _mm_storeu_ps(weight, _mm_sub_ps(kept, _mm_cvtepi32_ps(i)));
        };
        place(p, _mm_sub_epi32(n, one), at_cells, w_cells);
        place(_mm_add_ps(p, _mm_set1_ps(0.5f)), n, at_faces, w_faces);
    } else
#endif
        for (int a = 0; a < D; ++a) {
            at_cells[a] = locate(x[a], cells[a] - 1, w_cells[a]);
            at_faces[a] = locate(x[a] + 0.5f, cells[a], w_faces[a]);
        }
    Vec<D, float> v;
    for (int a = 0; a < D; ++a) {
        Lattice<D> l;
        for (int b = 0; b < D; ++b) {
            l.index += u[a].next(b) * (a == b ? at_faces[b] : at_cells[b]);
            l.w[b] = a == b ? w_faces[b] : w_cells[b];
        }
        v[a] = sample(u[a], l);
    }
    return v;
}

// The velocity at a cell's centre: the mean of its two faces along each axis.
template <int D, class T>
TARN_HD inline Vec<D, float> velocity_at_cell(const FaceView<D, T>& u, Cell<D> c)
{
    Vec<D, float> v;
    for (int a = 0; a < D; ++a) {
        const int i = u[a].index(c);
        v[a] = 0.5f * (u[a][i] + u[a][i + u[a].next(a)]);
    }
    return v;
}

}  // namespace tarn
