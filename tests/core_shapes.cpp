// Shapes as distances: against brute force over points of their surfaces, and in lists, poses and two dimensions.

#include "tarn/shapes/shape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "tarn/base/error.h"
#include "tarn/scene/scene.h"

using namespace tarn;

namespace {

const double pi = 3.14159265358979323846;

ShapeParams params_of(ShapeKind kind)
{
    ShapeParams p;
    p.shape = kind;
    return p;
}
ShapeParams box(Vec3 min, Vec3 max)
{
    ShapeParams p = params_of(ShapeKind::box);
    p.min = min;
    p.max = max;
    return p;
}
ShapeParams sphere(Vec3 center, double radius)
{
    ShapeParams p = params_of(ShapeKind::sphere);
    p.center = center;
    p.radius = radius;
    return p;
}
ShapeParams ellipsoid(Vec3 center, Vec3 radii)
{
    ShapeParams p = params_of(ShapeKind::ellipsoid);
    p.center = center;
    p.radii = radii;
    return p;
}
ShapeParams round_shape(ShapeKind kind, Vec3 center, double radius, double height, Vec3 axis)
{
    ShapeParams p = params_of(kind);
    p.center = center;
    p.radius = radius;
    p.height = height;
    p.axis = axis;
    return p;
}
ShapeParams torus(Vec3 center, double major, double minor, Vec3 axis)
{
    ShapeParams p = params_of(ShapeKind::torus);
    p.center = center;
    p.major = major;
    p.minor = minor;
    p.axis = axis;
    return p;
}

// Two directions across an axis.
void across(Vec3 axis, Vec3& u, Vec3& v)
{
    axis *= 1 / length(axis);
    u = cross(axis, std::fabs(axis[0]) < 0.9 ? Vec3{1, 0, 0} : Vec3{0, 1, 0});
    u *= 1 / length(u);
    v = cross(axis, u);
}

// A patch of surface, as a function of two numbers from 0 to 1.
using Patch = std::function<Vec3(double, double)>;

std::vector<Vec3> points_of(const std::vector<Patch>& patches, int n)
{
    std::vector<Vec3> points;
    for (const Patch& patch : patches)
        for (int i = 0; i <= n; ++i)
            for (int j = 0; j <= n; ++j) points.push_back(patch(double(i) / n, double(j) / n));
    return points;
}

// The surface swept by a curve (distance from the axis, place along it) around an axis.
Patch swept(Vec3 center, Vec3 axis, std::function<Vec2(double)> curve)
{
    Vec3 u, v;
    across(axis, u, v);
    const Vec3 unit = axis * (1 / length(axis));
    return [=](double s, double t) {
        const Vec2 q = curve(s);
        return center + q[0] * (std::cos(2 * pi * t) * u + std::sin(2 * pi * t) * v) + q[1] * unit;
    };
}

// The brute force is off by half the distance between neighbouring points at most, and only ever too far.
void expect_distances(const ShapeParams& params, const std::vector<Vec3>& surface, double too_far)
{
    const Shape shape = make_shape(params, 3);
    std::mt19937 random(7);
    std::uniform_real_distribution<double> anywhere(-1.5, 1.5);
    int inside = 0;
    for (int i = 0; i < 150; ++i) {
        const Vec3 x{anywhere(random), anywhere(random), anywhere(random)};
        double nearest = 1e9;
        for (const Vec3& y : surface) nearest = std::min(nearest, dot(x - y, x - y));
        nearest = std::sqrt(nearest);
        const double d = distance(shape, x);
        EXPECT_LE(std::fabs(d), nearest + 1e-9);
        EXPECT_GE(std::fabs(d), nearest - too_far * too_far / (nearest + too_far) - 1e-9)
            << x[0] << ' ' << x[1] << ' ' << x[2];
        if (d < 0) ++inside;
    }
    EXPECT_GT(inside, 0);
    for (size_t i = 0; i < surface.size(); i += 97) EXPECT_NEAR(distance(shape, surface[i]), 0, 1e-9);
}

void expect_unit_gradient(const ShapeParams& params, double within)
{
    const Shape shape = make_shape(params, 3);
    std::mt19937 random(11);
    std::uniform_real_distribution<double> anywhere(-1.5, 1.5);
    int tried = 0;
    for (int i = 0; i < 20000; ++i) {
        const Vec3 x{anywhere(random), anywhere(random), anywhere(random)};
        if (std::fabs(distance(shape, x)) > within) continue;
        ++tried;
        const double e = 1e-6;
        Vec3 gradient;
        for (int a = 0; a < 3; ++a)
            gradient[a] = (distance(shape, x + e * Vec3::unit(a)) - distance(shape, x - e * Vec3::unit(a))) / (2 * e);
        // A difference across an edge of the distance, where two sides are equally near, may be shorter, never longer.
        EXPECT_LT(length(gradient), 1 + 1e-6);
    }
    EXPECT_GT(tried, 50);
}

const Vec3 slanted{0.5, 1, -0.3};

}  // namespace

TEST(Shapes, a_box_measures_the_distance_to_its_faces)
{
    const Vec3 lo{-0.7, -0.2, -0.5}, hi{0.4, 0.6, 0.8};
    std::vector<Patch> faces;
    for (int a = 0; a < 3; ++a)
        for (const Vec3 corner : {lo, hi})
            faces.push_back([=](double s, double t) {
                Vec3 x = corner;
                const int b = (a + 1) % 3, c = (a + 2) % 3;
                x[b] = lo[b] + s * (hi[b] - lo[b]);
                x[c] = lo[c] + t * (hi[c] - lo[c]);
                return x;
            });
    expect_distances(box(lo, hi), points_of(faces, 100), 0.01);
}

TEST(Shapes, a_sphere_measures_the_distance_to_its_surface)
{
    const Patch surface = swept({0.1, 0.2, -0.1}, {0, 1, 0}, [](double s) {
        return Vec2{0.6 * std::sin(pi * s), 0.6 * std::cos(pi * s)};
    });
    expect_distances(sphere({0.1, 0.2, -0.1}, 0.6), points_of({surface}, 300), 0.01);
}

TEST(Shapes, an_ellipsoid_measures_the_distance_to_its_surface)
{
    for (const Vec3 radii : {Vec3{0.9, 0.4, 0.6}, Vec3{0.5, 0.5, 0.5}, Vec3{0.8, 0.8, 0.2}}) {
        const Patch surface = [=](double s, double t) {
            return Vec3{radii[0] * std::sin(pi * s) * std::cos(2 * pi * t), radii[1] * std::cos(pi * s),
                        radii[2] * std::sin(pi * s) * std::sin(2 * pi * t)};
        };
        expect_distances(ellipsoid({}, radii), points_of({surface}, 400), 0.01);
        // In the middle, where every direction looks alike, the nearest surface is along the shortest radius.
        const double shortest = std::min({radii[0], radii[1], radii[2]});
        EXPECT_NEAR(distance(make_shape(ellipsoid({}, radii), 3), {}), -shortest, 1e-6);
    }
}

TEST(Shapes, a_cylinder_measures_the_distance_to_its_side_and_ends)
{
    const Vec3 c{0.1, 0, 0.1};
    expect_distances(round_shape(ShapeKind::cylinder, c, 0.5, 1.2, slanted),
                     points_of({swept(c, slanted,
                                      [](double s) {
                                          return Vec2{0.5, -0.6 + 1.2 * s};
                                      }),
                                swept(c, slanted,
                                      [](double s) {
                                          return Vec2{0.5 * s, 0.6};
                                      }),
                                swept(c, slanted,
                                      [](double s) {
                                          return Vec2{0.5 * s, -0.6};
                                      })},
                               300),
                     0.01);
}

TEST(Shapes, a_cone_stands_on_its_center_and_points_along_its_axis)
{
    const Vec3 c{0.1, -0.4, 0.1};
    const ShapeParams p = round_shape(ShapeKind::cone, c, 0.6, 1.1, slanted);
    expect_distances(p,
                     points_of({swept(c, slanted,
                                      [](double s) {
                                          return Vec2{0.6 * (1 - s), 1.1 * s};
                                      }),
                                swept(c, slanted,
                                      [](double s) {
                                          return Vec2{0.6 * s, 0};
                                      })},
                               300),
                     0.01);
    const Vec3 unit = slanted * (1 / length(slanted));
    const Shape cone = make_shape(p, 3);
    EXPECT_NEAR(distance(cone, c + 1.1 * unit), 0, 1e-12);
    EXPECT_NEAR(distance(cone, c + 1.3 * unit), 0.2, 1e-12);
    EXPECT_NEAR(distance(cone, c - 0.2 * unit), 0.2, 1e-12);
}

TEST(Shapes, a_torus_measures_the_distance_to_its_tube)
{
    const Patch surface = swept({0, 0.1, 0}, slanted, [](double s) {
        return Vec2{0.7 + 0.25 * std::cos(2 * pi * s), 0.25 * std::sin(2 * pi * s)};
    });
    expect_distances(torus({0, 0.1, 0}, 0.7, 0.25, slanted), points_of({surface}, 400), 0.01);
}

TEST(Shapes, a_plane_is_full_behind_its_normal)
{
    ShapeParams p = params_of(ShapeKind::plane);
    p.point = Vec3{0, 0.5, 0};
    p.normal = Vec3{0, 2, 0};
    const Shape plane = make_shape(p, 3);
    EXPECT_DOUBLE_EQ(distance(plane, {3, 0, -8}), -0.5);
    EXPECT_DOUBLE_EQ(distance(plane, {3, 2, -8}), 1.5);
}

TEST(Shapes, no_distance_grows_faster_than_the_way)
{
    expect_unit_gradient(box({-0.7, -0.2, -0.5}, {0.4, 0.6, 0.8}), 0.3);
    expect_unit_gradient(ellipsoid({}, {0.9, 0.4, 0.6}), 0.3);
    expect_unit_gradient(ellipsoid({}, {1.2, 0.1, 0.1}), 0.3);
    expect_unit_gradient(round_shape(ShapeKind::cylinder, {}, 0.5, 1, slanted), 0.3);
    expect_unit_gradient(round_shape(ShapeKind::cone, {}, 0.5, 1, slanted), 0.3);
    expect_unit_gradient(torus({}, 0.7, 0.2, slanted), 0.3);
}

TEST(Shapes, in_2d_shapes_are_cut_at_z_zero)
{
    const Shape rectangle = make_shape(round_shape(ShapeKind::cylinder, {0.5, 0.5, 0}, 0.2, 0.6, {0, 1, 0}), 2);
    const Shape same = make_shape(box({0.3, 0.2, 0}, {0.7, 0.8, 0}), 2);
    const Shape disc = make_shape(sphere({0.5, 0.5, 0}, 0.3), 2);
    const Shape ellipse = make_shape(ellipsoid({0.5, 0.5, 0}, {0.4, 0.2, 0}), 2);
    std::mt19937 random(3);
    std::uniform_real_distribution<double> anywhere(0, 1);
    for (int i = 0; i < 500; ++i) {
        const Vec3 x{anywhere(random), anywhere(random), 0};
        EXPECT_NEAR(distance(rectangle, x), distance(same, x), 1e-12);
        EXPECT_NEAR(distance(disc, x), std::hypot(x[0] - 0.5, x[1] - 0.5) - 0.3, 1e-12);
        double nearest = 1e9;
        for (int k = 0; k < 4000; ++k)
            nearest = std::min(nearest, std::hypot(0.5 + 0.4 * std::cos(2 * pi * k / 4000) - x[0],
                                                   0.5 + 0.2 * std::sin(2 * pi * k / 4000) - x[1]));
        EXPECT_NEAR(std::fabs(distance(ellipse, x)), nearest, 4e-4);
    }
}

TEST(Shapes, a_shape_is_scaled_then_turned_about_x_y_z_then_moved)
{
    ShapeParams p = sphere({1, 0, 0}, 0.1);
    p.scale = 2;
    p.rotate = Vec3{90, 0, 90};  // about x the centre stays; about z it goes from +x to +y
    p.translate = Vec3{0, 0, 3};
    const Shape s = make_shape(p, 3);
    EXPECT_NEAR(distance(s, {0, 2, 3}), -0.2, 1e-12);
    EXPECT_NEAR(distance(s, {0, 2.5, 3}), 0.3, 1e-12);

    // Each turn goes against the clock seen from the tip of its axis.
    const auto turned = [](Vec3 angles, Vec3 x) { return make_pose({}, angles).apply(x); };
    const auto near = [](Vec3 a, Vec3 b) { return length(a - b) < 1e-12; };
    EXPECT_TRUE(near(turned({90, 0, 0}, {0, 1, 0}), {0, 0, 1}));
    EXPECT_TRUE(near(turned({0, 90, 0}, {0, 0, 1}), {1, 0, 0}));
    EXPECT_TRUE(near(turned({0, 0, 90}, {1, 0, 0}), {0, 1, 0}));
    EXPECT_TRUE(near(turned({90, 90, 0}, {0, 1, 0}), {1, 0, 0}));
}

TEST(Shapes, a_subtracted_shape_leaves_a_hole_and_owns_its_wall)
{
    std::vector<Shape> shapes;
    shapes.push_back(make_shape(box({0, 0, 0}, {1, 1, 1}), 3));
    ShapeParams hole = sphere({0.5, 0.5, 0.5}, 0.3);
    hole.subtract = true;
    shapes.push_back(make_shape(hole, 3));
    shapes.push_back(make_shape(sphere({0.5, 0.5, 0.5}, 0.1), 3));
    int owner = -1;
    EXPECT_NEAR(distance(shapes, {0.5, 0.5, 0.75}, &owner), 0.05, 1e-12);
    EXPECT_EQ(owner, 1);
    EXPECT_NEAR(distance(shapes, {0.5, 0.5, 0.95}, &owner), -0.05, 1e-12);
    EXPECT_EQ(owner, 0);
    EXPECT_NEAR(distance(shapes, {0.5, 0.5, 0.5}, &owner), -0.1, 1e-12);
    EXPECT_EQ(owner, 2);
    // Order matters: what is united later fills the hole again, what is subtracted later does not.
    std::swap(shapes[1], shapes[2]);
    EXPECT_GT(distance(shapes, {0.5, 0.5, 0.5}), 0);
}

TEST(Shapes, nothing_is_infinitely_far)
{
    int owner = 5;
    EXPECT_EQ(distance(std::vector<Shape>{}, {0, 0, 0}, &owner), std::numeric_limits<double>::infinity());
    EXPECT_EQ(owner, -1);
}

TEST(Shapes, samples_are_linear_between_nodes_and_go_on_beyond)
{
    DistanceGrid grid;
    grid.origin = {-1, -1, -1};
    grid.spacing = 0.5;
    grid.nodes = {5, 5, 5};
    for (int k = 0; k < 5; ++k)
        for (int j = 0; j < 5; ++j)
            for (int i = 0; i < 5; ++i) grid.values.push_back(static_cast<float>(0.5 * i + 0.25 * j - 0.125 * k));
    Shape s;
    s.kind = ShapeKind::mesh;
    s.sampled = grid.view();
    const auto linear = [](Vec3 x) { return x[0] + 1 + 0.5 * (x[1] + 1) - 0.25 * (x[2] + 1); };
    EXPECT_NEAR(distance(s, {0.3, -0.2, 0.9}), linear({0.3, -0.2, 0.9}), 1e-6);
    EXPECT_NEAR(distance(s, {1, 1, 1}), linear({1, 1, 1}), 1e-6);
    EXPECT_NEAR(distance(s, {4, 5, 1}), linear({1, 1, 1}) + 5, 1e-6);
    s.kind = ShapeKind::terrain;
    EXPECT_NEAR(distance(s, {4, 5, 1}), linear({1, 1, 1}) + 4, 1e-6);
    EXPECT_NEAR(distance(s, {0, -5, 0}), linear({0, -1, 0}) - 4, 1e-6);
}

TEST(Shapes, a_shape_outside_the_domain_does_not_reach_it)
{
    const Vec3 size{1, 1, 1};
    const auto reached = [&](const ShapeParams& p) { return reaches(make_shape(p, 3), size, 3, 0.002); };
    EXPECT_TRUE(reached(box({0.3, 0.3, 0.3}, {0.4, 0.4, 0.4})));
    EXPECT_TRUE(reached(box({-5, -5, -5}, {5, 5, 5})));
    EXPECT_TRUE(reached(box({-1, 0.7113, -1}, {2, 0.7213, 2})));
    EXPECT_TRUE(reached(sphere({0.991, 0.991, 0.991}, 0.01)));
    EXPECT_FALSE(reached(box({2, 0, 0}, {3, 1, 1})));
    EXPECT_FALSE(reached(box({1, 0, 0}, {2, 1, 1})));
    EXPECT_FALSE(reached(box({0, -1, 0}, {1, 0, 1})));
    EXPECT_FALSE(reached(sphere({1.1, 1.1, 1.1}, 0.17)));
    EXPECT_FALSE(reached(torus({0.5, 0.5, 0.5}, 2, 0.5, {0, 1, 0})));
}

TEST(Geometry, keyframes_carry_points_of_a_solid_along)
{
    ShapeParams p = box({-0.1, -0.5, -0.1}, {0.1, 0.5, 0.1});
    p.translate.keys = {{0, {0, 0, 0}}, {2, {1, 0, 0}}};
    p.rotate.keys = {{0, {0, 0, 0}}, {2, {10, 20, 180}}};
    const ShapeParams still = sphere({0, 0, 0}, 1);
    const Geometry g = Geometry::build({&p, &still}, 3, {}, "x.toml");
    EXPECT_TRUE(g.moving());
    EXPECT_EQ(g.size(), 2u);
    const Vec3 x{0.05, 0.4, 0.03};
    for (const double t0 : {-1.0, 0.0, 0.7})
        for (const double t1 : {0.3, 1.0, 5.0}) {
            const Vec3 y = g.displacement(0, t0, t1).apply(x);
            EXPECT_NEAR(distance(g.at(t0)[0], x), distance(g.at(t1)[0], y), 1e-12);
            EXPECT_NEAR(length(g.displacement(1, t0, t1).apply(x) - x), 0, 1e-15);
        }
    EXPECT_NEAR(length(g.displacement(0, 0, 2).apply({0, 0, 0}) - Vec3{1, 0, 0}), 0, 1e-12);
}

TEST(Geometry, a_shape_that_lacks_a_key_is_refused_with_its_line)
{
    ShapeParams p = params_of(ShapeKind::sphere);
    p.center = Vec3{};
    p.line = 12;
    try {
        Geometry::build({&p}, 3, {}, "x.toml");
        FAIL() << "accepted";
    } catch (const InputError& e) {
        EXPECT_EQ(std::string(e.what()), "x.toml:12: radius: missing; the shape \"sphere\" needs it");
    }
}

TEST(Scene, the_grid_has_cubic_cells)
{
    DomainParams domain;
    domain.size = {1, 2.04, 0.5};
    domain.cells = 100;
    const Grid<3> g = make_grid<3>(domain);
    EXPECT_EQ(g.cells[0], 49);
    EXPECT_EQ(g.cells[1], 100);
    EXPECT_EQ(g.cells[2], 25);
    EXPECT_DOUBLE_EQ(g.h, 0.0204);
}

namespace {

// A list of shapes of all kinds, every fifth of them subtracted where `cut`.
std::vector<Shape> random_shapes(std::mt19937& random, int count, bool cut)
{
    const auto in = [&](double lo, double hi) { return std::uniform_real_distribution<double>(lo, hi)(random); };
    std::vector<ShapeParams> params;
    for (int n = 0; n < count; ++n) {
        const Vec3 at{in(-0.1, 1.1), in(-0.1, 1.1), in(-0.1, 1.1)};
        const int kind = n % 6;
        params.push_back(kind == 0   ? box({-0.05, -0.03, -0.1}, {0.05, 0.03, 0.1})
                         : kind == 1 ? sphere({}, in(0.02, 0.2))
                         : kind == 2 ? ellipsoid({}, {0.1, in(0.02, 0.1), 0.05})
                         : kind == 3 ? round_shape(ShapeKind::cylinder, {}, 0.05, 0.1, {1, 1, 0})
                         : kind == 4 ? round_shape(ShapeKind::cone, {}, 0.05, 0.1, {0, 1, 0})
                                     : torus({}, 0.1, 0.03, {0, 0, 1}));
        params.back().translate = at;
        params.back().rotate = Vec3{in(0, 360), in(0, 360), in(0, 360)};
        params.back().subtract = cut && n % 5 == 4;
    }
    std::vector<const ShapeParams*> list;
    for (const ShapeParams& p : params) list.push_back(&p);
    return Geometry::build(list, 3, {}, "test").at(0);
}

}  // namespace

// The lists that say which shapes can decide where leave out none that does, and so change no bit.
TEST(Geometry, lists_of_what_is_near_change_nothing)
{
    std::mt19937 random(7);
    const Vec3 size{1, 0.7, 0.4};
    for (const bool cut : {false, true})
        for (const int count : {5, 30, 120}) {
            const std::vector<Shape> shapes = random_shapes(random, count, cut);
            ShapeLists lists = find_lists(shapes, {size, 0.02});
            ASSERT_FALSE(lists.start.empty());
            const double mean = static_cast<double>(lists.which.size()) / static_cast<double>(lists.start.size() - 1);
            std::printf("%d shapes%s: %.1f in a list\n", count, cut ? ", some subtracted" : "", mean);
            EXPECT_LT(mean, count == 120 ? 24 : count);
            const KernelShapes whole(shapes), listed(shapes, std::move(lists));
            const ShapesView a = whole.view(), b = listed.view();
            std::uniform_real_distribution<double> in(-0.06, 1.06);
            for (int n = 0; n < 20000; ++n) {
                const Vec3 x{size[0] * in(random), size[1] * in(random), size[2] * in(random)};
                int owner_a = 0, owner_b = 0;
                ASSERT_EQ(a.distance(x, &owner_a), b.distance(x, &owner_b));
                ASSERT_EQ(owner_a, owner_b);
            }
        }
    EXPECT_TRUE(find_lists(random_shapes(random, 3, false), {size, 0.02}).start.empty());
}

// Cans of three cells have no thin walls, however close they lie; a plate of two cells may be one, and what is cut may leave one.
TEST(Geometry, walls_may_be_thin_where_a_shape_is)
{
    const auto thin = [](std::vector<ShapeParams> params, double h, int dimension) {
        std::vector<const ShapeParams*> list;
        for (const ShapeParams& p : params) list.push_back(&p);
        return may_be_thin(Geometry::build(list, dimension, {}, "test").at(0), h, dimension);
    };
    ShapeParams cut = sphere({}, 1);
    cut.subtract = true;
    const ShapeParams can = round_shape(ShapeKind::cylinder, {}, 0.15, 0.4, {0, 1, 0});
    EXPECT_FALSE(thin({can, can}, 0.1, 3));
    EXPECT_TRUE(thin({can}, 0.2, 3));
    EXPECT_TRUE(thin({can, cut}, 0.1, 3));
    EXPECT_FALSE(thin({box({0, 0, 0}, {1, 1, 0.2})}, 0.1, 2));
    EXPECT_TRUE(thin({box({0, 0, 0}, {1, 1, 0.2})}, 0.1, 3));
    EXPECT_TRUE(thin({round_shape(ShapeKind::cone, {}, 1, 2, {0, 1, 0})}, 0.1, 3));
}
