// The surface is the zero set of F = max(phi, -solid), cut off at the walls of the domain.
//
// F is sampled on a lattice that has the cell centres and, beyond the outermost ones, a sample on each wall:
//
//     lattice      -1    0     1       2             n    n+1   n+2
//     position           0    h/2    3h/2   ...  L - h/2   L
//
// Samples on a wall are extrapolated from inside. Samples -1 and n+2 have no position: they only stand for "outside",
// so that the surface closes, and whatever would lie between them and the wall is put on the wall. So the mesh meets
// the walls exactly, its rim included, and keeps the thin sheets that averaging to nodes would lose.
//
// In 3D the lattice is contoured by OpenVDB (one vertex for each lattice cell that the surface passes, at the mean of
// its edge crossings); a vertex of a lattice cell that lies beyond a wall is placed by the same rule applied to that
// cell's face, edge or corner on the wall. In 2D the outline is contoured here by marching squares.

#include "tarn/output/surface.h"

#include <fmt/format.h>
#include <openvdb/openvdb.h>
#include <openvdb/tools/VolumeToMesh.h>

#include <cstring>
#include <memory>
#include <unordered_map>
#include <utility>

#include "tarn/backend/parallel.h"
#include "tarn/base/version.h"
#include "tarn/field/sample.h"
#include "tarn/output/files.h"

namespace tarn {

namespace {

template <int D>
struct Samples {
    const Water<D>& water;
    float h;
    float far;    // values are kept within +-far, so that distant air need not be stored
    float least;  // and away from zero, so that a crossing never falls on a sample

    explicit Samples(const Water<D>& w) : water(w), h(static_cast<float>(w.grid.h)), far(3 * h), least(1e-3f * h) {}

    // The last sample along an axis that has a position.
    int last(int axis) const { return water.grid.cells[axis] + 1; }
    bool outside(int s, int axis) const { return s < 0 || s > last(axis); }

    // Where lattice coordinate s (of which only the whole ones are samples) lies along an axis.
    double position(double s, int axis) const
    {
        const double n = water.grid.cells[axis];
        // The lattice cells next to the walls are half as wide as the others.
        if (s < 1) return 0.5 * s * water.grid.h;
        if (s > n) return (n - 0.5 + 0.5 * (s - n)) * water.grid.h;
        return (s - 0.5) * water.grid.h;
    }

    // phi at a sample; extrapolated along one axis after another where the sample lies on a wall.
    float phi(Cell<D> s, int axis = 0) const
    {
        if (axis == D) return water.phi(s - Cell<D>::all(1));
        const int n = water.grid.cells[axis], at = s[axis];
        if (at != 0 && at != n + 1) return phi(s, axis + 1);
        s[axis] = at == 0 ? 1 : n;
        const float first = phi(s, axis + 1);
        s[axis] = at == 0 ? std::min(2, n) : std::max(n - 1, 1);
        const float second = phi(s, axis + 1);
        const float straight = first + 0.5f * (first - second);
        // Water in the cell at the wall touches the wall: a straight line would open a hairline gap where phi still
        // holds the distance to a face that the wall has covered. Air at the wall may hide a film thinner than half a
        // cell, which the straight line recovers.
        return first < 0 ? std::min(first, straight) : straight;
    }

    float value(Cell<D> s) const
    {
        Cell<D> near = s;
        bool out = false;
        for (int a = 0; a < D; ++a) {
            near[a] = std::clamp(s[a], 0, last(a));
            out = out || near[a] != s[a];
        }
        float f = phi(near);
        if (water.solids.any) {
            Vec<D, float> x;  // in nodes
            for (int a = 0; a < D; ++a) x[a] = static_cast<float>(position(near[a], a) / water.grid.h);
            const View<D, const float> solid = water.solids.distance.view();
            f = std::max(f, -sample(solid, locate(solid, x, water.grid.cells)));
        }
        if (out) return f < 0 ? 0.1f * h : far;
        return f < 0 ? std::clamp(f, -far, -least) : std::clamp(f, least, far);
    }
};

// Calls f(i) for every point, in blocks large enough to be worth a thread.
template <class F>
void for_each_point(const char* name, size_t n, const F& f)
{
    constexpr size_t block = 4096;
    parallel_rows(name, static_cast<int>((n + block - 1) / block), [&](int b) {
        for (size_t i = block * static_cast<size_t>(b); i < std::min(n, block * static_cast<size_t>(b + 1)); ++i) f(i);
    });
}

// The fraction of an edge at which F, linear along it, changes sign.
inline float crossing(float from, float to) { return from / (from - to); }

// ---- three dimensions ----

using Tree = openvdb::FloatTree;
using Leaf = Tree::LeafNodeType;
constexpr int leaf_width = static_cast<int>(Leaf::DIM);

// OpenVDB's index of sample s is s + 1, so that all indices are positive.
constexpr int index_shift = 1;

openvdb::FloatGrid::Ptr sample_near_water(const Samples<3>& samples)
{
    Cell<3> leaves;
    for (int a = 0; a < 3; ++a) leaves[a] = (samples.last(a) + 2 + index_shift) / leaf_width + 1;
    std::vector<std::unique_ptr<Leaf>> made(static_cast<size_t>(leaves[0]) * leaves[1] * leaves[2]);
    parallel_rows("sample surface", static_cast<int>(made.size()), [&](int l) {
        const int first[3] = {l % leaves[0] * leaf_width, l / leaves[0] % leaves[1] * leaf_width,
                              l / leaves[0] / leaves[1] * leaf_width};
        float values[Leaf::SIZE];
        bool empty = true;
        for (int n = 0; n < static_cast<int>(Leaf::SIZE); ++n) {
            const openvdb::Coord o = Leaf::offsetToLocalCoord(static_cast<openvdb::Index>(n));
            Cell<3> s;
            bool beyond = false;  // the last leaves reach past the lattice
            for (int a = 0; a < 3; ++a) {
                s[a] = first[a] + o[a] - index_shift;
                beyond = beyond || s[a] > samples.last(a) + 1;
            }
            values[n] = beyond ? samples.far : samples.value(s);
            empty = empty && values[n] == samples.far;
        }
        if (empty) return;
        auto& leaf = made[static_cast<size_t>(l)];
        leaf = std::make_unique<Leaf>(openvdb::Coord(first[0], first[1], first[2]), samples.far, true);
        std::memcpy(leaf->buffer().data(), values, sizeof values);
    });

    auto grid = openvdb::FloatGrid::create(samples.far);
    grid->setGridClass(openvdb::GRID_LEVEL_SET);
    for (auto& leaf : made)
        if (leaf) grid->tree().addLeaf(leaf.release());
    return grid;
}

// The place of a vertex that was found at lattice coordinates p in a lattice cell beyond one wall or more: the mean of
// the crossings on the part of that cell which lies on the walls, or its middle where it is wet throughout.
Vec3 place_on_walls(const Samples<3>& samples, Vec3 p)
{
    Cell<3> low, extent;
    for (int a = 0; a < 3; ++a) {
        const bool out = p[a] < 0 || p[a] > samples.last(a);
        low[a] = out ? (p[a] < 0 ? 0 : samples.last(a)) : std::min(static_cast<int>(p[a]), samples.last(a) - 1);
        extent[a] = out ? 0 : 1;
        p[a] = std::clamp(p[a], 0.0, static_cast<double>(samples.last(a)));
    }
    const auto for_each_corner = [&](auto&& f) {
        for (int k = 0; k <= extent[2]; ++k)
            for (int j = 0; j <= extent[1]; ++j)
                for (int i = 0; i <= extent[0]; ++i) f(low + Cell<3>{i, j, k});
    };
    // Two bodies of water may share a face by opposite corners, and have a vertex each: then only the crossings next to
    // the wet corner that is nearest to this vertex count.
    Cell<3> nearest = low;
    double least = 1e30;
    for_each_corner([&](Cell<3> c) {
        const Vec3 away = c.as<double>() - p;
        if (samples.value(c) < 0 && dot(away, away) < least) nearest = c, least = dot(away, away);
    });
    Vec3 all, near;
    int n_all = 0, n_near = 0;
    for_each_corner([&](Cell<3> c) {
        for (int a = 0; a < 3; ++a) {
            if (c[a] != low[a] || extent[a] == 0) continue;
            const Cell<3> d = c + Cell<3>::unit(a);
            const float from = samples.value(c), to = samples.value(d);
            if ((from < 0) == (to < 0)) continue;
            const Vec3 x = c.as<double>() + static_cast<double>(crossing(from, to)) * Vec3::unit(a);
            all += x;
            ++n_all;
            if (c == nearest || d == nearest) near += x, ++n_near;
        }
    });
    if (n_all == 4 && n_near == 2) return 0.5 * near;
    if (n_all > 0) return (1.0 / n_all) * all;
    return low.as<double>() + 0.5 * extent.as<double>();
}

// OpenVDB winds its quads the other way. They are cut along the shorter diagonal, which follows ridges better.
void add_triangles(Mesh& mesh, const std::vector<openvdb::Vec4I>& quads)
{
    mesh.triangles.reserve(2 * quads.size());
    for (const openvdb::Vec4I& q : quads) {
        const int v[4] = {static_cast<int>(q[0]), static_cast<int>(q[1]), static_cast<int>(q[2]),
                          static_cast<int>(q[3])};
        const Vec3f across = mesh.points[v[2]] - mesh.points[v[0]], other = mesh.points[v[3]] - mesh.points[v[1]];
        if (dot(across, across) <= dot(other, other)) {
            mesh.triangles.push_back({v[0], v[2], v[1]});
            mesh.triangles.push_back({v[0], v[3], v[2]});
        } else {
            mesh.triangles.push_back({v[1], v[3], v[2]});
            mesh.triangles.push_back({v[1], v[0], v[3]});
        }
    }
}

Mesh contour(const Samples<3>& samples)
{
    std::vector<openvdb::Vec3s> points;
    std::vector<openvdb::Vec4I> quads;
    openvdb::tools::volumeToMesh(*sample_near_water(samples), points, quads, 0.0);

    Mesh mesh;
    mesh.points.resize(points.size());
    for_each_point("place points", points.size(), [&](size_t i) {
        Vec3 p;
        bool out = false;
        for (int a = 0; a < 3; ++a) {
            p[a] = static_cast<double>(points[i][a]) - index_shift;
            out = out || p[a] < 0 || p[a] > samples.last(a);
        }
        if (out) p = place_on_walls(samples, p);
        for (int a = 0; a < 3; ++a) mesh.points[i][a] = static_cast<float>(samples.position(p[a], a));
    });

    add_triangles(mesh, quads);
    return mesh;
}

// ---- two dimensions ----

Mesh contour(const Samples<2>& samples)
{
    Mesh mesh;
    const int width = samples.last(0) + 3;
    std::unordered_map<long, int> known;  // crossings that have a point already
    const auto vertex_at = [&](Cell<2> wet, Cell<2> dry, float wet_value, float dry_value) {
        const bool beyond = samples.outside(dry[0], 0) || samples.outside(dry[1], 1);
        // A crossing towards the outside lies on the wall, at the wet sample itself, and is one point however many
        // edges lead out of it.
        const int axis = wet[0] == dry[0] ? 1 : 0;
        const Cell<2> low = beyond || wet[axis] < dry[axis] ? wet : dry;
        const long key = 3 * ((low[1] + 1L) * width + low[0] + 1) + (beyond ? 2 : axis);
        const auto [entry, fresh] = known.try_emplace(key, static_cast<int>(mesh.points.size()));
        if (fresh) {
            Vec2 s = wet.as<double>();
            if (!beyond) s[axis] += (dry[axis] - wet[axis]) * static_cast<double>(crossing(wet_value, dry_value));
            mesh.points.push_back(
                {static_cast<float>(samples.position(s[0], 0)), static_cast<float>(samples.position(s[1], 1)), 0});
        }
        return entry->second;
    };
    for (int j = -1; j <= samples.last(1); ++j)
        for (int i = -1; i <= samples.last(0); ++i) {
            // Corners in counter-clockwise order. A line is drawn from each edge that enters the water to an edge that
            // leaves it, so that the water lies to its right on this round and the outline runs counter-clockwise
            // around it.
            const Cell<2> corner[4] = {{i, j}, {i + 1, j}, {i + 1, j + 1}, {i, j + 1}};
            float v[4];
            int wet = 0;
            for (int c = 0; c < 4; ++c) wet += (v[c] = samples.value(corner[c])) < 0;
            if (wet == 0 || wet == 4) continue;
            const bool joined = v[0] + v[1] + v[2] + v[3] < 0;  // opposite wet corners meet in the middle of the cell
            const auto on_edge = [&](int c) {                   // between corner c and the next
                const int d = (c + 1) % 4;
                return v[c] < 0 ? vertex_at(corner[c], corner[d], v[c], v[d])
                                : vertex_at(corner[d], corner[c], v[d], v[c]);
            };
            for (int c = 0; c < 4; ++c) {
                const int d = (c + 1) % 4;
                if (!(v[c] < 0 && v[d] >= 0)) continue;  // edge c leaves the water
                int e = c;                               // the edge that enters it, and bounds the same water
                const bool ambiguous = wet == 2 && v[(c + 2) % 4] < 0;
                if (ambiguous)
                    e = joined ? (c + 1) % 4 : (c + 3) % 4;
                else
                    while (!(v[e] >= 0 && v[(e + 1) % 4] < 0)) e = (e + 1) % 4;
                const int from = on_edge(c), to = on_edge(e);
                if (from != to) mesh.lines.push_back({from, to});
            }
        }
    return mesh;
}

// ---- both ----

// Normals weighted by area (3D) or length (2D): the sum over neighbours of the unnormalised normals.
void add_normals(Mesh& mesh)
{
    mesh.normals.assign(mesh.points.size(), Vec3f{});
    for (const auto& t : mesh.triangles) {
        const Vec3f n = cross(mesh.points[t[1]] - mesh.points[t[0]], mesh.points[t[2]] - mesh.points[t[0]]);
        for (const int i : t) mesh.normals[i] += n;
    }
    for (const auto& l : mesh.lines) {
        const Vec3f d = mesh.points[l[1]] - mesh.points[l[0]];
        for (const int i : l) mesh.normals[i] += Vec3f{d[1], -d[0], 0};
    }
    for (Vec3f& n : mesh.normals) {
        const float size = length(n);
        n = size > 0 ? (1 / size) * n : Vec3f{0, 1, 0};
    }
}

// ---- solids ----

// Their distance, cut off at the walls, on a lattice twice as fine as the grid; the walls lie midway between samples,
// where linear interpolation finds them exactly.
struct SolidSamples {
    std::vector<Shape> shapes;
    Vec3 size;
    double spacing;
    float far;

    static constexpr double before = 1.5;  // samples before the first wall

    SolidSamples(std::vector<Shape> all, const Grid<3>& grid)
        : shapes(std::move(all)), size(grid.size()), spacing(0.5 * grid.h), far(static_cast<float>(3 * spacing))
    {
    }

    Vec3 position(Vec3 index) const { return spacing * (index - Vec3::all(before)); }

    double distance(Vec3 x) const
    {
        double d = tarn::distance(shapes, x);
        for (int a = 0; a < 3; ++a) d = std::max({d, -x[a], x[a] - size[a]});
        return d;
    }

    float value(Vec3 index) const
    {
        const float f = static_cast<float>(distance(position(index))), least = 1e-3f * far;
        return f < 0 ? std::clamp(f, -far, -least) : std::clamp(f, least, far);
    }
};

openvdb::FloatGrid::Ptr sample_near_solids(const SolidSamples& samples, const Grid<3>& grid)
{
    Cell<3> leaves;
    for (int a = 0; a < 3; ++a) leaves[a] = (2 * grid.cells[a] + 3) / leaf_width + 1;
    enum class Leaves : char { outside, inside, surface };
    const size_t count = static_cast<size_t>(leaves[0]) * leaves[1] * leaves[2];
    std::vector<Leaves> kind(count, Leaves::outside);
    std::vector<std::unique_ptr<Leaf>> made(count);
    const auto first = [&](int l) {
        return openvdb::Coord(l % leaves[0] * leaf_width, l / leaves[0] % leaves[1] * leaf_width,
                              l / leaves[0] / leaves[1] * leaf_width);
    };
    parallel_rows("sample solids", static_cast<int>(count), [&](int l) {
        const openvdb::Coord origin = first(l);
        const Vec3 low{double(origin[0]), double(origin[1]), double(origin[2])};
        // Some distances are estimates: twice the leaf's radius leaves them room.
        const double radius = 0.5 * std::sqrt(3.0) * leaf_width * samples.spacing;
        const double d = samples.distance(samples.position(low + Vec3::all(0.5 * (leaf_width - 1))));
        if (std::abs(d) > 2 * radius) {
            kind[static_cast<size_t>(l)] = d < 0 ? Leaves::inside : Leaves::outside;
            return;
        }
        kind[static_cast<size_t>(l)] = Leaves::surface;
        auto leaf = std::make_unique<Leaf>(origin, samples.far, true);
        for (openvdb::Index n = 0; n < Leaf::SIZE; ++n) {
            const openvdb::Coord o = Leaf::offsetToLocalCoord(n);
            leaf->setValueOnly(n, samples.value(low + Vec3{double(o[0]), double(o[1]), double(o[2])}));
        }
        made[static_cast<size_t>(l)] = std::move(leaf);
    });

    auto out = openvdb::FloatGrid::create(samples.far);
    out->setGridClass(openvdb::GRID_LEVEL_SET);
    for (size_t l = 0; l < count; ++l) {
        if (kind[l] == Leaves::inside) out->tree().addTile(1, first(static_cast<int>(l)), -samples.far, false);
        if (made[l]) out->tree().addLeaf(made[l].release());
    }
    return out;
}

}  // namespace

Mesh solid_mesh(const Geometry& solids, const Grid<3>& grid, double t)
{
    const SolidSamples samples(solids.at(t), grid);
    std::vector<openvdb::Vec3s> points;
    std::vector<openvdb::Vec4I> quads;
    openvdb::tools::volumeToMesh(*sample_near_solids(samples, grid), points, quads, 0.0);

    // Where each solid was an instant ago and will be in an instant, over which keyframes are as good as straight.
    constexpr double instant = 1e-3;  // s
    std::vector<Pose> before, after;
    for (size_t i = 0; i < solids.size(); ++i) {
        before.push_back(solids.displacement(i, t, t - instant));
        after.push_back(solids.displacement(i, t, t + instant));
    }

    Mesh mesh;
    mesh.points.resize(points.size());
    mesh.velocities.resize(points.size());
    mesh.owners.resize(points.size());
    for_each_point("place solids", points.size(), [&](size_t i) {
        const Vec3 x = samples.position({double(points[i][0]), double(points[i][1]), double(points[i][2])});
        int owner = 0;
        (void)tarn::distance(samples.shapes, x, &owner);
        mesh.points[i] = x.as<float>();
        const auto n = static_cast<size_t>(owner);
        mesh.velocities[i] = ((0.5 / instant) * (after[n].apply(x) - before[n].apply(x))).as<float>();
        // Where a shape is cut out, what shows is the solid that it is cut from; the first is never cut out.
        while (samples.shapes[static_cast<size_t>(owner)].subtract)
            (void)tarn::distance(samples.shapes.data(), std::exchange(owner, 0), x, &owner);
        mesh.owners[i] = owner;
    });
    add_triangles(mesh, quads);
    add_normals(mesh);
    return mesh;
}

template <int D>
Mesh surface_mesh(const Water<D>& water)
{
    Mesh mesh = contour(Samples<D>(water));
    add_normals(mesh);
    mesh.velocities.resize(mesh.points.size());
    const FaceView<D, const float> velocity = water.velocity.view();
    for_each_point("carry velocity", mesh.points.size(), [&](size_t i) {
        Vec<D, float> x;  // in cells
        for (int a = 0; a < D; ++a) x[a] = mesh.points[i][a] / static_cast<float>(water.grid.h) - 0.5f;
        const Vec<D, float> u = sample_velocity(velocity, water.grid.cells, x);
        for (int a = 0; a < D; ++a) mesh.velocities[i][a] = u[a];
    });
    return mesh;
}

template Mesh surface_mesh<2>(const Water<2>&);
template Mesh surface_mesh<3>(const Water<3>&);

void write_ply(const std::string& path, const Mesh& mesh)
{
    std::string bytes = fmt::format(
        "ply\nformat binary_little_endian 1.0\ncomment Tarn {}: metres, y is up\nelement vertex {}\n"
        "property float x\nproperty float y\nproperty float z\n"
        "property float nx\nproperty float ny\nproperty float nz\n"
        "property float vx\nproperty float vy\nproperty float vz\n",
        version(), mesh.points.size());
    if (!mesh.owners.empty()) bytes += "property int solid\n";
    if (mesh.lines.empty())
        bytes += fmt::format("element face {}\nproperty list uchar int vertex_indices\n", mesh.triangles.size());
    else
        bytes += fmt::format("element edge {}\nproperty int vertex1\nproperty int vertex2\n", mesh.lines.size());
    bytes += "end_header\n";

    bytes.reserve(bytes.size() + 40 * mesh.points.size() + 13 * mesh.triangles.size() + 8 * mesh.lines.size());
    const auto append = [&](const auto& value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
    for (size_t i = 0; i < mesh.points.size(); ++i) {
        append(mesh.points[i]);
        append(mesh.normals[i]);
        append(mesh.velocities[i]);
        if (!mesh.owners.empty()) append(mesh.owners[i]);
    }
    for (const auto& t : mesh.triangles) {
        bytes += '\3';
        append(t);
    }
    for (const auto& l : mesh.lines) append(l);
    write_file(path, bytes);
}

void write_obj(const std::string& path, const Mesh& mesh)
{
    fmt::memory_buffer text;
    const auto to = std::back_inserter(text);
    fmt::format_to(to, "# Tarn {}: metres, y is up\no water\n", version());
    for (const Vec3f& p : mesh.points) fmt::format_to(to, "v {} {} {}\n", p[0], p[1], p[2]);
    for (const Vec3f& n : mesh.normals) fmt::format_to(to, "vn {:.4f} {:.4f} {:.4f}\n", n[0], n[1], n[2]);
    // OBJ counts from one.
    for (const auto& t : mesh.triangles)
        fmt::format_to(to, "f {0}//{0} {1}//{1} {2}//{2}\n", t[0] + 1, t[1] + 1, t[2] + 1);
    for (const auto& l : mesh.lines) fmt::format_to(to, "l {} {}\n", l[0] + 1, l[1] + 1);
    write_file(path, {text.data(), text.size()});
}

}  // namespace tarn
