#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "play.h"
#include "tarn/backend/parallel.h"
#include "tarn/base/timer.h"
#include "tarn/output/files.h"
#include "tarn/play/playground.h"
#include "tarn/run/exit_code.h"
#include "tarn/scene/read.h"

namespace fs = std::filesystem;

namespace tarn {
namespace {

// Turbulence visits every kernel, but makes of the last bit of a number another splash: what can be compared of it are sums. A tank that
// swings can be compared everywhere.
constexpr const char* timed_scene = "scenes/turbulent_mixing_2d.toml";
constexpr const char* compared_scene = "scenes/cip_against_linear_2d.toml";
constexpr int steps_compared = 100;

struct Timing {
    double milliseconds = 0;  // a step
    double h = 0, volume = 0, potential = 0;
    std::vector<float> phi;
};

Timing time_native(const std::string& scene, int cells, int steps)
{
    Playground playground(read_params(read_file(scene), scene, {{"domain.cells", std::to_string(cells)}}));
    // The second half, as app/web/bench.js does.
    Timer timer;
    int taken = 0, before = 0;
    while (taken < steps) {
        if (taken <= steps / 2) {
            timer = Timer();
            before = taken;
        }
        const Advanced done = playground.advance(1.0 / 60, true);
        if (!done.wrong.empty()) throw RunError("bench play: " + done.wrong);
        taken += done.steps;
    }
    const double milliseconds = 1e3 * timer.seconds() / (taken - before);
    const Measures m = playground.measures();
    return {milliseconds, playground.water().grid.h, m.volume, m.potential_energy, playground.field(Shown::phi)};
}

// Nothing where there is no Node.js.
std::optional<Timing> time_web(const fs::path& web, const fs::path& source, const char* scene, int cells, int steps)
{
    if (!fs::exists(web / "tarn.wasm.gz")) return {};
    const fs::path file = fs::temp_directory_path() / fmt::format("tarn_bench_{}_{}", cells, steps);
    const std::string command =
        fmt::format("TARN_WEB='{}' node --no-experimental-fetch '{}' '{}' {} {} '{}' 2>/dev/null", web.string(),
                    (source / "app/web/bench.js").string(), (source / scene).string(), cells, steps, file.string());
    FILE* const pipe = popen(command.c_str(), "r");
    if (!pipe) return {};
    char line[256] = "";
    const bool told = std::fgets(line, sizeof line, pipe) != nullptr;
    if (pclose(pipe) != 0 || !told) return {};
    const nlohmann::json told_numbers = nlohmann::json::parse(line);
    const auto number = [&](const char* name) { return told_numbers[name].get<double>(); };
    Timing timing{number("milliseconds"), 0, number("volume"), number("potential"), {}};
    const std::string bytes = read_file(file);
    timing.phi.resize(bytes.size() / sizeof(float));
    std::memcpy(timing.phi.data(), bytes.data(), timing.phi.size() * sizeof(float));
    fs::remove(file);
    return timing;
}

// The largest difference of phi where either speaks of the surface, within two cells of it.
double farthest_apart(const Timing& a, const Timing& b)
{
    double most = 0;
    for (size_t i = 0; i < a.phi.size() && i < b.phi.size(); ++i)
        if (std::min(std::fabs(a.phi[i]), std::fabs(b.phi[i])) < 2 * a.h)
            most = std::max(most, double(std::fabs(a.phi[i] - b.phi[i])));
    return most;
}

void compare(const fs::path& web, const fs::path& source, int cells)
{
    const auto still = time_web(web, source, compared_scene, cells, steps_compared);
    const auto wild = time_web(web, source, timed_scene, cells, steps_compared);
    if (!still || !wild) return;
    const Timing own_still = time_native(source / compared_scene, cells, steps_compared);
    const Timing own_wild = time_native(source / timed_scene, cells, steps_compared);
    fmt::print("  after {} steps of a swinging tank phi is at most {:.2g} m apart; of mixing, volume {:.2g} and potential energy {:.2g} of it\n",
               steps_compared, farthest_apart(own_still, *still), std::fabs(wild->volume / own_wild.volume - 1),
               std::fabs(wild->potential / own_wild.potential - 1));
}

}  // namespace

int bench_play(const fs::path& web, const fs::path& source, bool compare_only)
{
    set_threads(1);
    for (const int cells : {64, 192}) {
        if (compare_only) {
            fmt::print("play {}x{}\n", cells, 3 * cells / 4);
            compare(web, source, cells);
            continue;
        }
        const int steps = cells == 64 ? 1500 : 250;
        const Timing native = time_native(source / timed_scene, cells, steps);
        fmt::print("play {}x{}: native {:.2f} ms a step, {:.0f} steps/s on one thread\n", cells, 3 * cells / 4,
                   native.milliseconds, 1e3 / native.milliseconds);
        const auto timed = time_web(web, source, timed_scene, cells, steps);
        if (!timed) {
            fmt::print("  no WebAssembly to compare with: build it with `tarn play`, and install Node.js\n");
            continue;
        }
        fmt::print("  WebAssembly {:.2f} ms a step, {:.0f} steps/s: {:.2f} times native\n", timed->milliseconds,
                   1e3 / timed->milliseconds, timed->milliseconds / native.milliseconds);
        compare(web, source, cells);
        std::fflush(stdout);
    }
    return exit_done;
}

}  // namespace tarn
