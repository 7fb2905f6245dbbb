#pragma once
// A solitary wave of height H over water of depth d, which keeps its shape while it travels along x.   [EMF02] §4.2
//
//   u   = sqrt(g d) (H / d) sech²[k x]                                 (9)
//   v   = sqrt(3 g d) (H / d)^(3/2) (y / d) sech²[k x] tanh[k x]       (10)
//   eta = d + H sech²[k x],   k = sqrt(3 H / (4 d³))                   (11)
//
// with x counted from the crest in the direction of travel and y from the sea bottom. The velocity has no divergence,
// and a low wave travels at sqrt(g (d + H)). All this is the leading order in H / d: a high wave first grows higher and
// sheds a tail while it finds its own shape.

#include "tarn/base/vec.h"

namespace tarn {

struct SolitaryWave {
    double depth = 1, height = 0;
    double crest = 0;
    double direction = 1;  // 1 travels towards larger x, -1 towards smaller

    TARN_HD double k() const { return std::sqrt(0.75 * height / (depth * depth * depth)); }
    // k x, and sech² of it.
    TARN_HD double phase(Vec3 x) const { return direction * (x[0] - crest) * k(); }
    TARN_HD static double bell(double phase)
    {
        const double c = std::cosh(phase);
        return 1 / (c * c);
    }

    // Below the surface and never more than the distance to it: the height above the surface over the length of its
    // steepest normal, whose slope is 4 / (3 sqrt(3)) k H.
    TARN_HD double distance(Vec3 x) const
    {
        const double slope = 0.7698003589195010 * k() * height;
        return (x[1] - depth - height * bell(phase(x))) / std::sqrt(1 + slope * slope);
    }

    TARN_HD Vec3 velocity(Vec3 x, double gravity) const
    {
        const double s = phase(x), steep = height / depth;
        const double u = std::sqrt(gravity * depth) * steep * bell(s);
        const double v = std::sqrt(3 * gravity * depth * steep) * steep * (x[1] / depth) * bell(s) * std::tanh(s);
        return {direction * u, v, 0};
    }
};

}  // namespace tarn
