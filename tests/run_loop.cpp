// The small parts of the loop: how a frame is divided, and the copy that a failed step is taken back to.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tarn/run/backup.h"
#include "tarn/run/frames.h"

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

TEST(Backup, gives_back_every_bit)
{
    Water<2> water;
    water.grid = Grid<2>({40, 30}, 0.1);
    water.phi = Field<2>(water.grid);
    water.pressure = Field<2>(water.grid);
    water.velocity = FaceField<2>(water.grid);
    water.ledger = Ledger<2>(water.grid);
    const auto fill = [&](float x) {
        for (size_t i = 0; i < water.phi.size(); ++i) water.phi.data()[i] = x + float(i);
        for (size_t i = 0; i < water.phi.size(); i += 7) water.pressure.data()[i] = x * float(i);
        for (int a = 0; a < 2; ++a) water.velocity[a](Cell<2>{3, 4}) = x - float(a);
        water.time = x;
        water.step = long(x);
        water.volume_expected = 2 * x;
        water.particles.resize(int(x));
        water.particles.column(1)[0] = x;
        water.fragments.resize(2 * int(x));
        water.fragments.column(2)[1] = x;
        water.ledger.expected.assign(size_t(x), x);
        water.ledger.body(Cell<2>{5, 6}) = int(x);
    };
    Backup<2> backup(water.grid);
    fill(1);
    backup.take(water);
    fill(5);
    backup.give_back(water);
    EXPECT_EQ(water.phi.data()[0], 1);
    EXPECT_EQ(water.phi.data()[water.phi.size() - 1], 1 + float(water.phi.size() - 1));
    EXPECT_EQ(water.pressure.data()[14], 14);
    EXPECT_EQ(water.pressure.data()[15], 0);
    EXPECT_EQ(water.velocity[1](Cell<2>{3, 4}), 0);
    EXPECT_EQ(water.velocity[0](Cell<2>{3, 4}), 1);
    EXPECT_EQ(water.time, 1);
    EXPECT_EQ(water.step, 1);
    EXPECT_EQ(water.volume_expected, 2);
    EXPECT_EQ(water.particles.count(), 1);
    EXPECT_EQ(water.particles.column(1)[0], 1);
    EXPECT_EQ(water.fragments.count(), 2);
    EXPECT_EQ(water.fragments.column(2)[1], 1);
    EXPECT_EQ(water.ledger.expected, std::vector<double>{1});
    EXPECT_EQ(water.ledger.body(Cell<2>{5, 6}), 1);
}

}  // namespace
}  // namespace tarn
