// Thousands of random and damaged scenes: each is either read, and then written and read back the same, or refused
// with a message that names a line. tests/fuzz/ does the same without end.

#include <gtest/gtest.h>

#include <regex>

#include "scene_generator.h"
#include "tarn/base/error.h"
#include "tarn/scene/read.h"

using namespace tarn;

namespace {

struct Tally {
    int accepted = 0, refused = 0;
};

void try_scene(const std::string& text, Tally& tally)
{
    static const std::regex names_line_and_key("^x\\.toml:[1-9][0-9]*: [^\\n]*: ");
    Params params;
    try {
        params = read_params(text, "x.toml");
    } catch (const InputError& e) {
        ++tally.refused;
        ASSERT_TRUE(std::regex_search(e.what(), names_line_and_key)) << e.what() << "\nfor\n" << text;
        return;
    }
    ++tally.accepted;
    const std::string written = write_params(params);
    ASSERT_EQ(write_params(read_params(written, "written.toml")), written) << text;
}

}  // namespace

TEST(SceneMutations, every_damaged_scene_is_read_or_refused_with_line_and_key)
{
    SceneGenerator generator(1);
    Tally tally;
    for (int i = 0; i < 40000 && !HasFatalFailure(); ++i) {
        std::string text = generator.scene();
        for (size_t n = generator.pick(4); n > 0; --n) text = generator.damaged(text);
        try_scene(text, tally);
    }
    // Neither side may starve the other, or the test would say little.
    EXPECT_GT(tally.accepted, 1000);
    EXPECT_GT(tally.refused, 1000);
}
