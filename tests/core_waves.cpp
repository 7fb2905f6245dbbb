// Waves, a breaking dam and a swinging drop against closed forms and measurements.

#include <numbers>
#include <vector>

#include "run_water.h"
#include "tarn/surface/measure.h"
#include "tarn/surface/redistance.h"

namespace tarn {
namespace {

constexpr double pi = std::numbers::pi;

struct Sample {
    double t, v;
};

// The mean time between zero crossings of the same sense, from a line between the samples around each.
double period_of(const std::vector<Sample>& samples)
{
    std::vector<double> crossings;
    for (size_t i = 1; i < samples.size(); ++i) {
        const Sample a = samples[i - 1], b = samples[i];
        if ((a.v < 0) != (b.v < 0)) crossings.push_back(a.t + (b.t - a.t) * a.v / (a.v - b.v));
    }
    if (crossings.size() < 3) return 0;
    return 2 * (crossings.back() - crossings.front()) / static_cast<double>(crossings.size() - 1);
}

// The height of the water in a column of cells.
double level(const Water<2>& w, int i)
{
    const auto phi = w.phi.view();
    double sum = 0;
    for (int j = 0; j < w.grid.cells[1]; ++j)
        sum += wet_fraction<2>(phi, w.grid.cells, Cell<2>{i, j}, static_cast<float>(w.grid.h));
    return sum * w.grid.h;
}

// L = 1 m, 0.5 m deep: omega = sqrt(g k tanh(k h)), k = pi/L, a period of 1.18182 s. The issue allows 1 % with 32 cells of depth.
TEST(Sloshing, has_the_period_of_small_waves)
{
    Params p = pool(2, 64, 0.5);
    WaterParams tilted;
    tilted.shape = ShapeKind::plane;
    tilted.point = Vec3{0.5, 0.5, 0};
    tilted.normal = Vec3{0.02, 1, 0};
    p.water = {tilted};
    p.method.advection = Advection::maccormack;
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    std::vector<Sample> mode;
    double first = 0;
    run_to(w, scene, 4.0, [&](const StepReport&) {
        double a = 0;
        for (int i = 0; i < w.grid.cells[0]; ++i) a += 2 * w.grid.h * level(w, i) * std::cos(pi * w.grid.centre(Cell<2>{i, 0})[0]);
        if (mode.empty()) first = a;
        mode.push_back({w.time, a});
    });
    double last = 0;
    for (auto& s : mode) if (s.t > 3) last = std::max(last, std::fabs(s.v));
    printf("sloshing period %g err %g amplitude %g to %g\n", period_of(mode), period_of(mode) / 1.18181552 - 1, first, last);
}

// Martin & Moyce 1952
TEST(DamBreak, martin_moyce)
{
    for (int n : {64, 128, 256}) {
    Params p;
    const double a = 0.05715;
    p.domain.size = {5 * a, 2.5 * a};
    p.domain.cells = n;
    WaterParams water;
    water.min = Vec3{-1, -1, 0};
    water.max = Vec3{a, 2 * a, 0};
    p.water.push_back(water);
    p.time.cfl = 1;
    p.time.rate = 400;
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    std::vector<Sample> front, height;
    run_to(w, scene, 0.2, [&](const StepReport&) {
        double x = 0;
        for (int j = 0; j < w.grid.cells[1]; ++j)
            for (int i = 1; i < w.grid.cells[0]; ++i) {
                double f0 = w.phi(Cell<2>{i - 1, j}), f1 = w.phi(Cell<2>{i, j});
                if (f0 < 0 && f1 >= 0) x = std::max(x, w.grid.h * (i - 0.5 + f0 / (f0 - f1)));
            }
        front.push_back({w.time * std::sqrt(2 * 9.81 / a), x / a});
        height.push_back({w.time * std::sqrt(9.81 / a), level(w, 0) / (2 * a)});
    });
    // slope
    double sx = 0, sy = 0, sxx = 0, sxy = 0, m = 0;
    for (auto s : front) if (s.t >= 1.43 && s.t <= 3.33) { sx += s.t; sy += s.v; sxx += s.t * s.t; sxy += s.t * s.v; ++m; }
    printf("n %d slope %g (1.319)\n", n, (m * sxy - sx * sy) / (m * sxx - sx * sx));
    auto at = [](const std::vector<Sample>& v, double t) { for (size_t i = 1; i < v.size(); ++i) if (v[i].t >= t) return v[i-1].v + (v[i].v - v[i-1].v) * (t - v[i-1].t) / (v[i].t - v[i-1].t); return v.back().v; };
    for (double T : {0.41, 0.84, 1.19, 1.43, 2.2, 2.65, 3.11, 3.33}) printf("T %g Z %g\n", T, at(front, T));
    for (double T : {0.56, 0.93, 1.28, 1.66, 2.0, 2.45}) printf("tau %g H %g\n", T, at(height, T));
    printf("volume %g exp %g\n", measure(w, p).volume, w.volume_expected);
    }
}

TEST(Drop, lamb)
{
    for (int n : {50, 100}) {
    Params p;
    p.domain.size = {1, 1};
    p.domain.cells = n;
    p.domain.gravity = Vec3{};
    p.fluid.density = 27;
    p.fluid.surface_tension = 2.0 / 3;
    p.method.advection = Advection::maccormack;
    WaterParams drop;
    drop.shape = ShapeKind::sphere;
    drop.center = Vec3{0.5, 0.5, 0};
    drop.radius = 1.0 / 3;
    p.water.push_back(drop);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    // r = a (1 + eps cos 2 theta)
    parallel_for("drop", w.tiles_active, [&](Cell<2> c) {
        const Vec2 x = w.grid.centre(c) - Vec2{0.5, 0.5};
        const double angle = std::atan2(x[1], x[0]);
        w.phi(c) = static_cast<float>(std::clamp(length(x) - (1 + 0.05 * std::cos(2 * angle)) / 3, -w.band, w.band));
    });
    for (int k = 0; k < 3; ++k) redistance(w.phi, w.tiles_active, w.band, w.scratch[0]);
    std::vector<Sample> mode;
    const double v0 = measure(w, p).volume;
    run_to(w, scene, 7.0, [&](const StepReport&) {
        // integral of (x^2 - y^2)
        double q = 0;
        const auto phi = w.phi.view();
        backend::each(w.grid.box(), [&](Cell<2> c) {
            const Vec2 x = w.grid.centre(c) - Vec2{0.5, 0.5};
            q += (x[0] * x[0] - x[1] * x[1]) * wet_fraction<2>(phi, w.grid.cells, c, static_cast<float>(w.grid.h));
        });
        mode.push_back({w.time, q});
    });
    double first = mode[0].v, last = 0;
    for (auto& s : mode) if (s.t > 5) last = std::max(last, std::fabs(s.v));
    printf("n %d drop period %g err %g amp ratio %g volume %g steps %zu\n", n, period_of(mode), period_of(mode) / pi - 1, last / first, measure(w, p).volume / v0, mode.size());
    }
}

TEST(Run, gives_the_same_fields_twice)
{
}

}  // namespace
}  // namespace tarn
