// Water and air on disk: a state resumes to the same bits, and fragments are written as points.

#include <cstring>

#include "run_water.h"
#include "tarn/output/checkpoint.h"
#include "tarn/output/files.h"
#include "tarn/output/particles.h"
#include "tarn/run/backup.h"
#include "temporary_folder.h"

namespace tarn {
namespace {

// A splash in long steps, with droplets and bubbles in it.
Params splash()
{
    Params p = pool(2, 48, 0.6);
    p.water[0].max = Vec3{0.4, 0.6, 2};
    p.method.phases = Phases::water_air;
    p.method.surface = SurfaceKind::level_set;
    p.method.advection = p.surface.advection = Advection::cip;
    p.time.cfl = 10;
    p.droplets.pieces_per_speed = 1;
    return p;
}

void expect_same(const Water<2>& a, const Water<2>& b)
{
    const auto same = [](const Field<2>& x, const Field<2>& y) {
        return std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
    };
    EXPECT_TRUE(same(a.phi, b.phi));
    EXPECT_TRUE(same(a.pressure, b.pressure));
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(same(a.velocity[i], b.velocity[i]));
        EXPECT_TRUE(same(a.phi_gradient.along[i], b.phi_gradient.along[i]));
        for (int j = 0; j < 2; ++j) EXPECT_TRUE(same(a.velocity_gradient[i].along[j], b.velocity_gradient[i].along[j]));
    }
    ASSERT_EQ(a.droplets.count(), b.droplets.count());
    for (int c = 0; c < Droplets<2>::columns; ++c)
        for (int i = 0; i < a.droplets.count(); ++i) EXPECT_EQ(a.droplets.column(c)[i], b.droplets.column(c)[i]);
    EXPECT_EQ(a.exchange.volume, b.exchange.volume);
    EXPECT_EQ(a.exchange.momentum[1], b.exchange.momentum[1]);
    EXPECT_EQ(a.exchange.next_id, b.exchange.next_id);
}

TEST(WaterAndAir, resume_to_the_same_bits)
{
    const TemporaryFolder folder;
    const Scene scene = scene_of(splash());
    Water<2> w = initial_water<2>(scene);
    run_to(w, scene, 1.1);
    ASSERT_GT(w.droplets.count(), 0);
    save_checkpoint(folder / "state", w, 1);
    Backup<2> backup(w.grid);
    backup.take(w);
    Water<2> resumed = initial_water<2>(scene), again = initial_water<2>(scene);
    (void)load_checkpoint(folder / "state", resumed);
    restore(resumed, scene);
    backup.give_back(again);
    restore(again, scene);
    for (Water<2>* each : {&w, &resumed, &again}) run_to(*each, scene, 1.3);
    expect_same(w, resumed);
    expect_same(w, again);
}

TEST(WaterAndAir, another_way_to_carry_phi_is_refused)
{
    const TemporaryFolder folder;
    Params p = splash();
    const Scene scene = scene_of(p);
    save_checkpoint(folder / "state", initial_water<2>(scene), 1);
    p.surface.advection = Advection::semi_lagrangian;
    Water<2> other = initial_water<2>(scene_of(p));
    EXPECT_THROW((void)load_checkpoint(folder / "state", other), RunError);
}

TEST(WaterAndAir, fragments_are_written_as_points)
{
    const TemporaryFolder folder;
    Params p = splash();
    p.droplets.stretch = 0.5;
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    add_fragments(w.droplets,
                  {Lost<2>{Vec2{10, 20}, Vec2{0.5, 0}, 0.5, DropletKind::droplet},
                   Lost<2>{Vec2{5, 5}, Vec2{0, 0}, 0.25, DropletKind::bubble}},
                  w.grid, p, w.exchange);
    const std::vector<Drop> drops = drops_of(w, p.droplets);
    ASSERT_EQ(drops.size(), 2u);
    EXPECT_NEAR(drops[0].position[0], 10.5 / 48, 1e-6);
    EXPECT_NEAR(drops[0].radius, std::sqrt(0.5 / M_PI) / 48, 1e-6);
    EXPECT_NEAR(drops[0].stretch, 1.25, 1e-6);
    EXPECT_EQ(drops[0].id, 0);
    EXPECT_EQ(drops[1].kind, 1);
    write_particles(folder / "points.ply", drops);
    const std::string bytes = read_file(folder / "points.ply");
    EXPECT_NE(bytes.find("element vertex 2\n"), std::string::npos);
    EXPECT_NE(bytes.find("property int id\nproperty int kind\nproperty float stretch\n"), std::string::npos);
    EXPECT_EQ(bytes.size(), bytes.find("end_header\n") + 11 + 2 * sizeof(Drop));
}

}  // namespace
}  // namespace tarn
