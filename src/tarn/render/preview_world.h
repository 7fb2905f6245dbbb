#pragma once
// The light of a drawing: a glass tank on a tiled floor under a clear sky.
//
// Light from the sun is traced beforehand, one ray for each texel of a map of the floor: bent at the surface, filtered by
// the water, stopped by solids. Rays that crowd together make the caustics, rays that are missing the shadows.
//
// It is a preview: reflections see one more surface and no further, only the floor has caustics, and the sky is the
// only other light.

#include "tarn/render/camera.h"
#include "tarn/render/color.h"
#include "tarn/render/medium.h"
#include "tarn/render/preview_tank.h"
#include "tarn/scene/frame.h"

namespace tarn::drawing {

struct Colours {
    Vec3f sun{4.1f, 3.75f, 3.15f};
    Vec3f floor = srgb(0.86f, 0.85f, 0.83f);
    Vec3f sky_low = srgb(0.74f, 0.82f, 0.90f), sky_high = srgb(0.20f, 0.45f, 0.85f);
    Vec3f frame = srgb(0.36f, 0.42f, 0.48f);
    // What is left of white light after the longest side of the domain, and what the water adds of its own.
    Vec3f water_filter{0.010f, 0.185f, 0.47f};
    Vec3f water_glow{0.008f, 0.105f, 0.285f};
    Vec3f water_inside = water_glow;  // what a ray sees that is lost in the water: of clear water, light from outside
    float milky = 0;  // how much of the light is scattered right behind the surface

    // As [render] says: the tuned look of a pool, or what a medium leaves and scatters back over the longest side.
    void mix_water(const RenderParams& render, double longest)
    {
        if (render.water == WaterLook::pool && !render.absorption && !render.scattering) return;
        const Medium medium = medium_of(render, longest);
        // Light that is scattered forward goes on nearly as it was.
        const Vec3f scattered = (1 - medium.forward) * medium.scattering;
        milky = 1 - std::exp(-0.1f * static_cast<float>(longest) * scattered[1]);
        for (int c = 0; c < 3; ++c) {
            const float lost = medium.absorption[c] + scattered[c];
            water_filter[c] = std::exp(-std::min(lost * static_cast<float>(longest), 60.0f));
            water_glow[c] = 0.95f * scattered[c] / std::max(lost, 1e-9f) + 0.004f;
            water_inside[c] = mix(water_glow[c], 0.7f * sky_low[c], water_filter[c]);
        }
    }
};

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

// The world around a tank, which may have moved and turned in it: x_world = R x + origin, in cells.
struct Outside {
    bool moved = false;
    Vec3f columns[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};  // of R
    Vec3f origin = {};
    float floor = 0;  // its height
    Vec3f middle = {};  // of all that the tank reaches
    float height = 0;   // of that over the floor

    TARN_HD Vec3f out(Vec3f d) const { return d[0] * columns[0] + d[1] * columns[1] + d[2] * columns[2]; }
    TARN_HD Vec3f in(Vec3f d) const { return {dot(columns[0], d), dot(columns[1], d), dot(columns[2], d)}; }
    TARN_HD Vec3f point_out(Vec3f x) const { return moved ? out(x) + origin : x; }
    TARN_HD Vec3f point_in(Vec3f x) const { return moved ? in(x - origin) : x; }
    TARN_HD Ray out(const Ray& r) const { return moved ? Ray{point_out(r.o), out(r.d)} : r; }
    // How far along a ray of the world the floor is.
    TARN_HD float to_floor(const Ray& r, float least) const
    {
        return r.d[1] < -least && r.o[1] >= floor ? (floor - r.o[1]) / r.d[1] : far_away;
    }
};

struct World {
    Tank tank;
    Outside outside;
    FloorMap floor_map;
    Colours colours;
    Vec3f sun;             // towards it, as the tank sees it
    Vec3f sun_outside;     // as the world does
    Vec3f absorption;      // per cell of water: Beer's law, light falls as exp(-absorption * path)
    float scale;           // the longest side, in cells
    bool pane[3][2] = {};  // walls of glass, by axis and end
    float pixel;           // a pixel's width at unit distance
    bool framed;           // the tank's edges are drawn
    const Vec3f* solid_colours = nullptr;  // of every entry of [[solid]]

    // An empty one, with a floor that is not lit yet.
    World(const Grid<3>& grid, const Params& params, const Camera& camera, int width)
        : tank{.cells = grid.cells, .size = grid.cells.as<float>(), .inv_h = static_cast<float>(1 / grid.h)},
          sun(normalized({-0.70f, 1.0f, 0.18f})),
          sun_outside(sun),
          scale(largest(tank.size)),
          pixel(2 * camera.tan_x / static_cast<float>(width)),
          framed(params.render.tank)
    {
        const double longest = grid.h * scale;
        colours.mix_water(params.render, longest);
        for (int c = 0; c < 3; ++c) absorption[c] = -std::log(colours.water_filter[c]) / scale;
        const WallsParams& walls = params.domain.walls;
        pane[0][0] = framed && walls.left != WallKind::open;
        pane[0][1] = framed && walls.right != WallKind::open;
        pane[2][0] = framed && walls.back != WallKind::open;
        pane[2][1] = framed && walls.front != WallKind::open;

        const Reach reach = reach_of(params);
        const auto in_cells = [&](Vec3 v) { return tank.inv_h * v.as<float>(); };
        const Vec3f lo = params.motion ? in_cells(reach.lo) : Vec3f{}, size = params.motion ? in_cells(reach.hi) - lo : tank.size;
        outside.moved = params.motion.has_value();
        outside.floor = lo[1];
        outside.middle = lo + 0.5f * size;
        outside.height = size[1];
        tank.on_floor = !outside.moved;
        pane[1][0] = framed && outside.moved && walls.bottom != WallKind::open;
        pane[1][1] = framed && outside.moved && walls.top != WallKind::open;

        const float shift = size[1] / sun[1];
        const float reach_x = -sun[0] * shift, reach_z = -sun[2] * shift;  // from the top of the box to its shadow
        FloorMap& m = floor_map;
        m.x0 = lo[0] + std::min(0.0f, reach_x);
        m.z0 = lo[2] + std::min(0.0f, reach_z);
        const float extent_x = size[0] + std::abs(reach_x), extent_z = size[2] + std::abs(reach_z);
        m.texel = std::max(extent_x, extent_z) / 420;
        m.texels = {static_cast<int>(extent_x / m.texel) + 1, static_cast<int>(extent_z / m.texel) + 1};
    }

    // Where the tank is at a time.
    void place(const Params& params, double time)
    {
        if (!outside.moved) return;
        const FramePose pose = frame_pose(params, time);
        for (int a = 0; a < 3; ++a) outside.columns[a] = pose.turn.rotate(Vec3::unit(a)).as<float>();
        outside.origin = tank.inv_h * pose.to_world({}).as<float>();
        sun = outside.in(sun_outside);
    }

    TARN_HD Vec3f filter(float path) const { return exp(-path * absorption); }

    TARN_HD Vec3f sky(Vec3f in_tank) const { return sky_outside(outside.moved ? outside.out(in_tank) : in_tank); }
    TARN_HD Vec3f sky_outside(Vec3f d) const
    {
        const float up = std::max(d[1], 0.0f);
        const Vec3f blue = mix(colours.sky_low, colours.sky_high, 1 - std::pow(1 - up, 2.2f));
        const float c = std::max(dot(d, sun_outside), 0.0f);
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
        const Vec3f direct = (sun_outside[1] * floor_map.at(x, z)) * colours.sun;
        // What stands close above the floor takes away skylight.
        float open = 1;
        if (tank.has_solid && tank.on_floor && x > 0 && z > 0 && x < tank.size[0] && z < tank.size[2])
            open = 0.45f + 0.55f * std::clamp(tank.solid_at({x, 0.04f * scale, z}) / (0.04f * scale), 0.0f, 1.0f);
        return direct + open * skylight({0, 1, 0});
    }

    TARN_HD Vec3f floor_at(const Ray& in_tank, float t) const
    {
        const Ray r = outside.out(in_tank);
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
        const Vec3f away{p[0] - outside.middle[0], 0, p[2] - outside.middle[2]};
        const float haze = smoothstep(0.9f, 4.5f, length(away) / scale);
        return mix(light, sky_outside(normalized({r.d[0], 0, r.d[2]})), haze);
    }

    // What a ray sees that leaves the tank.
    TARN_HD Vec3f surroundings(const Ray& r) const
    {
        const float t = outside.to_floor(outside.out(r), 1e-4f);
        return t < far_away ? floor_at(r, t) : sky(r.d);
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
        const float above = outside.point_out(u + reach * n)[1] - outside.floor;
        const float open = 0.5f + 0.5f * std::clamp(std::min(tank.solid_at(u + reach * n), above) / reach, 0.0f, 1.0f);
        return 0.36f * (solid_colour(u) * (direct + open * skylight(outside.moved ? outside.out(n) : n)));
    }

    TARN_HD Vec3f solid_colour(Vec3f u) const
    {
        int owner = 0;
        if (tank.shapes.count > 0) (void)tank.shapes.distance((1.0 / tank.inv_h) * u.as<double>(), &owner);
        return solid_colours[owner];
    }

    // The tank's edges as fine lines: how much of them covers a ray between two distances.
    TARN_HD float frame(const Ray& r, float t_begin, float t_end) const
    {
        float cover = 0;
        for (int a = 0; framed && a < 3; ++a) {
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

    // What the camera sees along a ray: the light that comes back along it, and the tank's frame before that. `clear` is
    // how far it goes straight.
    TARN_HD Vec3f seen(const Ray& r, float& clear) const
    {
        clear = 0;
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
        const float up = (outside.height + 1) / sun_outside[1];
        return follow_sun({outside.point_in(Vec3f{x, outside.floor, z} + up * sun_outside), -sun});
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
                const float floor_t = outside.to_floor(outside.out(r), 0);
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
                pass(light, through, r, e.t, wet, behind_glass);
                behind_glass = false;
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
        return light + through * (wet ? colours.water_inside : sky(r.d));
    }

    // What lies along a ray for a distance t: water, which filters and glows, and the frame seen through its flat side.
    TARN_HD void pass(Vec3f& light, Vec3f& through, const Ray& r, float t, bool wet, bool behind_glass) const
    {
        if (wet) {
            // Drops and films are tinted a little more than they would be, or they could hardly be seen.
            const Vec3f left = filter(t + 0.035f * scale);
            light += through * (Vec3f::all(1) - left) * colours.water_glow;
            through = through * left;
        }
        if (behind_glass) {
            const float cover = frame(r, 0.5f, t + 1);
            light += (0.5f * cover) * (through * colours.frame);
            through *= 1 - cover;
        }
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
        // What scatters at once is lit as a solid is.
        if (!from_water) through *= 1 - 0.6f * colours.milky * (1 - std::max(dot(n, sun), 0.0f));
        r = {u - 0.06f * n, bent};
        return !from_water;
    }

    template <bool mirrors>
    TARN_HD Vec3f mirror_image(const Ray& r, float mirrored, bool from_water) const
    {
        if (from_water) return colours.water_inside;
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
        r = outside.out(r);
        if (r.d[1] > -0.05f) return {.scattered = scattered};  // it lands far away
        const float t = (outside.floor - r.o[1]) / r.d[1];
        return {r.o[0] + t * r.d[0], r.o[2] + t * r.d[2], light, scattered, turned};
    }
};

}  // namespace tarn::drawing
