#pragma once

#include <algorithm>
#include <limits>

#include "tarn/base/vec.h"

namespace tarn {

inline constexpr float endless = std::numeric_limits<float>::infinity();

struct Ray {
    Vec3f o, d;      // d has length one
    float time = 0;  // of the shutter, 0...1

    Vec3f at(float t) const { return o + t * d; }
};

inline Vec3f normalized(Vec3f a) { return (1 / length(a)) * a; }

// Two axes that make a right-handed frame with n, without a branch that could flicker (Duff et al. 2017).
struct Frame {
    Vec3f x, y, z;

    explicit Frame(Vec3f n) : z(n)
    {
        const float sign = std::copysign(1.0f, n[2]), a = -1 / (sign + n[2]), b = n[0] * n[1] * a;
        x = {1 + sign * n[0] * n[0] * a, sign * b, -sign * n[0]};
        y = {b, sign + n[1] * n[1] * a, -n[1]};
    }
    Vec3f out(Vec3f v) const { return v[0] * x + v[1] * y + v[2] * z; }
    Vec3f in(Vec3f v) const { return {dot(v, x), dot(v, y), dot(v, z)}; }
};

// Where a ray is inside a box: from `in` to `out`, empty where in >= out.
struct Span {
    float in, out;
    bool empty() const { return !(in < out); }
};
inline Span span_of_box(const Ray& r, Vec3f lo, Vec3f hi)
{
    Span s{-endless, endless};
    for (int a = 0; a < 3; ++a) {
        if (r.d[a] == 0) {
            if (r.o[a] < lo[a] || r.o[a] > hi[a]) return {endless, -endless};
            continue;
        }
        const float inverse = 1 / r.d[a], near = (lo[a] - r.o[a]) * inverse, far = (hi[a] - r.o[a]) * inverse;
        s.in = std::max(s.in, std::min(near, far));
        s.out = std::min(s.out, std::max(near, far));
    }
    return s;
}

}  // namespace tarn
