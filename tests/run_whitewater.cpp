// Spray, bubbles and foam over a finished run, through the real program.

#include "run_helpers.h"
#include "tarn/output/particles.h"

namespace tarn::testing {
namespace {

class AWhitewater : public ProgramTest {
protected:
    void SetUp() override
    {
        ProgramTest::SetUp();
        write("small.toml", small_scene());
        ASSERT_EQ(tarn({"run", "small.toml", "--out", "o", "--frames", "6", "--quiet"}).code, 0);
    }
    // Settings that make much of a small run.
    Outcome pass(std::vector<std::string> more = {})
    {
        std::vector<std::string> words{"whitewater", "o", "--set", "whitewater.crest_curvature=0", "--set", "whitewater.crest=1e6"};
        words.insert(words.end(), more.begin(), more.end());
        return tarn(words);
    }
};

TEST_F(AWhitewater, is_the_same_each_time_and_leaves_the_run_alone)
{
    const auto states = tree("o/state");
    const Outcome first = pass();
    ASSERT_EQ(first.code, 0) << first.err;
    EXPECT_NE(first.out.find("done: 7 frames"), std::string::npos) << first.out;
    const auto made = tree("o/whitewater");
    EXPECT_EQ(made.size(), 8u);  // frames 0 to 6, and the settings
    ASSERT_EQ(pass({"--threads", "1"}).code, 0);
    EXPECT_EQ(difference(made, tree("o/whitewater")), "");
    EXPECT_EQ(difference(states, tree("o/state")), "");
    const auto drops = read_particles(folder / "o/whitewater/frame_0006.ply");
    EXPECT_GT(drops.size(), 100u);
    for (const Drop& d : drops)
        for (int a = 0; a < 3; ++a) EXPECT_TRUE(d.position[a] >= 0 && d.position[a] <= 1);
    // Other random numbers are other drops.
    ASSERT_EQ(pass({"--set", "whitewater.seed=1"}).code, 0);
    EXPECT_NE(difference(made, tree("o/whitewater")), "");
    EXPECT_NE(read("o/whitewater/whitewater.toml").find("seed = 1"), std::string::npos);
}

TEST_F(AWhitewater, is_in_drawings_where_it_is_asked_for)
{
    ASSERT_EQ(tarn({"preview", "o", "--quiet"}).code, 0);
    const std::string before = read("o/preview/frame_0006.png");
    ASSERT_EQ(pass().code, 0);
    ASSERT_EQ(tarn({"preview", "o", "--quiet"}).code, 0);
    EXPECT_NE(read("o/preview/frame_0006.png"), before);
    ASSERT_EQ(tarn({"preview", "o", "--quiet", "--set", "output.drops=run"}).code, 0);
    EXPECT_EQ(difference(read("o/preview/frame_0006.png"), before), "");
}

TEST_F(AWhitewater, says_what_is_wrong_and_what_to_do)
{
    Outcome r = tarn({"whitewater", "nowhere"});
    EXPECT_EQ(r.code, 2);
    EXPECT_NE(r.err.find("no such folder"), std::string::npos) << r.err;
    r = tarn({"whitewater", "o", "--set", "fluid.density=2"});
    EXPECT_EQ(r.code, 2);
    EXPECT_NE(r.err.find("[whitewater]"), std::string::npos) << r.err;
    r = tarn({"whitewater", "o", "--set", "whitewater.risespeed=2"});
    EXPECT_EQ(r.code, 2);
    EXPECT_NE(r.err.find("did you mean"), std::string::npos) << r.err;
    r = tarn({"preview", "o", "--set", "output.drops=whitewater"});
    EXPECT_EQ(r.code, 2);
    EXPECT_NE(r.err.find("tarn whitewater o"), std::string::npos) << r.err;
    std::filesystem::remove(folder / "o/state/frame_0003.state");
    r = tarn({"whitewater", "o"});
    EXPECT_EQ(r.code, 2);
    EXPECT_NE(r.err.find("no state of frame 3"), std::string::npos) << r.err;
    std::filesystem::remove_all(folder / "o/state");
    r = tarn({"whitewater", "o"});
    EXPECT_EQ(r.code, 2);
    EXPECT_NE(r.err.find("output.state = true"), std::string::npos) << r.err;
}

TEST_F(AWhitewater, files_of_something_else_are_refused)
{
    ASSERT_EQ(pass().code, 0);
    const std::string file = "o/whitewater/frame_0002.ply", good = read(file);
    for (const std::string& bad : {std::string("ply\n"), good.substr(0, good.size() - 3), good + "more"}) {
        write(file, bad);
        const Outcome r = tarn({"preview", "o", "--frames", "2"});
        EXPECT_EQ(r.code, 1);
        EXPECT_NE(r.err.find("make"), std::string::npos) << r.err;
    }
}

}  // namespace
}  // namespace tarn::testing
