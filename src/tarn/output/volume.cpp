// Grids with a value at each cell centre, so that index (i,j,k) lies at ((i,j,k) + 1/2) h metres:
//   surface  float, level set: max(phi, -solid, distance to the walls), so that what is converted to polygons is closed
//   pressure float, Pa, in the water
//   vel      vector, the faces averaged to the centres: Houdini also reads staggered vectors, Blender does not
// Of smoke, instead of the surface, by the names that Blender and Houdini know:
//   density      float, fog: where there is any
//   temperature  float, K: where it is not that of the air around, which is its background
// and vel in the leaves of either.
// A 2D run becomes a slab of one layer of cells, without walls before and behind it.

#include "tarn/output/volume.h"

#include <openvdb/io/Compression.h>
#include <openvdb/io/File.h>
#include <openvdb/openvdb.h>

#include <memory>
#include <mutex>

#include "tarn/backend/parallel.h"
#include "tarn/base/error.h"
#include "tarn/base/version.h"
#include "tarn/field/sample.h"
#include "tarn/output/files.h"
#include "tarn/output/shown_levels.h"

namespace tarn {

namespace {

// OpenVDB's usual half width of a level set's band, in voxels; also how many layers are written beyond the walls.
constexpr int half_width = 3;

template <int D>
Cell<D> cell_of(openvdb::Coord ijk)
{
    Cell<D> c;
    for (int a = 0; a < D; ++a) c[a] = ijk[a];
    return c;
}

// The distance to the domain's box, negative inside; beyond an edge the largest of the axes' distances, which is a
// distance near the faces and has the right sign everywhere.
template <int D>
float wall_distance(const Grid<D>& g, Cell<D> c)
{
    float d = -1e30f;
    for (int a = 0; a < D; ++a) d = std::max({d, -(c[a] + 0.5f), c[a] + 0.5f - g.cells[a]});
    return d * static_cast<float>(g.h);
}

// Fills a tree leaf by leaf over the domain and `border` layers around it. f sets a leaf's values and its mask, and
// returns false where all values are the same and none is active, so that a tile serves instead.
template <class GridType, int D, class F>
void fill(GridType& out, const Grid<D>& g, int border, F&& f)
{
    using Leaf = typename GridType::TreeType::LeafNodeType;
    constexpr int width = static_cast<int>(Leaf::DIM);
    const auto leaf_of = [](int i) { return (i >= 0 ? i : i - width + 1) / width; };
    Cell<3> first, count;
    for (int a = 0; a < 3; ++a) {
        const int lo = a < D ? -border : 0, hi = a < D ? g.cells[a] - 1 + border : 0;
        first[a] = leaf_of(lo);
        count[a] = leaf_of(hi) - first[a] + 1;
    }
    struct Made {
        std::unique_ptr<Leaf> leaf;
        bool constant = false;
    };
    std::vector<Made> made(static_cast<size_t>(count[0]) * count[1] * count[2]);
    parallel_rows("fill volume", static_cast<int>(made.size()), [&](int l) {
        const openvdb::Coord origin((l % count[0] + first[0]) * width, (l / count[0] % count[1] + first[1]) * width,
                                    (l / count[0] / count[1] + first[2]) * width);
        Made& m = made[static_cast<size_t>(l)];
        m.leaf = std::make_unique<Leaf>(origin, out.background(), false);
        m.constant = !f(*m.leaf);
        if (m.constant && m.leaf->getValue(0) == out.background()) m.leaf.reset();
    });
    for (Made& m : made) {
        if (!m.leaf) continue;
        if (m.constant)
            out.tree().addTile(1, m.leaf->origin(), m.leaf->getValue(0), m.leaf->isValueOn(0));
        else
            out.tree().addLeaf(m.leaf.release());
    }
}

template <int D>
bool in_slab(openvdb::Coord ijk)
{
    return D == 3 || ijk[2] == 0;
}

template <int D>
openvdb::FloatGrid::Ptr surface_grid(const Water<D>& water, openvdb::math::Transform::Ptr transform)
{
    const Grid<D>& g = water.grid;
    // phi may be clamped to a narrower band than OpenVDB's; beyond it there is nothing to store.
    float reach = 0;
    for (size_t i = 0; i < water.phi.size(); ++i) reach = std::max(reach, std::abs(water.phi.data()[i]));
    const float h = static_cast<float>(g.h), band = std::clamp(reach, h, half_width * h);

    auto out = openvdb::FloatGrid::create(band);
    out->setName("surface");
    out->setGridClass(openvdb::GRID_LEVEL_SET);
    out->setTransform(transform);
    out->insertMeta("units", openvdb::StringMetadata("m"));
    const View<D, const float> phi = water.phi.view(), solid = water.solids.distance.view();
    const auto half = Vec<D, float>::all(0.5f);  // from a cell's index to that of a node
    fill(*out, g, half_width, [&](auto& leaf) {
        bool constant = true;
        for (auto it = leaf.beginValueAll(); it; ++it) {
            const openvdb::Coord ijk = it.getCoord();
            if (!in_slab<D>(ijk)) {
                constant = false;
                continue;
            }
            const Cell<D> c = cell_of<D>(ijk);
            const Vec<D, float> x = c.template as<float>();
            float f = sample_cells(phi, g.cells, x);
            f = std::max(f, wall_distance(g, c));
            if (water.solids.any) f = std::max(f, -sample(solid, locate(solid, x + half, g.cells)));
            f = std::clamp(f, -band, band);
            leaf.setValueOnly(it.pos(), f);
            if (std::abs(f) < band) leaf.setActiveState(it.pos(), true);
            constant = constant && f == leaf.getValue(0) && std::abs(f) == band;
        }
        return !constant;
    });
    return out;
}

template <int D>
openvdb::Vec3SGrid::Ptr velocity_grid(const Water<D>& water, openvdb::math::Transform::Ptr transform)
{
    const Grid<D>& g = water.grid;
    auto out = openvdb::Vec3SGrid::create(openvdb::Vec3s(0));
    out->setName("vel");
    out->setTransform(transform);
    out->setVectorType(openvdb::VEC_CONTRAVARIANT_RELATIVE);
    out->setSaveFloatAsHalf(true);
    out->insertMeta("units", openvdb::StringMetadata("m/s"));
    // In the water and as far beyond it as the level set reaches, for motion blur.
    const float reach = half_width * static_cast<float>(g.h);
    const FaceView<D, const float> velocity = water.velocity.view();
    const ShownLevels<D> levels(water);
    fill(*out, g, 0, [&](auto& leaf) {
        bool empty = true;
        // Of an octree a tile without small cells is one value.
        const Cell<D> first = cell_of<D>(leaf.origin());
        const int level = g.contains(first) && in_slab<D>(leaf.origin()) ? levels.level_at(first) : 0;
        if (level > 0 && D == 3 && g.contains(first + Cell<D>::all(tile_size - 1))) {
            const Vec<D, float> u = levels.velocity_at(level, first.template as<float>() + Vec<D, float>::all(0.5f * (tile_size - 1)));
            leaf.setValueOn(0, openvdb::Vec3s(u[0], u[1], u[D - 1]));
            return false;
        }
        for (auto it = leaf.beginValueAll(); it; ++it) {
            const openvdb::Coord ijk = it.getCoord();
            const Cell<D> c = cell_of<D>(ijk);
            if (!in_slab<D>(ijk) || !g.contains(c) || water.phi(c) >= reach) continue;
            const Vec<D, float> u = level > 0 ? levels.velocity_at(level, c.template as<float>()) : velocity_at_cell(velocity, c);
            leaf.setValueOn(it.pos(), openvdb::Vec3s(u[0], u[1], D == 3 ? u[D - 1] : 0.0f));
            empty = false;
        }
        return !empty;
    });
    return out;
}

// Values of smoke at cells, where they are more than `least` away from what is everywhere else; 0 inside solids.
template <int D>
openvdb::FloatGrid::Ptr smoke_grid(const char* name, const Field<D>& field, float background, float least,
                                   openvdb::math::Transform::Ptr transform)
{
    const Grid<D>& g = field.grid();
    auto out = openvdb::FloatGrid::create(background);
    out->setName(name);
    out->setGridClass(openvdb::GRID_FOG_VOLUME);
    out->setTransform(transform);
    out->setSaveFloatAsHalf(true);
    fill(*out, g, 0, [&](auto& leaf) {
        bool empty = true;
        for (auto it = leaf.beginValueAll(); it; ++it) {
            const openvdb::Coord ijk = it.getCoord();
            const Cell<D> c = cell_of<D>(ijk);
            if (!in_slab<D>(ijk) || !g.contains(c) || !(std::abs(field(c)) > least)) continue;
            leaf.setValueOn(it.pos(), background + field(c));
            empty = false;
        }
        return !empty;
    });
    return out;
}

// Where less is not seen, and not felt.
constexpr float least_density = 1e-4f, least_warmth = 0.05f;

// The leaves that smoke or warmth is in have a velocity.
template <int D>
void keep_leaves_of(openvdb::Vec3SGrid& velocity, const openvdb::FloatGrid& density, const openvdb::FloatGrid& temperature)
{
    std::vector<openvdb::Coord> gone;
    for (auto leaf = velocity.tree().cbeginLeaf(); leaf; ++leaf)
        if (!density.tree().probeConstLeaf(leaf->origin()) && !temperature.tree().probeConstLeaf(leaf->origin()))
            gone.push_back(leaf->origin());
    for (const openvdb::Coord& origin : gone) velocity.tree().addTile(1, origin, openvdb::Vec3s(0), false);
    velocity.pruneGrid();
}

template <int D>
openvdb::FloatGrid::Ptr pressure_grid(const Water<D>& water, openvdb::math::Transform::Ptr transform)
{
    auto out = openvdb::FloatGrid::create(0.0f);
    out->setName("pressure");
    out->setTransform(transform);
    out->insertMeta("units", openvdb::StringMetadata("Pa"));
    fill(*out, water.grid, 0, [&](auto& leaf) {
        bool empty = true;
        for (auto it = leaf.beginValueAll(); it; ++it) {
            const Cell<D> c = cell_of<D>(it.getCoord());
            if (!in_slab<D>(it.getCoord()) || !water.grid.contains(c) || !(water.phi(c) < 0)) continue;
            leaf.setValueOn(it.pos(), water.pressure(c));
            empty = false;
        }
        return !empty;
    });
    return out;
}

// Once for the program.
void start_openvdb()
{
    static std::once_flag once;
    std::call_once(once, [] { openvdb::initialize(); });
}

}  // namespace

template <int D>
void write_vdb(const std::string& path, const Water<D>& water)
{
    start_openvdb();

    const double h = water.grid.h;
    auto transform = openvdb::math::Transform::createLinearTransform(h);
    transform->postTranslate(openvdb::Vec3d(0.5 * h));

    openvdb::MetaMap about;
    about.insertMeta("creator", openvdb::StringMetadata(std::string("Tarn ") + version()));
    about.insertMeta("time", openvdb::DoubleMetadata(water.time));
    about.insertMeta("up_axis", openvdb::StringMetadata("y"));
    about.insertMeta("cells", openvdb::Vec3IMetadata({water.grid.cells[0], water.grid.cells[1],
                                                      D == 3 ? water.grid.cells[D - 1] : 1}));

    openvdb::GridCPtrVec grids;
    const auto velocity = velocity_grid(water, transform->copy());
    if (water.smoke) {
        const ShownSmoke<D> smoke(water);
        const auto density = smoke_grid("density", smoke.density(), 0, least_density, transform);
        const auto temperature = smoke_grid("temperature", smoke.temperature(), static_cast<float>(water.ambient), least_warmth,
                                            transform->copy());
        keep_leaves_of<D>(*velocity, *density, *temperature);
        grids = {density, temperature, velocity};
    } else {
        grids = {surface_grid(water, transform), velocity};
        if (water.pressure.size() > 0) grids.push_back(pressure_grid(water, transform->copy()));
    }
    try {
        openvdb::io::File file(part_name(path));
        file.setCompression(openvdb::io::COMPRESS_ACTIVE_MASK | openvdb::io::COMPRESS_BLOSC);
        file.write(grids, about);
        file.close();
    } catch (const openvdb::Exception& error) {
        discard_part(path);
        throw RunError(path + ": cannot write: " + error.what());
    } catch (...) {
        discard_part(path);
        throw;
    }
    publish_file(path);
}

template void write_vdb<2>(const std::string&, const Water<2>&);
template void write_vdb<3>(const std::string&, const Water<3>&);

}  // namespace tarn
