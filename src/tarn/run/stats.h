#pragma once
// stats.csv: one row per step; row 0 is the state at the start. components.csv: one row per connected component of
// water and frame. levels.csv: one row per level of an octree and frame. gauges.csv: one row per step, a column a gauge.

#include <string>
#include <vector>

#include "tarn/output/line_file.h"
#include "tarn/step/step.h"

namespace tarn {

struct StatsRow {
    int frame = 0;
    long step = 0;
    double time = 0, dt = 0, cfl = 0;
    double volume = 0, volume_expected = 0;
    double kinetic_energy = 0, potential_energy = 0;
    double max_speed = 0, max_speed_air = 0, max_divergence = 0;
    int pressure_iterations = 0;
    double pressure_residual = 0;
    long unknowns = 0, cells_wet = 0, particles = 0, components = 0;
    FragmentTotals droplets;
    Exchange exchange;
    double seconds = 0, seconds_advect = 0, seconds_surface = 0, seconds_pressure = 0;
    double seconds_output = 0;  // writing done since the row before
    double memory_mb = 0;
};

// What the water, its measures and the step that led to it say. Frame, cfl, seconds and output are the loop's to fill
// in.
template <int D>
StatsRow stats_row(const Water<D>& water, const Measures& measures, const StepReport& report);

class StatsFile {
public:
    StatsFile() = default;
    // Starts the file; rows up to `step` that are already there stay, since a resumed run makes only later ones anew.
    // None stays where it is negative.
    StatsFile(const std::string& path, long step);

    void add(const StatsRow& row);

private:
    LineFile file_;
};

// The volumes of every connected component, largest first.
class ComponentsFile {
public:
    ComponentsFile() = default;
    // As StatsFile.
    ComponentsFile(const std::string& path, long step);

    template <int D>
    void add(int frame, const Water<D>& water);

private:
    LineFile file_;
};

// The cells of every level of an octree; no file on a uniform grid.
class LevelsFile {
public:
    LevelsFile() = default;
    // As StatsFile.
    LevelsFile(const std::string& path, long step, bool octree);

    template <int D>
    void add(int frame, const Water<D>& water);

private:
    LineFile file_;
    bool any_ = false;
};

// What gauges read; no file where there are none.
class GaugesFile {
public:
    GaugesFile() = default;
    // As StatsFile.
    GaugesFile(const std::string& path, long step, const std::vector<std::string>& columns);

    void add(long step, double time, const std::vector<double>& values);

private:
    LineFile file_;
    bool any_ = false;
};

}  // namespace tarn
