// The papers' own methods: what each word of a preset does, and that all of them run.

#include <cmath>

#include "run_water.h"
#include "tarn/field/sample.h"
#include "tarn/scene/choose_schemes.h"
#include "tarn/step/surface.h"
#include "tarn/surface/particles.h"
#include "tarn/surface/reinitialize.h"

namespace tarn {
namespace {

// A column of water in a box.
Params dam(int cells)
{
    Params p = pool(2, cells, 0.5);
    p.water[0].max = Vec3{0.3, 0.5, 2};
    return p;
}

// A splash by each paper's method. What they lose is theirs: [EMF02] and [SSK05] tell of it. Energy may not grow, but for what
// first order in time allows.
TEST(Presets, run_a_splash_to_its_end)
{
    using enum Preset;
    for (const Preset preset : {foster_1996, enright_2002, losasso_2004, song_2005, irving_2006}) {
        Params p = dam(32);
        p.method.preset = preset;
        choose_schemes(p, [](const char*, const char*) { return false; });
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        const double start = measure(w, p).volume;
        double fastest = 0;
        run_to(w, scene, 1.0, [&](const StepReport&) { fastest = std::max(fastest, measure(w, p).max_speed); });
        EXPECT_NEAR(measure(w, p).volume, start, 0.4 * start) << static_cast<int>(preset);
        EXPECT_LT(fastest, 4 * std::sqrt(2 * 9.81 * 0.5)) << static_cast<int>(preset);
        EXPECT_GT(fastest, 0.5 * std::sqrt(2 * 9.81 * 0.5)) << static_cast<int>(preset);
    }
}

// ---- Each word ----

// [EMF02] §3.2.1: 64 particles in each cell within three cells of the surface, on both sides. Random places leave a cell without
// some, and reseeding lets it have from 0.7 to 1.5 times as many.
TEST(Words, even_seeding_gives_every_cell_of_the_band_its_particles)
{
    Params p = pool(2, 32, 0.51);
    p.surface.particles_per_cell = 64;
    const auto per_cell = [&](double from, double to) {
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        const ParticleView<2> view = w.particles.view();
        long inside = 0;
        for (int i = 0; i < w.particles.count(); ++i) {
            const double above = (view.at(i)[1] + 0.5) - 0.51 * 32;
            if (above > from && above < to) ++inside;
        }
        return inside / (32 * (to - from));
    };
    EXPECT_LT(per_cell(1.7, 2.7), 0.7 * 64) << "they thin out";
    p.surface.seeding = SeedingKind::even;
    for (const double from : {-2.7, -1.7, 0.7, 1.7}) EXPECT_NEAR(per_cell(from, from + 1), 64, 0.2 * 64) << from;
}

// Particles are added in frames whatever the steps are.
TEST(Words, reseeding_may_count_frames)
{
    Params p = dam(32);
    p.surface.reseed_frames = 2;
    p.surface.reseed_every = 1000000;
    p.time.rate = 30;
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    std::vector<double> changed;
    for (int n = 0; n < 12; ++n) {
        const int before = w.particles.count();
        ASSERT_TRUE(step(w, scene, 1.0 / 90).finite);
        if (w.particles.count() != before) changed.push_back(w.time * 30);
    }
    ASSERT_EQ(changed.size(), 2u);
    EXPECT_NEAR(changed[0], 2, 1e-6);
    EXPECT_NEAR(changed[1], 4, 1e-6);
}

// (4) with either sign brings a function that is twice the distance back to it. Without the deviation beside the surface that may
// move by some hundredths of a cell, and does.
TEST(Words, the_papers_reinitialisation_makes_a_distance)
{
    const Grid<2> grid({48, 48}, 1.0 / 48);
    const Tiles<2> tiles = all_tiles(grid);
    for (const SmoothedSign sign : {SmoothedSign::of_start, SmoothedSign::of_now, SmoothedSign::subcell}) {
        Field<2> phi = distance_field(grid, 1.0f), a(grid), b(grid);
        const auto f = phi.view();
        const auto exact = [=](Cell<2> c) { return length(grid.centre(c) - Vec<2>{0.5, 0.52}) - 0.28; };
        parallel_for("disc", tiles, [=](Cell<2> c) { f(c) = static_cast<float>(2 * exact(c)); });
        Field<2>* const scratch[2] = {&a, &b};
        reinitialize(phi, tiles, 5 * grid.h, scratch, sign);
        double worst = 0, near = 0;
        parallel_for("compare", tiles, [&](Cell<2> c) {
            const double off = std::fabs(f(c) - exact(c)) / grid.h, away = std::fabs(exact(c)) / grid.h;
            if (away < 3) worst = std::max(worst, off);
            if (away < 0.7) near = std::max(near, off);
        });
        EXPECT_LT(worst, 0.25) << static_cast<int>(sign);
        if (sign == SmoothedSign::subcell) EXPECT_LT(near, 0.02);
    }
}

// Escaped water beside a level surface, and beside a drop two cells wide.
TEST(Words, curvature_decides_whether_particles_count)
{
    const Grid<2> grid({24, 24}, 1.0 / 24);
    const Tiles<2> tiles = all_tiles(grid);
    const auto change = [&](bool drop, Escape escape) {
        Field<2> phi = distance_field(grid, 1.0f), a(grid), b(grid);
        const auto f = phi.view();
        parallel_for("surface", tiles, [=](Cell<2> c) {
            const Vec<2> x = grid.centre(c);
            f(c) = static_cast<float>(drop ? length(x - Vec<2>{0.5, 0.5}) - 1.2 * grid.h : x[1] - 0.5);
        });
        Particles<2> particles;
        particles.resize(1);
        const ParticleView<2> p = particles.view();
        p.put(0, {11.5f, drop ? 13.2f : 12.0f});
        p.radius[0] = -0.3f;
        Field<2> old(grid);
        old.copy(phi);
        Field<2>* const scratch[2] = {&a, &b};
        correct(phi, particles, tiles, nullptr, scratch, {}, escape);
        const auto o = std::as_const(old).view();
        double most = 0;
        parallel_for("compare", tiles, [&](Cell<2> c) { most = std::max(most, std::fabs(double(f(c)) - o(c)) / grid.h); });
        return most;
    };
    EXPECT_GT(change(false, {}), 0.05) << "where all count, it raises a level surface";
    EXPECT_EQ(change(false, {.least_curvature = 0.5f}), 0);
    EXPECT_GT(change(true, {.least_curvature = 0.5f}), 0.05);
}

// As in figure 4 of [EMF02] beside a level set alone: particles keep what is curved. A notched disc loses less of its corners.
TEST(Words, the_method_of_2001_keeps_corners_of_water)
{
    Params p;
    p.domain.size = {1, 1};
    p.domain.cells = 64;
    p.time.cfl = 1;
    p.surface.particles_per_cell = 16;
    p.flow = FlowParams{FlowField::rotation, 1};
    WaterParams bar;
    bar.min = Vec3{0.44, 0.6, 0};
    bar.max = Vec3{0.56, 0.9, 0};
    p.water.push_back(bar);
    const auto corners_left = [&](SurfaceKind surface) {
        p.method.surface = surface;
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        run_to(w, scene, 1.0, [](const StepReport&) {});
        const auto phi = std::as_const(w.phi).view();
        // 0.7 cells inside of each corner.
        double deepest = 0;
        for (const double x : {0.44, 0.56})
            for (const double y : {0.6, 0.9}) {
                const Vec<2, float> at{float(64 * (x + (x < 0.5 ? 0.011 : -0.011)) - 0.5), float(64 * (y + (y < 0.7 ? 0.011 : -0.011)) - 0.5)};
                deepest += sample_cells(phi, w.grid.cells, at) / w.grid.h / 4;
            }
        return -deepest;
    };
    EXPECT_GT(corners_left(SurfaceKind::foster_fedkiw_2001), corners_left(SurfaceKind::level_set) + 0.1);
}

// Forward Euler in steps of half a cell carries a disc across the box, and its particles.
TEST(Words, forward_euler_carries_the_surface)
{
    Params p;
    p.domain.size = {1, 1};
    p.domain.cells = 64;
    p.time.cfl = 1;
    p.surface.max_step = 0.5;
    p.surface.advection = Advection::forward_euler;
    p.flow = FlowParams{FlowField::rotation, 1};
    WaterParams ball;
    ball.shape = ShapeKind::sphere;
    ball.center = Vec3{0.5, 0.75, 0};
    ball.radius = 0.15;
    p.water.push_back(ball);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const double start = measure(w, p).volume;
    run_to(w, scene, 0.25, [](const StepReport&) {});
    EXPECT_NEAR(measure(w, p).volume, start, 0.05 * start);
    const auto phi = std::as_const(w.phi).view();
    const float right = sample_cells(phi, w.grid.cells, Vec<2, float>{0.75f * 64 - 0.5f, 31.5f});
    const float left = sample_cells(phi, w.grid.cells, Vec<2, float>{0.25f * 64 - 0.5f, 31.5f});
    EXPECT_LT(std::min(right, left), -0.05f) << "a quarter of a turn on";
}

// Without leapfrog velocity and surface are of one time: what falls for n steps of dt has the velocity n g dt, and has come
// 0 + 1 + ... + (n - 1) of g dt^2 down, or with air, where forces act before the surface moves next, the same.
TEST(Words, without_leapfrog_velocity_and_surface_are_of_one_time)
{
    for (const Phases phases : {Phases::water, Phases::water_air}) {
        Params p = dam(32);
        p.method.phases = phases;
        p.method.leapfrog = false;
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        for (int n = 0; n < 5; ++n) {
            ASSERT_TRUE(step(w, scene, 0.002).finite);
            EXPECT_NEAR(w.ahead, 0, 1e-15);
        }
    }
}

// A bubble rises to the surface. Without its volume being kept it has the pressure of the atmosphere, and is crushed at once.
TEST(Words, air_is_enclosed_unless_it_is_told_not_to_be)
{
    const auto air_after = [](bool enclosed) {
        Params p = pool(2, 32, 0.8);
        WaterParams bubble;
        bubble.shape = ShapeKind::sphere;
        bubble.center = Vec3{0.5, 0.35, 0};
        bubble.radius = 0.15;
        bubble.subtract = true;
        p.water.push_back(bubble);
        p.surface.volume_correction = false;
        p.method.enclosed_air = enclosed;
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        run_to(w, scene, 0.12, [](const StepReport&) {});
        const auto phi = std::as_const(w.phi).view();
        double air = 0;
        for (int j = 0; j < 20; ++j)
            for (int i = 0; i < 32; ++i) air += phi(Cell<2>{i, j}) > 0;
        return air;
    };
    EXPECT_GT(air_after(true), 40);
    EXPECT_LT(air_after(false), 0.5 * air_after(true));
}

// A slab of water under a lid: it falls, or hangs where walls pull.
TEST(Words, water_parts_from_a_lid_unless_it_is_told_not_to)
{
    const auto top_after = [](bool separation) {
        Params p;
        p.domain.size = {1, 1};
        p.domain.cells = 32;
        WaterParams slab;
        slab.min = Vec3{-1, 0.7, 0};
        slab.max = Vec3{2, 2, 0};
        p.water.push_back(slab);
        p.method.wall_separation = separation;
        p.method.enclosed_air = false;
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        run_to(w, scene, 0.15, [](const StepReport&) {});
        return std::as_const(w.phi).view()(Cell<2>{16, 31});
    };
    EXPECT_GT(top_after(true), 0);
    EXPECT_LT(top_after(false), 0);
}

// The velocity in dry cells beside the water has no divergence, or is what it is at the surface.
TEST(Words, the_velocity_beside_the_water_is_extended_either_way)
{
    const auto divergence = [](Extrapolation how) {
        Params p = dam(32);
        p.method.extrapolation = how;
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        for (int n = 0; n < 20; ++n) EXPECT_TRUE(step(w, scene, 0.004).finite);
        const auto phi = std::as_const(w.phi).view();
        const auto u = std::as_const(w.velocity).view();
        double sum = 0;
        for (int j = 2; j < 29; ++j)
            for (int i = 2; i < 29; ++i) {
                const Cell<2> c{i, j};
                const bool beside = phi(c) >= 0 && (phi({i - 1, j}) < 0 || phi({i, j - 1}) < 0);
                if (beside) sum += std::fabs(u[0]({i + 1, j}) - u[0](c) + u[1]({i, j + 1}) - u[1](c));
            }
        return sum;
    };
    EXPECT_LT(divergence(Extrapolation::divergence_free), 0.3 * divergence(Extrapolation::constant));
}

// With one velocity for both phases, CIP in all of the air, droplets after the projection and all unreferenced cells, each alone:
// still water stays still, and a splash at CFL 10 ends with what it began with, as far as volume_correction can.
TEST(Words, of_song_2005_keep_water)
{
    const auto with = [](int which, Params p) {
        p.method.phases = Phases::water_air;
        p.method.advection = p.surface.advection = Advection::cip;
        if (which == 1) p.method.phase_velocities = false;
        if (which == 2) p.method.cip_far_air = true;
        if (which == 3) p.droplets.after_projection = true;
        if (which == 4) p.droplets.unreferenced = Unreferenced::all;
        if (which == 5) p.method.advection = p.surface.advection = Advection::rational_cip;
        return p;
    };
    for (int which = 1; which <= 5; ++which) {
        const Params still = with(which, pool(2, 24, 0.5));
        const Scene pool_scene = scene_of(still);
        Water<2> w = initial_water<2>(pool_scene);
        EXPECT_LT(run_to(w, pool_scene, 0.3), 1e-3) << which;

        Params p = with(which, dam(32));
        p.time.cfl = 10;
        const Scene scene = scene_of(p);
        Water<2> splash = initial_water<2>(scene);
        const double start = splash.volume_expected;
        run_to(splash, scene, 1.2, [](const StepReport&) {});
        const FragmentTotals apart = totals(splash.droplets, splash.grid, p);
        EXPECT_NEAR(water_volume(splash) + apart.volume_droplets - apart.volume_bubbles, start, 0.01 * start) << which;
    }
}

}  // namespace
}  // namespace tarn
