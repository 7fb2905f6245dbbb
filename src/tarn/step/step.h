#pragma once
// The start, the steps and the measures of any scene: which step it takes is the scene's to say.

#include <limits>

#include "tarn/pressure/report.h"
#include "tarn/scene/scene.h"
#include "tarn/step/water.h"

namespace tarn {

struct [[nodiscard]] StepReport {
    double dt = 0;
    SolveReport pressure;
    SolveReport viscosity;
    bool finite = true;  // no NaN or infinity appeared
    // Of an explicit scheme: where dt is more than it is stable with, nothing was done.
    double dt_bound = std::numeric_limits<double>::infinity();
    double pressed = 0;  // m³/s (m²/s in 2D) that sources and solids press into water without a surface, in vain
    double seconds_advect = 0, seconds_surface = 0, seconds_pressure = 0;
};

// The measures of a state that stats.csv reports.
struct Measures {
    double volume = 0;        // m³ (m² in 2D), solids excluded, droplets included, bubbles taken off
    FragmentTotals droplets;
    double kinetic_energy = 0, potential_energy = 0;
    double max_speed = 0;
    double max_speed_air = 0;   // of air within two cells of the water; only where it flows
    double max_divergence = 0;  // 1/s
    long cells_wet = 0;
    long unknowns = 0;  // of the pressure
};

// The scene at time 0.
template <int D>
Water<D> initial_water(const Scene& scene);

// Rebuilds what a checkpoint does not hold (solids, tiles) after phi, velocity, pressure, time and step were loaded
// into water that initial_water made.
template <int D>
void restore(Water<D>& water, const Scene& scene);

// After phi, velocity or droplets were written from outside: gradients, components and target volumes are those of what is
// there.
template <int D>
void start_again(Water<D>& water, const Scene& scene);

// The longest step that is allowed now.
template <int D>
double choose_dt(const Water<D>& water, const Scene& scene);

// Advances the water by dt.
template <int D>
StepReport step(Water<D>& water, const Scene& scene, double dt);

template <int D>
Measures measure(Water<D>& water, const Params& params);

}  // namespace tarn
