#include "tarn/output/revolve.h"

#include <cmath>
#include <numbers>

namespace tarn {

Mesh revolved(const Mesh& outline)
{
    constexpr int turns = 96;
    float widest = 0;
    for (const Vec3f& p : outline.points) widest = std::max(widest, p[0]);
    const float axis = 1e-4f * widest;
    // A point on the axis stays one; each other becomes a ring.
    Mesh mesh;
    std::vector<int> first;
    for (size_t i = 0; i < outline.points.size(); ++i) {
        first.push_back(static_cast<int>(mesh.points.size()));
        const bool alone = outline.points[i][0] <= axis;
        for (int k = 0; k < (alone ? 1 : turns); ++k) {
            const double angle = 2 * std::numbers::pi * k / turns;
            const float c = static_cast<float>(std::cos(angle)), s = static_cast<float>(std::sin(angle));
            const auto turned = [&](Vec3f v) { return Vec3f{alone ? 0 : c * v[0], v[1], alone ? 0 : s * v[0]}; };
            mesh.points.push_back(turned(outline.points[i]));
            const Vec3f n = turned(outline.normals[i]);
            const float size = length(n);
            mesh.normals.push_back(size > 0 ? (1 / size) * n : Vec3f{0, 1, 0});
            mesh.velocities.push_back(turned(outline.velocities[i]));
        }
    }
    for (const auto& [from, to] : outline.lines) {
        const bool low = outline.points[static_cast<size_t>(from)][0] <= axis, high = outline.points[static_cast<size_t>(to)][0] <= axis;
        if (low && high) continue;
        for (int k = 0; k < turns; ++k) {
            const int next = (k + 1) % turns, a = first[static_cast<size_t>(from)], b = first[static_cast<size_t>(to)];
            if (!low) mesh.triangles.push_back({a + k, high ? b : b + k, a + next});
            if (!high) mesh.triangles.push_back({low ? a : a + next, b + k, b + next});
        }
    }
    return mesh;
}

}  // namespace tarn
