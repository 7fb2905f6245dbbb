// The height field: waves over columns of cells.   [FM96] §4.3

#include "tarn/surface/height_field.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "run_water.h"
#include "tarn/step/foster_metaxas.h"

namespace tarn {
namespace {

Params by_heights(Params p)
{
    p.method.solver = Solver::foster_metaxas;
    p.method.surface = SurfaceKind::height_field;
    p.pressure.solver = PressureSolver::relaxation;
    p.pressure.max_iterations = 100000;
    p.time.cfl = 0.5;
    return p;
}

// A standing wave of one wavelength across the domain, which starts as it is highest: its period by where the height at the left
// wall passes the level, w² = g k tanh k d.
struct Standing {
    double period = 0, expected = 0, volume = 0, damping = 0;
};
template <int D>
Standing standing_wave(int cells, double depth, double amplitude, double cfl, int axis = 0)
{
    Params p = by_heights({});
    p.domain.size = D == 2 ? std::vector<double>{1, 1} : std::vector<double>{1, 1, 1};
    if (D == 3) p.domain.size[axis == 0 ? 2 : 0] = 4.0 / cells;
    p.domain.cells = cells;
    p.time.cfl = cfl;
    WaterParams still;
    still.min = Vec3{0, 0, 0};
    still.max = Vec3{1, depth, 1};
    p.water.push_back(still);
    const Scene scene = scene_of(p);
    Water<D> w = initial_water<D>(scene);
    Heights<D> h = read_heights<D>(w.particles, w.grid.cells);
    const double k = 2 * std::numbers::pi;
    for (size_t i = 0; i < h.values.size(); ++i) {
        const double x = (h.column(i)[axis] + 0.5) * w.grid.h;
        h.values[i] = (depth + amplitude * std::cos(k * x)) / w.grid.h;
    }
    write_heights(w.particles, h);
    const double before = [&] { return volume(h, foster_metaxas::cell_contents(w, scene)); }();
    Standing found;

    found.expected = 2 * std::numbers::pi / std::sqrt(9.81 * k * std::tanh(k * depth));
    std::vector<double> passes;
    double last = amplitude, last_time = 0, highest = 0;
    while (w.time < 3.6 * found.expected) {
        const double dt = std::min(choose_dt(w, scene), found.expected / 40);
        EXPECT_TRUE(step(w, scene, dt).pressure.converged);
        const double now = read_heights<D>(w.particles, w.grid.cells).values[0] * w.grid.h - depth;
        if (last > 0 && now <= 0) passes.push_back(last_time + (w.time - last_time) * last / (last - now));
        if (w.time > 2.5 * found.expected) highest = std::max(highest, now);
        last = now;
        last_time = w.time;
    }
    if (passes.size() >= 3) found.period = (passes.back() - passes.front()) / double(passes.size() - 1);
    const Heights<D> after = read_heights<D>(w.particles, w.grid.cells);
    found.volume = volume(after, foster_metaxas::cell_contents(w, scene)) / before - 1;
    found.damping = highest / amplitude;
    return found;
}

TEST(HeightField, a_standing_wave_has_its_period)
{
    for (const int cells : {32, 64})
        for (const double depth : {0.25, 0.5, 0.507})
            for (const double amplitude : {0.004, 0.02}) {
                const Standing s = standing_wave<2>(cells, depth, amplitude, 0.5);
                EXPECT_NEAR(s.period, s.expected, 0.02 * s.expected) << cells << " cells, depth " << depth << ", " << amplitude;
                EXPECT_NEAR(s.volume, 0, 1e-5);
                std::printf("%d %g %g: period %+.4f volume %.1e left %.3f\n", cells, depth, amplitude, s.period / s.expected - 1, s.volume, s.damping);
            }
}

}  // namespace
}  // namespace tarn
