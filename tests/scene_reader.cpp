// The scene file: what is refused and how it says so, what is read, and that what is written reads back the same.

#include "tarn/scene/read.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tarn/base/error.h"
#include "tarn/params/describe.h"
#include "tarn/params/tables.h"
#include "tarn/scene/validate.h"

using namespace tarn;

namespace {

// Twelve lines, to which the tests of bad files add.
const std::string good = R"(tarn = 1
title = "Dam break"

[domain]
size = [1.0, 1.0, 0.5]
cells = 64

[[water]]
shape = "box"
min = [0, 0, 0]
max = [0.4, 0.6, 0.5]
velocity = [0, 0, 0]
)";

// The message for a scene that must be refused.
std::string refusal(const std::string& text, const Overrides& overrides = {})
{
    try {
        read_params(text, "x.toml", overrides);
    } catch (const InputError& e) {
        return e.what();
    }
    return "accepted";
}

std::string with(std::string text, const std::string& old, const std::string& replacement)
{
    const size_t at = text.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    return text.replace(at, old.size(), replacement);
}

bool starts_with(const std::string& text, const std::string& start)
{
    return text.compare(0, start.size(), start) == 0;
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Whether two scenes agree in every row of every table.
void expect_same(Params a, Params b)
{
    for (const Section& section : sections()) {
        const size_t n = section.entries(a);
        ASSERT_EQ(n, section.entries(b)) << section.name;
        for (size_t i = 0; i < n; ++i) {
            for (const ParamRow& row : section.rows)
                EXPECT_TRUE(row.value(section.object(a, i)) == row.value(section.object(b, i)))
                    << section.name << '.' << row.name;
            const ShapeParams *one = section.shape_of(a, i), *other = section.shape_of(b, i);
            ASSERT_EQ(one == nullptr, other == nullptr) << section.name;
            if (!one) continue;
            for (const ParamRow& row : shape_rows())
                EXPECT_TRUE(row.value(one) == row.value(other)) << section.name << '.' << row.name;
        }
    }
}

// A scene with every table but [flow], every shape and every way to write a value.
const std::string everything = R"(tarn = 1
title = "Ev\"ery\\thing\n ü"
[domain]
size = [2, 1, 1.5]
cells = 40
gravity = [0, -1.62, 0.1]
[domain.walls]
left = "open"
front = "no-slip"
[fluid]
density = 998.2
viscosity = 1e-6
surface_tension = 0.072
[method]
advection = "maccormack"
[tall]
optical_depth = 0.2
[surface]
band = 5
advection = "weno5"
[whitewater]
rise_speed = 0.5
rise = 1e5
crest_curvature = 20
crest = 1e5
trapped_speed = 0.5
trapped = 1e5
impact_speed = 1.5
size = 0.002
wind = [3, 0, 0]
[pressure]
tolerance = 1e-6
max_iterations = 50
solver = "mic0"
[time]
frames = 12
rate = 24
speed = 0.5
cfl = 3.5
max_step = 0.004
[output]
surface = "obj"
volume = true
preview = false
preview_width = 320
state = false
checkpoint_every = 5
[camera]
position = [3, 2, 4]
target = [{t = 0, v = [1, 0.5, 0.75]}, {t = 1, v = [1, 0.4, 0.75]}]
fov = 35
orbit = 10
focus = 2.5
aperture = 0.01
shutter = 0.5
[render]
width = 320
height = 180
samples = 16
bounces = 12
caustics = false
photons = 5000
denoise = true
exposure = -0.5
exr = false
surface = "trilinear"
water = "murky"
absorption = [0.3, 0.1, 0.05]
scattering = [1, 2, 3]
floor = "image"
floor_color = [0.5, 0.4, 0.3]
floor_size = 0.2
floor_image = "tiles.png"
[[light]]
kind = "area"
position = [0, 3, 0]
target = [1, 0, 1]
width = 0.5
height = 0.25
strength = 60
color = [1, 0.9, 0.8]
[[light]]
kind = "sun"
direction = [1, 2, 3]
haze = 0.5
[[light]]
kind = "image"
image = "studio.exr"
[[water]]
shape = "box"
min = [0, 0, 0]
max = [0.4, 0.6, 0.5]
velocity = [1, 0, -2.5]
[[water]]
shape = "sphere"
center = [1, 0.5, 0.5]
radius = 0.25
subtract = true
[[water]]
shape = "ellipsoid"
center = [0, 0, 0]
radii = [0.3, 0.2, 0.1]
rotate = [10, 20, 30]
translate = [1, 0.5, 0.5]
scale = 1.5
[[water]]
shape = "plane"
point = [0, 0.1, 0]
normal = [0, 1, 0]
[[water]]
shape = "solitary_wave"
crest = 0.5
depth = 0.3
height = 0.1
toward = "left"
[[solid]]
shape = "cylinder"
center = [0, 0, 0]
radius = 0.1
height = 0.5
axis = [1, 0, 1]
material = "plastic"
color = [0.8, 0.1, 0.1]
roughness = 0.4
translate = [{t = 0, v = [1, 0.5, 0]}, {t = 0.1, v = [1, 0.5, 0.3333333333333333]}, {t = 7, v = [0, 0, 0]}]
rotate = [{t = 0, v = [0, 0, 0]}, {t = 1, v = [0, 360, 0]}]
[[solid]]
shape = "cone"
center = [0, 0, 0]
radius = 0.1
height = 0.5
name = "hat"
motion = "body"
mass = 2.5
velocity = [0.1, 0, 0]
spin = [0, 6.28, 0]
friction = 0.3
restitution = 0.6
[[solid]]
shape = "sphere"
center = [1, 0.5, 0.5]
radius = 0.1
name = "head"
motion = "body"
density = 900
[[joint]]
kind = "hinge"
body = "hat"
to = "head"
point = [0.5, 0.4, 0.2]
along = [0, 1, 0.5]
[[solid]]
shape = "torus"
center = [0, 0, 0]
major = 0.4
minor = 0.1
[[solid]]
shape = "terrain"
image = "ground.png"
min = [0, 0, 0]
max = [2, 0.2, 1.5]
[[solid]]
shape = "mesh"
file = "rock \"big\".obj"
[[gauge]]
name = "push"
kind = "torque"
solid = "hat"
point = [1, 0, 0.5]
[[gauge]]
name = "through"
kind = "flux"
min = [0.5, 0, 0]
max = [0.5, 1, 1.5]
[[source]]
shape = "sphere"
center = [1, 0.9, 0.7]
radius = 0.05
velocity = [{t = 0, v = [0, -1, 0]}, {t = 1, v = [0, 0, 0]}]
[[source]]
shape = "sphere"
center = [1, 0.9, 0.7]
radius = 0.05
rate = [{t = 0, v = 0.1}, {t = 2.5, v = 0}]
[[sink]]
shape = "box"
min = [1.9, 0, 0]
max = [2, 0.1, 1.5]
[[sink]]
shape = "box"
min = [1.9, 0, 0]
max = [2, 0.1, 1.5]
rate = 0.25
open = "1 - step(1 - t) * 0.5"
[[source]]
shape = "box"
min = [0.5, 0.8, 0.5]
max = [1, 0.9, 1]
rate = "exp(-t / 2) * 0.1"
drops = 0.004
velocity = [0, -3, 0]
[[force]]
kind = "vortex"
around = ["0.1 * sin(t) + 1", 0.5, 0.5]
strength = [{t = 0, v = 0, ease = "smooth"}, {t = 1, v = 2}]
turns_about = [0, 1, 0]
falloff = 0.3
[[force]]
kind = "drag"
velocity = [1, 0, 0]
rate = 2
fade = 0.1
shape = "box"
min = [0, 0, 0]
max = [1, 1, 1]
[[vortices]]
shape = "sphere"
center = [1, 0.3, 0.5]
radius = 0.1
translate = [{t = 0, v = [0, 0, 0]}, {t = 1, v = [0.2, 0, 0]}]
count = 3
rate = [{t = 0, v = 5}, {t = 1, v = 0}]
strength = [0, 1, 0.5]
scatter = 0.2
size = 0.1
life = 0.5
[[waves]]
kind = "stokes"
side = "back"
period = 0.5
height = 0.005
level = 0.4
[[surface_pressure]]
wavelength = 0.5
wave_height = 0.02
level = 0.4
shape = "cylinder"
center = [1, 0.5, 0.75]
radius = 0.3
height = 1
within = 2
[[waves]]
kind = "absorb"
side = "right"
length = 0.5
zone = 0.6
level = 0.4
[[waves]]
kind = "airy"
side = "right"
length = 0.5
height = 0.01
ramp = 3
level = 0.4
[[solid]]
shape = "sphere"
center = [0, 0, 0]
radius = 0.1
path = "course"
heading = true
[[path]]
name = "course"
points = [{t = 0, v = [0, 0, 0]}, {t = 1, v = [1, 0, 0]}]
[wind]
velocity = [{t = 0, v = [0, 0, 0]}, {t = 2, v = [8, 0, 1]}]
shear = 0.5
shear_from = 0.4
alpha = [{t = 0, v = 0.25, ease = "in-out"}, {t = 2, v = 1}]
fade = 0.1
shape = "cylinder"
center = [1, 0.5, 0.75]
radius = 0.3
height = 1
translate = [{t = 0, v = [0, 0, 0]}, {t = 2, v = [0.5, 0, 0]}]
)";

// What only smoke has.
const std::string smoky = R"(tarn = 1
[domain]
size = [1, 2, 1]
[domain.walls]
top = "open"
[method]
phases = "smoke"
[smoke]
weight = 0.1
buoyancy = 0.003
ambient = 280
confinement = 0.3
cooling = 0.5
dissipation = 0.1
[air]
viscosity = 0.001
[render]
smoke_extinction = 40
smoke_albedo = [0.9, 0.8, 0.7]
smoke_anisotropy = -0.2
[[cloud]]
shape = "sphere"
center = [0.5, 0.5, 0.5]
radius = 0.2
density = 2
temperature = 400
velocity = [0, 1, 0]
[[source]]
shape = "box"
min = [0, 0, 0]
max = [0.2, 0.2, 0.2]
density = [{t = 0, v = 1}, {t = 1, v = 0}]
temperature = "400 + 10 * t"
[[source]]
shape = "box"
min = [0.8, 0, 0]
max = [1, 0.2, 0.2]
rate = 0.1
[[solid]]
shape = "sphere"
center = [0.5, 1, 0.5]
radius = 0.1
temperature = 350
)";

const std::string flat = R"(tarn = 1
[domain]
size = [1, 2]
gravity = [0.5, -9]
[domain.walls]
top = "open"
[[water]]
shape = "box"
min = [0, 0]
max = [1, 0.5]
velocity = [1, 0]
[[water]]
shape = "ellipsoid"
center = [0.5, 1]
radii = [0.2, 0.1]
rotate = 30
translate = [0.1, 0]
[[solid]]
shape = "box"
min = [-0.1, -0.4]
max = [0.1, 0.4]
rotate = [{t = 0, v = 0}, {t = 1, v = 90}]
translate = [{t = 0, v = [0.5, 0.5]}, {t = 1, v = [0.5, 1.5]}]
[[source]]
shape = "sphere"
center = [0.5, 0.5]
radius = 0.1
velocity = [0, 1]
[wind]
velocity = [-3, 0]
)";

// What no other scene can have beside it.
const std::string carried = R"(tarn = 1
[domain]
size = [1, 1, 1]
[[water]]
shape = "sphere"
center = [0.35, 0.35, 0.35]
radius = 0.15
[flow]
field = "deformation"
period = 3
)";

const std::string of_small_cells = R"(tarn = 1
[domain]
size = [1, 1]
[[water]]
shape = "box"
min = [0, 0]
max = [1, 0.5]
[method]
grid = "octree"
[octree]
vorticity = 0.1
)";

}  // namespace

TEST(SceneReader, the_smallest_scene_is_a_domain_and_some_water)
{
    const Params p = read_params(good, "x.toml");
    EXPECT_EQ(p.title, "Dam break");
    EXPECT_EQ(p.dimension(), 3);
    EXPECT_EQ(p.domain.cells, 64);
    ASSERT_EQ(p.water.size(), 1u);
    EXPECT_EQ(p.water[0].line, 8);
    EXPECT_EQ((*p.water[0].max)[1], 0.6);
    EXPECT_EQ(p.time.frames, TimeParams{}.frames);
    EXPECT_TRUE(std::isinf(p.time.max_step));
}

TEST(SceneReader, a_misspelt_key_is_told_its_nearest_name)
{
    EXPECT_EQ(refusal(good + "[pressure]\ntolerence = 1e-3\n"),
              "x.toml:14: pressure.tolerence: unknown key; did you mean \"tolerance\"?");
    EXPECT_EQ(refusal(good + "[presure]\n"), "x.toml:13: presure: unknown key; did you mean \"pressure\"?");
    EXPECT_EQ(refusal(good + "[domain.wals]\n"), "x.toml:13: domain.wals: unknown key; did you mean \"walls\"?");
    EXPECT_EQ(refusal(with(good, "velocity", "velocty")),
              "x.toml:12: water.0.velocty: unknown key; did you mean \"velocity\"?");
    EXPECT_EQ(refusal(good + "[output]\nsurface = \"plyy\"\n"),
              "x.toml:14: output.surface: unknown word \"plyy\"; did you mean \"ply\"?");
}

TEST(SceneReader, a_key_in_the_wrong_table_is_told_its_own)
{
    EXPECT_EQ(refusal(with(good, "title", "cells = 3\ntitle")),
              "x.toml:2: cells: unknown key here; it belongs in [domain]");
}

TEST(SceneReader, everything_wrong_is_told_at_once_in_the_order_of_the_file)
{
    const std::string text = R"(tarn = 1
titel = "Fountain"

[domain]
size = [1, 1, 1]
resolution = 64

[[inflow]]
shape = "sphere"
center = [0.5, 0.5, 0.5]
radus = 0.1
rate = -1

[[solid]]
shape = "heightfield"
image = "hills.png"
colour = [1, 0, 0]

[[solid]]
shape = "box"
min = [0, 0, 0]

[time]
fps = 24
frames = "many"
)";
    EXPECT_EQ(refusal(text, {{"domain.cels", "3"}, {"a..b", "1"}}),
              "x.toml:2: titel: unknown key; did you mean \"title\"?\n"
              "x.toml:6: domain.resolution: unknown key; it is called \"cells\" here\n"
              "x.toml:8: inflow: unknown key; it is called [[source]] here\n"
              "x.toml:11: inflow.0.radus: unknown key; did you mean \"radius\"?\n"
              "x.toml:12: inflow.0.rate: must lie between 0 and 1e+09 m³/s, found -1\n"
              "x.toml:15: solid.0.shape: unknown word \"heightfield\"; it is called \"terrain\" here\n"
              "x.toml:17: solid.0.colour: unknown key; did you mean \"color\"?\n"
              "x.toml:19: solid.1.max: missing; the shape \"box\" needs it\n"
              "x.toml:24: time.fps: unknown key; it is called \"rate\" here\n"
              "x.toml:25: time.frames: expected a whole number, found text\n"
              "--set domain.cels: unknown key; did you mean \"cells\"?\n"
              "--set a..b: expected a dotted key such as domain.cells");
}

TEST(SceneReader, what_follows_from_another_fault_is_not_told)
{
    // Neither that a misspelt key is missing, nor how many numbers vectors have where nobody knows the dimension.
    EXPECT_EQ(refusal(with(good, "min = ", "mni = ")), "x.toml:10: water.0.mni: unknown key; did you mean \"min\"?");
    EXPECT_EQ(refusal(with(good, "size = [1.0, 1.0, 0.5]", "size = 1")),
              "x.toml:5: domain.size: expected two or three numbers, found a whole number");
    EXPECT_EQ(refusal(with(good, "tarn = 1", "tarn = 2") + "[presure]\n"),
              "x.toml:1: tarn: this program reads version 1 of the scene language, found 2; use a program of that "
              "version");
    // What the scene as a whole lacks is told where every key is right, all of it.
    EXPECT_EQ(refusal(good + "[[source]]\nshape = \"sphere\"\ncenter = [9, 9, 9]\nradius = 0.1\n[wind]\nshear = 1\n"),
              "x.toml:13: source.0.velocity: missing; a source needs velocity or rate\n"
              "x.toml:14: source.0.shape: lies outside the domain, or is much thinner than a cell; move it or change "
              "domain.size or domain.cells\n"
              "x.toml:18: wind.shear: has no direction, as the wind's velocity is zero; give velocity");
}

TEST(SceneReader, of_very_many_faults_the_first_are_told)
{
    std::string text = good;
    for (int i = 0; i < 100; ++i) text += "[[solid]]\nshape = \"bux\"\n";
    const std::string message = refusal(text);
    EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 30);
    EXPECT_TRUE(contains(message, "\nx.toml: and 70 more; mend these first")) << message;
}

TEST(SceneReader, words_of_other_programs_are_known)
{
    const std::string here = "unknown key; it is called ";
    const std::pair<const char*, std::string> table[] = {
        {"[domain]\nsize = [1, 1]\nresolution = 3\n", "x.toml:4: domain.resolution: " + here + "\"cells\" here"},
        {"resolution = 3\n[domain]\nsize = [1, 1]\n", "x.toml:2: resolution: " + here + "\"cells\" here, in [domain]"},
        {"[domain]\nsize = [1, 1]\n[time]\nfps = 24\n", "x.toml:5: time.fps: " + here + "\"rate\" here"},
        {"[[inflow]]\n", here + "[[source]] here"},
        {"[[emitter]]\n", here + "[[source]] here"},
        {"[[outflow]]\n", here + "[[sink]] here"},
        {"[[obstacle]]\n", here + "[[solid]] here"},
        {"[[collider]]\n", here + "[[solid]] here"},
        {"[[heightfield]]\n", here + "[[solid]] here, with shape = \"terrain\""},
        {"[[solid]]\nshape = \"heightfield\"\n", "unknown word \"heightfield\"; it is called \"terrain\" here"},
        {"[[solid]]\nshape = \"cube\"\n", "unknown word \"cube\"; it is called \"box\" here"},
        {"[domain.walls]\nleft = \"noslip\"\n", "it is called \"no-slip\" here"},
        {"[method]\nphases = \"two-phase\"\n", "it is called \"water-air\" here"},
        {"[method]\nfps = 3\n", here + "\"rate\" here, in [time]"},
        {"[solver]\n[[time.inflow]]\n", here + "[[source]] here, at the top of the file"},
    };
    for (const auto& [text, told] : table) {
        const std::string message = refusal(std::string("tarn = 1\n") + text);
        EXPECT_TRUE(contains(message, told)) << message << "\n  expected " << told;
    }
}

TEST(SceneReader, what_is_reserved_for_later_says_what_to_use)
{
    const std::string fewer = "\"uniform\", with fewer cells where memory is short";
    for (const Reserved& r : reserved()) {
        const bool entry = std::string_view(r.section) == "solid", top = !*r.section;
        const std::string text =
            top ? std::string("[[") + r.name + "]]\n"
                : (entry ? "[[solid]]\nshape = \"box\"\n" : std::string("[") + r.section + "]\n") + r.name + " = 1\n";
        EXPECT_TRUE(contains(refusal(good + text), std::string("is not built yet; ") + r.instead)) << refusal(good + text);
    }
}

TEST(SceneReader, keyframes_ease)
{
    const auto solid = [&](const std::string& ease) {
        return read_params(good + "[[solid]]\nshape = \"sphere\"\ncenter = [0, 0, 0]\nradius = 0.1\ntranslate = [{t = 0, v = "
                                  "[0, 0, 0], ease = \"" + ease + "\"}, {t = 2, v = [8, 0, 0]}]\n", "x.toml").solid[0];
    };
    EXPECT_EQ(solid("linear").translate.at(0.5)[0], 2);
    EXPECT_EQ(solid("in").translate.at(0.5)[0], 0.5);
    EXPECT_EQ(solid("out").translate.at(0.5)[0], 3.5);
    EXPECT_EQ(solid("in-out").translate.at(0.5)[0], 1.25);
    EXPECT_EQ(solid("curve").translate.at(0.5)[0], 1.25);  // two keys alone, at rest at both ends
    EXPECT_TRUE(contains(refusal(good + "[wind]\nalpha = [{t = 0, v = 0, ease = \"inn\"}, {t = 1, v = 1}]\n"),
                         "x.toml:14: wind.alpha: unknown word \"inn\"; did you mean \"in\"?"));
    // Smooth through the middle key, and never beyond any.
    Keyed<double> curve;
    curve.keys = {{0, 0, Ease::curve}, {1, 1, Ease::curve}, {3, 2, Ease::curve}, {4, 2, Ease::curve}, {5, 0}};
    const double e = 1e-6;
    EXPECT_NEAR((curve.at(1) - curve.at(1 - e)) / e, (curve.at(1 + e) - curve.at(1)) / e, 1e-4);
    EXPECT_GT((curve.at(1 + e) - curve.at(1)) / e, 0.5);
    for (double t = 0; t < 5; t += 0.01) {
        EXPECT_GE(curve.at(t), 0) << t;
        EXPECT_LE(curve.at(t), 2) << t;
    }
    EXPECT_EQ(curve.at(3.5), 2);
}

TEST(SceneReader, air_belongs_to_water_and_air)
{
    {
        const Params both = read_params("tarn = 1\n[domain]\nsize = [1, 1]\n[[water]]\nshape = \"box\"\nmin = [0, 0]\n"
                                        "max = [1, 0.5]\n[method]\nphases = \"water-air\"\n[surface]\nadvection = \"weno5\"\n",
                                        "x.toml");
        EXPECT_EQ(both.method.advection, Advection::cip);
        EXPECT_EQ(both.surface.advection, Advection::weno5);
    }
    const std::string air = "[air]\ndensity = 2\n", both = "[method]\nphases = \"water-air\"\n";
    EXPECT_EQ(refusal(good + both + air), "accepted");
    EXPECT_EQ(refusal(good + air),
              "x.toml:14: air.density: does nothing without air; give method.phases = \"water-air\", or remove it");
    EXPECT_EQ(refusal(good + both + "[wind]\nvelocity = [1, 0, 0]\n"),
              "x.toml:15: wind: has no part in a scene whose air flows by itself; remove [wind] or method.phases");
    EXPECT_EQ(refusal(good + "[method]\nadvection = \"cip\"\n[surface]\nadvection = \"linear\"\n"), "accepted");
    EXPECT_NE(refusal(good + "[method]\nadvection = \"weno5\"\n").find("carries a surface and no velocity"), std::string::npos);
}

TEST(SceneReader, the_solver_of_1996_has_its_own_ways)
{
    const Params p = read_params(good + "[method]\nsolver = \"foster-metaxas\"\n", "x.toml");
    EXPECT_EQ(p.method.surface, SurfaceKind::markers);
    EXPECT_EQ(p.surface.particles_per_cell, 16);
    EXPECT_EQ(p.pressure.solver, PressureSolver::relaxation);
    EXPECT_EQ(p.pressure.max_iterations, 100000);
    EXPECT_EQ(p.time.cfl, 0.5);
    // Its surfaces bring it with them.
    EXPECT_EQ(read_params(good + "[method]\nsurface = \"height-field\"\n", "x.toml").method.solver, Solver::foster_metaxas);
    const struct {
        const char *text, *message;
    } refused[] = {
        {"[method]\nsolver = \"projection\"\nsurface = \"markers\"\n", "need method.solver = \"foster-metaxas\""},
        {"[method]\nsolver = \"foster-metaxas\"\nsurface = \"level-set\"\n", "knows where the water is by \"markers\""},
        {"[method]\nsolver = \"foster-metaxas\"\n[pressure]\nsolver = \"multigrid\"\n", "by \"relaxation\""},
        {"[method]\nsolver = \"foster-metaxas\"\n[time]\ncfl = 2\n", "must be less than 1, found 2"},
        {"[method]\nsolver = \"foster-metaxas\"\nphases = \"water-air\"\n", "has water alone"},
        {"[method]\nsolver = \"foster-metaxas\"\nadvection = \"maccormack\"\n", "has its own differences"},
        {"[method]\nsolver = \"foster-metaxas\"\n[wind]\nvelocity = [1, 0, 0]\n", "knows no wind"},
        {"[method]\nsolver = \"foster-metaxas\"\n[fluid]\nsurface_tension = 0.07\n", "knows no surface tension"},
        {"[method]\nsolver = \"foster-metaxas\"\n[[solid]]\nshape = \"sphere\"\ncenter = [0.5, 0.5, 0.5]\nradius = 0.2\n"
         "motion = \"body\"\ndensity = 500\n",
         "solids stand still"},
        {"[method]\nsolver = \"foster-metaxas\"\n[[source]]\nshape = \"sphere\"\ncenter = [0.5, 0.5, 0.5]\nradius = 0.2\nrate = 1\n",
         "give velocity instead"},
        {"[method]\nsolver = \"foster-metaxas\"\n[[sink]]\nshape = \"sphere\"\ncenter = [0.5, 0.5, 0.5]\nradius = 0.2\nrate = 1\n",
         "takes all that comes; remove rate"},
        {"[method]\nsolver = \"foster-metaxas\"\nsurface = \"marker-chains\"\n", "go round water in 2D; in 3D choose \"markers\""},
        {"[method]\nsolver = \"projection\"\nsurface = \"height-field\"\n", "needs method.solver = \"foster-metaxas\""},
        {"[method]\nsurface = \"height-field\"\n[[sink]]\nshape = \"sphere\"\ncenter = [0.5, 0.5, 0.5]\nradius = 0.2\n", "let no water out by a sink"},
        {"[pressure]\nsolver = \"relaxation\"\n[[solid]]\nshape = \"sphere\"\ncenter = [0.5, 0.5, 0.5]\nradius = 0.2\n"
         "motion = \"body\"\ndensity = 500\n",
         "takes no bodies; choose \"multigrid\""},
    };
    for (const auto& [text, message] : refused)
        EXPECT_NE(refusal(good + text).find(message), std::string::npos) << text << refusal(good + text);
}

TEST(SceneReader, every_bad_file_is_refused_with_line_and_key)
{
    const std::string source = "[[source]]\nshape = \"sphere\"\ncenter = [0.5, 0.5, 0.2]\nradius = 0.1\n";
    const std::string solid = "[[solid]]\nshape = \"sphere\"\ncenter = [0.5, 0.5, 0.2]\nradius = 0.1\n";
    const std::string vortices = "[[vortices]]\nshape = \"sphere\"\ncenter = [0.5, 0.5, 0.2]\nradius = 0.1\nstrength = [0, 1, 0]\n";
    struct Bad {
        std::string text, start, part;
    };
    const Bad table[] = {
        // Version.
        {with(good, "tarn = 1", ""), "x.toml:1: tarn: ", "starts with tarn = 1"},
        {with(good, "tarn = 1", "tarn = 2"), "x.toml:1: tarn: ", "found 2"},
        {with(good, "tarn = 1", "tarn = \"1\""), "x.toml:1: tarn: ", "found text"},
        {"", "x.toml:1: tarn: ", "missing"},
        // Required.
        {"tarn = 1\n", "x.toml:1: domain.size: ", "missing"},
        {with(good, "size = [1.0, 1.0, 0.5]\n", ""), "x.toml:4: domain.size: ", "missing"},
        {"tarn = 1\n[domain]\nsize = [1, 1]\n", "x.toml:1: water: ", "at least one [[water]] or [[source]]"},
        {with(good, "min = [0, 0, 0]\n", ""), "x.toml:8: water.0.min: ", "the shape \"box\" needs it"},
        {with(good, "shape = \"box\"\n", ""), "x.toml:8: water.0.shape: ", "missing"},
        // Types.
        {with(good, "cells = 64", "cells = 64.5"), "x.toml:6: domain.cells: ", "expected a whole number"},
        {with(good, "cells = 64", "cells = \"64\""), "x.toml:6: domain.cells: ", "found text"},
        {with(good, "cells = 64", "cells = [64]"), "x.toml:6: domain.cells: ", "found a list"},
        {with(good, "cells = 64", "cells = 1979-05-27"), "x.toml:6: domain.cells: ", "found a date"},
        {with(good, "title = \"Dam break\"", "title = 3"), "x.toml:2: title: ", "expected text in quotes"},
        {with(good, "shape = \"box\"", "shape = 3"), "x.toml:9: water.0.shape: ", "expected one of \"box\""},
        {with(good, "shape = \"box\"", "shape = \"bux\""), "x.toml:9: water.0.shape: ", "did you mean \"box\"?"},
        {with(good, "size = [1.0, 1.0, 0.5]", "size = 1"), "x.toml:5: domain.size: ", "two or three numbers"},
        {with(good, "size = [1.0, 1.0, 0.5]", "size = [1, 1, \"x\"]"), "x.toml:5: domain.size: ", "expected a number"},
        {good + "[output]\nvolume = 1\n", "x.toml:14: output.volume: ", "expected true or false"},
        {good + "[[time]]\n", "x.toml:13: time: ", "expected a table [time]"},
        {with(good, "[[water]]", "[water]"), "x.toml:8: water: ", "double brackets"},
        {"tarn = 1\nwater = [3]\n[domain]\nsize = [1, 1]\n", "x.toml:2: water: ", "found a whole number"},
        {"tarn = 1\ndomain = 3\n", "x.toml:2: domain: ", "expected a table [domain]"},
        // Ranges.
        {with(good, "cells = 64", "cells = 2"), "x.toml:6: domain.cells: ", "between 4 and 100000, found 2"},
        {with(good, "cells = 64", "cells = 9223372036854775807"), "x.toml:6: domain.cells: ", "9223372036854775807"},
        {with(good, "cells = 64", "cells = 9223372036854775808"), "x.toml:6: domain.cells: ", "not valid TOML"},
        {with(good, "cells = 64", "cells = 2000"), "x.toml:6: domain.cells: ", "lower cells"},
        {with(good, "1.0, 1.0, 0.5", "1, 1, 0.01"), "x.toml:6: domain.cells: ", "must be 4 at least"},
        {with(good, "1.0, 1.0, 0.5", "1, 1, -1"), "x.toml:5: domain.size: ", "found -1"},
        {with(good, "1.0, 1.0, 0.5", "1, 1, nan"), "x.toml:5: domain.size: ", "found nan"},
        {with(good, "1.0, 1.0, 0.5", "1, inf, 1"), "x.toml:5: domain.size: ", "found inf"},
        {with(good, "1.0, 1.0, 0.5", "1, 1e300, 1"), "x.toml:5: domain.size: ", "found 1e+300"},
        {with(good, "1.0, 1.0, 0.5", "1"), "x.toml:5: domain.size: ", "two or three numbers, found 1"},
        {with(good, "1.0, 1.0, 0.5", "1, 1, 1, 1"), "x.toml:5: domain.size: ", "found 4"},
        {good + "[time]\nmax_step = inf\n", "x.toml:14: time.max_step: ", "found inf"},
        {good + "[fluid]\ndensity = nan\n", "x.toml:14: fluid.density: ", "found nan"},
        {good + "[pressure]\ntolerance = 0\n", "x.toml:14: pressure.tolerance: ", "between 1e-12 and 0.1"},
        // Vectors of the wrong length.
        {with(good, "velocity = [0, 0, 0]", "velocity = [0, 0]"), "x.toml:12: water.0.velocity: ", "three numbers"},
        {with(good, "velocity = [0, 0, 0]", "velocity = []"), "x.toml:12: water.0.velocity: ", "found 0"},
        {with(good, "velocity = [0, 0, 0]", "velocity = 1"), "x.toml:12: water.0.velocity: ", "three numbers"},
        {with(good, "1.0, 1.0, 0.5", "1, 1"), "x.toml:10: water.0.min: ", "two numbers, as the scene is 2D"},
        {with(flat, "[0.5, -9]", "[0, -9, 0]"), "x.toml:4: domain.gravity: ", "two numbers, as the scene is 2D"},
        {with(flat, "rotate = 30", "rotate = [0, 0, 30]"), "x.toml:16: water.1.rotate: ", "one number"},
        {with(flat, "top = \"open\"", "front = \"open\""), "x.toml:6: domain.walls.front: ", "2D"},
        {flat + "[camera]\nfov = 30\n", "x.toml:32: camera.fov: ", "2D"},
        // Keys of another shape.
        {good + "radius = 1\n", "x.toml:13: water.0.radius: ", "the shape \"box\" has no radius; it takes min, max"},
        {with(good, "max = [0.4", "normal = [0.4"), "x.toml:11: water.0.normal: ", "has no normal"},
        {with(good, "max = [0.4", "max = [-0.4"), "x.toml:11: water.0.max: ", "along x -0.4 is not greater than 0"},
        {good + "[[solid]]\nshape = \"ellipsoid\"\ncenter = [0, 0, 0]\nradii = [1, 1, 0]\n",
         "x.toml:16: solid.0.radii: ", "found 0"},
        {good + "[[solid]]\nshape = \"plane\"\npoint = [0, 0, 0]\nnormal = [0, 0, 0]\n",
         "x.toml:16: solid.0.normal: ", "must not be zero"},
        {good + solid + "axis = [0, 1, 0]\n", "x.toml:17: solid.0.axis: ", "it takes center, radius"},
        {good + "[[solid]]\nshape = \"mesh\"\nfile = \"\"\n", "x.toml:15: solid.0.file: ", "missing"},
        {good + "[[solid]]\nshape = \"mesh\"\n", "x.toml:13: solid.0.file: ", "missing"},
        // Keyframes.
        {good + solid + "translate = [{t = 1, v = [0, 0, 0]}, {t = 0, v = [0, 0, 0]}]\n",
         "x.toml:17: solid.0.translate: ", "sort the keyframes"},
        {good + solid + "translate = [{t = 1, v = [0, 0, 0]}, {t = 1, v = [0, 0, 0]}]\n",
         "x.toml:17: solid.0.translate: ", "does not come after"},
        {good + solid + "translate = [{t = 1, v = [0, 0]}]\n", "x.toml:17: solid.0.translate: ", "three numbers"},
        {good + solid + "translate = [{t = 1, w = [0, 0, 0]}]\n",
         "x.toml:17: solid.0.translate: ", "unknown key \"w\""},
        {good + solid + "translate = [{t = 1}]\n", "x.toml:17: solid.0.translate: ", "expected {t = ..., v = ...}"},
        {good + solid + "translate = [{t = nan, v = [0, 0, 0]}]\n", "x.toml:17: solid.0.translate: ", "found nan"},
        {good + solid + "rotate = [{t = 0, v = [0, 0, 0]}, 3]\n", "x.toml:17: solid.0.rotate: ", "a keyframe"},
        {good + "translate = [{t = 0, v = [0, 0, 0]}, {t = 1, v = [1, 0, 0]}]\n",
         "x.toml:13: water.0.translate: ", "keyframes move solids, wind, forces, vortices and surface pressures only"},
        {good + source + "rate = 1\nrotate = [{t = 0, v = [0, 0, 0]}, {t = 1, v = [1, 0, 0]}]\n",
         "x.toml:18: source.0.rotate: ", "keyframes move solids, wind, forces, vortices and surface pressures only"},
        {with(good, "velocity = [0, 0, 0]", "velocity = [{t = 0, v = [0, 0, 0]}]"),
         "x.toml:12: water.0.velocity: ", "expected a number"},
        // Sources, subtraction and place.
        {good + source, "x.toml:13: source.0.velocity: ", "needs velocity or rate"},
        {good + source + "rate = 1\nvelocity = [0, 0, 0]\n", "x.toml:17: source.0.rate: ", "not both"},
        {good + source + "rate = 1\nsubtract = true\n", "x.toml:18: source.0.subtract: ", "stands alone"},
        {good + vortices + "rate = 1\nsize = 0.001\n", "x.toml:19: vortices.0.size: ", "less than a cell"},
        {good + vortices, "x.toml:13: vortices.0.rate: ", "none ever starts"},
        {good + vortices + "rate = 1\nsolid = \"boat\"\n", "x.toml:19: vortices.0.solid: ", "no [[solid]] has the name \"boat\""},
        {good + "subtract = true\n", "x.toml:13: water.0.subtract: ", "nothing before it"},
        {good + solid + "subtract = true\n", "x.toml:17: solid.0.subtract: ", "nothing before it"},
        {good + "translate = [5, 0, 0]\n", "x.toml:9: water.0.shape: ", "outside the domain"},
        {with(good + source + "rate = 1\n", "[0.5, 0.5, 0.2]", "[0.5, 0.5, 9]"),
         "x.toml:14: source.0.shape: ", "outside the domain"},
        // Waves.
        {good + "[[water]]\nshape = \"solitary_wave\"\ncrest = 0.5\ndepth = 0.3\n",
         "x.toml:13: water.1.height: ", "the shape \"solitary_wave\" needs it"},
        {good + "[[water]]\nshape = \"solitary_wave\"\ncrest = 0.5\ndepth = 0\nheight = 0.1\n",
         "x.toml:16: water.1.depth: ", "found 0"},
        {good + "[[water]]\nshape = \"solitary_wave\"\ncrest = 0.5\ndepth = 0.3\nheight = 0.1\ntoward = \"up\"\n",
         "x.toml:18: water.1.toward: ", "there are: right, left"},
        {good + "[[solid]]\nshape = \"solitary_wave\"\ncrest = 0.5\ndepth = 0.3\nheight = 0.1\n",
         "x.toml:14: solid.0.shape: ", "only water can be a \"solitary_wave\""},
        {good + "[wind]\nshape = \"solitary_wave\"\ncrest = 0.5\ndepth = 0.3\nheight = 0.1\n",
         "x.toml:14: wind.shape: ", "only water can be a \"solitary_wave\""},
        // A given flow.
        {with(carried, "deformation", "deformaton"), "x.toml:9: flow.field: ", "did you mean \"deformation\"?"},
        {with(carried, "period = 3", "period = 0"), "x.toml:10: flow.period: ", "found 0"},
        {with(carried, "[flow]", "[[flow]]"), "x.toml:8: flow: ", "expected a table [flow]"},
        {with(with(carried, "[1, 1, 1]", "[1, 1]"), "[0.35, 0.35, 0.35]", "[0.35, 0.35]"),
         "x.toml:9: flow.field: ", "needs 3D"},
        {"tarn = 1\n[domain]\nsize = [1, 1]\n[[water]]\nshape = \"box\"\nmin = [0, 0]\nmax = [0.5, 0.5]\n"
         "[output]\nsurface = \"usd\"\n",
         "x.toml:9: output.surface: ", "\"usd\" needs 3D"},
        {carried + "[[solid]]\nshape = \"box\"\nmin = [0, 0, 0]\nmax = [1, 0.1, 1]\n",
         "x.toml:11: solid: ", "remove [[solid]] or [flow]"},
        {carried + source + "rate = 1\n", "x.toml:11: source: ", "remove [[source]] or [flow]"},
        {carried + "[[sink]]\nshape = \"box\"\nmin = [0, 0, 0]\nmax = [1, 0.1, 1]\n",
         "x.toml:11: sink: ", "remove [[sink]] or [flow]"},
        {carried + "[wind]\n", "x.toml:11: wind: ", "remove [wind] or [flow]"},
        {carried + "[fluid]\nviscosity = 1\n", "x.toml:12: fluid.viscosity: ", "has no part"},
        {carried + "[fluid]\nsurface_tension = 1\n", "x.toml:12: fluid.surface_tension: ", "has no part"},
        {with(carried, "radius = 0.15\n", "radius = 0.15\nvelocity = [1, 0, 0]\n"),
         "x.toml:8: water.0.velocity: ", "has no part"},
        // Wind.
        {good + "[wind]\nalpha = 1.5\n", "x.toml:14: wind.alpha: ", "between 0 and 1, found 1.5"},
        {good + "[wind]\nalpha = [{t = 0, v = 0}, {t = 1, v = -1}]\n", "x.toml:14: wind.alpha: ", "found -1"},
        {good + "[wind]\nvelocity = 3\n", "x.toml:14: wind.velocity: ", "three numbers"},
        {good + "[wind]\nvelocty = [3, 0, 0]\n", "x.toml:14: wind.velocty: ", "did you mean \"velocity\"?"},
        {good + "[[wind]]\n", "x.toml:13: wind: ", "expected a table [wind]"},
        {good + "[wind]\nshear = 1\n", "x.toml:14: wind.shear: ", "give velocity"},
        {good + "[wind]\nfade = 0.1\n", "x.toml:14: wind.fade: ", "give the wind a shape"},
        {good + "[wind]\nradius = 0.1\n", "x.toml:14: wind.radius: ", "say which with shape"},
        {good + "[wind]\nshape = \"bux\"\n", "x.toml:14: wind.shape: ", "did you mean \"box\"?"},
        {good + "[wind]\nshape = \"box\"\nmin = [0, 0, 0]\n", "x.toml:13: wind.max: ", "the shape \"box\" needs it"},
        {good + "[wind]\nshape = \"sphere\"\ncenter = [0, 9, 0]\nradius = 1\n", "x.toml:14: wind.shape: ", "outside"},
        {good + "[wind]\nshape = \"sphere\"\ncenter = [0, 0, 0]\nradius = 1\nsubtract = true\n",
         "x.toml:17: wind.subtract: ", "stands alone"},
        // Syntax.
        {with(good, "cells = 64", "cells = "), "x.toml:6: domain.cells: ", "not valid TOML"},
        {with(good, "cells = 64", "cells"), "x.toml:6: domain.cells: ", "not valid TOML"},
        {with(good, "cells = 64", "cells = 64\ncells = 65"), "x.toml:7: domain.cells: ", "not valid TOML"},
        {with(good, "[domain]", "[domain"), "x.toml:4: domain: ", "not valid TOML"},
        {with(good, "title = \"Dam break\"", "title = \"Dam"), "x.toml:2: title: ", "not valid TOML"},
        {with(good, "title = \"Dam break\"", "title = \"\xff\""), "x.toml:2: title: ", "not valid TOML"},
        {with(good, "title", "t\xc3\xaftle"), "x.toml:2: t\xc3\xaftle: ", "not ASCII"},
        {with(good, "\"Dam break\"", "\"\"\"Dam \\\n  \xc3\xbc\"\"\""), "x.toml:3: title: ", "not ASCII"},
        {with(good, "cells = 64", "cells = 64\"\xc3\xbc\""), "x.toml:6: domain.cells: ", "not ASCII"},
        {with(good, "Dam break", "Dam \\\xc3\xbc"), "x.toml:2: title: ", "behind a backslash"},
        {with(good, "title", "\"ti.tle\""), "x.toml:2: ti.tle: ", "unknown key"},
        {with(good, "title", "\"\""), "x.toml:2: : ", "unknown key"},
        {with(good, "title", "\"domain.cells\""), "x.toml:2: domain.cells: ", "unknown key"},
    };
    for (const Bad& bad : table) {
        const std::string message = refusal(bad.text);
        EXPECT_TRUE(starts_with(message, bad.start)) << message << "\n  expected " << bad.start;
        EXPECT_TRUE(contains(message, bad.part)) << message << "\n  expected " << bad.part;
    }
}

TEST(SceneReader, deep_nesting_and_long_lists_are_refused_quickly)
{
    std::string lists(100000, '['), dots = "a";
    for (int i = 0; i < 100000; ++i) dots += ".a";
    std::string entries = good;
    for (int i = 0; i < 20000; ++i) entries += "[[solid]]\n";
    EXPECT_TRUE(starts_with(refusal(good + "x = " + lists), "x.toml:13: water.x: not valid TOML"));
    EXPECT_TRUE(starts_with(refusal(good + dots + " = 1"), "x.toml:13: "));
    EXPECT_TRUE(starts_with(refusal(good + "[" + dots + "]"), "x.toml:13: "));
    EXPECT_TRUE(starts_with(refusal(entries), "x.toml:13: solid: expected at most"));
    EXPECT_TRUE(starts_with(refusal(std::string(17 << 20, ' ')), "x.toml:1: TOML: the file is larger"));
}

TEST(SceneReader, text_may_hold_any_character_and_many_dots)
{
    const std::string dots(100, '.');
    const auto title = [&](const std::string& text) {
        return read_params(with(good, "\"Dam break\"", text + " # \xc3\xa4 \" ' " + dots), "x.toml").title;
    };
    EXPECT_EQ(title("\"\xc3\xbc \\\" " + dots + "\""), "\xc3\xbc \" " + dots);
    EXPECT_EQ(title("'\xc3\xbc \" " + dots + "'"), "\xc3\xbc \" " + dots);
    EXPECT_EQ(title("\"\"\"\n\xc3\xbc \"\" \\\"\n" + dots + "\"\"\"\"\""), "\xc3\xbc \"\" \"\n" + dots + "\"\"");
    EXPECT_EQ(title("'''\n\xc3\xbc \\'\n" + dots + "'''"), "\xc3\xbc \\'\n" + dots);
}

TEST(SceneReader, whole_numbers_serve_as_numbers)
{
    EXPECT_EQ(read_params(good + "[fluid]\ndensity = 998\n", "x.toml").fluid.density, 998.0);
}

TEST(SceneReader, keyframes_join_by_straight_lines)
{
    const Params p = read_params(everything, "x.toml");
    EXPECT_NEAR(p.solid[0].translate.at(0.05)[2], 1.0 / 6, 1e-15);
    EXPECT_DOUBLE_EQ((*p.source[1].rate).at(1.25), 0.05);
    EXPECT_EQ((*p.source[0].velocity).at(99), Vec3{});
}

TEST(SceneReader, two_numbers_make_it_2d)
{
    const Params p = read_params(flat, "x.toml");
    EXPECT_EQ(p.dimension(), 2);
    EXPECT_EQ(p.domain.gravity, (Vec3{0.5, -9, 0}));
    EXPECT_EQ(p.water[1].rotate.at(0), (Vec3{0, 0, 30}));
    EXPECT_EQ(p.solid[0].rotate.at(0.5), (Vec3{0, 0, 45}));
}

TEST(SceneReader, what_is_written_reads_back_the_same)
{
    for (const std::string& text : {good, everything, smoky, flat, carried}) {
        const Params p = read_params(text, "x.toml");
        const std::string written = write_params(p);
        const Params q = read_params(written, "written.toml");
        expect_same(p, q);
        EXPECT_EQ(write_params(q), written);
    }
}

TEST(SceneReader, every_scene_that_ships_reads_back_the_same)
{
    const std::filesystem::path scenes = std::string(TARN_SOURCE_DIR) + "/scenes";
    if (!std::filesystem::exists(scenes)) GTEST_SKIP() << "there are no scenes";
    for (const auto& entry : std::filesystem::recursive_directory_iterator(scenes)) {
        if (entry.path().extension() != ".toml") continue;
        std::ifstream file(entry.path());
        std::ostringstream text;
        text << file.rdbuf();
        const Params p = read_params(text.str(), entry.path().string());
        expect_same(p, read_params(write_params(p), "written.toml"));
    }
}

TEST(SceneReader, every_written_key_stands_in_the_file)
{
    const std::string written =
        write_params(read_params(everything, "x.toml")) + write_params(read_params(smoky, "x.toml")) +
        write_params(read_params(carried, "x.toml")) + write_params(read_params(of_small_cells, "x.toml"));
    for (const Section& section : sections())
        for (const ParamRow& row : section.rows)
            EXPECT_TRUE(contains(written, std::string("\n") + row.name + " = ")) << section.name << '.' << row.name;
    for (const ParamRow& row : shape_rows())
        EXPECT_TRUE(contains(written, std::string("\n") + row.name + " = ")) << row.name;
}

TEST(SceneReader, wind_is_there_where_its_table_is)
{
    EXPECT_FALSE(read_params(good, "x.toml").wind);
    const Params still = read_params(good + "[wind]\n", "x.toml");
    ASSERT_TRUE(still.wind);
    EXPECT_EQ(still.wind->velocity.at(0), Vec3{});
    EXPECT_EQ(still.wind->alpha.at(0), 1.0);
    EXPECT_FALSE(still.wind->where);
    const Params set = read_params(good, "x.toml", {{"wind.velocity", "[5, 0, 0]"}});
    ASSERT_TRUE(set.wind);
    EXPECT_EQ(set.wind->velocity.at(0), (Vec3{5, 0, 0}));
    const Params local = read_params(everything, "x.toml");
    ASSERT_TRUE(local.wind->where);
    EXPECT_EQ(local.wind->where->shape, ShapeKind::cylinder);
    EXPECT_DOUBLE_EQ(local.wind->alpha.at(1), 0.625);
}

TEST(SceneReader, an_override_changes_one_key)
{
    const Params p = read_params(good, "x.toml",
                                 {{"domain.cells", "32"},
                                  {"time.frames", "10"},
                                  {"domain.walls.left", "open"},
                                  {"title", "Two words"},
                                  {"domain.size", "[2, 2, 1]"},
                                  {"method.advection", "\"maccormack\""},
                                  {"water.0.velocity", "[1,0,0]"},
                                  {"water.0.max.0", "0.5"},
                                  {"domain.cells", "48"}});
    EXPECT_EQ(p.domain.cells, 48);
    EXPECT_EQ(p.time.frames, 10);
    EXPECT_EQ(p.domain.walls.left, WallKind::open);
    EXPECT_EQ(p.title, "Two words");
    EXPECT_EQ(p.domain.size[0], 2);
    EXPECT_EQ(p.method.advection, Advection::maccormack);
    EXPECT_EQ(p.water[0].velocity, (Vec3{1, 0, 0}));
    EXPECT_EQ((*p.water[0].max)[0], 0.5);
}

TEST(SceneReader, a_bad_override_says_which)
{
    const std::pair<std::pair<std::string, std::string>, std::string> table[] = {
        {{"domain.cels", "3"}, "--set domain.cels: unknown key; did you mean \"cells\"?"},
        {{"domain.cells", "3"}, "--set domain.cells: must lie between 4 and 100000, found 3"},
        {{"domain.cells", "many"}, "--set domain.cells: expected a whole number, found text"},
        {{"domain.cells", "[1"}, "--set domain.cells: cannot read the value [1"},
        {{"domain.cells", "4\nx = 1"}, "--set domain.cells: cannot read the value 4?x = 1"},
        {{"domain.cells", ""}, "--set domain.cells: cannot read the value"},
        {{"water.1.min", "[0, 0, 0]"}, "--set water.1.min: there is no entry 1"},
        {{"solid.0.min", "[0, 0, 0]"}, "--set solid.0.min: there is no entry 0"},
        {{"water.x.min", "[0, 0, 0]"}, "--set water.x.min: there is no entry x"},
        {{"presure.tolerance", "1"}, "--set presure: unknown key; did you mean \"pressure\"?"},
        {{"domain.cells.x", "1"}, "--set domain.cells.x: is inside of a whole number"},
        {{"", "1"}, "--set : expected a dotted key"},
        {{"a..b", "1"}, "--set a..b: expected a dotted key"},
        {{"tarn", "2"}, "--set tarn: this program reads version 1"},
        {{"water.0.velocity", "[1, 0]"}, "--set water.0.velocity: expected three numbers, found 2"},
        {{"tall.gap", "single"}, "--set tall.gap: unknown key; did you mean \"gaps\"?"},
    };
    for (const auto& [override, start] : table) {
        const std::string message = refusal(good, {override});
        EXPECT_TRUE(starts_with(message, start)) << message << "\n  expected " << start;
    }
}

TEST(SceneReader, a_missing_scene_file_is_an_input_error)
{
    EXPECT_THROW(read_scene("/nowhere/none.toml"), InputError);
    EXPECT_THROW(read_scene(std::filesystem::temp_directory_path().string()), InputError);
}

TEST(Validate, programs_are_held_to_the_same_ranges_as_files)
{
    Params p = read_params(good, "x.toml");
    EXPECT_TRUE(problems(p).empty());
    p.time.rate = -1;
    p.pressure.tolerance = 2;
    ASSERT_EQ(problems(p).size(), 2u);
    EXPECT_EQ(problems(p)[0].key, "pressure.tolerance");
    EXPECT_EQ(problems(p)[1].key, "time.rate");
    ASSERT_FALSE(problems(Params{}).empty());
    EXPECT_EQ(problems(Params{})[0].key, "domain.size");
}

TEST(Describe, the_page_of_parameters_is_the_one_the_tables_make)
{
    const std::string path = std::string(TARN_SOURCE_DIR) + "/docs/parameters.md";
    if (std::getenv("TARN_UPDATE_DOCS")) std::ofstream(path) << params_markdown();
    std::ifstream file(path);
    std::ostringstream page;
    page << file.rdbuf();
    EXPECT_TRUE(page.str() == params_markdown())
        << "docs/parameters.md is old; run this test with TARN_UPDATE_DOCS=1 to write it again";
}

TEST(Describe, every_default_lies_in_its_range)
{
    Params params;
    for (const Section& section : sections()) {
        if (section.may_be_absent()) section.add(params);
        for (const ParamRow& row : section.rows) {
            const auto value = row.value(section.object(params, 0));
            EXPECT_TRUE(!value || !range_problem(row, *value, 3)) << section.name << '.' << row.name;
        }
    }
    for (const ParamRow& row : shape_rows())
        if (const auto value = row.value(params.water.data())) {
            EXPECT_FALSE(range_problem(row, *value, 3)) << row.name;
        }
}

TEST(Describe, the_schema_holds_every_key)
{
    using nlohmann::json;
    const json schema = json::parse(params_schema());
    EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    EXPECT_EQ(schema["additionalProperties"], false);
    for (const Section& section : sections()) {
        json at = schema;
        std::istringstream parts(section.name);
        for (std::string part; std::getline(parts, part, '.');) at = at["properties"][part];
        if (section.repeated()) at = at["items"];
        EXPECT_EQ(at["additionalProperties"], false) << section.name;
        for (const ParamRow& row : section.rows)
            EXPECT_TRUE(at["properties"].contains(row.name)) << section.name << '.' << row.name;
        if (!section.shape) continue;
        for (const ParamRow& row : shape_rows()) {
            EXPECT_TRUE(at["properties"].contains(row.name)) << section.name << '.' << row.name;
            // A key that both had would mean two things.
            for (const ParamRow& own : section.rows) EXPECT_STRNE(own.name, row.name) << section.name;
        }
    }
    EXPECT_EQ(schema["properties"]["domain"]["properties"]["cells"]["default"], DomainParams{}.cells);
    EXPECT_EQ(schema["$defs"]["shape"]["allOf"].size(), shape_words().size());
    const auto words = [&](const json& at) { return at["properties"]["shape"]["enum"].size(); };
    EXPECT_EQ(words(schema["properties"]["water"]["items"]), shape_words().size());
    EXPECT_EQ(words(schema["properties"]["solid"]["items"]), shape_words().size() - 1);
    EXPECT_EQ(words(schema["properties"]["wind"]), shape_words().size() - 1);
}

TEST(Describe, the_terminal_sees_every_key)
{
    const std::string text = params_text();
    for (const Section& section : sections())
        for (const ParamRow& row : section.rows)
            EXPECT_TRUE(contains(text, std::string("\n  ") + row.name)) << row.name;
    for (const ParamRow& row : shape_rows()) EXPECT_TRUE(contains(text, std::string("\n  ") + row.name)) << row.name;
}
