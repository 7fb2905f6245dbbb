#include "tarn/run/machine.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>

namespace tarn {
namespace {

// The number after `key` in a file of lines like "MemAvailable:   123 kB"; negative where there is none.
int64_t number_after(const char* path, const std::string& key)
{
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line.compare(0, key.size(), key) != 0) continue;
        std::istringstream rest(line.substr(key.size()));
        int64_t value = -1;
        return rest >> value ? value : -1;
    }
    return -1;
}

int64_t kilobytes(const char* path, const std::string& key)
{
    const int64_t n = number_after(path, key);
    return n < 0 ? -1 : n * 1024;
}

// What the control group still allows; containers are often given less than their host has.
int64_t control_group_left()
{
    const char* group = "/sys/fs/cgroup/";
    const int64_t limit = number_after((std::string(group) + "memory.max").c_str(), "");
    const int64_t used = number_after((std::string(group) + "memory.current").c_str(), "");
    return limit < 0 || used < 0 ? -1 : std::max<int64_t>(0, limit - used);
}

}  // namespace

Machine this_machine()
{
    Machine m;
    m.cores = std::max(1u, std::thread::hardware_concurrency());
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.compare(0, 10, "model name") == 0 && line.find(": ") != std::string::npos) {
            m.cpu = line.substr(line.find(": ") + 2);
            break;
        }
    return m;
}

int64_t memory_available()
{
    if (const char* given = std::getenv("TARN_MEMORY_MB")) return int64_t(std::atof(given) * 1e6);
    const int64_t kernel = kilobytes("/proc/meminfo", "MemAvailable:");
    const int64_t group = control_group_left();
    if (kernel < 0 && group < 0) return std::numeric_limits<int64_t>::max();
    return kernel < 0 ? group : group < 0 ? kernel : std::min(kernel, group);
}

int64_t memory_resident() { return std::max<int64_t>(0, kilobytes("/proc/self/status", "VmRSS:")); }
int64_t memory_peak() { return std::max<int64_t>(0, kilobytes("/proc/self/status", "VmHWM:")); }

int64_t disk_available(const std::string& path)
{
    std::error_code error;
    std::filesystem::path p = std::filesystem::absolute(path, error);
    while (!p.empty() && p != p.root_path() && !std::filesystem::exists(p, error)) p = p.parent_path();
    const auto space = std::filesystem::space(p, error);
    return error ? -1 : int64_t(space.available);
}

}  // namespace tarn
