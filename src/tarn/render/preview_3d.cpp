// A glass tank on a tiled floor under a clear sky, drawn by following each ray through its refractions.
//
// Positions and lengths are counted in cells from the domain's corner; so is phi. Water is what has phi < 0 inside the
// box, therefore water at a wall is seen through the wall with the wall's own flat surface. Light from the sun is
// traced beforehand, one ray for each texel of a map of the floor: bent at the surface, filtered by the water, stopped
// by solids. Rays that crowd together make the caustics, rays that are missing the shadows.
//
// It is a preview: reflections see one more surface and no further, only the floor has caustics, and the sky is the
// only other light.
//
// All of it is kernels over cells, texels and pixels, so that a GPU draws from the phi that it holds.

#include <utility>

#include "tarn/backend/atomic.h"
#include "tarn/backend/parallel.h"
#include "tarn/field/sample.h"
#include "tarn/render/camera.h"
#include "tarn/render/color.h"
#include "tarn/render/preview.h"

namespace tarn {

namespace {

constexpr float far_away = 1e9f;
constexpr float refractive_index = 1.33f;
constexpr int most_events = 8;    // surfaces that a ray meets before it is given up
constexpr int mirror_events = 3;  // the same for what is seen in a mirror

struct Colours {
    Vec3f sun{4.1f, 3.75f, 3.15f};
    Vec3f solid = srgb(0.91f, 0.80f, 0.67f);
    Vec3f floor = srgb(0.86f, 0.85f, 0.83f);
    Vec3f sky_low = srgb(0.74f, 0.82f, 0.90f), sky_high = srgb(0.20f, 0.45f, 0.85f);
    Vec3f frame = srgb(0.36f, 0.42f, 0.48f);
    // What is left of white light after the longest side of the domain, and what the water adds of its own.
    Vec3f water_filter{0.010f, 0.185f, 0.47f};
    Vec3f water_glow{0.008f, 0.105f, 0.285f};
};

TARN_HD Vec3f normalized(Vec3f a) { return (1 / std::sqrt(dot(a, a) + 1e-30f)) * a; }
TARN_HD Vec3f reflect(Vec3f d, Vec3f n) { return d - (2 * dot(d, n)) * n; }
TARN_HD float largest(Vec3f a) { return std::max(std::max(a[0], a[1]), a[2]); }

// Snell's law; n faces the ray and eta is the ratio of the indices, from over to. False where all light is reflected.
TARN_HD bool refract(Vec3f d, Vec3f n, float eta, Vec3f& bent)
{
    const float c = -dot(d, n), k = 1 - eta * eta * (1 - c * c);
    if (k < 0) return false;
    bent = normalized(eta * d + (eta * c - std::sqrt(k)) * n);
    return true;
}

// Schlick's approximation of Fresnel reflection, with the cosine on the air's side.
TARN_HD float fresnel(float cosine)
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

// ---- where water and solids are ----

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

// After the axes before it, a block's value is the least over neighbours along this axis of max(their value, steps).
void spread(Field<3, int>& rings, const Field<3, int>& before, const Tiles<3>& blocks, int axis)
{
    const auto to = rings.view();
    const auto from = before.view();
    const int next = from.next(axis), last = blocks.grid.cells[axis] - 1;
    parallel_for("find gaps", blocks, [=] TARN_KERNEL(Cell<3> b) {
        const int i = from.index(b), below = b[axis], above = last - b[axis];
        int least = from[i];
        for (int n = 1; n < least; ++n) {
            if (n <= below) least = std::min(least, std::max(from[i - n * next], n));
            if (n <= above) least = std::min(least, std::max(from[i + n * next], n));
        }
        to[i] = least;
    });
}

void find_gaps(Field<3, int>& rings, Field<3, int>& scratch, View<3, const float> phi, const Tiles<3>& cells,
               const Tiles<3>& blocks)
{
    const auto ring = rings.view();
    // Two cells cover what interpolation takes from the next block.
    const float near = static_cast<float>(2 * cells.grid.h);
    parallel_for("find gaps", blocks, [=] TARN_KERNEL(Cell<3> b) { ring(b) = Gaps::most_rings; });
    parallel_for("find gaps", cells, [=] TARN_KERNEL(Cell<3> c) {
        if (!(std::fabs(phi(c)) < near)) return;
        int* const of_block = &ring({c[0] / Gaps::width, c[1] / Gaps::width, c[2] / Gaps::width});
        if (atomic_load(of_block) > 0) atomic_min(of_block, 0);
    });
    // The number of blocks to the nearest surface, counting diagonals as one: separable, so axis by axis.
    for (int axis = 0; axis < 3; ++axis) {
        rings.swap(scratch);
        spread(rings, scratch, blocks, axis);
    }
}

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
        if (s.out_axis == 1 && r.d[1] < 0) e.what = Meets::floor;
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

// ---- light ----

// Sunlight on the floor, by position.
struct FloorMap {
    float x0 = 0, z0 = 0, texel = 1;
    Cell<2> texels;
    View<2, const Vec3f> light;

    TARN_HD Vec3f at(float x, float z) const
    {
        const float u = (x - x0) / texel - 0.5f, v = (z - z0) / texel - 0.5f;
        const float fu = std::floor(u), fv = std::floor(v);
        // One is full sunlight: what surrounds the map.
        const auto texel_at = [&](float i, float j) {
            if (i < 0 || j < 0 || i >= static_cast<float>(texels[0]) || j >= static_cast<float>(texels[1]))
                return Vec3f::all(1);
            return light({static_cast<int>(i), static_cast<int>(j)});
        };
        return mix(mix(texel_at(fu, fv), texel_at(fu + 1, fv), u - fu),
                   mix(texel_at(fu, fv + 1), texel_at(fu + 1, fv + 1), u - fu), v - fv);
    }
};

// Where a ray of sunlight lands and what is left of it.
struct Landing {
    float x = 0, z = 0;
    Vec3f light = {};
    Vec3f scattered = {};  // arrives, by many ways, around where the ray would have landed
    bool bent = false;     // false: it lands where it would have without the tank, if at all
};

struct World {
    Tank tank;
    FloorMap floor_map;
    Colours colours;
    Vec3f sun;             // towards it
    Vec3f absorption;      // per cell of water: Beer's law, light falls as exp(-absorption * path)
    float scale;           // the longest side, in cells
    bool pane[3][2] = {};  // walls of glass, by axis and end
    float pixel;           // a pixel's width at unit distance

    // An empty one, with a floor that is not lit yet.
    World(const Grid<3>& grid, const WallsParams& walls, const Camera& camera, int width)
        : tank{.cells = grid.cells, .size = grid.cells.as<float>(), .inv_h = static_cast<float>(1 / grid.h)},
          sun(normalized({-0.70f, 1.0f, 0.18f})),
          scale(largest(tank.size)),
          pixel(2 * camera.tan_x / static_cast<float>(width))
    {
        for (int c = 0; c < 3; ++c) absorption[c] = -std::log(colours.water_filter[c]) / scale;
        pane[0][0] = walls.left != WallKind::open;
        pane[0][1] = walls.right != WallKind::open;
        pane[2][0] = walls.back != WallKind::open;
        pane[2][1] = walls.front != WallKind::open;

        const float shift = tank.size[1] / sun[1];
        const float reach_x = -sun[0] * shift, reach_z = -sun[2] * shift;  // from the top of the box to its shadow
        FloorMap& m = floor_map;
        m.x0 = std::min(0.0f, reach_x);
        m.z0 = std::min(0.0f, reach_z);
        const float extent_x = tank.size[0] + std::abs(reach_x), extent_z = tank.size[2] + std::abs(reach_z);
        m.texel = std::max(extent_x, extent_z) / 420;
        m.texels = {static_cast<int>(extent_x / m.texel) + 1, static_cast<int>(extent_z / m.texel) + 1};
    }

    TARN_HD Vec3f filter(float path) const { return exp(-path * absorption); }

    TARN_HD Vec3f sky(Vec3f d) const
    {
        const float up = std::max(d[1], 0.0f);
        const Vec3f blue = mix(colours.sky_low, colours.sky_high, 1 - std::pow(1 - up, 2.2f));
        const float c = std::max(dot(d, sun), 0.0f);
        // A disc wider than the true one, so that its glints on water cover pixels, and a glow around it.
        const float disc = smoothstep(0.9965f, 0.9985f, c), glow = std::pow(c, 48.0f);
        // A bright cloud behind the tank, out of the picture, that shines back from waves.
        const float cloud = std::pow(std::max(dot(d, Vec3f{0.34f, 0.42f, -0.84f}), 0.0f), 24.0f);
        return 1.05f * blue + (9.0f * disc + 0.35f * glow) * Vec3f{1.0f, 0.93f, 0.8f} + Vec3f::all(0.9f * cloud);
    }
    // Skylight from all sides on a surface that faces n.
    TARN_HD static Vec3f skylight(Vec3f n)
    {
        return mix(Vec3f{0.66f, 0.62f, 0.56f}, Vec3f{0.66f, 0.73f, 0.84f}, 0.5f + 0.5f * n[1]);
    }

    TARN_HD Vec3f floor_light(float x, float z) const
    {
        const Vec3f direct = (sun[1] * floor_map.at(x, z)) * colours.sun;
        // What stands close above the floor takes away skylight.
        float open = 1;
        if (tank.has_solid && x > 0 && z > 0 && x < tank.size[0] && z < tank.size[2])
            open = 0.45f + 0.55f * std::clamp(tank.solid_at({x, 0.04f * scale, z}) / (0.04f * scale), 0.0f, 1.0f);
        return direct + open * skylight({0, 1, 0});
    }

    TARN_HD Vec3f floor_at(const Ray& r, float t) const
    {
        const Vec3f p = r.at(t);
        // Tiles, with joints that fade where they are finer than a pixel.
        const float tile = scale / 8, joint = 0.012f * tile;
        const float foot = 0.75f * t * pixel / std::max(0.08f, std::abs(r.d[1]));
        float line = 0;
        for (int a = 0; a < 3; a += 2) {
            const float off = std::abs(p[a] / tile - std::round(p[a] / tile)) * tile;
            const float cover = joint / std::max(joint, foot);
            line = std::max(line, cover * (1 - smoothstep(joint, joint + foot, off)));
        }
        const bool odd = (static_cast<int>(std::floor(p[0] / tile)) + static_cast<int>(std::floor(p[2] / tile))) & 1;
        const Vec3f albedo = (odd ? 0.90f : 1.0f) * mix(colours.floor, 0.82f * colours.floor, line);
        Vec3f light = 0.36f * (albedo * floor_light(p[0], p[2]));
        // Far floor dissolves in the horizon's haze, so that there is no edge of the world.
        const Vec3f away{p[0] - 0.5f * tank.size[0], 0, p[2] - 0.5f * tank.size[2]};
        const float haze = smoothstep(0.9f, 4.5f, length(away) / scale);
        return mix(light, sky({0, 0, -1}), haze);
    }

    // What a ray sees that leaves the tank.
    TARN_HD Vec3f surroundings(const Ray& r) const
    {
        if (r.d[1] < -1e-4f && r.o[1] >= 0) return floor_at(r, -r.o[1] / r.d[1]);
        return sky(r.d);
    }

    // Sunlight at a point in the tank: nothing behind a solid (softly at its edge), filtered behind water.
    TARN_HD Vec3f sunlight(Vec3f u) const
    {
        const Ray r{u, sun};
        const Tank::Span s = tank.span(r);
        float open = 1, path = 0;
        for (float t = 0.6f; t < s.out;) {
            const Vec3f x = r.at(t);
            const float water = tank.water_at(x), solid = tank.solid_at(x);
            open = std::min(open, 14 * solid / t);
            if (open <= 0) return {};
            const float ahead = std::max(0.5f, std::min(std::min(solid, 0.75f * std::abs(water)), 8.0f));
            if (water < 0) path += std::min(ahead, s.out - t);
            t += ahead;
        }
        return smoothstep(0, 1, open) * filter(path);
    }

    TARN_HD Vec3f solid_light(Vec3f u, Vec3f n) const
    {
        const float facing = std::max(dot(n, sun), 0.0f);
        const Vec3f direct = facing > 0 ? facing * (sunlight(u + 0.6f * n) * colours.sun) : Vec3f{};
        const float reach = 0.05f * scale;
        const float open =
            0.5f + 0.5f * std::clamp(std::min(tank.solid_at(u + reach * n), u[1] + reach * n[1]) / reach, 0.0f, 1.0f);
        return 0.36f * (colours.solid * (direct + open * skylight(n)));
    }

    // The tank's edges as fine lines: how much of them covers a ray between two distances.
    TARN_HD float frame(const Ray& r, float t_begin, float t_end) const
    {
        float cover = 0;
        for (int a = 0; a < 3; ++a) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            const float square = r.d[b] * r.d[b] + r.d[c] * r.d[c];
            if (square < 1e-9f) continue;
            for (int corner = 0; corner < 4; ++corner) {
                // An edge along a stands at fixed b and c; the ray is nearest to it where it is so in the plane of b
                // and c.
                const float pb = (corner & 1 ? tank.size[b] : 0) - r.o[b],
                            pc = (corner & 2 ? tank.size[c] : 0) - r.o[c];
                const float t = (pb * r.d[b] + pc * r.d[c]) / square;
                if (t <= t_begin || t > t_end) continue;
                const float along = r.o[a] + t * r.d[a];
                if (along < 0 || along > tank.size[a]) continue;
                const float off = std::hypot(pb - t * r.d[b], pc - t * r.d[c]);
                // A line is drawn at least a pixel and a half wide, paler if it is finer, so that it does not break
                // into dashes.
                const float foot = t * pixel, true_half = 0.0012f * scale, half = std::max(true_half, 0.75f * foot);
                cover = std::max(cover, true_half / half * std::clamp(0.5f + (half - off) / foot, 0.0f, 1.0f));
            }
        }
        return 0.8f * cover;
    }

    // What the camera sees along a ray: the light that comes back along it, and the tank's frame before that.
    TARN_HD Vec3f seen(const Ray& r) const
    {
        float clear = 0;
        const Vec3f light = radiance<true>(r, clear);
        return mix(light, 0.5f * colours.frame, frame(r, 0, clear + 1));
    }

    // One ray of sunlight for each texel, started above the box so that it would land in that texel if nothing were in
    // its way.
    TARN_HD Landing sunbeam(Cell<2> t) const
    {
        const FloorMap& m = floor_map;
        const float x = m.x0 + (static_cast<float>(t[0]) + 0.5f) * m.texel,
                    z = m.z0 + (static_cast<float>(t[1]) + 0.5f) * m.texel;
        const float up = (tank.size[1] + 1) / sun[1];
        return follow_sun({Vec3f{x, 0, z} + up * sun, -sun});
    }

private:
    // The light that comes back along a ray, and how far it goes before something bends or stops it. Rays of the
    // camera alone see mirror images.
    template <bool camera>
    TARN_HD Vec3f radiance(Ray r, float& clear) const
    {
        float path = 0;
        const auto stops = [&](float t) {
            if (clear == 0) clear = path + t;
        };
        Vec3f light, through = Vec3f::all(1);
        bool inside = false, wet = false;
        bool behind_glass = false;  // bent once, by a flat wall, so that the frame's lines are still lines
        Tank::Span s = tank.span(r);
        if (!s.empty() && s.in_axis < 0) {
            inside = true;
            wet = tank.wet(r.o);
        }
        for (int events = camera ? most_events : mirror_events; events > 0; --events) {
            Vec3f u, n;
            bool crosses = false, at_wall = false;  // the water's surface, which may be that of water at a wall
            s = tank.span(r);
            if (!inside) {
                const float floor_t = r.d[1] < 0 && r.o[1] >= 0 ? -r.o[1] / r.d[1] : far_away;
                // A ray that has just left the tank may still touch the wall it came through.
                const bool misses = s.empty() || s.out < 1e-3f * scale || floor_t < s.in - 1e-3f;
                if (misses) {
                    stops(floor_t);
                    return light + through * surroundings(r);
                }
                u = r.at(s.in);
                n[s.in_axis] = r.d[s.in_axis] > 0 ? -1.0f : 1.0f;
                if (tank.solid_at(u) < 0) {
                    stops(s.in);
                    return light + through * solid_light(u, n);
                }
                inside = true;
                crosses = tank.wet(u);
                if (crosses) {
                    stops(s.in);
                    behind_glass = camera;
                } else {
                    path += s.in;
                    if (pane[s.in_axis][n[s.in_axis] > 0]) add_pane(light, through, r, n);
                    r.o = u;
                }
            } else {
                s.in = 0;
                const Event e = tank.march(r, s, wet);
                if (wet) {
                    // Drops and films are tinted a little more than they would be, or they could hardly be seen.
                    const Vec3f left = filter(e.t + 0.035f * scale);
                    light += through * (Vec3f::all(1) - left) * colours.water_glow;
                    through = through * left;
                }
                if (behind_glass) {
                    const float cover = frame(r, 0.5f, e.t + 1);
                    light += (0.5f * cover) * (through * colours.frame);
                    through *= 1 - cover;
                    behind_glass = false;
                }
                if (wet || e.what != Meets::wall) stops(e.t);
                path += e.t;
                u = r.at(e.t);
                if (e.what == Meets::solid) return light + through * solid_light(u, e.normal);
                if (e.what == Meets::floor) return light + through * floor_at(r, e.t);
                if (e.what == Meets::surface) {
                    crosses = true;
                    n = tank.water_normal(u);
                    if (wet) n = -n;
                    // A surface seen from its back is an artefact of smoothing: then it is seen edge on.
                    if (dot(n, r.d) > -0.02f) n = normalized(n - (dot(n, r.d) + 0.02f) * r.d);
                } else if (wet) {
                    crosses = at_wall = true;
                    n = e.normal;
                } else {
                    if (pane[s.out_axis][e.normal[s.out_axis] < 0]) through *= 0.985f;
                    inside = false;
                    r.o = u;
                }
            }
            // Here alone, so that the rays of a GPU's warp look into their mirrors together.
            if (crosses) {
                wet = cross_surface<camera>(light, through, r, u, n, wet);
                if (at_wall) inside = wet;
            }
            if (largest(through) < 0.01f) return light;
        }
        return light + through * (wet ? colours.water_glow : sky(r.d));
    }

    // Continues a ray at the water's surface: bent, or reflected where it cannot leave. Returns whether it is in water
    // then.
    template <bool mirrors>
    TARN_HD bool cross_surface(Vec3f& light, Vec3f& through, Ray& r, Vec3f u, Vec3f n, bool from_water) const
    {
        Vec3f bent;
        const bool passes = refract(r.d, n, from_water ? refractive_index : 1 / refractive_index, bent);
        if (!passes) {
            r = {u + 0.06f * n, reflect(r.d, n)};
            return from_water;
        }
        const float mirrored = fresnel(from_water ? -dot(bent, n) : -dot(r.d, n));
        light += mirrored * (through * mirror_image<mirrors>({u + 0.06f * n, reflect(r.d, n)}, mirrored, from_water));
        through *= 1 - mirrored;
        r = {u - 0.06f * n, bent};
        return !from_water;
    }

    template <bool mirrors>
    TARN_HD Vec3f mirror_image(const Ray& r, float mirrored, bool from_water) const
    {
        if (from_water) return colours.water_glow;
        if constexpr (mirrors) {
            // A mirror image that carries little light need not know about the splash beside it.
            float clear = 0;
            return mirrored > 0.05f ? radiance<false>(r, clear) : surroundings(r);
        } else {
            return sky(r.d);
        }
    }

    // A dry pane of glass: a little haze, and the sky in it at grazing angles.
    TARN_HD void add_pane(Vec3f& light, Vec3f& through, const Ray& r, Vec3f n) const
    {
        const float mirrored = 0.5f * fresnel(-dot(r.d, n));
        light += through * (mirrored * sky(reflect(r.d, n)));
        through *= 1 - mirrored - 0.01f;
    }

    TARN_HD Landing follow_sun(Ray r) const
    {
        const Vec3f dark;
        Vec3f light = Vec3f::all(1), scattered;
        bool wet = false, inside = false, turned = false;
        for (int events = 0; events < 6; ++events) {
            Tank::Span s = tank.span(r);
            if (s.empty()) break;
            if (!inside) {
                r.o = r.at(s.in);
                inside = true;
                wet = tank.wet(r.o);
                continue;
            }
            s.in = 0;
            const Event e = tank.march(r, s, wet);
            if (e.what == Meets::solid) return {};
            if (wet) light = light * filter(e.t);
            r.o = r.at(e.t);
            if (e.what != Meets::surface) break;  // the floor, or out through a wall and straight on
            // The many reflections that are not followed soften the shadow of water.
            if (scattered == dark) {
                scattered = Vec3f{0.26f, 0.34f, 0.40f};
                light *= 1 - scattered[1];
            }
            turned = true;
            Vec3f n = tank.water_normal(r.o), bent;
            if (wet) n = -n;
            if (dot(n, r.d) > -0.05f) n = normalized(n - (dot(n, r.d) + 0.05f) * r.d);
            if (refract(r.d, n, wet ? refractive_index : 1 / refractive_index, bent)) {
                light *= 1 - fresnel(wet ? -dot(bent, n) : -dot(r.d, n));
                r = {r.o - 0.06f * n, bent};
                wet = !wet;
            } else {
                r = {r.o + 0.06f * n, reflect(r.d, n)};
            }
        }
        if (r.d[1] > -0.05f) return {.scattered = scattered};  // it lands far away
        const float t = -r.o[1] / r.d[1];
        return {r.o[0] + t * r.d[0], r.o[2] + t * r.d[2], light, scattered, turned};
    }
};

// Light that lands is counted in whole parts: their sum is the same in any order.
using Parts = Vec<3, long long>;
constexpr float part = 1.0f / (1 << 24);

// Shares a landing among the four nearest texels.
TARN_KERNEL inline void share(const View<2, Parts>& landed, const FloorMap& m, const Landing& l)
{
    const float u = (l.x - m.x0) / m.texel - 0.5f, v = (l.z - m.z0) / m.texel - 0.5f;
    const float fu = std::floor(u), fv = std::floor(v);
    for (int dj = 0; dj < 2; ++dj)
        for (int di = 0; di < 2; ++di) {
            const float i = fu + static_cast<float>(di), j = fv + static_cast<float>(dj);
            if (i < 0 || j < 0 || i >= static_cast<float>(m.texels[0]) || j >= static_cast<float>(m.texels[1]))
                continue;
            const float weight = (di ? u - fu : 1 - (u - fu)) * (dj ? v - fv : 1 - (v - fv));
            Parts& there = landed({static_cast<int>(i), static_cast<int>(j)});
            for (int c = 0; c < 3; ++c) atomic_add(&there[c], static_cast<long long>(weight * l.light[c] / part));
        }
}

// The mean of a texel and its neighbours along an axis, the texel twice.
void soften(Field<2, Vec3f>& light, const Field<2, Vec3f>& before, const Tiles<2>& texels, int axis)
{
    const auto to = light.view();
    const auto from = before.view();
    const int next = from.next(axis), last = texels.grid.cells[axis] - 1;
    parallel_for("soften floor light", texels, [=] TARN_KERNEL(Cell<2> t) {
        const int i = from.index(t), below = t[axis] > 0 ? i - next : i, above = t[axis] < last ? i + next : i;
        to[i] = 0.25f * from[below] + 0.5f * from[i] + 0.25f * from[above];
    });
}

// Rays of sunlight, counted where they land. `landed` is zero before and after.
void light_floor(Field<2, Vec3f>& light, Field<2, Vec3f>& scratch, Field<2, Parts>& landed, const World& world,
                 const Tiles<2>& texels)
{
    const auto to = light.view();
    const auto sum = landed.view();
    parallel_for("light the floor", texels, [=] TARN_KERNEL(Cell<2> t) {
        const Landing l = world.sunbeam(t);
        // Most rays are not bent, and fall into their own texel alone.
        to(t) = l.bent ? l.scattered : l.scattered + l.light;
        if (l.bent) share(sum, world.floor_map, l);
    });
    parallel_for("light the floor", texels, [=] TARN_KERNEL(Cell<2> t) {
        to(t) += part * sum(t).as<float>();
        sum(t) = {};
    });
    // The sun is not a point: its penumbra hides the grain of single rays.
    for (int pass = 0; pass < 3; ++pass)
        for (int axis = 0; axis < 2; ++axis) {
            light.swap(scratch);
            soften(light, scratch, texels, axis);
        }
}

// ---- the picture ----

TARN_HD Vec3f developed(Vec3f light)
{
    const Vec3f film = expose(1.25f * light);
    Vec3f colour;
    for (int c = 0; c < 3; ++c) colour[c] = print(to_srgb(film[c]));
    return colour;
}

struct Shot {
    World world;
    Camera camera;
    Cell<2> size;  // in pixels

    TARN_HD Vec3f colour_at(float x, float y) const
    {
        const Vec3f d =
            camera.direction(2 * x / static_cast<float>(size[0]) - 1, 1 - 2 * y / static_cast<float>(size[1]));
        return developed(world.seen({camera.position, d}));
    }
    TARN_HD Vec3f once(Cell<2> p) const
    {
        return colour_at(static_cast<float>(p[0]) + 0.5f, static_cast<float>(p[1]) + 0.5f);
    }
    // Four more rays, on a rotated square.
    TARN_HD Vec3f again(Cell<2> p) const
    {
        const float x[] = {0.125f, 0.625f, 0.875f, 0.375f}, y[] = {0.375f, 0.125f, 0.625f, 0.875f};
        Vec3f sum;
        for (int n = 0; n < 4; ++n) sum += colour_at(static_cast<float>(p[0]) + x[n], static_cast<float>(p[1]) + y[n]);
        return sum;
    }
};

// How much a pixel differs from its neighbours.
TARN_HD float contrast(const View<2, const Vec3f>& picture, Cell<2> size, Cell<2> p)
{
    const int i = picture.index(p);
    float most = 0;
    for (int a = 0; a < 2; ++a)
        for (int side = -1; side <= 1; side += 2) {
            if (p[a] + side < 0 || p[a] + side >= size[a]) continue;
            const Vec3f d = picture[i + side * picture.next(a)] - picture[i];
            most = std::max(most, largest({std::abs(d[0]), std::abs(d[1]), std::abs(d[2])}));
        }
    return most;
}

Cell<2> size_of_picture(int width)
{
    const int w = std::max(2, width / 2 * 2);
    return {w, std::max(2, (w * 9 / 16 + 1) / 2 * 2)};
}

// In cells, as all lengths here.
Camera camera_of(const Scene& scene, const Grid<3>& grid, Cell<2> picture, double time)
{
    Camera camera = make_camera(scene.params.camera, grid.size(), static_cast<double>(picture[0]) / picture[1], time);
    camera.position = static_cast<float>(1 / grid.h) * camera.position;
    return camera;
}

// Such solids are not drawn: the water in them is what is to be seen.
bool all_glass(const Scene& scene)
{
    for (const SolidParams& solid : scene.params.solid)
        if (!solid.subtract && solid.material != SolidLook::glass) return false;
    return !scene.params.solid.empty();
}

template <int D>
Tiles<D> tiles_of(Cell<D> cells)
{
    return all_tiles(Grid<D>(cells, 1));
}

}  // namespace

struct Painter::Room {
    const Scene& scene;
    const Tiles<2> pixels;
    const World empty;
    const Tiles<3> cells, blocks;
    const Tiles<2> texels;
    Field<3, int> rings[2];
    Field<2, Vec3f> light[2];
    Field<2, Parts> landed;
    Field<2, Vec3f> once;  // the picture with one ray a pixel
    Memory<uint8_t> rgb;

    Room(const Scene& s, const Grid<3>& grid, int width)
        : scene(s),
          pixels(tiles_of(size_of_picture(width))),
          empty(grid, s.params.domain.walls, camera_of(s, grid, pixels.grid.cells, 0), pixels.grid.cells[0]),
          cells(all_tiles(grid)),
          blocks(tiles_of(TileMap<3>(grid).count)),
          texels(tiles_of(empty.floor_map.texels)),
          landed(texels.grid),
          once(pixels.grid),
          rgb(3 * static_cast<size_t>(pixels.grid.count()))
    {
        static_assert(Gaps::width == tile_size);
        for (auto& r : rings) r = Field<3, int>(blocks.grid);
        for (auto& l : light) l = Field<2, Vec3f>(texels.grid);
    }
};

Painter::Painter(const Scene& scene, const Grid<3>& grid, int width) : room_(std::make_unique<Room>(scene, grid, width))
{
}
Painter::~Painter() = default;

int Painter::width() const { return room_->pixels.grid.cells[0]; }
int Painter::height() const { return room_->pixels.grid.cells[1]; }

const Memory<uint8_t>& Painter::draw(const Field<3>& phi, const Solids<3>& solids, double time)
{
    Room& room = *room_;
    World world = room.empty;
    const KernelShapes shapes = room.scene.solids.for_kernels(time);
    world.tank.phi = phi.view();
    world.tank.solid = solids.distance.view();
    world.tank.has_solid = solids.any && !all_glass(room.scene);
    if (!room.scene.solids.empty()) world.tank.shapes = shapes.view();
    find_gaps(room.rings[0], room.rings[1], world.tank.phi, room.cells, room.blocks);
    world.tank.gaps = {std::as_const(room.rings[0]).view(), room.blocks.grid.cells};
    light_floor(room.light[0], room.light[1], room.landed, world, room.texels);
    world.floor_map.light = std::as_const(room.light[0]).view();

    const Cell<2> size = room.pixels.grid.cells;
    const Shot shot{world, camera_of(room.scene, room.cells.grid, size, time), size};
    const auto once = room.once.view();
    parallel_for("preview", room.pixels, [=] TARN_KERNEL(Cell<2> p) { once(p) = shot.once(p); });

    // Where neighbours differ much there is an edge, a drop or a glint.
    const View<2, const Vec3f> from = once;
    uint8_t* const rgb = room.rgb.data();
    parallel_for("smooth edges", room.pixels, [=] TARN_KERNEL(Cell<2> p) {
        Vec3f colour = from(p);
        if (contrast(from, shot.size, p) > 0.06f) colour = 0.2f * (colour + shot.again(p));
        uint8_t* const there =
            rgb + 3 * (static_cast<size_t>(p[1]) * static_cast<size_t>(shot.size[0]) + static_cast<size_t>(p[0]));
        for (int c = 0; c < 3; ++c) there[c] = to_byte(colour[c]);
    });
    return room.rgb;
}

template <>
Image preview(const Water<3>& water, const Scene& scene, int width)
{
    Painter painter(scene, water.grid, width);
    const Memory<uint8_t>& rgb = painter.draw(water.phi, water.solids, water.time);
    Image image{painter.width(), painter.height(), std::vector<uint8_t>(rgb.size())};
    backend::copy(image.rgb.data(), rgb.data(), rgb.size());
    paint_drops(image, drops_of(water, scene.params.fragments), scene, water.grid.size(), water.time);
    return image;
}

}  // namespace tarn
