// VTK and numpy files hold what the water has, and solids become meshes.

#include <cstring>

#include "output_water.h"
#include "run_helpers.h"
#include "tarn/field/sample.h"
#include "tarn/output/files.h"
#include "tarn/output/numpy.h"
#include "tarn/output/vtk.h"
#include "temporary_folder.h"

namespace tarn::testing {
namespace {

// The text of an attribute of the first element that has another attribute with a given value.
std::string attribute(const std::string& file, const std::string& in, const std::string& name)
{
    const size_t element = file.find(in);
    EXPECT_NE(element, std::string::npos) << in;
    const size_t end = file.find('>', element);
    const size_t at = file.find(" " + name + "=\"", file.rfind('<', element));
    EXPECT_LT(at, end) << name;
    const size_t from = at + name.size() + 3;
    return file.substr(from, file.find('"', from) - from);
}

// The values of an array in the appended data.
template <class T>
std::vector<T> array(const std::string& file, const std::string& name)
{
    const std::string head = "Name=\"" + name + "\"";
    const size_t data = file.find("<AppendedData encoding=\"raw\">");
    const size_t at = file.find('_', data) + 1 + std::stoul(attribute(file, head, "offset"));
    uint64_t size = 0;
    std::memcpy(&size, file.data() + at, sizeof size);
    EXPECT_LE(at + sizeof size + size, file.size());
    std::vector<T> values(size / sizeof(T));
    std::memcpy(values.data(), file.data() + at + sizeof size, size);
    return values;
}

// phi = |x - c| - r and u = (y, z, x), or (y, x) in 2D, which the cells' centres give back exactly.
template <int D>
Water<D> turning_ball(Cell<D> cells, double h)
{
    Water<D> w = water_of<D>(cells, h, [](Vec<D> x) { return length(x - Vec<D>::all(0.5)) - 0.3; });
    const int depth = D == 3 ? cells[D - 1] : 0;
    for (int a = 0; a < D; ++a)
        for (int k = 0; k <= depth; ++k)
            for (int j = 0; j <= cells[1]; ++j)
                for (int i = 0; i <= cells[0]; ++i) {
                    Cell<D> c;
                    c[0] = i, c[1] = j;
                    if constexpr (D == 3) c[2] = k;
                    w.velocity[a](c) = static_cast<float>(w.grid.face(c, a)[(a + 1) % D]);
                }
    w.time = 0.75;
    return w;
}

TEST(vtk, image_data_has_phi_and_velocity_at_the_centres)
{
    const TemporaryFolder folder;
    const Water<3> w = turning_ball<3>({10, 8, 6}, 0.125);
    write_vti(folder / "a.vti", w);
    const std::string file = read_file(folder / "a.vti");
    EXPECT_EQ(attribute(file, "WholeExtent", "WholeExtent"), "0 9 0 7 0 5");
    EXPECT_EQ(attribute(file, "WholeExtent", "Origin"), "0.0625 0.0625 0.0625");
    EXPECT_EQ(attribute(file, "WholeExtent", "Spacing"), "0.125 0.125 0.125");
    EXPECT_NE(file.find("Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">0.75<"), std::string::npos);
    const auto phi = array<float>(file, "phi");
    const auto velocity = array<Vec3f>(file, "velocity");
    ASSERT_EQ(phi.size(), 480u);
    ASSERT_EQ(velocity.size(), 480u);
    for (int k = 0; k < 6; ++k)
        for (int j = 0; j < 8; ++j)
            for (int i = 0; i < 10; ++i) {
                const size_t n = static_cast<size_t>((k * 8 + j) * 10 + i);
                EXPECT_EQ(phi[n], w.phi({i, j, k}));
                const Vec3 x = w.grid.centre({i, j, k});
                for (int a = 0; a < 3; ++a) EXPECT_NEAR(velocity[n][a], x[(a + 1) % 3], 1e-6);
            }
    EXPECT_EQ(file.find("Name=\"solid\""), std::string::npos);
}

TEST(vtk, a_flat_image_is_one_layer_and_tells_of_solids)
{
    const TemporaryFolder folder;
    Water<2> w = turning_ball<2>({8, 8}, 0.125);
    add_solid(w, [](Vec2 x) { return x[0] - 0.2; });
    write_vti(folder / "a.vti", w);
    const std::string file = read_file(folder / "a.vti");
    EXPECT_EQ(attribute(file, "WholeExtent", "WholeExtent"), "0 7 0 7 0 0");
    const auto solid = array<float>(file, "solid");
    ASSERT_EQ(solid.size(), 64u);
    for (size_t n = 0; n < 64; ++n) EXPECT_NEAR(solid[n], (n % 8 + 0.5) * 0.125 - 0.2, 1e-6);
    EXPECT_EQ(array<Vec3f>(file, "velocity")[9][2], 0);
    const auto phi = array<float>(file, "phi");
    for (int j = 0; j < 8; ++j)
        for (int i = 0; i < 8; ++i) {
            const size_t n = static_cast<size_t>(8 * j + i);
            EXPECT_EQ(phi[n], std::max(w.phi({i, j}), -solid[n]));
        }
}

TEST(vtk, poly_data_is_the_mesh)
{
    const TemporaryFolder folder;
    const Mesh mesh = surface_mesh(turning_ball<3>({12, 12, 12}, 1.0 / 12));
    write_vtp(folder / "a.vtp", mesh, 1.5);
    const std::string file = read_file(folder / "a.vtp");
    EXPECT_EQ(attribute(file, "NumberOfPolys", "NumberOfPoints"), std::to_string(mesh.points.size()));
    EXPECT_EQ(attribute(file, "NumberOfPolys", "NumberOfPolys"), std::to_string(mesh.triangles.size()));
    EXPECT_EQ(array<Vec3f>(file, "Points"), mesh.points);
    EXPECT_EQ(array<Vec3f>(file, "Normals"), mesh.normals);
    EXPECT_EQ(array<Vec3f>(file, "velocity"), mesh.velocities);
    const std::string polys = file.substr(file.find("<Polys>"));
    EXPECT_EQ((array<std::array<int, 3>>(polys, "connectivity")), mesh.triangles);
    const auto ends = array<int>(polys, "offsets");
    ASSERT_EQ(ends.size(), mesh.triangles.size());
    for (size_t i = 0; i < ends.size(); ++i) EXPECT_EQ(ends[i], 3 * static_cast<int>(i + 1));

    const Mesh outline = surface_mesh(turning_ball<2>({12, 12}, 1.0 / 12));
    write_vtp(folder / "b.vtp", outline, 0);
    const std::string flat = read_file(folder / "b.vtp");
    EXPECT_EQ((array<std::array<int, 2>>(flat.substr(flat.find("<Lines>")), "connectivity")), outline.lines);
}

TEST(vtk, drops_are_points)
{
    const TemporaryFolder folder;
    write_vtp(folder / "a.vtp", std::vector<Drop>{{{1, 2, 3}, {4, 5, 6}, 0.5f, 7}, {{8, 9, 1}, {2, 3, 4}, 0.25f, 5}},
              0);
    const std::string file = read_file(folder / "a.vtp");
    EXPECT_EQ(attribute(file, "NumberOfVerts", "NumberOfVerts"), "2");
    EXPECT_EQ(array<Vec3f>(file, "Points"), (std::vector<Vec3f>{{1, 2, 3}, {8, 9, 1}}));
    EXPECT_EQ(array<Vec3f>(file, "velocity"), (std::vector<Vec3f>{{4, 5, 6}, {2, 3, 4}}));
    EXPECT_EQ(array<float>(file, "radius"), (std::vector<float>{0.5f, 0.25f}));
    EXPECT_EQ(array<float>(file, "age"), (std::vector<float>{7, 5}));
    EXPECT_EQ(array<int>(file.substr(file.find("<Verts>")), "connectivity"), (std::vector<int>{0, 1}));
}

// The system's Python, as for `tarn validate`.
class Numpy : public ProgramTest {
protected:
    void SetUp() override
    {
        ProgramTest::SetUp();
        if (python("import numpy").code != 0) GTEST_SKIP() << "no numpy: install python3-numpy";
    }
    Outcome python(const std::string& text) const
    {
        return tarn(Launch{.words = {"-c", text}, .program = "/usr/bin/python3"});
    }
};

TEST_F(Numpy, reads_what_the_water_has)
{
    Water<3> w = turning_ball<3>({10, 8, 6}, 0.125);
    add_solid(w, [](Vec3 x) { return x[2] - 0.3; });
    write_npz((folder / "a.npz").string(), w);
    const Outcome r = python(R"(
import numpy as np
f = np.load("a.npz")
assert sorted(f.files) == ["h", "phi", "pressure", "solid", "time", "velocity"], f.files
assert f["phi"].shape == (10, 8, 6) and f["phi"].dtype == np.float32
assert f["velocity"].shape == (10, 8, 6, 3)
h = float(f["h"])
assert h == 0.125 and float(f["time"]) == 0.75
x, y, z = np.meshgrid(*[(np.arange(n) + 0.5) * h for n in (10, 8, 6)], indexing="ij")
phi = np.clip(np.sqrt((x - 0.5) ** 2 + (y - 0.5) ** 2 + (z - 0.5) ** 2) - 0.3, -4 * h, 4 * h)
phi = np.maximum(phi, 0.3 - z)  # no water in the solid
assert not ((f["phi"] < 0) & (f["solid"] < 0)).any() and (f["phi"] < 0).any()
assert abs(f["phi"] - phi).max() < 1e-6
for a, expected in enumerate([y, z, x]):
    assert abs(f["velocity"][..., a] - expected).max() < 1e-6
assert abs(f["solid"] - (z - 0.3)).max() < 1e-6
)");
    EXPECT_EQ(r.code, 0) << r.err;
}

TEST_F(Numpy, a_flat_run_has_two_indices)
{
    write("flat.toml",
          "tarn = 1\n[domain]\nsize = [1, 1]\ncells = 16\n[[water]]\nshape = \"box\"\nmin = [0, 0]\n"
          "max = [0.4, 0.6]\n[time]\nframes = 1\n[output]\nsurface = \"vtp\"\nvolume = true\n"
          "volume_format = \"npz\"\npreview = false\n");
    const Outcome run = tarn({"run", "flat.toml", "--out", "o"});
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_TRUE(exists("o/surface/frame_0001.vtp"));
    EXPECT_TRUE(exists("o/particles/frame_0001.vtp"));
    const Outcome r = python(R"(
import numpy as np
f = np.load("o/volume/frame_0001.npz")
assert f["phi"].shape == (16, 16) and f["velocity"].shape == (16, 16, 2)
assert abs(float(f["time"]) - 1 / 30) < 1e-12
wet = (f["phi"] < 0).mean()
assert 0.2 < wet < 0.28, wet  # 0.4 x 0.6 of the box
)");
    EXPECT_EQ(r.code, 0) << r.err;
}

// ---- solids ----

double volume(const Mesh& mesh)
{
    double sum = 0;
    for (const auto& t : mesh.triangles)
        sum +=
            dot(mesh.points[t[0]].as<double>(), cross(mesh.points[t[1]].as<double>(), mesh.points[t[2]].as<double>()));
    return sum / 6;
}

Geometry solids_of(const std::vector<SolidParams>& all)
{
    std::vector<const ShapeParams*> shapes;
    for (const SolidParams& s : all) shapes.push_back(&s);
    return Geometry::build(shapes, 3, {}, "test");
}

TEST(solids, are_meshes_that_end_at_the_walls)
{
    // A block larger than the domain, a shaft sunk into it: what remains is the domain less the shaft.
    SolidParams block, shaft;
    block.min = Vec3::all(-1), block.max = Vec3::all(3);
    shaft.shape = ShapeKind::cylinder;
    shaft.center = Vec3{0.5, 1.2, 0.5}, shaft.radius = 0.3, shaft.height = 2, shaft.subtract = true;
    const Grid<3> grid({32, 40, 32}, 1.0 / 32);
    const Mesh mesh = solid_mesh(solids_of({block, shaft}), grid, 0);
    // Its floor is at 0.2, the domain's top at 1.25. Rims are bevelled by a quarter of a cell at most.
    const double exact = 1.25 - 3.14159265 * 0.09 * 1.05;
    EXPECT_NEAR(volume(mesh), exact, 0.01 * exact);
    for (const Vec3f& p : mesh.points)
        for (int a = 0; a < 3; ++a) {
            EXPECT_GE(p[a], -1e-6f);
            EXPECT_LE(p[a], (a == 1 ? 1.25f : 1.0f) + 1e-6f);
        }
    for (const Vec3f& u : mesh.velocities) EXPECT_LT(length(u), 1e-9f);
}

TEST(solids, know_which_entry_they_are)
{
    // A box, another beside it, and a ball that is cut out of both.
    SolidParams left, right, ball;
    left.shape = right.shape = ShapeKind::box;
    left.min = Vec3{0.2, 0.2, 0.2}, left.max = Vec3{0.5, 0.8, 0.8};
    right.min = Vec3{0.5, 0.2, 0.2}, right.max = Vec3{0.8, 0.8, 0.8};
    ball.shape = ShapeKind::sphere;
    ball.center = Vec3{0.5, 0.8, 0.5}, ball.radius = 0.2;
    ball.subtract = true;
    const Mesh mesh = solid_mesh(solids_of({left, right, ball}), Grid<3>({24, 24, 24}, 1.0 / 24), 0);
    ASSERT_EQ(mesh.owners.size(), mesh.points.size());
    for (size_t i = 0; i < mesh.points.size(); ++i)
        if (std::fabs(mesh.points[i][0] - 0.5f) > 0.05f) EXPECT_EQ(mesh.owners[i], mesh.points[i][0] < 0.5f ? 0 : 1);
    const TemporaryFolder folder;
    write_ply(folder / "a.ply", mesh);
    EXPECT_NE(read_file(folder / "a.ply").find("property float vz\nproperty int solid\nelement face"), std::string::npos);
}

TEST(solids, carry_the_velocity_they_move_by)
{
    SolidParams ball;
    ball.shape = ShapeKind::sphere;
    ball.center = Vec3{0.2, 0, 0}, ball.radius = 0.1;
    // Turns about z at 90 degrees a second, about a point that moves right at 1 m/s.
    ball.rotate.keys = {{0, {0, 0, 0}}, {1, {0, 0, 90}}};
    ball.translate.keys = {{0, {0.2, 0.5, 0.5}}, {1, {1.2, 0.5, 0.5}}};
    const Grid<3> grid({24, 24, 24}, 1.0 / 24);
    const double t = 0.25, rate = 3.14159265 / 2;
    const Mesh mesh = solid_mesh(solids_of({ball}), grid, t);
    ASSERT_GT(mesh.points.size(), 100u);
    // A vertex is the mean of crossings on the edges of one lattice cell. They lie on the ball, within 0.87 s of each
    // other's mean, which is therefore inside it by at most 0.4 s²/r; the volume is short by three times that over r.
    const double s = 0.5 / 24, r = 0.1, exact = 4.0 / 3 * 3.14159265 * r * r * r;
    EXPECT_LT(volume(mesh), exact);
    EXPECT_GT(volume(mesh), (1 - 1.2 * s * s / (r * r)) * exact);
    for (size_t i = 0; i < mesh.points.size(); ++i) {
        const Vec3 arm = mesh.points[i].as<double>() - Vec3{0.2 + t, 0.5, 0.5};
        EXPECT_NEAR(mesh.velocities[i][0], 1 - rate * arm[1], 1e-4);
        EXPECT_NEAR(mesh.velocities[i][1], rate * arm[0], 1e-4);
    }
}

}  // namespace
}  // namespace tarn::testing
