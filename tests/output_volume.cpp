// Volumes as other programs read them.

#include <gtest/gtest.h>
#include <openvdb/io/File.h>
#include <openvdb/openvdb.h>
#include <openvdb/tools/Interpolation.h>

#include "output_water.h"
#include "tarn/base/error.h"
#include "tarn/output/volume.h"
#include "temporary_folder.h"

namespace tarn {
namespace {

struct Read {
    openvdb::FloatGrid::Ptr surface;
    openvdb::Vec3SGrid::Ptr vel;

    explicit Read(const std::string& path)
    {
        openvdb::initialize();
        openvdb::io::File file(path);
        file.open();
        surface = openvdb::gridPtrCast<openvdb::FloatGrid>(file.readGrid("surface"));
        vel = openvdb::gridPtrCast<openvdb::Vec3SGrid>(file.readGrid("vel"));
    }
};

TEST(volume, a_ball_of_water_is_read_back_where_it_was)
{
    const TemporaryFolder folder;
    const Vec3 centre{0.5, 0.4, 0.3};
    const double h = 1.0 / 32;
    Water<3> w = water_of<3>({32, 32, 32}, h, [&](Vec3 x) { return length(x - centre) - 0.2; });
    w.velocity[0].fill(1.5f);
    w.velocity[1].fill(-2);
    write_vdb(folder / "a.vdb", w);

    const Read read(folder / "a.vdb");
    EXPECT_EQ(read.surface->getGridClass(), openvdb::GRID_LEVEL_SET);
    EXPECT_FLOAT_EQ(read.surface->background(), static_cast<float>(3 * h));
    using Sampler = openvdb::tools::GridSampler<openvdb::FloatGrid, openvdb::tools::BoxSampler>;
    const Sampler phi(*read.surface);
    for (const Vec3 away : {Vec3{0.2, 0, 0}, Vec3{0, -0.2, 0}, Vec3{0, 0, 0.2}, Vec3{0.12, 0.16, 0}}) {
        const Vec3 x = centre + away;
        // Linear interpolation of a distance with curvature 2/r errs by up to h²/8 · 2/r.
        EXPECT_NEAR(phi.wsSample({x[0], x[1], x[2]}), 0, h * h / 8 * 2 / 0.2);
    }
    EXPECT_LT(phi.wsSample({centre[0], centre[1], centre[2]}), 0);
    EXPECT_GT(phi.wsSample({0.9, 0.9, 0.9}), 0);

    const openvdb::Vec3s u = read.vel->tree().getValue(openvdb::Coord(16, 12, 9));
    EXPECT_EQ(u, openvdb::Vec3s(1.5f, -2, 0));  // exact in half precision
    EXPECT_FALSE(read.vel->tree().isValueOn(openvdb::Coord(31, 31, 31))) << "far air has no velocity";
}

TEST(volume, a_full_tank_ends_at_its_walls)
{
    const TemporaryFolder folder;
    const double h = 1.0 / 16;
    write_vdb(folder / "a.vdb", water_of<3>({16, 16, 16}, h, [](Vec3 x) { return x[1] - 0.7; }));
    const Read read(folder / "a.vdb");
    const openvdb::tools::GridSampler<openvdb::FloatGrid, openvdb::tools::BoxSampler> phi(*read.surface);
    for (const openvdb::Vec3d x :
         {openvdb::Vec3d(0, 0.3, 0.5), openvdb::Vec3d(1, 0.3, 0.5), openvdb::Vec3d(0.5, 0, 0.5),
          openvdb::Vec3d(0.5, 0.3, 1), openvdb::Vec3d(0.5, 0.7, 0.5)})
        EXPECT_NEAR(phi.wsSample(x), 0, 1e-3 * h);
    EXPECT_LT(phi.wsSample({0.5, 0.3, 0.5}), 0) << "the inside keeps its sign where nothing is stored";
}

TEST(volume, a_flat_run_is_one_layer_thick)
{
    const TemporaryFolder folder;
    write_vdb(folder / "a.vdb", water_of<2>({16, 16}, 1.0 / 16, [](Vec2 x) {
                  return length(x - Vec2{0.5, 0.5}) - 0.3;
              }));
    const Read read(folder / "a.vdb");
    const openvdb::CoordBBox box = read.surface->evalActiveVoxelBoundingBox();
    EXPECT_EQ(box.min()[2], 0);
    EXPECT_EQ(box.max()[2], 0);
    EXPECT_LT(read.surface->tree().getValue(openvdb::Coord(8, 8, 0)), 0);
}

TEST(volume, a_folder_that_is_not_there_is_an_error)
{
    const Water<2> w = water_of<2>({4, 4}, 0.25, [](Vec2 x) { return x[1] - 0.5; });
    EXPECT_THROW(write_vdb(std::string("/nowhere/at/all/a.vdb"), w), RunError);
}

}  // namespace
}  // namespace tarn
