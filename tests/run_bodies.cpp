// Bodies that touch, and what a run with bodies and gauges leaves.

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "rigid_bodies.h"
#include "run_helpers.h"
#include "run_water.h"
#include "tarn/output/frame_state.h"
#include "tarn/scene/contacts.h"

namespace tarn {
namespace {

using testing::difference;
using testing::Launch;
using testing::Outcome;
using testing::ProgramTest;
using testing::small_scene;

// A puddle, far from what happens in the air.
Params puddle(int dimension)
{
    Params p = pool(dimension, 20, 0.06);
    return p;
}

template <int D>
Water<D> after(const Params& p, double seconds)
{
    const Scene scene = scene_of(p);
    Water<D> w = initial_water<D>(scene);
    run_to(w, scene, seconds, [](const StepReport&) {});
    return w;
}

TEST(Contacts, a_box_rests_on_a_shelf)
{
    for (const int dimension : {2, 3}) {
        Params p = puddle(dimension);
        SolidParams shelf;
        shelf.min = Vec3{0.2, 0.3, -1};
        shelf.max = Vec3{0.8, 0.4, 2};
        p.solid = {shelf, box({0.5, 0.52, 0.5}, Vec3::all(0.1), 2000)};
        const std::vector<RigidBody> bodies = dimension == 2 ? after<2>(p, 1.5).bodies : after<3>(p, 1.5).bodies;
        const RigidBody& b = bodies[0];
        // Bullet's margins are a few millimetres.
        EXPECT_NEAR(b.position[1], 0.5, 0.005);
        EXPECT_NEAR(b.position[0], 0.5, 0.005);
        EXPECT_LT(length(b.velocity), 1e-3);
        EXPECT_LT(2 * length(b.rotation.v), 0.01);
        EXPECT_NEAR(b.push[1], 9.81 * b.mass, 1e-3 * 9.81 * b.mass);
    }
}

// Two equal balls that meet head on, with restitution 1: they exchange their velocities.
TEST(Contacts, equal_balls_exchange_their_velocities)
{
    Params p = puddle(3);
    p.domain.gravity = Vec3{};
    p.solid = {ball({0.3, 0.6, 0.5}, 0.1, 500), ball({0.7, 0.6, 0.5}, 0.1, 500)};
    p.solid[0].velocity = Vec3{1, 0, 0};
    for (SolidParams& s : p.solid) s.restitution = 1, s.friction = 0;
    const Water<3> w = after<3>(p, 0.3);
    EXPECT_NEAR(w.bodies[0].velocity[0], 0, 0.02);
    EXPECT_NEAR(w.bodies[1].velocity[0], 1, 0.02);
    // Their masses, from the same shape in two places, agree to the samples that they are found by.
    EXPECT_NEAR(w.bodies[0].mass, w.bodies[1].mass, 1e-4 * w.bodies[0].mass);
    double momentum = 0;
    for (const RigidBody& b : w.bodies) momentum += b.mass * b.velocity[0];
    EXPECT_NEAR(momentum, w.bodies[0].mass, 2e-6 * w.bodies[0].mass);
}

// On a slope of 20 degrees a box stays where friction is more than tan 20 = 0.364, and slides with g (sin - mu cos) where it is
// less.
TEST(Contacts, friction_holds_a_box_on_a_slope)
{
    for (const double mu : {0.6, 0.1}) {
        Params p = puddle(2);
        SolidParams slope;
        slope.shape = ShapeKind::plane;
        slope.point = Vec3{0.5, 0.4, 0};
        slope.normal = Vec3{-0.34202, 0.93969, 0};
        slope.friction = mu;
        SolidParams b = box({0, 0, 0}, Vec3::all(0.06), 3000);
        b.translate = Vec3{0.6 - 0.34202 * 0.061, 0.4 + 0.1 * 0.36397 + 0.93969 * 0.061, 0};
        b.rotate = Vec3{0, 0, 20};
        b.friction = mu;
        b.restitution = 0;
        p.solid = {slope, b};
        const Water<2> w = after<2>(p, 0.3);
        const double speed = length(w.bodies[0].velocity), sliding = 9.81 * (0.34202 - mu * 0.93969) * 0.3;
        if (mu > 0.364)
            EXPECT_LT(speed, 0.02);
        else
            EXPECT_NEAR(speed, sliding, 0.1 * sliding);
    }
}

// A body that lies on the floor is lifted again when the water becomes heavier than it: the film under it carries the pressure.
TEST(Contacts, a_box_rises_from_the_floor_when_the_water_becomes_heavier)
{
    for (const int cells : {32, 64}) {
        Params p = pool(2, cells, 0.6);
        p.fluid.density.keys = {{0.6, 500, Ease::linear}, {0.65, 1000, Ease::linear}};
        p.solid = {box({0.513, 0.13, 0}, {0.15, 0.1, 0}, 700)};
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        double lowest = 1;
        run_to(w, scene, 2.2, [&](const StepReport&) { lowest = std::min(lowest, w.bodies[0].position[1]); });
        std::printf("from the floor, %d cells: lowest %.4f, then %.4f\n", cells, lowest, w.bodies[0].position[1]);
        EXPECT_LT(lowest, 0.1 + 0.4 / cells);
        EXPECT_GT(lowest, 0.1);
        EXPECT_GT(w.bodies[0].position[1], 0.5);
    }
}

class ARunWithBodies : public ProgramTest {
protected:
    std::string scene() const
    {
        return small_scene(R"(
[[solid]]
name = "ball"
shape = "sphere"
center = [0.75, 0.12, 0.25]
radius = 0.11
motion = "body"
density = 400
[[solid]]
name = "brick"
shape = "box"
min = [0.6, 0.3, 0.1]
max = [0.75, 0.42, 0.3]
motion = "body"
density = 2400
spin = [1, 0, -2]
[[gauge]]
name = "level"
kind = "height"
point = [0.1, 0, 0.2]
[[gauge]]
name = "push"
kind = "force"
solid = "ball"
)");
    }
};

TEST_F(ARunWithBodies, gives_the_same_bits_on_any_number_of_threads_and_after_a_stop)
{
    write("small.toml", scene());
    const Outcome whole = tarn({"run", "small.toml", "--out", "one", "--threads", "1"});
    ASSERT_EQ(whole.code, 0) << whole.err;
    ASSERT_EQ(tarn({"run", "small.toml", "--out", "many", "--threads", "5"}).code, 0);
    const Outcome stopped = tarn(Launch{.words = {"run", "small.toml", "--out", "o"},
                                        .watch = [&] { return exists("o/surface/frame_0005.ply") ? SIGKILL : 0; }});
    ASSERT_EQ(stopped.code, 128 + SIGKILL);
    ASSERT_EQ(tarn({"run", "small.toml", "--out", "o", "--resume"}).code, 0);
    for (const std::string other : {"many", "o"}) {
        EXPECT_EQ(difference(newest_checkpoint("one"), newest_checkpoint(other)), "");
        for (const std::string file : {"gauges.csv", "bodies.jsonl", "gauges.svg"})
            EXPECT_EQ(difference(read("one/" + file), read(other + "/" + file)), "") << other << '/' << file;
        EXPECT_EQ(difference(tree("one/solids"), tree(other + "/solids")), "");
    }
    EXPECT_EQ(read("one/gauges.csv").substr(0, 38), "step,time,level,push_x,push_y,push_z\n0");
    // One row for each step, and one for the start.
    const std::string gauges = read("one/gauges.csv"), lines = read("one/bodies.jsonl");
    const auto count = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
    EXPECT_EQ(count(gauges), 2 + static_cast<long>(column("one", "step").back()));
    EXPECT_EQ(count(lines) + 1, count(gauges));
}

using ARunWithControls = ProgramTest;

// A domain that turns and moves, with a body in it.
TEST_F(ARunWithControls, turns_with_the_same_bits_on_any_number_of_threads_and_after_a_stop)
{
    for (const std::string phases : {"water", "water-air"}) {
        write("small.toml", small_scene("[domain.motion]\n"
                                        "rotate = [{t = 0, v = [0, 0, 0], ease = \"in-out\"}, {t = 0.5, v = [20, 10, 90]}]\n"
                                        "translate = [\"0.1 * sin(9 * t)\", 0, 0]\n"
                                        "[method]\nphases = \"" + phases + "\"\n"
                                        "[[solid]]\nshape = \"sphere\"\ncenter = [0.5, 0.4, 0.25]\nradius = 0.1\nmotion = \"body\"\ndensity = 500\n"));
        const std::string one = "one" + phases, many = "many" + phases, o = "o" + phases;
        ASSERT_EQ(tarn({"run", "small.toml", "--out", one, "--threads", "1"}).code, 0);
        ASSERT_EQ(tarn({"run", "small.toml", "--out", many, "--threads", "5"}).code, 0);
        const Outcome stopped = tarn(Launch{.words = {"run", "small.toml", "--out", o},
                                            .watch = [&] { return exists(o + "/surface/frame_0005.ply") ? SIGKILL : 0; }});
        ASSERT_EQ(stopped.code, 128 + SIGKILL);
        ASSERT_EQ(tarn({"run", "small.toml", "--out", o, "--resume"}).code, 0);
        for (const std::string& other : {many, o})
            EXPECT_EQ(difference(newest_checkpoint(one), newest_checkpoint(other)), "") << other;
    }
}

// Forces, waves, rain, a drain that opens, pressure on the surface, a solid on its path: all follow from the scene, the time and
// the checkpoint.
TEST_F(ARunWithControls, gives_the_same_bits_on_any_number_of_threads_and_after_a_stop)
{
    write("small.toml", small_scene(R"toml([[source]]
shape = "box"
min = [0.1, 0.85, 0.1]
max = [0.9, 0.95, 0.4]
rate = "0.002 * (1 + sin(9 * t))"
drops = 0.02
velocity = [0, -1, 0]
[[sink]]
shape = "box"
min = [0.8, 0, 0]
max = [1, 0.05, 0.5]
open = [{t = 0.1, v = 0}, {t = 0.15, v = 1}]
[[force]]
kind = "vortex"
around = [0.5, 0.3, 0.2]
strength = [{t = 0, v = 0, ease = "in-out"}, {t = 0.3, v = 8}]
falloff = 0.2
[[waves]]
kind = "airy"
length = 0.5
height = 0.02
level = 0.3
[[surface_pressure]]
pressure = "200 * sin(20 * t)"
shape = "sphere"
center = [0.3, 0.4, 0.2]
radius = 0.3
[[path]]
name = "course"
points = [{t = 0, v = [0.7, 0.3, 0.1]}, {t = 0.2, v = [0.8, 0.3, 0.3]}, {t = 0.4, v = [0.5, 0.3, 0.4]}]
[[solid]]
shape = "ellipsoid"
center = [0, 0, 0]
radii = [0.1, 0.05, 0.05]
path = "course"
heading = true
)toml"));
    ASSERT_EQ(tarn({"run", "small.toml", "--out", "one", "--threads", "1"}).code, 0);
    ASSERT_EQ(tarn({"run", "small.toml", "--out", "many", "--threads", "5"}).code, 0);
    const Outcome stopped = tarn(Launch{.words = {"run", "small.toml", "--out", "o"},
                                        .watch = [&] { return exists("o/surface/frame_0005.ply") ? SIGKILL : 0; }});
    ASSERT_EQ(stopped.code, 128 + SIGKILL);
    ASSERT_EQ(tarn({"run", "small.toml", "--out", "o", "--resume"}).code, 0);
    for (const std::string other : {"many", "o"})
        EXPECT_EQ(difference(newest_checkpoint("one"), newest_checkpoint(other)), "") << other;
}

TEST_F(ARunWithBodies, is_drawn_again_with_its_bodies_in_their_places)
{
    write("small.toml", scene());
    ASSERT_EQ(tarn({"run", "small.toml", "--out", "o", "--frames", "6"}).code, 0);
    const auto solids = tree("o/solids");
    std::filesystem::remove(folder / "o/solids/frame_0006.ply");
    const Outcome again = tarn({"convert", "o"});
    ASSERT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(difference(solids, tree("o/solids")), "");
    const Outcome plot = tarn({"plot", "o"});
    ASSERT_EQ(plot.code, 0) << plot.err;
    EXPECT_TRUE(exists("o/stats.svg"));
    EXPECT_TRUE(exists("o/gauges.svg"));
}

// What is written of a frame has the velocity of the surface's time, a falling drop that of its fall, though the state's is half a step
// ahead; to half of the 1/1024 that states are rounded to. Also where the run was stopped.
TEST_F(ARunWithControls, writes_the_velocity_of_the_surfaces_time)
{
    std::string scene = small_scene();
    const std::string box = "shape = \"box\"\nmin = [0, 0, 0]\nmax = [0.4, 0.6, 0.5]";
    scene.replace(scene.find(box), box.size(), "shape = \"sphere\"\ncenter = [0.5, 0.7, 0.25]\nradius = 0.2");
    write("drop.toml", scene);
    const auto run = [&](const std::string& out, const std::string& frames, bool resume) {
        std::vector<std::string> words = {"run", "drop.toml", "--out", out, "--frames", frames, "--quiet", "--set", "time.rate=60",
                                          "--set", "output.volume=true", "--set", "output.volume_format=npz"};
        if (resume) words.push_back("--resume");
        return tarn(words).code;
    };
    ASSERT_EQ(run("o", "5", false), 0);
    for (const int frame : {1, 3, 5}) {
        const FrameState<3> state = read_state<3>((folder / "o/state/frame_000").string() + std::to_string(frame) + ".state");
        EXPECT_NEAR(state.velocity[1](Cell<3>{12, 16, 6}), -9.81 * state.time, 2e-3 * 9.81 * state.time) << frame;
    }
    ASSERT_EQ(run("p", "3", false), 0);
    ASSERT_EQ(run("p", "5", true), 0);
    for (const std::string part : {"/state", "/volume", "/surface"}) EXPECT_EQ(difference(tree("o" + part), tree("p" + part)), "");
}

}  // namespace
}  // namespace tarn
