// Smoke on an octree: what is carried across levels is kept, it rises as on the uniform grid, and still air stays still.

#include <cstring>

#include "run_water.h"
#include "tarn/output/shown_levels.h"
#include "tarn/step/octree.h"
#include "tarn/step/state.h"

namespace tarn {
namespace {

CloudParams ball(Vec3 center, double radius, double temperature)
{
    CloudParams cloud;
    cloud.shape = ShapeKind::sphere;
    cloud.center = center;
    cloud.radius = radius;
    cloud.temperature = temperature;
    return cloud;
}

// A hot ball of smoke under a solid one, in a closed box.
Params hot_ball(int dimension, int cells, GridKind grid = GridKind::octree)
{
    Params p;
    p.domain.size.assign(static_cast<size_t>(dimension), 1.0);
    p.domain.cells = cells;
    p.method.phases = Phases::smoke;
    p.method.advection = Advection::maccormack;
    p.method.grid = grid;
    const double z = dimension == 3 ? 0.5 : 0;
    p.cloud.push_back(ball({0.47, 0.25, z}, 0.15, 593));
    SolidParams solid;
    solid.shape = ShapeKind::sphere;
    solid.center = Vec3{0.52, 0.62, z};
    solid.radius = 0.13;
    p.solid.push_back(solid);
    return p;
}

// The mean height of the smoke, in cells of all sizes.
template <int D>
double height(const Water<D>& w)
{
    const ShownSmoke<D> smoke(w);
    const auto d = smoke.density().view();
    const Grid<D> grid = w.grid;
    const double all = parallel_sum("test", all_tiles(grid), [=](Cell<D> c) { return double(d(c)); });
    return parallel_sum("test", all_tiles(grid), [=](Cell<D> c) { return double(d(c)) * grid.centre(c)[1]; }) / all;
}

template <int D>
long larger_cells_of(const Water<D>& w)
{
    long cells = 0;
    for (size_t l = 1; l < cells_of_levels(w).size(); ++l) cells += cells_of_levels(w)[l];
    return cells;
}

// To the rounding of floats, 1e-7.
template <int D>
void expect_kept(const Params& p, double seconds)
{
    const Scene scene = scene_of(p);
    Water<D> w = initial_water<D>(scene);
    EXPECT_GT(larger_cells_of(w), 0);
    const double before = measure(w, p).volume;
    double divergence = 0, most = 0;
    int iterations = 0;
    run_to(w, scene, seconds, [&](const StepReport& report) {
        const Measures m = measure(w, p);
        divergence = std::max(divergence, m.max_divergence * w.grid.h / std::max(m.max_speed, 1e-3));
        iterations = std::max(iterations, report.pressure.iterations);
    });
    const ShownSmoke<D> smoke(w);
    most = parallel_max("test", all_tiles(w.grid), [v = smoke.density().view()](Cell<D> c) { return v(c); });
    const double volume = measure(w, p).volume;
    std::printf("%dD: volume off by %.2g, divergence %.2g, %d iterations, most %.3f, %ld larger cells\n", D, volume / before - 1, divergence,
                iterations, most, larger_cells_of(w));
    EXPECT_NEAR(volume, before, 1e-4 * before);
    EXPECT_NEAR(volume, w.volume_expected, 1e-4 * before);
    EXPECT_LT(divergence, 3 * p.pressure.tolerance);
    EXPECT_LT(most, 1.05);
    EXPECT_LE(iterations, 12);
}
TEST(SmokeOctree, density_is_conserved_across_levels)
{
    expect_kept<2>(hot_ball(2, 128), 1.5);
    expect_kept<3>(hot_ball(3, 48), 0.5);
    Params p = hot_ball(2, 96);
    p.solid[0].translate.keys = {{0, Vec3{}}, {1, Vec3{-0.2, -0.3, 0}}, {2, Vec3{0.2, 0, 0}}};
    expect_kept<2>(p, 1.2);
}

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

TEST(SmokeOctree, of_one_level_is_the_uniform_grid)
{
    Params p = hot_ball(2, 64);
    p.octree.levels = 1;
    const Scene one = scene_of(p), other = scene_of(hot_ball(2, 64, GridKind::uniform));
    Water<2> a = initial_water<2>(one), b = initial_water<2>(other);
    run_to(a, one, 0.3);
    run_to(b, other, 0.3);
    EXPECT_EQ(std::memcmp(a.smoke_density.data(), b.smoke_density.data(), a.smoke_density.size() * sizeof(float)), 0);
}

TEST(SmokeOctree, rises_as_on_the_uniform_grid)
{
    for (const int cells : {64, 128}) {
        double heights[2], energies[2];
        for (int n = 0; n < 2; ++n) {
            const Params p = hot_ball(2, cells, n ? GridKind::octree : GridKind::uniform);
            const Scene scene = scene_of(p);
            Water<2> w = initial_water<2>(scene);
            run_to(w, scene, 0.6);
            heights[n] = height(w);
            energies[n] = measure(w, p).kinetic_energy;
        }
        std::printf("%d cells: height %.4f and %.4f m, energy %.4g and %.4g J\n", cells, heights[0], heights[1], energies[0], energies[1]);
        EXPECT_NEAR(heights[1], heights[0], 0.01 * heights[0]);
        EXPECT_NEAR(energies[1], energies[0], 0.1 * energies[0]);
    }
}

TEST(SmokeOctree, a_step_back_and_any_number_of_threads_give_the_same_bits)
{
    Params p = hot_ball(2, 128);
    p.domain.walls.top = p.domain.walls.left = WallKind::open;
    p.smoke.confinement = 0.3;
    p.smoke.dissipation = 0.1;
    const Scene scene = scene_of(p);
    set_threads(1);
    Water<2> a = initial_water<2>(scene);
    for (int n = 0; n < 40; ++n) (void)step(a, scene, 0.02);
    set_threads(2);
    Water<2> b = initial_water<2>(scene);
    for (int n = 0; n < 25; ++n) (void)step(b, scene, 0.02);
    // Another water takes the state over, as after a resume.
    Water<2> c = initial_water<2>(scene);
    for_each_member<2>([](const auto&, auto& to, const auto& from) { copy_member(to, from); }, c, std::as_const(b));
    restore(c, scene);
    for (int n = 25; n < 40; ++n) {
        (void)step(b, scene, 0.02);
        (void)step(c, scene, 0.02);
    }
    expect_same_bits<2>(std::as_const(a), std::as_const(b));
    expect_same_bits<2>(std::as_const(a), std::as_const(c));
}

// Warm above cold over cells of all sizes: the pressure that balances its weight has exactly the slope that buoyancy has, on T-faces too.
TEST(SmokeOctree, still_stratified_air_stays_still)
{
    Params p = hot_ball(2, 128);
    p.smoke.weight = 0.2;
    p.cloud[0].radius = 0.01;
    p.cloud[0].temperature.reset();
    RefineParams box;
    box.min = Vec3{0.1, 0.1, 0};
    box.max = Vec3{0.2, 0.3, 1};
    p.refine.push_back(box);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    for (int l = 0; l < w.octree.count(); ++l) {
        Field<2>& t = l ? w.coarse[size_t(l) - 1].temperature : w.temperature;
        Field<2>& d = l ? w.coarse[size_t(l) - 1].smoke_density : w.smoke_density;
        const Grid<2> grid = t.grid();
        parallel_for("set", all_tiles(grid), [&](Cell<2> c) {
            t(c) = float(100 * grid.centre(c)[1]);
            d(c) = 0;
        });
    }
    restore(w, scene);
    double fastest = 0;
    for (int n = 0; n < 100; ++n) {
        ASSERT_TRUE(step(w, scene, 1.0 / 30).pressure.converged);
        fastest = std::max(fastest, measure(w, p).max_speed);
    }
    std::printf("fastest %.2g m/s\n", fastest);
    EXPECT_LT(fastest, 3.6e-4);  // three times what was measured: what the solver leaves
}

// Between open sides a pressure exists without a constant, in larger cells too, and nothing feeds itself.
TEST(SmokeOctree, open_sides_may_have_larger_cells)
{
    for (const int dimension : {2, 3}) {
        Params p = hot_ball(dimension, dimension == 2 ? 128 : 48);
        p.domain.walls = {WallKind::open, WallKind::open, WallKind::open, WallKind::open, WallKind::open, WallKind::open};
        p.smoke.confinement = 0.3;
        const Scene scene = scene_of(p);
        const auto run = [&]<int D>(Water<D> w) {
            int iterations = 0;
            double fastest = 0;
            run_to(w, scene, D == 2 ? 2.0 : 0.6, [&](const StepReport& report) {
                iterations = std::max(iterations, report.pressure.iterations);
                fastest = std::max(fastest, measure(w, p).max_speed);
            });
            std::printf("%dD: %d iterations, fastest %.2f m/s\n", D, iterations, fastest);
            EXPECT_LE(iterations, 12);
            EXPECT_LT(fastest, 3.7);  // of falling through the box with its weight
        };
        if (dimension == 2)
            run(initial_water<2>(scene));
        else
            run(initial_water<3>(scene));
    }
}

}  // namespace
}  // namespace tarn
