// What a run keeps of each frame: as much as pictures and meshes need, and no more bytes than promised.

#include "tarn/output/frame_state.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "output_water.h"
#include "tarn/backend/parallel.h"
#include "tarn/base/error.h"
#include "tarn/output/files.h"
#include "temporary_folder.h"

namespace tarn {
namespace {

template <int D>
Water<D> wavy(int n)
{
    const double h = 1.0 / n;
    Water<D> w = water_of<D>(Cell<D>::all(n), h, [](Vec<D> x) { return x[1] - 0.5 - 0.1 * std::sin(9 * x[0]); });
    w.time = 1.25;
    for (int a = 0; a < D; ++a)
        for (size_t i = 0; i < w.velocity[a].size(); ++i)
            w.velocity[a].data()[i] = 3 * std::sin(0.01f * static_cast<float>(i) + static_cast<float>(a));
    std::vector<Droplet<D>> drops(2);
    drops[1].volume = 0.25;
    drops[1].kind = DropletKind::bubble;
    drops[1].id = 7;
    write_fragments(w.droplets, drops);
    return w;
}

template <int D>
void comes_back()
{
    const TemporaryFolder folder;
    const int n = 24;
    const Water<D> w = wavy<D>(n);
    write_state(folder / "a.state", w);
    const FrameState<D> back = read_state<D>(folder / "a.state");
    EXPECT_EQ(back.grid.cells, w.grid.cells);
    EXPECT_EQ(back.grid.h, w.grid.h);
    EXPECT_EQ(back.time, 1.25);
    const float h = static_cast<float>(w.grid.h);
    parallel_for("compare", all_tiles(w.grid), [&](Cell<D> c) {
        // Half a step of rounding, and the same side of the surface.
        ASSERT_NEAR(back.phi(c), std::clamp(w.phi(c), -3 * h, 3 * h), 1.01f * h / 16384);
        ASSERT_EQ(back.phi(c) < 0, w.phi(c) < 0);
        for (int a = 0; a < D; ++a)
            if (w.phi(c) < 3 * h) {
                ASSERT_NEAR(back.velocity[a](c), w.velocity[a](c), 3.01f / 2048);
            }
    });
    const auto drops = read_fragments(back.droplets);
    ASSERT_EQ(drops.size(), 2u);
    EXPECT_EQ(drops[1].volume, 0.25);
    EXPECT_EQ(drops[1].kind, DropletKind::bubble);
    EXPECT_EQ(drops[1].id, 7);
}

TEST(FrameState, comes_back_but_for_rounding)
{
    comes_back<2>();
    comes_back<3>();
}

TEST(FrameState, of_still_water_is_small)
{
    const TemporaryFolder folder;
    const Water<3> w = water_of<3>({64, 64, 64}, 1.0 / 64, [](Vec3 x) { return x[1] - 0.5; });
    write_state(folder / "a.state", w);
    EXPECT_LT(std::filesystem::file_size(folder / "a.state"), 64 * 64 * 32 / 8);  // an eighth of a byte a wet cell
}

TEST(FrameState, damaged_is_refused)
{
    const TemporaryFolder folder;
    write_state(folder / "a.state", wavy<3>(12));
    const std::string whole = read_file(folder / "a.state");
    const auto refused = [&](const std::string& bytes, const std::string& because) {
        write_file(folder / "b.state", bytes);
        try {
            (void)read_state<3>(folder / "b.state");
            ADD_FAILURE() << "was read; expected " << because;
        } catch (const RunError& e) {
            EXPECT_NE(std::string(e.what()).find(because), std::string::npos) << e.what();
        }
    };
    refused("", "too short");
    refused(std::string(100, 'x'), "holds no frame");
    refused(whole.substr(0, whole.size() - 20), "cut short");
    std::string other = whole;
    other[8] = 9;
    refused(other, "version 9");
    other = whole;
    other[12] = 2;
    refused(other, "header is damaged");
    other = whole;
    other[100] = static_cast<char>(other[100] ^ 0x55);
    refused(other, "damaged");
    EXPECT_THROW((void)read_state<2>(folder / "a.state"), RunError);

    Water<3> finer = wavy<3>(24);
    EXPECT_THROW(load_state(folder / "a.state", finer), RunError);
}

}  // namespace
}  // namespace tarn
