// A glass tank on a tiled floor under a clear sky, drawn by following each ray through its refractions.
//
// Positions and lengths are counted in cells from the domain's corner; so is phi. Water is what has phi < 0 inside the
// box, therefore water at a wall is seen through the wall with the wall's own flat surface. Light from the sun is
// traced beforehand, one ray for each texel of a map of the floor: bent at the surface, filtered by the water, stopped
// by solids. Rays that crowd together make the caustics, rays that are missing the shadows.
//
// It is a preview: reflections see one more surface and no further, only the floor has caustics, and the sky is the
// only other light.

#include <array>

#include "tarn/backend/parallel.h"
#include "tarn/field/sample.h"
#include "tarn/render/camera.h"
#include "tarn/render/color.h"
#include "tarn/render/preview.h"

namespace tarn {

namespace {

constexpr float far_away = 1e9f;
constexpr float refractive_index = 1.33f;
constexpr int most_events = 8;  // surfaces that a ray meets before it is given up

const Vec3f sun_colour{4.1f, 3.75f, 3.15f};
const Vec3f solid_colour = srgb(0.91f, 0.80f, 0.67f);
const Vec3f floor_colour = srgb(0.86f, 0.85f, 0.83f);
const Vec3f sky_low = srgb(0.74f, 0.82f, 0.90f), sky_high = srgb(0.20f, 0.45f, 0.85f);
const Vec3f frame_colour = srgb(0.36f, 0.42f, 0.48f);
// What is left of white light after the longest side of the domain, and what the water adds of its own.
const Vec3f water_filter{0.010f, 0.185f, 0.47f};
const Vec3f water_glow{0.008f, 0.105f, 0.285f};

Vec3f normalized(Vec3f a) { return (1 / std::sqrt(dot(a, a) + 1e-30f)) * a; }
Vec3f reflect(Vec3f d, Vec3f n) { return d - (2 * dot(d, n)) * n; }

// Snell's law; n faces the ray and eta is the ratio of the indices, from over to. False where all light is reflected.
bool refract(Vec3f d, Vec3f n, float eta, Vec3f& bent)
{
    const float c = -dot(d, n), k = 1 - eta * eta * (1 - c * c);
    if (k < 0) return false;
    bent = normalized(eta * d + (eta * c - std::sqrt(k)) * n);
    return true;
}

// Schlick's approximation of Fresnel reflection, with the cosine on the air's side.
float fresnel(float cosine)
{
    constexpr float straight =
        (refractive_index - 1) / (refractive_index + 1) * (refractive_index - 1) / (refractive_index + 1);
    const float m = 1 - std::clamp(cosine, 0.0f, 1.0f);
    return straight + (1 - straight) * m * m * m * m * m;
}

struct Ray {
    Vec3f o, d;
    Vec3f at(float t) const { return o + t * d; }
};

// ---- where water and solids are ----

// How far a ray may go at once from a block of cells, because no surface is near.
class Gaps {
public:
    static constexpr int width = 8;  // of a block, in cells

    Gaps(View<3, const float> phi, Cell<3> cells, float inv_h)
    {
        for (int a = 0; a < 3; ++a) blocks_[a] = (cells[a] + width - 1) / width;
        rings_.assign(static_cast<size_t>(blocks_[0]) * blocks_[1] * blocks_[2], most_rings);
        parallel_rows("find gaps", blocks_[2], [&](int bk) {
            for (int bj = 0; bj < blocks_[1]; ++bj)
                for (int bi = 0; bi < blocks_[0]; ++bi) {
                    float least = far_away;
                    for (int k = bk * width; k < std::min((bk + 1) * width, cells[2]); ++k)
                        for (int j = bj * width; j < std::min((bj + 1) * width, cells[1]); ++j)
                            for (int i = bi * width; i < std::min((bi + 1) * width, cells[0]); ++i)
                                least = std::min(least, std::abs(phi({i, j, k})));
                    // Two cells cover what interpolation takes from the next block.
                    if (least * inv_h < 2) ring({bi, bj, bk}) = 0;
                }
        });
        // The number of blocks to the nearest surface, counting diagonals as one: separable, so axis by axis.
        for (int axis = 0; axis < 3; ++axis) spread(axis);
    }

    float skip(Vec3f u) const
    {
        Cell<3> b;
        for (int a = 0; a < 3; ++a) b[a] = std::clamp(static_cast<int>(u[a]) / width, 0, blocks_[a] - 1);
        return static_cast<float>((ring(b) - 1) * width);
    }

private:
    static constexpr int8_t most_rings = 16;

    const int8_t& ring(Cell<3> b) const
    {
        return rings_[(static_cast<size_t>(b[2]) * blocks_[1] + b[1]) * blocks_[0] + b[0]];
    }
    int8_t& ring(Cell<3> b) { return const_cast<int8_t&>(std::as_const(*this).ring(b)); }

    // After the axes before it, a block's value is the least over neighbours along this axis of max(their value,
    // steps).
    void spread(int axis)
    {
        const Gaps before = *this;
        for (int k = 0; k < blocks_[2]; ++k)
            for (int j = 0; j < blocks_[1]; ++j)
                for (int i = 0; i < blocks_[0]; ++i) {
                    const Cell<3> b{i, j, k};
                    int8_t least = before.ring(b);
                    for (int8_t n = 1; n < least; ++n)
                        for (const int side : {-n, +n}) {
                            Cell<3> c = b;
                            c[axis] += side;
                            if (c[axis] < 0 || c[axis] >= blocks_[axis]) continue;
                            least = std::min(least, std::max(before.ring(c), n));
                        }
                    ring(b) = least;
                }
    }

    Cell<3> blocks_;
    std::vector<int8_t> rings_;
};

enum class Meets { surface, wall, floor, solid };

struct Event {
    Meets what;
    float t;
    Vec3f normal;  // towards where the ray comes from
};

struct Tank {
    View<3, const float> phi, solid;
    Cell<3> cells;
    Vec3f size;
    float inv_h;
    bool has_solid;
    std::vector<Shape> shapes;  // the same solids as the scene gives them, where it does
    Gaps gaps;

    Tank(const Water<3>& w, const Scene& scene)
        : phi(w.phi.view()),
          solid(w.solids.distance.view()),
          cells(w.grid.cells),
          size(w.grid.cells.as<float>()),
          inv_h(static_cast<float>(1 / w.grid.h)),
          has_solid(w.solids.any),
          shapes(scene.solids.at(w.time)),
          gaps(phi, cells, inv_h)
    {
    }

    float water_at(Vec3f u) const { return inv_h * sample_cells(phi, cells, u - Vec3f::all(0.5f)); }
    // From the grid, which is quick, and close by from the shapes themselves, which have sharp edges.
    float solid_at(Vec3f u) const
    {
        if (!has_solid) return far_away;
        const float d = inv_h * sample(solid, locate(solid, u, cells));
        // Far from solids the grid holds one distance for a whole tile, that of its middle.
        constexpr float half_tile = 0.87f * tile_size;
        if (d > half_tile + 3) return d - half_tile;
        if (d > 1 || shapes.empty()) return d;
        return inv_h * static_cast<float>(distance(shapes, (1.0 / inv_h) * u.as<double>()));
    }
    bool wet(Vec3f u) const { return water_at(u) < 0; }

    // Differences over two cells: smoother than phi itself, as the eye wants a surface of water.
    template <class F>
    static Vec3f gradient(Vec3f u, float reach, const F& f)
    {
        Vec3f g;
        for (int a = 0; a < 3; ++a) {
            const Vec3f e = reach * Vec3f::unit(a);
            g[a] = f(u + e) - f(u - e);
        }
        return normalized(g);
    }
    Vec3f water_normal(Vec3f u) const
    {
        return gradient(u, 1.0f, [&](Vec3f x) { return water_at(x); });
    }
    Vec3f solid_normal(Vec3f u) const
    {
        return gradient(u, shapes.empty() ? 0.5f : 0.1f, [&](Vec3f x) { return solid_at(x); });
    }

    // The part of a ray inside the box, and the axes of the walls where it enters and leaves.
    struct Span {
        float in = 0, out = far_away;
        int in_axis = -1, out_axis = -1;  // in_axis < 0: the ray starts inside
        bool empty() const { return in >= out; }
    };
    Span span(const Ray& r) const
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
    Event march(const Ray& r, const Span& s, bool wet) const
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
    float free_path(Vec3f u, float value) const
    {
        const float near = 0.75f * value;  // phi need not be a distance to the letter, hence less than all of it
        return value < 2 ? near : std::max(near, gaps.skip(u));
    }

    // Where phi changes sign between a and b: false position, kept inside the bracket.
    float root(const Ray& r, float side, float a, float value_a, float b, float value_b) const
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

struct World {
    Tank tank;
    Vec3f sun;             // towards it
    Vec3f absorption;      // per cell of water: Beer's law, light falls as exp(-absorption * path)
    float scale;           // the longest side, in cells
    bool pane[3][2] = {};  // walls of glass, by axis and end
    float pixel;           // a pixel's width at unit distance

    // Sunlight on the floor, by position.
    struct FloorMap {
        float x0 = 0, z0 = 0, texel = 1;
        int nx = 0, nz = 0;
        std::vector<Vec3f> light;

        size_t index(int i, int j) const
        {
            return static_cast<size_t>(j) * static_cast<size_t>(nx) + static_cast<size_t>(i);
        }
        Vec3f at(float x, float z) const
        {
            const float u = (x - x0) / texel - 0.5f, v = (z - z0) / texel - 0.5f;
            const float fu = std::floor(u), fv = std::floor(v);
            // One is full sunlight: what surrounds the map.
            const auto texel_at = [&](float i, float j) {
                if (i < 0 || j < 0 || i >= static_cast<float>(nx) || j >= static_cast<float>(nz)) return Vec3f::all(1);
                return light[index(static_cast<int>(i), static_cast<int>(j))];
            };
            return mix(mix(texel_at(fu, fv), texel_at(fu + 1, fv), u - fu),
                       mix(texel_at(fu, fv + 1), texel_at(fu + 1, fv + 1), u - fu), v - fv);
        }
    } floor_map;

    World(const Water<3>& water, const Scene& scene, const Camera& camera, int width)
        : tank(water, scene),
          sun(normalized({-0.70f, 1.0f, 0.18f})),
          pixel(2 * camera.tan_x / static_cast<float>(width))
    {
        scale = std::max({tank.size[0], tank.size[1], tank.size[2]});
        for (int c = 0; c < 3; ++c) absorption[c] = -std::log(water_filter[c]) / scale;
        const WallsParams& w = scene.params.domain.walls;
        pane[0][0] = w.left != WallKind::open;
        pane[0][1] = w.right != WallKind::open;
        pane[2][0] = w.back != WallKind::open;
        pane[2][1] = w.front != WallKind::open;
        light_floor();
    }

    Vec3f filter(float path) const { return exp(-path * absorption); }

    Vec3f sky(Vec3f d) const
    {
        const float up = std::max(d[1], 0.0f);
        const Vec3f blue = mix(sky_low, sky_high, 1 - std::pow(1 - up, 2.2f));
        const float c = std::max(dot(d, sun), 0.0f);
        // A disc wider than the true one, so that its glints on water cover pixels, and a glow around it.
        const float disc = smoothstep(0.9965f, 0.9985f, c), glow = std::pow(c, 48.0f);
        // A bright cloud behind the tank, out of the picture, that shines back from waves.
        const float cloud = std::pow(std::max(dot(d, Vec3f{0.34f, 0.42f, -0.84f}), 0.0f), 24.0f);
        return 1.05f * blue + (9.0f * disc + 0.35f * glow) * Vec3f{1.0f, 0.93f, 0.8f} + Vec3f::all(0.9f * cloud);
    }
    // Skylight from all sides on a surface that faces n.
    static Vec3f skylight(Vec3f n)
    {
        return mix(Vec3f{0.66f, 0.62f, 0.56f}, Vec3f{0.66f, 0.73f, 0.84f}, 0.5f + 0.5f * n[1]);
    }

    Vec3f floor_light(float x, float z) const
    {
        const Vec3f direct = (sun[1] * floor_map.at(x, z)) * sun_colour;
        // What stands close above the floor takes away skylight.
        float open = 1;
        if (tank.has_solid && x > 0 && z > 0 && x < tank.size[0] && z < tank.size[2])
            open = 0.45f + 0.55f * std::clamp(tank.solid_at({x, 0.04f * scale, z}) / (0.04f * scale), 0.0f, 1.0f);
        return direct + open * skylight({0, 1, 0});
    }

    Vec3f floor_at(const Ray& r, float t) const
    {
        const Vec3f p = r.at(t);
        // Tiles, with joints that fade where they are finer than a pixel.
        const float tile = scale / 8, joint = 0.012f * tile;
        const float foot = 0.75f * t * pixel / std::max(0.08f, std::abs(r.d[1]));
        float line = 0;
        for (const int a : {0, 2}) {
            const float off = std::abs(p[a] / tile - std::round(p[a] / tile)) * tile;
            const float cover = joint / std::max(joint, foot);
            line = std::max(line, cover * (1 - smoothstep(joint, joint + foot, off)));
        }
        const bool odd = (static_cast<int>(std::floor(p[0] / tile)) + static_cast<int>(std::floor(p[2] / tile))) & 1;
        const Vec3f albedo = (odd ? 0.90f : 1.0f) * mix(floor_colour, 0.82f * floor_colour, line);
        Vec3f light = 0.36f * (albedo * floor_light(p[0], p[2]));
        // Far floor dissolves in the horizon's haze, so that there is no edge of the world.
        const Vec3f away{p[0] - 0.5f * tank.size[0], 0, p[2] - 0.5f * tank.size[2]};
        const float haze = smoothstep(0.9f, 4.5f, length(away) / scale);
        return mix(light, sky({0, 0, -1}), haze);
    }

    // What a ray sees that leaves the tank.
    Vec3f surroundings(const Ray& r) const
    {
        if (r.d[1] < -1e-4f && r.o[1] >= 0) return floor_at(r, -r.o[1] / r.d[1]);
        return sky(r.d);
    }

    // Sunlight at a point in the tank: nothing behind a solid (softly at its edge), filtered behind water.
    Vec3f sunlight(Vec3f u) const
    {
        const Ray r{u, sun};
        const Tank::Span s = tank.span(r);
        float open = 1, path = 0;
        for (float t = 0.6f; t < s.out;) {
            const Vec3f x = r.at(t);
            const float water = tank.water_at(x), solid = tank.solid_at(x);
            open = std::min(open, 14 * solid / t);
            if (open <= 0) return {};
            const float ahead = std::max(0.5f, std::min({solid, 0.75f * std::abs(water), 8.0f}));
            if (water < 0) path += std::min(ahead, s.out - t);
            t += ahead;
        }
        return smoothstep(0, 1, open) * filter(path);
    }

    Vec3f solid_light(Vec3f u, Vec3f n) const
    {
        const float facing = std::max(dot(n, sun), 0.0f);
        const Vec3f direct = facing > 0 ? facing * (sunlight(u + 0.6f * n) * sun_colour) : Vec3f{};
        const float reach = 0.05f * scale;
        const float open =
            0.5f + 0.5f * std::clamp(std::min(tank.solid_at(u + reach * n), u[1] + reach * n[1]) / reach, 0.0f, 1.0f);
        return 0.36f * (solid_colour * (direct + open * skylight(n)));
    }

    // The tank's edges as fine lines: how much of them covers a ray between two distances.
    float frame(const Ray& r, float t_begin, float t_end) const
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
    Vec3f seen(const Ray& r) const
    {
        float clear = 0;
        const Vec3f light = radiance(r, most_events, &clear);
        return mix(light, 0.5f * frame_colour, frame(r, 0, clear + 1));
    }

private:
    // The light that comes back along a ray. `clear` is given for rays of the camera, which alone see mirror images:
    // how far they go before something bends or stops them.
    Vec3f radiance(Ray r, int events, float* clear) const
    {
        float path = 0;
        const auto stops = [&](float t) {
            if (clear && *clear == 0) *clear = path + t;
        };
        Vec3f light, through = Vec3f::all(1);
        bool inside = false, wet = false;
        bool behind_glass = false;  // bent once, by a flat wall, so that the frame's lines are still lines
        Tank::Span s = tank.span(r);
        if (!s.empty() && s.in_axis < 0) {
            inside = true;
            wet = tank.wet(r.o);
        }
        for (; events > 0; --events) {
            s = tank.span(r);
            if (!inside) {
                const float floor_t = r.d[1] < 0 && r.o[1] >= 0 ? -r.o[1] / r.d[1] : far_away;
                // A ray that has just left the tank may still touch the wall it came through.
                const bool misses = s.empty() || s.out < 1e-3f * scale || floor_t < s.in - 1e-3f;
                if (misses) {
                    stops(floor_t);
                    return light + through * surroundings(r);
                }
                const Vec3f u = r.at(s.in);
                Vec3f n;
                n[s.in_axis] = r.d[s.in_axis] > 0 ? -1.0f : 1.0f;
                if (tank.solid_at(u) < 0) {
                    stops(s.in);
                    return light + through * solid_light(u, n);
                }
                if (tank.wet(u)) {
                    stops(s.in);
                    behind_glass = clear;
                    wet = cross_surface(light, through, r, u, n, false, clear);
                } else {
                    path += s.in;
                    if (pane[s.in_axis][n[s.in_axis] > 0]) add_pane(light, through, r, n);
                    r.o = u;
                }
                inside = true;
                continue;
            }

            s.in = 0;
            const Event e = tank.march(r, s, wet);
            if (wet) {
                // Drops and films are tinted a little more than they would be, or they could hardly be seen.
                const Vec3f left = filter(e.t + 0.035f * scale);
                light += through * (Vec3f::all(1) - left) * water_glow;
                through = through * left;
            }
            if (behind_glass) {
                const float cover = frame(r, 0.5f, e.t + 1);
                light += (0.5f * cover) * (through * frame_colour);
                through *= 1 - cover;
                behind_glass = false;
            }
            if (wet || e.what != Meets::wall) stops(e.t);
            path += e.t;
            const Vec3f u = r.at(e.t);
            if (e.what == Meets::solid) return light + through * solid_light(u, e.normal);
            if (e.what == Meets::floor) return light + through * floor_at(r, e.t);
            if (e.what == Meets::surface) {
                Vec3f n = tank.water_normal(u);
                if (wet) n = -n;
                // A surface seen from its back is an artefact of smoothing: then it is seen edge on.
                if (dot(n, r.d) > -0.02f) n = normalized(n - (dot(n, r.d) + 0.02f) * r.d);
                wet = cross_surface(light, through, r, u, n, wet, clear);
            } else {
                if (wet) {
                    wet = cross_surface(light, through, r, u, e.normal, true, clear);
                    inside = wet;
                } else {
                    if (pane[s.out_axis][e.normal[s.out_axis] < 0]) through *= 0.985f;
                    inside = false;
                    r.o = u;
                }
            }
            if (std::max({through[0], through[1], through[2]}) < 0.01f) return light;
        }
        return light + through * (wet ? water_glow : sky(r.d));
    }

    // Continues a ray at the water's surface: bent, or reflected where it cannot leave. Returns whether it is in water
    // then.
    bool cross_surface(Vec3f& light, Vec3f& through, Ray& r, Vec3f u, Vec3f n, bool from_water, bool mirrors) const
    {
        Vec3f bent;
        const bool passes = refract(r.d, n, from_water ? refractive_index : 1 / refractive_index, bent);
        if (!passes) {
            r = {u + 0.06f * n, reflect(r.d, n)};
            return from_water;
        }
        const float mirrored = fresnel(from_water ? -dot(bent, n) : -dot(r.d, n));
        if (mirrors && !from_water) {
            const Ray mirror{u + 0.06f * n, reflect(r.d, n)};
            // A mirror image that carries little light need not know about the splash beside it.
            const Vec3f seen = mirrored > 0.05f ? radiance(mirror, 3, nullptr) : surroundings(mirror);
            light += mirrored * (through * seen);
        } else {
            light += mirrored * (through * (from_water ? water_glow : sky(reflect(r.d, n))));
        }
        through *= 1 - mirrored;
        r = {u - 0.06f * n, bent};
        return !from_water;
    }

    // A dry pane of glass: a little haze, and the sky in it at grazing angles.
    void add_pane(Vec3f& light, Vec3f& through, const Ray& r, Vec3f n) const
    {
        const float mirrored = 0.5f * fresnel(-dot(r.d, n));
        light += through * (mirrored * sky(reflect(r.d, n)));
        through *= 1 - mirrored - 0.01f;
    }

    // The floor map: one ray of sunlight for each texel, started above the box so that it would land in that texel if
    // nothing were in its way, and counted where it does land.
    void light_floor()
    {
        FloorMap& m = floor_map;
        const float shift = tank.size[1] / sun[1];
        const float reach_x = -sun[0] * shift, reach_z = -sun[2] * shift;  // from the top of the box to its shadow
        m.x0 = std::min(0.0f, reach_x);
        m.z0 = std::min(0.0f, reach_z);
        const float extent_x = tank.size[0] + std::abs(reach_x), extent_z = tank.size[2] + std::abs(reach_z);
        m.texel = std::max(extent_x, extent_z) / 420;
        m.nx = static_cast<int>(extent_x / m.texel) + 1;
        m.nz = static_cast<int>(extent_z / m.texel) + 1;

        std::vector<Landing> landings(static_cast<size_t>(m.nx) * static_cast<size_t>(m.nz));
        parallel_rows("light the floor", m.nz, [&](int j) {
            for (int i = 0; i < m.nx; ++i) {
                const float x = m.x0 + (static_cast<float>(i) + 0.5f) * m.texel,
                            z = m.z0 + (static_cast<float>(j) + 0.5f) * m.texel;
                const float up = (tank.size[1] + 1) / sun[1];
                landings[m.index(i, j)] = follow_sun({Vec3f{x, 0, z} + up * sun, -sun});
            }
        });

        // Each landing is shared among the four nearest texels; one that was not bent falls into its own alone. In a
        // fixed order, so that the picture is the same on any number of threads.
        m.light.assign(landings.size(), Vec3f{});
        for (size_t n = 0; n < landings.size(); ++n) {
            const Landing& l = landings[n];
            m.light[n] += l.scattered;
            const float u = (l.x - m.x0) / m.texel - 0.5f, v = (l.z - m.z0) / m.texel - 0.5f;
            const int i = static_cast<int>(std::floor(u)), j = static_cast<int>(std::floor(v));
            for (int dj = 0; dj < 2; ++dj)
                for (int di = 0; di < 2; ++di) {
                    if (i + di < 0 || j + dj < 0 || i + di >= m.nx || j + dj >= m.nz) continue;
                    const float fu = u - static_cast<float>(i), fv = v - static_cast<float>(j);
                    m.light[m.index(i + di, j + dj)] += ((di ? fu : 1 - fu) * (dj ? fv : 1 - fv)) * l.light;
                }
        }
        // The sun is not a point: its penumbra hides the grain of single rays.
        for (int pass = 0; pass < 3; ++pass) soften(m);
    }

    static void soften(FloorMap& m)
    {
        for (const bool along_x : {true, false}) {
            const std::vector<Vec3f> before = m.light;
            parallel_rows("soften floor light", m.nz, [&](int j) {
                for (int i = 0; i < m.nx; ++i) {
                    const auto at = [&](int step) {
                        const int x = along_x ? std::clamp(i + step, 0, m.nx - 1) : i;
                        const int z = along_x ? j : std::clamp(j + step, 0, m.nz - 1);
                        return before[m.index(x, z)];
                    };
                    m.light[m.index(i, j)] = 0.25f * at(-1) + 0.5f * at(0) + 0.25f * at(1);
                }
            });
        }
    }

    // Where a ray of sunlight lands and what is left of it.
    struct Landing {
        float x = 0, z = 0;
        Vec3f light;
        Vec3f scattered;  // arrives, by many ways, around where the ray would have landed
    };
    Landing follow_sun(Ray r) const
    {
        const Vec3f dark;
        Vec3f light = Vec3f::all(1), scattered;
        bool wet = false, inside = false;
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
        if (r.d[1] > -0.05f) return {0, 0, dark, scattered};  // it lands far away
        const float t = -r.o[1] / r.d[1];
        return {r.o[0] + t * r.d[0], r.o[2] + t * r.d[2], light, scattered};
    }
};

Vec3f developed(Vec3f light)
{
    const Vec3f film = expose(1.25f * light);
    Vec3f colour;
    for (int c = 0; c < 3; ++c) {
        const float x = to_srgb(film[c]);
        colour[c] = mix(x, smoothstep(0, 1, x), 0.45f);  // a little more contrast than a sensor has, as prints do
    }
    return colour;
}

}  // namespace

template <>
Image preview(const Water<3>& water, const Scene& scene, int width)
{
    Image image;
    image.width = std::max(2, width / 2 * 2);
    image.height = std::max(2, (image.width * 9 / 16 + 1) / 2 * 2);
    const int w = image.width, h = image.height;

    Camera camera = make_camera(scene.params.camera, water.grid.size(), static_cast<double>(w) / h);
    camera.position = static_cast<float>(1 / water.grid.h) * camera.position;  // metres to cells
    const World world(water, scene, camera, w);
    const auto colour_at = [&](float x, float y) {
        const Vec3f d = camera.direction(2 * x / static_cast<float>(w) - 1, 1 - 2 * y / static_cast<float>(h));
        return developed(world.seen({camera.position, d}));
    };

    std::vector<Vec3f> once(static_cast<size_t>(w) * static_cast<size_t>(h));
    const auto index = [&](int x, int y) {
        return static_cast<size_t>(y) * static_cast<size_t>(w) + static_cast<size_t>(x);
    };
    parallel_rows("preview", h, [&](int y) {
        for (int x = 0; x < w; ++x)
            once[index(x, y)] = colour_at(static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f);
    });

    // Where neighbours differ much there is an edge, a drop or a glint: four more rays, on a rotated square.
    image.rgb.resize(3 * once.size());
    parallel_rows("smooth edges", h, [&](int y) {
        for (int x = 0; x < w; ++x) {
            const Vec3f centre = once[index(x, y)];
            float contrast = 0;
            for (const auto& [nx, ny] : {std::pair{x - 1, y}, {x + 1, y}, {x, y - 1}, {x, y + 1}}) {
                if (nx < 0 || ny < 0 || nx >= w || ny >= h) continue;
                const Vec3f d = once[index(nx, ny)] - centre;
                contrast = std::max({contrast, std::abs(d[0]), std::abs(d[1]), std::abs(d[2])});
            }
            Vec3f colour = centre;
            if (contrast > 0.06f) {
                constexpr std::array<std::array<float, 2>, 4> offsets{
                    {{0.125f, 0.375f}, {0.625f, 0.125f}, {0.875f, 0.625f}, {0.375f, 0.875f}}};
                for (const auto& [ox, oy] : offsets)
                    colour += colour_at(static_cast<float>(x) + ox, static_cast<float>(y) + oy);
                colour *= 0.2f;
            }
            for (int c = 0; c < 3; ++c) image.rgb[3 * index(x, y) + static_cast<size_t>(c)] = to_byte(colour[c]);
        }
    });
    return image;
}

}  // namespace tarn
