// The hash in run.json is over every member of the state that a run ended with. It is the same on any number of threads, in another
// process, and where the run was stopped and resumed: for scenes of every kind.
//
// And it is the one in golden_hashes.txt, so that nobody changes results without knowing. Compilers fuse and order operations as the
// processor likes them, and the C library has its own sines: what one set of them gives is compared with that set alone, and where
// there is none, nothing is. tools/golden_hashes.py writes the file. An inline function that several files have is linked from one of them,
// with its products and sums fused as in that file: so even a new file may change a last bit, and with it a hash.

#include <gnu/libc-version.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fstream>
#include <map>

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

// What decides on bits: the compiler, its flags and the instructions it may use, and the C library.
std::string machine_key() { return TARN_BITS_KEY ", glibc " + std::string(gnu_get_libc_version()); }

// Of golden_hashes.txt: the hashes below the line "[key]".
std::map<std::string, std::string> golden_hashes(const std::string& key)
{
    std::map<std::string, std::string> hashes;
    std::ifstream file(TARN_SOURCE_DIR "/tests/golden_hashes.txt");
    bool mine = false;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#') continue;
        if (line[0] == '[')
            mine = line == '[' + key + ']';
        else if (const size_t space = line.find(' '); mine && space != std::string::npos)
            hashes[line.substr(0, space)] = line.substr(space + 1);
    }
    return hashes;
}

TEST_P(RunHash, is_the_golden_one)
{
    const std::string kind = GetParam().kind, key = machine_key();
    const char* const to = std::getenv("TARN_GOLDEN_TO");  // tools/golden_hashes.py collects them there
    const std::map<std::string, std::string> golden = golden_hashes(key);
    if (!to && !golden.count(kind))
        GTEST_SKIP() << "tests/golden_hashes.txt has no hash of " << kind << " for " << key << "; tools/golden_hashes.py adds it";
    const std::string hash = hash_of("out", 1, GetParam().frames);
    if (to) {
        std::ofstream(to, std::ios::app) << key << '\t' << kind << '\t' << hash << '\n';
        return;
    }
    EXPECT_EQ(hash, golden.at(kind)) << "the results of this scene have changed. If they should: tools/golden_hashes.py, and say in the "
                                        "commit what changes them. If not, a change that was to leave them alone does not";
}

INSTANTIATE_TEST_SUITE_P(Scenes, RunHash,
                         ::testing::Values(HashedRun{"droplets", "dam_break", 24, 20}, HashedRun{"plane", "dam_break_2d", 32, 10},
                                           HashedRun{"bodies", "floating_bodies_2d", 48, 8},
                                           HashedRun{"source", "hose_into_box", 20, 10},
                                           HashedRun{"air", "turbulent_mixing_2d", 32, 6},
                                           HashedRun{"sharp_air", "solids_with_air_2d", 32, 6, {"method.interface=sharp"}},
                                           HashedRun{"octree", "dam_break_2d", 96, 8, {"method.grid=octree"}},
                                           HashedRun{"whole_cells", "drop_in_shallow_pool", 24, 6},
                                           HashedRun{"waves", "wave_tank", 48, 6}, HashedRun{"given_flow", "zalesak", 32, 6},
                                           HashedRun{"tall", "dam_break_2d", 64, 4, {"method.grid=tall"}},
                                           HashedRun{"smoke", "smoke_2d", 32, 4}, HashedRun{"frame", "tank_truck_2d", 40, 8},
                                           HashedRun{"carried_volume", "turbulent_mixing_2d", 32, 6, {"surface.carry_volume=true"}},
                                           HashedRun{"thin_walls", "pour_into_glass", 20, 8}),
                         [](const auto& info) { return std::string(info.param.kind); });

}  // namespace
}  // namespace tarn::testing
