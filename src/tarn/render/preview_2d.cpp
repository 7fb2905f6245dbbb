// A drawing of a 2D tank: water tinted by depth and speed, its surface as a fine line, streaks along the flow, solids
// and walls; or smoke, light in the dark, warm where it is warm. Positions are counted in cells from the domain's corner, y up; widths of lines in pixels.

#include "tarn/backend/parallel.h"
#include "tarn/field/sample.h"
#include "tarn/render/color.h"
#include "tarn/render/preview.h"
#include "tarn/scene/frame.h"
#include "tarn/output/shown_levels.h"

namespace tarn {

namespace {

using Vec2f = Vec<2, float>;

const Vec3f page = srgb(0.94f, 0.95f, 0.96f);
const Vec3f air_low = srgb(0.93f, 0.96f, 0.985f), air_high = srgb(0.985f, 0.99f, 1.0f);
const Vec3f water_deep = srgb(0.03f, 0.23f, 0.52f), water_high = srgb(0.10f, 0.47f, 0.80f);
const Vec3f water_light = srgb(0.42f, 0.79f, 0.95f), surface_line = srgb(0.02f, 0.15f, 0.36f);
const Vec3f solid_fill = srgb(0.69f, 0.64f, 0.58f), solid_line = srgb(0.37f, 0.33f, 0.29f);
const Vec3f wall_line = srgb(0.27f, 0.31f, 0.36f);
const Vec3f night_low = srgb(0.10f, 0.12f, 0.17f), night_high = srgb(0.05f, 0.06f, 0.10f);
const Vec3f smoke_thin = srgb(0.45f, 0.50f, 0.58f), smoke_thick = srgb(0.95f, 0.95f, 0.94f), smoke_warm = srgb(1.0f, 0.62f, 0.30f);
const Vec3f source_tint = srgb(0.10f, 0.65f, 0.45f), sink_tint = srgb(0.85f, 0.35f, 0.20f);

// How much of a pixel lies inside an edge whose signed distance in pixels is d.
float inside(float d) { return std::clamp(0.5f - d, 0.0f, 1.0f); }
// How much of it a line covers that follows the edge.
float along(float d, float width) { return inside(std::abs(d) - 0.5f * width); }

void paint(Vec3f& canvas, Vec3f colour, float cover) { canvas = mix(canvas, colour, cover); }

// Catmull-Rom interpolation of cell-centred values: it goes through them, and its contours have no corners at the edges
// of cells, which bilinear ones have.
float smooth_sample(View<2, const float> f, Cell<2> cells, Vec2f u)
{
    int first[2];
    float weight[2][4];
    for (int a = 0; a < 2; ++a) {
        const float x = u[a] - 0.5f, whole = std::floor(x), t = x - whole;
        first[a] = static_cast<int>(whole) - 1;
        weight[a][0] = 0.5f * t * (-1 + t * (2 - t));
        weight[a][1] = 1 + 0.5f * t * t * (-5 + 3 * t);
        weight[a][2] = 0.5f * t * (1 + t * (4 - 3 * t));
        weight[a][3] = 0.5f * t * t * (t - 1);
    }
    float sum = 0;
    for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 4; ++i)
            sum += weight[0][i] * weight[1][j] *
                   f({std::clamp(first[0] + i, 0, cells[0] - 1), std::clamp(first[1] + j, 0, cells[1] - 1)});
    return sum;
}

// The same quick hash everywhere, so that the streaks' places do not depend on anything but themselves.
float scatter(int i, int j, unsigned salt)
{
    unsigned x = static_cast<unsigned>(i) * 0x9e3779b1u ^ static_cast<unsigned>(j) * 0x85ebca77u ^ salt * 0xc2b2ae3du;
    x = (x ^ (x >> 15)) * 0x2c1b3c6du;
    x = (x ^ (x >> 12)) * 0x297a2d39u;
    return static_cast<float>((x ^ (x >> 15)) >> 8) / 16777216.0f;
}

struct Drawing {
    const Water<2>& water;
    View<2, const float> phi, solid;
    FaceField<2> shown;  // of an octree
    FaceView<2, const float> velocity;
    ShownSmoke<2> smoke;
    Cell<2> cells;
    float inv_h;
    std::vector<Shape> shapes;  // the solids as the scene gives them, where it does
    std::vector<std::vector<Shape>> sources, sinks;
    WallsParams walls;
    float fast;  // m/s: the speed after falling half the domain's height
    int width = 0, height = 0;
    float scale = 1, left = 0, bottom = 0;  // pixels per cell; the corner of what is drawn in the picture
    // Of a domain that moves: the corner of all that it reaches, and how it stands there, in cells.
    Vec2f corner = {}, center = {}, origin = {};
    float cosine = 1, sine = 0;
    Vec2f extent;  // of what is drawn, in cells
    float pen = 1;                          // lines grow with the picture
    std::vector<float> streaks;
    bool grid = false;  // whether its cells are drawn

    Drawing(const Water<2>& w, const Scene& scene, int wanted_width)
        : water(w),
          phi(w.phi.view()),
          solid(w.solids.distance.view()),
          shown(w.coarse.empty() ? FaceField<2>() : ShownLevels<2>(w).velocity()),
          velocity(w.coarse.empty() ? w.velocity.view() : std::as_const(shown).view()),
          smoke(w),
          cells(w.grid.cells),
          inv_h(static_cast<float>(1 / w.grid.h)),
          shapes(scene.solids.at(w.time)),
          walls(scene.params.domain.walls)
    {
        for (const Geometry& g : scene.sources) sources.push_back(g.at(w.time));
        for (const Geometry& g : scene.sinks) sinks.push_back(g.at(w.time));
        const double g = length(scene.params.domain.gravity.at(w.time));
        grid = scene.params.output.preview_grid;
        fast = static_cast<float>(g > 0 ? std::sqrt(g * w.grid.size()[1]) : w.grid.size()[0]);

        // The domain, or all that it reaches, fills the width, unless that would make a tower of it.
        extent = cells.as<float>();
        if (scene.params.motion) stand(scene.params, w.time);
        width = std::max(2, wanted_width / 2 * 2);
        pen = std::max(1.0f, static_cast<float>(width) / 900);
        const float margin = std::max(2.0f, 0.025f * static_cast<float>(width));
        const float tallest = 1.5f * static_cast<float>(width);
        scale = std::min((static_cast<float>(width) - 2 * margin) / extent[0], (tallest - 2 * margin) / extent[1]);
        height = static_cast<int>(std::ceil((scale * extent[1] + 2 * margin) / 2)) * 2;
        left = 0.5f * (static_cast<float>(width) - scale * extent[0]);
        bottom = 0.5f * (static_cast<float>(height) + scale * extent[1]);
        streaks.assign(static_cast<size_t>(width) * static_cast<size_t>(height), 0.0f);
        if (!w.smoke) draw_streaks();
    }

    void stand(const Params& params, double time)
    {
        const Reach reach = reach_of(params);
        const FramePose pose = frame_pose(params, time);
        const Vec3 x = pose.turn.rotate({1, 0, 0});
        const auto in_cells = [&](Vec3 v) { return inv_h * take<2>(v).as<float>(); };
        corner = in_cells(reach.lo);
        extent = in_cells(reach.hi - reach.lo);
        center = in_cells(pose.center);
        origin = in_cells(pose.origin);
        cosine = static_cast<float>(x[0]);
        sine = static_cast<float>(x[1]);
    }
    Vec2f turned(Vec2f v) const { return {cosine * v[0] - sine * v[1], sine * v[0] + cosine * v[1]}; }

    Vec2f cell_at(float x, float y) const
    {
        const Vec2f d = Vec2f{(x - left) / scale, (bottom - y) / scale} + corner - origin;
        return center + Vec2f{cosine * d[0] + sine * d[1], cosine * d[1] - sine * d[0]};
    }
    Vec2f pixel_of(Vec2f u) const
    {
        const Vec2f there = origin + turned(u - center) - corner;
        return {left + scale * there[0], bottom - scale * there[1]};
    }
    // From the lowest that is drawn to the highest.
    float height_of(Vec2f u) const { return (origin + turned(u - center) - corner)[1] / extent[1]; }
    float water_at(Vec2f u) const { return inv_h * smooth_sample(phi, cells, u); }
    float solid_at(Vec2f u) const
    {
        if (!water.solids.any) return 1e9f;
        const float d = inv_h * sample(solid, locate(solid, u, cells));
        return std::abs(d) > 2 || shapes.empty() ? d : distance_to(shapes, u);
    }
    float distance_to(const std::vector<Shape>& list, Vec2f u) const
    {
        return inv_h * static_cast<float>(distance(list, lift<2>((1.0 / inv_h) * u.as<double>())));
    }
    Vec2f velocity_at(Vec2f u) const { return sample_velocity(velocity, cells, u - Vec2f::all(0.5f)); }

    // Short strokes along the flow from scattered places, as long as the flow is fast, thickening towards its head.
    void draw_streaks()
    {
        const float spacing = 14 * pen;  // pixels
        const int nx = static_cast<int>(scale * static_cast<float>(cells[0]) / spacing);
        const int ny = static_cast<int>(scale * static_cast<float>(cells[1]) / spacing);
        for (int j = 0; j <= ny; ++j)
            for (int i = 0; i <= nx; ++i) {
                const Vec2f seed{(static_cast<float>(i) + scatter(i, j, 1)) * spacing / scale,
                                 (static_cast<float>(j) + scatter(i, j, 2)) * spacing / scale};
                draw_streak(seed, spacing);
            }
    }

    void draw_streak(Vec2f seed, float spacing)
    {
        constexpr int steps = 10;
        if (!flows_at(seed)) return;
        const float speed = length(velocity_at(seed));
        const float strength = smoothstep(0.02f, 0.25f, speed / fast);
        if (strength <= 0.02f) return;
        // All strokes last equally long, but none grows beyond a few spacings.
        const float reach = std::min(3.0f * spacing * speed / fast, 2.6f * spacing) / scale;  // cells
        const float dt = reach / (speed * inv_h * steps);
        Vec2f x = seed, points[steps + 1] = {seed};
        int n = 1;
        for (; n <= steps; ++n) {
            // The midpoint rule.
            const Vec2f middle = x + (0.5f * dt * inv_h) * velocity_at(x);
            x += (dt * inv_h) * velocity_at(middle);
            if (!flows_at(x)) break;
            points[n] = x;
        }
        for (int k = 1; k < n; ++k) {
            const float head = static_cast<float>(k) / steps;
            stroke(points[k - 1], points[k], pen * (0.5f + 0.9f * head), 0.52f * strength * head);
        }
    }
    bool flows_at(Vec2f u) const
    {
        if (u[0] < 0 || u[1] < 0 || u[0] > static_cast<float>(cells[0]) || u[1] > static_cast<float>(cells[1]))
            return false;
        return inv_h * sample_cells(phi, cells, u - Vec2f::all(0.5f)) < -0.2f && solid_at(u) > 0;
    }

    void stroke(Vec2f from, Vec2f to, float thick, float strength)
    {
        const Vec2f a = pixel_of(from), b = pixel_of(to);
        const Vec2f d = b - a;
        const float square = std::max(dot(d, d), 1e-12f), reach = 0.5f * thick + 1;
        const auto range = [&](int axis, int end) {
            return std::pair{std::max(0, static_cast<int>(std::min(a[axis], b[axis]) - reach)),
                             std::min(end - 1, static_cast<int>(std::max(a[axis], b[axis]) + reach))};
        };
        const auto [x0, x1] = range(0, width);
        const auto [y0, y1] = range(1, height);
        for (int y = y0; y <= y1; ++y)
            for (int x = x0; x <= x1; ++x) {
                const Vec2f p{static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f};
                const Vec2f off = p - a - std::clamp(dot(p - a, d) / square, 0.0f, 1.0f) * d;
                float& s = streaks[static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)];
                s = std::max(s, strength * along(length(off), thick));
            }
    }

    // The distance, in pixels, to the lines of the grid: on tall cells columns, the cells of their rows, and below the rows at which tall cells end.
    float on_grid(Vec2f u) const
    {
        const TallColumns& columns = water.tall.columns;
        const int column = std::clamp(static_cast<int>(u[0]), 0, cells[0] - 1);
        float nearest = std::min(u[0] - static_cast<float>(column), static_cast<float>(column + 1) - u[0]);
        if (columns.row.empty()) return scale * std::min(nearest, std::fabs(u[1] - std::round(u[1])));
        const int first = columns.start[static_cast<size_t>(column)], end = columns.start[static_cast<size_t>(column) + 1];
        for (int n = first; n < end; ++n) {
            const int row = columns.row[static_cast<size_t>(n)];
            const bool tall_below = n > first && columns.row[static_cast<size_t>(n) - 1] + 1 < row;
            const bool tall_above = n + 1 < end && columns.row[static_cast<size_t>(n) + 1] > row + 1;
            const float y = static_cast<float>(row);
            if (!tall_below || !tall_above) nearest = std::min({nearest, std::fabs(u[1] - y), std::fabs(u[1] - y - 1)});
            else nearest = std::min(nearest, std::fabs(u[1] - y - 0.5f));
        }
        return scale * nearest;
    }

    Vec3f water_colour(Vec2f u, float depth) const
    {
        // Light from above fades downwards, and comes in through the surface nearby.
        const float y = height_of(u);
        const float lit = 0.38f * std::exp(-std::max(depth, 0.0f) / 2.2f);
        const float speed = std::min(length(velocity_at(u)) / fast, 1.5f);
        return mix(mix(water_deep, water_high, std::min(1.0f, 0.15f + y)), water_light,
                   std::min(0.85f, lit + 0.32f * speed));
    }

    // Density one is all but opaque over a tenth of the domain's height, which is as deep as it is taken to be.
    Vec3f smoke_colour(Vec2f u) const
    {
        const float density = std::max(0.0f, smooth_sample(smoke.density().view(), cells, u));
        const float warmth = std::abs(smooth_sample(smoke.temperature().view(), cells, u));
        const float thick = 1 - std::exp(-2.5f * density);
        const Vec3f own = mix(mix(smoke_thin, smoke_thick, thick), smoke_warm, 0.6f * (1 - std::exp(-warmth / 150)));
        return mix(mix(night_low, night_high, std::clamp(height_of(u), 0.0f, 1.0f)), own, thick);
    }

    // A region of the scene: a faint tint with a dashed rim.
    void paint_region(Vec3f& canvas, const std::vector<Shape>& region, Vec2f u, float x, float y, Vec3f tint) const
    {
        const float d = scale * distance_to(region, u);
        const bool dash = std::fmod(x + y, 8 * pen) < 4.5f * pen;
        paint(canvas, tint, 0.14f * inside(d) + (dash ? 0.55f * along(d, 1.2f * pen) : 0));
    }

    Vec3f colour_at(int px, int py) const
    {
        const float x = static_cast<float>(px) + 0.5f, y = static_cast<float>(py) + 0.5f;
        const Vec2f u = cell_at(x, y);
        const float w = static_cast<float>(cells[0]), h = static_cast<float>(cells[1]);
        // Distance to the walls, in pixels, negative inside the domain.
        const float wall = scale * std::max({-u[0], u[0] - w, -u[1], u[1] - h});
        Vec3f canvas = page;
        if (wall < 1) {
            Vec3f tank = water.smoke ? smoke_colour(u) : mix(air_low, air_high, std::clamp(height_of(u), 0.0f, 1.0f));
            const float depth = water.smoke ? 0 : -water_at(u), surface = -scale * depth;
            if (!water.smoke && surface < 3 * pen) {
                Vec3f wet = water_colour(u, depth);
                paint(wet, Vec3f::all(1),
                      streaks[static_cast<size_t>(py) * static_cast<size_t>(width) + static_cast<size_t>(px)]);
                if (grid) paint(wet, Vec3f::all(1), 0.35f * along(on_grid(u), std::min(1.0f, 0.2f * scale)));
                paint(tank, wet, inside(surface));
                paint(tank, surface_line, 0.85f * along(surface, 1.5f * pen));
            }
            for (const auto& region : sources) paint_region(tank, region, u, x, y, source_tint);
            for (const auto& region : sinks) paint_region(tank, region, u, x, y, sink_tint);
            if (const float rim = scale * solid_at(u); rim < 3 * pen) {
                paint(tank, solid_fill, inside(rim));
                paint(tank, solid_line, along(rim + 0.7f * pen, 1.6f * pen));
            }
            paint(canvas, tank, inside(wall));
        }
        const float line = along(wall - 0.9f * pen, 2.2f * pen);
        if (line > 0) {
            // The wall that this pixel belongs to; an open one is only dashed.
            const float to_wall[4] = {u[0], w - u[0], u[1], h - u[1]};
            const WallKind kinds[4] = {walls.left, walls.right, walls.bottom, walls.top};
            const int nearest = static_cast<int>(std::min_element(to_wall, to_wall + 4) - to_wall);
            const bool open = kinds[nearest] == WallKind::open;
            const bool dash = std::fmod(nearest < 2 ? y : x, 12 * pen) < 6 * pen;
            if (!open || dash) paint(canvas, wall_line, (open ? 0.45f : 1.0f) * line);
        }
        return canvas;
    }
};

}  // namespace

template <>
Image preview(const Water<2>& water, const Scene& scene, int width)
{
    const Drawing drawing(water, scene, width);
    Image image{drawing.width, drawing.height, {}};
    image.rgb.resize(3 * static_cast<size_t>(image.width) * static_cast<size_t>(image.height));
    parallel_rows("draw", image.height, [&](int y) {
        for (int x = 0; x < image.width; ++x) {
            const Vec3f colour = drawing.colour_at(x, y);
            uint8_t* out =
                &image.rgb[3 * (static_cast<size_t>(y) * static_cast<size_t>(image.width) + static_cast<size_t>(x))];
            for (int c = 0; c < 3; ++c) out[c] = to_byte(to_srgb(colour[c]));
        }
    });
    for (const Drop& drop : drops_of(water, scene.params.droplets)) {
        const Vec2f at = drawing.pixel_of(drawing.inv_h * Vec2f{drop.position[0], drop.position[1]});
        const Vec2f along = drawing.turned({drop.velocity[0], drop.velocity[1]});
        paint_drop(image, at[0], at[1], drawing.scale * drawing.inv_h * drop.radius, drop, {along[0], -along[1]}, drop.id >= 0);
    }
    return image;
}

}  // namespace tarn
