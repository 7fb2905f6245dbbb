// hypre and the multigrid on the same steps of shipped scenes.

#include <gtest/gtest.h>

#include "run_helpers.h"
#include "tarn/backend/hypre.h"
#include "tarn/run/bench_pressure.h"
#include "tarn/scene/read.h"

namespace tarn {
namespace {

using testing::difference;
using testing::Outcome;
using testing::ProgramTest;
using testing::small_scene;

class WithHypre : public ProgramTest {
};

// Water alone, with enclosed air, with bodies, with solids that move, and with air, in two and three dimensions: in the first step and in
// the hundredth, both solvers converge, and where both go on to a hundredth of the tolerance, their pressures agree to the tolerance: a residual
// leaves a larger error of the pressure, the longer and shallower the water is.
TEST(Hypre, agrees_with_the_multigrid_in_shipped_scenes)
{
    if (!hypre_module()) GTEST_SKIP() << "hypre is not there";
    const std::pair<const char*, int> scenes[] = {{"dam_break_2d", 64},   {"floating_bodies_2d", 64}, {"piston_2d", 120},
                                                  {"pressed_cup_2d", 48}, {"rising_disc_2d", 48},     {"dam_break", 32},
                                                  {"drowned_cup", 24},    {"rubber_ducks", 40},       {"stream_over_terrain", 40}};
    int compared = 0;
    for (const auto& [name, cells] : scenes) {
        const Scene scene =
            read_scene(std::string(TARN_SOURCE_DIR) + "/scenes/" + name + ".toml", {{"domain.cells", std::to_string(cells)}});
        const std::vector<SolverRow> rows = compare_solvers(scene, {1, 100}, 1);
        EXPECT_EQ(rows.size(), 2u) << name;
        for (const SolverRow& row : rows) {
            EXPECT_TRUE(row.hypre.converged) << name << ' ' << row.step;
            EXPECT_TRUE(row.multigrid.converged) << name << ' ' << row.step;
            EXPECT_LE(row.hypre.residual, scene.params.pressure.tolerance) << name << ' ' << row.step;
            // Where the set of walls that water has left takes several solves, roughly solved ones choose it, and each solver may end
            // with a set of its own, which is another system.
            if (row.hypre.solves == 1 && row.multigrid.solves == 1) {
                EXPECT_LE(row.difference_beyond, scene.params.pressure.tolerance) << name << ' ' << row.step;
                ++compared;
            }
        }
    }
    EXPECT_GE(compared, 12);
}

// A whole run, resumed as any other, and the same bits again.
TEST_F(WithHypre, a_run_is_the_same_bits_after_resuming_and_on_more_threads)
{
    if (!hypre_module()) GTEST_SKIP() << "hypre is not there";
    write("small.toml", small_scene("[pressure]\nsolver = \"hypre\"\n"));
    const auto hash = [&](const std::string& dir) {
        const std::string text = read(dir + "/run.json");
        return text.substr(text.find("\"hash\""), 30);
    };
    ASSERT_EQ(tarn({"run", "small.toml", "--out", "a", "--threads", "1"}).code, 0);
    ASSERT_EQ(tarn({"run", "small.toml", "--out", "b", "--threads", "2", "--frames", "5"}).code, 0);
    ASSERT_EQ(tarn({"run", "small.toml", "--out", "b", "--threads", "2", "--resume"}).code, 0);
    EXPECT_EQ(hash("a"), hash("b"));
    EXPECT_EQ(difference(physics("a"), physics("b")), "");
}

// A bad scene is told where and why, whether hypre is there or not.
TEST_F(WithHypre, what_it_does_not_solve_is_refused)
{
    write("tall.toml", small_scene("[method]\ngrid = \"tall\"\n[pressure]\nsolver = \"hypre\"\n"));
    const Outcome r = tarn({"check", "tall.toml"});
    EXPECT_EQ(r.code, 2);
    EXPECT_NE(r.err.find("pressure.solver"), std::string::npos) << r.err;
}

}  // namespace
}  // namespace tarn
