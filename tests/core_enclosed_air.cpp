// Enclosed air, which has no mass and keeps its volume while only water is simulated.

#include <cstring>
#include <numeric>

#include "run_water.h"

namespace tarn {
namespace {

// A pool under whose surface there is a ball of air.
Params pool_with_bubble(int dimension, int cells, double radius)
{
    Params p = pool(dimension, cells, 0.9);
    WaterParams bubble;
    bubble.shape = ShapeKind::sphere;
    bubble.center = Vec3{0.5, 0.4, dimension == 3 ? 0.5 : 0};
    bubble.radius = radius;
    bubble.subtract = true;
    p.water.push_back(bubble);
    return p;
}

struct Bubble {
    double volume, height;
};
template <int D>
Bubble air_below(const Water<D>& w, double level)
{
    const WetPart<D> wet = wet_part(w.phi, w.solids);
    double sum = 0, moment = 0;
    for (const Box<D>& box : all_tiles(w.grid).boxes)
        backend::each(box, [&](Cell<D> c) {
            const Vec<D> x = w.grid.centre(c);
            if (x[1] > level) return;
            const double air = wet.outside(c) - wet(c);
            sum += air;
            moment += air * x[1];
        });
    return {sum * cell_volume(w.grid), moment / sum};
}

// The mean velocity with which the surface of the bubble leaves through its faces: dV centroid / dt.
template <int D>
double rise_of(const Scene& scene, double t)
{
    Water<D> w = initial_water<D>(scene);
    const double before = air_below(w, 0.8).height;
    run_to(w, scene, t);
    return 2 * (air_below(w, 0.8).height - before) / (t * t);
}

// A massless ball in water sets out with 2 g, a disc with g: the weight of the displaced water over the added mass,
// half of it in three dimensions, all of it in two. The walls add to that mass: at most by (r / distance)^D.
TEST(EnclosedAir, a_bubble_sets_out_with_the_weight_of_the_water_over_the_added_mass)
{
    Params p = pool_with_bubble(2, 128, 8.0 / 128);
    p.time.max_step = 0.002;
    EXPECT_NEAR(rise_of<2>(scene_of(p), 0.03), 9.81, 0.15 * 9.81);
    p = pool_with_bubble(3, 64, 8.0 / 64);
    p.time.max_step = 0.002;
    EXPECT_NEAR(rise_of<3>(scene_of(p), 0.03), 2 * 9.81, 0.15 * 2 * 9.81);
}

// Water hangs over an open floor, held by the suction of the air above it, in which a block falls from the lid. The air comes into the gap
// behind the block, whose pressure is therefore that of the air all around: the block falls as in no air. At p = 0 there it would be
// thrown down with X / (rho d), which is 2 g for this pool and this block.
TEST(EnclosedAir, a_block_falls_freely_from_a_lid_whatever_the_pressure_of_the_air)
{
    Params p = pool(2, 32, 0.32);
    p.domain.walls.bottom = WallKind::open;
    WaterParams block;
    block.shape = ShapeKind::box;
    block.min = Vec3{0.375, 0.825, 0};
    block.max = Vec3{0.625, 1.2, 1};
    p.water.push_back(block);
    p.time.max_step = 0.03;
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    for (int n = 0; n < 4; ++n) {
        (void)step(w, scene, 0.03);
        const double fallen = 9.81 * (w.time + w.ahead);
        float across = 0;
        for (const Box<2>& box : all_tiles(w.grid).boxes)
            backend::each(box, [&](Cell<2> c) {
                if (!(w.phi(c) < 0) || c[1] < 20) return;
                EXPECT_NEAR(w.velocity[1](c), -fallen, 0.01 * fallen);
                across = std::max({across, std::fabs(w.velocity[0](c)), std::fabs(w.velocity[0](moved<2>(c, 0, 1)))});
            });
        // 1.3 % at most, in a corner of which a twentieth of a cell is left.
        EXPECT_LT(across, 0.02 * fallen);
    }
}

template <int D>
void expect_volume(int cells, double radius_cells, double t, double bound)
{
    const Scene scene = scene_of(pool_with_bubble(D, cells, radius_cells / cells));
    Water<D> w = initial_water<D>(scene);
    const Bubble before = air_below(w, 0.8);
    run_to(w, scene, t);
    const Bubble after = air_below(w, 0.8);
    EXPECT_NEAR(after.volume, before.volume, bound * before.volume) << D << " " << cells << " " << radius_cells;
    EXPECT_GT(after.height, before.height);
}

TEST(EnclosedAir, keeps_its_volume)
{
    for (const int cells : {32, 64, 128}) expect_volume<2>(cells, cells / 8.0, 0.15, 0.02);
    expect_volume<3>(48, 6, 0.1, 0.02);
}

// Two of them beside water that falls in.
TEST(EnclosedAir, is_the_same_bits_on_any_number_of_threads)
{
    Params p = pool_with_bubble(2, 48, 2.5 / 48);
    p.water.push_back(p.water[1]);
    p.water[2].center = Vec3{0.5 + 6.5 / 48, 0.41, 0};
    p.water[0].max = Vec3{0.7, 0.9, 0};
    const Scene scene = scene_of(p);
    Water<2> one, three;
    set_threads(1);
    one = initial_water<2>(scene);
    run_to(one, scene, 0.15);
    set_threads(3);
    three = initial_water<2>(scene);
    run_to(three, scene, 0.15);
    set_threads(0);
    EXPECT_FALSE(one.enclosed_air.cells.empty());
    EXPECT_EQ(one.enclosed_air.cells, three.enclosed_air.cells);
    EXPECT_EQ(one.enclosed_air.volumes, three.enclosed_air.volumes);
    EXPECT_EQ(std::memcmp(one.phi.data(), three.phi.data(), one.phi.size() * sizeof(float)), 0);
}

// A bell, open below, that a script pushes under water, all of it from 0.8 s on: its air goes with it.
template <int D>
void expect_bell(int cells, double bound)
{
    Params p = pool(D, cells, 0.6);
    const double h = 1.0 / cells, inner = 0.15, wall = std::max(0.05, 2.5 * h);
    SolidParams block, inside;
    block.shape = inside.shape = ShapeKind::box;
    const double z0 = D == 3 ? 0.5 - inner - wall : -1, z1 = D == 3 ? 0.5 + inner + wall : 1;
    block.min = Vec3{0.5 - inner - wall, 0.55, z0};
    block.max = Vec3{0.5 + inner + wall, 0.85 + wall, z1};
    inside.min = Vec3{0.5 - inner, 0.5, D == 3 ? 0.5 - inner : -1};
    inside.max = Vec3{0.5 + inner, 0.85, D == 3 ? 0.5 + inner : 1};
    inside.subtract = true;
    for (SolidParams* s : {&block, &inside}) {
        s->translate.keys = {{0, Vec3{}}, {1, Vec3{0, -0.4, 0}}};
        p.solid.push_back(*s);
    }
    const Scene scene = scene_of(p);
    Water<D> w = initial_water<D>(scene);
    run_to(w, scene, 0.8);
    const double before = air_below(w, 0.55).volume;
    ASSERT_GT(before, 0.01);
    run_to(w, scene, 1.5);
    EXPECT_NEAR(air_below(w, 0.55).volume, before, bound * before) << D << " " << cells;
}

TEST(EnclosedAir, goes_down_with_a_bell)
{
    // What phi shows of the air in a bell is certain to a few hundredths of a cell along its surface: 160 cells of air,
    // 650 and 700.
    expect_bell<2>(48, 0.03);
    expect_bell<2>(96, 0.01);
    expect_bell<3>(32, 0.01);
}

}  // namespace
}  // namespace tarn
