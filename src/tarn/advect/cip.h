#pragma once
// Monotonic CIP [SSK05] §4.1 and appendix: values and their first derivatives are carried, and between two grid points
// they make a cubic.
//
//   phi_t + u . grad phi = 0                          (3)
//   (phi_xi)_t + u . grad phi_xi = - u_xi . grad phi  (5): first its right-hand side, by differences; then (6), the
//   rest
//
// Value and derivatives are read at the same point, from which RK2 comes. In two and three dimensions that is done by
// one-dimensional profiles, axis after axis; the cross derivatives they need are differences of the first ones. Before
// each profile its end slopes are changed, where they must be, so that it is monotonic: no value leaves the range of
// those around it, whatever the step.
//
// Deviation: the change by (5) is kept to what the derivatives themselves are. Beyond a step in which the flow deforms
// a cell by its own size, the explicit rule would make noise of them.
//
// Rational CIP (Xiao, Yabe & Ito 1996) has instead of the cubic a ratio of a cubic and a line, which bends where the data do:
//
//   Phi(X) = (a X^3 + b X^2 + c X + phi_i) / (1 + B X),   B = |S - phi_i'| / |phi_i+1' - S| - 1
//
// with S the mean slope. It needs no change of slopes; where these have the same side of S it can still leave the range.
//
// Derivatives are counted per cell. With thin walls anywhere CIP gives way to linear interpolation.

#include <cstring>
#include <type_traits>

#include "tarn/backend/parallel.h"
#include "tarn/field/sample.h"

namespace tarn {

// Changes the slopes a, b (times the cell's size) at the ends of a cell so that the cubic between is monotonic. With D
// the difference of the end values it is, if both slopes have D's sign and |a + b| <= 3 |D|, or if
// a^2 + a b + b^2 - 6 D (a + b) + 9 D^2 <= 0. A slope of the wrong sign becomes zero; a pair that is then outside goes
// towards the origin, up to the circle of radius 3 |D|, which lies inside.
template <class T>
TARN_HD inline void make_monotonic(T difference, T& a, T& b)
{
    const T sign = difference < 0 ? T(-1) : T(1), d = sign * difference;
    T p = sign * a, q = sign * b;
    p = p > 0 ? p : T(0);
    q = q > 0 ? q : T(0);
    const T sum = p + q, square = p * p + q * q;
    const bool outside = (sum > 3 * d) & (square + p * q - 6 * d * sum + 9 * d * d > 0);
    const T least = T(1e-30), scale = 3 * d / std::sqrt(square > least ? square : least);
    a = sign * (outside ? scale * p : p);
    b = sign * (outside ? scale * q : q);
}

// The cubic (4) with these values and slopes at the ends of a cell, at `x` from 0 to 1, and its slope there.
template <class T>
TARN_HD inline void profile(T v0, T s0, T v1, T s1, T x, T& value, T& slope)
{
    const T difference = v1 - v0;
    const T a = s0 + s1 - 2 * difference, b = 3 * difference - 2 * s0 - s1;
    value = ((a * x + b) * x + s0) * x + v0;
    slope = (3 * a * x + 2 * b) * x + s0;
}
template <class T>
TARN_HD inline void monotonic_profile(T v0, T s0, T v1, T s1, T x, T& value, T& slope)
{
    make_monotonic(v1 - v0, s0, s1);
    profile(v0, s0, v1, s1, x, value, slope);
}

// Rational CIP (Xiao, Yabe & Ito 1996, their alpha being one). Where both slopes are the mean slope, B is zero.
template <class T>
TARN_HD inline void rational_profile(T v0, T s0, T v1, T s1, T x, T& value, T& slope)
{
    const T difference = v1 - v0, before = difference - s0, after = s1 - difference;
    const T least = T(1e-6) * (std::fabs(before) + std::fabs(after)) + T(1e-30);
    const T B = (std::fabs(before) + least) / (std::fabs(after) + least) - 1;
    const T a = after * (1 + B) - before, b = difference * B + before - a;
    const T below = 1 / (1 + B * x), rise = ((a * x + b) * x + s0) * x * below;
    slope = ((3 * a * x + 2 * b) * x + s0 - B * rise) * below;
    value = v0 + rise;
}

// A field and its derivatives: bit a of the index says that it is derived along axis a.
template <int D>
struct Jets {
    View<D, const float> of[1 << D];
    bool rational = false;
};

// A value and its gradient.
template <int D>
struct Jet {
    float value;
    Vec<D, float> gradient;
};

template <int D>
TARN_HD inline Jet<D> sample_cip_plain(const Jets<D>& f, const Lattice<D>& l)
{
    constexpr int corners = 1 << D;
    float v[corners][corners];  // by derivative, then by corner
    TARN_UNROLL
    for (int corner = 0; corner < corners; ++corner) {
        int i = l.index;
        for (int a = 0; a < D; ++a)
            if (corner >> a & 1) i += f.of[0].next(a);
        for (int d = 0; d < corners; ++d) v[d][corner] = f.of[d][i];
    }
    // Along each axis the upper half of the corners joins the lower.
    TARN_UNROLL
    for (int a = D - 1; a >= 0; --a) {
        const int half = 1 << a;
        for (int d = 0; d < corners; ++d) {
            if (d >> a & 1) continue;
            float* const value = v[d];
            float* const slope = v[d | half];
            for (int n = 0; n < half; ++n)
                if (f.rational)
                    rational_profile(value[n], slope[n], value[n + half], slope[n + half], l.w[a], value[n], slope[n]);
                else
                    monotonic_profile(value[n], slope[n], value[n + half], slope[n + half], l.w[a], value[n], slope[n]);
        }
    }
    Jet<D> jet{v[0][0], {}};
    for (int a = 0; a < D; ++a) jet.gradient[a] = v[1 << a][0];
    return jet;
}

#if TARN_SSE
// The tuned version: four profiles of a cell at once, and as many cells as the processor's vectors hold.
namespace lanes {

// Vectors of four floats for each of N cells, and what is done to them, cell by cell.
template <int N>
struct Lanes;

#define TARN_LANES(N, bits, call)                                                                   \
    template <>                                                                                     \
    struct Lanes<N> {                                                                               \
        using Wide = __m##bits;                                                                     \
        using Bits = __m##bits##i;                                                                  \
        static TARN_INLINE Wide all(float v) { return Wide{} + v; }                                 \
        static TARN_INLINE Wide root(Wide v) { return call(sqrt, v); }                              \
        static TARN_INLINE Wide larger(Wide a, Wide b) { return call(max, a, b); }                  \
        static TARN_INLINE Wide lower_pairs(Wide a, Wide b) { return call(shuffle, a, b, 0x44); }   \
        static TARN_INLINE Wide upper_pairs(Wide a, Wide b) { return call(shuffle, a, b, 0xee); }   \
        static TARN_INLINE Wide lower_mixed(Wide a, Wide b) { return call(unpacklo, a, b); }        \
        static TARN_INLINE Wide upper_mixed(Wide a, Wide b) { return call(unpackhi, a, b); }        \
        static TARN_INLINE Wide sign(Wide v) { return (Wide)((Bits)v & (Bits)(-all(0))); }          \
        static TARN_INLINE Wide flipped(Wide v, Wide sign) { return (Wide)((Bits)v ^ (Bits)sign); } \
        static TARN_INLINE void store(float* to, Wide v) { std::memcpy(to, &v, sizeof v); }         \
        static TARN_INLINE Wide each(const float* of_cells);                                        \
        static TARN_INLINE Wide layers(const float* const* of_cells, int sy);                       \
        static TARN_INLINE Wide chosen(Wide a, Wide b, Wide c, Wide d, Wide yes, Wide no);          \
    };
#define TARN_CALL(operation, ...) _mm_##operation##_ps(__VA_ARGS__)
TARN_LANES(1, 128, TARN_CALL)
#undef TARN_CALL
#if defined(__AVX2__)
#define TARN_CALL(operation, ...) _mm256_##operation##_ps(__VA_ARGS__)
TARN_LANES(2, 256, TARN_CALL)
#undef TARN_CALL
#endif
#if defined(__AVX512F__)
// With a mask of all, which costs nothing: GCC 12 sees unset values in the plain form.
#define TARN_CALL(operation, ...) _mm512_maskz_##operation##_ps(0xffff, __VA_ARGS__)
TARN_LANES(4, 512, TARN_CALL)
#undef TARN_CALL
#endif
#undef TARN_LANES

// The four values of a layer.
TARN_INLINE __m128 layer(const float* p, int sy)
{
    const __m128 low = _mm_castpd_ps(_mm_load_sd(reinterpret_cast<const double*>(p)));
    return _mm_loadh_pi(low, reinterpret_cast<const __m64*>(p + sy));
}

// each: a number of every cell, in all four of its places. layers: the layer of every cell. chosen: `yes` where a > b
// and c > d, else `no`.
TARN_INLINE __m128 Lanes<1>::each(const float* of_cells) { return _mm_set1_ps(of_cells[0]); }
TARN_INLINE __m128 Lanes<1>::layers(const float* const* p, int sy) { return layer(p[0], sy); }
TARN_INLINE __m128 Lanes<1>::chosen(__m128 a, __m128 b, __m128 c, __m128 d, __m128 yes, __m128 no)
{
    const __m128 where = _mm_and_ps(_mm_cmpgt_ps(a, b), _mm_cmpgt_ps(c, d));
    return _mm_or_ps(_mm_and_ps(where, yes), _mm_andnot_ps(where, no));
}
#if defined(__AVX2__)
TARN_INLINE __m256 Lanes<2>::each(const float* of_cells)
{
    return _mm256_set_m128(_mm_set1_ps(of_cells[1]), _mm_set1_ps(of_cells[0]));
}
TARN_INLINE __m256 Lanes<2>::layers(const float* const* p, int sy)
{
    return _mm256_set_m128(layer(p[1], sy), layer(p[0], sy));
}
TARN_INLINE __m256 Lanes<2>::chosen(__m256 a, __m256 b, __m256 c, __m256 d, __m256 yes, __m256 no)
{
    const __m256 where = _mm256_and_ps(_mm256_cmp_ps(a, b, _CMP_GT_OQ), _mm256_cmp_ps(c, d, _CMP_GT_OQ));
    return _mm256_blendv_ps(no, yes, where);
}
#endif
#if defined(__AVX512F__)
TARN_INLINE __m512 Lanes<4>::each(const float* of_cells)
{
    const __m512i place = _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
    return _mm512_maskz_permutexvar_ps(0xffff, place, _mm512_zextps128_ps512(_mm_loadu_ps(of_cells)));
}
TARN_INLINE __m512 Lanes<4>::layers(const float* const* p, int sy)
{
    __m512 v = _mm512_zextps128_ps512(layer(p[0], sy));
    v = _mm512_maskz_insertf32x4(0xffff, v, layer(p[1], sy), 1);
    v = _mm512_maskz_insertf32x4(0xffff, v, layer(p[2], sy), 2);
    return _mm512_maskz_insertf32x4(0xffff, v, layer(p[3], sy), 3);
}
TARN_INLINE __m512 Lanes<4>::chosen(__m512 a, __m512 b, __m512 c, __m512 d, __m512 yes, __m512 no)
{
    const __mmask16 first = _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ);
    return _mm512_mask_blend_ps(_mm512_mask_cmp_ps_mask(first, c, d, _CMP_GT_OQ), no, yes);
}
constexpr int most = 4;
#elif defined(__AVX2__)
constexpr int most = 2;
#else
constexpr int most = 1;
#endif

// As make_monotonic and profile.
template <int N, class Wide>
TARN_INLINE void monotonic_profiles(Wide v0, Wide s0, Wide v1, Wide s1, Wide x, Wide& value, Wide& slope)
{
    using L = Lanes<N>;
    const Wide zero = L::all(0), three = L::all(3);
    const Wide difference = v1 - v0, minus = L::sign(difference), d3 = three * L::flipped(difference, minus);
    const Wide p = L::larger(L::flipped(s0, minus), zero), q = L::larger(L::flipped(s1, minus), zero);
    const Wide sum = p + q, square = p * p + q * q;
    // p^2 + p q + q^2 - 6 d (p + q) + 9 d^2 = p^2 + q^2 + p q + 3 d (3 d - 2 (p + q))
    const Wide ellipse = square + p * q + d3 * (d3 - (sum + sum));
    const Wide scale = L::chosen(sum, d3, ellipse, zero, d3 / L::root(L::larger(square, L::all(1e-30f))), L::all(1));
    const Wide a0 = L::flipped(p * scale, minus), a1 = L::flipped(q * scale, minus);
    const Wide a = a0 + a1 - (difference + difference), b = three * difference - (a0 + a0 + a1), ax = a * x;
    value = ((ax + b) * x + a0) * x + v0;
    slope = (three * ax + (b + b)) * x + a0;
}

// As rational_profile.
template <int N, class Wide>
TARN_INLINE void rational_profiles(Wide v0, Wide s0, Wide v1, Wide s1, Wide x, Wide& value, Wide& slope)
{
    using L = Lanes<N>;
    const Wide one = L::all(1), difference = v1 - v0, before = difference - s0, after = s1 - difference;
    const Wide far = L::flipped(before, L::sign(before)), near = L::flipped(after, L::sign(after));
    const Wide least = L::all(1e-6f) * (far + near) + L::all(1e-30f), ratio = (far + least) / (near + least), B = ratio - one;
    const Wide a = after * ratio - before, b = difference * B + before - a;
    const Wide below = one / (one + B * x), ax = a * x, rise = ((ax + b) * x + s0) * x * below;
    slope = ((L::all(3) * ax + (b + b)) * x + s0 - B * rise) * below;
    value = v0 + rise;
}
template <int N, bool rational, class Wide>
TARN_INLINE void profiles(Wide v0, Wide s0, Wide v1, Wide s1, Wide x, Wide& value, Wide& slope)
{
    if constexpr (rational)
        rational_profiles<N>(v0, s0, v1, s1, x, value, slope);
    else
        monotonic_profiles<N>(v0, s0, v1, s1, x, value, slope);
}

// N cells at once. `where` is the lower corner of each, w[a] the weights along an axis.
template <int N, bool rational>
TARN_INLINE void sample_cells(const Jets<2>& f, const int* where, const float* const* w, Jet<2>* out)
{
    using L = Lanes<N>;
    using Wide = typename L::Wide;
    const int sy = f.of[0].stride[1];
    Wide v[4];
    for (int d = 0; d < 4; ++d) {
        const float* p[N];
        for (int n = 0; n < N; ++n) p[n] = f.of[d].data + where[n];
        v[d] = L::layers(p, sy);
    }
    Wide value, slope;  // of phi and phi_x along y
    profiles<N, rational>(L::lower_pairs(v[0], v[1]), L::lower_pairs(v[2], v[3]), L::upper_pairs(v[0], v[1]),
                          L::upper_pairs(v[2], v[3]), L::each(w[1]), value, slope);
    const Wide lower = L::lower_mixed(value, slope), upper = L::upper_mixed(value, slope);
    profiles<N, rational>(lower, upper, L::upper_pairs(lower, lower), L::upper_pairs(upper, upper), L::each(w[0]),
                          value, slope);
    float values[4 * N], slopes[4 * N];
    L::store(values, value);
    L::store(slopes, slope);
    for (int n = 0; n < N; ++n) out[n] = {values[4 * n], {slopes[4 * n], values[4 * n + 1]}};
}
template <int N, bool rational>
TARN_INLINE void sample_cells(const Jets<3>& f, const int* where, const float* const* w, Jet<3>* out)
{
    using L = Lanes<N>;
    using Wide = typename L::Wide;
    const int sy = f.of[0].stride[1], sz = f.of[0].stride[2];
    const Wide x = L::each(w[0]), y = L::each(w[1]), z = L::each(w[2]);
    Wide v[8];
    for (int d = 0; d < 4; ++d) {
        const float *p[N], *q[N], *p_far[N], *q_far[N];
        for (int n = 0; n < N; ++n) {
            p[n] = f.of[d].data + where[n];
            q[n] = f.of[d | 4].data + where[n];
            p_far[n] = p[n] + sz;
            q_far[n] = q[n] + sz;
        }
        profiles<N, rational>(L::layers(p, sy), L::layers(q, sy), L::layers(p_far, sy), L::layers(q_far, sy), z, v[d],
                              v[d | 4]);
    }
    Wide m[4];
    for (int d = 0; d < 8; d += 4)
        profiles<N, rational>(L::lower_pairs(v[d], v[d + 1]), L::lower_pairs(v[d + 2], v[d + 3]),
                              L::upper_pairs(v[d], v[d + 1]), L::upper_pairs(v[d + 2], v[d + 3]), y, m[d / 2],
                              m[d / 2 + 1]);
    // The four rows become columns.
    const Wide a = L::lower_mixed(m[0], m[1]), b = L::lower_mixed(m[2], m[3]);
    const Wide c = L::upper_mixed(m[0], m[1]), d = L::upper_mixed(m[2], m[3]);
    Wide value, slope;
    profiles<N, rational>(L::lower_pairs(a, b), L::lower_pairs(c, d), L::upper_pairs(a, b), L::upper_pairs(c, d), x,
                          value, slope);
    float values[4 * N], slopes[4 * N];
    L::store(values, value);
    L::store(slopes, slope);
    for (int n = 0; n < N; ++n) out[n] = {values[4 * n], {slopes[4 * n], values[4 * n + 1], values[4 * n + 2]}};
}

}  // namespace lanes

template <int D>
inline Jet<D> sample_cip(const Jets<D>& f, const Lattice<D>& l)
{
    const float* w[D];
    for (int a = 0; a < D; ++a) w[a] = l.w + a;
    Jet<D> jet;
    if (f.rational)
        lanes::sample_cells<1, true>(f, &l.index, w, &jet);
    else
        lanes::sample_cells<1, false>(f, &l.index, w, &jet);
    return jet;
}
// Many at once.
template <int D>
inline void sample_cip(const Jets<D>& f, const int* where, const float* const* weights, int count, Jet<D>* out)
{
    int n = 0;
    const auto at = [&](auto many) {
        constexpr int N = decltype(many)::value;
        for (; n + N <= count; n += N) {
            const float* w[D];
            for (int a = 0; a < D; ++a) w[a] = weights[a] + n;
            if (f.rational)
                lanes::sample_cells<N, true>(f, where + n, w, out + n);
            else
                lanes::sample_cells<N, false>(f, where + n, w, out + n);
        }
    };
    at(std::integral_constant<int, lanes::most>{});
    at(std::integral_constant<int, 1>{});
}
#else
template <int D>
TARN_HD inline Jet<D> sample_cip(const Jets<D>& f, const Lattice<D>& l)
{
    return sample_cip_plain(f, l);
}
template <int D>
inline void sample_cip(const Jets<D>& f, const int* where, const float* const* weights, int count, Jet<D>* out)
{
    for (int n = 0; n < count; ++n) {
        Lattice<D> l;
        l.index = where[n];
        for (int a = 0; a < D; ++a) l.w[a] = weights[a][n];
        out[n] = sample_cip_plain(f, l);
    }
}
#endif

// The gradient of a field, per cell, where the field's values sit.
template <int D>
struct Gradient {
    Field<D> along[D];

    Gradient() = default;
    explicit Gradient(const Grid<D>& grid)
    {
        for (auto& f : along) f = Field<D>(grid);
    }
    bool any() const { return along[0].size() > 0; }
    FaceView<D> view()
    {
        FaceView<D> v;
        for (int a = 0; a < D; ++a) v.axis[a] = along[a].view();
        return v;
    }
    FaceView<D, const float> view() const
    {
        FaceView<D, const float> v;
        for (int a = 0; a < D; ++a) v.axis[a] = along[a].view();
        return v;
    }
    void swap(Gradient& other)
    {
        for (int a = 0; a < D; ++a) along[a].swap(other.along[a]);
    }
};

// Fields to work in.
template <int D>
struct CipWorkspace {
    static constexpr int crosses = D == 2 ? 1 : 4;  // xy; xy, xz, yz, xyz

    Gradient<D> next;
    Field<D> cross[crosses];
    Field<D> deformation[D * D];  // of component b along axis xi, per cell, at cells: number D xi + b
    FaceField<D> moved;           // the velocity when it has just been moved
    Field<D> moved_phi;
    bool rational_phi = false, rational_velocity = false;  // by which profile they are carried

    CipWorkspace() = default;
    explicit CipWorkspace(const Grid<D>& grid, bool rational_surface = false, bool rational_flow = false)
        : next(grid), moved(grid), moved_phi(grid), rational_phi(rational_surface), rational_velocity(rational_flow)
    {
        for (auto& f : cross) f = Field<D>(grid);
        for (auto& f : deformation) f = Field<D>(grid);
    }
};

// Finds how a velocity deforms what it carries. To be called before prepare_jets and advect_cip.
template <int D>
void find_deformation(CipWorkspace<D>& workspace, const FaceField<D>& velocity, const Tiles<D>& tiles);

// Does the right-hand side of (5) for a step of s = dt / h, and finds the cross derivatives. The values sit at cell
// centres (axis -1) or on the faces of an axis.
template <int D>
Jets<D> prepare_jets(const Field<D>& values, Gradient<D>& gradient, int axis, const Tiles<D>& tiles, double s,
                     CipWorkspace<D>& workspace);

// Where CIP carries the velocity: on faces where phi is less than the limit. Without phi, on all that are moved.
template <int D>
struct CipNear {
    const Field<D>* phi = nullptr;
    double limit = 0;
};

// After something else has changed the values since they were `moved`: the gradient follows by differences of the
// change. At faces that are not near, or beside one, it is found from the values alone.
template <int D>
void follow_change(Gradient<D>& gradient, const Field<D>& values, const Field<D>& moved, int axis,
                   const Tiles<D>& tiles, const CipNear<D>& near = {});

// The same, where values of one phase have been extended into the other: on faces that are not `own` the gradient is
// found from the values alone.
template <int D>
void follow_extension(Gradient<D>& gradient, const Field<D>& values, const Field<D>& moved,
                      const Field<D, uint8_t>& own, int axis, const Tiles<D>& tiles);

// The gradient from differences of the values.
template <int D>
void find_gradient(Gradient<D>& gradient, const Field<D>& values, int axis, const Tiles<D>& tiles);

}  // namespace tarn
