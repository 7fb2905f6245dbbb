#include "run_helpers.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

namespace fs = std::filesystem;

namespace tarn::testing {
namespace {

std::string slurp(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::vector<std::vector<std::string>> csv(const std::string& text)
{
    std::vector<std::vector<std::string>> rows;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream cells(line);
        rows.emplace_back();
        for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
    }
    return rows;
}

}  // namespace

std::string difference(const std::string& a, const std::string& b)
{
    if (a == b) return {};
    const size_t at = size_t(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
    const auto line = std::count(a.begin(), a.begin() + long(at), '\n');
    return "sizes " + std::to_string(a.size()) + " and " + std::to_string(b.size()) + ", first difference at byte " +
           std::to_string(at) + ", line " + std::to_string(line + 1);
}

std::string difference(const std::vector<std::pair<std::string, std::string>>& a,
                       const std::vector<std::pair<std::string, std::string>>& b)
{
    for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
        if (i >= a.size()) return b[i].first + " is only in the second";
        if (i >= b.size() || a[i].first < b[i].first) return a[i].first + " is only in the first";
        if (a[i].first != b[i].first) return b[i].first + " is only in the second";
        if (a[i].second != b[i].second) return a[i].first + ": " + difference(a[i].second, b[i].second);
    }
    return {};
}

std::string small_scene(const std::string& more)
{
    return R"(tarn = 1
title = "Small"
[domain]
size = [1.0, 1.0, 0.5]
cells = 24
[[water]]
shape = "box"
min = [0, 0, 0]
max = [0.4, 0.6, 0.5]
[time]
frames = 12
[output]
preview = false
checkpoint_every = 3
checkpoint_interval = 0
)" + more;
}

void ProgramTest::SetUp()
{
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    std::string name =
        std::string("tarn_") + test->test_suite_name() + "_" + test->name() + "_" + std::to_string(getpid());
    std::replace(name.begin(), name.end(), '/', '_');
    folder = fs::temp_directory_path() / name;
    fs::remove_all(folder);
    fs::create_directories(folder);
}

void ProgramTest::TearDown()
{
    if (!HasFailure()) fs::remove_all(folder);
}

Outcome ProgramTest::tarn(const Launch& launch) const
{
    // What it prints goes to files beside the folder, so that the folder holds only what the program makes.
    const std::string out = folder.string() + ".out", err = folder.string() + ".err";
    std::vector<std::string> words = launch.words;
    words.insert(words.begin(), launch.program);
    std::vector<char*> arguments;
    for (std::string& w : words) arguments.push_back(w.data());
    arguments.push_back(nullptr);

    const pid_t child = fork();
    if (child == 0) {
        const int o = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
        const int e = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
        dup2(o, STDOUT_FILENO);
        dup2(e, STDERR_FILENO);
        for (const auto& [name, value] : launch.environment) setenv(name.c_str(), value.c_str(), 1);
        if (launch.file_limit >= 0) {
            const rlimit limit{rlim_t(launch.file_limit), rlim_t(launch.file_limit)};
            setrlimit(RLIMIT_FSIZE, &limit);
        }
        if (chdir(folder.c_str()) == 0) execv(launch.program.c_str(), arguments.data());
        _exit(127);
    }
    int status = 0;
    bool sent = false;
    while (waitpid(child, &status, launch.watch && !sent ? WNOHANG : 0) == 0) {
        if (const int signal = launch.watch()) {
            kill(child, signal);
            sent = true;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    Outcome result{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), slurp(out), slurp(err)};
    fs::remove(out);
    fs::remove(err);
    return result;
}

void ProgramTest::write(const std::string& path, const std::string& text) const
{
    fs::create_directories((folder / path).parent_path());
    std::ofstream(folder / path, std::ios::binary) << text;
}

std::string ProgramTest::read(const std::string& path) const { return slurp(folder / path); }

std::vector<std::pair<std::string, std::string>> ProgramTest::tree(const std::string& path) const
{
    std::vector<std::pair<std::string, std::string>> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder / path))
        if (entry.is_regular_file()) files.emplace_back(fs::relative(entry.path(), folder / path), slurp(entry.path()));
    std::sort(files.begin(), files.end());
    return files;
}

std::string ProgramTest::physics(const std::string& dir) const
{
    const auto rows = csv(read(dir + "/stats.csv"));
    std::string text;
    for (const auto& row : rows) {
        for (size_t i = 0; i < row.size(); ++i)
            if (!rows[0][i].starts_with("seconds") && rows[0][i] != "memory_mb") text += row[i] + ',';
        text += '\n';
    }
    return text;
}

std::vector<double> ProgramTest::column(const std::string& dir, const std::string& name) const
{
    const auto rows = csv(read(dir + "/stats.csv"));
    std::vector<double> values;
    if (rows.empty()) return values;
    const size_t i = size_t(std::find(rows[0].begin(), rows[0].end(), name) - rows[0].begin());
    for (size_t r = 1; r < rows.size(); ++r) values.push_back(std::stod(rows[r].at(i)));
    return values;
}

std::string ProgramTest::newest_checkpoint(const std::string& dir) const
{
    const auto files = tree(dir + "/checkpoint");
    return files.empty() ? "" : files.back().second;
}

}  // namespace tarn::testing
