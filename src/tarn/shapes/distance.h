#pragma once
// Signed distances of single points, negative inside. Everything here is plain data and pure functions, so that
// kernels on any backend evaluate it.
//
// Box, sphere, ellipsoid, cylinder, cone, torus and plane are exact; a solitary wave is never more than the distance;
// meshes and terrain are sampled once onto a grid of distances. In 2D a point has z = 0, boxes span all z, and the
// others are cut at z = 0: a sphere becomes a disc, a cylinder a rectangle, a cone a triangle.

#include "tarn/base/vec.h"
#include "tarn/params/params.h"
#include "tarn/shapes/solitary_wave.h"

namespace tarn {

// Distances at the nodes of a box-shaped grid, x fastest; trilinear between them. Somebody else owns the values.
struct DistanceView {
    Vec3 origin;
    double spacing = 1;
    Cell<3> nodes;  // at least two along each axis
    const float* values = nullptr;
};

// A rotation, then a translation: x -> R x + t.
struct Pose {
    Vec3 rows[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    Vec3 translation;

    TARN_HD Vec3 apply(Vec3 x) const { return Vec3{dot(rows[0], x), dot(rows[1], x), dot(rows[2], x)} + translation; }
    TARN_HD Vec3 apply_inverse(Vec3 x) const
    {
        const Vec3 y = x - translation;
        return y[0] * rows[0] + y[1] * rows[1] + y[2] * rows[2];
    }
};

struct Shape {
    ShapeKind kind = ShapeKind::box;
    bool subtract = false;
    double scale = 1;
    Pose pose;             // scale first, about the origin, then pose
    Vec3 a, b;             // box: min, max; others: centre, radii; plane: point, unit normal
    double r = 0, s = 0;   // radius, height; major, minor
    Vec3 axis{0, 1, 0};    // of length one
    DistanceView sampled;  // terrain, mesh: the values belong to the Geometry
    SolitaryWave wave;
    // A ball that holds all of it: nothing of it is nearer to a point than the ball is. Of any size where nobody has looked.
    Vec3 middle;
    double reach = HUGE_VAL;
};

TARN_HD inline double box_distance(Vec3 x, Vec3 min, Vec3 max)
{
    double outside = 0, inside = -HUGE_VAL;
    for (int a = 0; a < 3; ++a) {
        const double below = min[a] - x[a], above = x[a] - max[a];
        const double q = below > above ? below : above;
        if (q > 0) outside += q * q;
        if (q > inside) inside = q;
    }
    return inside > 0 ? std::sqrt(outside) : inside;
}

// The closest point y of the surface has y_i = r_i² x_i / (t + r_i²), where t is the largest root of
// F(t) = sum (r_i x_i / (t + r_i²))² - 1. F is convex and falls beyond its last pole, so Newton's method started
// left of the root climbs to it without overshooting.
TARN_HD inline double ellipsoid_distance(Vec3 x, Vec3 radii)
{
    double smallest = radii[0];
    for (int a = 1; a < 3; ++a)
        if (radii[a] < smallest) smallest = radii[a];

    // On a symmetry plane the root can meet the pole; a nudge of a billionth of the radius parts them again.
    Vec3 p;
    double t = -HUGE_VAL;
    for (int a = 0; a < 3; ++a) {
        p[a] = std::fabs(x[a]);
        if (p[a] < 1e-9 * smallest) p[a] = 1e-9 * smallest;
        const double start = radii[a] * (p[a] - radii[a]);  // this term alone makes F = 0
        if (start > t) t = start;
    }
    for (int i = 0; i < 40; ++i) {
        double f = -1, slope = 0;
        for (int a = 0; a < 3; ++a) {
            const double inverse = 1 / (t + radii[a] * radii[a]);
            const double q = radii[a] * p[a] * inverse;
            f += q * q;
            slope -= 2 * q * q * inverse;
        }
        const double change = -f / slope;
        t += change;
        // Convergence is quadratic: after a change this small the rest is rounding.
        if (!(change > 1e-9 * (t + smallest * smallest))) break;
    }
    double sum = 0;
    for (int a = 0; a < 3; ++a) {
        const double q = p[a] / (t + radii[a] * radii[a]);
        sum += q * q;
    }
    return t * std::sqrt(sum);
}

// How far x lies along the axis from c, and how far from the axis.
TARN_HD inline void along_and_across(Vec3 x, Vec3 c, Vec3 axis, double& along, double& across)
{
    const Vec3 y = x - c;
    along = dot(y, axis);
    across = length(y - along * axis);
}

TARN_HD inline double cylinder_distance(Vec3 x, Vec3 centre, Vec3 axis, double radius, double height)
{
    double along, across;
    along_and_across(x, centre, axis, along, across);
    const double qr = across - radius, qh = std::fabs(along) - 0.5 * height;
    if (qr > 0 && qh > 0) return std::sqrt(qr * qr + qh * qh);
    return qr > qh ? qr : qh;
}

// The cone is a triangle (0,0), (radius,0), (0,height) swept around its axis.
TARN_HD inline double cone_distance(Vec3 x, Vec3 base, Vec3 axis, double radius, double height)
{
    double along, across;
    along_and_across(x, base, axis, along, across);

    // To the base disc, and to the slanted side.
    const double past = across > radius ? across - radius : 0;
    const double to_base = past * past + along * along;
    const double dx = across - radius;
    double s = (along * height - dx * radius) / (height * height + radius * radius);
    s = s < 0 ? 0 : s > 1 ? 1 : s;
    const double ex = dx + s * radius, ey = along - s * height;
    const double to_side = ex * ex + ey * ey;

    const double d = std::sqrt(to_base < to_side ? to_base : to_side);
    const bool inside = along > 0 && across * height + along * radius < radius * height;
    return inside ? -d : d;
}

TARN_HD inline double torus_distance(Vec3 x, Vec3 centre, Vec3 axis, double major, double minor)
{
    double along, across;
    along_and_across(x, centre, axis, along, across);
    const double q = across - major;
    return std::sqrt(q * q + along * along) - minor;
}

// Trilinear inside the grid. Beyond it the nearest value is taken and `beyond` tells how far off it is, per axis.
TARN_HD inline double sample(const DistanceView& grid, Vec3 x, Vec3& beyond)
{
    int i[3];
    double f[3];
    for (int a = 0; a < 3; ++a) {
        const double q = (x[a] - grid.origin[a]) / grid.spacing;
        const double last = grid.nodes[a] - 1;
        const double clamped = q < 0 ? 0 : q > last ? last : q;
        beyond[a] = (q - clamped) * grid.spacing;
        i[a] = static_cast<int>(clamped);
        if (i[a] > grid.nodes[a] - 2) i[a] = grid.nodes[a] - 2;
        f[a] = clamped - i[a];
    }
    const size_t row = static_cast<size_t>(grid.nodes[0]), layer = row * grid.nodes[1];
    const float* v = grid.values + i[0] + i[1] * row + i[2] * layer;
    const double y0 = v[0] + f[0] * (v[1] - v[0]);
    const double y1 = v[row] + f[0] * (v[row + 1] - v[row]);
    const double y2 = v[layer] + f[0] * (v[layer + 1] - v[layer]);
    const double y3 = v[layer + row] + f[0] * (v[layer + row + 1] - v[layer + row]);
    const double z0 = y0 + f[1] * (y1 - y0), z1 = y2 + f[1] * (y3 - y2);
    return z0 + f[2] * (z1 - z0);
}

// Beyond its samples a mesh is as far as they say, plus the way to them: they end well outside it.
TARN_HD inline double mesh_distance(const DistanceView& grid, Vec3 x)
{
    Vec3 beyond;
    const double d = sample(grid, x, beyond);
    return d + length(beyond);
}

// Beyond its samples the ground goes on sideways as it is at the edge, and downwards for ever.
TARN_HD inline double terrain_distance(const DistanceView& grid, Vec3 x)
{
    Vec3 beyond;
    const double d = sample(grid, x, beyond);
    return d + beyond[1];
}

// Signed distance of one shape.
TARN_HD inline double distance(const Shape& shape, Vec3 x)
{
    const Vec3 y = shape.pose.apply_inverse(x) * (1 / shape.scale);
    double d = 0;
    switch (shape.kind) {
        case ShapeKind::box:
            d = box_distance(y, shape.a, shape.b);
            break;
        case ShapeKind::sphere:
            d = length(y - shape.a) - shape.r;
            break;
        case ShapeKind::ellipsoid:
            d = ellipsoid_distance(y - shape.a, shape.b);
            break;
        case ShapeKind::cylinder:
            d = cylinder_distance(y, shape.a, shape.axis, shape.r, shape.s);
            break;
        case ShapeKind::cone:
            d = cone_distance(y, shape.a, shape.axis, shape.r, shape.s);
            break;
        case ShapeKind::torus:
            d = torus_distance(y, shape.a, shape.axis, shape.r, shape.s);
            break;
        case ShapeKind::plane:
            d = dot(y - shape.a, shape.b);
            break;
        case ShapeKind::terrain:
            d = terrain_distance(shape.sampled, y);
            break;
        case ShapeKind::mesh:
            d = mesh_distance(shape.sampled, y);
            break;
        case ShapeKind::solitary_wave:
            d = shape.wave.distance(y);
            break;
    }
    return d * shape.scale;
}

// How the water of a shape moves by itself at x. A wave that is scaled up has lengths, and so speeds squared, scaled
// up.
TARN_HD inline Vec3 own_velocity(const Shape& shape, Vec3 x, double gravity)
{
    if (shape.kind != ShapeKind::solitary_wave) return {};
    const Vec3 y = shape.pose.apply_inverse(x) * (1 / shape.scale);
    return shape.pose.apply(shape.wave.velocity(y, gravity * shape.scale)) - shape.pose.translation;
}

// The signed distance of an ordered list, each shape united with, or subtracted from, what stands before it: exact
// outside unions and inside differences, elsewhere never more than the true distance. `owner` (where given) receives
// the entry that decided it, -1 if there is none. With `which` the list is of those `count` entries alone.
TARN_HD inline double distance(const Shape* shapes, int count, Vec3 x, int* owner = nullptr, const int* which = nullptr)
{
    double d = HUGE_VAL;
    int decided = -1;
    for (int n = 0; n < count; ++n) {
        const int i = which ? which[n] : n;
        // A shape whose ball is too far to decide need not be asked.
        const double far = (shapes[i].subtract ? -d : d) + shapes[i].reach;
        const Vec3 away = x - shapes[i].middle;
        if (far < HUGE_VAL && (far < 0 || dot(away, away) > far * far)) continue;
        const double e = distance(shapes[i], x);
        if (shapes[i].subtract ? -e > d : e < d) {
            d = shapes[i].subtract ? -e : e;
            decided = i;
        }
    }
    if (owner) *owner = decided;
    return d;
}

// For each box of a grid the entries of a list that can decide its distance in there. Somebody else owns the lists.
struct ShapeLookup {
    Vec3 origin;
    double side = 1;  // of a box
    Cell<3> boxes;
    const int* start = nullptr;  // one more than there are boxes, x fastest; null: nobody has looked
    const int* which = nullptr;

    // The box of a point, or -1.
    TARN_HD int box_of(Vec3 x) const
    {
        int box = 0;
        for (int a = 2; a >= 0; --a) {
            const double q = (x[a] - origin[a]) / side;
            if (!(q >= 0 && q < boxes[a])) return -1;
            box = box * boxes[a] + static_cast<int>(q);
        }
        return box;
    }
};

}  // namespace tarn
