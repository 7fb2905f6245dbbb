#pragma once
// Gravity, and what a moving frame adds to it: scene/frame.h has the equations.

#include "tarn/base/vec.h"

namespace tarn {

// What accelerates all that moves freely, as kernels see it.
struct FrameForces {
    Vec3 gravity;  // at the centre, with what the frame's own way adds to it
    bool moves = false;
    Vec3 center, spin;
    Vec3 rows[3];  // of the centrifugal and Euler terms, by r

    // The weight of what rests at x.
    TARN_HD Vec3 at(Vec3 x) const
    {
        if (!moves) return gravity;
        const Vec3 r = x - center;
        return gravity + Vec3{dot(rows[0], r), dot(rows[1], r), dot(rows[2], r)};
    }
    TARN_HD Vec3 coriolis(Vec3 u) const { return -2.0 * cross(spin, u); }
    // Over a step of what starts at x with u, by the midpoint rule.
    TARN_HD Vec3 on_particle(Vec3 x, Vec3 u, double dt) const
    {
        if (!moves) return gravity;
        const Vec3 first = at(x) + coriolis(u);
        return at(x + (0.5 * dt) * u) + coriolis(u + (0.5 * dt) * first);
    }
};

}  // namespace tarn
