#include "tarn/run/validate.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include "tarn/base/error.h"
#include "tarn/base/timer.h"
#include "tarn/run/run.h"

namespace fs = std::filesystem;

extern char** environ;

namespace tarn {
namespace {

// The system's Python, which has numpy and matplotlib; another one on the path may not.
constexpr const char* python = "/usr/bin/python3";

int run_check(const std::string& script, const std::string& program)
{
    std::string words[] = {python, script, program};
    char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    pid_t child;
    if (const int error = posix_spawn(&child, python, nullptr, nullptr, arguments, environ))
        throw RunError(fmt::format("{}: {}", python, std::strerror(error)));
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int validate(const std::string& name, const std::string& dir, const std::string& program)
{
    std::vector<std::string> cases;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(dir, error))
        if (fs::exists(entry.path() / "check.py")) cases.push_back(entry.path().filename());
    std::sort(cases.begin(), cases.end());
    if (!name.empty()) {
        if (std::find(cases.begin(), cases.end(), name) == cases.end())
            throw InputError(fmt::format("validate: no case \"{}\"; there are: {}", name, fmt::join(cases, ", ")));
        cases = {name};
    }
    int failed = 0;
    for (const std::string& c : cases) {
        const Timer timer;
        const int code = run_check(fmt::format("{}/{}/check.py", dir, c), program);
        failed += code != 0;
        fmt::print("{}  {}  ({:.0f} s)\n", code == 0 ? "PASS" : "FAIL", c, timer.seconds());
        std::fflush(stdout);
    }
    fmt::print("{} passed, {} failed\n", cases.size() - size_t(failed), failed);
    return failed == 0 ? exit_done : exit_failed;
}

}  // namespace tarn
