// The papers' own methods as presets, in scene files.

#include "tarn/params/presets.h"

#include <gtest/gtest.h>

#include "tarn/base/error.h"
#include "tarn/params/describe.h"
#include "tarn/params/tables.h"
#include "tarn/scene/read.h"

namespace tarn {
namespace {

const char* const plain_scene = R"(tarn = 1
[domain]
size = [1, 1]
cells = 32
[[water]]
shape = "box"
min = [0, 0]
max = [0.3, 0.5]
)";

const Word& word_of_preset(Preset preset)
{
    for (const Section& section : sections())
        for (const ParamRow& row : section.rows)
            if (std::string(section.name) == "method" && std::string(row.name) == "preset")
                for (const Word& word : row.words)
                    if (word.value == static_cast<int>(preset)) return word;
    throw InputError("no such preset");
}

std::string with_preset(Preset preset) { return plain_scene + std::string("[method]\npreset = \"") + word_of_preset(preset).text + "\"\n"; }

// As a resolved scene tells it.
std::string value_of(const Params& given, const std::string& section_name, const std::string& key)
{
    Params params = given;
    for (const Section& section : sections())
        for (const ParamRow& row : section.rows)
            if (section_name == section.name && key == row.name) return value_text(row, *row.value(section.object(params, 0)), 2);
    return "";
}

constexpr Preset all_presets[] = {Preset::foster_1996, Preset::enright_2002, Preset::losasso_2004, Preset::song_2005, Preset::irving_2006};

TEST(Presets, choose_what_their_table_says_where_a_scene_does_not)
{
    for (const Preset preset : all_presets) {
        const Params p = read_params(with_preset(preset), "x.toml");
        int chosen = 0;
        for (const PresetChoice& c : preset_choices()) {
            if (c.preset != preset) continue;
            EXPECT_EQ(value_of(p, c.section, c.key), c.value) << word_of_preset(preset).text << ' ' << c.section << '.' << c.key;
            ++chosen;
        }
        EXPECT_GT(chosen, 0);
    }
    const Params none = read_params(with_preset(Preset::none), "x.toml"), plain = read_params(plain_scene, "x.toml");
    EXPECT_EQ(write_params(none), write_params(plain));
}

TEST(Presets, keys_of_the_scene_come_first)
{
    const std::string text = with_preset(Preset::enright_2002) + "leapfrog = true\n[surface]\nparticles_per_cell = 8\n";
    const Params p = read_params(text, "x.toml", {{"time.cfl", "1"}});
    EXPECT_TRUE(p.method.leapfrog);
    EXPECT_EQ(p.surface.particles_per_cell, 8);
    EXPECT_EQ(p.time.cfl, 1);
    EXPECT_EQ(p.surface.seeding, SeedingKind::even) << "and the rest stays the paper's";
}

// Every choice is in the resolved scene, so that it reads back alike whatever presets become later.
TEST(Presets, are_resolved_in_the_scene_that_a_run_keeps)
{
    for (const Preset preset : all_presets) {
        const std::string resolved = write_params(read_params(with_preset(preset), "x.toml"));
        EXPECT_EQ(write_params(read_params(resolved, "y.toml")), resolved) << word_of_preset(preset).text;
        for (const PresetChoice& c : preset_choices())
            if (c.preset == preset)
                EXPECT_NE(resolved.find(std::string("\n") + c.key + " = " + c.value + "\n"), std::string::npos) << c.key;
    }
}

TEST(Presets, are_told_by_tarn_params_and_its_page)
{
    const std::string text = params_text(), page = params_markdown();
    for (const PresetChoice& c : preset_choices()) {
        const std::string said = std::string(c.section) + "." + c.key + " = " + c.value;
        EXPECT_NE(text.find(said), std::string::npos) << said;
        EXPECT_NE(page.find(said), std::string::npos) << said;
    }
}

TEST(Presets, that_there_are_not_are_refused_with_those_that_there_are)
{
    try {
        (void)read_params(plain_scene + std::string("[method]\npreset = \"enright-2003\"\n"), "x.toml");
        FAIL();
    } catch (const InputError& e) {
        EXPECT_EQ(std::string(e.what()), "x.toml:10: method.preset: unknown word \"enright-2003\"; did you mean \"enright-2002\"?");
    }
    try {
        (void)read_params(plain_scene + std::string("[method]\nadvection = \"forward-euler\"\n"), "x.toml");
        FAIL();
    } catch (const InputError& e) {
        EXPECT_NE(std::string(e.what()).find("x.toml:10: method.advection: \"forward-euler\" carries a surface and no velocity"), std::string::npos)
            << e.what();
    }
}

}  // namespace
}  // namespace tarn
