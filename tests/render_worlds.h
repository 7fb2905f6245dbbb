#pragma once
// Small worlds for the tests of the renderer.

#include <functional>

#include "tarn/render/world.h"

namespace tarn {

// A level set from a function of distance, sampled on n³ points of the cube lo...lo + size; like a run's volumes it
// knows distances up to three samples only.
inline LevelSet level_set(const std::function<double(Vec3)>& distance, int n, Vec3f lo, float size,
                          Filter filter = Filter::tricubic)
{
    const float h = size / static_cast<float>(n);
    std::vector<float> phi;
    phi.reserve(static_cast<size_t>(n) * static_cast<size_t>(n * n));
    for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) {
                const Vec3 x = lo.as<double>() + double(h) * Vec3{i + 0.5, j + 0.5, k + 0.5};
                phi.push_back(static_cast<float>(std::clamp(distance(x), -3.0 * h, 3.0 * h)));
            }
    return LevelSet({n, n, n}, lo + Vec3f::all(0.5f * h), h, phi, lo, lo + Vec3f::all(size), filter);
}

inline Material clear(float ior, int priority = 1, Medium medium = {})
{
    Material m;
    m.kind = MaterialKind::dielectric;
    m.ior = ior;
    m.priority = priority;
    m.medium = medium;
    return m;
}
inline Material matt(float albedo)
{
    Material m;
    m.texture.colour = Vec3f::all(albedo);
    return m;
}

inline void add_body(World& world, LevelSet surface, const Material& m)
{
    world.bodies.push_back({std::move(surface), static_cast<int>(world.materials.size())});
    world.materials.push_back(m);
}
inline void add_floor(World& world, float height, const Material& m)
{
    world.floor = Floor{height, static_cast<int>(world.materials.size())};
    world.materials.push_back(m);
}

// A box of water with flat sides and no grid: all of phi is far inside.
inline LevelSet box_of_water(Vec3f lo, Vec3f hi)
{
    const float h = 0.25f * (hi[1] - lo[1]);
    return LevelSet({4, 4, 4}, lo + Vec3f::all(0.5f * h), h, std::vector<float>(64, -3 * h), lo, hi);
}

}  // namespace tarn
