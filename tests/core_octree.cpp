// Water on an octree: how its cells fit together, how exact its pressure is, and that it is the uniform grid's where all
// cells are small.

#include <cstring>
#include <numbers>
#include <random>

#include "run_water.h"
#include "tarn/field/sample.h"
#include "tarn/pressure/project.h"
#include "tarn/step/octree.h"
#include "tarn/step/state.h"

namespace tarn {
namespace {

constexpr double pi = std::numbers::pi;

// A box full of water, with cells of the level that `small` says, or smaller ones; none where that is negative.
template <int D>
struct Tank {
    Grid<D> grid;
    Octree<D> octree;
    std::vector<CoarseLevel<D>> coarse;
    OctreeSystem<D> system;
    Field<D> phi, pressure, b, p, z;
    FaceField<D> velocity, w;
    FaceField<D, uint8_t> known;
    Projection<D> projection;
    PressureParams params;

    template <class F>
    Tank(int cells, int levels, const OctreeParams& how, const F& small)
        : grid(Cell<D>::all(cells), 1.0 / cells), octree(make_octree(grid, levels)), phi(distance_field(grid, -1.0f)),
          pressure(grid), b(grid), p(grid), z(grid), velocity(grid), w(grid), known(grid), projection(grid)
    {
        params.tolerance = 1e-6;
        std::vector<uint8_t> states;
        std::vector<TileMap<D>> least;
        for (const OctreeLevel<D>& level : octree.levels) {
            TileMap<D> map(level.grid);
            for (size_t i = 0; i < map.flags.size(); ++i) {
                const Box<D> box = map.box(map.tile(i));
                const int wanted = small(0.5 * level.grid.h * (box.lo + box.hi).template as<double>());
                map.flags[i] = wanted <= int(least.size());
                if (least.empty()) states.push_back(static_cast<uint8_t>(wanted < 0 ? TileState::none : wanted == 0 ? TileState::fine : TileState::coarse));
            }
            least.push_back(map);
        }
        divide(octree, states, least, 1);
        for (int l = 1; l < levels; ++l) {
            CoarseLevel<D> level;
            level.velocity = FaceField<D>(octree.levels[size_t(l)].grid);
            level.pressure = Field<D>(octree.levels[size_t(l)].grid);
            coarse.push_back(std::move(level));
        }
        system = OctreeSystem<D>(octree, how);
    }
    // Calls f(level, velocity, pressure).
    template <class F>
    void for_each_level(const F& f)
    {
        for (int l = 0; l < octree.count(); ++l)
            f(octree.levels[size_t(l)], l ? coarse[size_t(l) - 1].velocity : velocity, l ? coarse[size_t(l) - 1].pressure : pressure);
    }
    SolveReport solve()
    {
        LargerCells<D> larger{coarse, system};
        ProjectionForces<D> forces;
        forces.larger = &larger;
        Boundary<D> boundary;
        boundary.cells = grid.cells;
        FluidParams fluid;
        fluid.density = 1;
        return project(velocity, pressure, known, phi, forces, boundary, octree.levels[0].map, octree.levels[0].tiles, fluid, params, 1.0,
                       projection, ProjectionScratch<D>{w, b, p, z});
    }
};

// p = cos(pi x) cos(2 pi y) cos(3 pi z), and the mean of its derivative over a face. Its flow is all that u* has, so that p is what
// the projection must find, and no velocity what it must leave.
template <int D>
double wave(Vec<D> x)
{
    double p = 1;
    for (int a = 0; a < D; ++a) p *= std::cos(pi * (a + 1) * x[a]);
    return p;
}
template <int D>
double slope(Vec<D> x, int axis, double h)
{
    double u = -pi * (axis + 1) * std::sin(pi * (axis + 1) * x[axis]);
    for (int a = 0; a < D; ++a) {
        if (a == axis) continue;
        const double k = pi * (a + 1), half = 0.5 * k * h;
        u *= std::cos(k * x[a]) * std::sin(half) / half;
    }
    return u;
}

struct Errors {
    double pressure = 0, gradient = 0;  // L1
    int iterations = 0;
};
template <int D, class F>
Errors errors_of(int cells, const OctreeParams& how, const F& small, int levels)
{
    Tank<D> t(cells, levels, how, small);
    t.for_each_level([&](const OctreeLevel<D>& level, FaceField<D>& u, Field<D>&) {
        for (int a = 0; a < D; ++a)
            parallel_for_faces("u", level.tiles, a, [&](Cell<D> c) { u[a](c) = float(slope<D>(level.grid.face(c, a), a, level.grid.h)); });
    });
    Errors e;
    const SolveReport report = t.solve();
    EXPECT_TRUE(report.converged && !report.fallback) << report.iterations << " iterations, residual " << report.residual;
    e.iterations = report.iterations;
    double volume = 0, mean = 0;
    for (int pass = 0; pass < 2; ++pass)
        t.for_each_level([&](const OctreeLevel<D>& level, FaceField<D>& u, Field<D>& p) {
            const double cell = cell_volume(level.grid);
            const Tiles<D>& leaves = level.leaves;
            if (pass == 0) volume += cell * double(leaves.cells());
            const double sum = parallel_sum("e", leaves, [&](Cell<D> c) {
                const double error = p(c) - wave<D>(level.grid.centre(c));
                return pass == 0 ? error : std::fabs(error - mean);
            });
            (pass == 0 ? mean : e.pressure) += cell * sum;
            if (pass == 0) return;
            for (int a = 0; a < D; ++a)
                e.gradient += cell / D * parallel_sum("e", leaves, [&](Cell<D> c) { return double(std::fabs(u[a](c))); });
        });
    return e;
}

template <int D>
void expect_orders(std::vector<int> sizes, const OctreeParams& how, double least_pressure, double least_gradient)
{
    const auto boxes = [](Vec<D> x) {
        double far = 0;
        for (int a = 0; a < D; ++a) far = std::max(far, std::fabs(x[a] - 0.5));
        return far < 0.125 ? 0 : far < 0.25 ? 1 : 2;
    };
    const auto patches = [](Vec<D> x) {
        int n = 0;
        for (int a = 0; a < D; ++a) n = 3 * n + int(x[a] * 4);
        return n * 7 % 5 < 2 ? 0 : 1;
    };
    for (int kind = 0; kind < 2; ++kind) {
        std::vector<Errors> e;
        for (const int n : sizes) e.push_back(kind ? errors_of<D>(n, how, patches, 2) : errors_of<D>(n, how, boxes, 3));
        const double times = std::log2(double(sizes.back()) / sizes.front());
        const double pressure = std::log2(e.front().pressure / e.back().pressure) / times;
        const double gradient = std::log2(e.front().gradient / e.back().gradient) / times;
        EXPECT_GE(pressure, least_pressure);
        EXPECT_GE(gradient, least_gradient);
    }
}

TEST(Octree, its_pressure_is_of_second_order)
{
    expect_orders<2>({64, 128, 256}, {}, 1.9, 1.8);
    expect_orders<3>({64, 128}, {}, 1.9, 1.8);
}

TEST(Octree, of_2004_its_pressure_is_of_first_order)
{
    OctreeParams how;
    how.pressure = OctreePressure::losasso_2004;
    expect_orders<2>({64, 128, 256}, how, 0.7, -1);
    expect_orders<3>({64, 128}, how, 0.7, -1);
}

// Random flow in a tank with a calm or a rough surface.
template <int D>
int iterations(int cells, bool rough, bool uniform)
{
    const auto surface = [&](Vec<D> x) {
        const double z = D == 3 ? x[D - 1] : 0.3;
        return rough ? x[1] - (0.6 + 0.15 * std::sin(9 * x[0]) * std::cos(7 * z) + 0.04 * std::sin(31 * x[0] + 13 * z))
                     : x[1] - 0.7503 - 0.03 * std::sin(9 * x[0]) * std::cos(7 * z);
    };
    const double near = (rough ? 25.0 : 10.0) / cells;  // no distance, but steeper
    const int levels = uniform ? 1 : most_levels_of(Grid<D>(Cell<D>::all(cells), 1));
    Tank<D> t(cells, levels, {}, [&](Vec<D> x) { return surface(x) > near ? -1 : surface(x) > -near ? 0 : 99; });
    t.params.tolerance = 1e-4;
    parallel_for("phi", all_tiles(t.grid), [&](Cell<D> c) { t.phi(c) = float(surface(t.grid.centre(c))); });
    std::mt19937 random(1);
    t.for_each_level([&](const OctreeLevel<D>& level, FaceField<D>& u, Field<D>&) {
        for (const Box<D>& box : level.leaves.boxes)
            backend::each(box, [&](Cell<D> c) {
                for (int a = 0; a < D; ++a) u[a](c) = float(random() % 2000) / 1000 - 1;
            });
    });
    const SolveReport report = t.solve();
    EXPECT_TRUE(report.converged && !report.fallback);
    return report.iterations;
}

// As many as on the uniform grid, or one more: 6 to 10 to 1e-4 of the largest divergence, calm and rough, up to 512 cells a side in 2D
// and 128 in 3D.
TEST(Octree, its_pressure_takes_as_many_iterations_as_the_uniform_grid)
{
    for (const bool rough : {false, true}) {
        for (const int cells : {64, 128, 256}) EXPECT_LE(iterations<2>(cells, rough, false), iterations<2>(cells, rough, true) + 1);
        EXPECT_LE(iterations<2>(512, rough, false), 11);
        EXPECT_LE(iterations<3>(64, rough, false), iterations<3>(64, rough, true) + 1);
    }
}

Params on_octree(Params p, int levels = 0)
{
    p.method.grid = GridKind::octree;
    p.octree.levels = levels;
    return p;
}

// A column of water in the corner of a tank.
Params dam(int dimension, int cells)
{
    Params p = pool(dimension, cells, 0.6);
    p.water[0].max = Vec3{0.4, 0.6, 2};
    return p;
}

template <int D>
double largest_difference(const Water<D>& a, const Water<D>& b)
{
    const auto p = a.phi.view(), q = b.phi.view();
    return parallel_max("difference", all_tiles(a.grid), [=](Cell<D> c) { return std::fabs(p(c) - q(c)); }) / a.grid.h;
}

template <int D>
void run_dams(const Params& one, const Params& other, double t, double most)
{
    const Scene scenes[] = {scene_of(one), scene_of(other)};
    Water<D> a = initial_water<D>(scenes[0]), b = initial_water<D>(scenes[1]);
    run_to(a, scenes[0], t);
    run_to(b, scenes[1], t);
    EXPECT_EQ(a.step, b.step);
    EXPECT_LE(largest_difference(a, b), most);
}

TEST(Octree, of_one_level_is_the_uniform_grid)
{
    run_dams<2>(dam(2, 64), on_octree(dam(2, 64), 1), 0.3, 0);
    run_dams<3>(dam(3, 24), on_octree(dam(3, 24), 1), 0.2, 0);
}

// To round-off, until it has grown with the water: 3e-5 cells at 0.15 s.
TEST(Octree, refined_everywhere_is_the_uniform_grid)
{
    RefineParams all;
    all.min = Vec3{-1, -1, -1};
    all.max = Vec3{2, 2, 2};
    for (const int dimension : {2, 3}) {
        Params p = on_octree(dam(dimension, dimension == 2 ? 64 : 32), 2);
        p.refine.push_back(all);
        if (dimension == 2)
            run_dams<2>(dam(2, 64), p, 0.15, 1e-4);
        else
            run_dams<3>(dam(3, 32), p, 0.15, 1e-4);
    }
}

// Still water over patches of cells of all sizes, and over terrain that cuts cells: no faster than on the uniform grid, where
// round-off is 2e-7 sqrt(g d).
template <int D>
void expect_still(Params p)
{
    const Scene scene = scene_of(p);
    Water<D> w = initial_water<D>(scene);
    const std::vector<long> cells = cells_of_levels(w);
    ASSERT_GE(cells.size(), 2u);
    EXPECT_GT(cells[1], 0);
    double fastest = 0;
    for (int n = 0; n < 100; ++n) {
        const StepReport report = step(w, scene, 0.01);
        ASSERT_TRUE(report.pressure.converged);
        fastest = std::max(fastest, measure(w, p).max_speed);
    }
    EXPECT_LE(fastest, 1e-5 * std::sqrt(9.81 * 0.8));
    EXPECT_NEAR(measure(w, p).volume, w.volume_expected, 1e-5 * w.volume_expected);
}
TEST(Octree, still_water_stays_still_over_every_arrangement_of_levels)
{
    std::mt19937 random(3);
    for (int n = 0; n < 4; ++n) {
        Params p = on_octree(pool(2, 128, 0.8));
        for (int k = 0; k < 3; ++k) {
            RefineParams box;
            const double x = 0.9 * double(random() % 1000) / 1000, y = 0.6 * double(random() % 1000) / 1000;
            box.min = Vec3{x, y, 0};
            box.max = Vec3{x + 0.1, y + 0.05, 1};
            box.level = int(random() % 3);
            p.refine.push_back(box);
        }
        expect_still<2>(p);
    }
    Params p = on_octree(pool(3, 48, 0.8));
    RefineParams box;
    box.min = Vec3{0.1, 0, 0.5};
    box.max = Vec3{0.3, 0.2, 0.7};
    p.refine.push_back(box);
    expect_still<3>(p);
    p = on_octree(pool(2, 128, 0.8));
    SolidParams slope;
    slope.shape = ShapeKind::plane;
    slope.point = Vec3{0, 0.3, 0};
    slope.normal = Vec3{1, 3, 0};
    p.solid.push_back(slope);
    expect_still<2>(p);
}

// The mean of the tilt's periods, from where it crosses zero.
double period_of(const Params& p)
{
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    double before = 0, t_before = 0;
    std::vector<double> crossings;
    run_to(w, scene, 3.2, [&](const StepReport&) {
        double tilt = 0;
        for (int i = 0; i < w.grid.cells[0]; ++i) tilt += level(w, i) * std::cos(pi * (i + 0.5) / w.grid.cells[0]);
        if (before * tilt < 0) crossings.push_back(t_before + (w.time - t_before) * before / (before - tilt));
        before = tilt;
        t_before = w.time;
    });
    return 2 * (crossings.back() - crossings.front()) / double(crossings.size() - 1);
}

// Differs by 0.07 %.
TEST(Octree, water_sloshes_in_the_same_time)
{
    Params p = pool(2, 128, 0.7);
    p.water[0].shape = ShapeKind::plane;
    p.water[0].min.reset();
    p.water[0].max.reset();
    p.water[0].point = Vec3{0.5, 0.7, 0};
    p.water[0].normal = Vec3{0.06, 1, 0};
    const double uniform = period_of(p);
    EXPECT_NEAR(period_of(on_octree(p)), uniform, 0.002 * uniform);
}

// Where the water's front is, and that no water is lost.
TEST(Octree, a_dam_breaks_as_fast)
{
    for (const int cells : {64, 128}) {
        double front[2];
        for (int n = 0; n < 2; ++n) {
            const Params p = n ? on_octree(dam(2, cells)) : dam(2, cells);
            const Scene scene = scene_of(p);
            Water<2> w = initial_water<2>(scene);
            int most = 0;
            run_to(w, scene, 0.22, [&](const StepReport& report) { most = std::max(most, report.pressure.iterations); });
            const auto phi = std::as_const(w.phi).view();
            front[n] = 0;
            for (int i = 1; i < cells; ++i)
                if (phi(Cell<2>{i, 1}) >= 0 && phi(Cell<2>{i - 1, 1}) < 0)
                    front[n] = (i - 0.5 + phi(Cell<2>{i - 1, 1}) / (phi(Cell<2>{i - 1, 1}) - phi(Cell<2>{i, 1}))) / cells;
            EXPECT_NEAR(measure(w, p).volume, 0.24, 0.002 * 0.24);
            EXPECT_LE(most, 12);
        }
        EXPECT_NEAR(front[1], front[0], 0.02 * front[0]);
    }
}

// The velocity on every level, and the surface, are the same bits.
template <int D>
void expect_same_bits(const Water<D>& a, const Water<D>& b)
{
    for_each_member<D>(
        [](const std::string& name, const auto& x, const auto& y) {
            if constexpr (requires { x.grid(); x.data(); }) {
                ASSERT_EQ(x.size(), y.size()) << name;
                EXPECT_TRUE(x.size() == 0 || std::memcmp(x.data(), y.data(), x.size() * sizeof(*x.data())) == 0) << name;
            }
        },
        a, b);
}
TEST(Octree, a_step_back_and_any_number_of_threads_give_the_same_bits)
{
    const Params p = on_octree(dam(2, 128));
    const Scene scene = scene_of(p);
    set_threads(1);
    Water<2> a = initial_water<2>(scene);
    for (int n = 0; n < 40; ++n) (void)step(a, scene, 0.006);
    set_threads(2);
    Water<2> b = initial_water<2>(scene);
    for (int n = 0; n < 25; ++n) (void)step(b, scene, 0.006);
    // Another water takes the state over, as after a resume.
    Water<2> c = initial_water<2>(scene);
    for_each_member<2>([](const auto&, auto& to, const auto& from) { copy_member(to, from); }, c, std::as_const(b));
    restore(c, scene);
    for (int n = 25; n < 40; ++n) {
        (void)step(b, scene, 0.006);
        (void)step(c, scene, 0.006);
    }
    expect_same_bits<2>(std::as_const(a), std::as_const(b));
    expect_same_bits<2>(std::as_const(a), std::as_const(c));
}

}  // namespace
}  // namespace tarn
