// A run through the real program: what it leaves, how it stops, and that it goes on with the same bits.

#include <algorithm>
#include <csignal>
#include <map>

#include "run_helpers.h"

namespace fs = std::filesystem;

namespace tarn::testing {
namespace {

long lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

using ARun = ProgramTest;

TEST_F(ARun, leaves_what_the_design_promises)
{
    write("small.toml", small_scene());
    const Outcome r = tarn({"run", "small.toml", "--frames", "2", "--set", "output.preview=true"});
    ASSERT_EQ(r.code, 0) << r.err;
    for (const char* file : {"scene.toml", "run.json", "stats.csv", "log.txt", "surface/frame_0000.ply",
                             "surface/frame_0002.ply", "preview/frame_0002.png", "state/frame_0002.state", "movie.mp4"})
        EXPECT_TRUE(exists(std::string("out/small/") + file)) << file;
    EXPECT_FALSE(exists("out/small/surface/frame_0003.ply"));
    EXPECT_NE(read("out/small/run.json").find("\"state\": \"done\""), std::string::npos);
    const std::string stats = read("out/small/stats.csv");
    EXPECT_EQ(
        stats.substr(0, stats.find('\n')),
        "frame,step,time,dt,cfl,volume,volume_expected,kinetic_energy,potential_energy,max_speed,max_divergence,"
        "pressure_iterations,pressure_residual,unknowns,cells_wet,particles,seconds,seconds_advect,seconds_surface,"
        "seconds_pressure,seconds_output,memory_mb,components,fragments,volume_droplets,volume_bubbles,"
        "volume_exchanged,momentum_fragments_x,momentum_fragments_y,momentum_fragments_z,momentum_exchanged_x,"
        "momentum_exchanged_y,momentum_exchanged_z,momentum_gravity_x,momentum_gravity_y,momentum_gravity_z,max_speed_air");
}

TEST_F(ARun, in_slow_motion_has_more_frames_of_less_time)
{
    write("small.toml", small_scene("[[solid]]\nshape = \"sphere\"\ncenter = [0.7, 0.2, 0.25]\nradius = 0.1\n"));
    ASSERT_EQ(tarn({"run", "small.toml", "--frames", "4", "--out", "slow", "--set", "time.speed=0.5"}).code, 0);
    ASSERT_EQ(tarn({"run", "small.toml", "--frames", "2", "--out", "plain"}).code, 0);
    const auto last_time = [&](const std::string& dir) {
        const std::string stats = read(dir + "/stats.csv"), row = stats.substr(stats.rfind('\n', stats.size() - 2) + 1);
        return std::stod(row.substr(row.find(',', row.find(',') + 1) + 1));
    };
    EXPECT_EQ(last_time("slow"), last_time("plain"));
    EXPECT_EQ(last_time("slow"), 2.0 / 30);
    EXPECT_NE(read("slow/run.json").find("\"rate\": 30"), std::string::npos);
    const Outcome checked = tarn({"check", "small.toml", "--set", "time.speed=0.5"});
    EXPECT_NE(checked.out.find("12 frames at 30 per second: 0.2 s, 0.4 s on the screen"), std::string::npos) << checked.out;
}

TEST_F(ARun, hits_every_frame_exactly)
{
    write("small.toml", small_scene());
    ASSERT_EQ(tarn({"run", "small.toml", "--out", "o", "--set", "time.rate=24"}).code, 0);
    const std::vector<double> frame = column("o", "frame"), time = column("o", "time"), dt = column("o", "dt");
    std::map<int, double> last;
    double sum = 0;
    for (size_t i = 0; i < frame.size(); ++i) {
        last[int(frame[i])] = time[i];
        sum += dt[i];
    }
    ASSERT_EQ(last.size(), 13u);
    for (const auto& [n, t] : last) EXPECT_EQ(t, n / 24.0);
    EXPECT_NEAR(sum, 0.5, 1e-12);
}

TEST_F(ARun, prints_one_line_a_frame_into_a_pipe_and_none_when_quiet)
{
    write("small.toml", small_scene());
    const Outcome loud = tarn({"run", "small.toml", "--out", "loud", "--frames", "3"});
    EXPECT_EQ(loud.out.find('\r'), std::string::npos);
    EXPECT_NE(loud.out.find("frame 3/3"), std::string::npos) << loud.out;
    const Outcome quiet = tarn({"run", "small.toml", "--out", "quiet", "--frames", "3", "--quiet"});
    EXPECT_EQ(quiet.out + quiet.err, "");
}

TEST_F(ARun, gives_the_same_bits_on_any_number_of_threads)
{
    write("small.toml", small_scene());
    ASSERT_EQ(tarn({"run", "small.toml", "--out", "one", "--threads", "1"}).code, 0);
    ASSERT_EQ(tarn({"run", "small.toml", "--out", "two", "--threads", "2"}).code, 0);
    ASSERT_EQ(tarn({"run", "small.toml", "--out", "many", "--threads", "5"}).code, 0);
    EXPECT_EQ(difference(physics("one"), physics("two")), "");
    EXPECT_EQ(difference(physics("one"), physics("many")), "");
    EXPECT_EQ(difference(newest_checkpoint("one"), newest_checkpoint("two")), "");
    EXPECT_EQ(difference(newest_checkpoint("one"), newest_checkpoint("many")), "");
    EXPECT_EQ(difference(tree("one/surface"), tree("two/surface")), "");
}

// Stops a run by a signal when a frame appears, resumes it, and compares with one that was left alone.
class Stopped : public ProgramTest {
protected:
    void stop_and_compare(int signal, int expected_code, const std::string& scene)
    {
        write("small.toml", scene);
        const Outcome whole = tarn({"run", "small.toml", "--out", "whole"});
        ASSERT_EQ(whole.code, 0) << whole.err;
        const Outcome stopped = tarn(Launch{.words = {"run", "small.toml", "--out", "o"},
                                            .watch = [&] { return exists("o/surface/frame_0005.ply") ? signal : 0; }});
        ASSERT_EQ(stopped.code, expected_code) << stopped.out << stopped.err;
        ASSERT_FALSE(exists("o/surface/frame_0012.ply")) << "the run was over before it could be stopped";
        const auto before = tree("o/surface");
        const Outcome resumed = tarn({"run", "small.toml", "--out", "o", "--resume"});
        ASSERT_EQ(resumed.code, 0) << resumed.err;
        EXPECT_NE(resumed.out.find("going on from"), std::string::npos) << resumed.out;
        EXPECT_EQ(difference(physics("o"), physics("whole")), "");
        EXPECT_EQ(difference(newest_checkpoint("o"), newest_checkpoint("whole")), "");
        EXPECT_EQ(difference(tree("o/surface"), tree("whole/surface")), "");
        EXPECT_LE(tree("o/checkpoint").size(), 2u);
    }
};

TEST_F(Stopped, killed_at_any_moment_it_goes_on_with_the_same_bits)
{
    stop_and_compare(SIGKILL, 128 + SIGKILL, small_scene());
}

TEST_F(Stopped, by_control_c_it_saves_answers_130_and_goes_on_with_the_same_bits)
{
    stop_and_compare(SIGINT, 130, small_scene());
}

TEST_F(Stopped, by_a_terminate_it_saves_too) { stop_and_compare(SIGTERM, 130, small_scene()); }

TEST_F(Stopped, with_a_moving_solid_and_a_source_it_goes_on_with_the_same_bits)
{
    stop_and_compare(SIGINT, 130, small_scene(R"(
[[solid]]
shape = "sphere"
center = [0.7, 0.2, 0.25]
radius = 0.12
translate = [{t = 0, v = [0, 0, 0]}, {t = 1, v = [-0.4, 0.2, 0]}]
[[source]]
shape = "box"
min = [0.8, 0.7, 0.2]
max = [1.0, 0.9, 0.3]
velocity = [{t = 0, v = [-6, 0, 0]}, {t = 0.2, v = [-1, 0, 0]}]
)"));
}

TEST_F(Stopped, before_the_first_checkpoint_it_starts_over)
{
    write("small.toml", small_scene());
    ASSERT_EQ(tarn({"run", "small.toml", "--out", "whole"}).code, 0);
    tarn(Launch{.words = {"run", "small.toml", "--out", "o", "--set", "output.checkpoint_every=1000"},
                .watch = [&] { return exists("o/surface/frame_0002.ply") ? SIGKILL : 0; }});
    ASSERT_TRUE(!exists("o/checkpoint") || tree("o/checkpoint").empty());
    ASSERT_EQ(tarn({"run", "small.toml", "--out", "o", "--resume"}).code, 0);
    EXPECT_EQ(difference(physics("o"), physics("whole")), "");
}

// A quick run does not wait for the disk: by default some seconds lie between checkpoints, and this one takes less.
TEST_F(ARun, saves_no_more_often_than_asked)
{
    write("small.toml", small_scene());
    ASSERT_EQ(tarn({"run", "small.toml", "--quiet", "--set", "output.checkpoint_interval=3600"}).code, 0);
    EXPECT_EQ(tree("out/small/checkpoint").size(), 1u);
    ASSERT_EQ(tarn({"run", "small.toml", "--quiet", "--force", "--set", "output.checkpoint_interval=0"}).code, 0);
    EXPECT_EQ(tree("out/small/checkpoint").size(), 2u);
}

TEST_F(Stopped, with_its_newest_checkpoint_damaged_it_uses_the_one_before)
{
    write("small.toml", small_scene());
    ASSERT_EQ(tarn({"run", "small.toml", "--out", "whole"}).code, 0);
    ASSERT_EQ(tarn({"run", "small.toml", "--out", "o", "--frames", "9"}).code, 0);
    const auto files = tree("o/checkpoint");
    ASSERT_EQ(files.size(), 2u);
    write("o/checkpoint/" + files.back().first, files.back().second.substr(0, 1000));
    const Outcome resumed = tarn({"run", "small.toml", "--out", "o", "--resume"});
    ASSERT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_NE(resumed.err.find("older checkpoint"), std::string::npos) << resumed.err;
    EXPECT_EQ(difference(physics("o"), physics("whole")), "");
    EXPECT_EQ(difference(newest_checkpoint("o"), newest_checkpoint("whole")), "");
}

TEST_F(ARun, that_is_finished_says_so_and_takes_more_frames)
{
    write("small.toml", small_scene());
    ASSERT_EQ(tarn({"run", "small.toml", "--out", "o", "--frames", "4"}).code, 0);
    const auto before = tree("o");
    const Outcome again = tarn({"run", "small.toml", "--out", "o", "--frames", "4", "--resume"});
    EXPECT_EQ(again.code, 0);
    EXPECT_NE(again.out.find("all 4 frames are there"), std::string::npos) << again.out;
    EXPECT_EQ(difference(tree("o"), before), "");

    ASSERT_EQ(tarn({"run", "small.toml", "--out", "o", "--resume"}).code, 0);
    ASSERT_EQ(tarn({"run", "small.toml", "--out", "whole"}).code, 0);
    EXPECT_EQ(difference(physics("o"), physics("whole")), "");
    EXPECT_EQ(difference(newest_checkpoint("o"), newest_checkpoint("whole")), "");
}

TEST_F(ARun, does_not_touch_a_run_that_is_there)
{
    write("small.toml", small_scene());
    ASSERT_EQ(tarn({"run", "small.toml", "--frames", "2"}).code, 0);
    const auto before = tree("out");
    for (const std::vector<std::string>& words : {std::vector<std::string>{"run", "small.toml", "--frames", "2"},
                                                  {"run", "small.toml", "--set", "domain.cells=16"},
                                                  {"run", "small.toml", "--set", "domain.cells=16", "--resume"}}) {
        const Outcome r = tarn(words);
        EXPECT_EQ(r.code, 2);
        EXPECT_EQ(lines(r.err), 1) << r.err;
        EXPECT_NE(r.err.find("--force"), std::string::npos) << r.err;
        EXPECT_EQ(difference(tree("out"), before), "");
    }
    // What is not the run's stays, even when the run is replaced.
    write("out/small/surface/notes.txt", "mine");
    write("out/small/notes.txt", "mine");
    ASSERT_EQ(tarn({"run", "small.toml", "--set", "domain.cells=16", "--frames", "1", "--force"}).code, 0);
    EXPECT_EQ(read("out/small/surface/notes.txt") + read("out/small/notes.txt"), "minemine");
    EXPECT_FALSE(exists("out/small/surface/frame_0002.ply"));
}

TEST_F(ARun, refuses_a_folder_that_holds_something_else)
{
    write("small.toml", small_scene());
    write("thesis/chapter.txt", "years of work");
    const Outcome r = tarn({"run", "small.toml", "--out", "thesis", "--force"});
    EXPECT_EQ(r.code, 2);
    EXPECT_EQ(lines(r.err), 1) << r.err;
    EXPECT_EQ(tree("thesis").size(), 1u);
}

TEST_F(ARun, refuses_a_folder_in_which_another_program_runs)
{
    write("small.toml", small_scene());
    Outcome second;
    // So many frames that the first run is still going when the second one looks, however quick the machine.
    tarn(Launch{.words = {"run", "small.toml", "--out", "o", "--frames", "5000"}, .watch = [&] {
                    if (!exists("o/surface/frame_0001.ply")) return 0;
                    second = tarn({"run", "small.toml", "--out", "o", "--resume"});
                    return SIGKILL;
                }});
    EXPECT_EQ(second.code, 2);
    EXPECT_NE(second.err.find("another run"), std::string::npos) << second.err;
}

TEST_F(ARun, on_a_full_disk_stops_with_one_line_and_goes_on_when_there_is_room)
{
    write("small.toml", small_scene());
    ASSERT_EQ(tarn({"run", "small.toml", "--out", "whole"}).code, 0);
    // The limit falls between the log and the first file that does not fit: a checkpoint of 24 x 24 x 12 cells is
    // larger.
    const Outcome full =
        tarn(Launch{.words = {"run", "small.toml", "--out", "o", "--set", "output.surface=none"}, .file_limit = 20000});
    EXPECT_EQ(full.code, 1);
    EXPECT_EQ(lines(full.err), 1) << full.err;
    EXPECT_NE(full.err.find("File too large"), std::string::npos) << full.err;
    EXPECT_NE(full.err.find("--resume"), std::string::npos) << full.err;
    ASSERT_EQ(tarn({"run", "small.toml", "--out", "o", "--resume"}).code, 0);
    EXPECT_EQ(difference(physics("o"), physics("whole")), "");
}

TEST_F(ARun, whose_folder_vanishes_stops_with_one_line)
{
    write("small.toml", small_scene());
    bool removed = false;
    const Outcome r = tarn(Launch{.words = {"run", "small.toml", "--out", "o", "--quiet"}, .watch = [&] {
                                      if (!removed && exists("o/surface/frame_0002.ply")) {
                                          std::error_code error;
                                          fs::rename(folder / "o", folder / "elsewhere", error);
                                          removed = true;
                                      }
                                      return 0;
                                  }});
    EXPECT_EQ(r.code, 1);
    EXPECT_EQ(lines(r.err), 1) << r.err;
}

TEST_F(ARun, whose_pressure_cannot_be_solved_stops_saves_and_replays)
{
    write("small.toml", small_scene("[pressure]\nsolver = \"mic0\"\ntolerance = 1e-12\nmax_iterations = 1\n"));
    const Outcome r = tarn({"run", "small.toml", "--out", "o", "--quiet"});
    EXPECT_EQ(r.code, 1);
    EXPECT_EQ(lines(r.err), 1) << r.err;
    EXPECT_NE(r.err.find("pressure"), std::string::npos) << r.err;
    EXPECT_NE(r.err.find("run small.toml --out o --resume"), std::string::npos) << r.err;
    EXPECT_TRUE(exists("o/checkpoint/failed.ckpt"));
    EXPECT_NE(read("o/run.json").find("\"state\": \"failed\""), std::string::npos);
    // Each retry is in the log: four halvings.
    const std::string log = read("o/log.txt");
    size_t again = 0;
    for (size_t at = 0; (at = log.find("again with dt", at)) != std::string::npos; ++at) ++again;
    EXPECT_EQ(again, 4u) << log;

    const Outcome replay = tarn({"run", "small.toml", "--out", "o", "--quiet", "--resume"});
    EXPECT_EQ(replay.code, 1);
    EXPECT_EQ(replay.err, r.err);
}

TEST_F(ARun, without_ffmpeg_warns_and_is_done)
{
    write("small.toml", small_scene());
    const Outcome r = tarn(
        Launch{.words = {"run", "small.toml", "--out", "o", "--frames", "1", "--quiet", "--set", "output.preview=true"},
               .environment = {{"PATH", "/nonexistent"}}});
    EXPECT_EQ(r.code, 0);
    EXPECT_EQ(lines(r.err), 1) << r.err;
    EXPECT_NE(r.err.find("warning: no movie"), std::string::npos) << r.err;
    EXPECT_FALSE(exists("o/movie.mp4"));
}

TEST_F(ARun, in_two_dimensions_works_alike)
{
    write("flat.toml", R"(tarn = 1
[domain]
size = [1.0, 1.0]
cells = 48
[[water]]
shape = "box"
min = [0, 0]
max = [0.4, 0.6]
[time]
frames = 4
)");
    const Outcome r = tarn({"run", "flat.toml"});
    ASSERT_EQ(r.code, 0) << r.err;
    EXPECT_TRUE(exists("out/flat/surface/frame_0004.ply"));
    EXPECT_TRUE(exists("out/flat/movie.mp4"));
    const Outcome movie = tarn({"movie", "out/flat"});
    EXPECT_EQ(movie.code, 0) << movie.err;
}

}  // namespace
}  // namespace tarn::testing
