// A picture of the tank, drawn by following each ray through its refractions: kernels over cells, texels and pixels, so
// that a GPU draws from the phi that it holds.

#include "tarn/backend/atomic.h"
#include "tarn/backend/parallel.h"
#include "tarn/output/shown_levels.h"
#include "tarn/render/preview.h"
#include "tarn/render/preview_smoke.h"
#include "tarn/render/preview_world.h"

namespace tarn {

namespace {

using namespace drawing;
using drawing::Landing, drawing::World;

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

// How much sunlight gets to each block of cells.
void light_smoke(Field<3>& sunlit, const SmokeView& smoke, const World& world, const Tiles<3>& blocks)
{
    const auto to = sunlit.view();
    const Vec3f sun = world.sun;
    parallel_for("light the smoke", blocks, [=] TARN_KERNEL(Cell<3> b) {
        to(b) = smoke.passes({SmokeView::width * (b.as<float>() + Vec3f::all(0.5f)), sun});
    });
}

// The floor behind smoke is darker.
void shade_floor(Field<2, Vec3f>& light, const SmokeView& smoke, const World& world, const Tiles<2>& texels)
{
    const auto to = light.view();
    const FloorMap m = world.floor_map;
    const Vec3f sun = world.sun;
    const float floor = world.outside.floor;
    parallel_for("shade the floor", texels, [=] TARN_KERNEL(Cell<2> t) {
        const Vec3f x{m.x0 + (static_cast<float>(t[0]) + 0.5f) * m.texel, floor, m.z0 + (static_cast<float>(t[1]) + 0.5f) * m.texel};
        to(t) = smoke.passes({x, sun}) * to(t);
    });
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
    SmokeView smoke = {};

    TARN_HD Vec3f colour_at(float x, float y, float& clear) const
    {
        const Vec3f d =
            camera.direction(2 * x / static_cast<float>(size[0]) - 1, 1 - 2 * y / static_cast<float>(size[1]));
        const Ray ray{camera.position, d};
        const Vec3f light = world.seen(ray, clear);
        return developed(smoke.any() ? smoke.over(light, ray, clear, world.colours) : light);
    }
    TARN_HD Vec3f once(Cell<2> p, float& clear) const
    {
        return colour_at(static_cast<float>(p[0]) + 0.5f, static_cast<float>(p[1]) + 0.5f, clear);
    }
    // Four more rays, on a rotated square.
    TARN_HD Vec3f again(Cell<2> p) const
    {
        const float x[] = {0.125f, 0.625f, 0.875f, 0.375f}, y[] = {0.375f, 0.125f, 0.625f, 0.875f};
        Vec3f sum;
        float clear = 0;
        for (int n = 0; n < 4; ++n)
            sum += colour_at(static_cast<float>(p[0]) + x[n], static_cast<float>(p[1]) + y[n], clear);
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
    Camera camera = make_camera(scene.params, static_cast<double>(picture[0]) / picture[1], time);
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

// What each solid reflects; a shape that is cut out shows the solid before it.
std::vector<Vec3f> colours_of(const Scene& scene)
{
    const Vec3f plaster = srgb(0.91f, 0.80f, 0.67f);
    std::vector<Vec3f> colours;
    for (const SolidParams& solid : scene.params.solid) {
        const bool own = !solid.subtract || colours.empty();
        colours.push_back(!own ? colours.back() : solid.color ? solid.color->as<float>() : plaster);
    }
    if (colours.empty()) colours.push_back(plaster);
    return colours;
}

float luminance_of(Vec3 c) { return static_cast<float>(0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]); }

template <int D>
Tiles<D> tiles_of(Cell<D> cells)
{
    return all_tiles(Grid<D>(cells, 1));
}

}  // namespace

struct Painter::Workspace {
    const Scene& scene;
    const Tiles<2> pixels;
    const World empty;
    const Tiles<3> cells, blocks;
    const Tiles<2> texels;
    Field<3, int> rings[2];
    Field<2, Vec3f> light[2];
    Field<2, Parts> landed;
    Field<2, Vec3f> once;  // the picture with one ray a pixel
    const std::vector<Vec3f> colours;
    DeviceCopy kernels_colours;
    Memory<uint8_t> drawn;  // depths, then colours
    Field<3> sunlit;        // only of smoke

    // Made when there is smoke.
    Tiles<3> smoke_blocks()
    {
        Cell<3> n;
        for (int a = 0; a < 3; ++a) n[a] = (cells.grid.cells[a] + SmokeView::width - 1) / SmokeView::width;
        const Tiles<3> tiles = tiles_of(n);
        if (sunlit.size() == 0) sunlit = Field<3>(tiles.grid);
        return tiles;
    }

    Workspace(const Scene& s, const Grid<3>& grid, int width)
        : scene(s),
          pixels(tiles_of(size_of_picture(width))),
          empty(grid, s.params, camera_of(s, grid, pixels.grid.cells, 0), pixels.grid.cells[0]),
          cells(all_tiles(grid)),
          blocks(tiles_of(TileMap<3>(grid).count)),
          texels(tiles_of(empty.floor_map.texels)),
          landed(texels.grid),
          once(pixels.grid),
          colours(colours_of(s)),
          drawn((sizeof(float) + 3) * static_cast<size_t>(pixels.grid.count()))
    {
        static_assert(Gaps::width == tile_size);
        for (auto& r : rings) r = Field<3, int>(blocks.grid);
        for (auto& l : light) l = Field<2, Vec3f>(texels.grid);
    }
};

Painter::Painter(const Scene& scene, const Grid<3>& grid, int width) : room_(std::make_unique<Workspace>(scene, grid, width))
{
}
Painter::~Painter() = default;

int Painter::width() const { return room_->pixels.grid.cells[0]; }
int Painter::height() const { return room_->pixels.grid.cells[1]; }

const Memory<uint8_t>& Painter::draw(const Field<3>& phi, const Solids<3>& solids, double time, const Field<3>* smoke)
{
    Workspace& workspace = *room_;
    World world = workspace.empty;
    const KernelShapes shapes = workspace.scene.solids.for_kernels(time, {workspace.cells.grid.size(), workspace.cells.grid.h});
    world.place(workspace.scene.params, time);
    world.tank.phi = phi.view();
    world.tank.solid = solids.distance.view();
    world.tank.has_solid = solids.any && !all_glass(workspace.scene);
    if (!workspace.scene.solids.empty()) world.tank.shapes = shapes.view();
    find_gaps(workspace.rings[0], workspace.rings[1], world.tank.phi, workspace.cells, workspace.blocks);
    world.tank.gaps = {std::as_const(workspace.rings[0]).view(), workspace.blocks.grid.cells};
    world.solid_colours = workspace.kernels_colours.of(workspace.colours.data(), workspace.colours.size());
    light_floor(workspace.light[0], workspace.light[1], workspace.landed, world, workspace.texels);
    SmokeView seen;
    if (smoke) {
        const Tiles<3> smoke_blocks = workspace.smoke_blocks();
        seen = {smoke->view(), {}, world.tank.cells, smoke_blocks.grid.cells, world.tank.size,
                static_cast<float>(smoke_extinction(workspace.scene.params) * workspace.cells.grid.h),
                luminance_of(workspace.scene.params.render.smoke_albedo)};
        light_smoke(workspace.sunlit, seen, world, smoke_blocks);
        seen.sunlit = std::as_const(workspace.sunlit).view();
        shade_floor(workspace.light[0], seen, world, workspace.texels);
    }
    world.floor_map.light = std::as_const(workspace.light[0]).view();

    const Cell<2> size = workspace.pixels.grid.cells;
    Camera camera = camera_of(workspace.scene, workspace.cells.grid, size, time);
    camera.position = world.outside.point_in(camera.position);
    for (Vec3f* d : {&camera.forward, &camera.right, &camera.up}) *d = world.outside.in(*d);
    const Shot shot{world, camera, size, seen};
    const auto once = workspace.once.view();
    float* const depth = reinterpret_cast<float*>(workspace.drawn.data());
    const float h = static_cast<float>(workspace.cells.grid.h);
    parallel_for("preview", workspace.pixels, [=] TARN_KERNEL(Cell<2> p) {
        float clear = 0;
        once(p) = shot.once(p, clear);
        depth[p[1] * shot.size[0] + p[0]] = h * clear;
    });

    // Where neighbours differ much there is an edge, a drop or a glint.
    const View<2, const Vec3f> from = once;
    uint8_t* const rgb = workspace.drawn.data() + sizeof(float) * static_cast<size_t>(workspace.pixels.grid.count());
    parallel_for("smooth edges", workspace.pixels, [=] TARN_KERNEL(Cell<2> p) {
        Vec3f colour = from(p);
        if (contrast(from, shot.size, p) > 0.06f) colour = 0.2f * (colour + shot.again(p));
        uint8_t* const there =
            rgb + 3 * (static_cast<size_t>(p[1]) * static_cast<size_t>(shot.size[0]) + static_cast<size_t>(p[0]));
        for (int c = 0; c < 3; ++c) there[c] = to_byte(colour[c]);
    });
    return workspace.drawn;
}

Image Painter::image(const uint8_t* drawn) const
{
    const size_t pixels = static_cast<size_t>(room_->pixels.grid.count());
    Image image{width(), height(), std::vector<uint8_t>(3 * pixels), std::vector<float>(pixels)};
    backend::copy(image.depth.data(), drawn, pixels * sizeof(float));
    backend::copy(image.rgb.data(), drawn + pixels * sizeof(float), image.rgb.size());
    return image;
}

template <>
Image preview(const Water<3>& water, const Scene& scene, int width)
{
    Painter painter(scene, water.grid, width);
    // Smoke has no surface: everywhere is dry.
    Field<3> dry;
    if (water.smoke) dry = distance_field(water.grid, static_cast<float>(largest(water.grid.size().as<float>())));
    const ShownSmoke<3> smoke(water);
    Image image = painter.image(
        painter.draw(water.smoke ? dry : water.phi, water.solids, water.time, water.smoke ? &smoke.density() : nullptr).data());
    paint_drops(image, drops_of(water, scene.params.droplets), scene, water.time);
    return image;
}

}  // namespace tarn
