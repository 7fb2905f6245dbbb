#include "tarn/render/world.h"

#include "tarn/base/error.h"

namespace tarn {

Vec3f Body::velocity_at(Vec3f x) const
{
    if (velocity.empty()) return {};
    int c[3];
    const float h = surface.spacing();
    for (int a = 0; a < 3; ++a) c[a] = std::clamp(static_cast<int>(x[a] / h), 0, cells[a] - 1);
    return velocity[static_cast<size_t>(c[0]) +
                    static_cast<size_t>(cells[0]) * (static_cast<size_t>(c[1]) + static_cast<size_t>(cells[1]) * c[2])];
}

void World::make_ready()
{
    TARN_CHECK_LE(bodies.size(), size_t{32});
    meshes.make_ready();
    for (const Body& b : bodies) {
        margin_ = std::max(margin_, b.surface.margin());
        if (!materials[static_cast<size_t>(b.material)].specular()) continue;
        const Vec3f lo = b.surface.wet_lo(), hi = b.surface.wet_hi();
        if (!stand.moved) {
            add_clear(lo, hi);
            continue;
        }
        constexpr int looks = 4;
        for (int n = 0; n < 8 * (looks + 1); ++n) {
            const Vec3f corner{n & 1 ? hi[0] : lo[0], n & 2 ? hi[1] : lo[1], n & 4 ? hi[2] : lo[2]};
            const Vec3f x = stand.at(static_cast<float>(n / 8) / looks).to_world(corner.as<double>()).as<float>();
            add_clear(x, x);
        }
    }
}

void World::add_clear(Vec3f lo, Vec3f hi)
{
    for (int a = 0; a < 3; ++a) {
        clear_lo_[a] = std::min(clear_lo_[a], lo[a]);
        clear_hi_[a] = std::max(clear_hi_[a], hi[a]);
    }
}

uint32_t World::bodies_at(Vec3f x, float time) const
{
    uint32_t mask = 0;
    for (size_t i = 0; i < bodies.size(); ++i)
        if (bodies[i].surface.contains(stand.moved ? stand.at(time).to_frame(x.as<double>()).as<float>() : x, time)) mask |= 1u << i;
    return mask;
}

Vec3f World::velocity_at(int body, Vec3f x, float time) const
{
    const Body& b = bodies[static_cast<size_t>(body)];
    if (!stand.moved) return b.velocity_at(x);
    const FramePose pose = stand.at(time);
    return pose.turn.rotate(b.velocity_at(pose.to_frame(x.as<double>()).as<float>()).as<double>()).as<float>();
}

// A ray as the bodies' frame sees it.
static Ray in_frame(const Ray& ray, const FramePose& pose)
{
    return {pose.to_frame(ray.o.as<double>()).as<float>(), pose.turn.inverse().rotate(ray.d.as<double>()).as<float>(), ray.time};
}

const Material* World::medium(const Inside& w) const
{
    const Material* best = nullptr;
    if (w.sphere_material >= 0) best = &materials[static_cast<size_t>(w.sphere_material)];
    for (uint32_t left = w.bodies; left; left &= left - 1) {
        const Material& m = materials[static_cast<size_t>(bodies[static_cast<size_t>(__builtin_ctz(left))].material)];
        if (m.kind == MaterialKind::dielectric && (!best || m.priority > best->priority)) best = &m;
    }
    return best;
}

bool World::hit(Hit& found, const Ray& ray, const Inside& w, float t_max) const
{
    float nearest = t_max;
    bool any = false;
    if (floor && ray.d[1] < 0) {
        const float t = (floor->height - ray.o[1]) / ray.d[1];
        if (t > 0 && t < nearest) {
            nearest = t;
            any = true;
            found = Hit{};
            found.normal = {0, 1, 0};
            found.material = floor->material;
            found.floor = true;
        }
    }
    const FramePose pose = stand.moved ? stand.at(ray.time) : FramePose{};
    const Ray in_bodies = stand.moved ? in_frame(ray, pose) : ray;
    for (size_t i = 0; i < bodies.size(); ++i) {
        LevelSet::Crossing c;
        if (!bodies[i].surface.cross(c, in_bodies, nearest, (w.bodies >> i) & 1u)) continue;
        nearest = c.t;
        any = true;
        found = Hit{};
        found.normal = stand.moved ? pose.turn.rotate(c.normal.as<double>()).as<float>() : c.normal;
        found.material = bodies[i].material;
        found.body = static_cast<int>(i);
    }
    if (!meshes.empty()) {
        MeshHit m;
        if (meshes.hit(m, ray, nearest)) {
            nearest = m.t;
            any = true;
            found = Hit{};
            found.normal = m.normal;
            found.material = m.material;
            found.sphere = m.sphere;
            found.centre = m.centre;
            found.radius = m.radius;
            found.velocity = m.velocity;
        }
    }
    if (w.sphere_material >= 0) {
        // Out of the sphere that holds the origin.
        const Vec3f c = ray.o - w.sphere_centre;
        const float b = dot(c, ray.d), q = b * b - dot(c, c) + w.sphere_radius * w.sphere_radius;
        const float t = q > 0 ? -b + std::sqrt(q) : 0;
        if (t < nearest) {
            nearest = std::max(t, 0.0f);
            any = true;
            found = Hit{};
            found.normal = normalized(ray.at(nearest) - w.sphere_centre);
            found.material = w.sphere_material;
            found.sphere = true;
            found.centre = w.sphere_centre;
            found.radius = w.sphere_radius;
        }
    }
    for (size_t i = 0; i < lights.areas.size(); ++i) {
        float t;
        if (!lights.areas[i].hit(t, ray, nearest)) continue;
        nearest = t;
        any = true;
        found = Hit{};
        found.normal = lights.areas[i].normal;
        found.light = static_cast<int>(i);
    }
    if (!any) return false;
    found.t = nearest;
    found.position = ray.at(nearest);
    return true;
}

bool World::blocks(const Ray& ray, const Inside& w, float t_max) const
{
    if (w.sphere_material >= 0) return true;
    if (floor && ray.d[1] < 0 && (floor->height - ray.o[1]) / ray.d[1] < t_max && ray.o[1] > floor->height) return true;
    const Ray in_bodies = stand.moved ? in_frame(ray, stand.at(ray.time)) : ray;
    for (size_t i = 0; i < bodies.size(); ++i)
        if (bodies[i].surface.blocks(in_bodies, t_max, (w.bodies >> i) & 1u)) return true;
    return !meshes.empty() && meshes.blocks(ray, t_max);
}

Inside World::beyond(const Inside& w, const Hit& hit) const
{
    Inside after = w;
    if (hit.body >= 0) {
        after.bodies ^= 1u << hit.body;
    } else if (hit.sphere) {
        const bool leaves = w.sphere_material >= 0;
        after.sphere_material = leaves ? -1 : hit.material;
        after.sphere_centre = hit.centre;
        after.sphere_radius = hit.radius;
    }
    return after;
}

Vec3f World::leave(const Hit& hit, Vec3f d) const
{
    // Far from the origin, floats are farther apart than the margin.
    const float away =
        std::max(std::abs(hit.position[0]), std::max(std::abs(hit.position[1]), std::abs(hit.position[2])));
    // A small sphere is not left by more than a part of itself.
    const float margin = hit.sphere ? 1e-3f * hit.radius : margin_;
    return hit.position + (std::copysign(std::max(margin, 4e-7f * away), dot(d, hit.normal))) * hit.normal;
}

}  // namespace tarn
