// Drops that the grid cannot hold: what they carry, what they give back, and that the water takes it calmly.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "run_water.h"
#include "tarn/step/boundary.h"

namespace tarn {
namespace {

template <int D>
struct DropAt {
    Vec<D, float> x, u;
    float volume;
};

template <int D>
void put(Water<D>& w, const std::vector<DropAt<D>>& drops)
{
    w.fragments.resize(static_cast<int>(drops.size()));
    const FragmentView<D> s = w.fragments.view();
    for (size_t i = 0; i < drops.size(); ++i) {
        for (int a = 0; a < D; ++a) {
            s.x[a][i] = drops[i].x[a];
            s.u[a][i] = drops[i].u[a];
        }
        s.volume[i] = drops[i].volume;
        s.age[i] = s.life[i] = s.kind[i] = 0;
        s.id[i] = static_cast<float>(i);
    }
    w.volume_expected += totals(w.fragments, w.grid, Params{}).volume_droplets;
}

// Momentum of the water on the grid, in cells times m/s: a face has half of what each of its two cells holds.
template <int D>
double momentum(const Water<D>& w, int a)
{
    const auto phi = w.phi.view();
    const auto u = w.velocity[a].view();
    const float h = static_cast<float>(w.grid.h);
    double sum = 0;
    const int depth = D == 3 ? w.grid.cells[D - 1] : 1;
    for (int k = 0; k < depth; ++k)
        for (int j = 0; j < w.grid.cells[1]; ++j)
            for (int i = 0; i < w.grid.cells[0]; ++i) {
                Cell<D> c;
                c[0] = i;
                c[1] = j;
                if constexpr (D == 3) c[2] = k;
                const double half = 0.5 * wet_fraction<D>(phi, w.grid.cells, c, h);
                Cell<D> next = c;
                ++next[a];
                sum += half * double(u(c)) + half * double(u(next));
            }
    return sum;
}

// The water gets the momentum of a drop that lands, m_d (u_d - u_f) where it is light: 1 % of a cell is mixed with up
// to one cell of water, so that a percent of it is left for the volume that comes back later. And no face gets faster
// than the faster of what is mixed, however heavy the drop.
template <int D>
void expect_momentum(int cells)
{
    const Scene scene = scene_of(pool(D, cells, 0.5));
    Water<D> w = initial_water<D>(scene);
    const Boundary<D> boundary = boundary_of(w, scene.params);
    Vec<D, float> x, u;
    for (int a = 0; a < D; ++a) {
        x[a] = 0.3f * static_cast<float>(cells) + 0.2f;
        u[a] = 2.0f - static_cast<float>(a);
    }
    x[1] = 0.5f * static_cast<float>(cells) - 1.8f;
    double before[D];
    for (int a = 0; a < D; ++a) before[a] = momentum(w, a);
    std::vector<Landing<D>> landings(3, Landing<D>{1, x, u, 0.01});
    landings[1].x[0] += 0.4f;
    landings[2].body = 0;  // has left through an open side
    add_momentum(w.velocity, landings, w.phi, boundary);
    for (int a = 0; a < D; ++a)
        EXPECT_NEAR(momentum(w, a) - before[a], 0.02 * double(u[a]), 0.015 * 0.02 * std::fabs(double(u[a])));
    for (int a = 0; a < D; ++a) w.velocity[a].fill(0);
    landings[0].volume = 1000;
    add_momentum(w.velocity, landings, w.phi, boundary);
    for (int a = 0; a < D; ++a) {
        const auto v = std::as_const(w.velocity)[a].view();
        const float most = parallel_max("test", all_tiles(w.grid), [=](Cell<D> c) { return std::fabs(v(c)); });
        EXPECT_LE(most, std::fabs(u[a]) * (1 + 1e-6f));
    }
}
TEST(Drops, landing_gives_the_water_their_momentum)
{
    expect_momentum<2>(24);
    expect_momentum<3>(16);
}

// Rain of 2 m/s on a pool, in steps of 4, 1 and 0.25 ms: the water gets as fast as the heaviest impact makes it, at
// most as fast as the rain, whatever the step. The rain is 5.8 % of all water; after a second more than half of it is
// back. The rest is what the level set loses within the correction's time in ripples as short as the cells.
TEST(Drops, landing_is_no_faster_in_shorter_steps)
{
    for (const double dt : {4e-3, 1e-3, 2.5e-4}) {
        Params p = pool(2, 32, 0.4);
        p.time.max_step = dt;
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        std::vector<DropAt<2>> rain;
        for (int i = 0; i < 200; ++i) {
            const float at = static_cast<float>(i);
            rain.push_back({{std::fmod(7.3f * at, 31.0f), 14 + std::fmod(0.37f * at, 10.0f)}, {0, -2}, 0.125f});
        }
        put(w, rain);
        EXPECT_LT(run_to(w, scene, 1.0), 2.0) << dt;
        EXPECT_EQ(w.fragments.count(), 0);
        EXPECT_NEAR(measure(w, p).volume, w.volume_expected, 0.028 * w.volume_expected) << dt;
    }
}

// A pool that lacks 5 % of its target volume, 0.65 cells of its height, gets it back at the same pace in steps of 4 and
// 0.25 ms, and at most as fast as the correction may be: a quarter of a cell in tau = sqrt(h / g).
TEST(VolumeCorrection, takes_its_own_time)
{
    double left[2] = {};
    for (int n = 0; n < 2; ++n) {
        Params p = pool(2, 32, 0.4);
        p.time.max_step = n == 0 ? 4e-3 : 2.5e-4;
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        w.ledger.expected[0] += 0.02;
        w.volume_expected += 0.02;
        const double fastest = run_to(w, scene, 0.1);
        EXPECT_LT(fastest, 0.25 * std::sqrt(9.81 / 32) * (1 + 1e-3));
        left[n] = w.volume_expected - measure(w, p).volume;
        run_to(w, scene, 0.6);
        EXPECT_NEAR(measure(w, p).volume, w.volume_expected, 3e-4 * w.volume_expected);
    }
    EXPECT_GT(left[0], 0.3 * 0.02);
    EXPECT_NEAR(left[0], left[1], 0.06 * left[1]);
}

}  // namespace
}  // namespace tarn
