// Density, viscosity and surface tension that change in time.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <numbers>

#include "rigid_bodies.h"
#include "run_water.h"
#include "tarn/base/error.h"
#include "tarn/scene/validate.h"

namespace tarn {
namespace {

Keyed<double> ramp(double from, double to, double t0, double t1)
{
    Keyed<double> keyed;
    keyed.keys = {{t0, from, Ease::in_out}, {t1, to, Ease::linear}};
    return keyed;
}

// Still water stays still while its density changes, and its weight on the floor follows: rho g h, to the pressure's tolerance.
TEST(Fluids, the_pressure_on_the_floor_follows_the_density)
{
    for (const Phases phases : {Phases::water, Phases::water_air}) {
        Params p = pool(2, 32, 0.5);
        p.method.phases = phases;
        if (phases == Phases::water_air) {
            p.method.advection = p.surface.advection = Advection::cip;
            p.domain.walls.top = WallKind::open;
        }
        p.fluid.density = ramp(1000, 600, 0.1, 0.3);
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        const auto at_floor = [&] { return static_cast<double>(w.pressure.view()(Cell<2>{16, 0})); };
        run_to(w, scene, 0.1, [](const StepReport&) {});
        const double before = at_floor(), depth = 0.5 - 0.5 * w.grid.h;
        const double fastest = run_to(w, scene, 0.5);
        std::printf("pressure %.1f Pa, then %.1f Pa, at most %.6f m/s\n", before, at_floor(), fastest);
        EXPECT_NEAR(before, 1000 * 9.81 * depth, 0.005 * before);
        EXPECT_NEAR(at_floor(), 600 * 9.81 * depth, 0.005 * at_floor());
        EXPECT_LT(fastest, 1e-2);
    }
}

// A body that floats sinks when the water becomes lighter than it is, and comes back up.
TEST(Fluids, a_body_sinks_in_water_that_becomes_lighter_and_rises_again)
{
    Params p = pool(2, 40, 0.6);
    p.fluid.density.keys = {{0.2, 1000, Ease::linear}, {0.3, 500, Ease::linear}, {0.6, 500, Ease::linear}, {0.7, 1000, Ease::linear}};
    p.solid = {ball({0.5, 0.55, 0}, 0.1, 800)};
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    run_to(w, scene, 0.25, [](const StepReport&) {});
    const double floats = w.bodies[0].position[1];
    run_to(w, scene, 0.6, [](const StepReport&) {});
    const double sunk = w.bodies[0].position[1];
    // In water of 500 a cylinder of 800 with the added mass of its own displacement falls with (800 - 500) / (800 + 500) g.
    const double expected = 0.5 * (300.0 / 1300) * 9.81 * 0.3 * 0.3;
    std::printf("fallen by %.4f m of %.4f m\n", floats - sunk, expected);
    EXPECT_GT(floats - sunk, 0.5 * expected);
    EXPECT_LT(floats - sunk, 1.6 * expected);
    double lowest = 1;
    run_to(w, scene, 1.6, [&](const StepReport&) { lowest = std::min(lowest, w.bodies[0].position[1]); });
    EXPECT_GT(w.bodies[0].position[1], lowest + 0.05);
}

// Viscosity that begins at nothing: a shear flow between slip walls, u = cos(pi y / H), decays by exp(-pi² int nu dt).
TEST(Fluids, a_shear_decays_by_the_integral_of_the_viscosity)
{
    Params p = pool(2, 32, 2);
    p.domain.gravity = Vec3{};
    std::string why;
    p.fluid.viscosity.formulas = {*Formula::parse("0.2 * t", why)};
    p.method.advection = Advection::maccormack;
    p.time.max_step = 0.01;
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    // A cell of the flow psi = sin(pi x) sin(pi y), whose Laplacian is -2 pi² times itself.
    const double pi = std::numbers::pi;
    for (int a = 0; a < 2; ++a) {
        const auto u = w.velocity[a].view();
        for (int j = 0; j <= 32; ++j)
            for (int i = 0; i <= 32; ++i) {
                if ((a == 0 && j == 32) || (a == 1 && i == 32)) continue;
                const Vec<2> x = w.grid.face({i, j}, a);
                const double v = a == 0 ? std::sin(pi * x[0]) * std::cos(pi * x[1]) : -std::cos(pi * x[0]) * std::sin(pi * x[1]);
                u(Cell<2>{i, j}) = static_cast<float>(0.01 * v);
            }
    }
    const double before = measure(w, p).kinetic_energy;
    run_to(w, scene, 0.5, [](const StepReport&) {});
    const double part = measure(w, p).kinetic_energy / before, expected = std::exp(-2 * 2 * pi * pi * 0.2 * 0.5 * 0.5 * 0.5);
    std::printf("left of the energy %.4f, expected %.4f\n", part, expected);
    EXPECT_NEAR(part, expected, 0.05 * expected);
}

// A surface tension that comes on late is no less than one that was there: room for it is there from the start.
TEST(Fluids, surface_tension_may_begin_later)
{
    Params p = pool(2, 24, 0.5);
    p.fluid.surface_tension = ramp(0, 0.5, 0.05, 0.1);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const double fastest = run_to(w, scene, 0.2);
    EXPECT_LT(fastest, 1e-2);
    EXPECT_GT(w.kappa.size(), 0u);
}

TEST(Fluids, a_density_that_a_body_is_too_light_for_is_refused_at_any_time)
{
    Params p = pool(2, 24, 0.5);
    p.fluid.density = ramp(1000, 5000, 0.1, 0.2);
    p.solid = {ball({0.5, 0.55, 0}, 0.1, 60)};
    EXPECT_THROW((void)scene_of(p), InputError);
    p.fluid.density = ramp(1000, -5, 0.1, 0.2);
    ASSERT_FALSE(problems(p).empty());
    EXPECT_EQ(problems(p)[0].key, "fluid.density");
}

}  // namespace
}  // namespace tarn
