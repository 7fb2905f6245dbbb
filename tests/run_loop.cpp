// The small parts of the loop: how a frame is divided, and the copy that a failed step is taken back to.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tarn/output/checkpoint.h"
#include "tarn/run/backup.h"
#include "tarn/run/frames.h"
#include "temporary_folder.h"

namespace tarn {
namespace {

TEST(EqualStep, divides_what_remains_of_a_frame)
{
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(equal_step(0.1, infinity), 0.1);
    EXPECT_EQ(equal_step(0.1, 0.1), 0.1);
    EXPECT_EQ(equal_step(0.1, 0.06), 0.05);
    EXPECT_EQ(equal_step(0.1, 0.1 / 3), 0.1 / 3);
    // Rounding makes no extra step.
    EXPECT_EQ(equal_step(0.1, 0.1 * (1 - 1e-9)), 0.1);
}

TEST(EqualStep, gives_up_on_a_frame_that_would_take_for_ever)
{
    EXPECT_GT(equal_step(1, 1.0 / max_steps_per_frame), 0);
    EXPECT_EQ(equal_step(1, 0.5 / max_steps_per_frame), 0);
    EXPECT_EQ(equal_step(1, 0), 0);
    EXPECT_EQ(equal_step(1, std::nan("")), 0);
}

// Whatever a state may have, it has here: fields of every method, particles, droplets, bodies, enclosed air, sources, columns.
template <int D>
Water<D> water_with_everything(const Grid<D>& grid)
{
    Water<D> w;
    w.grid = grid;
    const auto make = [&](auto& f) { f = std::remove_cvref_t<decltype(f)>(grid); };
    for (auto* f : {&w.phi, &w.pressure, &w.volume_error, &w.smoke_density, &w.temperature}) make(*f);
    for (auto* f : {&w.velocity, &w.acceleration}) make(*f);
    make(w.phi_gradient);
    for (auto& g : w.velocity_gradient) make(g);
    w.targets = TargetVolumes<D>(grid);
    w.flows.due.resize(2);
    w.bodies.resize(1);
    w.tall.on = true;
    return w;
}

// Every word of every member, another one for each seed.
template <int D>
void fill_state(Water<D>& water, int seed)
{
    int member = 0;
    const auto value = [&](size_t i) { return 1 + (7919 * size_t(seed) + 131 * size_t(member) + i) % 8191; };
    for_each_member<D>(
        [&](const std::string&, auto& m) {
            ++member;
            using T = std::remove_cvref_t<decltype(m)>;
            if constexpr (ColumnList<T>) {
                m.resize(3 + seed);
                for (int c = 0; c < T::columns; ++c)
                    for (int i = 0; i < m.count(); ++i) m.column(c)[i] = float(value(size_t(100 * c + i)));
            } else if constexpr (std::is_same_v<T, Exchange>) {
                const double v = double(value(0));
                m = {v, {v + 1, v + 2, v + 3}, {v + 4, v + 5, v + 6}, v + 7};
            } else if constexpr (std::is_same_v<T, std::vector<RigidBody>>) {
                std::vector<double> numbers(rigid_state_numbers * m.size());
                for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = double(value(i));
                set_numbers(m, numbers);
            } else if constexpr (requires { m.data(); }) {
                if constexpr (requires { m.resize(1); })
                    if (&m != static_cast<const void*>(&water.flows.due)) m.resize(size_t(3 + seed));
                for (size_t i = 0; i < m.size(); ++i) m.data()[i] = static_cast<std::remove_cvref_t<decltype(m.data()[0])>>(value(i));
            } else {
                m = static_cast<T>(value(0));
            }
        },
        water);
}

template <int D>
void expect_that_every_bit_comes_back(const Grid<D>& grid)
{
    Water<D> water = water_with_everything<D>(grid), back = water_with_everything<D>(grid);
    fill_state(water, 1);
    const uint64_t hash = state_hash(water);
    Backup<D> backup(grid);
    backup.take(water);
    const TemporaryFolder folder;
    save_checkpoint(folder / "state", water, 1);
    fill_state(water, 5);
    EXPECT_NE(state_hash(water), hash);
    backup.give_back(water);
    EXPECT_EQ(state_hash(water), hash);
    fill_state(back, 3);
    (void)load_checkpoint(folder / "state", back);
    EXPECT_EQ(state_hash(back), hash);
}

TEST(State, comes_back_from_a_backup_and_a_checkpoint_in_every_bit)
{
    expect_that_every_bit_comes_back(Grid<2>({20, 15}, 0.1));
    expect_that_every_bit_comes_back(Grid<3>({5, 6, 7}, 0.1));
}

// One word of any member, and the hash is another: none is left out.
TEST(State, hash_is_over_every_member)
{
    Water<2> water = water_with_everything<2>(Grid<2>({20, 15}, 0.1));
    fill_state(water, 1);
    const uint64_t hash = state_hash(water);
    int members = 0;
    for_each_member<2>(
        [&](const std::string& name, auto& m) {
            using T = std::remove_cvref_t<decltype(m)>;
            ++members;
            const auto expect_another = [&](auto& word) {
                const auto before = word;
                word = static_cast<std::remove_cvref_t<decltype(word)>>(before + 1);
                EXPECT_NE(state_hash(water), hash) << name;
                word = before;
                EXPECT_EQ(state_hash(water), hash) << name;
            };
            if constexpr (ColumnList<T>)
                expect_another(m.column(T::columns - 1)[0]);
            else if constexpr (std::is_same_v<T, Exchange>)
                expect_another(m.next_id);
            else if constexpr (std::is_same_v<T, std::vector<RigidBody>>)
                expect_another(m[0].position[1]);
            else if constexpr (requires { m.data(); })
                expect_another(m.data()[m.size() / 2]);
            else
                expect_another(m);
        },
        water);
    EXPECT_EQ(members, 38);
}

}  // namespace
}  // namespace tarn
