// Bad input through the real program: exit code 2, one line that names the place, and nothing made or destroyed.

#include <algorithm>

#include "run_helpers.h"

namespace tarn::testing {
namespace {

struct BadInput {
    const char* name;
    std::string scene;               // written to bad.toml
    std::vector<std::string> words;  // in place of `run bad.toml`
    const char* told;                // must stand in the line
};

void PrintTo(const BadInput& b, std::ostream* out) { *out << b.name; }

std::string with(const std::string& from, const std::string& to)
{
    std::string scene = small_scene();
    scene.replace(scene.find(from), from.size(), to);
    return scene;
}

const std::string solid_mesh = "[[solid]]\nshape = \"mesh\"\nfile = \"thing.obj\"\n";

std::string ball_body(const std::string& centre, const std::string& weight = "density = 500")
{
    return "[[solid]]\nshape = \"sphere\"\ncenter = " + centre + "\nradius = 0.1\nmotion = \"body\"\n" + weight + "\n";
}

const BadInput table[] = {
    {"bodies_that_overlap", small_scene(ball_body("[0.6, 0.7, 0.2]") + ball_body("[0.7, 0.7, 0.2]")), {}, "overlaps"},
    {"a_body_outside", small_scene(ball_body("[3, 0.7, 0.2]")), {}, "outside"},
    {"a_body_half_outside", small_scene(ball_body("[0.02, 0.7, 0.25]")), {}, "reaches through the domain's left side"},
    {"a_body_without_mass", small_scene(ball_body("[0.7, 0.7, 0.2]", "mass = 0")), {}, "solid.0.mass"},
    {"a_body_of_no_weight", small_scene(ball_body("[0.7, 0.7, 0.2]", "")), {}, "solid.0.density"},
    {"a_body_lighter_than_foam", small_scene(ball_body("[0.7, 0.7, 0.2]", "density = 19")), {}, "lighter than 0.02"},
    {"a_gauge_in_a_solid",
     small_scene("[[solid]]\nshape = \"box\"\nmin = [0.6, 0, 0]\nmax = [1, 1, 0.5]\n[[gauge]]\nname = \"p\"\n"
                 "kind = \"pressure\"\npoint = [0.8, 0.5, 0.25]\n"),
     {},
     "inside a solid"},
    {"a_gauge_on_nobody", small_scene("[[gauge]]\nname = \"f\"\nkind = \"force\"\nsolid = \"boat\"\n"), {}, "boat"},
    {"a_force_of_no_kind", small_scene("[[force]]\nacceleration = [1, 0, 0]\n"), {}, "a force needs it"},
    {"a_force_around_nothing", small_scene("[[force]]\nkind = \"point\"\nstrength = 1\n"), {}, "force.0.around"},
    {"a_force_with_anothers_key", small_scene("[[force]]\nkind = \"drag\"\nrate = 1\nfalloff = 1\n"), {}, "bad.toml:"},
    {"levels_that_do_not_fit", small_scene("[octree]\nlevels = 9\n"), {"run", "bad.toml", "--set", "method.grid=octree"}, "octree.levels"},
    {"octree_keys_on_a_uniform_grid", small_scene("[octree]\nlevels = 2\n"), {}, "method.grid = \"octree\""},
    {"a_box_of_a_level_that_is_not_there",
     small_scene("[octree]\nlevels = 1\n[[refine]]\nmin = [0, 0, 0]\nmax = [1, 1, 1]\nlevel = 3\n"),
     {"run", "bad.toml", "--set", "method.grid=octree"},
     "refine.0.level"},
    {"air_on_an_octree",
     small_scene(),
     {"run", "bad.toml", "--set", "method.grid=octree", "--set", "method.phases=water-air"},
     "velocities of both"},
    {"honey_on_an_octree",
     small_scene(),
     {"run", "bad.toml", "--set", "method.grid=octree", "--set", "fluid.viscosity=1"},
     "know no viscosity yet"},
    {"waves_that_break",
     small_scene("[[waves]]\nkind = \"airy\"\nlength = 0.2\nheight = 0.1\nlevel = 0.6\n"),
     {},
     "break when they are higher"},
    {"waves_without_room", small_scene("[[waves]]\nkind = \"absorb\"\nlength = 5\nlevel = 0.6\n"), {}, "wider than the domain"},
    {"waves_of_no_length", small_scene("[[waves]]\nkind = \"absorb\"\nlevel = 0.6\n"), {}, "waves.0.length"},
    {"a_pressure_of_nothing", small_scene("[[surface_pressure]]\nlevel = 0.6\n"), {}, "surface_pressure.0.pressure"},
    {"a_pressure_with_air",
     small_scene("[[surface_pressure]]\npressure = 10\n"),
     {"run", "bad.toml", "--set", "method.phases=water-air"},
     "whose air flows by itself"},
    {"a_path_of_one_point", small_scene("[[path]]\nname = \"a\"\npoints = [1, 0, 0]\n"), {}, "two points at least"},
    {"a_path_that_is_not_there",
     small_scene("[[solid]]\nshape = \"sphere\"\ncenter = [0.7, 0.5, 0.2]\nradius = 0.1\npath = \"home\"\n"),
     {},
     "no [[path]] has the name \"home\""},
    {"drops_without_a_rate",
     small_scene("[[source]]\nshape = \"box\"\nmin = [0, 0.8, 0]\nmax = [1, 0.9, 0.5]\ndrops = 0.01\n"),
     {},
     "source.0.rate"},
    {"a_formula_that_is_none",
     small_scene("[[sink]]\nshape = \"box\"\nmin = [0, 0, 0]\nmax = [1, 0.1, 0.5]\nrate = \"1 + tt\"\n"),
     {},
     "\"tt\" is not known"},
    {"a_formula_out_of_range",
     small_scene("[[sink]]\nshape = \"box\"\nmin = [0, 0, 0]\nmax = [1, 0.1, 0.5]\nrate = \"0.001 - t\"\n"),
     {},
     "at t = "},
    {"plots_of_nothing", "", {"plot", "nowhere"}, "nowhere"},
    {"unknown_key", with("cells = 24", "celsl = 24"), {}, "bad.toml:5"},
    {"unknown_table", small_scene("[presure]\ntolerance = 1e-3\n"), {}, "pressure"},
    {"wrong_type", with("cells = 24", "cells = \"many\""), {}, "bad.toml:5"},
    {"negative_size", with("size = [1.0, 1.0, 0.5]", "size = [1.0, -1.0, 0.5]"), {}, "bad.toml:4"},
    {"not_toml", "tarn = = 1\n", {}, "bad.toml:1"},
    {"missing_mesh", small_scene(solid_mesh), {}, "thing.obj"},
    {"no_water", with("[[water]]\nshape = \"box\"\nmin = [0, 0, 0]\nmax = [0.4, 0.6, 0.5]\n", ""), {}, "water"},
    {"water_outside",
     with("min = [0, 0, 0]\nmax = [0.4, 0.6, 0.5]", "min = [2, 2, 2]\nmax = [3, 3, 3]"),
     {},
     "outside"},
    {"source_in_a_solid",
     small_scene("[[solid]]\nshape = \"box\"\nmin = [0.6, 0, 0]\nmax = [1, 1, 0.5]\n[[source]]\n"
                 "shape = \"sphere\"\ncenter = [0.8, 0.5, 0.25]\nradius = 0.1\nvelocity = [1, 0, 0]\n"),
     {},
     "inside a solid"},
    {"no_such_scene", "", {"run", "nowhere.toml"}, "nowhere.toml"},
    {"scene_is_a_folder", "", {"run", "."}, "."},
    {"unwritable_output", small_scene(), {"run", "bad.toml", "--out", "bad.toml/out"}, "bad.toml/out"},
    {"output_is_a_file", small_scene(), {"run", "bad.toml", "--out", "bad.toml"}, "is a file"},
    {"unknown_set", small_scene(), {"run", "bad.toml", "--set", "domain.cels=3"}, "cells"},
    {"set_without_value", small_scene(), {"run", "bad.toml", "--set", "domain.cells"}, "key=value"},
    {"no_frames", small_scene(), {"run", "bad.toml", "--frames", "0"}, "--frames: give a number above 0, not 0"},
    {"unknown_option", small_scene(), {"run", "bad.toml", "--speed"}, "--speed"},
    {"unknown_command", "", {"rnu"}, "\"run\""},
    {"no_such_case", "", {"validate", "nothing_of_the_kind"}, "nothing_of_the_kind"},
    {"movie_of_nothing", "", {"movie", "nowhere"}, "nowhere"},
    {"more_cells_than_an_index", small_scene(), {"check", "bad.toml", "--set", "domain.cells=4000"}, "domain.cells"},
};

class BadInputs : public ProgramTest, public ::testing::WithParamInterface<BadInput> {};

TEST_P(BadInputs, is_refused_in_one_line)
{
    const BadInput& bad = GetParam();
    if (!bad.scene.empty()) write("bad.toml", bad.scene);
    const auto before = tree(".");
    const Outcome r = tarn(bad.words.empty() ? std::vector<std::string>{"run", "bad.toml"} : bad.words);
    EXPECT_EQ(r.code, 2) << r.out << r.err;
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
    EXPECT_NE(r.err.find(bad.told), std::string::npos) << r.err;
    EXPECT_EQ(difference(tree("."), before), "");
}

INSTANTIATE_TEST_SUITE_P(Table, BadInputs, ::testing::ValuesIn(table),
                         [](const auto& info) { return std::string(info.param.name); });

using Inputs = ProgramTest;

TEST_F(Inputs, an_open_mesh_is_refused)
{
    write("thing.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    for (const std::string motion : {"", "motion = \"body\"\ndensity = 500\n"}) {
        write("bad.toml", small_scene(solid_mesh + motion));
        const Outcome r = tarn({"run", "bad.toml"});
        EXPECT_EQ(r.code, 2);
        EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
        EXPECT_NE(r.err.find("thing.obj"), std::string::npos) << r.err;
        EXPECT_FALSE(exists("out"));
    }
}

TEST_F(Inputs, every_wrong_key_has_its_line)
{
    write("bad.toml", with("cells = 24", "celsl = 24") + "[tim]\nrate = 3\n");
    const Outcome r = tarn({"run", "bad.toml"});
    EXPECT_EQ(r.code, 2);
    EXPECT_TRUE(r.err.starts_with("tarn: bad.toml:5: domain.celsl: ")) << r.err;
    EXPECT_NE(r.err.find("\ntarn: bad.toml:"), std::string::npos) << r.err;
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 2) << r.err;
}

TEST_F(Inputs, what_does_not_fit_into_memory_is_refused_by_check_and_run)
{
    write("small.toml", small_scene());
    for (const char* command : {"check", "run"}) {
        const Outcome r = tarn(Launch{.words = {command, "small.toml"}, .environment = {{"TARN_MEMORY_MB", "1"}}});
        EXPECT_EQ(r.code, 2);
        EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
        EXPECT_NE(r.err.find("memory"), std::string::npos) << r.err;
        EXPECT_FALSE(exists("out"));
    }
}

TEST_F(Inputs, help_and_version_are_not_errors)
{
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"--help"}, {"run", "--help"}, {"--version"}, {"params"}, {"schema"}, {"scenes"}}) {
        const Outcome r = tarn(words);
        EXPECT_EQ(r.code, 0) << words[0] << r.err;
        EXPECT_FALSE(r.out.empty()) << words[0];
        EXPECT_EQ(r.err, "") << words[0];
    }
}

}  // namespace
}  // namespace tarn::testing
