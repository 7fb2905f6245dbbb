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
// Derivatives are counted per cell. With thin walls anywhere CIP gives way to linear interpolation.

#include <cstdint>

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

// A field and its derivatives: bit a of the index says that it is derived along axis a.
template <int D>
struct Jets {
    View<D, const float> of[1 << D];
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
                monotonic_profile(value[n], slope[n], value[n + half], slope[n + half], l.w[a], value[n], slope[n]);
        }
    }
    Jet<D> jet{v[0][0], {}};
    for (int a = 0; a < D; ++a) jet.gradient[a] = v[1 << a][0];
    return jet;
}

#if TARN_SSE
// The tuned version: four profiles at once.
namespace lanes {

using Four = __m128;

inline Four choose(Four where, Four yes, Four no)
{
    return _mm_or_ps(_mm_and_ps(where, yes), _mm_andnot_ps(where, no));
}

// As make_monotonic and profile.
inline void monotonic_profiles(Four v0, Four s0, Four v1, Four s1, float at, Four& value, Four& slope)
{
    const Four zero = _mm_setzero_ps(), three = _mm_set1_ps(3), x = _mm_set1_ps(at);
    const Four difference = _mm_sub_ps(v1, v0), minus = _mm_and_ps(difference, _mm_set1_ps(-0.0f));
    const Four d = _mm_xor_ps(difference, minus);
    const Four p = _mm_max_ps(_mm_xor_ps(s0, minus), zero), q = _mm_max_ps(_mm_xor_ps(s1, minus), zero);
    const Four sum = _mm_add_ps(p, q), d3 = _mm_mul_ps(three, d);
    const Four square = _mm_add_ps(_mm_mul_ps(p, p), _mm_mul_ps(q, q));
    // p^2 + p q + q^2 - 6 d (p + q) + 9 d^2 = p^2 + q^2 + p q + 3 d (3 d - 2 (p + q))
    const Four ellipse =
        _mm_add_ps(_mm_add_ps(square, _mm_mul_ps(p, q)), _mm_mul_ps(d3, _mm_sub_ps(d3, _mm_add_ps(sum, sum))));
    const Four outside = _mm_and_ps(_mm_cmpgt_ps(sum, d3), _mm_cmpgt_ps(ellipse, zero));
    const Four scale =
        choose(outside, _mm_div_ps(d3, _mm_sqrt_ps(_mm_max_ps(square, _mm_set1_ps(1e-30f)))), _mm_set1_ps(1));
    const Four a0 = _mm_xor_ps(_mm_mul_ps(p, scale), minus), a1 = _mm_xor_ps(_mm_mul_ps(q, scale), minus);
    const Four both = _mm_add_ps(difference, difference);
    const Four a = _mm_sub_ps(_mm_add_ps(a0, a1), both);
    const Four b = _mm_sub_ps(_mm_mul_ps(three, difference), _mm_add_ps(_mm_add_ps(a0, a0), a1));
    const Four ax = _mm_mul_ps(a, x);
    value = _mm_add_ps(_mm_mul_ps(_mm_add_ps(_mm_mul_ps(_mm_add_ps(ax, b), x), a0), x), v0);
    slope = _mm_add_ps(_mm_mul_ps(_mm_add_ps(_mm_mul_ps(three, ax), _mm_add_ps(b, b)), x), a0);
}

// The four values of a layer.
inline Four load(const float* p, int sy)
{
    const Four low = _mm_castpd_ps(_mm_load_sd(reinterpret_cast<const double*>(p)));
    return _mm_loadh_pi(low, reinterpret_cast<const __m64*>(p + sy));
}

}  // namespace lanes

inline Jet<2> sample_cip(const Jets<2>& f, const Lattice<2>& l)
{
    using namespace lanes;
    const int sy = f.of[0].stride[1];
    Four v[4];
    for (int d = 0; d < 4; ++d) v[d] = load(f.of[d].data + l.index, sy);
    Four value, slope;  // of phi and phi_x along y
    monotonic_profiles(_mm_movelh_ps(v[0], v[1]), _mm_movelh_ps(v[2], v[3]), _mm_movehl_ps(v[1], v[0]),
                       _mm_movehl_ps(v[3], v[2]), l.w[1], value, slope);
    const Four lower = _mm_unpacklo_ps(value, slope), upper = _mm_unpackhi_ps(value, slope);
    monotonic_profiles(lower, upper, _mm_movehl_ps(lower, lower), _mm_movehl_ps(upper, upper), l.w[0], value, slope);
    return {_mm_cvtss_f32(value), {_mm_cvtss_f32(slope), _mm_cvtss_f32(_mm_shuffle_ps(value, value, 1))}};
}

inline Jet<3> sample_cip(const Jets<3>& f, const Lattice<3>& l)
{
    using namespace lanes;
    const int sy = f.of[0].stride[1], sz = f.of[0].stride[2];
    Four v[8];
    for (int d = 0; d < 4; ++d) {
        const float *value = f.of[d].data + l.index, *slope = f.of[d | 4].data + l.index;
        monotonic_profiles(load(value, sy), load(slope, sy), load(value + sz, sy), load(slope + sz, sy), l.w[2], v[d],
                           v[d | 4]);
    }
    Four y[4];
    for (int d = 0; d < 8; d += 4)
        monotonic_profiles(_mm_movelh_ps(v[d], v[d + 1]), _mm_movelh_ps(v[d + 2], v[d + 3]),
                           _mm_movehl_ps(v[d + 1], v[d]), _mm_movehl_ps(v[d + 3], v[d + 2]), l.w[1], y[d / 2],
                           y[d / 2 + 1]);
    _MM_TRANSPOSE4_PS(y[0], y[1], y[2], y[3]);
    Four value, slope;
    monotonic_profiles(y[0], y[2], y[1], y[3], l.w[0], value, slope);
    return {_mm_cvtss_f32(value),
            {_mm_cvtss_f32(slope), _mm_cvtss_f32(_mm_shuffle_ps(value, value, 1)),
             _mm_cvtss_f32(_mm_shuffle_ps(value, value, 2))}};
}
#else
template <int D>
TARN_HD inline Jet<D> sample_cip(const Jets<D>& f, const Lattice<D>& l)
{
    return sample_cip_plain(f, l);
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
struct CipRoom {
    static constexpr int crosses = D == 2 ? 1 : 4;  // xy; xy, xz, yz, xyz

    Gradient<D> next;
    Field<D> cross[crosses];
    Field<D> deformation[D * D];  // of component b along axis xi, per cell, at cells: number D xi + b
    FaceField<D> moved;           // the velocity when it has just been moved
    Field<D> moved_phi;
    Field<D, uint8_t> unmoved;

    CipRoom() = default;
    explicit CipRoom(const Grid<D>& grid) : next(grid), moved(grid), moved_phi(grid), unmoved(grid)
    {
        for (auto& f : cross) f = Field<D>(grid);
        for (auto& f : deformation) f = Field<D>(grid);
    }
};

// Finds how a velocity deforms what it carries. To be called before prepare_jets and advect_cip.
template <int D>
void find_deformation(CipRoom<D>& room, const FaceField<D>& velocity, const Tiles<D>& tiles);

// Does the right-hand side of (5) for a step of s = dt / h, and finds the cross derivatives. The values sit at cell
// centres (axis -1) or on the faces of an axis.
template <int D>
Jets<D> prepare_jets(const Field<D>& values, Gradient<D>& gradient, int axis, const Tiles<D>& tiles, double s,
                     CipRoom<D>& room);

// After something else has changed the values since they were `moved`: the gradient follows by differences of the
// change. Where `anew` is not null and says so, it is found from the values alone.
template <int D>
void follow_change(Gradient<D>& gradient, const Field<D>& values, const Field<D>& moved, int axis,
                   const Tiles<D>& tiles, const Field<D, uint8_t>* anew = nullptr);

// The gradient from differences of the values.
template <int D>
void find_gradient(Gradient<D>& gradient, const Field<D>& values, int axis, const Tiles<D>& tiles);

}  // namespace tarn
