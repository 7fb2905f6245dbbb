#include "tarn/run/stats.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <sstream>
#include <tuple>
#include <utility>

#include "tarn/output/files.h"
#include "tarn/run/machine.h"

namespace tarn {
namespace {

// The columns of stats.csv and their values, named once.
using NamedValues = std::array<std::pair<const char*, double>, 37>;
NamedValues columns(const StatsRow& r)
{
    // Clocks are rounded to the microsecond; everything else keeps the digits that give back the same number.
    const auto clock = [](double s) { return std::round(s * 1e6) / 1e6; };
    return {{{"frame", r.frame},
             {"step", double(r.step)},
             {"time", r.time},
             {"dt", r.dt},
             {"cfl", r.cfl},
             {"volume", r.volume},
             {"volume_expected", r.volume_expected},
             {"kinetic_energy", r.kinetic_energy},
             {"potential_energy", r.potential_energy},
             {"max_speed", r.max_speed},
             {"max_divergence", r.max_divergence},
             {"pressure_iterations", r.pressure_iterations},
             {"pressure_residual", r.pressure_residual},
             {"unknowns", double(r.unknowns)},
             {"cells_wet", double(r.cells_wet)},
             {"particles", double(r.particles)},
             {"seconds", clock(r.seconds)},
             {"seconds_advect", clock(r.seconds_advect)},
             {"seconds_surface", clock(r.seconds_surface)},
             {"seconds_pressure", clock(r.seconds_pressure)},
             {"seconds_output", clock(r.seconds_output)},
             {"memory_mb", std::round(r.memory_mb * 10) / 10},
             {"components", double(r.components)},
             {"fragments", double(r.droplets.count)},
             {"volume_droplets", r.droplets.volume_droplets},
             {"volume_bubbles", r.droplets.volume_bubbles},
             {"volume_exchanged", r.exchange.volume},
             {"momentum_fragments_x", r.droplets.momentum[0]},
             {"momentum_fragments_y", r.droplets.momentum[1]},
             {"momentum_fragments_z", r.droplets.momentum[2]},
             {"momentum_exchanged_x", r.exchange.momentum[0]},
             {"momentum_exchanged_y", r.exchange.momentum[1]},
             {"momentum_exchanged_z", r.exchange.momentum[2]},
             {"momentum_gravity_x", r.exchange.gravity[0]},
             {"momentum_gravity_y", r.exchange.gravity[1]},
             {"momentum_gravity_z", r.exchange.gravity[2]},
             {"max_speed_air", r.max_speed_air}}};
}

std::string header()
{
    std::string line;
    for (const auto& [name, value] : columns({})) line += (line.empty() ? "" : ",") + std::string(name);
    return line;
}

// The fewest digits that give back the same number; with an exponent only where it is very large or small.
std::string digits(double value)
{
    char text[64];
    const double size = std::fabs(value);
    const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
    const auto end = std::to_chars(text, text + sizeof text, value,
                                   plain ? std::chars_format::fixed : std::chars_format::scientific);
    return std::string(text, end.ptr);
}

std::string line_of(const StatsRow& row)
{
    std::string line;
    for (const auto& [name, value] : columns(row)) line += (line.empty() ? "" : ",") + digits(value);
    return line;
}

// Starts a file of rows that begin with their step, or with frame and step where `frames`; those up to `step` stay.
LineFile begin_file(const std::string& path, const std::string& header, long step, bool frames = true)
{
    std::string kept = header + '\n';
    if (step >= 0 && std::filesystem::exists(path)) {
        std::istringstream rows(read_file(path));
        std::string line;
        std::getline(rows, line);
        while (std::getline(rows, line)) {
            const char* from = line.c_str();
            if (frames) from = std::strchr(from, ',');
            long row_step;
            if (from && std::sscanf(frames ? from + 1 : from, "%ld,", &row_step) == 1 && row_step <= step)
                kept += line + '\n';
        }
    }
    write_file(path, kept);
    return LineFile(path);
}

}  // namespace

template <int D>
StatsRow stats_row(const Water<D>& water, const Measures& m, const StepReport& report)
{
    StatsRow r;
    r.step = water.step;
    r.time = water.time;
    r.dt = report.dt;
    r.volume = m.volume;
    r.volume_expected = water.volume_expected;
    r.kinetic_energy = m.kinetic_energy;
    r.potential_energy = m.potential_energy;
    r.max_speed = m.max_speed;
    r.max_speed_air = m.max_speed_air;
    r.max_divergence = m.max_divergence;
    r.pressure_iterations = report.pressure.iterations;
    r.pressure_residual = report.pressure.residual;
    r.unknowns = m.unknowns;
    r.cells_wet = m.cells_wet;
    r.particles = water.particles.count();
    r.components = static_cast<long>(water.targets.expected.size());
    r.droplets = m.droplets;
    r.exchange = water.exchange;
    r.seconds_advect = report.seconds_advect;
    r.seconds_surface = report.seconds_surface;
    r.seconds_pressure = report.seconds_pressure;
    r.memory_mb = memory_resident() / 1e6;
    return r;
}
template StatsRow stats_row<2>(const Water<2>&, const Measures&, const StepReport&);
template StatsRow stats_row<3>(const Water<3>&, const Measures&, const StepReport&);

StatsFile::StatsFile(const std::string& path, long step) : file_(begin_file(path, header(), step)) {}

void StatsFile::add(const StatsRow& row) { file_.add(line_of(row)); }

ComponentsFile::ComponentsFile(const std::string& path, long step)
    : file_(begin_file(path, "frame,step,time,component,volume,volume_expected", step))
{
}

template <int D>
void ComponentsFile::add(int frame, const Water<D>& water)
{
    const auto& [expected, actual] = std::tie(water.targets.expected, water.targets.actual);
    std::vector<size_t> order(expected.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return expected[a] > expected[b]; });
    for (size_t n = 0; n < order.size(); ++n) {
        std::string line = std::to_string(frame) + ',' + std::to_string(water.step);
        for (const double value : {water.time, double(n + 1), actual[order[n]], expected[order[n]]})
            line += ',' + digits(value);
        file_.add(line);
    }
}
template void ComponentsFile::add(int, const Water<2>&);
template void ComponentsFile::add(int, const Water<3>&);

LevelsFile::LevelsFile(const std::string& path, long step, bool octree) : any_(octree)
{
    if (any_) file_ = begin_file(path, "frame,step,time,level,cell_size,cells", step);
}

template <int D>
void LevelsFile::add(int frame, const Water<D>& water)
{
    for (size_t l = 0; any_ && l < water.octree.levels.size(); ++l) {
        const OctreeLevel<D>& level = water.octree.levels[l];
        std::string line = std::to_string(frame) + ',' + std::to_string(water.step);
        for (const double value : {water.time, double(l), level.grid.h, double(level.leaves.cells())}) line += ',' + digits(value);
        file_.add(line);
    }
}
template void LevelsFile::add(int, const Water<2>&);
template void LevelsFile::add(int, const Water<3>&);

GaugesFile::GaugesFile(const std::string& path, long step, const std::vector<std::string>& columns)
    : any_(!columns.empty())
{
    if (!any_) return;
    std::string header = "step,time";
    for (const std::string& column : columns) header += ',' + column;
    file_ = begin_file(path, header, step, false);
}

void GaugesFile::add(long step, double time, const std::vector<double>& values)
{
    if (!any_) return;
    std::string line = std::to_string(step) + ',' + digits(time);
    for (const double value : values) line += ',' + digits(value);
    file_.add(line);
}

}  // namespace tarn
