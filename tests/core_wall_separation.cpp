// Walls push water and do not pull it: it falls from ceilings, and stays where it has no air to fall into.

#include <cstring>

#include "run_water.h"

#include "tarn/bodies/wall_separation.h"
#include "tarn/step/boundary.h"

namespace tarn {
namespace {

// Where water and air meet along the middle column: the lowest and the highest such place.
template <int D>
Vec2 ends(const Water<D>& w)
{
    Vec2 found{1e30, -1e30};
    Cell<D> below;
    for (int a = 0; a < D; ++a) below[a] = w.grid.cells[a] / 2;
    for (below[1] = 0; below[1] + 1 < w.grid.cells[1]; ++below[1]) {
        Cell<D> above = below;
        ++above[1];
        const double lower = w.phi(below), upper = w.phi(above);
        if ((lower < 0) == (upper < 0)) continue;
        const double y = w.grid.centre(below)[1] + w.grid.h * lower / (lower - upper);
        found[0] = std::min(found[0], y);
        found[1] = std::max(found[1], y);
    }
    return found;
}

// Water across the whole box from a height up.
Params slab(int dimension, int cells, double bottom)
{
    Params p = pool(dimension, cells, 2);
    p.water[0].min = Vec3{-1, bottom, -1};
    return p;
}

// Both ends of a slab that hangs at rest fall by g t^2 / 2. They may be late by a step, in which suction is found, and
// by half of one, since the surface moves with the velocity of the step before; and a cell is what the grid resolves.
template <int D>
void expect_free_fall(const Params& p, double bottom, double top)
{
    const Scene scene = scene_of(p);
    Water<D> w = initial_water<D>(scene);
    const double before = measure(w, p).volume, t = 0.25;
    double dt = 0;
    run_to(w, scene, t, [&](const StepReport& report) { dt = std::max(dt, report.dt); });
    const double fall = 0.5 * 9.81 * t * t, late = 1.5 * 9.81 * t * dt;
    const Vec2 y = ends(w);
    for (const double fallen : {bottom - y[0], top - y[1]}) {
        EXPECT_LT(fallen, fall + w.grid.h);
        EXPECT_GT(fallen, fall - late - w.grid.h) << "from " << bottom << " to " << top;
    }
    EXPECT_NEAR(measure(w, p).volume, before, 0.02 * before);
}

TEST(Ceiling, lets_a_slab_fall)
{
    expect_free_fall<2>(slab(2, 32, 0.7), 0.7, 1);
    expect_free_fall<3>(slab(3, 16, 0.7), 0.7, 1);
}

// A lid whose underside lies on faces, on cell centres, and between them.
TEST(Lid, lets_a_slab_fall)
{
    for (const double top : {0.875, 0.890625, 0.88, 0.9})
        for (const int dimension : {2, 3}) {
            Params p = slab(dimension, dimension == 2 ? 32 : 16, 0.6);
            SolidParams lid;
            lid.min = Vec3{-1, top, -1};
            lid.max = Vec3{2, 2, 2};
            p.solid.push_back(lid);
            dimension == 2 ? expect_free_fall<2>(p, 0.6, top) : expect_free_fall<3>(p, 0.6, top);
        }
}

// A block of water is thrown against the ceiling. It spreads there and has fallen off a second later: no cell along the
// ceiling is wet, of the domain's or of a lid.
TEST(Ceiling, keeps_nothing_of_a_splash)
{
    for (const double top : {1.0, 0.9}) {
        Params p = pool(2, 48, 0.1);
        WaterParams thrown;
        thrown.min = Vec3{0.35, 0.4, 0};
        thrown.max = Vec3{0.65, 0.7, 0};
        thrown.velocity = Vec3{0, 4, 0};
        p.water.push_back(thrown);
        if (top < 1) {
            p.solid.emplace_back();
            p.solid[0].min = Vec3{-1, top, 0};
            p.solid[0].max = Vec3{2, 2, 0};
        }
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        const double before = measure(w, p).volume;
        const auto wet_at_top = [&] {
            int wet = 0;
            for (int i = 0; i < w.grid.cells[0]; ++i)
                wet += w.phi(Cell<2>{i, static_cast<int>(top / w.grid.h - 0.5)}) < 0;
            return wet;
        };
        int most = 0;
        run_to(w, scene, 1.2, [&](const StepReport&) { most = std::max(most, wet_at_top()); });
        EXPECT_GT(most, 10);
        EXPECT_EQ(wet_at_top(), 0) << "under " << top;
        EXPECT_NEAR(measure(w, p).volume, before, 0.02 * before);
    }
}

// Stirred water that fills its box has no air to part into, though its pressure, known up to a constant, has either
// sign.
TEST(Ceiling, holds_water_that_fills_its_box)
{
    for (const bool lid : {false, true}) {
        Params p = pool(2, 32, 2);
        p.water[0].max = Vec3{0.5, 2, 2};
        p.water[0].velocity = Vec3{0, 1, 0};
        p.water.push_back(p.water[0]);
        p.water[1].min = Vec3{0.5, -1, -1};
        p.water[1].max = Vec3{2, 2, 2};
        p.water[1].velocity = Vec3{0, -1, 0};
        if (lid) {
            p.solid.emplace_back();
            p.solid[0].min = Vec3{-1, 0.89, 0};
            p.solid[0].max = Vec3{2, 2, 0};
        }
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        const long before = measure(w, p).cells_wet;
        EXPECT_GT(run_to(w, scene, 0.5), 0.3);
        EXPECT_EQ(measure(w, p).cells_wet, before);
    }
}

// Phi alone tells where water has parted from walls: what goes on from a copy of the state is the same to the bit.
TEST(Ceiling, is_let_go_of_by_a_copy_alike)
{
    Params p = slab(2, 32, 0.7);
    p.solid.emplace_back();
    p.solid[0].min = Vec3{0.5, 0.9, 0};
    p.solid[0].max = Vec3{2, 2, 0};
    const Scene scene = scene_of(p);
    Water<2> one = initial_water<2>(scene), two = initial_water<2>(scene);
    run_to(one, scene, 0.1);
    two.phi.copy(one.phi);
    two.pressure.copy(one.pressure);
    for (int a = 0; a < 2; ++a) two.velocity[a].copy(one.velocity[a]);
    two.time = one.time;
    two.step = one.step;
    two.volume_expected = one.volume_expected;
    two.ahead = one.ahead;
    two.particles.copy(one.particles);
    two.enclosed_air = one.enclosed_air;
    two.droplets.copy(one.droplets);
    two.targets.expected = one.targets.expected;
    two.targets.elsewhere = one.targets.elsewhere;
    two.targets.body.copy(one.targets.body);
    restore(two, scene);
    run_to(one, scene, 0.2);
    run_to(two, scene, 0.2);
    EXPECT_EQ(std::memcmp(one.phi.data(), two.phi.data(), one.phi.size() * sizeof(float)), 0);
    EXPECT_EQ(std::memcmp(one.pressure.data(), two.pressure.data(), one.phi.size() * sizeof(float)), 0);
}

// A film that is thinner than half a cell, in a box that has a ball in it, too. No cell has its centre in the film, so
// nothing would ever move it.
TEST(Film, does_not_stay_on_a_wall)
{
    Params p = pool(2, 32, 0.5);
    WaterParams film = p.water[0];
    film.max = Vec3{0.4 / 32, 0.9, 1};
    p.water.push_back(film);
    SolidParams ball;
    ball.shape = ShapeKind::sphere;
    ball.center = Vec3{0.6, 0.25, 0};
    ball.radius = 0.1;
    p.solid.push_back(ball);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    run_to(w, scene, 0.1);
    const WetPart<2> wet = wet_part(w.phi, w.solids);
    double on_walls = 0;
    for (int j = 24; j < 32; ++j)
        for (const int i : {0, 31}) on_walls += wet(Cell<2>{i, j});
    EXPECT_LT(on_walls, 0.1);
}

// The front of a dam break throws a jet up the far wall, which the ceiling turns. Until the water is there the air before the ceiling is no
// obstacle: where it was taken for one, the velocity beyond the jet's tip had 9 m/s along the ceiling before the jet reached it, and the
// water 10.6 m/s after. Now 8.3 m/s, which is the jet as it sets out.
TEST(Ceiling, does_not_turn_water_that_has_yet_to_reach_it)
{
    Params p = pool(2, 192, 0.6);
    p.water[0].max = Vec3{0.4, 0.6, 2};
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    EXPECT_LT(run_to(w, scene, 0.45), 9.5);
}

// A slab falls on a floor whose upper cells lie in tiles of their own. When the gap is nearly closed those cells become
// wet: the pressure must be solved for there, too.
TEST(Gap, is_water_like_any_other_once_it_is_closed)
{
    constexpr int cells = 32;
    constexpr double h = 1.0 / cells;
    for (const double bottom : {8.6, 8.8, 9.0, 9.2}) {
        Params p = slab(2, cells, bottom * h);
        p.water[0].max = Vec3{2, 0.6, 2};
        p.water[0].velocity = Vec3{0, -1, 0};
        SolidParams floor;
        floor.min = Vec3{-1, -1, -1};
        floor.max = Vec3{2, 7.7 * h, 2};
        p.solid.push_back(floor);
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        for (int n = 0; n < 2; ++n) {
            const StepReport report = step(w, scene, 0.9 * h);
            EXPECT_TRUE(report.pressure.converged) << bottom;
            EXPECT_LT(measure(w, p).max_divergence * h, 1e-3) << "of 1 m/s; from " << bottom;
        }
    }
}

// Water that comes to a side of the domain, or to other water that comes as fast, closes the gap within a step in which it would have come
// further. It stops where it is in contact: none of it is lost, and the sides of the gap do not pass each other.
TEST(Gap, that_closes_within_a_step_costs_no_water)
{
    constexpr int cells = 64;
    constexpr double h = 1.0 / cells;
    for (const bool other : {false, true})
        for (const double gap : {0.6, 0.8, 1.0, 1.2, 1.4}) {
            Params p = pool(2, cells, 1);
            p.domain.gravity = Keyed<Vec3>(Vec3{});
            p.surface.volume_correction = false;
            p.water.clear();
            // Where they meet a cell has its centre.
            const double meet = other ? 0.5 + 0.5 * h : 0, from = meet + (other ? 0.5 * gap : gap) * h;
            for (const double to : {1.0, -1.0}) {
                if (to < 0 && !other) continue;
                WaterParams& water = p.water.emplace_back();
                water.min = Vec3{to > 0 ? from : meet - 0.3, 0.2, -1};
                water.max = Vec3{to > 0 ? meet + 0.3 : 2 * meet - from, 0.8, 1};
                water.velocity = Vec3{-to, 0, 0};
            }
            const Scene scene = scene_of(p);
            Water<2> w = initial_water<2>(scene);
            const double before = measure(w, p).volume, layer = 0.6 * h;
            const StepReport report = step(w, scene, 1.9 * h);
            EXPECT_TRUE(report.pressure.converged);
            // Without the condition 0.6 to 3.4 layers of a cell.
            EXPECT_NEAR(measure(w, p).volume, before, 0.5 * layer) << gap << " cells" << (other ? " between water" : "");
        }
}

// A block comes down on a slope, along all of which the gap is as wide. Where it closes, what fills it is taken from the water, once.
TEST(Gap, at_a_solid_is_filled_once)
{
    constexpr int cells = 48;
    constexpr double h = 1.0 / cells, width = 0.3;
    for (const double slope : {0.1, 0.3, 0.7}) {
        Params p = pool(2, cells, 1);
        p.water[0].min = Vec3{0.3, 0, -1};
        p.water[0].max = Vec3{0.7, 0.8, 1};
        p.water[0].velocity = Vec3{0, -2, 0};
        SolidParams ground;
        ground.shape = ShapeKind::plane;
        ground.point = Vec3{0.5, 0.3, 0};
        ground.normal = Vec3{-slope, 1, 0};
        p.solid.push_back(ground);
        WaterParams air;
        air.shape = ShapeKind::plane;
        air.point = Vec3{0.5, 0.3 + width * h * std::hypot(slope, 1), 0};
        air.normal = ground.normal;
        air.subtract = true;
        p.water.push_back(air);
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        const Boundary<2> boundary = boundary_of(w, p);
        for (int a = 0; a < 2; ++a) w.velocity[a].fill(a == 1 ? -2.0f : 0.0f);
        const double dt = h / 2;
        const auto filled = [&] {
            const auto d = std::as_const(w.divergence_source).view();
            return -dt * h * h * parallel_sum("filled", w.tiles_active, [=](Cell<2> c) { return static_cast<double>(d(c)); });
        };
        const bool any = rejoin_solids<2>(w.phi, nullptr, w.velocity, boundary, dt, w.divergence_source, w.band, w.tiles_active, w.scratch[0]);
        const double once = filled();
        const bool again = rejoin_solids<2>(w.phi, nullptr, w.velocity, boundary, dt, w.divergence_source, w.band, w.tiles_active, w.scratch[0]);
        EXPECT_TRUE(any);
        EXPECT_GT(once, 0);
        EXPECT_FALSE(again);
        EXPECT_EQ(filled(), once);
    }
}

}  // namespace
}  // namespace tarn
