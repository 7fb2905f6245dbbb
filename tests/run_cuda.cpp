// The same water on a GPU. Tests that need one skip where there is none; docs/gpu.md says how to run them.

#include <cmath>

#include "read_png.h"
#include "run_helpers.h"
#include "tarn/output/checkpoint.h"
#include "tarn/scene/read.h"
#include "tarn/step/free_surface.h"

namespace tarn::testing {
namespace {

#if !defined(TARN_CUDA_BUILT)

// It may have been built by name even so.
TEST_F(ProgramTest, without_cuda_the_program_says_how_to_get_it)
{
    write("small.toml", small_scene());
    const Outcome r = tarn({"run", "small.toml", "--backend", "cuda"});
    EXPECT_EQ(r.code, 2);
    EXPECT_TRUE(r.err.find("nvcc") != std::string::npos || r.err.find("no CUDA device") != std::string::npos) << r.err;
}

#else

class OnAGpu : public ProgramTest {
protected:
    void SetUp() override
    {
        ProgramTest::SetUp();
        write("probe.toml", small_scene());
        const Outcome r = tarn({"check", "probe.toml", "--backend", "cuda"});
        if (r.code != 0) GTEST_SKIP() << "needs a CUDA device: " << r.err;
    }
    Outcome run(const std::string& out, std::vector<std::string> words)
    {
        words.insert(words.begin(), {"run", "scene.toml", "--out", out, "--quiet"});
        return tarn(words);
    }
    // How far the water reaches along the floor, from the newest checkpoint.
    double front(const std::string& dir, const Grid<3>& grid)
    {
        write("state.ckpt", newest_checkpoint(dir));
        Water<3> water;
        water.grid = grid;
        water.phi = Field<3>(grid);
        water.pressure = Field<3>(grid);
        water.velocity = FaceField<3>(grid);
        (void)load_checkpoint((folder / "state.ckpt").string(), water);
        double furthest = 0;
        for (int k = 0; k < grid.cells[2]; ++k)
            for (int i = 0; i + 1 < grid.cells[0]; ++i) {
                const float here = water.phi({i, 0, k}), next = water.phi({i + 1, 0, k});
                if (here < 0 && next >= 0)
                    furthest = std::max(furthest, (i + 0.5 + here / double(here - next)) * grid.h);
            }
        return furthest;
    }
};

std::string dam_break(int cells, int frames)
{
    return "tarn = 1\n[domain]\nsize = [1, 1, 1]\ncells = " + std::to_string(cells) +
           "\n[[water]]\nshape = \"box\"\nmin = [0, 0, 0]\nmax = [0.4, 0.6, 1]\n[time]\nrate = 100\nframes = " +
           std::to_string(frames) + "\nmax_step = 0.002\n[output]\npreview = false\nsurface = \"none\"\n";
}

// A hundred steps of 64^3.
TEST_F(OnAGpu, water_moves_as_on_the_processor)
{
    write("scene.toml", dam_break(64, 20));
    ASSERT_EQ(run("cpu", {}).code, 0);
    const Outcome r = run("gpu", {"--backend", "cuda"});
    ASSERT_EQ(r.code, 0) << r.err;
    EXPECT_GE(column("gpu", "step").back(), 100);
    for (const char* name : {"volume", "kinetic_energy", "potential_energy"}) {
        const double expected = column("cpu", name).back();
        EXPECT_NEAR(column("gpu", name).back(), expected, 1e-3 * std::fabs(expected)) << name;
    }
    const Grid<3> grid(Cell<3>::all(64), 1.0 / 64);
    const double expected = front("cpu", grid);
    EXPECT_GT(expected, 0.5);
    EXPECT_NEAR(front("gpu", grid), expected, 1e-3 * expected);
}

TEST_F(OnAGpu, still_water_stays_still)
{
    write("scene.toml",
          "tarn = 1\n[domain]\nsize = [1, 1, 1]\ncells = 32\n[[water]]\nshape = \"box\"\nmin = [-1, -1, -1]\nmax = [2, "
          "0.503, 2]\n"
          "[[solid]]\nshape = \"plane\"\npoint = [0.5, 0.3, 0]\nnormal = [-0.34202, 0.93969, 0]\n"
          "[time]\nframes = 30\n[output]\npreview = false\n");
    ASSERT_EQ(run("gpu", {"--backend", "cuda"}).code, 0);
    for (const double speed : column("gpu", "max_speed")) EXPECT_LT(speed, 1e-4 * std::sqrt(9.81 * 0.503));
}

TEST_F(OnAGpu, runs_give_the_same_bits)
{
    write("scene.toml", dam_break(48, 6));
    for (const char* out : {"one", "two"})
        ASSERT_EQ(run(out, {"--backend", "cuda", "--set", "output.preview=true"}).code, 0);
    EXPECT_EQ(difference(physics("one"), physics("two")), "");
    EXPECT_EQ(difference(newest_checkpoint("one"), newest_checkpoint("two")), "");
    EXPECT_EQ(tree("one/render").size(), 7);
    EXPECT_EQ(difference(tree("one/render"), tree("two/render")), "");
}

// The GPU rounds otherwise, so that a ray bends a little elsewhere. That is less than a level of a byte, but for rays
// that pass an edge on its other side then. With other rounding on a processor (-ffast-math) one pixel in 10,000 is off
// by more than a level; the bounds leave twenty times that.
TEST_F(OnAGpu, pictures_show_what_the_processor_draws)
{
    write("scene.toml", R"(tarn = 1
[domain]
size = [1, 0.8, 0.6]
cells = 64
[[water]]
shape = "box"
min = [0, 0, 0]
max = [0.4, 0.6, 0.6]
[[solid]]
shape = "cylinder"
center = [0.7, 0.2, 0.3]
radius = 0.08
height = 0.5
[[solid]]
shape = "box"
min = [0.45, 0.1, 0.1]
max = [0.5, 0.5, 0.2]
translate = [{t = 0, v = [0, 0, 0]}, {t = 1, v = [0.2, 0.3, 0.2]}]
[time]
rate = 20
frames = 10
[output]
preview_width = 320
)");
    const Outcome r = run("gpu", {"--backend", "cuda"});
    ASSERT_EQ(r.code, 0) << r.err;
    const Image there = read_png((folder / "gpu/preview/frame_0010.png").string());

    const Scene scene = read_scene((folder / "scene.toml").string());
    Water<3> water = initial_water<3>(scene);
    write("state.ckpt", newest_checkpoint("gpu"));
    ASSERT_EQ(load_checkpoint((folder / "state.ckpt").string(), water), 10);
    restore(water, scene);
    const Image here = preview(water, scene, 320);
    ASSERT_EQ(here.rgb.size(), there.rgb.size());

    double sum = 0, far = 0;
    for (size_t i = 0; i < here.rgb.size(); ++i) {
        const int difference = std::abs(here.rgb[i] - there.rgb[i]);
        sum += difference;
        far += difference > 1;
    }
    const double bytes = static_cast<double>(here.rgb.size());
    EXPECT_LT(sum / bytes, 0.05) << "levels";
    EXPECT_LT(far / bytes, 0.002);
}

TEST_F(OnAGpu, a_run_goes_on_from_the_other_backend)
{
    write("scene.toml", dam_break(32, 10));
    const std::string end = "10";
    ASSERT_EQ(run("cpu", {}).code, 0);
    ASSERT_EQ(run("mixed", {"--backend", "cuda", "--frames", "4"}).code, 0);
    ASSERT_EQ(run("mixed", {"--frames", "7", "--resume"}).code, 0);
    const Outcome last = run("mixed", {"--backend", "cuda", "--frames", end, "--resume"});
    ASSERT_EQ(last.code, 0) << last.err;
    EXPECT_NEAR(column("mixed", "kinetic_energy").back(), column("cpu", "kinetic_energy").back(),
                1e-3 * column("cpu", "kinetic_energy").back());
}

// Solids that stand and move, closed pockets, sources and sinks, viscosity and surface tension.
TEST_F(OnAGpu, everything_else_agrees_too)
{
    write("scene.toml", R"(tarn = 1
[domain]
size = [1, 0.75, 0.5]
cells = 40
[fluid]
viscosity = 1e-4
surface_tension = 0.07
[[water]]
shape = "box"
min = [-1, -1, -1]
max = [2, 0.3, 2]
[[water]]
shape = "box"
min = [0.1, 0.3, 0.1]
max = [0.3, 0.6, 0.4]
velocity = [1, 0, 0]
[[solid]]
shape = "box"
min = [0.7, -1, -1]
max = [0.8, 2, 2]
[[solid]]
shape = "sphere"
center = [0.5, 0.3, 0.25]
radius = 0.1
no_slip = true
translate = [{t = 0, v = [0, 0, 0]}, {t = 1, v = [-0.2, 0.1, 0]}]
[[source]]
shape = "sphere"
center = [0.2, 0.2, 0.25]
radius = 0.08
rate = 0.01
[[source]]
shape = "box"
min = [0.88, 0.6, 0.2]
max = [0.94, 0.7, 0.3]
velocity = [0, -1, 0]
[[sink]]
shape = "box"
min = [0.85, 0, 0]
max = [0.95, 0.05, 0.5]
[wind]
velocity = [2, 0, 0]
shear = 1
alpha = 0.5
shape = "sphere"
center = [0.3, 0.4, 0.25]
radius = 0.3
[time]
frames = 3
max_step = 0.004
[output]
preview = false
)");
    ASSERT_EQ(run("cpu", {}).code, 0);
    const Outcome r = run("gpu", {"--backend", "cuda"});
    ASSERT_EQ(r.code, 0) << r.err;
    // Long enough for everything to have acted. Splashes make rounding errors grow: after 6 frames 3e-3 was seen.
    for (const char* name : {"volume", "volume_expected", "kinetic_energy", "potential_energy"}) {
        const double expected = column("cpu", name).back();
        EXPECT_NEAR(column("gpu", name).back(), expected, 1e-3 * std::fabs(expected)) << name;
    }
}

TEST_F(OnAGpu, a_scene_that_does_not_fit_is_refused_before_it_runs)
{
    write("scene.toml", dam_break(1280, 1));
    const Outcome r = run("gpu", {"--backend", "cuda"});
    EXPECT_EQ(r.code, 2);
    EXPECT_NE(r.err.find("memory"), std::string::npos) << r.err;
    EXPECT_FALSE(exists("gpu/stats.csv"));
}

// Where there is no GPU, the program says so.
TEST_F(ProgramTest, without_a_gpu_the_program_says_so)
{
    write("small.toml", small_scene());
    const Outcome r = tarn(
        Launch{.words = {"run", "small.toml", "--backend", "cuda"}, .environment = {{"CUDA_VISIBLE_DEVICES", ""}}});
    EXPECT_EQ(r.code, 2);
    EXPECT_NE(r.err.find("no CUDA device"), std::string::npos) << r.err;
    EXPECT_FALSE(exists("out"));
}

#endif

}  // namespace
}  // namespace tarn::testing
