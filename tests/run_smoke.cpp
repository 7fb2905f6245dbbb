// Runs of smoke: what they leave, that they go on where they stopped, and what they refuse.

#include <openvdb/io/File.h>
#include <openvdb/openvdb.h>

#include <cmath>

#include "run_helpers.h"
#include "tarn/output/frame_state.h"
#include "tarn/scene/read.h"
#include "tarn/step/step.h"

namespace tarn::testing {
namespace {

// A hot source under a solid that moves, with an open top; `more` is appended.
std::string smoke_scene(const std::string& more = "", bool deep = false)
{
    const std::string z = deep ? ", 0.5]" : "]", zero = deep ? ", 0]" : "]";
    return "tarn = 1\n[domain]\nsize = [1, 1.2" + std::string(deep ? ", 1]" : "]") +
           "\ncells = 24\n[domain.walls]\ntop = \"open\"\n[method]\nphases = \"smoke\"\n[smoke]\nconfinement = 0.2\n"
           "[[cloud]]\nshape = \"sphere\"\ncenter = [0.5, 0.3" + z + "\nradius = 0.1\ntemperature = 393\n"
           "[[source]]\nshape = \"box\"\nmin = [0.3, 0" + zero + "\nmax = [0.6, 0.1" + (deep ? ", 0.7]" : "]") +
           "\ndensity = 1\ntemperature = 493\n[[solid]]\nshape = \"sphere\"\ncenter = [0.5, 0.7" + z +
           "\nradius = 0.12\ntemperature = 500\ntranslate = [{t = 0, v = [0, 0" + zero + "}, {t = 1, v = [0.2, 0.1" + zero + "}]\n"
           "[time]\nframes = 6\nrate = 12\n[output]\npreview_width = 64\ncheckpoint_interval = 0\ncheckpoint_every = 3\n" + more;
}

class ASmokeRun : public ProgramTest {};

TEST_F(ASmokeRun, has_the_same_bits_on_any_number_of_threads_and_after_it_was_interrupted)
{
    for (const bool deep : {false, true})
        for (const char* advection : {"maccormack", "cip"}) {
            write("smoke.toml", smoke_scene("", deep));
            const std::string set = std::string("method.advection=") + advection;
            ASSERT_EQ(tarn({"run", "smoke.toml", "--set", set, "--out", "one", "--threads", "1"}).code, 0);
            ASSERT_EQ(tarn({"run", "smoke.toml", "--set", set, "--out", "two", "--threads", "2"}).code, 0);
            ASSERT_EQ(tarn({"run", "smoke.toml", "--set", set, "--out", "part", "--frames", "3"}).code, 0);
            ASSERT_EQ(tarn({"run", "smoke.toml", "--set", set, "--out", "part", "--frames", "6", "--resume"}).code, 0);
            EXPECT_EQ(physics("one"), physics("two"));
            EXPECT_EQ(physics("one"), physics("part"));
            for (const char* what : {"state", "preview"}) {
                EXPECT_EQ(difference(tree(std::string("one/") + what), tree(std::string("two/") + what)), "") << what;
                EXPECT_EQ(difference(tree(std::string("one/") + what), tree(std::string("part/") + what)), "") << what;
            }
            EXPECT_FALSE(exists("one/surface/frame_0000.ply"));
            // What left through the top and came from the source is expected.
            const auto volume = column("one", "volume"), expected = column("one", "volume_expected");
            EXPECT_NEAR(volume.back(), expected.back(), 1e-4 * expected.back());
            EXPECT_GT(volume.back(), 1.2 * volume.front());
            for (const char* dir : {"one", "two", "part"}) std::filesystem::remove_all(folder / dir);
        }
}

TEST_F(ASmokeRun, leaves_a_volume_by_the_names_of_others)
{
    write("smoke.toml", smoke_scene("volume = true\n", true));
    ASSERT_EQ(tarn({"run", "smoke.toml", "--out", "o"}).code, 0);
    openvdb::initialize();
    openvdb::io::File file(folder / "o/volume/frame_0006.vdb");
    file.open();
    const auto density = openvdb::gridPtrCast<openvdb::FloatGrid>(file.readGrid("density"));
    const auto temperature = openvdb::gridPtrCast<openvdb::FloatGrid>(file.readGrid("temperature"));
    const auto velocity = openvdb::gridPtrCast<openvdb::Vec3SGrid>(file.readGrid("vel"));
    EXPECT_EQ(file.getGrids()->size(), 3u);
    EXPECT_EQ(temperature->background(), 293);
    EXPECT_EQ(density->getGridClass(), openvdb::GRID_FOG_VOLUME);
    // In the source, by half floats.
    const openvdb::Coord there(8, 1, 9);
    EXPECT_NEAR(density->tree().getValue(there), 1, 1e-3);
    EXPECT_NEAR(temperature->tree().getValue(there), 493, 0.5);
    EXPECT_GT(velocity->activeVoxelCount(), density->activeVoxelCount() / 2);
    // The state of the frame holds the same to 1/16384 of the most.
    const FrameState<3> state = read_state<3>(folder / "o/state/frame_0006.state");
    double sum = 0, of_file = 0;
    const Grid<3> g = state.grid;
    for (int k = 0; k < g.cells[2]; ++k)
        for (int j = 0; j < g.cells[1]; ++j)
            for (int i = 0; i < g.cells[0]; ++i) {
                sum += double(state.smoke_density({i, j, k}));
                of_file += double(density->tree().getValue(openvdb::Coord(i, j, k)));
            }
    EXPECT_NEAR(sum, of_file, 2e-3 * sum);
    for (const char* format : {"npz", "vti"}) {
        const Outcome r = tarn({"convert", "o", "--set", std::string("output.volume_format=") + format});
        ASSERT_EQ(r.code, 0) << r.err;
        EXPECT_TRUE(exists(std::string("o/volume/frame_0006.") + format));
    }
    // A picture of it, from what is kept.
    const Outcome r = tarn({"render", "o", "--frames", "6", "--samples", "1", "--scale", "0.1"});
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_TRUE(exists("o/try/render/frame_0006.png"));
}

TEST_F(ASmokeRun, refuses_what_is_of_water_and_water_what_is_of_smoke)
{
    const struct {
        std::string scene;
        const char* told;
    } table[] = {
        {smoke_scene("[[water]]\nshape = \"box\"\nmin = [0, 0]\nmax = [1, 0.1]\n"), "bad.toml:36: water.0.shape: has no part in a scene of smoke"},
        {smoke_scene("[fluid]\nviscosity = 1\n"), "bad.toml:36: fluid.viscosity: has no part"},
        {smoke_scene("[surface]\nband = 5\n"), "surface.band: has no part"},
        {smoke_scene("[render]\nwater = \"milk\"\n"), "render.water: has no part"},
        {smoke_scene("[wind]\nvelocity = [1, 0]\n"), "use a [[force]] of kind \"drag\""},
        {smoke_scene("[[solid]]\nshape = \"box\"\nmin = [0, 0]\nmax = [0.1, 0.1]\nmotion = \"body\"\ndensity = 100\n"), "smoke carries no bodies"},
        {smoke_scene("[[source]]\nshape = \"box\"\nmin = [0, 0]\nmax = [0.1, 0.1]\n"), "needs density, temperature, velocity or rate"},
        {smoke_scene("[[gauge]]\nname = \"p\"\nkind = \"pressure\"\npoint = [0.1, 0.1]\n"), "gauge.0.kind: is of water"},
        {smoke_scene("[domain.motion]\ntranslate = [1, 0]\n"), "domain.motion"},
        {small_scene("[smoke]\nweight = 1\n"), "smoke.weight: does nothing without smoke"},
        {small_scene("[[cloud]]\nshape = \"sphere\"\ncenter = [0.5, 0.5, 0.2]\nradius = 0.1\n"), "cloud.0.shape: does nothing without smoke"},
        {small_scene("[[solid]]\nshape = \"sphere\"\ncenter = [0.5, 0.5, 0.2]\nradius = 0.1\ntemperature = 300\n"), "solid.0.temperature"},
        {small_scene("[render]\nsmoke_albedo = [1, 1, 1]\n"), "render.smoke_albedo"},
    };
    for (const auto& [scene, told] : table) {
        write("bad.toml", scene);
        const Outcome r = tarn({"run", "bad.toml"});
        EXPECT_EQ(r.code, 2) << scene;
        EXPECT_NE(r.err.find(told), std::string::npos) << told << "\n" << r.err;
        EXPECT_NE(r.err.find("bad.toml:"), std::string::npos) << r.err;
    }
    // What blows into a closed box has nowhere to go.
    write("bad.toml", "tarn = 1\n[domain]\nsize = [1, 1]\n[method]\nphases = \"smoke\"\n[[source]]\nshape = \"box\"\nmin = [0, 0]\nmax = [0.2, 0.2]\nrate = 0.1\n");
    EXPECT_EQ(tarn({"run", "bad.toml"}).code, 2);
    write("good.toml", smoke_scene());
    const Outcome r = tarn({"check", "good.toml"});
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_NE(r.out.find("with smoke"), std::string::npos) << r.out;
}

}  // namespace
}  // namespace tarn::testing
