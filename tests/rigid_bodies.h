#pragma once
// Rigid bodies for tests.

#include "tarn/params/params.h"

namespace tarn {

inline SolidParams body(ShapeKind shape, double density)
{
    SolidParams s;
    s.shape = shape;
    s.motion = SolidMotion::body;
    s.density = density;
    return s;
}
inline SolidParams ball(Vec3 centre, double radius, double density)
{
    SolidParams s = body(ShapeKind::sphere, density);
    s.center = centre;
    s.radius = radius;
    return s;
}
inline SolidParams box(Vec3 centre, Vec3 half, double density, double angle = 0)
{
    SolidParams s = body(ShapeKind::box, density);
    s.min = -half;
    s.max = half;
    s.translate = centre;
    s.rotate = Vec3{0, 0, angle};
    return s;
}

}  // namespace tarn
