// A scene that is packed, run by tarn-state and converted gives what `tarn run` gives, to the bit.

#include <algorithm>
#include <cmath>
#include <sstream>

#include "run_helpers.h"

namespace tarn::testing {
namespace {

using AState = ProgramTest;
using APackedScene = ProgramTest;
using AConversion = ProgramTest;

// A moving solid, a source and a mesh, in a small dam break. Without leapfrog, as a state alone does not tell the velocity of the surface's time,
// which a run's own files hold.
constexpr const char* company = R"(
[method]
leapfrog = false
[[solid]]
shape = "sphere"
center = [0.7, 0.2, 0.25]
radius = 0.12
translate = [{t = 0, v = [0, 0, 0]}, {t = 1, v = [-0.4, 0.2, 0]}]
[[solid]]
shape = "mesh"
file = "wedge.obj"
translate = [0.5, 0, 0.1]
[[source]]
shape = "box"
min = [0.8, 0.7, 0.2]
max = [1.0, 0.9, 0.3]
velocity = [{t = 0, v = [-6, 0, 0]}, {t = 0.2, v = [-1, 0, 0]}]
)";
constexpr const char* wedge = R"(v 0 0 0
v 0.3 0 0
v 0 0.2 0
v 0 0 0.3
f 1 3 2
f 1 2 4
f 1 4 3
f 2 3 4
)";
constexpr const char* flat = R"(tarn = 1
[domain]
size = [1.0, 0.8]
cells = 40
[[water]]
shape = "box"
min = [0, 0]
max = [0.4, 0.6]
[[solid]]
shape = "box"
min = [0.6, 0]
max = [0.7, 0.2]
rotate = [{t = 0, v = 0}, {t = 1, v = 30}]
[method]
leapfrog = false
[time]
frames = 4
[output]
volume = true
preview = true
)";

void expect_refused(const Outcome& r, const std::string& words)
{
    EXPECT_EQ(r.code, 2) << r.err;
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
    EXPECT_NE(r.err.find(words), std::string::npos) << r.err;
}

TEST_F(AState, is_what_a_run_saves_and_converts_to_what_a_run_leaves)
{
    write("wedge.obj", wedge);
    write("small.toml", small_scene(company));
    ASSERT_EQ(tarn({"run", "small.toml", "--out", "whole"}).code, 0);

    const Outcome packed = tarn({"pack", "small.toml"});
    ASSERT_EQ(packed.code, 0) << packed.err;
    EXPECT_EQ(packed.out, "small.pack\n");
    // All that the other machine gets is that one file.
    std::filesystem::remove(folder / "small.toml");
    std::filesystem::remove(folder / "wedge.obj");
    const Outcome r = tarn_state({"small.pack", "--out", "o"});
    ASSERT_EQ(r.code, 0) << r.err;
    EXPECT_NE(r.out.find("frame 12/12"), std::string::npos) << r.out;
    EXPECT_EQ(tree("o/state").size(), 13u);
    EXPECT_EQ(difference(read("o/state/frame_0012.ckpt"), newest_checkpoint("whole")), "");
    EXPECT_EQ(difference(physics("o"), physics("whole")), "");

    const Outcome converted = tarn({"convert", "o"});
    ASSERT_EQ(converted.code, 0) << converted.err;
    EXPECT_EQ(difference(tree("o/surface"), tree("whole/surface")), "");
    EXPECT_FALSE(exists("o/preview"));
    EXPECT_FALSE(exists("o/movie.mp4"));
}

TEST_F(AState, in_two_dimensions_works_alike)
{
    write("flat.toml", flat);
    ASSERT_EQ(tarn({"run", "flat.toml", "--out", "whole", "--frames", "3"}).code, 0);
    ASSERT_EQ(tarn({"pack", "flat.toml", "other.pack"}).code, 0);
    ASSERT_EQ(tarn_state({"--frames=3", "other.pack", "--out", "o", "--threads", "3"}).code, 0);
    ASSERT_EQ(tarn_state({"--frames=3", "other.pack", "--out", "one", "--threads=1"}).code, 0);
    EXPECT_EQ(difference(tree("one/state"), tree("o/state")), "") << "on one thread as on three";
    expect_refused(tarn_state({"other.pack", "--out", "none", "--threads", "0"}), "--threads 0: give a whole number");
    ASSERT_EQ(tarn({"convert", "o"}).code, 0);
    EXPECT_EQ(difference(read("o/state/frame_0003.ckpt"), newest_checkpoint("whole")), "");
    for (const char* kind : {"/surface", "/preview"})
        EXPECT_EQ(difference(tree(std::string("o") + kind), tree(std::string("whole") + kind)), "");
    EXPECT_EQ(tree("o/volume").size(), 4u);
    EXPECT_TRUE(exists("o/movie.mp4"));
}

TEST_F(AState, torn_by_a_power_cut_is_made_again_from_the_one_before)
{
    write("small.toml", small_scene());
    ASSERT_EQ(tarn({"pack", "small.toml"}).code, 0);
    ASSERT_EQ(tarn_state({"small.pack", "--out", "whole"}).code, 0);
    ASSERT_EQ(tarn_state({"small.pack", "--out", "o", "--frames", "5"}).code, 0);
    write("o/state/frame_0005.ckpt", read("o/state/frame_0005.ckpt").substr(0, 1000));
    const Outcome resumed = tarn_state({"small.pack", "--out", "o", "--resume"});
    ASSERT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_NE(resumed.out.find("going on from o/state/frame_0004.ckpt"), std::string::npos) << resumed.out;
    EXPECT_NE(resumed.err.find("frame_0005.ckpt"), std::string::npos) << resumed.err;
    EXPECT_EQ(difference(tree("o/state"), tree("whole/state")), "");
    EXPECT_EQ(difference(physics("o"), physics("whole")), "");

    const auto before = tree("o/state");
    const Outcome again = tarn_state({"small.pack", "--out", "o", "--resume"});
    EXPECT_EQ(again.code, 0);
    EXPECT_NE(again.out.find("all 12 frames are there"), std::string::npos) << again.out;
    EXPECT_EQ(difference(tree("o/state"), before), "");
}

TEST_F(AState, whose_pressure_cannot_be_solved_stops_with_one_line)
{
    write("small.toml", small_scene("[pressure]\nsolver = \"mic0\"\ntolerance = 1e-12\nmax_iterations = 1\n"));
    ASSERT_EQ(tarn({"pack", "small.toml"}).code, 0);
    const Outcome r = tarn_state({"small.pack", "--out", "o"});
    EXPECT_EQ(r.code, 1);
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
    EXPECT_NE(r.err.find("pressure"), std::string::npos) << r.err;
    EXPECT_FALSE(exists("o/state/frame_0001.ckpt"));
}

TEST_F(AState, does_not_touch_what_is_there)
{
    write("small.toml", small_scene());
    ASSERT_EQ(tarn({"pack", "small.toml", "--frames", "1"}).code, 0);
    ASSERT_EQ(tarn({"pack", "small.toml", "other.pack", "--set", "domain.cells=16"}).code, 0);
    ASSERT_EQ(tarn_state({"small.pack", "--out", "o"}).code, 0);
    write("thesis/chapter.txt", "years of work");
    const auto before = tree(".");
    expect_refused(tarn_state({"small.pack", "--out", "o"}), "--resume");
    expect_refused(tarn_state({"other.pack", "--out", "o", "--resume"}), "another scene");
    expect_refused(tarn_state({"small.pack", "--out", "thesis"}), "not empty");
    expect_refused(tarn_state({"small.pack", "--out", "small.toml"}), "is a file");
    EXPECT_EQ(difference(tree("."), before), "");
}

TEST_F(AState, refuses_bad_words)
{
    write("small.toml", small_scene());
    ASSERT_EQ(tarn({"pack", "small.toml"}).code, 0);
    const std::string packed = read("small.pack");
    write("torn.pack", packed.substr(0, packed.size() - 10));
    const auto before = tree(".");
    expect_refused(tarn_state({}), "tarn pack");
    expect_refused(tarn_state({"small.pack"}), "--out");
    expect_refused(tarn_state({"small.pack", "--out"}), "--out");
    expect_refused(tarn_state({"small.pack", "--out", "o", "--frames", "many"}), "--frames many");
    expect_refused(tarn_state({"small.pack", "--out", "o", "--frames", "0"}), "--frames 0");
    expect_refused(tarn_state({"small.pack", "--out", "o", "--frames", "2000000"}), "time.frames");
    expect_refused(tarn_state({"small.pack", "--out", "o", "--resum"}), "did you mean \"--resume\"?");
    expect_refused(tarn_state({"small.pack", "more.pack", "--out", "o"}), "more.pack");
    expect_refused(tarn_state({"missing.pack", "--out", "o"}), "missing.pack: cannot read");
    expect_refused(tarn_state({"torn.pack", "--out", "o"}), "torn.pack: damaged or cut short");
    expect_refused(tarn_state({"small.toml", "--out", "o"}), "not a packed scene");
    EXPECT_EQ(difference(tree("."), before), "");
    const Outcome help = tarn_state({"--help"});
    EXPECT_EQ(help.code, 0);
    EXPECT_NE(help.out.find("Usage: tarn-state PACKED --out DIR"), std::string::npos) << help.out;
}

TEST_F(APackedScene, replaces_nothing_unasked)
{
    write("small.toml", small_scene());
    write("notes.txt", "mine");
    ASSERT_EQ(tarn({"pack", "small.toml"}).code, 0);
    EXPECT_EQ(tarn({"pack", "small.toml"}).code, 0) << "the same bytes";
    const auto before = tree(".");
    expect_refused(tarn({"pack", "small.toml", "--set", "domain.cells=16"}), "--force");
    expect_refused(tarn({"pack", "small.toml", "notes.txt", "--force"}), "no packed scene");
    expect_refused(tarn({"pack", "small.toml", "."}), "is a folder");
    expect_refused(tarn({"pack", "small.toml", "nowhere/small.pack"}), "nowhere/small.pack");
    expect_refused(tarn({"pack", "missing.toml"}), "missing.toml");
    EXPECT_EQ(difference(tree("."), before), "");
    EXPECT_EQ(tarn({"pack", "small.toml", "--set", "domain.cells=16", "--force"}).code, 0);
    EXPECT_NE(difference(tree("."), before), "");
}

TEST_F(AConversion, makes_only_what_is_missing)
{
    write("small.toml", small_scene());
    ASSERT_EQ(tarn({"pack", "small.toml", "--frames", "3"}).code, 0);
    ASSERT_EQ(tarn_state({"small.pack", "--out", "o"}).code, 0);
    ASSERT_EQ(tarn({"convert", "o"}).code, 0);
    const auto whole = tree("o/surface");
    std::filesystem::remove(folder / "o/surface/frame_0002.ply");
    write("o/surface/frame_0001.ply", "kept");
    const Outcome r = tarn({"convert", "o"});
    ASSERT_EQ(r.code, 0) << r.err;
    EXPECT_NE(r.out.find("frame 2/3"), std::string::npos) << r.out;
    EXPECT_EQ(r.out.find("frame 1/3"), std::string::npos) << r.out;
    EXPECT_EQ(read("o/surface/frame_0001.ply"), "kept");
    EXPECT_EQ(difference(read("o/surface/frame_0002.ply"), whole[2].second), "");
}

// The largest difference of any coordinate of two OBJ files with the same number of points, in cells; or 99.
double farthest(const std::string& a, const std::string& b, double h)
{
    std::istringstream one(a), other(b);
    double most = 0;
    for (std::string la, lb; std::getline(one, la);) {
        if (!std::getline(other, lb)) return 99;
        double x[3], y[3];
        if (std::sscanf(la.c_str(), "v %lf %lf %lf", x, x + 1, x + 2) != 3) continue;
        if (std::sscanf(lb.c_str(), "v %lf %lf %lf", y, y + 1, y + 2) != 3) return 99;
        for (int c = 0; c < 3; ++c) most = std::max(most, std::fabs(x[c] - y[c]) / h);
    }
    return most;
}

TEST_F(AConversion, gives_a_run_the_files_of_another_format)
{
    write("small.toml", small_scene("[[solid]]\nshape = \"sphere\"\ncenter = [0.7, 0.2, 0.25]\nradius = 0.1\n"));
    ASSERT_EQ(tarn({"run", "small.toml", "--frames", "3", "--out", "o"}).code, 0);
    for (const std::string format : {"usd", "vtp", "obj"}) {
        const std::string setting = "output.surface=" + format;
        ASSERT_EQ(tarn({"run", "small.toml", "--frames", "3", "--out", "same", "--force", "--set", setting}).code, 0);
        const Outcome r = tarn({"convert", "o", "--set", setting});
        ASSERT_EQ(r.code, 0) << r.err;
        EXPECT_NE(r.out.find("done: 4 frames"), std::string::npos) << r.out;
        for (const auto& [path, bytes] : tree("same"))
            if (path.find("frame_") != std::string::npos) {
                EXPECT_TRUE(exists("o/" + path)) << path;
            }
    }
    // The surface is that of the run, but for the rounding of what was kept. Where the surface touches a corner of a
    // cell the meshes may differ in their points; in these frames it does not.
    for (const char* frame : {"0001", "0003"}) {
        const std::string file = std::string("/surface/frame_") + frame + ".obj";
        EXPECT_LT(farthest(read("o" + file), read("same" + file), 1.0 / 24), 0.02) << frame;
    }
    EXPECT_EQ(read("o/solids/frame_0000.obj"), read("same/solids/frame_0000.obj"));

    // A finished run makes what was not asked for then.
    const Outcome more = tarn({"run", "small.toml", "--frames", "3", "--out", "o", "--resume", "--set",
                               "output.volume=true", "--set", "output.volume_format=npz"});
    ASSERT_EQ(more.code, 0) << more.err;
    EXPECT_TRUE(exists("o/volume/frame_0003.npz"));
    const Outcome nothing = tarn({"run", "small.toml", "--frames", "3", "--out", "o", "--resume"});
    EXPECT_EQ(nothing.out.find("done:"), std::string::npos) << nothing.out;
    std::filesystem::remove_all(folder / "o/state");
    expect_refused(tarn({"run", "small.toml", "--frames", "3", "--out", "o", "--resume", "--set", "output.volume=true"}),
                   "output.state = true");

    // The states of tarn-state become any format too.
    ASSERT_EQ(tarn({"pack", "small.toml", "--frames", "1"}).code, 0);
    ASSERT_EQ(tarn_state({"small.pack", "--out", "s"}).code, 0);
    ASSERT_EQ(tarn({"convert", "s", "--set", "output.surface=vtp", "--set", "output.volume=true", "--set",
                    "output.volume_format=vti"})
                  .code,
              0);
    EXPECT_TRUE(exists("s/surface/frame_0001.vtp"));
    EXPECT_TRUE(exists("s/volume/frame_0001.vti"));
    EXPECT_TRUE(exists("s/state/frame_0001.state"));

    expect_refused(tarn({"convert", "o", "--set", "output.surface=usdd"}), "did you mean \"usd\"?");
    expect_refused(tarn({"convert", "o", "--set", "domain.cells=16"}), "only [output] can be changed");
}

TEST_F(AConversion, refuses_what_it_cannot_convert)
{
    write("small.toml", small_scene());
    ASSERT_EQ(tarn({"pack", "small.toml"}).code, 0);
    ASSERT_EQ(tarn({"pack", "small.toml", "other.pack", "--set", "domain.cells=16"}).code, 0);
    ASSERT_EQ(tarn({"pack", "small.toml", "nothing.pack", "--set", "output.surface=none", "--set", "output.particles=false", "--set", "output.preview=false", "--set", "output.state=false"}).code, 0);
    expect_refused(tarn({"convert", "missing"}), "missing: no such folder");
    write("empty/notes.txt", "mine");
    expect_refused(tarn({"convert", "empty"}), "scene.pack");
    write("bare/scene.pack", read("small.pack"));
    expect_refused(tarn({"convert", "bare"}), "no states");

    ASSERT_EQ(tarn_state({"small.pack", "--out", "o", "--frames", "1"}).code, 0);
    expect_refused(tarn({"convert", "o", "--set", "domain.cells=16"}), "only [output] can be changed");
    write("o/scene.pack", read("nothing.pack"));
    expect_refused(tarn({"convert", "o"}), "asks for nothing");
    write("o/scene.pack", read("other.pack"));
    const Outcome other = tarn({"convert", "o"});
    EXPECT_EQ(other.code, 1);
    EXPECT_NE(other.err.find("not this scene's grid"), std::string::npos) << other.err;
    write("o/scene.pack", "scene");
    expect_refused(tarn({"convert", "o"}), "not a packed scene");
}

}  // namespace
}  // namespace tarn::testing
