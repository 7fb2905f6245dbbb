#include "tarn/run/bench_pressure.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tarn/backend/parallel.h"
#include "tarn/base/timer.h"
#include "tarn/base/version.h"
#include "tarn/output/files.h"
#include "tarn/run/backup.h"
#include "tarn/run/exit_code.h"
#include "tarn/run/frames.h"
#include "tarn/run/machine.h"
#include "tarn/scene/read.h"
#include "tarn/step/step.h"

namespace tarn {
namespace {

// Of all threads together, which other work on the machine disturbs less than the time that passes.
double processor_seconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

// Takes the step some times from the state that is held; the water is then as after the last. The projection's part of the time that a
// step takes is that of the quickest one.
template <int D>
SolverFigures take_step(Water<D>& water, const Backup<D>& before, const Scene& scene, double dt, int repeats)
{
    SolverFigures figures;
    double quickest = std::numeric_limits<double>::infinity();
    for (int n = 0; n < repeats; ++n) {
        before.give_back(water);
        restore(water, scene);
        const Timer timer;
        const double start = processor_seconds();
        const StepReport report = step(water, scene, dt);
        const double passed = timer.seconds(), seconds = (processor_seconds() - start) * report.seconds_pressure / passed;
        const SolveReport& p = report.pressure;
        figures = {p.converged && !p.fallback, p.solves, p.iterations, p.residual, passed < quickest ? seconds : figures.seconds};
        quickest = std::min(quickest, passed);
    }
    return figures;
}

template <int D>
double relative_difference(const Field<D>& a, const Field<D>& b)
{
    double largest = 0, apart = 0;
    for (size_t i = 0; i < a.size(); ++i) {
        largest = std::max(largest, std::fabs(double(a.data()[i])));
        apart = std::max(apart, std::fabs(double(a.data()[i]) - double(b.data()[i])));
    }
    return largest > 0 ? apart / largest : apart;
}

// The step by both solvers, and by both to a hundredth of the tolerance. The water is then as after the multigrid's.
template <int D>
SolverRow compare_step(Water<D>& water, const Backup<D>& before, const Scene& scene, double dt, int repeats)
{
    Scene other = scene;
    const auto take = [&](PressureSolver solver, double tolerance, int times, Field<D>& pressure) {
        other.params.pressure.solver = solver;
        other.params.pressure.tolerance = tolerance;
        const SolverFigures figures = take_step(water, before, other, dt, times);
        pressure.copy(water.pressure);
        return figures;
    };
    const double tolerance = scene.params.pressure.tolerance;
    Field<D> one(water.grid), two(water.grid);
    SolverRow row;
    row.step = water.step + 1;
    (void)take(PressureSolver::hypre, tolerance / 100, 1, one);
    (void)take(PressureSolver::multigrid, tolerance / 100, 1, two);
    row.difference_beyond = relative_difference(two, one);
    row.hypre = take(PressureSolver::hypre, tolerance, repeats, one);
    row.multigrid = take(PressureSolver::multigrid, tolerance, repeats, two);
    row.difference = relative_difference(two, one);
    row.unknowns = measure(water, scene.params).unknowns;
    return row;
}

template <int D>
std::vector<SolverRow> compare(const Scene& scene, const std::vector<long>& steps, int repeats)
{
    Water<D> water = initial_water<D>(scene);
    Backup<D> before(water.grid);
    std::vector<SolverRow> rows;
    for (int frame = 1; frame <= scene.params.time.frames; ++frame) {
        const double end = scene.params.time.time_of(frame);
        while (water.time < end) {
            const double remaining = end - water.time;
            const double dt = equal_step(remaining, choose_dt(water, scene));
            if (!(dt > 0)) return rows;
            const long number = water.step + 1;
            if (std::find(steps.begin(), steps.end(), number) == steps.end()) {
                if (!step(water, scene, dt).finite) return rows;
            } else {
                before.take(water);
                rows.push_back(compare_step(water, before, scene, dt, repeats));
                if (number == steps.back()) return rows;
            }
            if (dt == remaining) water.time = end;
        }
    }
    return rows;
}

nlohmann::ordered_json to_json(const SolverFigures& f)
{
    return {{"converged", f.converged}, {"solves", f.solves},         {"iterations", f.iterations},
            {"residual", f.residual},   {"seconds", f.seconds}};
}

// The scene with so many times its cells, which hypre must be able to solve.
Scene scaled(const std::string& file, double scale)
{
    const Scene plain = read_scene(file);
    const int cells = std::max(4, static_cast<int>(std::lround(plain.params.domain.cells * scale)));
    return read_scene(file, {{"domain.cells", fmt::format("{}", cells)}, {"pressure.solver", "hypre"}});
}

}  // namespace

std::vector<SolverRow> compare_solvers(const Scene& scene, const std::vector<long>& steps, int repeats)
{
    return scene.params.dimension() == 2 ? compare<2>(scene, steps, repeats) : compare<3>(scene, steps, repeats);
}

int bench_pressure(const std::string& results_dir, const std::string& scenes, double scale)
{
    constexpr int repeats = 5;
    const std::vector<long> steps{1, 100};
    std::error_code error;
    std::filesystem::create_directories(results_dir, error);
    if (error) throw InputError(fmt::format("{}: cannot be made: {}", results_dir, error.message()));
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(scenes))
        if (entry.path().extension() == ".toml") files.push_back(entry.path().string());
    std::sort(files.begin(), files.end());

    nlohmann::ordered_json table = nlohmann::ordered_json::array();
    fmt::print("| scene | step | unknowns | multigrid: solves, iterations | ms | hypre: solves, iterations | ms | difference | to a hundredth |\n"
               "|---|---|---|---|---|---|---|---|---|\n");
    for (const std::string& file : files) {
        const std::string name = std::filesystem::path(file).stem().string();
        Scene scene;
        try {
            scene = scaled(file, scale);
        } catch (const InputError& e) {
            fmt::print("| `{}` | | | {} | | | | | |\n", name, e.what());
            continue;
        }
        scene.params.pressure.solver = PressureSolver::multigrid;
        for (const SolverRow& row : compare_solvers(scene, steps, repeats)) {
            const auto text = [](const SolverFigures& f) {
                return fmt::format("{}, {}{} | {:.1f}", f.solves, f.iterations, f.converged ? "" : " (not converged)", 1e3 * f.seconds);
            };
            fmt::print("| `{}` | {} | {} | {} | {} | {:.1e} | {:.1e} |\n", name, row.step, row.unknowns, text(row.multigrid), text(row.hypre),
                       row.difference, row.difference_beyond);
            table.push_back({{"scene", name},
                             {"cells", scene.params.domain.cells},
                             {"step", row.step},
                             {"unknowns", row.unknowns},
                             {"tolerance", scene.params.pressure.tolerance},
                             {"multigrid", to_json(row.multigrid)},
                             {"hypre", to_json(row.hypre)},
                             {"difference", row.difference},
                             {"difference_beyond", row.difference_beyond}});
        }
        std::fflush(stdout);
        write_file(results_dir + "/pressure.json",
                   nlohmann::ordered_json{{"version", version()}, {"cpu", this_machine().cpu}, {"threads", threads()}, {"steps", table}}
                           .dump(2) + '\n');
    }
    return exit_done;
}

}  // namespace tarn
