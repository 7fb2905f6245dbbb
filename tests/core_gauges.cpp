// What gauges read in water at rest and in plain flows, against what is known there.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "run_water.h"
#include "tarn/scene/validate.h"
#include "tarn/step/gauges.h"

namespace tarn {
namespace {

constexpr double weight = 9810;  // of water, N/m³

GaugeParams gauge(const std::string& name, GaugeKind kind)
{
    GaugeParams g;
    g.name = name;
    g.kind = kind;
    return g;
}
GaugeParams gauge_at(const std::string& name, GaugeKind kind, Vec3 point)
{
    GaugeParams g = gauge(name, kind);
    g.point = point;
    return g;
}
GaugeParams gauge_on(const std::string& name, GaugeKind kind, const std::string& solid)
{
    GaugeParams g = gauge(name, kind);
    g.solid = solid;
    return g;
}

template <int D>
std::vector<double> after_steps(const Params& p, double seconds = 0.1)
{
    const Scene scene = scene_of(p);
    Water<D> w = initial_water<D>(scene);
    run_to(w, scene, seconds, [](const StepReport&) {});
    return read_gauges(w, scene);
}

SolidParams solid(ShapeKind shape)
{
    SolidParams s;
    s.shape = shape;
    s.name = "thing";
    return s;
}

// Within half a per cent, which a pressure gauge in a tank has.
template <int D>
void expect_hydrostatic(int cells, double level)
{
    Params p = pool(D, cells, level);
    const double z = D == 3 ? 0.41 : 0.0;
    p.gauge = {gauge_at("wall", GaugeKind::pressure, {0, 0.173, z}), gauge_at("floor", GaugeKind::pressure, {0.61, 0, z}),
               gauge_at("inside", GaugeKind::pressure, {0.377, 0.3, z}), gauge_at("air", GaugeKind::pressure, {0.4, 0.9, z}),
               gauge_at("level", GaugeKind::height, {0.33, 0, z}), gauge("top", GaugeKind::runup)};
    const std::vector<double> read = after_steps<D>(p);
    EXPECT_NEAR(read[0], weight * (level - 0.173), 0.005 * weight * (level - 0.173));
    EXPECT_NEAR(read[1], weight * level, 0.005 * weight * level);
    EXPECT_NEAR(read[2], weight * (level - 0.3), 0.005 * weight * (level - 0.3));
    EXPECT_EQ(read[3], 0);
    // Phi tells a flat surface to a small part of a cell.
    EXPECT_NEAR(read[4], level, 0.01 / cells);
    EXPECT_NEAR(read[5], level, 0.01 / cells);
}

TEST(Gauges, pressure_and_height_of_still_water)
{
    for (const double level : {0.5, 0.5157, 0.522, 0.637}) {
        expect_hydrostatic<2>(32, level);
        expect_hydrostatic<2>(45, level);
        expect_hydrostatic<3>(16, level);
    }
}

// A submerged body is lifted by the weight of what it displaces, wherever and however it lies; its sides push as hard as each
// other, and about its middle there is no torque.
template <int D>
void expect_archimedes(SolidParams s, int cells, double volume, double size)
{
    Params p = pool(D, cells, 0.9);
    p.solid.push_back(s);
    GaugeParams torque = gauge_on("t", GaugeKind::torque, "thing");
    torque.point = s.translate.at(0);
    p.gauge = {gauge_on("f", GaugeKind::force, "thing"), torque};
    const std::vector<double> read = after_steps<D>(p, 0.02);
    EXPECT_NEAR(read[0], 0, 0.005 * weight * volume);
    EXPECT_NEAR(read[1], weight * volume, 0.005 * weight * volume) << cells << " cells";
    for (size_t i = D; i < read.size(); ++i) EXPECT_NEAR(read[i], 0, 0.005 * weight * volume * size);
}

TEST(Gauges, a_submerged_solid_is_lifted_by_what_it_displaces)
{
    for (const int cells : {32, 47, 64}) {
        for (const double angle : {0.0, 17.0, 45.0}) {
            SolidParams box = solid(ShapeKind::box);
            box.min = Vec3{-0.15, -0.1, 0};
            box.max = Vec3{0.15, 0.1, 0};
            box.translate = Vec3{0.513, 0.427, 0};
            box.rotate = Vec3{0, 0, angle};
            expect_archimedes<2>(box, cells, 0.06, 0.3);
        }
        SolidParams disc = solid(ShapeKind::sphere);
        disc.center = Vec3{};
        disc.radius = 0.17;
        disc.translate = Vec3{0.507, 0.41, 0};
        expect_archimedes<2>(disc, cells, std::numbers::pi * 0.17 * 0.17, 0.34);
    }
}

TEST(Gauges, a_submerged_solid_is_lifted_in_3d)
{
    SolidParams ball = solid(ShapeKind::sphere);
    ball.center = Vec3{};
    ball.radius = 0.26;
    ball.translate = Vec3{0.507, 0.41, 0.489};
    SolidParams box = solid(ShapeKind::box);
    box.min = Vec3{-0.25, -0.26, -0.27};
    box.max = Vec3{0.25, 0.26, 0.27};
    box.translate = Vec3{0.507, 0.41, 0.489};
    for (const int cells : {24, 32}) {
        expect_archimedes<3>(ball, cells, 4.0 / 3 * std::numbers::pi * std::pow(0.26, 3), 0.5);
        expect_archimedes<3>(box, cells, 0.5 * 0.52 * 0.54, 0.5);
    }
    box.rotate = Vec3{13, 31, 22};
    expect_archimedes<3>(box, 32, 0.5 * 0.52 * 0.54, 0.5);
}

// A column of water that moves as one: its velocity, and what flows through a rectangle of which 0.3 m are wet.
TEST(Gauges, velocity_and_flux_of_a_stream)
{
    Params p = pool(2, 32, 0.3);
    p.domain.gravity = Vec3{};
    p.domain.walls.left = p.domain.walls.right = WallKind::open;
    p.water[0].velocity = Vec3{2, 0, 0};
    GaugeParams through = gauge("q", GaugeKind::flux);
    through.min = Vec3{0.49, 0, 0};
    through.max = Vec3{0.49, 1, 0};
    p.gauge = {gauge_at("u", GaugeKind::velocity, {0.5, 0.11, 0}), through};
    const Scene scene = scene_of(p);
    const Water<2> w = initial_water<2>(scene);
    const std::vector<double> read = read_gauges(w, scene);
    EXPECT_NEAR(read[0], 2, 1e-3);
    EXPECT_NEAR(read[1], 0, 1e-3);
    EXPECT_NEAR(read[2], 0.6, 0.6e-2);
    EXPECT_EQ(gauge_columns(p), (std::vector<std::string>{"u_x", "u_y", "q"}));
}

std::string first_problem(const Params& p)
{
    const auto all = problems(p);
    return all.empty() ? "" : all[0].key;
}

TEST(Gauges, what_cannot_be_read_is_refused)
{
    const auto with = [](const GaugeParams& g) {
        Params p = pool(2, 16, 0.5);
        p.gauge = {g};
        return first_problem(p);
    };
    EXPECT_EQ(with(gauge("a", GaugeKind::height)), "gauge.0.point");
    EXPECT_EQ(with(gauge_at("a", GaugeKind::pressure, {2, 0, 0})), "gauge.0.point");
    EXPECT_EQ(with(gauge_on("a", GaugeKind::force, "nobody")), "gauge.0.solid");
    EXPECT_EQ(with(gauge("a", GaugeKind::flux)), "gauge.0.min");
    EXPECT_EQ(with(gauge_at("a b", GaugeKind::pressure, {0.5, 0.5, 0})), "gauge.0.name");
    EXPECT_EQ(with(gauge_at("step", GaugeKind::pressure, {0.5, 0.5, 0})), "gauge.0.name");
    EXPECT_EQ(with(gauge_at("a", GaugeKind::pressure, {0.5, 0.5, 0})), "");
}

// A drop that falls: its velocity is - g t and what flows through a line across it the same times its width, at the time of the
// surface and with steps of any length, though the state's velocity is half a step ahead.
TEST(Gauges, read_the_velocity_of_the_surfaces_time)
{
    Params p = pool(2, 48, 0.5);
    p.water[0] = WaterParams{};
    p.water[0].shape = ShapeKind::sphere;
    p.water[0].center = Vec3{0.5, 0.6, 0};
    p.water[0].radius = 0.25;
    GaugeParams through = gauge("q", GaugeKind::flux);
    through.min = Vec3{0, 0.55, 0};
    through.max = Vec3{1, 0.55, 0};
    p.gauge = {gauge_at("u", GaugeKind::velocity, {0.5, 0.55, 0}), through};
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    FaceField<2> before(w.grid);
    for (const double dt : {0.004, 0.004, 0.007, 0.002, 0.005, 0.01}) {
        for (int a = 0; a < 2; ++a) before[a].copy(w.velocity[a]);
        const double time = w.time + w.ahead;
        ASSERT_TRUE(step(w, scene, dt).pressure.converged);
        const std::vector<double> read = read_gauges(w, scene, {&before, time}), newest = read_gauges(w, scene);
        EXPECT_NEAR(read[1], -9.81 * w.time, 1e-3 * 9.81 * w.time) << w.time;
        EXPECT_NEAR(newest[1], -9.81 * (w.time + w.ahead), 1e-3 * 9.81 * w.time) << w.time;
        EXPECT_NEAR(read[2], newest[2] / (1 + w.ahead / w.time), 2e-3 * std::fabs(newest[2])) << w.time;
    }
}

}  // namespace
}  // namespace tarn
