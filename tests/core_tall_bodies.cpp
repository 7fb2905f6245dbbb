// What moves on tall cells: solids on keyframes and paths, rigid bodies, walls that water leaves, forces, and what gauges read.

#include <cstdio>
#include <cstring>

#include "run_water.h"
#include "tarn/step/gauges.h"
#include "tarn/step/state.h"
#include "tarn/step/tall.h"

namespace tarn {
namespace {

Params tall_pool(int cells, double level)
{
    Params p = pool(2, cells, level);
    p.method.grid = GridKind::tall;
    p.surface.spray = false;
    return p;
}

// The same scene on the uniform grid, on tall cells with all rows, and with as few as there may be.
struct Three {
    Params uniform, all, few;
};
Three three_of(Params p)
{
    Three t{p, p, p};
    t.uniform.method.grid = GridKind::uniform;
    t.all.tall.optical_depth = 1;
    return t;
}

Water<2> run(const Params& p, int steps, double dt)
{
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    for (int n = 0; n < steps; ++n) {
        const StepReport report = step(w, scene, dt);
        EXPECT_TRUE(report.finite);
        EXPECT_TRUE(report.pressure.converged);
    }
    return w;
}

// In cells, outside of solids, inside of which phi is no water's.
double heights_off(const Water<2>& a, const Water<2>& b)
{
    double most = 0;
    for (int i = 0; i < a.grid.cells[0]; ++i) {
        bool free = true;
        for (int j = 0; j < a.grid.cells[1] && a.solids.any; ++j)
            free = free && a.solids.distance.view()(Cell<2>{i, j}) > static_cast<float>(a.grid.h);
        if (free) most = std::max(most, std::fabs(level(a, i) - level(b, i)) / a.grid.h);
    }
    return most;
}

SolidParams disc(Vec3 center, double radius)
{
    SolidParams s;
    s.shape = ShapeKind::sphere;
    s.center = center;
    s.radius = radius;
    return s;
}

// A disc is drawn through the water below the surface, so that it makes waves. With all rows the waves are the uniform grid's, to what
// the solver leaves; with few they are as high.
TEST(TallCells, wake_of_a_solid_on_keyframes)
{
    Params p = tall_pool(96, 0.7);
    p.pressure.tolerance = 1e-6;
    p.solid.push_back(disc({0, 0, 0}, 0.07));
    Keyed<Vec3> way;
    way.keys = {{0, Vec3{0.25, 0.55, 0}}, {1, Vec3{1.0, 0.5, 0}}};
    p.solid[0].translate = way;
    const Three t = three_of(p);
    const Water<2> a = run(t.uniform, 24, 0.01), b = run(t.all, 24, 0.01), c = run(t.few, 24, 0.01);
    std::printf("heights off by %.1e cells with all rows, %.2f cells with %d unknowns of %d\n", heights_off(a, b), heights_off(a, c),
                c.tall.columns.nodes(), b.tall.columns.nodes());
    EXPECT_LT(heights_off(a, b), 2e-3);  // 24 steps of solves to 1e-6
    EXPECT_LT(heights_off(a, c), 0.1);
    EXPECT_LT(c.tall.columns.nodes(), b.tall.columns.nodes() * 2 / 3);
    const double volume = measure(const_cast<Water<2>&>(a), t.uniform).volume;
    EXPECT_NEAR(measure(const_cast<Water<2>&>(c), t.few).volume, volume, 0.002 * volume);
}

// It goes down to the ground and up again through rows that were gaps: what it leaves behind is water as anywhere.
TEST(TallCells, a_solid_dives_to_the_ground_and_comes_back)
{
    Params p = tall_pool(64, 0.8);
    p.solid.push_back(disc({0, 0, 0}, 0.06));
    Keyed<Vec3> way;
    way.keys = {{0, Vec3{0.5, 0.65, 0}}, {0.5, Vec3{0.5, 0.1, 0}}, {1.0, Vec3{0.5, 0.65, 0}}};
    p.solid[0].translate = way;
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const double volume = measure(w, p).volume;
    const int before = w.tall.columns.nodes();
    int most = 0;
    for (int n = 0; n < 50; ++n) {
        ASSERT_TRUE(step(w, scene, 0.02).pressure.converged);
        most = std::max(most, w.tall.columns.nodes());
        EXPECT_LT(w.tall.divergence * w.grid.h, 1e-3 * std::max(1.0, w.fastest));
    }
    std::printf("%d unknowns, %d at the ground, %d after\n", before, most, w.tall.columns.nodes());
    EXPECT_GT(most, before + 300);
    EXPECT_LT(w.tall.columns.nodes(), before + 200);
    EXPECT_NEAR(measure(w, p).volume, volume, 0.002 * volume);
}

// A box floats and a disc sinks: with all rows as on the uniform grid, with few nearly so.
TEST(TallCells, bodies_float_and_sink_as_on_the_uniform_grid)
{
    Params p = tall_pool(96, 0.7);
    p.pressure.tolerance = 1e-6;
    SolidParams raft;
    raft.shape = ShapeKind::box;
    raft.min = Vec3{-0.12, -0.05, 0};
    raft.max = Vec3{0.12, 0.05, 0};
    raft.translate = Vec3{0.3, 0.75, 0};
    raft.motion = SolidMotion::body;
    raft.density = 500;
    SolidParams stone = disc({0, 0, 0}, 0.07);
    stone.translate = Vec3{0.75, 0.6, 0};
    stone.motion = SolidMotion::body;
    stone.density = 2500;
    p.solid = {raft, stone};
    const Three t = three_of(p);
    const Water<2> a = run(t.uniform, 24, 0.01), b = run(t.all, 24, 0.01), c = run(t.few, 24, 0.01);
    double all = 0, few = 0;
    for (size_t n = 0; n < 2; ++n) {
        all = std::max(all, length(a.bodies[n].position - b.bodies[n].position) / a.grid.h);
        few = std::max(few, length(a.bodies[n].position - c.bodies[n].position) / a.grid.h);
    }
    std::printf("bodies off by %.1e cells with all rows, %.2f with few\n", all, few);
    EXPECT_LT(all, 2e-3);
    EXPECT_LT(few, 0.1);
}

// A box of half the water's density is put where it floats, and stays there.
TEST(TallCells, a_floating_box_displaces_its_weight)
{
    Params p = tall_pool(96, 0.7);
    SolidParams raft;
    raft.shape = ShapeKind::box;
    raft.min = Vec3{-0.15, -0.08, 0};
    raft.max = Vec3{0.15, 0.08, 0};
    raft.translate = Vec3{0.5, 0.7, 0};
    raft.motion = SolidMotion::body;
    raft.density = 500;
    p.solid = {raft};
    const Water<2> w = run(p, 60, 0.01);
    std::printf("it floats %.2f cells from where it displaces its weight\n", (w.bodies[0].position[1] - 0.7) / w.grid.h);
    EXPECT_NEAR(w.bodies[0].position[1], 0.7, 0.1 * w.grid.h);
}

// Water that is thrown up at a closed lid falls from it, and a column of water slides off its wall.
TEST(TallCells, water_leaves_walls_as_on_the_uniform_grid)
{
    Params p = tall_pool(64, 0.5);
    p.pressure.tolerance = 1e-6;
    WaterParams block;
    block.min = Vec3{0.3, 0.8, 0};
    block.max = Vec3{0.7, 1.1, 0};  // hangs from the lid
    p.water.push_back(block);
    const Three t = three_of(p);
    const Water<2> a = run(t.uniform, 10, 0.01), b = run(t.all, 10, 0.01), c = run(t.few, 10, 0.01);
    const auto highest = [](const Water<2>& w) {
        const auto phi = w.phi.view();
        for (int j = w.grid.cells[1] - 1; j >= 0; --j)
            if (phi(Cell<2>{32, j}) < 0) return j;
        return -1;
    };
    std::printf("the block's top: row %d, %d with all rows, %d with few\n", highest(a), highest(b), highest(c));
    EXPECT_LT(highest(a), 63);
    EXPECT_LE(std::abs(highest(b) - highest(a)), 1);
    EXPECT_LE(std::abs(highest(c) - highest(a)), 1);
    EXPECT_LT(heights_off(a, b), 0.02);
}

// A drag, an acceleration and a zone of waves act in gaps as they do on rows.
TEST(TallCells, feel_forces_as_on_the_uniform_grid)
{
    Params p = tall_pool(96, 0.7);
    p.pressure.tolerance = 1e-6;
    ForceParams push;
    push.kind = ForceKind::uniform;
    push.acceleration = Vec3{1.5, 0.8, 0};
    ForceParams drag;
    drag.kind = ForceKind::drag;
    drag.velocity = Vec3{0.5, 0, 0};
    drag.rate = 3.0;
    p.force = {push, drag};
    WavesParams waves;
    waves.kind = WaveKind::airy;
    waves.length = 0.5;
    waves.height = 0.02;
    waves.level = 0.7;
    waves.zone = 0.4;
    p.waves = {waves};
    const Three t = three_of(p);
    const Water<2> a = run(t.uniform, 30, 0.01), b = run(t.all, 30, 0.01), c = run(t.few, 30, 0.01);
    const double slope = (level(a, 90) - level(a, 5)) / a.grid.h;
    std::printf("heights off by %.1e cells with all rows, %.2f cells with few, of a slope of %.1f\n", heights_off(a, b),
                heights_off(a, c), slope);
    EXPECT_LT(heights_off(a, b), 2e-3);
    EXPECT_LT(heights_off(a, c), 0.01 * slope);  // waves run faster by 0.6 %
}

// Gauges far below the surface have rows around them, and read what they do on the uniform grid.
TEST(TallCells, gauges_read_below_the_surface)
{
    Params p = tall_pool(96, 0.8);
    p.pressure.tolerance = 1e-6;
    WaterParams block;
    block.min = Vec3{0, 0, 0};
    block.max = Vec3{0.3, 0.86, 0};
    p.water.push_back(block);
    p.solid.push_back(disc({0.5, 0.25, 0}, 0.1));
    p.solid[0].name = "pipe";
    const auto add = [&](GaugeKind kind) -> GaugeParams& {
        GaugeParams g;
        g.name = "g" + std::to_string(p.gauge.size());
        g.kind = kind;
        p.gauge.push_back(g);
        return p.gauge.back();
    };
    add(GaugeKind::pressure).point = Vec3{0.3, 0.11, 0};
    add(GaugeKind::velocity).point = Vec3{0.7, 0.4, 0};
    GaugeParams& flux = add(GaugeKind::flux);
    flux.min = Vec3{0.6, 0, 0};
    flux.max = Vec3{0.6, 1, 0};
    add(GaugeKind::force).solid = "pipe";
    const Three t = three_of(p);
    const Water<2> a = run(t.uniform, 15, 0.01), c = run(t.few, 15, 0.01);
    const std::vector<double> x = read_gauges(a, scene_of(t.uniform)), y = read_gauges(c, scene_of(t.few));
    for (size_t n = 0; n < x.size(); ++n) {
        std::printf("%.5g on rows, %.5g on tall cells\n", x[n], y[n]);
        EXPECT_NEAR(y[n], x[n], 0.02 * std::fabs(x[n]) + 1e-3);
    }
}

// Hills that stand out of the water, and in it: what is said of the water's volume is what the cells hold, also in tiles where phi inside the
// ground speaks of water and in front of it there is air.
TEST(TallCells, volume_of_water_among_hills)
{
    for (const double height : {0.35, 0.62, 0.93}) {
        Params p = pool(3, 32, 0.3);
        p.method.grid = GridKind::tall;
        for (const double x : {0.1, 0.45, 0.85}) {
            SolidParams hill;
            hill.shape = ShapeKind::box;
            hill.min = Vec3{x - 0.08, -1, -1};
            hill.max = Vec3{x + 0.2, height, 0.4 + x};
            hill.rotate = Vec3{0, 0, 20 * x};
            p.solid.push_back(hill);
        }
        Water<3> w = initial_water<3>(scene_of(p));
        EXPECT_NEAR(measure(w, p).volume, w.volume_expected, 1e-6) << height;
    }
}

// The state that a step goes on from holds all of it, also where a body and gaps are.
TEST(TallCells, resume_with_bodies_with_the_same_bits)
{
    Params p = tall_pool(64, 0.7);
    p.solid.push_back(disc({0, 0, 0}, 0.08));
    p.solid[0].translate = Vec3{0.4, 0.66, 0};
    p.solid[0].motion = SolidMotion::body;
    p.solid[0].density = 1800;
    const Scene scene = scene_of(p), again = scene_of(p);
    Water<2> w = initial_water<2>(scene), other = initial_water<2>(again);
    for (int n = 0; n < 8; ++n) (void)step(w, scene, 0.01);
    for_each_member<2>([](const auto&, auto& to, const auto& from) { copy_member(to, from); }, other, w);
    restore(other, again);
    for (int n = 0; n < 4; ++n) {
        (void)step(w, scene, 0.01);
        (void)step(other, again, 0.01);
    }
    EXPECT_EQ(std::memcmp(w.phi.data(), other.phi.data(), w.phi.size() * sizeof(float)), 0);
    EXPECT_EQ(w.tall.velocity.u[0], other.tall.velocity.u[0]);
    EXPECT_EQ(w.tall.pressure, other.tall.pressure);
    EXPECT_EQ(w.bodies[0].position[1], other.bodies[0].position[1]);
}

}  // namespace
}  // namespace tarn
