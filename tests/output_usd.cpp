// USD as OpenUSD reads it.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "output_water.h"
#include "run_helpers.h"
#include "tarn/output/usd.h"

namespace tarn::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// tests/read_usd.js on a file of the test's folder.
class Usd : public ProgramTest {
protected:
    void SetUp() override
    {
        ProgramTest::SetUp();
        if (!fs::exists(TARN_USD_READER) || std::system("node --version > /dev/null 2>&1") != 0)
            GTEST_SKIP() << "no USD reader: it takes node, and " << TARN_USD_READER
                         << ", which ./tarn test fetches by npm";
    }

    json read_usd(const std::string& where, const std::string& file, const std::vector<std::string>& times) const
    {
        std::vector<std::string> words = {"node", TARN_SOURCE_DIR "/tests/read_usd.js", TARN_USD_READER,
                                          (folder / where).string(), file};
        words.insert(words.end(), times.begin(), times.end());
        const Outcome r = tarn(Launch{.words = words, .program = "/usr/bin/env"});
        EXPECT_EQ(r.code, 0) << r.err;
        if (r.code != 0) return {};
        const json found = json::parse(r.out);
        EXPECT_EQ(found["complaints"], json::array());
        return found;
    }
};

// The numbers of a list, or of a list of vectors. Text has the fewest digits that give the same float back, which are
// not the same as a double's.
std::vector<float> floats(const json& list)
{
    std::vector<float> all;
    for (const json& entry : list) {
        if (entry.is_array())
            for (const json& number : entry) all.push_back(number.get<float>());
        else
            all.push_back(entry.get<float>());
    }
    return all;
}
std::vector<float> floats(const std::vector<Vec3f>& vectors)
{
    std::vector<float> all;
    for (const Vec3f& v : vectors)
        for (int a = 0; a < 3; ++a) all.push_back(v[a]);
    return all;
}

Mesh ball(double radius)
{
    Water<3> w = water_of<3>({12, 12, 12}, 1.0 / 12, [&](Vec3 x) { return length(x - Vec3{0.5, 0.4, 0.5}) - radius; });
    for (int a = 0; a < 3; ++a) w.velocity[a].fill(static_cast<float>(a + radius));
    return surface_mesh(w);
}

TEST_F(Usd, frames_of_different_topology_are_one_stage)
{
    const std::string dir = (folder / "run").string();
    fs::create_directories(dir + "/surface");
    const Mesh mesh[] = {ball(0.2), ball(0.35)};
    ASSERT_NE(mesh[0].points.size(), mesh[1].points.size());
    const std::vector<Drop> spray[] = {{},
                                       {{{0.1f, 0.2f, 0.3f}, {4, 5, 6}, 0.01f, 0}, {{1, 2, 3}, {0, -1, 0}, 0.02f, 0}}};
    const UsdRun run{.title = "A \"ball\"", .rate = 24, .spray = true, .solids = false};
    write_usd_manifests(dir, run);
    for (const int frame : {0, 1})
        write_usd(fmt::format("{}/surface/frame_000{}.usda", dir, frame), frame, mesh[frame], &spray[frame]);
    write_usd_top(dir, run);

    const json found = read_usd("run", "tarn.usda", {"0", "0.5", "1"});
    ASSERT_TRUE(found.is_object());
    EXPECT_EQ(found["stage"]["upAxis"], "Y");
    EXPECT_EQ(found["stage"]["metersPerUnit"], 1);
    EXPECT_EQ(found["stage"]["timeCodesPerSecond"], 24);
    EXPECT_EQ(found["stage"]["startTimeCode"], 0);
    EXPECT_EQ(found["stage"]["endTimeCode"], 1);
    EXPECT_EQ(found["stage"]["defaultPrim"], "tarn");

    const json& surface = found["prims"]["/tarn/surface"];
    EXPECT_EQ(surface["type"], "Mesh");
    for (int frame : {0, 1}) {
        const Mesh& m = mesh[frame];
        const std::string t = std::to_string(frame);
        EXPECT_EQ(floats(surface["points"][t]), floats(m.points));
        EXPECT_EQ(floats(surface["velocities"][t]), floats(m.velocities));
        EXPECT_EQ(floats(surface["normals"][t]), floats(m.normals));
        EXPECT_EQ(surface["faceVertexCounts"][t], json(std::vector<int>(m.triangles.size(), 3)));
        std::vector<int> indices;
        for (const auto& triangle : m.triangles) indices.insert(indices.end(), triangle.begin(), triangle.end());
        EXPECT_EQ(surface["faceVertexIndices"][t], json(indices));
        // What a renderer gets.
        const json& drawn = found["drawn"][t]["/tarn/surface"];
        EXPECT_EQ(floats(drawn["points"]), floats(m.points));
        EXPECT_EQ(floats(drawn["velocities"]), floats(m.velocities));
        EXPECT_EQ(drawn["indices"].size(), 3 * m.triangles.size());
    }
    // Between frames the mesh stays.
    EXPECT_EQ(found["drawn"]["0.5"]["/tarn/surface"], found["drawn"]["0"]["/tarn/surface"]);

    const json& drops = found["prims"]["/tarn/spray"];
    EXPECT_EQ(drops["type"], "Points");
    EXPECT_EQ(drops["points"]["0"], json::array());
    EXPECT_EQ(floats(drops["points"]["1"]), (std::vector<float>{0.1f, 0.2f, 0.3f, 1, 2, 3}));
    EXPECT_EQ(floats(drops["velocities"]["1"]), (std::vector<float>{4, 5, 6, 0, -1, 0}));
    EXPECT_EQ(floats(drops["widths"]["1"]), (std::vector<float>{0.02f, 0.04f}));
    EXPECT_EQ(floats(drops["extent"]["1"]),
              (std::vector<float>{0.1f - 0.01f, 0.2f - 0.01f, 0.3f - 0.01f, 1.02f, 2.02f, 3.02f}));
}

TEST_F(Usd, a_run_with_solids_opens_as_it_is)
{
    write("small.toml",
          small_scene("surface = \"usd\"\n[[solid]]\nshape = \"sphere\"\ncenter = [0.7, 0.3, 0.25]\nradius = 0.15\n"
                      "translate = [{t = 0, v = [0, 0, 0]}, {t = 1, v = [0, 0.3, 0]}]\n"));
    const Outcome r = tarn({"run", "small.toml", "--frames", "2", "--out", "o"});
    ASSERT_EQ(r.code, 0) << r.err;
    EXPECT_FALSE(exists("o/particles"));
    const json found = read_usd("o", "tarn.usda", {"0", "1", "2"});
    ASSERT_TRUE(found.is_object());
    EXPECT_EQ(found["stage"]["endTimeCode"], 2);
    for (const char* t : {"0", "1", "2"}) {
        EXPECT_GT(found["drawn"][t]["/tarn/surface"]["points"].size(), 300u);
        EXPECT_GT(found["drawn"][t]["/tarn/solids"]["points"].size(), 300u);
    }
    // It moves up by 0.3 m/s, at 30 frames a second.
    const std::vector<float> solid = floats(found["drawn"]["1"]["/tarn/solids"]["velocities"]);
    for (size_t i = 0; i < solid.size(); ++i) EXPECT_NEAR(solid[i], i % 3 == 1 ? 0.3 : 0, 1e-5);
    const auto lowest = [&](const char* t) {
        const json extent = found["prims"]["/tarn/solids"]["extent"][t];
        return extent[0][1].get<double>();
    };
    EXPECT_NEAR(lowest("2") - lowest("0"), 0.02, 2e-3);

    // A second run in its place leaves nothing of the first.
    ASSERT_EQ(tarn({"run", "small.toml", "--frames", "1", "--out", "o", "--force", "--set", "output.surface=ply"}).code,
              0);
    EXPECT_FALSE(exists("o/tarn.usda"));
    EXPECT_FALSE(exists("o/surface/manifest.usda"));
    EXPECT_FALSE(exists("o/surface/frame_0000.usda"));
    EXPECT_TRUE(exists("o/solids/frame_0001.ply"));
}

}  // namespace
}  // namespace tarn::testing
