// What `tarn check` says beforehand against what the run then takes, and what it warns of.

#include <nlohmann/json.hpp>

#include "run_helpers.h"
#include "tarn/run/check.h"
#include "tarn/scene/read.h"

namespace tarn::testing {
namespace {

const std::string scenes = TARN_SOURCE_DIR "/scenes/";

bool warns(const CheckReport& report, const std::string& text)
{
    for (const Finding& f : report.findings)
        if (f.level == Finding::warning && f.text.find(text) != std::string::npos) return true;
    return false;
}

bool notes(const CheckReport& report, const std::string& text)
{
    for (const Finding& f : report.findings)
        if (f.level == Finding::info && f.text.find(text) != std::string::npos) return true;
    return false;
}

class Check : public ProgramTest {
protected:
    CheckReport check_text(const std::string& text)
    {
        write("scene.toml", text);
        return check(read_scene(folder / "scene.toml"));
    }
};

// The bound is the promise that an estimate is worth planning with. Of the dam break, frames enough for the water to be everywhere it
// will get and for its droplets to be counted; of the others, as many as fields, solids and pictures need to be there.
struct EstimatedRun {
    const char* scene;
    int cells, frames;
};
void PrintTo(const EstimatedRun& r, std::ostream* out) { *out << r.scene; }

class CheckEstimates : public ProgramTest, public ::testing::WithParamInterface<EstimatedRun> {};

TEST_P(CheckEstimates, memory_to_a_fifth)
{
    const auto [name, cells, frames] = GetParam();
    const std::string file = std::string(scenes) + name + ".toml", n = std::to_string(cells);
    const double estimate = check(read_scene(file, {{"domain.cells", n}})).estimate.memory / 1e6;
    const Outcome r = tarn({"run", file, "--set", "domain.cells=" + n, "--frames", std::to_string(frames), "--out", "o"});
    ASSERT_EQ(r.code, 0) << r.err;
    const double peak = nlohmann::json::parse(read("o/run.json"))["peak_memory_mb"];
    EXPECT_NEAR(estimate, peak, 0.2 * peak);
}

INSTANTIATE_TEST_SUITE_P(Scenes, CheckEstimates,
                         ::testing::Values(EstimatedRun{"smoke_plume", 96, 2}, EstimatedRun{"dam_break", 48, 30}, EstimatedRun{"drop_in_pool", 64, 10},
                                           EstimatedRun{"sloshing_tank", 64, 6}, EstimatedRun{"keyframed_paddle", 64, 6},
                                           EstimatedRun{"hose_into_box", 64, 8}),
                         [](const auto& info) { return std::string(info.param.scene); });

// Whole cells cannot hold a wall between them.
TEST_F(Check, the_solver_of_whole_cells_refuses_thin_walls)
{
    const std::string scene = "tarn = 1\n[domain]\nsize = [1, 1]\ncells = 32\n[[water]]\nshape = \"box\"\nmin = [0, 0]\nmax = [0.4, 0.5]\n"
                              "[[solid]]\nshape = \"box\"\nmin = [0.5, -1]\nmax = [WIDE, 0.3]\n[method]\nsolver = \"foster-metaxas\"\n";
    const auto refused = [&](const std::string& wide) {
        std::string text = scene;
        for (const Finding& f : check_text(text.replace(text.find("WIDE"), 4, wide)).findings)
            if (f.level == Finding::error) return f.text;
        return std::string();
    };
    EXPECT_NE(refused("0.51").find("fills whole cells: make them thicker"), std::string::npos) << refused("0.51");
    EXPECT_EQ(refused("0.6"), "");
}

TEST_F(Check, tells_of_walls_that_stick_without_viscosity)
{
    const std::string stick = "does nothing to water without viscosity", walls = "[domain.walls]\nleft = \"no-slip\"\n";
    EXPECT_TRUE(warns(check_text(small_scene(walls)), stick));
    EXPECT_FALSE(warns(check_text(small_scene(walls + "[fluid]\nviscosity = 1e-3\n")), stick));
    EXPECT_FALSE(warns(check_text(small_scene()), stick));
}

TEST_F(Check, finds_nothing_wrong_with_the_example_scenes)
{
    int n = 0;
    for (const auto& entry : std::filesystem::directory_iterator(scenes)) {
        if (entry.path().extension() != ".toml") continue;
        ++n;
        for (const Finding& f : check(read_scene(entry.path())).findings) EXPECT_EQ(f.level, Finding::info) << f.text;
    }
    EXPECT_GE(n, 7);
}

TEST_F(Check, tells_of_walls_thinner_than_a_cell_and_of_no_others)
{
    const auto with = [&](const std::string& solid) { return check_text(small_scene("[[solid]]\n" + solid)); };
    const std::string thin = "thinner than a cell", hold = "they hold water";
    // Cells are 1/24 m.
    EXPECT_TRUE(notes(with("shape = \"box\"\nmin = [0.6, 0, 0]\nmax = [0.63, 0.5, 0.5]\n"), hold));
    EXPECT_FALSE(notes(with("shape = \"box\"\nmin = [0.6, 0, 0]\nmax = [0.7, 0.5, 0.5]\n"), thin));
    // A thin rod that passes between the cells' centres.
    EXPECT_TRUE(notes(with("shape = \"cylinder\"\ncenter = [0.625, 0.5, 0.25]\nradius = 0.005\nheight = 0.8\n"), hold));
    EXPECT_FALSE(notes(with("shape = \"sphere\"\ncenter = [0.7, 0.3, 0.25]\nradius = 0.15\n"), thin));
    // A slab that continues into the domain's wall is as thick as it looks and more.
    EXPECT_FALSE(notes(with("shape = \"box\"\nmin = [-0.1, -0.1, -0.1]\nmax = [1.1, 0.02, 0.6]\n"), thin));
    // A hollow box with thin walls, made by subtraction.
    EXPECT_TRUE(notes(with("shape = \"box\"\nmin = [0.5, 0.1, 0.1]\nmax = [0.9, 0.5, 0.4]\n[[solid]]\nshape = \"box\"\n"
                           "min = [0.52, 0.12, 0.12]\nmax = [0.88, 0.48, 0.38]\nsubtract = true\n"),
                      hold));
    // A mesh is known by samples half a cell apart, between which a thin wall has holes.
    write("plate.obj",
          "v 0.6 0 0\nv 0.63 0 0\nv 0.63 0.5 0\nv 0.6 0.5 0\nv 0.6 0 0.5\nv 0.63 0 0.5\nv 0.63 0.5 0.5\nv 0.6 0.5 0.5\n"
          "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n");
    EXPECT_TRUE(warns(with("shape = \"mesh\"\nfile = \"plate.obj\"\n"), "may pass through a mesh"));
}

TEST_F(Check, warns_of_solids_outside_and_sinks_in_solids)
{
    EXPECT_TRUE(warns(check_text(small_scene("[[solid]]\nshape = \"sphere\"\ncenter = [3, 3, 3]\nradius = 0.2\n")),
                      "outside the domain"));
    EXPECT_TRUE(
        warns(check_text(small_scene("[[solid]]\nshape = \"box\"\nmin = [0.6, 0, 0]\nmax = [1, 1, 0.5]\n[[sink]]\n"
                                     "shape = \"sphere\"\ncenter = [0.8, 0.5, 0.25]\nradius = 0.1\n")),
              "inside a solid"));
}

TEST_F(Check, warns_of_wind_that_does_nothing)
{
    EXPECT_FALSE(warns(check_text(small_scene("[wind]\nvelocity = [3, 0, 0]\n")), "wind"));
    EXPECT_TRUE(warns(check_text(small_scene("[wind]\nvelocity = [3, 0, 0]\nalpha = 0\n")), "alpha is 0"));
    EXPECT_TRUE(
        warns(check_text(small_scene("[[solid]]\nshape = \"box\"\nmin = [0.6, 0, 0]\nmax = [1, 1, 0.5]\n[wind]\n"
                                     "shape = \"sphere\"\ncenter = [0.8, 0.5, 0.25]\nradius = 0.1\n")),
              "inside a solid"));
}

TEST_F(Check, counts_the_wet_cells)
{
    const Estimate e = check_text(small_scene()).estimate;
    EXPECT_EQ(e.cells, 24 * 24 * 12);
    // 0.4 x 0.6 x 0.5 m of cells of 1/24 m: 9.6 x 14.4 x 12 cells, of which 10 x 14 x 12 have their centre inside.
    EXPECT_EQ(e.wet, 10 * 14 * 12);
}

}  // namespace
}  // namespace tarn::testing
