#pragma once
// One step of water with a free surface.   [EMF02] §3.4

#include "tarn/scene/scene.h"
#include "tarn/step/water.h"

namespace tarn {

// What a linear solve did.
struct [[nodiscard]] SolveReport {
    bool converged = true;
    int iterations = 0;
    double residual = 0;  // relative, largest over cells
};

struct [[nodiscard]] StepReport {
    double dt = 0;
    SolveReport pressure;
    SolveReport viscosity;
    bool finite = true;             // no NaN or infinity appeared
    double seconds_advect = 0, seconds_surface = 0, seconds_pressure = 0;
};

// The measures of a state that stats.csv reports.
struct Measures {
    double volume = 0;              // m³ (m² in 2D), solids excluded
    double kinetic_energy = 0, potential_energy = 0;
    double max_speed = 0;
    double max_divergence = 0;      // 1/s
    long cells_wet = 0;
};

// The scene at time 0.
template <int D>
Water<D> initial_water(const Scene& scene);

// Rebuilds what a checkpoint does not hold (solids, tiles) after phi, velocity, pressure, time and step were loaded.
template <int D>
void restore(Water<D>& water, const Scene& scene);

// The largest stable step: CFL, capillary waves, max_step. Infinity for water at rest.
template <int D>
double choose_dt(const Water<D>& water, const Params& params);

// Advances the water by dt.
template <int D>
StepReport step(Water<D>& water, const Scene& scene, double dt);

template <int D>
Measures measure(const Water<D>& water, const Params& params);

}  // namespace tarn
