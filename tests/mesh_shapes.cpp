// Meshes and terrain: files written here, sampled, and measured against the shapes that they are of.

#include <gtest/gtest.h>
#include <png.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>

#include "tarn/base/error.h"
#include "tarn/run/check.h"
#include "tarn/scene/read.h"
#include "tarn/shapes/load.h"

using namespace tarn;
namespace fs = std::filesystem;

namespace {

// A folder of its own for every test, removed at the end.
class MeshShapes : public testing::Test {
protected:
    fs::path folder;

    void SetUp() override
    {
        folder = fs::temp_directory_path() / ("tarn_" + std::to_string(getpid()) + "_" +
                                              testing::UnitTest::GetInstance()->current_test_info()->name());
        fs::create_directories(folder);
    }
    void TearDown() override { fs::remove_all(folder); }

    std::string path(const std::string& name) const { return (folder / name).string(); }
    std::string write(const std::string& name, const std::string& text) const
    {
        std::ofstream(path(name), std::ios::binary) << text;
        return path(name);
    }
};

const std::string cube_points =
    "v -0.5 -0.5 -0.5\nv 0.5 -0.5 -0.5\nv 0.5 0.5 -0.5\nv -0.5 0.5 -0.5\n"
    "v -0.5 -0.5 0.5\nv 0.5 -0.5 0.5\nv 0.5 0.5 0.5\nv -0.5 0.5 0.5\n";
const std::string cube_faces = "f 1 4 3 2\nf 5/1/1 6/2/1 7/3/1 8/4/1\nf 1 2 6 5\nf 4//1 8//1 7//1 3//1\nf 1 5 8 4\n";
const std::string last_face = "f -7 -6 -2 -3\n";  // 2 3 7 6, counted from the end

std::string message_of(const std::function<void()>& action)
{
    try {
        action();
    } catch (const InputError& e) {
        return e.what();
    }
    return "accepted";
}

// A shape together with the samples that it looks at.
struct Sampled {
    std::shared_ptr<const DistanceGrid> grid;
    Shape shape;

    explicit Sampled(std::shared_ptr<const DistanceGrid> g, ShapeKind kind = ShapeKind::mesh) : grid(std::move(g))
    {
        shape.kind = kind;
        shape.sampled = grid->view();
    }
    double at(Vec3 x) const { return distance(shape, x); }
};

// A sphere as PLY: rings of quads, triangles at the poles.
std::string sphere_ply(double radius, int rings, bool binary)
{
    const double pi = 3.14159265358979323846;
    const int around = 2 * rings;
    std::vector<Vec3> points;
    for (int j = 1; j < rings; ++j)
        for (int i = 0; i < around; ++i)
            points.push_back({radius * std::sin(pi * j / rings) * std::cos(2 * pi * i / around),
                              radius * std::cos(pi * j / rings),
                              radius * std::sin(pi * j / rings) * std::sin(2 * pi * i / around)});
    const int top = static_cast<int>(points.size()), bottom = top + 1;
    points.push_back({0, radius, 0});
    points.push_back({0, -radius, 0});
    std::vector<std::vector<int>> faces;
    for (int i = 0; i < around; ++i) {
        const int next = (i + 1) % around, last = (rings - 2) * around;
        faces.push_back({top, next, i});
        faces.push_back({bottom, last + i, last + next});
        for (int j = 0; j + 2 < rings; ++j)
            faces.push_back({j * around + i, j * around + next, (j + 1) * around + next, (j + 1) * around + i});
    }
    std::ostringstream out;
    out << "ply\nformat " << (binary ? "binary_little_endian" : "ascii") << " 1.0\ncomment made by a test\n"
        << "element vertex " << points.size()
        << "\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\n"
        << "element face " << faces.size() << "\nproperty list uchar int vertex_indices\nend_header\n";
    const auto put = [&](auto value) {
        char bytes[sizeof value];
        std::memcpy(bytes, &value, sizeof value);
        out.write(bytes, sizeof value);
    };
    for (const Vec3& p : points)
        if (binary) {
            for (int a = 0; a < 3; ++a) put(static_cast<float>(p[a]));
            put(static_cast<unsigned char>(7));
        } else {
            out << p[0] << ' ' << p[1] << ' ' << p[2] << " 7\n";
        }
    for (const auto& face : faces)
        if (binary) {
            put(static_cast<unsigned char>(face.size()));
            for (const int i : face) put(i);
        } else {
            out << face.size();
            for (const int i : face) out << ' ' << i;
            out << '\n';
        }
    return out.str();
}

// A grey PNG whose pixels a function of column and row gives, from 0 to 1.
void write_grey(const std::string& path, int width, int height, int bits, const std::function<double(int, int)>& value)
{
    std::FILE* file = std::fopen(path.c_str(), "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_set_IHDR(png, info, width, height, bits, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    std::vector<png_byte> row(static_cast<size_t>(width) * bits / 8);
    for (int j = 0; j < height; ++j) {
        for (int i = 0; i < width; ++i) {
            const int v = static_cast<int>(std::lround(value(i, j) * (bits == 16 ? 65535 : 255)));
            if (bits == 16) {
                row[2 * i] = static_cast<png_byte>(v >> 8);
                row[2 * i + 1] = static_cast<png_byte>(v & 255);
            } else {
                row[i] = static_cast<png_byte>(v);
            }
        }
        png_write_row(png, row.data());
    }
    png_write_end(png, nullptr);
    png_destroy_write_struct(&png, &info);
    std::fclose(file);
}

}  // namespace

TEST_F(MeshShapes, a_cube_mesh_is_as_far_as_the_cube)
{
    const double h = 0.05;
    const Sampled mesh(sample_mesh(write("cube.obj", cube_points + cube_faces + last_face), h));
    std::mt19937 random(5);
    std::uniform_real_distribution<double> anywhere(-1, 1);
    for (int i = 0; i < 2000; ++i) {
        const Vec3 x{anywhere(random), anywhere(random), anywhere(random)};
        const double d = box_distance(x, Vec3::all(-0.5), Vec3::all(0.5));
        if (std::fabs(d) > 0.4) continue;
        if (std::fabs(d) > h) {
            EXPECT_GT(mesh.at(x) * d, 0);
        }
        // Where one face is clearly the nearest the distance is linear, and so are the samples; towards edges and
        // the planes between two faces they round it off.
        Vec3 from_middle{std::fabs(x[0]), std::fabs(x[1]), std::fabs(x[2])};
        std::sort(from_middle.v, from_middle.v + 3);
        if (from_middle[1] < 0.4 && from_middle[2] - from_middle[1] > 2 * h) {
            EXPECT_NEAR(mesh.at(x), d, 0.1 * h);
        }
    }
}

TEST_F(MeshShapes, a_sphere_mesh_is_as_far_as_the_sphere)
{
    const double h = 0.04;
    for (const bool binary : {false, true}) {
        // Chords of 128 rings cut less than 0.0002 off the radius.
        const Sampled mesh(sample_mesh(write("sphere.ply", sphere_ply(0.7, 128, binary)), h));
        std::mt19937 random(5);
        std::uniform_real_distribution<double> anywhere(-1.2, 1.2);
        for (int i = 0; i < 5000; ++i) {
            const Vec3 x{anywhere(random), anywhere(random), anywhere(random)};
            const double d = length(x) - 0.7;
            // Far from the surface the nearest triangle is not always the one found; a scene takes two samples a cell,
            // so that the bound is a tenth of a cell.
            if (std::fabs(d) < 0.35) {
                EXPECT_NEAR(mesh.at(x), d, (std::fabs(d) < 2 * h ? 0.1 : 0.2) * h) << binary;
            }
            if (std::fabs(d) >= 0.35) {
                EXPECT_GT(mesh.at(x) * d, 0);
            }
        }
    }
}

TEST_F(MeshShapes, a_mesh_of_separate_faces_is_closed_all_the_same)
{
    std::string text;
    int n = 0;
    const int quads[6][4] = {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4}, {3, 7, 6, 2}, {0, 4, 7, 3}, {1, 2, 6, 5}};
    for (const auto& quad : quads) {
        for (const int c : quad)
            text += "v " + std::to_string((c == 1 || c == 2 || c == 5 || c == 6) ? 1 : 0) + " " +
                    std::to_string((c & 2) ? 1 : 0) + " " + std::to_string(c / 4) + "\n";
        text += "f";
        for (int i = 0; i < 4; ++i) text += " " + std::to_string(++n);
        text += "\n";
    }
    const Sampled mesh(sample_mesh(write("faces.obj", text), 0.1));
    EXPECT_LT(mesh.at({0.5, 0.5, 0.5}), -0.3);
}

TEST_F(MeshShapes, a_fine_wish_is_held_to_what_memory_allows)
{
    const auto grid = sample_mesh(write("cube.obj", cube_points + cube_faces + last_face), 1e-6);
    EXPECT_LE(grid->values.size(), size_t{1} << 25);
    EXPECT_LT(grid->spacing, 0.01);
}

TEST_F(MeshShapes, a_file_that_is_no_closed_mesh_is_refused)
{
    const std::pair<std::string, std::string> table[] = {
        {write("open.obj", cube_points + cube_faces), "is not closed: 4 of its edges"},
        {write("empty.obj", ""), "empty"},
        {write("points.obj", cube_points), "cannot be read as a mesh: No output meshes"},
        {write("short.obj", "v 1 2\n"), "cannot be read as a mesh: OBJ-file is too small"},
        {write("index.obj", cube_points + "f 1 2 99\n"), "cannot be read as a mesh: OBJ: vertex index out of range"},
        {write("nan.obj", cube_points + "v nan 0 0\n" + cube_faces + "f 2 3 7 9\n"), "not a number"},
        {write("cube.stl", "solid"), "cannot be read as a mesh: File is too small"},
        {write("cube.glb", "glTF"), "cannot be read as a mesh"},
        {write("cube.gltf", "{}"), "cannot be read as a mesh"},
        {write("cube.fbx", "Kaydara FBX Binary  "), "cannot be read as a mesh"},
        {write("cube.dae", "<COLLADA>"), "cannot be read as a mesh"},
        {write("cube.blend", "BLENDER"), "export it as .obj, .ply, .stl, .glb, .gltf, .fbx or .dae"},
        {path("missing.obj"), "cannot be opened; paths are relative to the scene file"},
        {write("text.ply", "hello\n"), "is not a PLY file"},
        {write("torn.ply", sphere_ply(1, 8, true).substr(0, 500)), "ends too early"},
        {write("big.ply", "ply\nformat binary_big_endian 1.0\nend_header\n"), "export it as ascii or binary_little"},
        {write("header.ply", "ply\nformat ascii 1.0\n"), "header does not end"},
        {write("huge.ply", "ply\nformat ascii 1.0\nelement vertex 9000000000\nproperty float x\nend_header\n1\n"),
         "ends too early"},
        {write("void.ply", "ply\nformat ascii 1.0\nelement vertex 9000000000000\nend_header\n"), "holds no triangles"},
    };
    for (const auto& [file, part] : table) {
        const std::string message = message_of([&] { sample_mesh(file, 0.1); });
        EXPECT_NE(message.find(part), std::string::npos) << message << "\n  expected " << part;
        EXPECT_EQ(message.find('"' + file + '"'), 0u) << message;
    }
}

TEST_F(MeshShapes, every_format_is_read)
{
    // Boxes from (0.3, 0.2, 0.1) to (0.5, 0.5, 0.5), as tests/meshes/make.py tells.
    const std::string from = std::string(TARN_SOURCE_DIR) + "/tests/meshes/";
    Shape box;
    box.a = {0.3, 0.2, 0.1};
    box.b = {0.5, 0.5, 0.5};
    for (const char* file : {"box.obj", "box.ply", "ascii.stl", "millimetres.stl", "box.glb", "box.gltf", "ascii.fbx",
                             "binary.fbx"}) {
        const double scale = std::string(file) == "millimetres.stl" ? 0.001 : 1;
        Sampled mesh(sample_mesh(from + file, 0.02 / scale));
        mesh.shape.scale = scale;
        for (const Vec3 x : {Vec3{0.4, 0.35, 0.3}, Vec3{0.33, 0.4, 0.2}, Vec3{0.55, 0.3, 0.3}, Vec3{0.4, 0.15, 0.45}})
            EXPECT_NEAR(mesh.at(x), distance(box, x), 2e-3) << file << ' ' << x[0] << ' ' << x[1] << ' ' << x[2];
    }
    // Two parts with a gap between them, in centimetres and with z up.
    const Sampled parts(sample_mesh(from + "box.dae", 0.005));
    EXPECT_NEAR(parts.at({0.4, 0.3, 0.3}), -0.05, 1e-3);
    EXPECT_NEAR(parts.at({0.4, 0.36, 0.3}), 0.01, 1e-3);
    EXPECT_NEAR(parts.at({0.4, 0.41, 0.3}), -0.04, 1e-3);
    EXPECT_NEAR(parts.at({0.52, 0.43, 0.3}), 0.02, 1e-3);
    const std::string open = message_of([&] { sample_mesh(from + "open.dae", 0.02); });
    EXPECT_NE(open.find("is not closed: 4 of its edges"), std::string::npos) << open;
}

TEST_F(MeshShapes, a_mesh_in_millimetres_is_told_its_scale)
{
    const std::string mesh = std::string(TARN_SOURCE_DIR) + "/tests/meshes/millimetres.stl";
    const auto scene = [&](const std::string& more) {
        return write("x.toml", "tarn = 1\n[domain]\nsize = [1, 1, 1]\ncells = 16\n[[water]]\nshape = \"mesh\"\nfile = \"" + mesh +
                                   "\"\n" + more);
    };
    const std::string told = "is about 400 m long in a domain of 1 m; if it is in millimetres, scale = 0.001 fits";
    const std::string message = message_of([&] { read_scene(scene("")); });
    EXPECT_EQ(message, scene("") + ":5: shape: " + told);
    EXPECT_EQ(message_of([&] { read_scene(scene("scale = 0.001\n")); }), "accepted");
    // One that is where it should be but for its place is told to move.
    EXPECT_NE(message_of([&] { read_scene(scene("scale = 0.001\ntranslate = [5, 0, 0]\n")); }).find("move it"),
              std::string::npos);
    // A solid is no reason not to run, but one to say so, even all around the domain.
    const std::string solid =
            write("y.toml", "tarn = 1\n[domain]\nsize = [1, 1, 1]\ncells = 16\n[[water]]\nshape = \"box\"\nmin = [0, 0, 0]\n"
                            "max = [1, 0.5, 1]\n[[solid]]\nshape = \"mesh\"\nfile = \"" + mesh + "\"\ntranslate = [-400, -300, -200]\n");
    const CheckReport report = check(read_scene(solid));
    const auto says = [&](const Finding& f) { return f.text.find(told) != std::string::npos; };
    EXPECT_TRUE(std::any_of(report.findings.begin(), report.findings.end(), says));
}

TEST_F(MeshShapes, a_scene_with_an_open_mesh_is_refused_at_its_line)
{
    write("open.obj", cube_points + cube_faces);
    const std::string scene =
        write("x.toml",
              "tarn = 1\n[domain]\nsize = [1, 1, 1]\n[[water]]\nshape = \"box\"\nmin = [0, 0, 0]\n"
              "max = [1, 0.5, 1]\n[[solid]]\nshape = \"mesh\"\nfile = \"open.obj\"\n");
    const std::string message = message_of([&] { read_scene(scene); });
    EXPECT_EQ(message.find(scene + ":8: file: \"" + path("open.obj") + "\": is not closed"), 0u) << message;
}

TEST_F(MeshShapes, the_resolved_scene_of_a_mesh_runs_from_another_folder)
{
    write("cube.obj", cube_points + cube_faces + last_face);
    const std::string scene =
        write("x.toml",
              "tarn = 1\n[domain]\nsize = [1, 1, 1]\ncells = 16\n[[water]]\nshape = \"mesh\"\nfile = \"cube.obj\"\n"
              "scale = 0.5\ntranslate = [0.5, 0.5, 0.5]\n");
    const Scene first = read_scene(scene);
    EXPECT_NEAR(distance(first.water.at(0), {0.5, 0.5, 0.5}), -0.25, 0.01);
    fs::create_directories(folder / "out");
    const Scene second = read_scene(write("out/scene.toml", write_params(first.params)));
    EXPECT_EQ(distance(first.water.at(0), {0.1, 0.2, 0.3}), distance(second.water.at(0), {0.1, 0.2, 0.3}));
    // Moved out of the domain it would be no water at all.
    const std::string message = message_of([&] { read_scene(scene, {{"water.0.translate", "[5, 0, 0]"}}); });
    EXPECT_EQ(message.find(scene + ":5: shape: lies outside the domain"), 0u) << message;
}

TEST_F(MeshShapes, a_slope_of_terrain_is_as_far_as_the_plane)
{
    // Height falls from 1 at x = 0 to 0 at x = 2; the top row is at min z.
    for (const int bits : {8, 16}) {
        write_grey(path("slope.png"), 256, 3, bits, [](int i, int) { return 1 - i / 255.0; });
        const double h = 0.05;
        const Sampled slope(sample_terrain(path("slope.png"), {0, 0.5, 0}, {2, 1.5, 1}, 3, h), ShapeKind::terrain);
        for (double x = 0.3; x < 1.7; x += 0.0931)
            for (double y = 0.3; y < 1.8; y += 0.0713) {
                const double d = (y - (1.5 - 0.5 * x)) / std::sqrt(1.25);
                if (std::fabs(d) < 0.4) {
                    EXPECT_NEAR(slope.at({x, y, 0.4}), d, 0.1 * h) << bits;
                }
                if (std::fabs(d) >= 0.4) {
                    EXPECT_GT(slope.at({x, y, 0.4}) * d, 0);
                }
            }
        EXPECT_LT(slope.at({1, -20, 0.5}), -19);
        EXPECT_GT(slope.at({1, 20, 0.5}), 18);
        EXPECT_LT(slope.at({-1, 1.2, 0.5}), 0);
        EXPECT_GT(slope.at({3, 0.7, 9}), 0);
    }
}

TEST_F(MeshShapes, terrain_lies_with_its_top_row_at_min_z)
{
    write_grey(path("corner.png"), 9, 9, 8, [](int i, int j) { return i < 4 && j < 4 ? 1.0 : 0.0; });
    const Sampled ground(sample_terrain(path("corner.png"), {0, 0, 0}, {1, 1, 1}, 3, 0.05), ShapeKind::terrain);
    EXPECT_LT(ground.at({0.1, 0.5, 0.1}), 0);
    EXPECT_GT(ground.at({0.9, 0.5, 0.1}), 0);
    EXPECT_GT(ground.at({0.1, 0.5, 0.9}), 0);
}

TEST_F(MeshShapes, terrain_in_2d_takes_the_middle_row)
{
    write_grey(path("rows.png"), 5, 5, 8, [](int, int j) { return j == 2 ? 0.5 : 1.0; });
    const Sampled ground(sample_terrain(path("rows.png"), {0, 0, 0}, {1, 1, 0}, 2, 0.02), ShapeKind::terrain);
    EXPECT_NEAR(ground.at({0.5, 0.6, 0}), 0.1, 0.01);
    EXPECT_NEAR(ground.at({0.1, 0.4, 0}), -0.1, 0.01);
}

TEST_F(MeshShapes, an_image_that_is_no_terrain_is_refused)
{
    write_grey(path("good.png"), 64, 64, 8, [](int i, int j) { return ((i * 37 + j * 91) % 255) / 255.0; });
    std::ifstream file(path("good.png"), std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(file)), {});
    png_image colour = {};
    colour.version = PNG_IMAGE_VERSION;
    colour.width = colour.height = 2;
    colour.format = PNG_FORMAT_RGB;
    const png_byte pixels[12] = {255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9};
    png_image_write_to_file(&colour, path("colour.png").c_str(), 0, pixels, 0, nullptr);
    const std::pair<std::string, std::string> table[] = {
        {path("missing.png"), "cannot be opened"},
        {write("text.png", "hello"), "is not a PNG image"},
        {write("torn.png", bytes.substr(0, bytes.size() / 2)), "is a broken PNG image"},
        {path("colour.png"), "is a colour image; save it as grey"},
    };
    for (const auto& [image, part] : table) {
        const std::string message = message_of([&] { sample_terrain(image, {0, 0, 0}, {1, 1, 1}, 3, 0.1); });
        EXPECT_NE(message.find(part), std::string::npos) << message << "\n  expected " << part;
    }
}
