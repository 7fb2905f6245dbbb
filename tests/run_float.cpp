// Bodies on a finished run, through the real program.

#include <cstdint>
#include <sstream>
#include <cstring>

#include <nlohmann/json.hpp>

#include "run_helpers.h"

namespace tarn::testing {
namespace {

const std::string ball = "tarn = 1\n[[solid]]\nmotion = \"body\"\nshape = \"sphere\"\ncenter = [0.75, 0.3, 0.25]\nradius = 0.06\ndensity = 400\n";

class AFloat : public ProgramTest {
protected:
    void SetUp() override
    {
        ProgramTest::SetUp();
        write("small.toml", small_scene());
        write("ball.toml", ball);
        ASSERT_EQ(tarn({"run", "small.toml", "--out", "o", "--frames", "6", "--quiet"}).code, 0);
    }
    // A state as version 1 had it: without the pressure.
    static std::string without_pressure(std::string bytes)
    {
        constexpr size_t header = 64, header_before = 56;
        const uint32_t version = 1;
        std::memcpy(bytes.data() + 8, &version, 4);
        size_t last = header;
        for (size_t at = header; at < bytes.size();) {
            uint64_t size = 0;
            std::memcpy(&size, bytes.data() + at, 8);
            last = at;
            at += 8 + size;
        }
        return bytes.substr(0, header_before) + bytes.substr(header, last - header);
    }
};

TEST_F(AFloat, is_carried_by_the_run_and_leaves_it_alone)
{
    const auto states = tree("o/state");
    const Outcome r = tarn({"float", "o", "--scene", "ball.toml"});
    ASSERT_EQ(r.code, 0) << r.err;
    const std::string made = read("o/float/ball/bodies.jsonl");
    ASSERT_EQ(tarn({"float", "o", "--scene", "ball.toml", "--name", "again", "--threads", "1"}).code, 0);
    EXPECT_EQ(difference(made, read("o/float/again/bodies.jsonl")), "");
    EXPECT_EQ(difference(states, tree("o/state")), "");
    // It falls onto the floor, as the wave is not there yet, and not through it.
    std::istringstream lines(made);
    int frame = 0;
    double height = 1;
    for (std::string line; std::getline(lines, line); ++frame) {
        const auto parsed = nlohmann::json::parse(line);
        EXPECT_EQ(parsed.at("step"), frame);
        const double next = parsed.at("bodies")[0].at("position")[1];
        EXPECT_LE(next, height + 0.02);
        EXPECT_GE(next, 0.05);
        height = next;
    }
    EXPECT_EQ(frame, 7);
    EXPECT_LT(height, 0.25);
    ASSERT_EQ(tarn({"preview", "o", "--frames", "2", "--quiet"}).code, 0);
    const std::string bare = read("o/try/preview/frame_0002.png");
    ASSERT_EQ(tarn({"preview", "o", "--frames", "2", "--quiet", "--float", "ball"}).code, 0);
    EXPECT_NE(read("o/try/preview/frame_0002.png"), bare);
}

TEST_F(AFloat, says_what_is_wrong_and_what_to_do)
{
    const auto expect = [&](const std::vector<std::string>& words, const std::string& text) {
        const Outcome r = tarn(words);
        EXPECT_EQ(r.code, 2) << text;
        EXPECT_NE(r.err.find(text), std::string::npos) << r.err;
    };
    expect({"float", "nowhere", "--scene", "ball.toml"}, "no such folder");
    expect({"float", "o", "--scene", "nothing.toml"}, "no such file");
    write("still.toml", "tarn = 1\n[[solid]]\nshape = \"sphere\"\ncenter = [0.7, 0.3, 0.25]\nradius = 0.06\n");
    expect({"float", "o", "--scene", "still.toml"}, "still.toml:2: solid: what floats needs motion = \"body\"");
    write("none.toml", "tarn = 1\n");
    expect({"float", "o", "--scene", "none.toml"}, "has no bodies; give a [[solid]]");
    expect({"float", "o", "--scene", "ball.toml", "--name", "../x"}, "leave out slashes");
    expect({"preview", "o", "--float", "cans"}, "tarn float o --scene FILE");
    write("bodies.toml", small_scene(ball.substr(ball.find("[[solid]]"))));
    ASSERT_EQ(tarn({"run", "bodies.toml", "--out", "b", "--frames", "1", "--quiet"}).code, 0);
    expect({"float", "b", "--scene", "ball.toml"}, "has bodies of its own");
}

TEST_F(AFloat, needs_states_with_the_pressure)
{
    for (int n = 0; n <= 6; ++n) {
        const std::string file = "o/state/frame_000" + std::to_string(n) + ".state";
        write(file, without_pressure(read(file)));
    }
    // What needs none of it goes on.
    EXPECT_EQ(tarn({"preview", "o", "--frames", "2", "--quiet"}).code, 0);
    const Outcome r = tarn({"float", "o", "--scene", "ball.toml"});
    EXPECT_EQ(r.code, 2);
    EXPECT_NE(r.err.find("holds no pressure"), std::string::npos) << r.err;
    EXPECT_NE(r.err.find("run the scene again"), std::string::npos) << r.err;
    EXPECT_FALSE(exists("o/float/ball"));
}

}  // namespace
}  // namespace tarn::testing
