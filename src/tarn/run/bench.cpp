#include "tarn/run/bench.h"

#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tarn/backend/parallel.h"
#include "tarn/base/timer.h"
#include "tarn/output/files.h"
#include "tarn/run/frames.h"
#include "tarn/run/machine.h"
#include "tarn/run/run.h"
#include "tarn/step/free_surface.h"

namespace tarn
{
namespace
{

// A dam break in the open, at two sizes and in two dimensions: it begins at rest and ends in spray, so it visits every
// kernel.
struct Case {
    const char* name;
    std::vector<double> size;
    int cells;
};
const Case cases[] = {
    {"dam_break_2d_256", {1, 1}, 256},
    {"dam_break_64", {1, 1, 0.5}, 64},
    {"dam_break_128", {1, 1, 0.5}, 128},
};
constexpr int frames = 15;

Scene dam_break(const Case& c)
{
    Params params;
    params.title = c.name;
    params.domain.size = c.size;
    params.domain.cells = c.cells;
    WaterParams water;
    water.min = Vec3{0, 0, 0};
    water.max = Vec3{0.4, 0.6, c.size.size() == 3 ? 0.5 : 0};
    params.water.push_back(water);
    return build_scene(params, c.name, c.name, ".");
}

// Seconds per frame, all steps included and nothing written.
template <int D>
nlohmann::ordered_json time_case(const Scene& scene)
{
    Water<D> water = initial_water<D>(scene);
    clear_profile();
    const Timer timer;
    double wet = 0;
    int iterations = 0;
    for (int frame = 1; frame <= frames; ++frame) {
        const double end = frame / scene.params.time.rate;
        while (water.time < end) {
            const double remaining = end - water.time;
            const double dt = equal_step(remaining, choose_dt(water, scene));
            const StepReport report = step(water, scene, dt);
            if (!(dt > 0) || !report.finite || !report.pressure.converged)
                throw RunError(fmt::format("{}: step {} failed", scene.name, water.step));
            if (dt == remaining) water.time = end;
            iterations += report.pressure.iterations;
            wet += double(measure(water, scene.params).cells_wet);
        }
    }
    const double seconds = timer.seconds();
    nlohmann::ordered_json kernels = nlohmann::ordered_json::array();
    for (const KernelTime& k : profile())
        kernels.push_back({{"name", k.name}, {"seconds", k.seconds}, {"calls", k.calls}, {"cells", k.cells}});
    return {{"case", scene.name},
            {"version", TARN_VERSION},
            {"cpu", this_machine().cpu},
            {"threads", threads()},
            {"cells", water.grid.count()},
            {"steps", water.step},
            {"seconds", seconds},
            {"seconds_per_step", seconds / double(water.step)},
            {"wet_cells_per_second", wet / seconds},
            {"pressure_iterations_per_step", double(iterations) / double(water.step)},
            {"peak_memory_mb", double(memory_peak()) / 1e6},
            {"kernels", kernels}};
}

}  // namespace

int bench(const std::string& name, const std::string& results_dir)
{
    std::vector<std::string> names;
    for (const Case& c : cases) names.push_back(c.name);
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
        throw InputError(fmt::format("bench: no case \"{}\"; there are: {}", name, fmt::join(names, ", ")));

    std::error_code error;
    std::filesystem::create_directories(results_dir, error);
    if (error) throw InputError(fmt::format("{}: cannot be made: {}", results_dir, error.message()));
    for (const Case& c : cases) {
        if (!name.empty() && name != c.name) continue;
        const Scene scene = dam_break(c);
        const nlohmann::ordered_json result = scene.params.dimension() == 2 ? time_case<2>(scene) : time_case<3>(scene);
        fmt::print("{:<20} {:6.3f} s a step, {:.2f} million wet cells a second, {:.1f} iterations, {:.0f} MB\n", c.name,
                   result["seconds_per_step"].get<double>(), result["wet_cells_per_second"].get<double>() / 1e6,
                   result["pressure_iterations_per_step"].get<double>(), result["peak_memory_mb"].get<double>());
        std::fflush(stdout);
        write_file(fmt::format("{}/{}.json", results_dir, c.name), result.dump(2) + '\n');
    }
    return exit_done;
}

}  // namespace tarn
