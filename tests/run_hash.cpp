// The hash in run.json is over every member of the state that a run ended with. It is the same on any number of threads, in another
// process, and where the run was stopped and resumed: for scenes of every kind.

#include <nlohmann/json.hpp>

#include "run_helpers.h"

namespace tarn::testing {
namespace {

struct HashedRun {
    const char* kind;
    const char* scene;
    int cells, frames;
    std::vector<std::string> settings = {};
};
void PrintTo(const HashedRun& r, std::ostream* out) { *out << r.kind; }

class RunHash : public ProgramTest, public ::testing::WithParamInterface<HashedRun> {
protected:
    std::string hash_of(const std::string& out, int threads, int frames, bool resume = false)
    {
        const HashedRun& r = GetParam();
        std::vector<std::string> words = {"run",    TARN_SOURCE_DIR "/scenes/" + std::string(r.scene) + ".toml", "--out", out, "--quiet",
                                          "--threads", std::to_string(threads), "--frames", std::to_string(frames)};
        std::vector<std::string> settings = {"domain.cells=" + std::to_string(r.cells), "output.preview=false", "output.surface=none"};
        settings.insert(settings.end(), r.settings.begin(), r.settings.end());
        for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
        if (resume) words.push_back("--resume");
        const Outcome done = tarn(words);
        EXPECT_EQ(done.code, 0) << done.err;
        if (done.code != 0) return done.err;
        return nlohmann::json::parse(read(out + "/run.json"))["hash"];
    }
};

TEST_P(RunHash, is_the_same_on_two_threads_and_after_a_resume)
{
    const int frames = GetParam().frames;
    const std::string one = hash_of("one", 1, frames);
    ASSERT_EQ(one.size(), 16u);
    EXPECT_EQ(hash_of("two", 2, frames), one);
    const std::string early = hash_of("stopped", 1, frames / 2);
    EXPECT_NE(early, one);
    EXPECT_EQ(hash_of("stopped", 2, frames, true), one);
}

INSTANTIATE_TEST_SUITE_P(Scenes, RunHash,
                         ::testing::Values(HashedRun{"droplets", "dam_break", 24, 20}, HashedRun{"plane", "dam_break_2d", 32, 10},
                                           HashedRun{"bodies", "floating_bodies_2d", 48, 8},
                                           HashedRun{"source", "hose_into_box", 20, 10},
                                           HashedRun{"air", "turbulent_mixing_2d", 32, 6},
                                           HashedRun{"sharp_air", "solids_with_air_2d", 32, 6, {"method.interface=sharp"}},
                                           HashedRun{"octree", "dam_break_2d", 96, 8, {"method.grid=octree"}},
                                           HashedRun{"whole_cells", "drop_in_shallow_pool", 24, 6},
                                           HashedRun{"waves", "wave_tank", 48, 6}, HashedRun{"given_flow", "zalesak", 32, 6}),
                         [](const auto& info) { return std::string(info.param.kind); });

}  // namespace
}  // namespace tarn::testing
