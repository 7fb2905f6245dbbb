#pragma once
// Drives the real program as a user would: a folder of its own, words, an exit code, what it printed.

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tarn::testing {

struct Outcome {
    int code = 0;  // 128 + signal where one killed it
    std::string out, err;
};

struct Launch {
    std::vector<std::string> words = {};
    std::string program = TARN_PROGRAM;
    std::vector<std::pair<std::string, std::string>> environment = {};  // on top of the test's own
    long file_limit = -1;                                               // bytes that one file may have
    // Called again and again while the program runs; answers a signal to send, or 0.
    std::function<int()> watch = {};
};

// A test with an empty folder for itself, in which the program is started.
class ProgramTest : public ::testing::Test {
protected:
    void SetUp() override;
    void TearDown() override;

    Outcome tarn(const Launch& launch) const;
    Outcome tarn(const std::vector<std::string>& words) const { return tarn(Launch{.words = words}); }
    Outcome tarn_state(const std::vector<std::string>& words) const
    {
        return tarn(Launch{.words = words, .program = TARN_STATE_PROGRAM});
    }

    void write(const std::string& path, const std::string& text) const;
    std::string read(const std::string& path) const;
    bool exists(const std::string& path) const { return std::filesystem::exists(folder / path); }
    // Every file below a path with its bytes, in order.
    std::vector<std::pair<std::string, std::string>> tree(const std::string& path) const;
    // stats.csv without the columns that tell time and memory, which differ from run to run.
    std::string physics(const std::string& dir) const;
    // The numbers of one column of stats.csv.
    std::vector<double> column(const std::string& dir, const std::string& name) const;
    std::string newest_checkpoint(const std::string& dir) const;

    std::filesystem::path folder;
};

// Where two texts or trees of files first differ; empty where they do not. A plain comparison would print every byte.
std::string difference(const std::string& a, const std::string& b);
std::string difference(const std::vector<std::pair<std::string, std::string>>& a,
                       const std::vector<std::pair<std::string, std::string>>& b);

// A small dam break; `more` is appended to it.
std::string small_scene(const std::string& more = "");

}  // namespace tarn::testing
