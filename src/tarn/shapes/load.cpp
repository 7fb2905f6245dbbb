// OpenVDB finds the distances to triangles, libpng reads heights.

#include "tarn/shapes/load.h"

#include <openvdb/openvdb.h>
#include <openvdb/tools/Dense.h>
#include <openvdb/tools/MeshToVolume.h>
#include <png.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <mutex>

#include "tarn/base/error.h"
#include "tarn/shapes/mesh_file.h"

namespace tarn {

namespace {

// Spacings on each side of the surface in which distances are exact.
constexpr int band = mesh_margin - 1;
// The most samples of one shape; 2^25 floats are 128 MiB.
constexpr double max_nodes = 1 << 25;

[[noreturn]] void fail(const std::string& path, const std::string& text)
{
    throw InputError("\"" + path + "\": " + text);
}

// The grid whose nodes cover lo to hi, with a spacing as near to the wish as memory allows.
DistanceGrid cover(Vec3 lo, Vec3 hi, Vec3 margin, double spacing)
{
    for (;; spacing *= 1.1) {
        DistanceGrid grid;
        grid.spacing = spacing;
        double total = 1;
        for (int a = 0; a < 3; ++a) {
            const double n = std::ceil((hi[a] - lo[a]) / spacing - 1e-9) + 1 + 2 * margin[a];
            total *= n;
            grid.nodes[a] = static_cast<int>(std::clamp(n, 2.0, max_nodes));
            grid.origin[a] = lo[a] - margin[a] * spacing;
        }
        if (total > max_nodes) continue;
        grid.values.resize(static_cast<size_t>(grid.nodes[0]) * grid.nodes[1] * grid.nodes[2]);
        return grid;
    }
}

// Fills the grid with distances to triangles whose points are given in its indices.
void fill(DistanceGrid& grid, const std::vector<openvdb::Vec3s>& points, const std::vector<openvdb::Vec3I>& triangles,
          bool has_inside)
{
    static std::once_flag once;
    std::call_once(once, [] { openvdb::initialize(); });

    const auto transform = openvdb::math::Transform::createLinearTransform(1.0);
    const openvdb::tools::QuadAndTriangleDataAdapter<openvdb::Vec3s, openvdb::Vec3I> mesh(points, triangles);
    const auto sparse = openvdb::tools::meshToVolume<openvdb::FloatGrid>(
        mesh, *transform, float(band), float(band), has_inside ? 0 : openvdb::tools::UNSIGNED_DISTANCE_FIELD);

    const openvdb::CoordBBox box(openvdb::Coord(0, 0, 0),
                                 openvdb::Coord(grid.nodes[0] - 1, grid.nodes[1] - 1, grid.nodes[2] - 1));
    openvdb::tools::Dense<float, openvdb::tools::LayoutXYZ> dense(box, grid.values.data());
    openvdb::tools::copyToDense(*sparse, dense);
    for (float& d : grid.values) d = static_cast<float>(d * grid.spacing);
}

// ---- Heights ----

struct Heights {
    int width = 0, height = 0;
    std::vector<uint16_t> values;  // 0 black ... 65535 white, top row first

    double at(int i, int j) const
    {
        i = std::clamp(i, 0, width - 1);
        j = std::clamp(j, 0, height - 1);
        return values[static_cast<size_t>(j) * width + i] / 65535.0;
    }
    // Bilinear; u and v run from 0 to 1 between the middles of the outermost pixels.
    double sample(double u, double v) const
    {
        const double x = std::clamp(u, 0.0, 1.0) * (width - 1), y = std::clamp(v, 0.0, 1.0) * (height - 1);
        const int i = static_cast<int>(x), j = static_cast<int>(y);
        const double f = x - i, g = y - j;
        return (1 - g) * ((1 - f) * at(i, j) + f * at(i + 1, j)) + g * ((1 - f) * at(i, j + 1) + f * at(i + 1, j + 1));
    }
};

// Everything that must be let go when libpng gives up.
struct PngReader {
    std::FILE* file = nullptr;
    png_structp png = nullptr;
    png_infop info = nullptr;
    std::vector<png_byte> bytes;
    std::vector<png_bytep> rows;
    Heights heights;

    PngReader() = default;
    PngReader(const PngReader&) = delete;
    PngReader& operator=(const PngReader&) = delete;
    ~PngReader()
    {
        if (png) png_destroy_read_struct(&png, info ? &info : nullptr, nullptr);
        if (file) std::fclose(file);
    }
};

// Returns what is wrong, or nothing. libpng jumps back to setjmp when something is, past every destructor, so this
// function owns nothing: all that it changes belongs to its caller.
[[gnu::noinline]] const char* decode(PngReader& r)
{
    png_byte signature[8] = {};
    if (std::fread(signature, 1, 8, r.file) != 8 || png_sig_cmp(signature, 0, 8) != 0)
        return "is not a PNG image; save it as a grey PNG";
    r.png = png_create_read_struct(
        PNG_LIBPNG_VER_STRING, nullptr, [](png_structp png, png_const_charp) { longjmp(png_jmpbuf(png), 1); },
        [](png_structp, png_const_charp) {});
    if (!r.png) return "cannot be read for lack of memory";
    if (setjmp(png_jmpbuf(r.png))) return "is a broken PNG image, or larger than 16384 x 16384; save it again";
    r.info = png_create_info_struct(r.png);
    png_set_user_limits(r.png, 16384, 16384);
    png_init_io(r.png, r.file);
    png_set_sig_bytes(r.png, 8);
    png_read_info(r.png, r.info);
    if (png_get_color_type(r.png, r.info) & PNG_COLOR_MASK_COLOR)
        return "is a colour image; save it as grey, 8 or 16 bits deep";
    png_set_expand_gray_1_2_4_to_8(r.png);
    png_set_strip_alpha(r.png);
    png_set_interlace_handling(r.png);
    png_read_update_info(r.png, r.info);

    r.heights.width = static_cast<int>(png_get_image_width(r.png, r.info));
    r.heights.height = static_cast<int>(png_get_image_height(r.png, r.info));
    r.bytes.resize(png_get_rowbytes(r.png, r.info) * r.heights.height);
    for (int j = 0; j < r.heights.height; ++j) r.rows.push_back(r.bytes.data() + j * png_get_rowbytes(r.png, r.info));
    png_read_image(r.png, r.rows.data());
    png_read_end(r.png, nullptr);
    return nullptr;
}

Heights read_heights(const std::string& path)
{
    PngReader r;
    r.file = std::fopen(path.c_str(), "rb");
    if (!r.file) fail(path, "cannot be opened; paths are relative to the scene file");
    if (const char* problem = decode(r)) fail(path, problem);

    const bool wide = png_get_bit_depth(r.png, r.info) == 16;
    r.heights.values.reserve(static_cast<size_t>(r.heights.width) * r.heights.height);
    for (const png_bytep row : r.rows)
        for (int i = 0; i < r.heights.width; ++i)
            r.heights.values.push_back(wide ? static_cast<uint16_t>(row[2 * i] << 8 | row[2 * i + 1])
                                            : static_cast<uint16_t>(row[i] * 257));
    return std::move(r.heights);
}

}  // namespace

std::shared_ptr<const DistanceGrid> sample_mesh(const std::string& path, double spacing)
{
    const ClosedMesh mesh = read_closed_mesh(path);
    Vec3 lo = mesh.points[0], hi = lo;
    for (const Vec3& p : mesh.points)
        for (int a = 0; a < 3; ++a) {
            lo[a] = std::min(lo[a], p[a]);
            hi[a] = std::max(hi[a], p[a]);
        }
    // The samples end where the mesh is a band away, so that all of their border is outside.
    DistanceGrid grid = cover(lo, hi, Vec3::all(mesh_margin), spacing);

    std::vector<openvdb::Vec3s> points;
    std::vector<openvdb::Vec3I> triangles;
    for (const Vec3& p : mesh.points) {
        const Vec3 q = (p - grid.origin) * (1 / grid.spacing);
        points.emplace_back(q[0], q[1], q[2]);
    }
    for (const Cell<3>& t : mesh.triangles) triangles.emplace_back(t[0], t[1], t[2]);
    fill(grid, points, triangles, true);
    return std::make_shared<const DistanceGrid>(std::move(grid));
}

std::shared_ptr<const DistanceGrid> sample_terrain(const std::string& image, Vec3 min, Vec3 max, int dimension,
                                                   double spacing)
{
    const Heights heights = read_heights(image);
    DistanceGrid grid = cover(min, max, {0, band + 1, 0}, spacing);
    const double s = grid.spacing;

    // The ground as triangles between the nodes, reaching a band past the edges, where it goes on level.
    const int nx = grid.nodes[0] + 2 * band, nz = grid.nodes[2] + 2 * band;
    std::vector<float> ground;  // in indices of the grid
    std::vector<openvdb::Vec3s> points;
    std::vector<openvdb::Vec3I> triangles;
    for (int k = 0; k < nz; ++k)
        for (int i = 0; i < nx; ++i) {
            const double u = (i - band) * s / (max[0] - min[0]);
            const double v = dimension == 2 ? 0.5 : (k - band) * s / (max[2] - min[2]);
            const double y = min[1] + heights.sample(u, v) * (max[1] - min[1]);
            ground.push_back(static_cast<float>((y - grid.origin[1]) / s));
            points.emplace_back(i - band, ground.back(), k - band);
            if (i == 0 || k == 0) continue;
            const unsigned here = k * nx + i;
            triangles.emplace_back(here, here - 1, here - nx - 1);
            triangles.emplace_back(here, here - nx - 1, here - nx);
        }
    fill(grid, points, triangles, false);

    // The triangles meet every column of nodes at its height, which therefore knows the side.
    size_t n = 0;
    for (int k = 0; k < grid.nodes[2]; ++k)
        for (int j = 0; j < grid.nodes[1]; ++j)
            for (int i = 0; i < grid.nodes[0]; ++i, ++n)
                if (j < ground[static_cast<size_t>(k + band) * nx + i + band]) grid.values[n] = -grid.values[n];
    return std::make_shared<const DistanceGrid>(std::move(grid));
}

}  // namespace tarn
