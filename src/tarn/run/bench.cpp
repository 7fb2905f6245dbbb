#include "tarn/run/bench.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tarn/backend/parallel.h"
#include "tarn/base/timer.h"
#include "tarn/base/version.h"
#include "tarn/output/files.h"
#include "tarn/run/bench_render.h"
#include "tarn/run/frames.h"
#include "tarn/run/machine.h"
#include "tarn/run/run.h"
#include "tarn/step/step.h"

namespace tarn {
namespace {

// A dam break begins at rest and ends in spray, so it visits every kernel: the first half second of 0.4 x 0.6 of water
// in a unit box, in 2D and 3D, and, for a GPU, of half a box; by the level set alone, and with particles. With air, as
// in [SSK05] §7: monotonic CIP, droplets and bubbles, and steps of a whole frame where the flow allows them.
struct Case {
    const char* name;
    std::vector<double> size;
    int cells;
    int frames;
    SurfaceKind surface = SurfaceKind::level_set;
    Vec3 water{0.4, 0.6, 1};
    bool air = false;
};
constexpr SurfaceKind level_set = SurfaceKind::level_set, particles = SurfaceKind::particle_level_set;
const Case processor_cases[] = {
    {"dam_break_2d_256", {1, 1}, 256, 30},
    {"dam_break_64", {1, 1, 1}, 64, 15},
    {"dam_break_128", {1, 1, 1}, 128, 15},
    {"dam_break_64_particles", {1, 1, 1}, 64, 15, particles},
    {"dam_break_128_particles", {1, 1, 1}, 128, 15, particles},
    {"water_air_64x48", {1, 0.75}, 64, 300, level_set, {0.4, 0.6, 1}, true},
    {"water_air_256x192", {1, 0.75}, 256, 60, level_set, {0.4, 0.6, 1}, true},
    {"water_air_80", {1, 1, 1}, 80, 15, level_set, {0.4, 0.6, 1}, true},
};
const Case device_cases[] = {
    {"dam_break_64", {1, 1, 1}, 64, 15},
    {"dam_break_128", {1, 1, 1}, 128, 15},
    {"dam_break_256", {1, 1, 1}, 256, 15},
    {"half_box_256", {1, 1, 1}, 256, 15, level_set, {0.5, 1, 1}},
    {"half_box_512", {1, 1, 1}, 512, 4, level_set, {0.5, 1, 1}},
    {"dam_break_128_particles", {1, 1, 1}, 128, 15, particles},
    {"half_box_256_particles", {1, 1, 1}, 256, 15, particles, {0.5, 1, 1}},
    {"water_air_80", {1, 1, 1}, 80, 15, level_set, {0.4, 0.6, 1}, true},
    {"water_air_256", {1, 1, 1}, 256, 15, level_set, {0.4, 0.6, 1}, true},
};
std::span<const Case> cases()
{
    return on_device() ? std::span<const Case>(device_cases) : std::span<const Case>(processor_cases);
}
constexpr int repeats = 3;

Scene dam_break(const Case& c)
{
    Params params;
    params.title = c.name;
    params.domain.size = c.size;
    params.domain.cells = c.cells;
    params.method.surface = c.surface;
    params.surface.particles_per_cell = 16;  // so that results of all versions can be compared
    if (c.air) {
        params.method.phases = Phases::water_air;
        params.method.advection = params.surface.advection = Advection::cip;
        params.time.cfl = 25;
    }
    WaterParams water;
    water.min = Vec3{0, 0, 0};
    water.max = c.water;
    params.water.push_back(water);
    params.time.frames = c.frames;
    return build_scene(params, c.name, c.name, ".");
}

// Bytes that a kernel must move for a cell if it reads each input once and writes each output once, for the kernels
// that do little else. The others (tracing paths, sampling) are bound by arithmetic.
struct Traffic {
    const char* kernel;
    double bytes_3d;
};
constexpr Traffic traffic[] = {
    {"smooth", 16},  // x twice, b, 1/diagonal (three conductances more on coarse levels)
    {"smooth last", 16},      {"smooth first", 12},  // b, 1/diagonal, x
    {"restrict", 8 * 12 + 4},                        // of a coarse cell: eight times x, b, 1/diagonal
    {"prolong", 12.5},        {"apply", 12},         // p, A p, 1/diagonal
    {"advance", 24},                                 // x, r twice; p, A p once
    {"direction", 12},        {"redistance sweep", 8}, {"redistance copy", 8},  {"extrapolate", 12},
    {"apply pressure", 16},   {"conductances", 8},     {"right-hand side", 32},
};

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

// Where the fields are.
double bytes_taken()
{
    if (!on_device()) return double(memory_resident());
    const Device d = device();
    return d.memory - d.memory_free;
}

// One run of a case, nothing written; the clock stands still while the state is measured.
struct Timing {
    double seconds = 0, surface = 0, advect = 0, pressure = 0, wet = 0, iterations = 0;
    int most_iterations = 0;
    long steps = 0, cells = 0;
    double resident = 0;
};
template <int D>
Timing time_once(const Scene& scene)
{
    Water<D> water = initial_water<D>(scene);
    clear_profile();
    Timing t;
    for (int frame = 1; frame <= scene.params.time.frames; ++frame) {
        const double end = scene.params.time.time_of(frame);
        while (water.time < end) {
            const Timer timer;
            const double remaining = end - water.time;
            const double dt = equal_step(remaining, choose_dt(water, scene));
            const StepReport report = step(water, scene, dt);
            t.seconds += timer.seconds();
            if (!(dt > 0) || !report.finite || !report.pressure.converged)
                throw RunError(fmt::format("{}: step {} failed", scene.name, water.step));
            if (dt == remaining) water.time = end;
            t.surface += report.seconds_surface;
            t.advect += report.seconds_advect;
            t.pressure += report.seconds_pressure;
            t.iterations += report.pressure.iterations;
            t.most_iterations = std::max(t.most_iterations, report.pressure.iterations);
            t.wet += double(measure(water, scene.params).cells_wet);
        }
    }
    t.steps = water.step;
    t.cells = water.grid.count();
    t.resident = bytes_taken();
    return t;
}

template <int D>
nlohmann::ordered_json time_case(const Scene& scene, double bandwidth)
{
    const double before = bytes_taken();
    std::vector<double> speeds, shares, seconds;
    Timing t;
    for (int n = 0; n < repeats; ++n) {
        t = time_once<D>(scene);
        speeds.push_back(t.wet / t.seconds / 1e6);
        shares.push_back(t.pressure / t.seconds);
        seconds.push_back(t.seconds / double(t.steps));
    }
    const Timing unprofiled = t;
    set_profiling(true);
    t = time_once<D>(scene);
    set_profiling(false);
    nlohmann::ordered_json kernels = nlohmann::ordered_json::array();
    for (const KernelTime& k : profile()) {
        if (k.name == "measure" || k.name == "volume") continue;
        nlohmann::ordered_json row{{"name", k.name},
                                   {"ms_per_step", 1e3 * k.seconds / double(t.steps)},
                                   {"ns_per_cell", 1e9 * k.seconds / double(k.cells)}};
        const auto known =
            std::find_if(std::begin(traffic), std::end(traffic), [&](const Traffic& m) { return k.name == m.kernel; });
        if (D == 3 && known != std::end(traffic))
            row["of_bandwidth"] = known->bytes_3d * double(k.cells) / k.seconds / bandwidth;
        kernels.push_back(row);
    }
    t = unprofiled;
    return {{"case", scene.name},
            {"version", version()},
            {"cpu", this_machine().cpu},
            {"device", on_device() ? device().name : "none"},
            {"threads", threads()},
            {"cells", t.cells},
            {"steps", t.steps},
            {"repeats", repeats},
            {"mlcs", median(speeds)},
            {"mlcs_all", speeds},
            {"seconds_per_step", median(seconds)},
            {"pressure_share", median(shares)},
            {"surface_share", t.surface / t.seconds},
            {"advect_share", t.advect / t.seconds},
            {"iterations_per_step", t.iterations / double(t.steps)},
            {"most_iterations", t.most_iterations},
            {"bytes_per_cell", (t.resident - before) / double(t.cells)},
            {"bandwidth_gb_per_second", bandwidth / 1e9},
            {"kernels", kernels}};
}

}  // namespace

int bench(const std::string& name, const std::string& results_dir, const std::string& scenes)
{
    std::vector<std::string> names;
    for (const Case& c : cases()) names.push_back(c.name);
    names.push_back("render");
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
        throw InputError(fmt::format("bench: no case \"{}\"; there are: {}", name, fmt::join(names, ", ")));

    std::error_code error;
    std::filesystem::create_directories(results_dir, error);
    if (error) throw InputError(fmt::format("{}: cannot be made: {}", results_dir, error.message()));
    if (name.empty() || name == "render") bench_render(results_dir, scenes);
    if (name == "render") return exit_done;
    const double bandwidth = memory_bandwidth();
    fmt::print("memory gives {:.1f} GB/s to {}\n", bandwidth / 1e9,
               on_device() ? device().name : fmt::format("{} threads", threads()));
    for (const Case& c : cases()) {
        if (!name.empty() && name != c.name) continue;
        const Scene scene = dam_break(c);
        const nlohmann::ordered_json result =
            scene.params.dimension() == 2 ? time_case<2>(scene, bandwidth) : time_case<3>(scene, bandwidth);
        const auto number = [&](const char* key) { return result[key].get<double>(); };
        fmt::print("{}: {:.2f} MLCS (million wet cells times steps a second), {:.2f} ms a step, {:.0f} bytes a cell\n",
                   c.name, number("mlcs"), 1e3 * number("seconds_per_step"), number("bytes_per_cell"));
        fmt::print(
            "  pressure {:.0f} %, surface {:.0f} %, velocity {:.0f} %; {:.1f} iterations a step, at most {:.0f}\n",
            100 * number("pressure_share"), 100 * number("surface_share"), 100 * number("advect_share"),
            number("iterations_per_step"), number("most_iterations"));
        for (const auto& k : result["kernels"]) {
            if (k["ms_per_step"].get<double>() < 0.01e3 * number("seconds_per_step")) continue;
            fmt::print("  {:<22} {:8.3f} ms a step {:7.2f} ns a cell", k["name"].get<std::string>(),
                       k["ms_per_step"].get<double>(), k["ns_per_cell"].get<double>());
            if (k.contains("of_bandwidth"))
                fmt::print("  {:4.0f} % of bandwidth", 100 * k["of_bandwidth"].get<double>());
            fmt::print("\n");
        }
        std::fflush(stdout);
        write_file(fmt::format("{}/{}.json", results_dir, c.name), result.dump(2) + '\n');
    }
    return exit_done;
}

}  // namespace tarn
