// The mesh is closed, reaches the walls, and holds as much water as phi says.

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <numbers>

#include "output_water.h"
#include "tarn/output/files.h"
#include "tarn/output/surface.h"
#include "temporary_folder.h"

namespace tarn {
namespace {

constexpr double pi = std::numbers::pi;

// Every edge belongs to two triangles that run along it in opposite directions. Where two bodies of water touch along
// an edge it may be four, two each way; what must not be is an edge without its opposite.
void expect_closed(const Mesh& mesh)
{
    std::map<std::pair<int, int>, int> edges;
    for (const auto& t : mesh.triangles)
        for (int e = 0; e < 3; ++e) {
            ASSERT_NE(t[e], t[(e + 1) % 3]);
            ++edges[{t[e], t[(e + 1) % 3]}];
        }
    int open = 0;
    for (const auto& [edge, n] : edges) {
        const auto opposite = edges.find({edge.second, edge.first});
        open += opposite == edges.end() || opposite->second != n;
    }
    EXPECT_EQ(open, 0);
}

void expect_manifold(const Mesh& mesh)
{
    expect_closed(mesh);
    std::map<std::pair<int, int>, int> edges;
    for (const auto& t : mesh.triangles)
        for (int e = 0; e < 3; ++e) ++edges[std::minmax(t[e], t[(e + 1) % 3])];
    for (const auto& [edge, n] : edges) ASSERT_EQ(n, 2) << edge.first << ' ' << edge.second;
}

// By the divergence theorem: the sum of signed tetrahedra to the origin.
double volume(const Mesh& mesh)
{
    double sum = 0;
    for (const auto& t : mesh.triangles)
        sum +=
            dot(mesh.points[t[0]].as<double>(), cross(mesh.points[t[1]].as<double>(), mesh.points[t[2]].as<double>())) /
            6;
    return sum;
}

double area(const Mesh& mesh)
{
    double sum = 0;
    for (const auto& l : mesh.lines) {
        const Vec3f a = mesh.points[l[0]], b = mesh.points[l[1]];
        sum += 0.5 * (static_cast<double>(a[0]) * b[1] - static_cast<double>(a[1]) * b[0]);
    }
    return sum;
}

void expect_closed_outline(const Mesh& mesh)
{
    std::vector<int> in(mesh.points.size()), out(mesh.points.size());
    for (const auto& l : mesh.lines) ++out[l[0]], ++in[l[1]];
    for (size_t i = 0; i < mesh.points.size(); ++i) {
        EXPECT_EQ(in[i], 1);
        EXPECT_EQ(out[i], 1);
    }
}

std::pair<Vec3f, Vec3f> bounds(const Mesh& mesh)
{
    Vec3f lo = Vec3f::all(1e30f), hi = Vec3f::all(-1e30f);
    for (const Vec3f& p : mesh.points)
        for (int a = 0; a < 3; ++a) lo[a] = std::min(lo[a], p[a]), hi[a] = std::max(hi[a], p[a]);
    return {lo, hi};
}

TEST(surface, a_sphere_keeps_its_volume_and_is_closed)
{
    const Water<3> w = water_of<3>({32, 32, 32}, 1.0 / 32, [](Vec3 x) {
        return length(x - Vec3{0.5, 0.52, 0.47}) - 0.3;
    });
    const Mesh mesh = surface_mesh(w);
    expect_manifold(mesh);
    // Vertices are means of points on the sphere, hence inside it by up to h²/(2r): 1.6 % of the volume at r = 9.6 h.
    EXPECT_NEAR(volume(mesh), 4 * pi / 3 * 0.027, 0.016 * 4 * pi / 3 * 0.027);
    for (size_t i = 0; i < mesh.points.size(); ++i) {
        const Vec3 out = mesh.points[i].as<double>() - Vec3{0.5, 0.52, 0.47};
        EXPECT_GT(dot(out, mesh.normals[i].as<double>()), 0.95 * length(out)) << "normals point out of the water";
    }
}

TEST(surface, the_mesh_of_a_tank_reaches_its_walls)
{
    const double h = 1.0 / 16;
    for (const double height : {0.1, 0.25, 0.26, 0.28125, 0.3, 0.5, 0.71}) {
        const Water<3> w = water_of<3>({16, 16, 8}, h, [&](Vec3 x) { return x[1] - height; });
        const Mesh mesh = surface_mesh(w);
        expect_manifold(mesh);
        // Flat faces at right angles are exact but for float and for samples kept a thousandth of a cell off the
        // surface.
        EXPECT_NEAR(volume(mesh), height * 0.5, 2e-3 * h * 0.5 + 1e-6) << height;
        const auto [lo, hi] = bounds(mesh);
        EXPECT_EQ(lo, Vec3f{});
        EXPECT_EQ(hi[0], 1);
        EXPECT_EQ(hi[2], 0.5f);
        EXPECT_NEAR(hi[1], height, 2e-3 * h);
        // The rim is sharp: where the surface meets a wall it does so at its own height.
        int corners = 0;
        for (const Vec3f& p : mesh.points)
            corners += (p[0] == 0 || p[0] == 1) && (p[2] == 0 || p[2] == 0.5f) && std::abs(p[1] - height) < 2e-3 * h;
        EXPECT_GE(corners, 4) << height;
    }
}

TEST(surface, a_film_thinner_than_half_a_cell_is_kept)
{
    const double h = 1.0 / 16;
    const Water<3> w = water_of<3>({16, 16, 16}, h, [&](Vec3 x) { return x[1] - 0.3 * h; });
    const Mesh mesh = surface_mesh(w);
    expect_manifold(mesh);
    EXPECT_NEAR(volume(mesh), 0.3 * h, 0.01 * h);
}

TEST(surface, a_dam_in_the_corner_fills_its_box)
{
    // The second phi is a distance to all six faces of the box, those on the walls too, as a shape gives it.
    const double h = 1.0 / 32;
    const auto behind_walls = [](Vec3 x) { return box_distance<3>(x, {-1, -1, -1}, {0.4, 0.6, 1}); };
    const auto at_walls = [](Vec3 x) { return box_distance<3>(x, {0, 0, 0}, {0.4, 0.6, 0.5}); };
    for (const Water<3>& w : {water_of<3>({32, 32, 16}, h, behind_walls), water_of<3>({32, 32, 16}, h, at_walls)}) {
        const Mesh mesh = surface_mesh(w);
        expect_manifold(mesh);
        // Only the vertical edge and the upper edge in the free are bevelled, by less than a cell.
        EXPECT_NEAR(volume(mesh), 0.12, 0.01 * 0.12);
        const auto [lo, hi] = bounds(mesh);
        EXPECT_EQ(lo, Vec3f{});
        EXPECT_EQ(hi[2], 0.5f);
        EXPECT_NEAR(hi[0], 0.4, 0.05 * h);
        EXPECT_NEAR(hi[1], 0.6, 0.05 * h);
    }
}

TEST(surface, water_closes_against_a_solid)
{
    // A ball of water, its left part taken by a solid block whose face lies at x = 0.4.
    Water<3> w = water_of<3>({40, 40, 40}, 1.0 / 40, [](Vec3 x) { return length(x - Vec3{0.5, 0.5, 0.5}) - 0.3; });
    add_solid(w, [](Vec3 x) { return x[0] - 0.4; });
    const Mesh mesh = surface_mesh(w);
    expect_manifold(mesh);
    // A ball of radius r less a cap of height c: pi c² (3r - c) / 3, with c = 0.2; the sharp rim is bevelled.
    const double exact = 4 * pi / 3 * 0.027 - pi * 0.04 * (0.9 - 0.2) / 3;
    EXPECT_NEAR(volume(mesh), exact, 0.015 * exact);
    EXPECT_GT(bounds(mesh).first[0], 0.4 - 0.05 / 40);
}

TEST(surface, scattered_spray_is_closed)
{
    // Overlapping random balls down to a cell in size make every ambiguous case, in the free and at walls.
    unsigned seed = 7;
    const auto random = [&] { return ((seed = seed * 1664525u + 1013904223u) >> 8) / 16777216.0; };
    std::vector<std::pair<Vec3, double>> balls;
    for (int i = 0; i < 400; ++i) {
        const Vec3 centre{random(), random(), random()};
        balls.push_back({centre, (0.5 + 2 * random()) / 24});
    }
    const Water<3> w = water_of<3>({24, 24, 24}, 1.0 / 24, [&](Vec3 x) {
        double d = 1;
        for (const auto& [centre, r] : balls) d = std::min(d, length(x - centre) - r);
        return d;
    });
    const Mesh mesh = surface_mesh(w);
    expect_closed(mesh);
    EXPECT_GT(volume(mesh), 0);
    for (const Vec3f& p : mesh.points)
        for (int a = 0; a < 3; ++a) {
            EXPECT_GE(p[a], 0);
            EXPECT_LE(p[a], 1);
        }
}

TEST(surface, no_water_makes_no_mesh)
{
    const Mesh mesh = surface_mesh(water_of<3>({8, 8, 8}, 0.1, [](Vec3) { return 1.0; }));
    EXPECT_TRUE(mesh.points.empty());
    EXPECT_TRUE(mesh.triangles.empty());
}

TEST(surface, the_surface_carries_the_velocity_of_its_water)
{
    Water<3> w = water_of<3>({16, 16, 16}, 1.0 / 16, [](Vec3 x) { return length(x - Vec3{0.5, 0.5, 0.5}) - 0.3; });
    // u = (y, z, x): linear, so that interpolation gives it back.
    for (int a = 0; a < 3; ++a)
        for (int k = 0; k <= 16; ++k)
            for (int j = 0; j <= 16; ++j)
                for (int i = 0; i <= 16; ++i)
                    w.velocity[a]({i, j, k}) = static_cast<float>(w.grid.face({i, j, k}, a)[(a + 1) % 3]);
    const Mesh mesh = surface_mesh(w);
    for (size_t i = 0; i < mesh.points.size(); ++i)
        for (int a = 0; a < 3; ++a) EXPECT_NEAR(mesh.velocities[i][a], mesh.points[i][(a + 1) % 3], 1e-5);
}

TEST(surface, the_outline_of_a_disc_keeps_its_area)
{
    const Water<2> w = water_of<2>({32, 32}, 1.0 / 32, [](Vec2 x) { return length(x - Vec2{0.5, 0.5}) - 0.3; });
    const Mesh mesh = surface_mesh(w);
    expect_closed_outline(mesh);
    EXPECT_NEAR(area(mesh), pi * 0.09, 0.01 * pi * 0.09);
}

TEST(surface, the_outline_of_a_tank_reaches_its_walls)
{
    const double h = 1.0 / 16;
    for (const double height : {0.01, 0.25, 0.28125, 0.3, 0.5}) {
        const Mesh mesh = surface_mesh(water_of<2>({16, 16}, h, [&](Vec2 x) { return x[1] - height; }));
        expect_closed_outline(mesh);
        EXPECT_NEAR(area(mesh), height, 2e-3 * h) << height;
        const auto [lo, hi] = bounds(mesh);
        EXPECT_EQ(lo, Vec3f{});
        EXPECT_EQ(hi[0], 1);
    }
}

TEST(surface, ply_and_obj_hold_the_mesh)
{
    const TemporaryFolder folder;
    const Mesh mesh = surface_mesh(water_of<3>({8, 8, 8}, 0.125, [](Vec3 x) {
        return length(x - Vec3{0.5, 0.5, 0.5}) - 0.3;
    }));
    write_ply(folder / "m.ply", mesh);
    const std::string ply = read_file(folder / "m.ply");
    const size_t body = ply.find("end_header\n") + 11;
    EXPECT_EQ(ply.size() - body, 36 * mesh.points.size() + 13 * mesh.triangles.size());
    EXPECT_EQ(std::memcmp(ply.data() + body, mesh.points.data(), 12), 0);
    EXPECT_NE(ply.find("property float vx"), std::string::npos);

    write_obj(folder / "m.obj", mesh);
    const std::string obj = read_file(folder / "m.obj");
    EXPECT_EQ(static_cast<size_t>(std::count(obj.begin(), obj.end(), '\n')),
              2 + 2 * mesh.points.size() + mesh.triangles.size());
}

}  // namespace
}  // namespace tarn
