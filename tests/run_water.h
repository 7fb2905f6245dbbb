#pragma once
// What the tests of water share: a pool, a scene from parameters, running it for a while.

#include <gtest/gtest.h>

#include <cmath>

#include "tarn/step/step.h"
#include "tarn/surface/measure.h"

namespace tarn {

// A box that is `size` a side (2D or 3D), filled up to a level.
inline Params pool(int dimension, int cells, double level)
{
    Params p;
    p.domain.size.assign(static_cast<size_t>(dimension), 1.0);
    p.domain.cells = cells;
    WaterParams water;
    water.min = Vec3{-1, -1, -1};
    water.max = Vec3{2, level, 2};
    p.water.push_back(water);
    return p;
}

inline Scene scene_of(const Params& p) { return build_scene(p, "test", "test", "."); }

// The height of the water in a column of cells.
inline double level(const Water<2>& w, int i)
{
    const auto phi = w.phi.view();
    double sum = 0;
    for (int j = 0; j < w.grid.cells[1]; ++j)
        sum += wet_fraction<2>(phi, w.grid.cells, Cell<2>{i, j}, static_cast<float>(w.grid.h));
    return sum * w.grid.h;
}

// Runs to time t in steps of at most a frame, calling after(report) at the end of each.
template <int D, class F>
void run_to(Water<D>& w, const Scene& scene, double t, const F& after)
{
    while (w.time < t - 1e-9) {
        const double left = std::min(t - w.time, 1 / scene.params.time.rate);
        const double dt = left / std::ceil(left / choose_dt(w, scene));
        const StepReport report = step(w, scene, dt);
        ASSERT_TRUE(report.finite);
        EXPECT_TRUE(report.pressure.converged);
        EXPECT_TRUE(report.viscosity.converged);
        after(report);
    }
}

// The same; returns the largest speed seen.
template <int D>
double run_to(Water<D>& w, const Scene& scene, double t)
{
    double fastest = 0;
    run_to(w, scene, t, [&](const StepReport&) { fastest = std::max(fastest, measure(w, scene.params).max_speed); });
    return fastest;
}

}  // namespace tarn
