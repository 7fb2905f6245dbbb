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
    double period = 0, expected = 0, volume = 0, left = 0;
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
    found.left = highest / amplitude;
    return found;
}

// Measured: within 0.5 % of the period, the volume to 1e-7, at any resolution, depth, height and step, in 2D and along both axes of 3D.
TEST(HeightField, a_standing_wave_has_its_period)
{
    for (const int cells : {32, 64})
        for (const double depth : {0.25, 0.507})
            for (const double amplitude : {0.004, 0.02}) {
                const Standing s = standing_wave<2>(cells, depth, amplitude, 0.5);
                EXPECT_NEAR(s.period, s.expected, 0.015 * s.expected) << cells << " cells, depth " << depth << ", " << amplitude;
                EXPECT_NEAR(s.volume, 0, 1e-6);
                // It neither dies out nor grows: crests are higher than troughs are deep, for which it did not start.
                EXPECT_NEAR(s.left, 1, 0.2);
            }
    for (const double cfl : {0.2, 0.9}) {
        const Standing s = standing_wave<2>(48, 0.4, 0.01, cfl);
        EXPECT_NEAR(s.period, s.expected, 0.015 * s.expected) << cfl;
    }
    for (const int axis : {0, 2}) {
        const Standing s = standing_wave<3>(32, 0.3, 0.01, 0.5, axis);
        EXPECT_NEAR(s.period, s.expected, 0.015 * s.expected) << axis;
        EXPECT_NEAR(s.volume, 0, 1e-6);
    }
}

// Still water over a step, deep and but a part of a cell over the ground, stays so; dry ground stays dry.
TEST(HeightField, still_water_stays_still)
{
    for (const double height : {0.3, 0.41, 0.43}) {
        Params p = by_heights(pool(3, 20, height));
        SolidParams shore;
        shore.min = Vec3{0.5, -1, -1};
        shore.max = Vec3{2, 0.4, 2};
        p.solid.push_back(shore);
        const Scene scene = scene_of(p);
        Water<3> w = initial_water<3>(scene);
        const double volume = 0.5 * height + 0.5 * std::max(0.0, height - 0.4);
        EXPECT_NEAR(w.volume_expected, volume, 1e-3);
        EXPECT_LT(run_to(w, scene, 0.5), 0.02) << height;
        EXPECT_NEAR(measure(w, p).volume, volume, 0.01 * volume) << height;
        const Heights<3> h = read_heights<3>(w.particles, w.grid.cells);
        EXPECT_NEAR(h({3, 0, 3}) / 20, height, 1e-3);
        EXPECT_NEAR(h({17, 0, 9}) / 20, std::max(height, 0.4), 1e-3);
    }
}

// A dam breaks over dry ground, runs up a step and comes to rest level on both: no water is lost, and none where there was no way.
TEST(HeightField, a_wave_runs_up_a_shore_and_back)
{
    Params p = by_heights({});
    p.domain.size = {2, 0.6};
    p.domain.cells = 64;
    WaterParams water;
    water.min = Vec3{0, 0, 0};
    water.max = Vec3{0.5, 0.4, 0};
    p.water.push_back(water);
    SolidParams shore;
    shore.min = Vec3{1.5, -1, 0};
    shore.max = Vec3{3, 0.0625, 0};
    p.solid.push_back(shore);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    bool wet = false;
    run_to(w, scene, 6.0, [&](const StepReport&) {
        const Heights<2> h = read_heights<2>(w.particles, w.grid.cells);
        EXPECT_NEAR(volume(h, foster_metaxas::cell_contents(w, scene)) * w.grid.h * w.grid.h, w.volume_expected, 1e-4 * w.volume_expected);
        wet = wet || h({60, 0}) > 2.1;
        for (const double height : h.values) EXPECT_LT(height, 19);
    });
    EXPECT_TRUE(wet);
}

// What comes in by an inflow and leaves by an open side is counted.
TEST(HeightField, inflow_and_open_sides_are_counted)
{
    Params p = by_heights(pool(2, 32, 0.3));
    p.domain.size = {2, 0.75};
    p.water[0].max = Vec3{2, 0.3, 1};
    p.domain.walls.right = WallKind::open;
    SourceParams source;
    source.min = Vec3{0, 0, 0};
    source.max = Vec3{0.0625, 0.3, 0};
    source.velocity = Vec3{0.4, 0, 0};
    p.source.push_back(source);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const double before = w.volume_expected;
    run_to(w, scene, 0.27);
    // Until the wave has come to the other side.
    EXPECT_NEAR(w.volume_expected - before, 0.4 * 0.3125 * 0.27, 0.02 * 0.4 * 0.3 * 0.27);
    run_to(w, scene, 8);
    const Heights<2> h = read_heights<2>(w.particles, w.grid.cells);
    EXPECT_NEAR((volume(h, foster_metaxas::cell_contents(w, scene)) - h({0, 0})) * w.grid.h * w.grid.h, w.volume_expected - before + (2 - 0.0625) * 0.3,
                1e-3);
}

// Catmull-Rom: between columns the surface of a wave is found to the third order, and no corner shows.
TEST(HeightField, is_a_spline_between_columns)
{
    const Grid<3> grid({16, 12, 16}, 1.0 / 16), fine({32, 24, 32}, 1.0 / 32);
    Labels<3> labels(grid);
    for (int n = 0; n < static_cast<int>(grid.storage()); ++n) labels.data()[n] = Contents::slip_wall;
    parallel_for("test", all_tiles(grid), [&](Cell<3> c) { labels(c) = Contents::empty; });
    const auto wave = [](double x, double z) { return 0.4 + 0.05 * std::cos(2 * std::numbers::pi * x) * std::cos(std::numbers::pi * z); };
    Heights<3> h(grid.cells);
    for (size_t i = 0; i < h.values.size(); ++i) {
        const Cell<3> c = h.column(i);
        h.values[i] = 16 * wave((c[0] + 0.5) / 16, (c[2] + 0.5) / 16);
    }
    Field<3> phi = distance_field(fine, 0);
    find_phi(phi, h, labels, 2);
    for (int i = 0; i < 32; ++i)
        for (int k = 0; k < 32; ++k) {
            int j = 0;
            while (phi({i, j + 1, k}) < 0) ++j;
            const double part = phi({i, j, k}) / (phi({i, j, k}) - phi({i, j + 1, k}));
            EXPECT_NEAR((j + 0.5 + part) / 32, wave((i + 0.5) / 32, (k + 0.5) / 32), 0.003 * 0.1) << i << ' ' << k;
        }
}

TEST(HeightField, an_overhang_is_found)
{
    Params p = by_heights(pool(2, 24, 0.3));
    EXPECT_FALSE(foster_metaxas::overhang<2>(scene_of(p)));
    WaterParams drop;
    drop.shape = ShapeKind::sphere;
    drop.center = Vec3{0.4, 0.7, 0};
    drop.radius = 0.1;
    p.water.push_back(drop);
    const auto where = foster_metaxas::overhang<2>(scene_of(p));
    ASSERT_TRUE(where);
    EXPECT_LT(length(*where - *drop.center), 0.11);
}

}  // namespace
}  // namespace tarn
