#pragma once
// Small vectors: positions, velocities and cell indices, in two or three dimensions.

#include <cmath>

#include "tarn/base/macros.h"

namespace tarn {

template <int D, class T = double>
struct Vec {
    T v[D] = {};

    TARN_HD TARN_INLINE constexpr T& operator[](int a) { return v[a]; }
    TARN_HD TARN_INLINE constexpr const T& operator[](int a) const { return v[a]; }

    TARN_HD static constexpr Vec all(T s)
    {
        Vec r;
        for (int a = 0; a < D; ++a) r.v[a] = s;
        return r;
    }
    TARN_HD static constexpr Vec unit(int axis)
    {
        Vec r;
        r.v[axis] = T(1);
        return r;
    }
    template <class U>
    TARN_HD TARN_INLINE constexpr Vec<D, U> as() const
    {
        Vec<D, U> r;
        for (int a = 0; a < D; ++a) r.v[a] = static_cast<U>(v[a]);
        return r;
    }

    TARN_HD TARN_INLINE constexpr Vec& operator+=(Vec b)
    {
        for (int a = 0; a < D; ++a) v[a] += b.v[a];
        return *this;
    }
    TARN_HD TARN_INLINE constexpr Vec& operator-=(Vec b)
    {
        for (int a = 0; a < D; ++a) v[a] -= b.v[a];
        return *this;
    }
    TARN_HD TARN_INLINE constexpr Vec& operator*=(T s)
    {
        for (int a = 0; a < D; ++a) v[a] *= s;
        return *this;
    }
    TARN_HD TARN_INLINE friend constexpr Vec operator+(Vec a, Vec b) { return a += b; }
    TARN_HD TARN_INLINE friend constexpr Vec operator-(Vec a, Vec b) { return a -= b; }
    TARN_HD TARN_INLINE friend constexpr Vec operator*(Vec a, T s) { return a *= s; }
    TARN_HD TARN_INLINE friend constexpr Vec operator*(T s, Vec a) { return a *= s; }
    TARN_HD TARN_INLINE friend constexpr Vec operator-(Vec a)
    {
        for (int i = 0; i < D; ++i) a.v[i] = -a.v[i];
        return a;
    }
    TARN_HD TARN_INLINE friend constexpr bool operator==(Vec a, Vec b)
    {
        for (int i = 0; i < D; ++i)
            if (!(a.v[i] == b.v[i])) return false;
        return true;
    }
};

template <int D, class T>
TARN_HD constexpr T dot(Vec<D, T> a, Vec<D, T> b)
{
    T s = a[0] * b[0];
    for (int i = 1; i < D; ++i) s += a[i] * b[i];
    return s;
}

template <int D, class T>
TARN_HD inline T length(Vec<D, T> a)
{
    return std::sqrt(dot(a, a));
}

template <class T>
TARN_HD constexpr Vec<3, T> cross(Vec<3, T> a, Vec<3, T> b)
{
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

using Vec2 = Vec<2>;
using Vec3 = Vec<3>;
using Vec3f = Vec<3, float>;

// The index of a cell, face or node.
template <int D>
using Cell = Vec<D, int>;

// A position or velocity of the simulated dimension, from and to the three numbers of a scene.
template <int D>
TARN_HD constexpr Vec<D> take(Vec3 a)
{
    Vec<D> r;
    for (int i = 0; i < D; ++i) r[i] = a[i];
    return r;
}
template <int D>
TARN_HD constexpr Vec3 lift(Vec<D> a)
{
    Vec3 r;
    for (int i = 0; i < D; ++i) r[i] = a[i];
    return r;
}

}  // namespace tarn
