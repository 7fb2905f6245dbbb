#pragma once
// What a picture is taken of: bodies with level-set surfaces, meshes and spheres, a floor, and lights. It knows
// surfaces, not solvers.
//
// Clear bodies may overlap, as water reaches into the glass that holds it. At every point the one of highest priority
// is there (Schmidt and Budge 2002), so each interface, glass-air, glass-water and water-air, is met once and with the
// right pair of media, without gaps where bodies touch.

#include <cstdint>
#include <optional>
#include <vector>

#include "tarn/render/level_set.h"
#include "tarn/render/light.h"
#include "tarn/render/material.h"
#include "tarn/render/meshes.h"
#include "tarn/render/smoke_volume.h"
#include "tarn/scene/frame.h"

namespace tarn {

struct Body {
    LevelSet surface;
    int material = 0;
    // Velocity at the centres of cells, for pictures that want it; empty where it rests.
    Cell<3> cells{};
    std::vector<Vec3f> velocity = {};
    // Reconstructed by nearest cell.
    Vec3f velocity_at(Vec3f x) const;
};

// How the frame that bodies are given in stands in the world while the shutter is open.
struct Stand {
    FramePose open, close;
    bool moved = false;

    FramePose at(float time) const
    {
        const double part = static_cast<double>(time);
        return {open.center, open.origin + part * (close.origin - open.origin), between(open.turn, close.turn, part)};
    }
};

struct Floor {
    float height = 0;
    int material = 0;
    // Far from its middle it fades into the horizon, so that no line parts ground and sky. 0: it never does.
    Vec3f middle = {};
    float fades = 0;  // m, where two thirds of it are gone

    float faded(Vec3f x) const
    {
        if (fades <= 0) return 0;
        const Vec3f d = x - middle;
        const float far = (d[0] * d[0] + d[2] * d[2]) / (fades * fades);
        // Too little to be seen is not worth a look at the sky.
        return far < 0.002f ? 0 : 1 - std::exp(-far);
    }
};

// Which bodies a point lies in; and the sphere, if it is in one.
struct Inside {
    uint32_t bodies = 0;
    int sphere_material = -1;
    Vec3f sphere_centre = {};
    float sphere_radius = 0;
};

struct Hit {
    float t = endless;
    Vec3f position, normal;  // the normal points out of what was hit
    int material = -1;
    int body = -1;   // its number, where it is a body's surface
    int light = -1;  // the number of an area light
    bool floor = false;
    bool sphere = false;
    Vec3f centre;
    float radius = 0;
    Vec3f velocity = {};  // of the sphere
};

class World {
public:
    std::vector<Material> materials;
    std::vector<Body> bodies;  // at most 32
    Stand stand;               // of all bodies
    Meshes meshes;
    std::optional<Floor> floor;
    Lights lights;
    std::optional<SmokeVolume> smoke;  // in the air

    // Call when all is there.
    void make_ready();

    // The bodies that hold a point, a bit each.
    uint32_t bodies_at(Vec3f x, float time) const;
    // How fast a body moves at a point of the world, with its frame.
    Vec3f velocity_at(int body, Vec3f x, float time) const;
    // The material of the medium there; null in air.
    const Material* medium(const Inside& w) const;
    // The first surface along the ray, whose origin lies in w.
    bool hit(Hit& found, const Ray& ray, const Inside& w, float t_max = endless) const;
    // Whether anything, clear or not, stands between.
    bool blocks(const Ray& ray, const Inside& w, float t_max) const;
    // How much light gets through the smoke between: a number whose mean is right.
    float through_smoke(const Ray& ray, float t_max, Random& random) const
    {
        return smoke ? smoke->transmittance(ray, t_max, random) : 1;
    }
    // w beyond the surface that was hit; for clear things only.
    Inside beyond(const Inside& w, const Hit& hit) const;
    // The start of a ray that leaves a hit to the side that `d` points to.
    Vec3f leave(const Hit& hit, Vec3f d) const;

    // A box around all clear things.
    bool any_clear() const { return clear_lo_[0] <= clear_hi_[0]; }
    Vec3f clear_lo() const { return clear_lo_; }
    Vec3f clear_hi() const { return clear_hi_; }
    void add_clear(Vec3f lo, Vec3f hi);

private:
    float margin_ = 1e-5f;
    Vec3f clear_lo_ = Vec3f::all(endless), clear_hi_ = Vec3f::all(-endless);
};

}  // namespace tarn
