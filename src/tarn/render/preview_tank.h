#pragma once
// Where rays of a drawing meet water, solids and the sides of the tank.
//
// Positions and lengths are counted in cells from the domain's corner; so is phi. Water is what has phi < 0 inside the
// box, therefore water at a wall is seen through the wall with the wall's own flat surface.

#include <utility>

#include "tarn/field/sample.h"
#include "tarn/grid/tiles.h"
#include "tarn/shapes/shape.h"

namespace tarn::drawing {

constexpr float far_away = 1e9f;
constexpr float refractive_index = 1.33f;
constexpr int most_events = 8;    // surfaces that a ray meets before it is given up
constexpr int mirror_events = 3;  // the same for what is seen in a mirror

TARN_HD inline Vec3f normalized(Vec3f a) { return (1 / std::sqrt(dot(a, a) + 1e-30f)) * a; }
TARN_HD inline Vec3f reflect(Vec3f d, Vec3f n) { return d - (2 * dot(d, n)) * n; }
TARN_HD inline float largest(Vec3f a) { return std::max(std::max(a[0], a[1]), a[2]); }

// Snell's law; n faces the ray and eta is the ratio of the indices, from over to. False where all light is reflected.
TARN_HD inline bool refract(Vec3f d, Vec3f n, float eta, Vec3f& bent)
{
    const float c = -dot(d, n), k = 1 - eta * eta * (1 - c * c);
    if (k < 0) return false;
    bent = normalized(eta * d + (eta * c - std::sqrt(k)) * n);
    return true;
}

// Schlick's approximation of Fresnel reflection, with the cosine on the air's side.
TARN_HD inline float fresnel(float cosine)
{
    constexpr float straight =
        (refractive_index - 1) / (refractive_index + 1) * (refractive_index - 1) / (refractive_index + 1);
    const float m = 1 - std::clamp(cosine, 0.0f, 1.0f);
    return straight + (1 - straight) * m * m * m * m * m;
}

struct Ray {
    Vec3f o, d;
    TARN_HD Vec3f at(float t) const { return o + t * d; }
};

// How far a ray may go at once from a block of cells, because no surface is near.
struct Gaps {
    static constexpr int width = 8;  // of a block, in cells
    static constexpr int most_rings = 16;

    View<3, const int> rings;  // of blocks around a block that hold no surface, itself counted
    Cell<3> blocks;

    TARN_HD float skip(Vec3f u) const
    {
        Cell<3> b;
        for (int a = 0; a < 3; ++a) b[a] = std::clamp(static_cast<int>(u[a]) / width, 0, blocks[a] - 1);
        return static_cast<float>((rings(b) - 1) * width);
    }
};

enum class Meets { surface, wall, floor, solid };

struct Event {
    Meets what;
    float t;
    Vec3f normal;  // towards where the ray comes from
};

struct Tank {
    Cell<3> cells;
    Vec3f size;
    float inv_h;
    View<3, const float> phi = {}, solid = {};
    bool has_solid = false;
    bool on_floor = true;  // else its bottom is a pane as its sides are
    ShapesView shapes = {};  // the same solids as the scene gives them, where it does
    Gaps gaps = {};

    TARN_HD float water_at(Vec3f u) const { return inv_h * sample_cells(phi, cells, u - Vec3f::all(0.5f)); }
    // From the grid, which is quick, and close by from the shapes themselves, which have sharp edges.
    TARN_HD float solid_at(Vec3f u) const
    {
        if (!has_solid) return far_away;
        const float d = inv_h * sample(solid, locate(solid, u, cells));
        // Far from solids the grid holds one distance for a whole tile, that of its middle.
        constexpr float half_tile = 0.87f * tile_size;
        if (d > half_tile + 3) return d - half_tile;
        if (d > 1 || shapes.count == 0) return d;
        return inv_h * static_cast<float>(shapes.distance((1.0 / inv_h) * u.as<double>()));
    }
    TARN_HD bool wet(Vec3f u) const { return water_at(u) < 0; }

    // Differences over two cells: smoother than phi itself, as the eye wants a surface of water.
    template <class F>
    TARN_HD static Vec3f gradient(Vec3f u, float reach, const F& f)
    {
        Vec3f g;
        for (int a = 0; a < 3; ++a) {
            const Vec3f e = reach * Vec3f::unit(a);
            g[a] = f(u + e) - f(u - e);
        }
        return normalized(g);
    }
    TARN_HD Vec3f water_normal(Vec3f u) const
    {
        return gradient(u, 1.0f, [&](Vec3f x) { return water_at(x); });
    }
    TARN_HD Vec3f solid_normal(Vec3f u) const
    {
        return gradient(u, shapes.count == 0 ? 0.5f : 0.1f, [&](Vec3f x) { return solid_at(x); });
    }

    // The part of a ray inside the box, and the axes of the walls where it enters and leaves.
    struct Span {
        float in = 0, out = far_away;
        int in_axis = -1, out_axis = -1;  // in_axis < 0: the ray starts inside
        TARN_HD bool empty() const { return in >= out; }
    };
    TARN_HD Span span(const Ray& r) const
    {
        Span s;
        for (int a = 0; a < 3; ++a) {
            if (std::abs(r.d[a]) < 1e-9f) {
                if (r.o[a] < 0 || r.o[a] > size[a]) s.out = -1;
                continue;
            }
            float t0 = -r.o[a] / r.d[a], t1 = (size[a] - r.o[a]) / r.d[a];
            if (t0 > t1) std::swap(t0, t1);
            if (t0 > s.in) s.in = t0, s.in_axis = a;
            if (t1 < s.out) s.out = t1, s.out_axis = a;
        }
        return s;
    }

    // Follows a ray in one medium through the box to whatever it meets first.
    TARN_HD Event march(const Ray& r, const Span& s, bool wet) const
    {
        const float side = wet ? -1.0f : 1.0f;
        float t = s.in, before = s.in, value_before = 0;
        while (t < s.out) {
            const Vec3f u = r.at(t);
            const float value = side * water_at(u);
            const float d = solid_at(u);
            if (d < 0.02f) return {Meets::solid, t, solid_normal(u)};
            if (value < 0) return {Meets::surface, root(r, side, before, value_before, t, value), {}};
            before = t;
            value_before = value;
            t += std::max(0.12f, std::min(free_path(u, value), d));
        }
        Event e{Meets::wall, s.out, {}};
        if (on_floor && s.out_axis == 1 && r.d[1] < 0) e.what = Meets::floor;
        if (s.out_axis >= 0) e.normal[s.out_axis] = r.d[s.out_axis] > 0 ? -1.0f : 1.0f;
        return e;
    }

private:
    TARN_HD float free_path(Vec3f u, float value) const
    {
        const float near = 0.75f * value;  // phi need not be a distance to the letter, hence less than all of it
        return value < 2 ? near : std::max(near, gaps.skip(u));
    }

    // Where phi changes sign between a and b: false position, kept inside the bracket.
    TARN_HD float root(const Ray& r, float side, float a, float value_a, float b, float value_b) const
    {
        for (int i = 0; i < 4 && b - a > 1e-3f; ++i) {
            const float share = std::clamp(value_a / (value_a - value_b), 0.05f, 0.95f);
            const float t = a + share * (b - a), value = side * water_at(r.at(t));
            if (value < 0)
                b = t, value_b = value;
            else
                a = t, value_a = value;
        }
        return b;
    }
};

}  // namespace tarn::drawing
