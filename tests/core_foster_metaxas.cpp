// The explicit marker-and-cell scheme: what its surface cells do in every configuration, how long its steps may be, and
// what its water does beside that of the projection.   [FM96]

#include "tarn/step/foster_metaxas.h"

#include <cstdio>
#include <cstring>
#include <random>

#include "run_water.h"
#include "tarn/output/checkpoint.h"
#include "tarn/run/complaint.h"
#include "tarn/step/foster_metaxas_cells.h"
#include "tarn/surface/markers.h"

namespace tarn {
namespace {

using foster_metaxas::set_open_faces;

// What the scene reader chooses for the solver.
Params by_markers(Params p)
{
    p.method.solver = Solver::foster_metaxas;
    p.method.surface = SurfaceKind::markers;
    p.surface.particles_per_cell = 16;
    p.pressure.solver = PressureSolver::relaxation;
    p.pressure.max_iterations = 100000;
    p.time.cfl = 0.5;
    return p;
}

WaterParams box_of_water(Vec3 min, Vec3 max, Vec3 velocity = {})
{
    WaterParams water;
    water.min = min;
    water.max = max;
    water.velocity = velocity;
    return water;
}

// Every marker's place, in cells.
template <int D>
std::vector<Vec<D, float>> places(Water<D>& w)
{
    std::vector<Vec<D, float>> all;
    for (int i = 0; i < w.particles.count(); ++i) all.push_back(w.particles.view().at(i));
    return all;
}

// All 16 configurations of a surface cell in 2D, one by one. Before, the faces left, right, below and above have 1, 2, 4 and 8
// m/s, and the body force adds 100 along x and 1000 along y. L, R, B and A name the open ones.
TEST(SurfaceCells, every_configuration_in_2d)
{
    const struct {
        const char* open;
        float left, right, below, above;
    } expected[] = {
        {"", 1, 2, 4, 8},
        // One open: it lets out what flows in, or in what flows out.
        {"L", 2 + 4, 2, 4, 8},
        {"R", 1, 1 - 4, 4, 8},
        {"B", 1, 2, 8 + 1, 8},
        {"A", 1, 2, 4, 4 - 1},
        // Two adjacent ones: each as the face opposite.
        {"LB", 2, 2, 8, 8},
        {"LA", 2, 2, 4, 4},
        {"RB", 1, 1, 8, 8},
        {"RA", 1, 1, 4, 4},
        // Two opposite ones fall freely.
        {"LR", 101, 102, 4, 8},
        {"BA", 1, 2, 1004, 1008},
        // Three: the one opposite the water has its velocity, two fall freely.
        {"LRB", 101, 102, 8, 8},
        {"LRA", 101, 102, 4, 4},
        {"LBA", 2, 2, 1004, 1008},
        {"RBA", 1, 1, 1004, 1008},
        // A cell by itself falls.
        {"LRBA", 101, 102, 1004, 1008},
    };
    EXPECT_EQ(std::size(expected), 16u);
    for (const auto& e : expected) {
        float u[2][2] = {{1, 2}, {4, 8}};
        const auto has = [&](char c) { return std::strchr(e.open, c) != nullptr; };
        const bool open[2][2] = {{has('L'), has('R')}, {has('B'), has('A')}};
        set_open_faces<2>(u, open, Vec<2, float>{100, 1000});
        EXPECT_EQ(u[0][0], e.left) << e.open;
        EXPECT_EQ(u[0][1], e.right) << e.open;
        EXPECT_EQ(u[1][0], e.below) << e.open;
        EXPECT_EQ(u[1][1], e.above) << e.open;
    }
}

// All 64 in 3D: closed faces stay; both faces of an axis fall freely; one open face follows its opposite, and lets out its
// share of what flows in along closed axes, so that nothing stays that could leave.
TEST(SurfaceCells, every_configuration_in_3d)
{
    const float before[3][2] = {{1, 2}, {4, 8}, {16, 32}};
    const Vec<3, float> fall{100, 1000, 10000};
    for (int mask = 0; mask < 64; ++mask) {
        float u[3][2];
        bool open[3][2];
        std::memcpy(u, before, sizeof u);
        for (int a = 0; a < 3; ++a)
            for (int side = 0; side < 2; ++side) open[a][side] = mask >> (2 * a + side) & 1;
        set_open_faces<3>(u, open, fall);
        float in = 0;
        int takers = 0;
        for (int a = 0; a < 3; ++a) {
            if (!open[a][0] && !open[a][1]) in += before[a][0] - before[a][1];
            takers += open[a][0] != open[a][1];
        }
        float out = 0;
        for (int a = 0; a < 3; ++a) {
            const bool both = open[a][0] && open[a][1];
            for (int side = 0; side < 2; ++side) {
                const float more = (side ? in : -in) / static_cast<float>(takers > 0 ? takers : 1);
                const float expected = !open[a][side] ? before[a][side]
                                       : both         ? before[a][side] + fall[a]
                                                      : before[a][1 - side] + more;
                EXPECT_FLOAT_EQ(u[a][side], expected) << mask;
            }
            if (!both) out += u[a][1] - u[a][0];
        }
        if (takers > 0) {
            EXPECT_NEAR(out, 0, 1e-5) << mask;
        }
    }
}

TEST(FosterMetaxas, cells_are_told_by_their_markers)
{
    Params p = by_markers(pool(2, 16, 0.5));
    SolidParams post;
    post.min = Vec3{0.5, 0, 0};
    post.max = Vec3{0.625, 0.25, 0};
    post.no_slip = true;
    p.solid.push_back(post);
    p.domain.walls.right = WallKind::open;
    const Scene scene = scene_of(p);
    const Water<2> w = initial_water<2>(scene);
    const Labels<2> labels = foster_metaxas::cell_contents(w, scene);
    for (int i = 0; i < 16; ++i)
        for (int j = 0; j < 16; ++j) {
            const bool solid = (i == 8 || i == 9) && j < 4;
            const Contents expected = solid   ? Contents::no_slip_wall
                                      : j < 7 ? Contents::full
                                      : j == 7 ? Contents::surface
                                               : Contents::empty;
            EXPECT_EQ(labels(Cell<2>{i, j}), expected) << i << ' ' << j;
        }
    EXPECT_EQ(labels(Cell<2>{-1, 3}), Contents::slip_wall);
    EXPECT_EQ(labels(Cell<2>{16, 3}), Contents::outflow);
    EXPECT_EQ(w.particles.count(), 16 * (16 * 8 - 8));
}

// Central differences beside a wall: a velocity along it that is the same everywhere diffuses only where the wall holds it, by
// what the wall's mirror image adds, -2 u nu / h^2.
TEST(FosterMetaxas, walls_hold_water_or_let_it_slide)
{
    const Grid<2> grid({8, 8}, 0.1);
    for (const Contents wall : {Contents::slip_wall, Contents::no_slip_wall}) {
        Labels<2> labels(grid);
        for (int i = -1; i <= 8; ++i)
            for (int j = -1; j <= 8; ++j)
                labels(Cell<2>{i, j}) = j == -1 || i == -1 || i == 8 ? wall : (j == 8 ? Contents::slip_wall : Contents::full);
        FaceField<2> u(grid);
        u[0].fill(3);
        u[1].fill(0);
        Field<2> pressure(grid);
        const foster_metaxas::Momentum<2> momentum{std::as_const(u).view(), std::as_const(pressure).view(), labels.view(),
                                                   Vec<2, float>{}, 1000, 0.5f, 0, 0.1f, 1e-3f};
        const float held = wall == Contents::no_slip_wall ? -2 * 3 * 0.5f / 0.01f * 1e-3f : 0.0f;
        EXPECT_NEAR(momentum.tentative({4, 0}, 0), 3 + held, 1e-5);
        EXPECT_NEAR(momentum.tentative({4, 3}, 0), 3, 1e-5);
        EXPECT_NEAR(momentum.tentative({4, 7}, 0), 3, 1e-5);
    }
}

// The bound is where water crosses a cell, or where viscosity passes half of a cell's difference on; beyond it nothing is done.
TEST(FosterMetaxas, a_step_beyond_the_bound_is_refused)
{
    Params p = by_markers(pool(2, 16, 0.5));
    p.water[0].velocity = Vec3{2, 0, 0};
    for (const double viscosity : {0.0, 0.1}) {
        p.fluid.viscosity = viscosity;
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        const double bound = viscosity > 0 ? 0.5 / (16 * 16 * 2 * viscosity) : 1.0 / 16 / 2;
        const std::vector<Vec<2, float>> before = places(w);
        const StepReport refused = step(w, scene, 1.01 * bound);
        EXPECT_NEAR(refused.dt_bound, bound, 1e-9);
        EXPECT_NE(complaint(refused, p).find("stable"), std::string::npos) << complaint(refused, p);
        EXPECT_EQ(w.step, 0);
        EXPECT_EQ(w.time, 0);
        EXPECT_TRUE(places(w) == before);
        EXPECT_LT(choose_dt(w, scene), bound);
        EXPECT_EQ(complaint(step(w, scene, 0.99 * bound), p), "");
        EXPECT_EQ(w.step, 1);
    }
}

// All of it without viscosity, none where viscosity alone is u h / 2; together they are that between, and more than the u^2 dt / 2
// that forward differences in time take away, at every dt within the bound.
TEST(FosterMetaxas, as_much_is_taken_from_upstream_as_viscosity_lacks)
{
    using foster_metaxas::upwind_share;
    const double h = 0.1;
    EXPECT_EQ(upwind_share(0, 0, h), 0);
    EXPECT_EQ(upwind_share(2, 0, h), 1);
    EXPECT_NEAR(upwind_share(2, 0.01, h), 0.9, 1e-12);
    EXPECT_EQ(upwind_share(2, 1, h), 0);
    for (const double u : {0.5, 2.0})
        for (const double nu : {0.0, 1e-3, 0.1})
            EXPECT_GE(nu + 0.5 * upwind_share(u, nu, h) * u * h, 0.5 * u * h - 1e-12);
}

// Small steps and large ones give the same water: with less from upstream, at the smallest all of it scatters.
TEST(FosterMetaxas, a_dam_break_does_not_depend_on_the_steps)
{
    for (const double cfl : {0.1, 0.5, 0.9}) {
        Params p = by_markers({});
        p.domain.size = {1.2, 0.9};
        p.domain.cells = 32;
        p.time.cfl = cfl;
        p.water.push_back(box_of_water({0, 0, 0}, {0.35, 0.4, 0}));
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        const double energy = measure(w, p).potential_energy;
        run_to(w, scene, 2.0, [&](const StepReport&) {
            const Measures m = measure(w, p);
            EXPECT_NEAR(m.volume, w.volume_expected, 0.08 * w.volume_expected) << cfl << " at " << w.time;
            EXPECT_LT(m.kinetic_energy + m.potential_energy, 1.02 * energy) << cfl << " at " << w.time;
        });
    }
}

template <int D>
void expect_still_pool(int cells, double level)
{
    const Params p = by_markers(pool(D, cells, level));
    const Scene scene = scene_of(p);
    Water<D> w = initial_water<D>(scene);
    const double volume = measure(w, p).volume;
    EXPECT_NEAR(volume, level, 0.02 * level);
    const double fastest = run_to(w, scene, D == 2 ? 1.0 : 0.2);
    // What the tolerance leaves of g dt, step after step.
    EXPECT_LT(fastest, 0.01);
    EXPECT_NEAR(measure(w, p).volume, volume, 1e-3 * volume);
    // Hydrostatic, from the surface cell's centre down.
    Cell<D> c = Cell<D>::all(cells / 2);
    c[1] = 0;
    const double surface = (std::ceil(level * cells - 1e-9) - 0.5) / cells;
    EXPECT_NEAR(w.pressure(c), 9810 * (surface - 0.5 / cells), 0.01 * 9810 * level);
}
TEST(FosterMetaxas, still_water_stays_still)
{
    expect_still_pool<2>(32, 0.5);
    expect_still_pool<2>(24, 0.4);
    expect_still_pool<3>(16, 0.5);
}

// 50 cells of fall without air: every marker stays where it was in the drop, to a cell; the drop falls as a stone does.
TEST(FosterMetaxas, a_drop_in_free_fall_keeps_its_shape)
{
    Params p = by_markers({});
    p.domain.size = {0.3, 1.0};
    p.domain.cells = 80;
    WaterParams drop;
    drop.shape = ShapeKind::sphere;
    drop.center = Vec3{0.15, 0.85, 0};
    drop.radius = 0.09;
    p.water.push_back(drop);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const std::vector<Vec<2, float>> before = places(w);
    const double fall = 50.0 / 80, time = std::sqrt(2 * fall / 9.81);
    run_to(w, scene, time);
    const std::vector<Vec<2, float>> after = places(w);
    ASSERT_EQ(after.size(), before.size());
    Vec<2> mean;
    for (size_t i = 0; i < after.size(); ++i) mean += (after[i] - before[i]).as<double>();
    mean = (1.0 / static_cast<double>(after.size())) * mean;
    // Forward Euler in time is late by half a step.
    EXPECT_NEAR(-mean[1], 50, 1.0);
    EXPECT_NEAR(mean[0], 0, 0.01);
    double worst = 0;
    for (size_t i = 0; i < after.size(); ++i)
        worst = std::max(worst, length((after[i] - before[i]).as<double>() - mean));
    EXPECT_LT(worst, 1.0);
    RecordProperty("worst_cells", std::to_string(worst));
}

// The front of dam_break_2d, as the run of the projection has it.
double front_after(const Params& p, double t, double* volume_error = nullptr)
{
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    run_to(w, scene, t);
    if (volume_error) *volume_error = measure(w, p).volume / w.volume_expected - 1;
    double front = 0;
    for (int i = 0; i < w.grid.cells[0]; ++i)
        if (level(w, i) > 0.5 * w.grid.h) front = (i + 1) * w.grid.h;
    return front;
}
TEST(FosterMetaxas, a_dam_breaks_as_with_the_projection)
{
    for (const int cells : {48, 96}) {
        Params p;
        p.domain.size = {1.2, 0.9};
        p.domain.cells = cells;
        p.water.push_back(box_of_water({0, 0, 0}, {0.35, 0.4, 0}));
        for (const double t : {0.15, 0.25}) {
            double error = 0;
            const double projected = front_after(p, t), explicitly = front_after(by_markers(p), t, &error);
            EXPECT_NEAR(explicitly, projected, 0.1 * projected) << cells << " cells, " << t << " s";
            EXPECT_NEAR(error, 0, 0.03);
        }
    }
}

// A jet brings its velocity times its width: what enters is counted marker by marker, and phi shows it.
TEST(FosterMetaxas, an_inflow_brings_what_it_should)
{
    Params p = by_markers({});
    p.domain.size = {1, 1};
    p.domain.cells = 32;
    p.water.push_back(box_of_water({0, 0, 0}, {1, 0.125, 0}));
    SourceParams source;
    source.min = Vec3{0, 0.5, 0};
    source.max = Vec3{0.0625, 0.625, 0};
    source.velocity = Vec3{1.5, 0, 0};
    p.source.push_back(source);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const double before = w.volume_expected;
    run_to(w, scene, 0.8);
    EXPECT_NEAR(w.volume_expected - before, 1.5 * 0.125 * 0.8, 0.01 * 1.5 * 0.125 * 0.8);
    EXPECT_NEAR(measure(w, p).volume, w.volume_expected, 0.03 * w.volume_expected);
}

// A block of water without gravity leaves by an open side, and into a sink, and nothing is left of it.
TEST(FosterMetaxas, water_leaves_by_open_sides_and_sinks)
{
    for (const bool sink : {false, true}) {
        Params p = by_markers({});
        p.domain.size = {1, 0.5};
        p.domain.cells = 32;
        p.domain.gravity = Vec3{};
        p.water.push_back(box_of_water({0.3, 0, 0}, {0.6, 0.5, 0}, {1, 0, 0}));
        if (sink) {
            SinkParams hole;
            hole.min = Vec3{0.8, 0, 0};
            hole.max = Vec3{1, 1, 0};
            p.sink.push_back(hole);
        } else {
            p.domain.walls.right = WallKind::open;
        }
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        EXPECT_NEAR(w.volume_expected, 0.15, 0.01);
        run_to(w, scene, 1.0);
        EXPECT_EQ(w.particles.count(), 0) << sink;
        EXPECT_NEAR(w.volume_expected, 0, 1e-6);
        EXPECT_NEAR(measure(w, p).volume, 0, 1e-6);
    }
}

// Water poured over a step of whole cells goes around it; nothing is inside afterwards.
TEST(FosterMetaxas, obstacles_stay_dry_inside)
{
    Params p = by_markers({});
    p.domain.size = {1, 0.75};
    p.domain.cells = 40;
    p.water.push_back(box_of_water({0, 0, 0}, {0.3, 0.5, 0}));
    SolidParams ball;
    ball.shape = ShapeKind::sphere;
    ball.center = Vec3{0.6, 0.05, 0};
    ball.radius = 0.12;
    p.solid.push_back(ball);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const int markers = w.particles.count();
    run_to(w, scene, 0.6);
    EXPECT_EQ(w.particles.count(), markers);
    const Labels<2> labels = foster_metaxas::cell_contents(w, scene);
    for (const Vec<2, float>& x : places(w)) {
        const Cell<2> c{static_cast<int>(std::floor(x[0] + 0.5f)), static_cast<int>(std::floor(x[1] + 0.5f))};
        EXPECT_FALSE(is_wall(labels(c))) << c[0] << ' ' << c[1];
    }
    EXPECT_NEAR(measure(w, p).volume, w.volume_expected, 0.05 * w.volume_expected);
}

// The same bits on any number of threads, and after a checkpoint.
TEST(FosterMetaxas, same_bits_on_threads_and_after_a_checkpoint)
{
    Params p = by_markers({});
    p.domain.size = {1, 1, 0.5};
    p.domain.cells = 24;
    p.water.push_back(box_of_water({0, 0, 0}, {0.4, 0.6, 1}));
    SourceParams source;
    source.min = Vec3{0.8, 0.6, 0.1};
    source.max = Vec3{0.9, 0.7, 0.3};
    source.velocity = Vec3{-0.7, -1, 0};
    p.source.push_back(source);
    const Scene scene = scene_of(p);
    const std::string path = ::testing::TempDir() + "/foster_metaxas.ckpt";
    const int before = threads();
    std::vector<Vec<3, float>> found[3];
    for (int n = 0; n < 3; ++n) {
        set_threads(n == 0 ? 1 : 4);
        Water<3> w = initial_water<3>(scene);
        if (n == 2) {
            (void)load_checkpoint(path, w);
            restore(w, scene);
        }
        while (w.step < 20) {
            ASSERT_EQ(complaint(step(w, scene, choose_dt(w, scene)), p), "");
            if (n == 0 && w.step == 10) save_checkpoint(path, w, 0);
        }
        found[n] = places(w);
    }
    set_threads(before);
    std::remove(path.c_str());
    EXPECT_GT(found[0].size(), 1000u);
    EXPECT_TRUE(found[0] == found[1]);
    EXPECT_TRUE(found[0] == found[2]);
}

}  // namespace
}  // namespace tarn
