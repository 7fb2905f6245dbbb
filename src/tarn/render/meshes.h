#pragma once
// Triangle meshes and spheres, millions of them, found by Embree. The only file that knows Embree is meshes.cpp.

#include <array>
#include <memory>
#include <vector>

#include "tarn/render/ray.h"
#include "tarn/shapes/distance.h"

namespace tarn {

struct Sphere {
    Vec3f centre;
    float radius;
    Vec3f shift;          // how far it moves while the shutter is open
    Vec3f velocity = {};  // m/s, for pictures that want it
};

struct MeshHit {
    float t = endless;
    Vec3f normal;  // outward, of length one
    int material = -1;
    bool sphere = false;
    Vec3f centre;  // of the sphere, at the ray's time
    float radius = 0;
    Vec3f velocity = {};  // of the sphere
};

class Meshes {
public:
    Meshes();
    ~Meshes();
    Meshes(Meshes&&) noexcept;
    Meshes& operator=(Meshes&&) noexcept;

    // Triangles turn outward by the right hand.
    void add_triangles(const std::vector<Vec3f>& points, const std::vector<std::array<int, 3>>& triangles,
                       int material);
    void add_spheres(const std::vector<Sphere>& spheres, int material);
    // Another collection, once for each pose; it must live as long as this one and be ready.
    void add_instances(const Meshes& of, const std::vector<Pose>& poses);
    // After the last addition.
    void make_ready();

    bool empty() const;
    bool hit(MeshHit& found, const Ray& ray, float t_max) const;
    bool blocks(const Ray& ray, float t_max) const;

private:
    struct Workspace;
    std::unique_ptr<Workspace> room_;
};

}  // namespace tarn
