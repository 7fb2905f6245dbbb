// Files are whole or not there, and a state comes back from the disk bit for bit.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include "run_water.h"
#include "tarn/base/error.h"
#include "tarn/output/checkpoint.h"
#include "tarn/output/files.h"
#include "tarn/run/backup.h"
#include "temporary_folder.h"

namespace tarn {
namespace {

template <int D>
Water<D> empty_water(Cell<D> cells, double h)
{
    Water<D> w;
    w.grid = Grid<D>(cells, h);
    w.phi = Field<D>(w.grid);
    w.velocity = FaceField<D>(w.grid);
    w.pressure = Field<D>(w.grid);
    return w;
}

// A state with air, deep water and noise, and with the values that careless formats lose.
template <int D>
Water<D> some_water(Cell<D> cells)
{
    Water<D> w = empty_water<D>(cells, 0.1 / 3);
    w.time = 1.0 / 3;
    w.step = 123456789012;
    w.volume_expected = std::nextafter(0.7, 1.0);
    const auto scatter = [](Field<D>& f, float air, unsigned seed) {
        for (size_t i = 0; i < f.size(); ++i) {
            seed = seed * 1664525u + 1013904223u;
            f.data()[i] = i % 97 < 50 ? air : static_cast<float>(seed >> 8) * 1e-6f;
        }
    };
    scatter(w.phi, 0.4f, 1);
    scatter(w.pressure, -0.0f, 2);
    for (int a = 0; a < D; ++a) scatter(w.velocity[a], 0, 3 + a);
    w.phi.data()[1] = std::numeric_limits<float>::denorm_min();
    w.phi.data()[2] = std::numeric_limits<float>::quiet_NaN();
    w.phi.data()[3] = -std::numeric_limits<float>::infinity();
    return w;
}

template <int D>
bool same_bits(const Field<D>& a, const Field<D>& b)
{
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

template <int D>
void expect_round_trip(Cell<D> cells)
{
    const TemporaryFolder folder;
    const Water<D> w = some_water<D>(cells);
    save_checkpoint(folder / "state", w, 42);
    Water<D> back = empty_water<D>(cells, w.grid.h);
    back.phi.fill(7);
    EXPECT_EQ(load_checkpoint(folder / "state", back), 42);
    EXPECT_EQ(back.time, w.time);
    EXPECT_EQ(back.step, w.step);
    EXPECT_EQ(back.volume_expected, w.volume_expected);
    EXPECT_TRUE(same_bits(back.phi, w.phi));
    EXPECT_TRUE(same_bits(back.pressure, w.pressure));
    for (int a = 0; a < D; ++a) EXPECT_TRUE(same_bits(back.velocity[a], w.velocity[a]));
}

TEST(checkpoint, water_comes_back_bit_for_bit_in_2d) { expect_round_trip<2>({17, 9}); }
TEST(checkpoint, water_comes_back_bit_for_bit_in_3d) { expect_round_trip<3>({9, 5, 7}); }

TEST(checkpoint, a_bubble_goes_on_as_it_would_have)
{
    const TemporaryFolder folder;
    Params p = pool(2, 32, 0.8);
    p.water.push_back(p.water[0]);
    p.water[1].shape = ShapeKind::sphere;
    p.water[1].center = Vec3{0.5, 0.3, 0};
    p.water[1].radius = 0.08;
    p.water[1].subtract = true;
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene), resumed = initial_water<2>(scene), again = initial_water<2>(scene);
    run_to(w, scene, 0.1);
    ASSERT_FALSE(w.enclosed_air.cells.empty());
    save_checkpoint(folder / "state", w, 1);
    (void)load_checkpoint(folder / "state", resumed);
    Backup<2> backup(w.grid);
    backup.take(w);
    backup.give_back(again);
    run_to(w, scene, 0.2);
    for (Water<2>* each : {&resumed, &again}) {
        restore(*each, scene);
        run_to(*each, scene, 0.2);
        EXPECT_TRUE(same_bits(w.phi, each->phi));
        EXPECT_EQ(w.enclosed_air.volumes, each->enclosed_air.volumes);
    }
}

TEST(checkpoint, a_torn_file_is_refused_at_every_length)
{
    const TemporaryFolder folder;
    const Water<2> w = some_water<2>({6, 4});
    save_checkpoint(folder / "whole", w, 1);
    const std::string whole = read_file(folder / "whole");
    Water<2> back = empty_water<2>({6, 4}, w.grid.h);
    for (size_t n = 0; n < whole.size(); n += n < 100 ? 1 : 13) {
        write_file(folder / "torn", std::string_view(whole).substr(0, n));
        EXPECT_THROW(load_checkpoint(folder / "torn", back), RunError) << n << " bytes";
    }
    write_file(folder / "long", whole + "x");
    EXPECT_THROW(load_checkpoint(folder / "long", back), RunError);
    for (size_t i = 0; i < back.phi.size(); ++i) EXPECT_EQ(back.phi.data()[i], 0) << "a refused file changed the water";
}

TEST(checkpoint, a_flipped_byte_is_noticed)
{
    const TemporaryFolder folder;
    const Water<2> w = some_water<2>({6, 4});
    save_checkpoint(folder / "whole", w, 1);
    const std::string whole = read_file(folder / "whole");
    Water<2> back = empty_water<2>({6, 4}, w.grid.h);
    for (size_t i = 0; i < whole.size(); i += i < 80 ? 1 : 7) {
        std::string bent = whole;
        bent[i] = static_cast<char>(bent[i] ^ (1 << (i % 8)));
        write_file(folder / "bent", bent);
        EXPECT_THROW(load_checkpoint(folder / "bent", back), RunError) << "byte " << i;
    }
}

TEST(checkpoint, another_grid_is_refused)
{
    const TemporaryFolder folder;
    const Water<2> w = some_water<2>({6, 4});
    save_checkpoint(folder / "state", w, 1);
    Water<2> wider = empty_water<2>({4, 6}, w.grid.h), finer = empty_water<2>({6, 4}, w.grid.h / 2);
    Water<3> solid = empty_water<3>({6, 4, 1}, w.grid.h);
    EXPECT_THROW(load_checkpoint(folder / "state", wider), RunError);
    EXPECT_THROW(load_checkpoint(folder / "state", finer), RunError);
    EXPECT_THROW(load_checkpoint(folder / "state", solid), RunError);
}

TEST(checkpoint, still_air_takes_almost_no_room)
{
    const TemporaryFolder folder;
    Water<3> w = empty_water<3>({64, 64, 64}, 0.1);
    w.phi.fill(0.4f);
    save_checkpoint(folder / "state", w, 1);
    // Five fields and what droplets were given, each one run: a count and a word. Six numbers: a count and two words. 39 records, the
    // header and the checksum.
    EXPECT_EQ(std::filesystem::file_size(folder / "state"), 48u + 39 * 32 + 6 * 8 + 6 * 12 + 8);
}

TEST(files, a_file_is_replaced_whole)
{
    const TemporaryFolder folder;
    write_file(folder / "text", "first, and longer");
    write_file(folder / "text", std::string_view("sec\0nd", 6));
    EXPECT_EQ(read_file(folder / "text"), std::string("sec\0nd", 6));
    int entries = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path)) ++entries;
    EXPECT_EQ(entries, 1) << "a temporary file was left behind";
}

TEST(files, failure_names_the_path_and_leaves_nothing)
{
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder / "taken");
    write_file(folder / "taken/inside", "");
    try {
        write_file(folder / "taken", "x");
        FAIL() << "a folder was overwritten";
    } catch (const RunError& error) {
        EXPECT_NE(std::string(error.what()).find(folder / "taken"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("directory"), std::string::npos) << error.what();
    }
    EXPECT_FALSE(std::filesystem::exists(part_name(folder / "taken")));
    EXPECT_THROW(write_file(folder / "missing/file", "x"), RunError);
    EXPECT_THROW(read_file(folder / "missing"), RunError);
}

}  // namespace
}  // namespace tarn
