// What `tarn render` reads and leaves.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <set>

#include "output_water.h"
#include "read_png.h"
#include "run_helpers.h"
#include "tarn/base/error.h"
#include "tarn/output/particles.h"
#include "tarn/render/camera.h"
#include "tarn/render/denoise.h"
#include "tarn/render/film.h"
#include "tarn/run/kept.h"
#include "temporary_folder.h"

namespace tarn {
namespace {

using testing::difference;
using testing::Outcome;
using testing::ProgramTest;

const std::string pool = R"(tarn = 1
[domain]
size = [1, 0.75, 0.5]
cells = 16
[[water]]
shape = "box"
min = [0, 0, 0]
max = [1, 0.3, 0.5]
[[water]]
shape = "sphere"
center = [0.5, 0.55, 0.25]
radius = 0.12
[[solid]]
shape = "cylinder"
center = [0.8, 0.2, 0.25]
radius = 0.08
height = 0.4
material = "glass"
[time]
frames = 2
[output]
surface = "none"
preview = false
[render]
width = 64
height = 36
samples = 4
photons = 2000
denoise = false
)";

TEST(Frames, are_named_as_people_do)
{
    EXPECT_EQ(frames_named("12"), (std::vector<int>{12}));
    EXPECT_EQ(frames_named("1-4,2,9"), (std::vector<int>{1, 2, 3, 4, 9}));
    EXPECT_EQ(frames_named("0-10/5"), (std::vector<int>{0, 5, 10}));
    for (const char* bad : {"", "a", "1-", "4-1", "1,,2", "1-9/0", "-3"})
        EXPECT_THROW(frames_named(bad), InputError) << bad;
}

TEST(Exr, keeps_light_as_it_is)
{
    const TemporaryFolder folder;
    Film film(3, 2);
    film.samples = 2;
    for (size_t i = 0; i < film.pixels(); ++i)
        for (int s = 0; s < 2; ++s) film.add(i, s, {float(i), 0.25f, 40}, {{1, 1, 1}, {0, 1, 0}, {}, 2});
    std::vector<Vec3f> light;
    for (size_t i = 0; i < film.pixels(); ++i) light.push_back(film.mean(i));
    write_exr(folder / "a.exr", film, light);
    const Picture back = read_picture(folder / "a.exr");
    ASSERT_EQ(back.width, 3);
    ASSERT_EQ(back.height, 2);
    EXPECT_EQ(back.pixels[4], (Vec3f{4, 0.25f, 40}));
    EXPECT_THROW(read_picture(folder / "none.exr"), InputError);
    EXPECT_THROW(read_picture(folder / "none.png"), InputError);
}

// Noise falls and an edge between two things stays.
TEST(Denoiser, smooths_noise_and_keeps_edges)
{
    Film film(40, 20);
    film.samples = 8;
    for (size_t i = 0; i < film.pixels(); ++i) {
        const bool right = i % 40 >= 20;
        for (int s = 0; s < 8; ++s) {
            Random random(static_cast<uint32_t>(i), static_cast<uint32_t>(s), 1);
            const float light = (right ? 0.2f : 0.8f) + 0.4f * (random.next() - 0.5f);
            film.add(i, s, Vec3f::all(light), {Vec3f::all(right ? 0.3f : 0.9f), {0, 1, 0}, {}, 1});
        }
    }
    const std::vector<Vec3f> clean = denoise(film);
    double before = 0, after = 0;
    for (size_t i = 0; i < film.pixels(); ++i) {
        const double truth = i % 40 >= 20 ? 0.2 : 0.8;
        before += std::pow(film.mean(i)[1] - truth, 2);
        after += std::pow(clean[i][1] - truth, 2);
    }
    EXPECT_LT(after, before / 16);
}

TEST(Camera, follows_its_keyframes_and_orbits)
{
    CameraParams params;
    params.position = Keyed<Vec3>(Vec3{0, 1, 5});
    params.position->keys = {{0, {0, 1, 5}}, {2, {4, 1, 5}}};
    params.target = Vec3{0, 1, 0};
    EXPECT_NEAR(make_camera(params, {1, 1, 1}, 1, 1).position[0], 2, 1e-6);
    EXPECT_NEAR(make_camera(params, {1, 1, 1}, 1, 0).focus, 5, 1e-5);
    params.position = Vec3{0, 1, 5};
    params.orbit = 90;
    const Camera quarter = make_camera(params, {1, 1, 1}, 1, 1);
    EXPECT_NEAR(quarter.position[0], 5, 1e-5);
    EXPECT_NEAR(quarter.position[2], 0, 1e-5);
    EXPECT_NEAR(quarter.forward[0], -1, 1e-5);
}

class RenderProgram : public ProgramTest {};

TEST_F(RenderProgram, renders_a_run_and_skips_what_is_there)
{
    write("pool.toml", pool);
    ASSERT_EQ(tarn({"run", "pool.toml", "--quiet", "--set", "output.render=true", "--set", "output.preview=true"}).code, 0);
    for (const char* frame : {"0000", "0001", "0002"})
        for (const char* ending : {"png", "exr", "done"})
            EXPECT_TRUE(exists(std::string("out/pool/render/frame_") + frame + "." + ending));
    // The movie of the drawings stays.
    for (const char* file : {"movie.mp4", "render.mp4", "preview/frame_0002.png"})
        EXPECT_TRUE(exists(std::string("out/pool/") + file)) << file;
    const Image image = read_png(folder / "out/pool/render/frame_0001.png");
    EXPECT_EQ(image.width, 64);
    EXPECT_EQ(image.height, 36);

    // Once more: nothing to do, nothing changed. Asked for it, the same bytes, on one thread as on all.
    const auto before = tree("out/pool/render");
    const Outcome again = tarn({"render", "out/pool"});
    EXPECT_EQ(again.code, 0);
    EXPECT_NE(again.out.find("3 were there"), std::string::npos) << again.out;
    ASSERT_EQ(tarn({"render", "out/pool", "--again", "--threads", "1", "--quiet"}).code, 0);
    EXPECT_EQ(difference(before, tree("out/pool/render")), "");

    // A frame that another machine works on is left to it.
    std::filesystem::remove(folder / "out/pool/render/frame_0001.done");
    write("out/pool/render/frame_0001.claim", "");
    const Outcome beside = tarn({"render", "out/pool"});
    EXPECT_NE(beside.out.find("1 are being made elsewhere"), std::string::npos) << beside.out;
    EXPECT_FALSE(exists("out/pool/render/frame_0001.done"));
    // Until it has been gone for long.
    const auto past = std::filesystem::file_time_type::clock::now() - std::chrono::minutes(10);
    std::filesystem::last_write_time(folder / "out/pool/render/frame_0001.claim", past);
    ASSERT_EQ(tarn({"render", "out/pool", "--samples", "1", "--set", "camera.shutter=0.5"}).code, 0);
    EXPECT_TRUE(exists("out/pool/render/frame_0001.done"));
    EXPECT_FALSE(exists("out/pool/render/frame_0001.claim"));
    // What was made of fewer samples is made again where all are asked for; the others are there.
    const Outcome whole = tarn({"render", "out/pool"});
    EXPECT_NE(whole.out.find("done: 1 frames"), std::string::npos) << whole.out;
    EXPECT_EQ(difference(before, tree("out/pool/render")), "");
}

TEST_F(RenderProgram, a_try_costs_nothing_of_what_is_there)
{
    write("pool.toml", pool);
    ASSERT_EQ(tarn({"run", "pool.toml", "--quiet", "--set", "output.render=true", "--set", "output.preview=true"}).code, 0);
    const auto before = tree("out/pool");
    ASSERT_EQ(tarn({"render", "out/pool", "--frames", "1", "--preview", "--again", "--quiet"}).code, 0);
    EXPECT_EQ(read_png(folder / "out/pool/try/render/frame_0001.png").width, 32);
    ASSERT_EQ(tarn({"render", "out/pool", "--frames", "2", "--scale", "2", "--samples", "1", "--quiet"}).code, 0);
    EXPECT_EQ(read_png(folder / "out/pool/try/render/frame_0002.png").width, 128);
    ASSERT_EQ(tarn({"preview", "out/pool", "--frames", "1", "--set", "camera.fov=20", "--quiet"}).code, 0);
    EXPECT_NE(read("out/pool/try/preview/frame_0001.png"), read("out/pool/preview/frame_0001.png"));
    std::filesystem::remove_all(folder / "out/pool/try");
    EXPECT_EQ(difference(before, tree("out/pool")), "");

    // A run that is replaced takes its tries along.
    ASSERT_EQ(tarn({"preview", "out/pool", "--frames", "1", "--quiet"}).code, 0);
    ASSERT_EQ(tarn({"run", "pool.toml", "--quiet", "--frames", "1", "--force"}).code, 0);
    EXPECT_FALSE(exists("out/pool/try"));
    EXPECT_FALSE(exists("out/pool/render"));
}

TEST_F(RenderProgram, a_run_is_drawn_again_from_what_it_left)
{
    write("pool.toml", pool);
    ASSERT_EQ(tarn({"run", "pool.toml", "--quiet", "--set", "output.preview=true"}).code, 0);
    const std::string picture = read("out/pool/preview/frame_0002.png"), movie = read("out/pool/movie.mp4");
    // With the same settings, the same but for the rounding of what is kept.
    ASSERT_EQ(tarn({"preview", "out/pool", "--quiet"}).code, 0);
    const Image then = read_png(folder / "out/pool/preview/frame_0002.png");
    write("then.png", picture);
    const Image again = read_png(folder / "then.png");
    ASSERT_EQ(then.rgb.size(), again.rgb.size());
    double off = 0;
    for (size_t i = 0; i < then.rgb.size(); ++i) off += std::abs(then.rgb[i] - again.rgb[i]);
    EXPECT_LT(off / static_cast<double>(then.rgb.size()), 1) << "of 255, on average";
    // And with others.
    ASSERT_EQ(tarn({"preview", "out/pool", "--quiet", "--set", "output.preview_width=320", "--set", "render.water=milk"}).code, 0);
    EXPECT_EQ(read_png(folder / "out/pool/preview/frame_0000.png").width, 320);
    EXPECT_NE(read("out/pool/movie.mp4"), movie);

    // A look that is changed in the scene holds from then on.
    ASSERT_EQ(tarn({"run", "pool.toml", "--quiet", "--resume", "--set", "output.preview_width=160"}).code, 0);
    ASSERT_EQ(tarn({"preview", "out/pool", "--quiet"}).code, 0);
    EXPECT_EQ(read_png(folder / "out/pool/preview/frame_0000.png").width, 160);

    const auto refused = [&](std::vector<std::string> words, const std::string& because) {
        const Outcome o = tarn(words);
        EXPECT_EQ(o.code, 2);
        EXPECT_NE(o.err.find(because), std::string::npos) << o.err;
    };
    refused({"preview", "nowhere"}, "no such folder");
    refused({"preview", "out/pool", "--set", "domain.cells=32"}, "what is simulated stays as it is (\"cells = ");
    refused({"render", "out/pool", "--set", "time.rate=32"}, "what is simulated stays as it is (\"rate = ");
    refused({"preview", "out/pool", "--frames", "7"}, "no state of frame 7");
    std::filesystem::remove_all(folder / "out/pool/state");
    refused({"preview", "out/pool"}, "output.state = true");
}

// Every word that a look may have makes a picture, and each another one.
TEST_F(RenderProgram, shows_every_look)
{
    write("pool.toml", pool);
    ASSERT_EQ(tarn({"run", "pool.toml", "--quiet", "--frames", "1"}).code, 0);
    std::set<std::string> pictures;
    const auto look = [&](const std::string& dir, std::vector<std::string> settings) {
        std::vector<std::string> words{"render", dir, "--frames", "1", "--again", "--quiet", "--samples", "2"};
        for (const std::string& s : settings) words.insert(words.end(), {"--set", s});
        const Outcome o = tarn(words);
        EXPECT_EQ(o.code, 0) << o.err;
        EXPECT_TRUE(pictures.insert(read(dir + "/render/frame_0001.png")).second) << settings.front();
    };
    look("out/pool", {"render.water=pool"});
    look("out/pool", {"render.water=clear"});
    look("out/pool", {"render.water=murky"});
    look("out/pool", {"render.water=milk"});
    look("out/pool", {"render.floor=plain"});
    look("out/pool", {"render.floor=checker"});
    look("out/pool", {"render.floor=none"});
    look("out/pool", {"render.surface=trilinear"});
    look("out/pool", {"render.tank=false"});
    look("out/pool", {"render.caustics=false"});
    look("out/pool", {"render.denoise=true"});
    look("out/pool", {"camera.orbit=90"});
    look("out/pool", {"camera.aperture=0.2", "camera.focus=1"});

    // A picture of its own serves as ground and as light all around.
    std::filesystem::copy_file(folder / "out/pool/render/frame_0001.exr", folder / "studio.exr");
    std::filesystem::copy_file(folder / "out/pool/render/frame_0001.png", folder / "ground.png");
    std::string solids;
    for (const char* kind : {"plaster", "plastic", "metal", "mirror"})
        for (const char* roughness : {"0.1", "0.6"})
            solids += std::string("[[solid]]\nshape = \"sphere\"\nradius = 0.05\ncenter = [0.") + roughness[2] +
                      ", 0.3, 0.2]\nmaterial = \"" + kind + "\"\nroughness = " + roughness + "\n";
    write("studio.toml", std::string(pool) + "floor = \"image\"\nfloor_image = \"ground.png\"\n" + solids +
                             "[[light]]\nkind = \"image\"\nimage = \"studio.exr\"\n[[light]]\nkind = \"area\"\n"
                             "position = [0.5, 2, 0.2]\nstrength = 20\n[[light]]\nkind = \"sun\"\n");
    const Outcome o = tarn({"run", "studio.toml", "--quiet", "--frames", "1"});
    ASSERT_EQ(o.code, 0) << o.err;
    look("out/studio", {"camera.shutter=0"});
}

TEST_F(RenderProgram, says_what_it_cannot_render)
{
    write("pool.toml", pool);
    const auto refused = [&](std::vector<std::string> words, const std::string& because) {
        const Outcome o = tarn(words);
        EXPECT_EQ(o.code, 2);
        EXPECT_NE(o.err.find(because), std::string::npos) << o.err;
    };
    refused({"render", "nowhere"}, "no such folder");
    ASSERT_EQ(tarn({"run", "pool.toml", "--quiet", "--frames", "1"}).code, 0);
    refused({"render", "out/pool", "--frames", "7"}, "no state of frame 7");
    refused({"render", "out/pool", "--scale", "nan"}, "--scale nan");
    refused({"render", "out/pool", "--set", "render.width=4000", "--scale", "9"}, "16384 pixels");
    refused({"render", "out/pool", "--set", "render.widht=9"}, "did you mean \"width\"");
    refused({"render", "out/pool", "--set", "render.floor=image"}, "floor_image");
    ASSERT_EQ(tarn({"run", "pool.toml", "--quiet", "--frames", "1", "--force", "--set", "output.state=false"}).code, 0);
    refused({"render", "out/pool"}, "output.state = true");
    refused({"run", "pool.toml", "--out", "o", "--set", "output.state=false", "--set", "output.render=true"},
            "--set output.state: must be true with output.render");
}

}  // namespace
}  // namespace tarn
