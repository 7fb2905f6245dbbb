#pragma once
// Rotations as unit quaternions, in double.

#include <cmath>

#include "tarn/base/vec.h"

namespace tarn {

struct Quaternion {
    double w = 1;
    Vec3 v;

    friend Quaternion operator*(const Quaternion& a, const Quaternion& b)
    {
        return {a.w * b.w - dot(a.v, b.v), a.w * b.v + b.w * a.v + cross(a.v, b.v)};
    }
    Vec3 rotate(Vec3 x) const
    {
        const Vec3 t = 2.0 * cross(v, x);
        return x + w * t + cross(v, t);
    }
    Quaternion inverse() const { return {w, -v}; }
    Quaternion normalised() const
    {
        const double l = std::sqrt(w * w + dot(v, v));
        return {w / l, (1 / l) * v};
    }
};

// The rotation by |turn| radians about it.
inline Quaternion rotation_by(Vec3 turn)
{
    const double angle = length(turn), half = 0.5 * angle;
    // sin(x) / x, also where x is tiny.
    const double scale = angle > 1e-8 ? std::sin(half) / angle : 0.5 - angle * angle / 48;
    return {std::cos(half), scale * turn};
}

// Between two rotations, along the shorter way.
inline Quaternion between(const Quaternion& a, const Quaternion& b, double part)
{
    const double sign = a.w * b.w + dot(a.v, b.v) < 0 ? -1.0 : 1.0;
    return Quaternion{(1 - part) * a.w + part * sign * b.w, (1 - part) * a.v + part * sign * b.v}.normalised();
}

}  // namespace tarn
