// Vortex particles: what they turn, that they push nothing, where they go, and how the flow stretches them.   [IGLF06] §6

#include <cstring>
#include <numbers>

#include "run_water.h"
#include "tarn/effects/vortex_forces.h"
#include "tarn/field/sample.h"
#include "tarn/scene/validate.h"
#include "tarn/step/state.h"
#include "tarn/step/vortices.h"

namespace tarn {
namespace {

constexpr double pi = std::numbers::pi;

// `count` of them in a ball, which turn about z.
VorticesParams vortices(Vec3 center, double strength, double radius, int count = 1, double reach = 0.01)
{
    VorticesParams v;
    v.shape = ShapeKind::sphere;
    v.center = center;
    v.radius = reach;
    v.count = count;
    v.strength = Vec3{0, 0, strength};
    v.size = radius;
    v.life = 100;
    return v;
}

Params air_box(int dimension, int cells)
{
    Params p;
    p.domain.size.assign(static_cast<size_t>(dimension), 1.0);
    p.domain.cells = cells;
    p.method.phases = Phases::smoke;
    CloudParams cloud;
    cloud.shape = ShapeKind::sphere;
    cloud.center = Vec3{0.5, 0.2, dimension == 3 ? 0.5 : 0};
    cloud.radius = 0.05;
    p.cloud.push_back(cloud);
    return p;
}

template <int D>
VortexParticles<D> one(Vec<D, float> x, Vec3f strength, float radius, float left = 100)
{
    VortexParticles<D> particles(Where::program);
    particles.resize(1);
    const VortexView<D> v = particles.view();
    for (int a = 0; a < D; ++a) v.x[a][0] = x[a];
    for (int a = 0; a < 3; ++a) v.strength[a][0] = strength[a];
    v.radius[0] = radius;
    v.left[0] = left;
    v.first[0] = length(strength);
    return particles;
}

// Around a circle about z, counter-clockwise; m^2/s.
template <int D>
double circulation(const Water<D>& w, Vec3 center, double radius)
{
    constexpr int parts = 720;
    const FaceView<D, const float> u = w.velocity.view();
    double sum = 0;
    for (int n = 0; n < parts; ++n) {
        const double angle = 2 * pi * n / parts;
        Vec<D, float> x;
        x[0] = static_cast<float>((center[0] + radius * std::cos(angle)) / w.grid.h - 0.5);
        x[1] = static_cast<float>((center[1] + radius * std::sin(angle)) / w.grid.h - 0.5);
        if constexpr (D == 3) x[2] = static_cast<float>(center[2] / w.grid.h - 0.5);
        const Vec<D, float> v = sample_velocity(u, w.grid.cells, x);
        sum += (2 * pi * radius / parts) * (std::cos(angle) * double(v[1]) - std::sin(angle) * double(v[0]));
    }
    return sum;
}

template <int D>
double after_a_step(int cells, double radius, double at)
{
    Params p = air_box(D, cells);
    const Vec3 center{0.493, 0.512, D == 3 ? 0.505 : 0.0};
    p.vortices.push_back(vortices(center, 2, radius));
    const Scene scene = scene_of(p);
    Water<D> w = initial_water<D>(scene);
    EXPECT_EQ(w.vortices.particles.count(), 1);
    Vec3 there;
    for (int a = 0; a < D; ++a) there[a] = (double(w.vortices.particles.column(a)[0]) + 0.5) * w.grid.h;
    (void)step(w, scene, 0.01);
    return circulation(w, there, at);
}

// s (R / r) exp(-R^2 / 2 r^2) dt in 2D, and in 3D, in the particle's plane, sqrt(2 pi) r less. Interpolation between faces takes off a part of
// order (h / r)^2.
TEST(Vortices, a_particle_drives_the_circulation_it_should)
{
    const double radius = 0.08, strength = 2, dt = 0.01;
    for (const double at : {0.5, 1.0, 1.5, 2.0}) {
        const double there = strength * at * std::exp(-0.5 * at * at) * dt;
        EXPECT_NEAR(after_a_step<2>(64, radius, at * radius), there, 0.02 * there) << at;
        // The same particle does the same on another grid.
        EXPECT_NEAR(after_a_step<2>(96, radius, at * radius), there, 0.02 * there) << at;
    }
    const double there = strength * std::exp(-0.5) * dt / (std::sqrt(2 * pi) * 0.12);
    EXPECT_NEAR(after_a_step<3>(32, 0.12, 0.12), there, 0.03 * there);
}

template <int D>
void turns_and_does_not_push(Vec<D, float> x, Vec3f strength)
{
    Params p = pool(D, 32, 0.5);
    const Scene scene = scene_of(p);
    Water<D> w = initial_water<D>(scene);
    const VortexParticles<D> particles = one<D>(x, strength, 2.3f);
    VortexForces<D>(particles, w.grid).push(w.velocity, w.phi, w.tiles_active, 0.01);
    double most = 0, sums[3] = {};
    for (int a = 0; a < D; ++a) {
        const auto u = std::as_const(w.velocity)[a].view();
        for (const Box<D>& box : all_tiles(w.grid).boxes) {
            Box<D> faces = box;
            if (box.hi[a] == w.grid.cells[a]) ++faces.hi[a];
            backend::each(faces, [&](Cell<D> c) {
                sums[a] += double(u(c));
                most += std::fabs(double(u(c)));
            });
        }
    }
    EXPECT_GT(most, 1e-3);
    for (int a = 0; a < D; ++a) EXPECT_NEAR(sums[a], 0, 1e-6 * most) << a;
}

// Deep, at the surface, at a wall and in a corner.
TEST(Vortices, have_no_momentum)
{
    turns_and_does_not_push<2>({15.31f, 7.84f}, {0, 0, 1});
    turns_and_does_not_push<2>({15.31f, 14.2f}, {0, 0, -2});
    turns_and_does_not_push<2>({0.2f, 0.7f}, {0, 0, 1});
    turns_and_does_not_push<3>({15.31f, 7.84f, 16.1f}, {1, -2, 0.5f});
    turns_and_does_not_push<3>({1.31f, 14.6f, 30.1f}, {0.3f, 1, 2});
}

TEST(Vortices, go_with_the_flow_and_end)
{
    const Grid<2> grid(Cell<2>{32, 32}, 0.1);
    const auto never = [](Vec<2, float>) { return false; };
    const VelocityAt<2> wind = [](Vec<2, float>) { return Vec<2, float>{0.3f, -0.1f}; };
    VortexParticles<2> particles = one<2>({10, 10}, {0, 0, 1}, 2, 0.45f);
    for (int n = 0; n < 4; ++n) carry<2>(particles, grid, wind, never, 0.1);
    ASSERT_EQ(particles.count(), 1);
    EXPECT_NEAR(double(particles.column(0)[0]), 10 + 0.4 * 0.3 / 0.1, 1e-5);
    EXPECT_NEAR(double(particles.column(1)[0]), 10 - 0.4 * 0.1 / 0.1, 1e-5);
    carry<2>(particles, grid, wind, never, 0.1);  // 0.5 s are more than its life
    EXPECT_EQ(particles.count(), 0);

    particles = one<2>({10, 10}, {0, 0, 1}, 2);
    carry<2>(particles, grid, wind, [](Vec<2, float> x) { return x[0] > 10.2f; }, 0.1);
    EXPECT_EQ(particles.count(), 0);

    // Around a circle, once.
    const VelocityAt<2> turn = [](Vec<2, float> x) { return Vec<2, float>{-0.1f * (x[1] - 16), 0.1f * (x[0] - 16)}; };
    particles = one<2>({20, 16}, {0, 0, 1}, 2);
    for (int n = 0; n < 100; ++n) carry<2>(particles, grid, turn, never, 2 * pi / 100);
    EXPECT_NEAR(double(particles.column(0)[0]), 20, 0.01);
    EXPECT_NEAR(double(particles.column(1)[0]), 16, 0.01);
}

// What it does to the air around does not carry the particle itself away: its images behind the walls, from which it is not as far to all sides, move it by a tenth
// of its radius.
TEST(Vortices, a_lone_one_stays_in_still_air)
{
    Params p = air_box(2, 64);
    p.vortices.push_back(vortices({0.493, 0.512, 0}, 0.5, 0.05));
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const double x = double(w.vortices.particles.column(0)[0]), y = double(w.vortices.particles.column(1)[0]);
    for (int n = 0; n < 30; ++n) (void)step(w, scene, 1.0 / 30);
    EXPECT_GT(measure(w, p).max_speed, 0.4);
    EXPECT_NEAR(double(w.vortices.particles.column(0)[0]), x, 0.5);
    EXPECT_NEAR(double(w.vortices.particles.column(1)[0]), y, 0.5);
}

// d(omega)/dt = (omega . grad) u: along y as exp(a t), along x as exp(-a t), to a limit.
TEST(Vortices, are_stretched)
{
    const Grid<3> grid(Cell<3>{32, 32, 32}, 0.1);
    const VelocityAt<3> strain = [](Vec<3, float> x) { return 0.1f * Vec<3, float>{-(x[0] - 16), x[1] - 16, 0}; };
    VortexParticles<3> particles = one<3>({16, 16, 16}, {1, 0.5f, 0.25f}, 2);
    const auto never = [](Vec<3, float>) { return false; };
    for (int n = 0; n < 20; ++n) carry<3>(particles, grid, strain, never, 0.05);
    EXPECT_NEAR(double(particles.column(3)[0]), std::exp(-1.0), 1e-3);
    EXPECT_NEAR(double(particles.column(4)[0]), 0.5 * std::exp(1.0), 2e-3);
    EXPECT_NEAR(double(particles.column(5)[0]), 0.25, 1e-6);
    for (int n = 0; n < 80; ++n) carry<3>(particles, grid, strain, never, 0.05);
    const Vec3f strength = particles.view().turns(0);
    EXPECT_NEAR(double(length(strength)), double(most_stretch * particles.view().first[0]), 1e-4);
}

Params stirred(int dimension, GridKind grid, int cells)
{
    Params p = pool(dimension, cells, 0.7);
    p.method.grid = grid;
    p.surface.spray = false;
    const double z = dimension == 3 ? 0.5 : 0;
    p.vortices.push_back(vortices({0.42, 0.45, z}, 0.6, 0.09));
    p.vortices.push_back(vortices({0.7, 0.5, z}, -0.4, 0.07, 0, 0.05));
    p.vortices[1].rate = 30.0;
    p.vortices[1].scatter = 0.5;
    p.vortices[1].life = 0.2;
    return p;
}

template <int D>
Water<D> stir(const Scene& scene, int steps)
{
    Water<D> w = initial_water<D>(scene);
    for (int n = 0; n < steps; ++n) (void)step(w, scene, 0.01);
    return w;
}

template <int D>
void expect_same(const Water<D>& w, const Water<D>& other)
{
    ASSERT_EQ(w.vortices.particles.count(), other.vortices.particles.count());
    for (int n = 0; n < VortexParticles<D>::columns; ++n)
        EXPECT_EQ(std::memcmp(w.vortices.particles.column(n), other.vortices.particles.column(n),
                              static_cast<size_t>(w.vortices.particles.count()) * sizeof(float)),
                  0);
    EXPECT_EQ(std::memcmp(w.phi.data(), other.phi.data(), w.phi.size() * sizeof(float)), 0);
    for (int a = 0; a < D; ++a)
        EXPECT_EQ(std::memcmp(w.velocity[a].data(), other.velocity[a].data(), w.velocity[a].size() * sizeof(float)), 0);
}

// On one thread and on three, and resumed.
template <int D>
void same_bits(const Params& p)
{
    const Scene scene = scene_of(p), again = scene_of(p);
    const Water<D> alone = stir<D>(scene, 12);
    EXPECT_GT(alone.vortices.particles.count(), 3);
    const int before = threads();
    set_threads(3);
    const Water<D> many = stir<D>(scene, 12);
    set_threads(before);
    expect_same(alone, many);
    Water<D> w = stir<D>(scene, 7), other = initial_water<D>(again);
    for_each_member<D>([](const auto&, auto& to, const auto& from) { copy_member(to, from); }, other, w);
    restore(other, again);
    for (int n = 7; n < 12; ++n) (void)step(other, again, 0.01);
    expect_same(alone, other);
}
TEST(Vortices, same_bits_on_any_threads_and_resumed)
{
    same_bits<2>(stirred(2, GridKind::uniform, 48));
    same_bits<2>(stirred(2, GridKind::tall, 48));
    same_bits<3>(stirred(3, GridKind::uniform, 24));
    Params p = air_box(2, 48);
    p.vortices = stirred(2, GridKind::uniform, 48).vortices;
    same_bits<2>(p);
}

// Below the thinnest layer a particle stirs water as on the uniform grid.
TEST(Vortices, stir_tall_cells_as_small_ones)
{
    double energy[2];
    for (const GridKind grid : {GridKind::uniform, GridKind::tall}) {
        Params p = pool(2, 64, 0.8);
        p.method.grid = grid;
        p.surface.spray = false;
        p.vortices.push_back(vortices({0.5, 0.25, 0}, 0.5, 0.1));
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        for (int n = 0; n < 20; ++n) (void)step(w, scene, 0.01);
        ASSERT_EQ(w.vortices.particles.count(), 1);
        energy[grid == GridKind::tall] = measure(w, p).kinetic_energy;
    }
    std::printf("kinetic energy: uniform %.4g J, tall %.4g J\n", energy[0], energy[1]);
    EXPECT_NEAR(energy[1], energy[0], 0.1 * energy[0]);
}

// They start where their solid is by then, and turn with it.
TEST(Vortices, start_behind_a_solid)
{
    Params p = pool(2, 48, 0.8);
    SolidParams disc;
    disc.name = "hull";
    disc.shape = ShapeKind::sphere;
    disc.center = Vec3{0.2, 0.4, 0};
    disc.radius = 0.06;
    disc.translate.keys = {{0, Vec3{0, 0, 0}}, {1, Vec3{0.5, 0.1, 0}}};
    p.solid.push_back(disc);
    p.vortices.push_back(vortices({0.1, 0.4, 0}, 0.01, 0.05, 0, 0.01));
    p.vortices[0].solid = "hull";
    p.vortices[0].rate = 10.2;
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    for (int n = 0; n < 50; ++n) (void)step(w, scene, 0.01);
    ASSERT_EQ(w.vortices.particles.count(), 5);
    const int last = 4;
    // It started within the last step, as each does in its own.
    EXPECT_NEAR((double(w.vortices.particles.column(0)[last]) + 0.5) * w.grid.h, 0.1 + 0.25, 0.02);
    EXPECT_NEAR((double(w.vortices.particles.column(1)[last]) + 0.5) * w.grid.h, 0.4 + 0.05, 0.02);
}

TEST(Vortices, say_what_they_lack)
{
    const auto key = [](const Params& p) {
        const auto found = check_vortices(p);
        return found ? found->key : std::string();
    };
    const Params good = stirred(2, GridKind::uniform, 48);
    EXPECT_EQ(key(good), "");
    Params p = good;
    p.vortices[0].count = 0;
    EXPECT_EQ(key(p), "vortices.0.rate");
    p = good;
    p.vortices[1].strength = Vec3{};
    EXPECT_EQ(key(p), "vortices.1.strength");
    p = good;
    p.vortices[1].size = 0.01;
    EXPECT_EQ(key(p), "vortices.1.size");
    p = good;
    p.vortices[1].solid = "hull";
    EXPECT_EQ(key(p), "vortices.1.solid");
    p = good;
    p.vortices[1].rate = 1e6;
    EXPECT_EQ(key(p), "vortices.1.rate");
    p = good;
    p.method.grid = GridKind::octree;
    EXPECT_EQ(key(p), "method.grid");
    p = good;
    p.method.phases = Phases::water_air;
    EXPECT_EQ(key(p), "method.phases");
}

}  // namespace
}  // namespace tarn
