// Chains, height fields, floats and whitewater that run live, through the real program.   [FM96]

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <sstream>

#include <nlohmann/json.hpp>

#include "run_helpers.h"

namespace tarn::testing {
namespace {

const std::string pool_and_drop = R"(tarn = 1
[domain]
size = [0.5, 0.5]
cells = 32
[[water]]
shape = "box"
min = [0, 0]
max = [0.5, 0.15]
[[water]]
shape = "sphere"
center = [0, 0.25]
radius = 0.06
[method]
surface = "marker-chains"
[output]
preview = false
checkpoint_every = 1
checkpoint_interval = 0
[time]
frames = 6
rate = 30
)";

class TheMethodsOf1996 : public ProgramTest {
protected:
    std::string hash(const std::string& out) const { return nlohmann::json::parse(read(out + "/run.json"))["hash"]; }
    void expect_refused(const std::string& file, const std::vector<std::string>& settings, const std::string& text)
    {
        std::vector<std::string> words{"run", file, "--out", "refused"};
        for (const std::string& s : settings) words.insert(words.end(), {"--set", s});
        const Outcome r = tarn(words);
        EXPECT_EQ(r.code, 2) << text;
        EXPECT_NE(r.err.find(text), std::string::npos) << r.err;
        EXPECT_FALSE(exists("refused")) << text;
    }
};

TEST_F(TheMethodsOf1996, say_what_they_do_not_take)
{
    write("flat.toml", pool_and_drop);
    write("deep.toml", small_scene());
    expect_refused("deep.toml", {"method.surface=marker-chains"}, "go round water in 2D");
    expect_refused("flat.toml", {"method.surface=height-field"}, "flat.toml:9: water at");
    expect_refused("flat.toml", {"method.surface=height-field"}, "hangs over air, which a height field cannot tell");
    expect_refused("flat.toml", {"method.solver=projection"}, "\"marker-chains\" need method.solver");
    expect_refused("flat.toml", {"domain.walls.right=open"}, "let no water out by open sides");
    expect_refused("flat.toml", {"output.heights=true"}, "output.heights");
    expect_refused("deep.toml", {"output.revolve=true"}, "turns the outline of a 2D scene");
    expect_refused("deep.toml", {"method.surface=height-field", "domain.gravity=[1, -9, 0]"}, "gravity must point down");
    expect_refused("deep.toml", {"whitewater.live=true", "output.state=false"}, "output.state");
}

// Of 32 x 32 cells the outline has points a quarter of a cell apart, and its surface of revolution the volume of a pool and a ball.
TEST_F(TheMethodsOf1996, chains_make_fine_outlines_and_surfaces_of_revolution)
{
    write("flat.toml", pool_and_drop);
    ASSERT_EQ(tarn({"run", "flat.toml", "--out", "o", "--frames", "3", "--quiet"}).code, 0);
    // The default method, by one --set.
    ASSERT_EQ(tarn({"run", "flat.toml", "--out", "d", "--frames", "1", "--quiet", "--set", "method.surface=particle-level-set"}).code, 0);
    ASSERT_EQ(tarn({"run", "flat.toml", "--out", "r", "--frames", "3", "--quiet", "--set", "output.surface=obj", "--set", "output.revolve=true"}).code, 0);
    const auto count = [&](const std::string& file, const char* start) {
        size_t n = 0;
        std::istringstream lines(read(file));
        for (std::string line; std::getline(lines, line);) n += line.starts_with(start);
        return n;
    };
    EXPECT_GT(read("o/surface/frame_0000.ply").size(), 2 * read("d/surface/frame_0000.ply").size());
    EXPECT_EQ(count("r/surface/frame_0000.obj", "l "), 0u);
    // Volume by the divergence theorem; outward triangles make it positive.
    std::vector<std::array<double, 3>> points;
    double volume = 0;
    std::istringstream lines(read("r/surface/frame_0000.obj"));
    for (std::string line; std::getline(lines, line);) {
        std::array<double, 3> p;
        if (std::sscanf(line.c_str(), "v %lf %lf %lf", &p[0], &p[1], &p[2]) == 3) points.push_back(p);
        int t[3], n[3];
        if (std::sscanf(line.c_str(), "f %d//%d %d//%d %d//%d", &t[0], &n[0], &t[1], &n[1], &t[2], &n[2]) != 6) continue;
        const auto &a = points[size_t(t[0] - 1)], &b = points[size_t(t[1] - 1)], &c = points[size_t(t[2] - 1)];
        volume += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0])) / 6;
    }
    const double expected = M_PI * 0.25 * 0.15 + 4 * M_PI / 3 * std::pow(0.06, 3);
    EXPECT_NEAR(volume, expected, 0.01 * expected);
    // States keep the chains: the same files are made of them later.
    const std::string made = read("o/surface/frame_0003.ply");
    std::filesystem::remove(folder / "o/surface/frame_0003.ply");
    ASSERT_EQ(tarn({"convert", "o"}).code, 0);
    EXPECT_EQ(read("o/surface/frame_0003.ply").size(), made.size());
}

TEST_F(TheMethodsOf1996, chains_and_heights_go_on_to_the_bit)
{
    write("chains.toml", pool_and_drop);
    write("heights.toml", small_scene("[method]\nsurface = \"height-field\"\n"));
    for (const std::string name : {"chains", "heights"}) {
        ASSERT_EQ(tarn({"run", name + ".toml", "--out", name, "--frames", "4", "--threads", "1", "--quiet"}).code, 0);
        ASSERT_EQ(tarn({"run", name + ".toml", "--out", name + "2", "--frames", "2", "--threads", "2", "--quiet"}).code, 0);
        ASSERT_EQ(tarn({"run", name + ".toml", "--out", name + "2", "--frames", "4", "--threads", "2", "--quiet", "--resume"}).code, 0);
        EXPECT_EQ(hash(name), hash(name + "2"));
    }
}

TEST_F(TheMethodsOf1996, heights_and_pressure_are_written)
{
    write("heights.toml", small_scene("[method]\nsurface = \"height-field\"\n"));
    ASSERT_EQ(tarn({"run", "heights.toml", "--out", "o", "--frames", "1", "--quiet", "--set", "output.heights=true", "--set", "output.volume=true", "--set",
                    "output.volume_format=npz"}).code, 0);
    const std::string heights = read("o/heights/frame_0000.npz"), volume = read("o/volume/frame_0001.npz");
    EXPECT_NE(heights.find("(24, 12)"), std::string::npos);
    const size_t at = heights.find("height.npy");
    ASSERT_NE(at, std::string::npos);
    float first = 0;
    const size_t data = heights.find('\n', at) + 1;
    std::memcpy(&first, heights.data() + data, sizeof first);
    EXPECT_NEAR(first, 0.6, 1e-4);
    EXPECT_NE(volume.find("pressure.npy"), std::string::npos);
}

const std::string can = "[[solid]]\nmotion = \"float\"\nname = \"can\"\nshape = \"sphere\"\ncenter = [0.75, 0.3, 0.25]\nradius = 0.06\ndensity = 400\n";

// Live floats and live whitewater are what passes over the finished run make, to the bit, also where it was stopped; and they are in its drawings.
TEST_F(TheMethodsOf1996, what_runs_live_is_what_comes_after)
{
    write("live.toml", small_scene(can + "[whitewater]\nlive = true\ncrest_curvature = 0\ncrest = 1e6\n"));
    const std::vector<std::string> run{"run", "live.toml", "--out", "o", "--quiet", "--set", "output.preview=true"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), run.begin(), run.end());
        return tarn(more);
    };
    ASSERT_EQ(with({"--frames", "3"}).code, 0);
    ASSERT_EQ(with({"--frames", "6", "--resume"}).code, 0);
    const std::string bodies = read("o/float/live/bodies.jsonl");
    const auto drops = tree("o/whitewater");
    EXPECT_EQ(drops.size(), 8u);
    const std::string drawn = read("o/preview/frame_0006.png");
    ASSERT_EQ(tarn({"preview", "o", "--quiet"}).code, 0);
    EXPECT_EQ(difference(read("o/preview/frame_0006.png"), drawn), "");

    write("bare.toml", small_scene("[whitewater]\ncrest_curvature = 0\ncrest = 1e6\n"));
    write("can.toml", "tarn = 1\n" + can);
    ASSERT_EQ(tarn({"run", "bare.toml", "--out", "b", "--frames", "6", "--quiet"}).code, 0);
    EXPECT_EQ(hash("b"), hash("o")) << "floats do not disturb the water";
    ASSERT_EQ(tarn({"float", "b", "--scene", "can.toml"}).code, 0);
    EXPECT_EQ(difference(read("b/float/can/bodies.jsonl"), bodies), "");
    ASSERT_EQ(tarn({"whitewater", "b"}).code, 0);
    EXPECT_EQ(difference(read("b/whitewater/frame_0006.ply"), read("o/whitewater/frame_0006.ply")), "");
    ASSERT_EQ(tarn({"preview", "b", "--frames", "6", "--quiet"}).code, 0);
    EXPECT_NE(read("b/try/preview/frame_0006.png"), drawn);
}

// Bodies go on a run of any method, and are drawn on it.
TEST_F(TheMethodsOf1996, floats_go_on_its_runs)
{
    write("old.toml", small_scene("[method]\nsurface = \"height-field\"\n"));
    write("can.toml", "tarn = 1\n[[solid]]\nmotion = \"body\"\nshape = \"sphere\"\ncenter = [0.2, 0.6, 0.25]\nradius = 0.09\ndensity = 400\n");
    ASSERT_EQ(tarn({"run", "old.toml", "--out", "o", "--frames", "2", "--quiet", "--set", "output.preview=true"}).code, 0);
    ASSERT_EQ(tarn({"float", "o", "--scene", "can.toml"}).code, 0);
    const Outcome drawn = tarn({"preview", "o", "--float", "can", "--frames", "2", "--quiet"});
    ASSERT_EQ(drawn.code, 0) << drawn.err;
    EXPECT_NE(read("o/try/preview/frame_0002.png"), read("o/preview/frame_0002.png"));
}

// The folders of what was made of a run lead to the run.
TEST_F(TheMethodsOf1996, parts_of_a_run_say_how_they_are_seen)
{
    write("can.toml", small_scene(can + "[whitewater]\nlive = true\n"));
    ASSERT_EQ(tarn({"run", "can.toml", "--out", "o", "--frames", "1", "--quiet"}).code, 0);
    for (const char* command : {"preview", "render"}) {
        const Outcome set = tarn({command, "o/float/live/"}), drops = tarn({command, "o/whitewater"});
        EXPECT_EQ(set.code, 2);
        EXPECT_NE(set.err.find("give the run's folder, o --float live"), std::string::npos) << set.err;
        EXPECT_EQ(drops.code, 2);
        EXPECT_NE(drops.err.find("give the run's folder, o"), std::string::npos) << drops.err;
    }
}

TEST_F(TheMethodsOf1996, floats_say_what_they_do_not_go_with)
{
    write("body.toml", small_scene(can + "[[solid]]\nmotion = \"body\"\nshape = \"sphere\"\ncenter = [0.75, 0.6, 0.25]\nradius = 0.06\ndensity = 400\n"));
    expect_refused("body.toml", {}, "solid.0.motion");
    write("can.toml", small_scene(can));
    expect_refused("can.toml", {"output.state=false"}, "output.state");
    expect_refused("can.toml", {"flow.field=rotation"}, "floats need a pressure");
}

}  // namespace
}  // namespace tarn::testing
