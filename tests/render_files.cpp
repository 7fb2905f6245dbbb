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
#include "tarn/output/volume.h"
#include "tarn/render/camera.h"
#include "tarn/render/denoise.h"
#include "tarn/render/film.h"
#include "tarn/run/render.h"
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

TEST(Volumes, give_back_phi_and_velocity)
{
    const TemporaryFolder folder;
    Water<3> water = water_of<3>({20, 12, 9}, 0.05, [](Vec3 x) { return x[1] - 0.3 - 0.1 * std::sin(9 * x[0]); });
    water.time = 1.25;
    for (int i = 0; i <= 20; ++i) water.velocity[0]({i, 2, 3}) = 0.5f;
    write_vdb(folder / "a.vdb", water);
    const Volume back = read_vdb(folder / "a.vdb");
    EXPECT_EQ(back.grid.cells, water.grid.cells);
    EXPECT_NEAR(back.grid.h, 0.05, 1e-9);
    EXPECT_EQ(back.time, 1.25);
    const float band = 3 * 0.05f;
    size_t n = 0;
    for (int k = 0; k < 9; ++k)
        for (int j = 0; j < 12; ++j)
            for (int i = 0; i < 20; ++i, ++n)
                ASSERT_NEAR(back.phi[n], std::clamp(water.phi({i, j, k}), -band, band), 1e-6f)
                    << i << ' ' << j << ' ' << k;
    EXPECT_NEAR(back.velocity[size_t(5 + 20 * (2 + 12 * 3))][0], 0.5f, 1e-3f);
    EXPECT_THROW(read_vdb(folder / "b.vdb"), RunError);
}

TEST(Spray, comes_back_from_its_file)
{
    const TemporaryFolder folder;
    const std::vector<Drop> drops{{{1, 2, 3}, {4, 5, 6}, 0.1f, 0.2f}, {{7, 8, 9}, {0, 0, 0}, 0.3f, 0}};
    write_particles(folder / "a.ply", drops);
    const std::vector<Drop> back = read_particles(folder / "a.ply");
    ASSERT_EQ(back.size(), 2u);
    EXPECT_EQ(back[0].velocity, drops[0].velocity);
    EXPECT_EQ(back[1].radius, 0.3f);
}

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
    ASSERT_EQ(tarn({"run", "pool.toml", "--quiet", "--set", "output.render=true"}).code, 0);
    for (const char* frame : {"0000", "0001", "0002"})
        for (const char* ending : {"png", "exr", "done"})
            EXPECT_TRUE(exists(std::string("out/pool/render/frame_") + frame + "." + ending));
    EXPECT_TRUE(exists("out/pool/movie.mp4"));
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
    ASSERT_EQ(tarn({"render", "out/pool", "--scale", "0.5", "--samples", "1", "--set", "camera.shutter=0.5"}).code, 0);
    EXPECT_TRUE(exists("out/pool/render/frame_0001.done"));
    EXPECT_FALSE(exists("out/pool/render/frame_0001.claim"));
    EXPECT_EQ(read_png(folder / "out/pool/render/frame_0001.png").width, 32);
    // What was made smaller is made again where the whole is asked for; the others are there.
    const Outcome whole = tarn({"render", "out/pool"});
    EXPECT_NE(whole.out.find("done: 1 frames"), std::string::npos) << whole.out;
    EXPECT_EQ(difference(before, tree("out/pool/render")), "");
    ASSERT_EQ(tarn({"render", "out/pool", "--frames", "1", "--preview", "--again", "--quiet"}).code, 0);
    // Pictures of two sizes make no movie.
    const Outcome movie = tarn({"movie", "out/pool"});
    EXPECT_EQ(movie.code, 1);
    EXPECT_NE(movie.err.find("render all frames alike"), std::string::npos) << movie.err;
}

// Every word that a look may have makes a picture, and each another one.
TEST_F(RenderProgram, shows_every_look)
{
    write("pool.toml", pool);
    ASSERT_EQ(tarn({"run", "pool.toml", "--quiet", "--frames", "1", "--set", "output.volume=true"}).code, 0);
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
    const Outcome o = tarn({"run", "studio.toml", "--quiet", "--frames", "1", "--set", "output.volume=true"});
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
    refused({"render", "out/pool"}, "output.volume = true");
    ASSERT_EQ(tarn({"run", "pool.toml", "--quiet", "--frames", "1", "--force", "--set", "output.volume=true"}).code, 0);
    refused({"render", "out/pool", "--frames", "7"}, "no volume of frame 7");
    refused({"render", "out/pool", "--scale", "nan"}, "--scale nan");
    refused({"render", "out/pool", "--set", "render.width=4000", "--scale", "9"}, "16384 pixels");
    refused({"render", "out/pool", "--set", "render.widht=9"}, "did you mean \"width\"");
    refused({"render", "out/pool", "--set", "render.floor=image"}, "floor_image");
}

}  // namespace
}  // namespace tarn
