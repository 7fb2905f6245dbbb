// What the quick pictures must show, whatever their taste.

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "output_water.h"
#include "read_png.h"
#include "tarn/backend/parallel.h"
#include "tarn/base/error.h"
#include "tarn/output/files.h"
#include "tarn/render/camera.h"
#include "tarn/render/preview.h"
#include "temporary_folder.h"

namespace tarn {
namespace {

struct Pixel {
    int r, g, b;
    // Water takes away red, and nothing else in these pictures is as blue as it.
    bool blue() const { return b > r + 40; }
};

Pixel pixel(const Image& image, int x, int y)
{
    const uint8_t* p =
        &image.rgb[3 * (static_cast<size_t>(y) * static_cast<size_t>(image.width) + static_cast<size_t>(x))];
    return {p[0], p[1], p[2]};
}

// A tank of unit size seen straight through its front, so that a pixel's place in the tank is known.
Scene front_view()
{
    Scene scene;
    scene.params.domain.size = {1, 1, 1};
    scene.params.camera.position = Vec3{0.5, 0.5, 3};
    scene.params.camera.target = Vec3{0.5, 0.5, 0.5};
    return scene;
}

Water<3> tank_with(double height)
{
    return water_of<3>({24, 24, 24}, 1.0 / 24, [&](Vec3 x) { return x[1] - height; });
}

TEST(preview, pictures_have_even_sides)
{
    const Water<3> w = tank_with(0.5);
    for (const int width : {64, 65, 101}) {
        const Image image = preview(w, front_view(), width);
        EXPECT_EQ(image.width, width / 2 * 2);
        EXPECT_EQ(image.height % 2, 0);
        EXPECT_NEAR(static_cast<double>(image.width) / image.height, 16.0 / 9, 0.1);
        EXPECT_EQ(image.rgb.size(), 3u * static_cast<size_t>(image.width * image.height));
    }
    for (const Cell<2> cells : {Cell<2>{31, 17}, Cell<2>{8, 60}}) {
        const Image image = preview(water_of<2>(cells, 0.1, [](Vec2 x) { return x[1] - 0.5; }), Scene{}, 121);
        EXPECT_EQ(image.width % 2, 0);
        EXPECT_EQ(image.height % 2, 0);
        EXPECT_LE(image.height, 2 * image.width) << "a tall domain does not make a tower";
    }
}

TEST(preview, water_stands_against_the_glass_without_a_hole)
{
    const Image image = preview(tank_with(0.6), front_view(), 320);
    // The front wall is 2.5 away: half the picture's height is 2.5 tan(20 degrees) = 0.91 there, so that the tank's
    // front spans the heights 41 to 139 and the columns 111 to 209, and its water begins at 80.
    for (int y = 84; y < 136; y += 4)
        for (int x = 115; x < 206; x += 6) EXPECT_TRUE(pixel(image, x, y).blue()) << x << ' ' << y;
    for (int x = 115; x < 206; x += 6) EXPECT_FALSE(pixel(image, x, 60).blue()) << "air is not water, at " << x;
}

TEST(preview, the_deeper_the_water_the_bluer)
{
    // The same view through tanks of the same scale that hold a thin and a thick layer of water before the back wall.
    const auto layer = [](double depth) {
        return preview(water_of<3>({24, 24, 24}, 1.0 / 24, [&](Vec3 x) { return x[2] - depth; }), front_view(), 160);
    };
    const Pixel none = pixel(layer(-1), 80, 55), thin = pixel(layer(0.15), 80, 55), thick = pixel(layer(0.9), 80, 55);
    EXPECT_LT(thin.r, none.r);
    EXPECT_LT(thick.r, thin.r);
    EXPECT_GT(thick.b, thick.r + 40);
}

TEST(preview, a_solid_is_seen_inside_the_water)
{
    Water<3> w = tank_with(0.8);
    const Scene scene = front_view();
    const Pixel before = pixel(preview(w, scene, 160), 80, 45);
    add_solid(w, [](Vec3 x) { return length(x - Vec3{0.5, 0.5, 0.8}) - 0.15; });
    const Pixel after = pixel(preview(w, scene, 160), 80, 45);
    EXPECT_GT(after.r, before.r) << "a warm solid before blue water";
}

// A scene with a ball of that colour before the back wall, and its water.
Image with_ball(std::optional<Vec3> colour, double height, RenderParams render = {})
{
    Scene scene = front_view();
    scene.params.render = render;
    SolidParams ball;
    ball.shape = ShapeKind::sphere;
    ball.center = Vec3{0.5, 0.5, 0.5};
    ball.radius = 0.2;
    ball.color = colour;
    scene.params.solid = {ball};
    scene.solids = Geometry::build({&scene.params.solid[0]}, 3, {}, "x.toml");
    Water<3> w = tank_with(height);
    add_solid(w, [](Vec3 x) { return length(x - Vec3{0.5, 0.5, 0.5}) - 0.2; });
    return preview(w, scene, 160);
}

TEST(preview, a_solid_has_its_color)
{
    const Pixel red = pixel(with_ball(Vec3{0.9, 0.05, 0.05}, 0.1), 80, 45);
    const Pixel green = pixel(with_ball(Vec3{0.05, 0.9, 0.05}, 0.1), 80, 45);
    const Pixel plain = pixel(with_ball({}, 0.1), 80, 45);
    EXPECT_GT(red.r, 2 * red.g);
    EXPECT_GT(green.g, 2 * green.r);
    EXPECT_LT(std::abs(plain.r - plain.g), 60);
}

TEST(preview, water_looks_as_render_says)
{
    RenderParams clear, milk, murky, tinted;
    clear.water = WaterLook::clear;
    milk.water = WaterLook::milk;
    murky.water = WaterLook::murky;
    tinted.absorption = Vec3{0, 8, 8};
    const auto seen = [](const RenderParams& r) { return pixel(with_ball(Vec3{0.9, 0.05, 0.05}, 0.9, r), 80, 45); };
    // A red ball half a metre deep: plain in clear water, gone in milk.
    EXPECT_GT(seen(clear).r, seen(RenderParams{}).r + 30);
    EXPECT_GT(seen(clear).r, 2 * seen(clear).g);
    EXPECT_LT(std::abs(seen(milk).r - seen(milk).g), 20);
    EXPECT_GT(seen(milk).g, 120);
    EXPECT_GT(seen(murky).g, seen(clear).g);
    EXPECT_LT(seen(tinted).b, seen(clear).b);
}

TEST(preview, the_tank_is_shown_or_not)
{
    // Its front edges stand before the sky and the floor.
    const auto edges = [](bool tank) {
        Scene scene = front_view();
        scene.params.render.tank = tank;
        return preview(tank_with(0.05), scene, 160).rgb;
    };
    EXPECT_NE(edges(true), edges(false));
}

TEST(preview, drops_behind_water_are_hidden)
{
    const auto drawn = [](double z, DropletKind kind) {
        Water<3> w = water_of<3>({24, 24, 24}, 1.0 / 24, [](Vec3 x) { return std::abs(x[2] - 0.5) - 0.15; });
        const Image without = preview(w, front_view(), 160);
        std::vector<Droplet<3>> drops(1);
        drops[0].x = {11.5, 11.5, 24 * z - 0.5};
        drops[0].volume = 4;
        drops[0].kind = kind;
        write_fragments(w.droplets, drops);
        return preview(w, front_view(), 160).rgb != without.rgb;
    };
    // A wall of water stands across the tank, from 0.35 to 0.65 m; the camera looks from beyond 1 m.
    EXPECT_TRUE(drawn(0.8, DropletKind::droplet));
    EXPECT_FALSE(drawn(0.2, DropletKind::droplet));
    EXPECT_TRUE(drawn(0.5, DropletKind::bubble));
}

TEST(preview, the_picture_is_the_same_on_any_number_of_threads)
{
    const Water<3> w = water_of<3>({32, 32, 32}, 1.0 / 32, [](Vec3 x) {
        return std::min(x[1] - 0.3 - 0.05 * std::sin(12 * x[0] + 5 * x[2]), length(x - Vec3{0.5, 0.7, 0.5}) - 0.1);
    });
    set_threads(1);
    const Image one = preview(w, Scene{}, 128);
    set_threads(3);
    const Image three = preview(w, Scene{}, 128);
    set_threads(0);
    EXPECT_EQ(one.rgb, three.rgb);
}

TEST(preview, a_painter_keeps_nothing_of_the_picture_before)
{
    const Scene scene = front_view();
    const Water<3> high = tank_with(0.8), low = tank_with(0.3);
    Painter painter(scene, low.grid, 160);
    (void)painter.draw(high.phi, high.solids, 0);
    EXPECT_EQ(painter.image(painter.draw(low.phi, low.solids, 0).data()).rgb, preview(low, scene, 160).rgb);
}

TEST(preview, the_whole_tank_is_framed)
{
    for (const Vec3 size : {Vec3{1, 1, 1}, Vec3{4, 0.5, 1}, Vec3{0.3, 2, 0.3}, Vec3{1, 1, 5}}) {
        const Camera camera = make_camera(CameraParams{}, size, 16.0 / 9, 0);
        float fullest = 0;
        for (int c = 0; c < 8; ++c) {
            const Vec3f corner = Vec3{c & 1 ? size[0] : 0, c & 2 ? size[1] : 0, c & 4 ? size[2] : 0}.as<float>();
            const Vec3f to = corner - camera.position;
            const float z = dot(to, camera.forward);
            ASSERT_GT(z, 0);
            fullest = std::max({fullest, std::abs(dot(to, camera.right) / (z * camera.tan_x)),
                                std::abs(dot(to, camera.up) / (z * camera.tan_y))});
        }
        EXPECT_LE(fullest, 1) << "a corner is cut off";
        EXPECT_GT(fullest, 0.8) << "the tank is lost in the picture";
    }
}

TEST(preview, the_drawn_surface_lies_where_phi_is_zero)
{
    const double height = 0.37;
    const Water<2> w = water_of<2>({20, 20}, 0.05, [&](Vec2 x) { return x[1] - height; });
    const Image image = preview(w, Scene{}, 400);
    const int x = image.width / 2;
    int top = 0;
    while (top < image.height && !pixel(image, x, top).blue()) ++top;
    // The margin is a fortieth of the width; the line itself is some two pixels thick.
    const double expected = 0.5 * image.height + 0.5 * 380 - height * 380;
    EXPECT_NEAR(top, expected, 2);
}

TEST(preview, png_gives_back_every_pixel)
{
    const TemporaryFolder folder;
    const Image image = preview(tank_with(0.5), front_view(), 64);
    write_png(folder / "a.png", image);
    const Image read = read_png(folder / "a.png");
    EXPECT_EQ(read.width, image.width);
    EXPECT_EQ(read.rgb, image.rgb);
}

TEST(preview, frames_become_a_movie)
{
    const TemporaryFolder folder;
    const std::string dir = folder / "50%d o'clock";  // nothing in a name may be taken for syntax
    std::filesystem::create_directories(dir + "/preview");
    EXPECT_THROW(make_preview_movie(dir, 30), RunError) << "no pictures";
    const Image image = preview(tank_with(0.5), front_view(), 64);
    for (const char* frame : {"0003", "0004", "0005"}) write_png(dir + "/preview/frame_" + frame + ".png", image);
    make_preview_movie(dir, 30);
    EXPECT_EQ(read_file(dir + "/movie.mp4").substr(4, 4), "ftyp");
    EXPECT_FALSE(std::filesystem::exists(dir + "/movie.mp4.log"));

    write_png(dir + "/preview/frame_0009.png", image);
    EXPECT_THROW(make_preview_movie(dir, 30), RunError) << "a gap would cut the movie short";
}

}  // namespace
}  // namespace tarn
