// The director's hand: keyframes and formulas, forces, waves from a side, pressure on the surface, rain, drains that open
// and close, paths, steps of one length.

#include <complex>
#include <numbers>
#include <vector>

#include "run_water.h"
#include "tarn/scene/validate.h"

namespace tarn {
namespace {

constexpr double pi = std::numbers::pi, g = 9.81;

Formula formula(const std::string& text)
{
    std::string why;
    const auto parsed = Formula::parse(text, why);
    EXPECT_TRUE(parsed) << text << ": " << why;
    return parsed.value_or(Formula());
}

TEST(Formula, is_what_it_says)
{
    EXPECT_DOUBLE_EQ(formula("2 + 3 * 4 - 6 / 3").at(0), 12);
    EXPECT_DOUBLE_EQ(formula("-2 ^ 2 * -t").at(3), 12);
    EXPECT_DOUBLE_EQ(formula("2 ^ 3 ^ 2").at(0), 512);
    EXPECT_DOUBLE_EQ(formula("0.5 * exp(-t / 2)").at(1), 0.5 * std::exp(-0.5));
    EXPECT_DOUBLE_EQ(formula("max(0, sin(2 * pi * t))").at(0.75), 0);
    EXPECT_DOUBLE_EQ(formula("step(t - 1) * (1 - step(t - 2))").at(1.5), 1);
    EXPECT_DOUBLE_EQ(formula("min(t, 1.5e1) + abs(-floor(2.7)) + sqrt(4) + cos(0) + log(1) + tan(0)").at(20), 20);
    EXPECT_DOUBLE_EQ(formula("sin(t) + t").shifted(0.5).at(1), std::sin(1.5) + 1.5);
    std::string why;
    for (const char* wrong : {"", "1 +", "(1", "2 t", "sine(t)", "sin t", "max(1)", "1..2 3", "x", "1 + $"}) {
        EXPECT_FALSE(Formula::parse(wrong, why)) << wrong;
        EXPECT_FALSE(why.empty());
    }
    EXPECT_FALSE(Formula::parse(std::string(100000, '('), why));
}

// What a source gives in all must not depend on the steps: the mean is the integral of the curve.
TEST(Keyed, means_are_exact)
{
    for (const Ease ease : {Ease::linear, Ease::in, Ease::out, Ease::in_out, Ease::curve, Ease::smooth}) {
        Keyed<double> k;
        k.keys = {{0, 1, ease}, {1, 3, ease}, {1.5, 0, ease}, {3, 2, ease}};
        double sum = 0;
        constexpr int parts = 100000;
        for (int n = 0; n < parts; ++n) sum += k.at(-0.2 + 3.5 * (n + 0.5) / parts) / parts;
        EXPECT_NEAR(k.mean(-0.2, 3.5), sum, 1e-8) << static_cast<int>(ease);
        EXPECT_NEAR((k.mean(-0.2, 0.9) * 0.9 + k.mean(0.7, 2.6) * 2.6) / 3.5, sum, 1e-8);
    }
    Keyed<double> f;
    f.formulas = {formula("exp(-t)")};
    EXPECT_NEAR(f.mean(0, 1), 1 - std::exp(-1.0), 1e-8);
}

TEST(Path, leads_smoothly_through_its_points)
{
    PathParams path;
    path.points.keys = {{0, {0, 0, 0}}, {1, {1, 0, 1}}, {3, {2, 0, 0}}, {4, {3, 0, 2}}};
    const Keyed<Vec3> way = path.way();
    for (const auto& key : way.keys) EXPECT_LT(length(way.at(key.t) - key.v), 1e-12);
    for (double t = 0.01; t < 3.99; t += 0.01) {
        const Vec3 slope = (1 / 2e-5) * (way.at(t + 1e-5) - way.at(t - 1e-5));
        EXPECT_LT(length(way.rate(t) - slope), 1e-3) << t;
    }
    // The velocity does not leap at the points.
    for (const double t : {1.0, 3.0}) EXPECT_LT(length(way.rate(t + 1e-9) - way.rate(t - 1e-9)), 1e-6);
}

TEST(Path, moves_and_turns_a_solid)
{
    Params p = pool(3, 16, 0.5);
    p.path.emplace_back();
    p.path[0].name = "course";
    p.path[0].points.keys = {{0, {0.2, 0.5, 0.2}}, {1, {0.2, 0.5, 0.8}}, {2, {0.8, 0.5, 0.8}}};
    p.solid.emplace_back();
    p.solid[0].min = Vec3{-0.1, -0.05, -0.05};
    p.solid[0].max = Vec3{0.2, 0.05, 0.05};
    p.solid[0].path = "course";
    p.solid[0].heading = true;
    const Scene scene = scene_of(p);
    const Keyed<Vec3> way = p.path[0].way();
    for (const double t : {0.0, 0.3, 0.9, 1.6, 2.0}) {
        const Pose pose = scene.solids.at(t)[0].pose;
        EXPECT_LT(length(pose.translation - way.at(t)), 1e-12);
        const Vec3 along = (1 / length(way.rate(t))) * way.rate(t);
        EXPECT_LT(length(pose.apply({1, 0, 0}) - pose.translation - along), 1e-9) << t;
    }
}

// A ball of water without gravity.
Params floating_ball(double radius)
{
    Params p = pool(2, 64, 0);
    p.domain.gravity = Vec3{};
    p.time.max_step = 0.02;  // nothing else limits water at rest without gravity
    p.water[0] = WaterParams{};
    p.water[0].shape = ShapeKind::sphere;
    p.water[0].center = Vec3{0.5, 0.5, 0};
    p.water[0].radius = radius;
    return p;
}

Vec2 mean_velocity(const Water<2>& w)
{
    Vec2 sum;
    double all = 0;
    backend::each(Box<2>{{}, w.grid.cells}, [&](Cell<2> c) {
        if (!(w.phi(c) < 0)) return;
        for (int a = 0; a < 2; ++a) sum[a] += 0.5 * (double(w.velocity[a](c)) + double(w.velocity[a](moved<2>(c, a, 1))));
        ++all;
    });
    return (1 / all) * sum;
}

TEST(Force, accelerates_evenly)
{
    Params p = floating_ball(0.1);
    p.force.emplace_back();
    p.force[0].kind = ForceKind::uniform;
    p.force[0].acceleration.keys = {{0, {0, 0, 0}}, {0.5, {2, 1, 0}}};
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    run_to(w, scene, 0.5);
    // The velocity is ahead of the surface.
    const Vec2 u = mean_velocity(w);
    EXPECT_NEAR(u[0], 0.5 + 2 * w.ahead, 1e-3);
    EXPECT_NEAR(u[1], 0.25 + w.ahead, 1e-3);
}

// du/dt = r (U - u), exactly, whatever the step.
TEST(Force, drags_to_a_velocity)
{
    for (const double cfl : {0.5, 4.0}) {
        Params p = floating_ball(0.1);
        p.time.cfl = cfl;
        p.force.emplace_back();
        p.force[0].kind = ForceKind::drag;
        p.force[0].velocity = Vec3{0.5, 0, 0};
        p.force[0].rate = 4.0;
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        run_to(w, scene, 0.5);
        EXPECT_NEAR(mean_velocity(w)[0], 0.5 * (1 - std::exp(-4 * (0.5 + w.ahead))), 1e-3) << cfl;
    }
}

// A ring around the point is drawn to it and turned about it; both fall off to a half at a distance of 0.2 m. Inside of
// its shape alone.
TEST(Force, points_and_vortices_fall_off)
{
    for (const bool vortex : {false, true}) {
        Params p = floating_ball(0.1);
        p.water[0].center = Vec3{0.7, 0.5, 0};
        p.force.emplace_back();
        p.force[0].kind = vortex ? ForceKind::vortex : ForceKind::point;
        p.force[0].around = Keyed<Vec3>(Vec3{0.5, 0.5, 0});
        p.force[0].strength = 2.0;
        p.force[0].falloff = 0.2;
        Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        run_to(w, scene, 0.05);
        const Vec2 u = mean_velocity(w);
        // At the ball's middle 1 m/s²; over the ball the mean of the field is less by its curvature, 3 %.
        EXPECT_NEAR(vortex ? u[1] : -u[0], 0.05 + w.ahead, 0.05 * 0.05);
        EXPECT_NEAR(vortex ? u[0] : u[1], 0, 1e-3);

        p.force[0].where.emplace();
        p.force[0].where->min = Vec3{0, 0, 0};
        p.force[0].where->max = Vec3{0.5, 1, 0};
        scene = scene_of(p);
        w = initial_water<2>(scene);
        run_to(w, scene, 0.05);
        EXPECT_LT(length(mean_velocity(w)), 1e-6);
    }
}

// With air both phases are pushed.
TEST(Force, pushes_water_and_air)
{
    Params p = pool(2, 32, 0.5);
    p.method.phases = Phases::water_air;
    p.domain.gravity = Vec3{};
    p.time.max_step = 0.02;
    p.force.emplace_back();
    p.force[0].kind = ForceKind::vortex;
    p.force[0].around = Keyed<Vec3>(Vec3{0.5, 0.5, 0});
    p.force[0].strength = 1.0;
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    run_to(w, scene, 0.2);
    EXPECT_GT(double(w.velocity[0](Cell<2>{16, 4})), 0.05);
    EXPECT_LT(double(w.velocity[0](Cell<2>{16, 28})), -0.05);
}

// A pressure on one half of the surface holds it lower by p / (rho g) than the other; the drag lets it come to rest.
TEST(SurfacePressure, holds_the_water_down)
{
    Params p = pool(2, 64, 0.5);
    p.surface_pressure.emplace_back();
    p.surface_pressure[0].pressure = 500.0;
    p.surface_pressure[0].where.emplace();
    p.surface_pressure[0].where->min = Vec3{-1, -1, 0};
    p.surface_pressure[0].where->max = Vec3{0.5, 2, 0};
    p.surface_pressure[0].fade = 0.1;
    p.force.emplace_back();
    p.force[0].kind = ForceKind::drag;
    p.force[0].rate = 5.0;
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    run_to(w, scene, 4);
    EXPECT_NEAR(level(w, 60) - level(w, 4), 500 / (1000 * g), 0.01 * 500 / (1000 * g));
}

struct Crossings {
    std::vector<double> up;  // where the surface rises through the mean level
    double highest = -1, lowest = 1;
};

Crossings crossings(const Water<2>& w, double from, double to, double mean)
{
    Crossings c;
    for (int i = 1; i < w.grid.cells[0]; ++i) {
        const double x = w.grid.centre(Cell<2>{i, 0})[0];
        if (x < from || x > to) continue;
        const double before = level(w, i - 1) - mean, now = level(w, i) - mean;
        c.highest = std::max(c.highest, now);
        c.lowest = std::min(c.lowest, now);
        if (before < 0 && now >= 0) c.up.push_back(x - w.grid.h * now / (now - before));
    }
    return c;
}

// The asked length within 5 %. Raised within three periods, the waves of the middle know nothing of the
// walls yet.
TEST(SurfacePressure, raises_waves_of_the_asked_length_and_height)
{
    const double length = 1, height = 0.04;
    Params p = pool(2, 256, 0.5);
    p.domain.size = {8, 1};
    p.water[0].max = Vec3{9, 0.5, 0};
    p.surface_pressure.emplace_back();
    p.surface_pressure[0].wavelength = length;
    p.surface_pressure[0].wave_height = height;
    p.surface_pressure[0].level = 0.5;
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const double period = length / std::sqrt(g / (2 * pi) * std::tanh(pi));
    run_to(w, scene, 3 * period);
    const Crossings c = crossings(w, 2.5, 6.5, 0.5);
    ASSERT_GE(c.up.size(), 4u);
    EXPECT_NEAR((c.up.back() - c.up.front()) / double(c.up.size() - 1), length, 0.05 * length);
    EXPECT_NEAR(c.highest - c.lowest, height, 0.15 * height);
}

// A sink that is closed takes nothing, and all that comes once it opens; and the other way around.
TEST(Sink, opens_and_closes)
{
    Params p = pool(2, 32, 0.5);
    p.sink.emplace_back();
    p.sink[0].min = Vec3{0.4, 0, 0};
    p.sink[0].max = Vec3{0.6, 0.1, 0};
    p.sink[0].open.keys = {{0.49, 0}, {0.5, 1}, {0.7, 1}, {0.71, 0}};
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const auto volume = [&] { return measure(w, scene.params).volume; };
    run_to(w, scene, 0.49);
    EXPECT_NEAR(volume(), 0.5, 1e-4);
    run_to(w, scene, 0.72);
    const double left = volume();
    EXPECT_LT(left, 0.45);
    run_to(w, scene, 1.5);
    EXPECT_NEAR(volume(), left, 0.01 * left);
}

// Rain brings its rate, in 2D and 3D, with and without air, whatever the steps are: what flies and what has landed.
template <int D>
void rain_brings_its_rate(Phases phases, double cfl)
{
    Params p = pool(D, 24, 0.3);
    p.method.phases = phases;
    p.time.cfl = cfl;
    p.source.emplace_back();
    p.source[0].min = Vec3{0, 0.8, 0};
    p.source[0].max = Vec3{1, 0.9, 1};
    p.source[0].rate = D == 2 ? 0.02 : 0.01;
    p.source[0].drops = D == 2 ? 0.01 : 0.03;
    p.source[0].velocity = Vec3{0, -2, 0};
    const Scene scene = scene_of(p);
    Water<D> w = initial_water<D>(scene);
    const double before = measure(w, scene.params).volume, t = 0.6;
    run_to(w, scene, t);
    const double given = p.source[0].rate->at(0) * t, each = D == 2 ? pi / 4 * 1e-4 : pi / 6 * 2.7e-5;
    EXPECT_NEAR(w.volume_expected - before, given, 1.01 * each);
    // What has landed moves the surface to first order; the correction gives back the rest.
    EXPECT_NEAR(measure(w, scene.params).volume - before, given, 0.0025 * before);
    EXPECT_GT(w.droplets.count(), 0);
}
TEST(Rain, brings_its_rate)
{
    for (const double cfl : {1.0, 4.0}) {
        rain_brings_its_rate<2>(Phases::water, cfl);
        rain_brings_its_rate<3>(Phases::water, cfl);
        rain_brings_its_rate<2>(Phases::water_air, cfl);
    }
}

TEST(FixedStep, is_as_long_as_asked)
{
    Params p = pool(2, 16, 0.5);
    p.time.step = StepKind::fixed;
    Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    EXPECT_DOUBLE_EQ(choose_dt(w, scene), 1 / 30.0);
    scene.params.time.max_step = 0.004;
    EXPECT_DOUBLE_EQ(choose_dt(w, scene), 0.004);
}

// Airy waves from the left into a tank whose right side absorbs. The bounds: after five wavelengths length and
// speed within 2 % of omega² = g k tanh(k d), and less than 5 % reflected. Incoming and reflected amplitudes are told apart
// by least squares over two wavelengths and two periods of a cos(k x - omega t) + b sin(k x - omega t) + c cos(k x + omega
// t) + d sin(k x + omega t) + e.
TEST(Waves, travel_as_theory_says_and_are_absorbed)
{
    const double length = 1, depth = 0.5, height = 0.04, k = 2 * pi / length;
    const double omega = std::sqrt(g * k * std::tanh(k * depth)), period = 2 * pi / omega;
    Params p = pool(2, 304, depth);
    p.domain.size = {9.5, 0.75};
    p.water[0].max = Vec3{10, depth, 0};
    p.waves.resize(2);
    p.waves[0].kind = WaveKind::airy;
    p.waves[0].height = height;
    p.waves[1].kind = WaveKind::absorb;
    p.waves[1].side = Side::right;
    for (WavesParams& waves : p.waves) waves.length = length, waves.level = depth;
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    // Energy, at half the speed of crests, needs 30 periods to cross the tank and come back.
    run_to(w, scene, 34 * period);
    struct Sum {
        double v[5][6] = {};
    } normal;
    std::vector<std::pair<double, double>> turned;  // the phase of what has the wave number k, by time
    std::vector<std::complex<double>> column(static_cast<size_t>(w.grid.cells[0]));  // each column's motion with omega
    run_to(w, scene, 36 * period, [&](const StepReport& report) {
        std::complex<double> along = 0;
        for (int i = 0; i < w.grid.cells[0]; ++i) {
            const double x = w.grid.centre(Cell<2>{i, 0})[0];
            if (x < 5.25 || x > 7.25) continue;
            along += (level(w, i) - depth) * std::polar(1.0, -k * x);
            const double in = k * x - omega * w.time, back = k * x + omega * w.time;
            column[static_cast<size_t>(i)] += report.dt * (level(w, i) - depth) * std::polar(1.0, -omega * w.time);
            const double f[6] = {std::cos(in), std::sin(in), std::cos(back), std::sin(back), 1, level(w, i) - depth};
            for (int a = 0; a < 5; ++a)
                for (int b = 0; b < 6; ++b) normal.v[a][b] += f[a] * f[b];
        }
        const double last = turned.empty() ? 0 : turned.back().second;
        turned.push_back({w.time, last + std::arg(along * std::polar(1.0, -last))});
    });
    for (int a = 0; a < 5; ++a)
        for (int r = 0; r < 5; ++r) {
            if (r == a) continue;
            const double by = normal.v[r][a] / normal.v[a][a];
            for (int b = a; b < 6; ++b) normal.v[r][b] -= by * normal.v[a][b];
        }
    double fit[5];
    for (int a = 0; a < 5; ++a) fit[a] = normal.v[a][5] / normal.v[a][a];
    const double incoming = std::hypot(fit[0], fit[1]), reflected = std::hypot(fit[2], fit[3]);
    EXPECT_LT(reflected, 0.05 * incoming);
    EXPECT_GT(incoming, 0.38 * height);  // the scheme damps waves of 32 cells by 4 % a wavelength
    // The phase falls by k along x; over whole wavelengths what is reflected does not change the slope of the line through it.
    double px = 0, pp = 0, pxx = 0, pxp = 0, m = 0, phase = 0;
    std::complex<double> before = 0;
    for (int i = 0; i < w.grid.cells[0]; ++i) {
        const std::complex<double> now = column[static_cast<size_t>(i)];
        if (now == 0.0) continue;
        phase += before == 0.0 ? 0 : std::arg(now / before);
        before = now;
        const double x = w.grid.centre(Cell<2>{i, 0})[0];
        px += x, pp += phase, pxx += x * x, pxp += x * phase, ++m;
    }
    const double found = -2 * pi * (m * pxx - px * px) / (m * pxp - px * pp);
    EXPECT_NEAR(found, length, 0.02 * length);
    // It falls by omega in time, too; over whole periods what is reflected does not change that line's slope.
    double st = 0, sp = 0, stt = 0, stp = 0, n = 0;
    for (const auto& [t, phase_then] : turned) st += t, sp += phase_then, stt += t * t, stp += t * phase_then, ++n;
    const double speed = -(n * stp - st * sp) / (n * stt - st * st) * found / (2 * pi);
    EXPECT_NEAR(speed, omega / k, 0.02 * omega / k);
    std::printf("waves: length %.4f, speed %.4f, incoming %.4f, reflected %.4f\n", found, speed / (omega / k), incoming / height * 2, reflected / incoming);
    RecordProperty("incoming", std::to_string(incoming));
    RecordProperty("reflected", std::to_string(reflected));
    RecordProperty("speed", std::to_string(speed));
}

// Water of a shape's volume that is guided to it takes its form: less than 3 % of it is left outside. The strength stands against
// gravity as the form does: strength d + g y is the same all along the surface.
TEST(Forces, guide_water_to_a_shape)
{
    for (const double weight : {0.0, 1.0}) {
        Params p = pool(2, 48, 0.0);
        p.domain.gravity = Vec3{0, -weight, 0};
        p.water[0].min = Vec3{0.1, 0.2, 0};
        p.water[0].max = Vec3{0.4, 0.2 + std::numbers::pi * 0.22 * 0.22 / 0.3, 0};
        ForceParams guide, drag;
        guide.kind = ForceKind::point;
        guide.strength = 20.0;
        guide.where.emplace();
        guide.where->shape = ShapeKind::sphere;
        guide.where->center = Vec3{0.62, 0.55, 0};
        guide.where->radius = 0.22;
        drag.kind = ForceKind::drag;
        drag.rate = 3.0;
        p.force = {guide, drag};
        ASSERT_TRUE(problems(p).empty()) << problems(p)[0].text;
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        run_to(w, scene, 3.0, [](const StepReport&) {});
        double outside = 0, all = 0;
        const auto phi = std::as_const(w.phi).view();
        for (int j = 0; j < 48; ++j)
            for (int i = 0; i < 48; ++i) {
                const double part = wet_fraction<2>(phi, w.grid.cells, Cell<2>{i, j}, static_cast<float>(w.grid.h));
                const Vec<2> x = w.grid.centre({i, j}) - Vec<2>{0.62, 0.55};
                all += part;
                // d + weight / 20 y = const: a circle, moved by 1 / 20 of its radius for each m/s².
                if (length(x) + weight / 20 * x[1] > 0.22 + 0.5 * w.grid.h) outside += part;
            }
        std::printf("gravity %.0f: %.4f of the water outside of the shape, at most %.4f m/s\n", weight, outside / all, measure(w, p).max_speed);
        EXPECT_LT(outside / all, 0.03);
    }
}

}  // namespace
}  // namespace tarn
