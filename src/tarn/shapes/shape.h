#pragma once
// Shapes as signed distances, negative inside. A Shape is plain data, so that kernels on any backend evaluate it;
// meshes and terrain are sampled once onto a grid of distances.

#include <memory>
#include <string>
#include <vector>

#include "tarn/base/vec.h"
#include "tarn/params/params.h"

namespace tarn {

// Distances sampled at the nodes of a box-shaped grid; trilinear between, clamped outside.
struct DistanceGrid {
    Vec3 origin;
    double spacing = 1;
    Cell<3> nodes;
    std::vector<float> values;  // x fastest
};

// A rotation, then a translation: x -> R x + t.
struct Pose {
    Vec3 rows[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    Vec3 translation;

    TARN_HD Vec3 apply(Vec3 x) const
    {
        return Vec3{dot(rows[0], x), dot(rows[1], x), dot(rows[2], x)} + translation;
    }
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
    Pose pose;                // scale first, about the origin, then pose
    Vec3 a, b;                // box: min, max; others: centre, radii; plane: point, normal
    double r = 0, s = 0;      // radius, height; major, minor
    Vec3 axis{0, 1, 0};
    const DistanceGrid* sampled = nullptr;  // terrain, mesh: owned by the Geometry
};

// Signed distance of one shape; for ellipsoids and scaled CSG a close estimate with the exact zero set.
double distance(const Shape& shape, Vec3 x);

// An ordered list of shapes: each is united with, or subtracted from, what stands before it.
// `moving` tells whether any keyframes move it; at(t) gives the shapes at a time.
class Geometry {
public:
    Geometry() = default;
    // Reads meshes and images (paths relative to `folder`), checks that each shape has what it needs; a box or terrain of
    // two numbers spans all z. Throws InputError naming `file` and the shape's line.
    // `resolution`: spacing at which meshes and terrain are sampled.
    static Geometry build(const std::vector<const ShapeParams*>& shapes, int dimension, double resolution,
                          const std::string& folder, const std::string& file);

    bool empty() const { return entries_.empty(); }
    bool moving() const;
    size_t size() const { return entries_.size(); }
    std::vector<Shape> at(double t) const;
    // The rigid displacement of entry i between two times, as a pose: x(t1) = D x(t0).
    Pose displacement(size_t i, double t0, double t1) const;

private:
    struct Entry {
        Shape shape;
        Keyed<Vec3> translate, rotate;
    };
    std::vector<Entry> entries_;
    std::vector<std::shared_ptr<const DistanceGrid>> grids_;
};

// The whole list's signed distance at x; `owner` (where given) receives the entry that decided it.
double distance(const std::vector<Shape>& shapes, Vec3 x, int* owner = nullptr);

}  // namespace tarn
