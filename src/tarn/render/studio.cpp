#include "tarn/render/studio.h"

#include <algorithm>
#include <cmath>

#include "tarn/backend/parallel.h"
#include "tarn/render/sky.h"

namespace tarn {

namespace {

// Where clear bodies overlap: glass holds water, and a bubble is air inside of it.
enum Priority { water_priority = 1, bubble_priority = 2, glass_priority = 3 };

// 1, 2 or 5 times a power of ten.
double round_length(double x)
{
    const double power = std::pow(10, std::floor(std::log10(x))), digits = x / power;
    return power * (digits < 1.5 ? 1 : digits < 3.5 ? 2 : digits < 7.5 ? 5 : 10);
}

Material material_of(const SolidParams& solid)
{
    Material m;
    m.roughness = static_cast<float>(solid.roughness);
    Vec3f colour{0.58f, 0.56f, 0.53f};
    switch (solid.material) {
        case SolidLook::plaster:
            break;
        case SolidLook::plastic:
            m.kind = MaterialKind::plastic;
            colour = {0.70f, 0.12f, 0.06f};
            break;
        case SolidLook::metal:
            m.kind = MaterialKind::metal;
            colour = {0.91f, 0.92f, 0.92f};  // aluminium
            break;
        case SolidLook::mirror:
            m.kind = MaterialKind::metal;
            m.roughness = 0;
            colour = {0.97f, 0.96f, 0.91f};  // silver
            break;
        case SolidLook::glass:
            m.kind = MaterialKind::dielectric;
            m.ior = glass_ior;
            m.priority = glass_priority;
            break;
    }
    m.texture.colour = solid.color ? solid.color->as<float>() : colour;
    return m;
}

// The solids of one material: the list in its order, what is of another material left out.
struct Group {
    std::vector<size_t> entries;

    double distance(const std::vector<Shape>& shapes, Vec3 x) const
    {
        double d = HUGE_VAL;
        for (const size_t i : entries) {
            const double e = tarn::distance(shapes[i], x);
            d = shapes[i].subtract ? std::max(d, -e) : std::min(d, e);
        }
        return d;
    }
};

// A point of the domain.
Vec3f in_world(Vec3f x, const World& world)
{
    return world.stand.moved ? world.stand.open.to_world(x.as<double>()).as<float>() : x;
}

}  // namespace

PictureParams picture_params(const RenderParams& params)
{
    PictureParams p;
    p.width = params.width;
    p.height = params.height;
    p.samples = params.samples;
    p.photons = params.caustics ? params.photons : 0;
    p.path.bounces = params.bounces;
    p.path.clamp = 16;
    return p;
}

Studio::Studio(const Scene& scene) : scene_(scene)
{
    const RenderParams& render = scene.params.render;
    if (render.floor == FloorLook::image) floor_picture_ = std::make_shared<Picture>(read_picture(render.floor_image));
    // A mesh that is neither clear nor cut is shown as it is; the others by their distances.
    const std::vector<SolidParams>& solids = scene.params.solid;
    for (size_t i = solids.size(); i > 0 && !solids[i - 1].subtract; --i)
        if (solids[i - 1].shape == ShapeKind::mesh && solids[i - 1].material != SolidLook::glass)
            meshes_.emplace(i - 1, read_closed_mesh(solids[i - 1].file));
    set_lights();
}

double Studio::longest_side() const
{
    return *std::max_element(scene_.params.domain.size.begin(), scene_.params.domain.size.end());
}

Camera Studio::camera(double time, double aspect) const
{
    return make_camera(scene_.params, aspect, time);
}

void Studio::set_lights()
{
    const Camera view = camera(0, 16.0 / 9);
    // Beyond the water and to the left, as high as a late morning's.
    const Vec3f level = normalized({view.forward[0], 0, view.forward[2] + 1e-6f});
    const Vec3f usual = 0.55f * level - 0.65f * view.right + Vec3f{0, 1.0f, 0};
    const Vec3 size{scene_.params.domain.size[0], scene_.params.domain.size[1], scene_.params.domain.size[2]};

    std::vector<LightParams> lights = scene_.params.light;
    if (lights.empty()) lights.emplace_back();
    for (const LightParams& light : lights) {
        const Vec3f colour = light.color.as<float>();
        const float strength = static_cast<float>(light.strength);
        const SkyParams sky{light.direction ? light.direction->as<float>() : usual, static_cast<float>(light.haze),
                            strength};
        switch (light.kind) {
            case LightKind::sky:
                lights_.dome = sky_dome(sky);
                lights_.suns.push_back(sky_sun(sky));
                break;
            case LightKind::sun: {
                Sun sun = sky_sun(sky);
                sun.irradiance = (3 * strength) * colour;
                lights_.suns.push_back(sun);
                break;
            }
            case LightKind::area:
                lights_.areas.push_back(make_area_light(
                    light.position->as<float>(), light.target.value_or(0.5 * size).as<float>(),
                    static_cast<float>(light.width), static_cast<float>(light.height), strength * colour));
                break;
            case LightKind::image: {
                Picture picture = read_picture(light.image);
                for (Vec3f& p : picture.pixels) p = strength * (colour * p);
                lights_.dome = Dome(picture.width, picture.height, std::move(picture.pixels));
                break;
            }
        }
    }
}

void Studio::add_floor(World& world) const
{
    const RenderParams& render = scene_.params.render;
    if (render.floor == FloorLook::none) return;
    const double longest = longest_side();
    Material m;
    m.texture.colour = render.floor_color.as<float>();
    m.texture.other = 0.45f * m.texture.colour;
    m.texture.size = static_cast<float>(render.floor_size.value_or(round_length(0.22 * longest)));
    switch (render.floor) {
        case FloorLook::tiles:
            m.texture.kind = Texture::tiles;
            m.texture.other = 0.72f * m.texture.colour;
            break;
        case FloorLook::checker:
            m.texture.kind = Texture::checker;
            break;
        case FloorLook::image:
            m.texture.kind = Texture::image;
            m.texture.picture = floor_picture_;
            break;
        default:
            break;
    }
    const Reach reach = reach_of(scene_.params);
    // A little below what moves, so that nothing flickers where it touches.
    const double height = scene_.params.motion ? reach.lo[1] - 0.01 * longest : 0;
    world.floor = Floor{static_cast<float>(height), static_cast<int>(world.materials.size()),
                        Vec3{0.5 * (reach.lo[0] + reach.hi[0]), 0, 0.5 * (reach.lo[2] + reach.hi[2])}.as<float>(),
                        static_cast<float>(12 * longest)};
    world.materials.push_back(m);
}

// Water that stands free in the air looks like jelly: rods along the edges of the domain, just outside of it, tell the
// eye that there are panes.
void Studio::add_tank(World& world) const
{
    if (!scene_.params.render.tank) return;
    const WallsParams& walls = scene_.params.domain.walls;
    const WallKind sides[3][2] = {{walls.left, walls.right}, {walls.bottom, walls.top}, {walls.back, walls.front}};
    const float thick = static_cast<float>(0.005 * longest_side());
    std::vector<Vec3f> points;
    std::vector<std::array<int, 3>> triangles;
    for (int axis = 0; axis < 3; ++axis)
        for (int edge = 0; edge < 4; ++edge) {
            const int across[2] = {(axis + 1) % 3, (axis + 2) % 3}, side[2] = {edge & 1, edge >> 1};
            Vec3f lo, hi;
            lo[axis] = 0;
            hi[axis] = static_cast<float>(scene_.params.domain.size[static_cast<size_t>(axis)]);
            bool closed = true;
            for (int n = 0; n < 2; ++n) {
                const int a = across[n];
                closed = closed && sides[a][side[n]] != WallKind::open;
                const float end = static_cast<float>(scene_.params.domain.size[static_cast<size_t>(a)]);
                // The lowest rods lie on the floor.
                const bool outward = side[n] == 1 || a == 1;
                lo[a] = side[n] == 0 ? (outward ? 0 : -thick) : end;
                hi[a] = lo[a] + thick;
            }
            if (!closed) continue;
            const int first = static_cast<int>(points.size());
            for (int c = 0; c < 8; ++c)
                points.push_back({c & 1 ? hi[0] : lo[0], c & 2 ? hi[1] : lo[1], c & 4 ? hi[2] : lo[2]});
            constexpr int faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                          {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
            for (const auto& t : faces) triangles.push_back({first + t[0], first + t[1], first + t[2]});
        }
    Material m;
    m.kind = MaterialKind::plastic;
    m.roughness = 0.3f;
    m.texture.colour = {0.30f, 0.32f, 0.35f};
    for (Vec3f& x : points) x = in_world(x, world);
    world.meshes.add_triangles(points, triangles, static_cast<int>(world.materials.size()));
    world.materials.push_back(m);
}

void Studio::add_solids(World& world, const Grid<3>& grid, double time, double shutter) const
{
    if (scene_.solids.empty()) return;
    const std::vector<SolidParams>& solids = scene_.params.solid;
    const std::vector<Shape> now = scene_.solids.at(time), next = scene_.solids.at(time + shutter);
    const bool moves = shutter > 0 && scene_.solids.moving();

    // Entries that look alike make one body.
    const auto alike = [&](size_t i, size_t j) {
        return solids[i].material == solids[j].material && solids[i].color == solids[j].color &&
               solids[i].roughness == solids[j].roughness;
    };
    std::vector<bool> taken(solids.size());
    for (const auto& [i, mesh] : meshes_) {
        taken[i] = true;
        std::vector<Vec3f> points;
        std::vector<std::array<int, 3>> triangles;
        for (const Vec3& x : mesh.points) points.push_back(in_world(now[i].pose.apply(now[i].scale * x).as<float>(), world));
        for (const Cell<3>& t : mesh.triangles) triangles.push_back({t[0], t[1], t[2]});
        world.meshes.add_triangles(points, triangles, static_cast<int>(world.materials.size()));
        world.materials.push_back(material_of(solids[i]));
    }
    for (size_t i = 0; i < solids.size(); ++i) {
        if (taken[i] || solids[i].subtract) continue;
        Group group;
        for (size_t j = i; j < solids.size(); ++j)
            if (solids[j].subtract) {
                group.entries.push_back(j);
            } else if (!taken[j] && alike(i, j)) {
                group.entries.push_back(j);
                taken[j] = true;
            }

        // Distances at half the cells, over the domain and a little below the floor, at which solids end.
        const double h = 0.5 * grid.h;
        Cell<3> samples;
        for (int a = 0; a < 3; ++a) samples[a] = 2 * grid.cells[a] + 3;
        const Vec3 origin = Vec3::all(-h);
        const auto sample = [&](const std::vector<Shape>& shapes) {
            std::vector<float> values(static_cast<size_t>(samples[0]) * static_cast<size_t>(samples[1] * samples[2]));
            parallel_rows("sample solids", samples[2], [&](int z) {
                float* out = values.data() + static_cast<size_t>(z) * static_cast<size_t>(samples[0] * samples[1]);
                for (int y = 0; y < samples[1]; ++y)
                    for (int x = 0; x < samples[0]; ++x)
                        *out++ = static_cast<float>(
                            group.distance(shapes, origin + h * Vec3{double(x), double(y), double(z)}));
            });
            return values;
        };
        const std::vector<float> phi = sample(now);
        std::vector<float> later;
        if (moves) later = sample(next);
        const Vec3f lo{0, static_cast<float>(-h), 0}, hi = grid.size().as<float>();
        world.bodies.push_back({LevelSet(samples, origin.as<float>(), static_cast<float>(h), phi, lo, hi,
                                         Filter::tricubic, moves ? &later : nullptr),
                                static_cast<int>(world.materials.size())});
        world.materials.push_back(material_of(solids[i]));
    }
}

Frame3d frame_from(const FrameState<3>& state, const DropletParams& params)
{
    return {volume_of(state), {}, drops_of(state.droplets, state.grid.h, params)};
}

World Studio::set(const Frame3d& frame) const
{
    const RenderParams& render = scene_.params.render;
    const Grid<3>& grid = frame.now.grid;
    const float h = static_cast<float>(grid.h);
    const double shutter = frame.next ? scene_.params.camera.shutter * scene_.params.time.frame_seconds() : 0;
    World world;
    world.lights = lights_;
    if (scene_.params.motion)
        world.stand = {frame_pose(scene_.params, frame.now.time), frame_pose(scene_.params, frame.now.time + shutter), true};
    add_floor(world);
    add_tank(world);
    add_solids(world, grid, frame.now.time, shutter);
    if (!frame.now.density.empty()) {
        world.smoke.emplace(grid.cells, h, frame.now.density, static_cast<float>(smoke_extinction(scene_.params)),
                            render.smoke_albedo.as<float>(), static_cast<float>(render.smoke_anisotropy));
        world.make_ready();
        return world;
    }

    Material water;
    water.kind = MaterialKind::dielectric;
    water.ior = water_ior;
    water.priority = water_priority;
    water.medium = medium_of(render, longest_side());
    const int material = static_cast<int>(world.materials.size());
    world.materials.push_back(water);

    // phi at the end of the shutter, which may close before the next frame.
    std::vector<float> later;
    if (frame.next) {
        const float part = static_cast<float>(scene_.params.camera.shutter);
        later.resize(frame.now.phi.size());
        for (size_t i = 0; i < later.size(); ++i) later[i] = mix(frame.now.phi[i], frame.next->phi[i], part);
    }
    // Water stands on the floor, not on a gap above it.
    const Vec3f lo{0, -0.5f * h, 0}, hi = grid.size().as<float>();
    const Filter filter = render.surface == SurfaceFilter::tricubic ? Filter::tricubic : Filter::trilinear;
    world.bodies.push_back(
        {LevelSet(grid.cells, Vec3f::all(0.5f * h), h, frame.now.phi, lo, hi, filter, frame.next ? &later : nullptr),
         material, grid.cells, frame.now.velocity});

    // Bubbles and foam are air inside water.
    Material air = water;
    air.ior = 1;
    air.priority = bubble_priority;
    air.medium = {};
    world.materials.push_back(air);

    std::vector<Sphere> drops, bubbles;
    Vec3f lowest = Vec3f::all(endless), highest = Vec3f::all(-endless);
    for (Drop d : frame.drops) {
        if (world.stand.moved) {
            d.position = in_world(d.position, world);
            // With the frame itself, as the world sees it.
            const Vec3 there = world.stand.close.to_world(world.stand.open.to_frame(d.position.as<double>()));
            const Vec3 along = shutter > 0 ? (1 / shutter) * (there - d.position.as<double>()) : Vec3{};
            d.velocity = (world.stand.open.turn.rotate(d.velocity.as<double>()) + along).as<float>();
        }
        const bool wet = d.kind == static_cast<int>(DropletKind::droplet);
        (wet ? drops : bubbles).push_back({d.position, d.radius, static_cast<float>(shutter) * d.velocity, d.velocity});
        for (int a = 0; a < 3; ++a) {
            lowest[a] = std::min(lowest[a], d.position[a] - d.radius);
            highest[a] = std::max(highest[a], d.position[a] + d.radius);
        }
    }
    world.meshes.add_spheres(drops, material);
    world.meshes.add_spheres(bubbles, material + 1);
    if (!frame.drops.empty()) world.add_clear(lowest, highest);
    world.make_ready();
    return world;
}

}  // namespace tarn
