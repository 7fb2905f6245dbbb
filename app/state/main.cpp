// tarn-state: runs a packed scene and leaves its states, with nothing but the standard library. `tarn pack` makes the
// one, and `tarn convert` turns the other into meshes, pictures and a movie, wherever the whole program is.

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <new>
#include <utility>

#include "tarn/backend/parallel.h"
#include "tarn/base/error.h"
#include "tarn/base/nearest.h"
#include "tarn/base/timer.h"
#include "tarn/base/version.h"
#include "tarn/output/checkpoint.h"
#include "tarn/output/files.h"
#include "tarn/run/complaint.h"
#include "tarn/run/exit_code.h"
#include "tarn/run/frames.h"
#include "tarn/run/states.h"
#include "tarn/run/stats.h"
#include "tarn/scene/contacts.h"
#include "tarn/scene/pack.h"
#include "tarn/scene/validate.h"
#include "tarn/step/gauges.h"

namespace fs = std::filesystem;
using namespace tarn;

namespace {

constexpr const char* help = R"(Runs a packed scene and leaves the state of every frame.
Usage: tarn-state PACKED --out DIR [--frames N] [--threads N] [--resume]

  PACKED        Packed scene, made by: tarn pack SCENE
  --out DIR     Folder for the states
  --frames N    Frames to make, instead of time.frames
  --threads N   Threads [one per core]; the result is the same on any number
  --resume      Go on from the newest state in the folder
  -h, --help    Print this and leave
  --version     Print the version and leave

Then, where the whole program is: tarn convert DIR

Exit codes: 0 done, 1 the simulation failed, 2 bad input.
)";

struct Options {
    std::string packed, out;
    int frames = 0;   // as the scene says where 0
    int threads = 0;  // as many as there are cores where 0
    bool resume = false, help = false, version = false;
};

int whole_number(const std::string& option, const std::string& text)
{
    int n = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), n);
    if (end.ec != std::errc() || end.ptr != text.data() + text.size() || n < 1)
        throw InputError(option + " " + text + ": give a whole number greater than 0");
    return n;
}

Options parse(const std::vector<std::string>& words)
{
    Options o;
    for (size_t i = 0; i < words.size(); ++i) {
        if (words[i].empty() || words[i][0] != '-') {
            if (!o.packed.empty()) throw InputError(words[i] + ": one packed scene at a time; --help tells more");
            o.packed = words[i];
            continue;
        }
        // An option's value follows it, or stands behind an equals sign.
        const size_t equals = words[i].find('=');
        const std::string option = words[i].substr(0, equals);
        const auto value = [&] {
            if (equals != std::string::npos) return words[i].substr(equals + 1);
            if (i + 1 == words.size()) throw InputError(option + ": a value must follow; --help tells more");
            return words[++i];
        };
        if (option == "--out") {
            o.out = value();
        } else if (option == "--frames") {
            o.frames = whole_number(option, value());
        } else if (option == "--threads") {
            o.threads = whole_number(option, value());
        } else if (words[i] == "--resume") {
            o.resume = true;
        } else if (words[i] == "--help" || words[i] == "-h") {
            o.help = true;
        } else if (words[i] == "--version") {
            o.version = true;
        } else {
            throw InputError("unknown option \"" + words[i] + "\"; " +
                             suggestion(option, {"--out", "--frames", "--threads", "--resume", "--help", "--version"}));
        }
    }
    if (o.help || o.version) return o;
    if (o.packed.empty()) throw InputError("no scene given; make one with: tarn pack SCENE");
    if (o.out.empty()) throw InputError("no folder given; give one with --out DIR");
    return o;
}

Scene read_packed(const std::string& path)
{
    std::string bytes;
    try {
        bytes = read_file(path);
    } catch (const RunError& e) {
        throw InputError(std::string(e.what()) + "; check the name of the packed scene");
    }
    return unpack_scene(bytes, path);
}

// What must agree for one run to go on where another stopped: all but its name, how long it is and what it writes.
std::string identity(Scene scene)
{
    scene.name.clear();
    scene.params.time.frames = TimeParams{}.frames;
    scene.params.output = OutputParams{};
    return pack_scene(scene);
}

// Makes the folder, or takes over the states that it holds; the log is locked. Throws InputError where that must not
// or cannot be done.
LineFile open_folder(const std::string& dir, const Scene& scene, bool resume)
{
    std::error_code error;
    if (fs::exists(dir, error) && !fs::is_directory(dir, error))
        throw InputError(dir + ": is a file; give a folder with --out");
    if (fs::exists(packed_scene_path(dir), error)) {
        if (!resume) throw InputError(dir + ": holds states; go on with --resume, or give another folder with --out");
        if (identity(read_packed(packed_scene_path(dir))) != identity(scene))
            throw InputError(dir + ": holds the states of another scene; give another folder with --out");
    } else if (!is_free(dir)) {
        throw InputError(dir + ": is not empty and holds no states of Tarn; give another folder with --out");
    }
    LineFile log;
    try {
        fs::create_directories(dir);
        log = LineFile(dir + "/log.txt");
    } catch (const fs::filesystem_error& e) {
        throw InputError(dir + ": cannot be made: " + e.code().message() + "; give another folder with --out");
    } catch (const RunError& e) {
        throw InputError(std::string(e.what()) + "; give another folder with --out");
    }
    if (!log.lock()) throw InputError(dir + ": another run is writing there; give another folder with --out");
    return log;
}

template <int D>
class Simulation {
public:
    Simulation(const Scene& scene, const std::string& dir, LineFile& log)
        : scene_(scene), params_(scene.params), dir_(dir), log_(log), water_(initial_water<D>(scene))
    {
    }

    int run(bool resume)
    {
        const bool resumed = resume && load();
        if (frame_ >= params_.time.frames) {
            say(dir_ + ": all " + std::to_string(frame_) + " frames are there; more with --frames");
            return exit_done;
        }
        begin(resumed);
        while (frame_ < params_.time.frames) {
            const Timer timer;
            while (water_.time < frame_time(frame_ + 1))
                if (const std::string why = advance(); !why.empty()) return fail(why);
            ++frame_;
            save();
            report_frame(timer.seconds());
        }
        say("done: " + std::to_string(frame_) + " frames -> " + dir_);
        return exit_done;
    }

private:
    double frame_time(int frame) const { return params_.time.time_of(frame); }

    bool load()
    {
        const std::map<int, std::string> all = states(dir_);
        for (auto state = all.rbegin(); state != all.rend(); ++state) {
            try {
                frame_ = load_checkpoint(state->second, water_);
                restore(water_, scene_);
                say("going on from " + state->second);
                return true;
            } catch (const RunError& e) {
                std::fprintf(stderr, "tarn-state: warning: %s\n", e.what());
            }
        }
        say("no state to go on from: starting at frame 0");
        return false;
    }

    // The scene marks the folder, so it comes before any state.
    void begin(bool resumed)
    {
        write_file(packed_scene_path(dir_), pack_scene(scene_));
        fs::create_directories(fs::path(state_path(dir_, 0)).parent_path());
        stats_ = StatsFile(dir_ + "/stats.csv", resumed ? water_.step : -1);
        gauges_ = GaugesFile(dir_ + "/gauges.csv", resumed ? water_.step : -1, gauge_columns(params_));
        measures_ = measure(water_, params_);
        if (resumed) return;
        stats_.add(stats_row(water_, measures_, {}));
        gauges_.add(water_.step, water_.time, read_gauges(water_, scene_));
        save();
    }

    // One step towards the end of the frame. Returns what was wrong with it.
    std::string advance()
    {
        const Timer timer;
        const double frame_end = frame_time(frame_ + 1);
        const double remaining = frame_end - water_.time;
        const double limit = choose_dt(water_, scene_);
        const double dt = equal_step(remaining, limit);
        if (!(dt > 0)) return step_too_short(limit, measures_.max_speed);
        report_ = step(water_, scene_, dt);
        if (const std::string why = complaint(report_, params_); !why.empty()) return why;
        // The sum of the steps may miss the frame by a rounding error; frames are hit exactly.
        if (dt == remaining) water_.time = frame_end;

        const double speed = measures_.max_speed;
        measures_ = measure(water_, params_);
        StatsRow row = stats_row(water_, measures_, report_);
        row.frame = frame_ + 1;
        row.cfl = speed * dt / water_.grid.h;
        row.seconds = timer.seconds();
        row.seconds_output = std::exchange(seconds_output_, 0);
        stats_.add(row);
        gauges_.add(water_.step, water_.time, read_gauges(water_, scene_));
        return {};
    }

    void save()
    {
        const ScopedTimer timer(seconds_output_);
        save_checkpoint(state_path(dir_, frame_), water_, frame_);
    }

    void report_frame(double seconds)
    {
        char drift[32] = "-", text[160];
        if (water_.volume_expected > 0)
            std::snprintf(drift, sizeof drift, "%+.2f %%", 100 * (measures_.volume / water_.volume_expected - 1));
        std::snprintf(text, sizeof text, "frame %d/%d  dt %.2g s  iterations %d  volume %s  %.2f s", frame_,
                      params_.time.frames, report_.dt, report_.pressure.iterations, drift, seconds);
        say(text);
    }

    int fail(const std::string& why)
    {
        const std::string text = "frame " + std::to_string(frame_ + 1) + ": a step failed: " + why +
                                 "; pack the scene with smaller steps (--set time.cfl=...), or use tarn run, which "
                                 "tries again with smaller ones";
        log_.add(text);
        std::fprintf(stderr, "tarn-state: %s\n", text.c_str());
        return exit_failed;
    }

    void say(const std::string& text)
    {
        log_.add(text);
        std::printf("%s\n", text.c_str());
        std::fflush(stdout);
    }

    const Scene& scene_;
    const Params& params_;
    const std::string& dir_;
    LineFile& log_;
    StatsFile stats_;
    GaugesFile gauges_;

    Water<D> water_;
    int frame_ = 0;      // the newest whose state is written
    Measures measures_;  // of water_ as it stands
    StepReport report_;  // of the newest step
    double seconds_output_ = 0;
};

int run_command_line(const std::vector<std::string>& words)
{
    const Options options = parse(words);
    if (options.help || options.version) {
        std::fputs(options.help ? help : (std::string("tarn-state ") + version() + "\n").c_str(), stdout);
        return exit_done;
    }
    if (on_device()) (void)device();
    set_threads(options.threads);
    if (threads() < options.threads)
        throw InputError("--threads " + std::to_string(options.threads) + ": this program runs on " +
                         std::to_string(threads()) + " at most; build it with oneTBB for more: -DTARN_BACKEND=tbb");
    Scene scene = read_packed(options.packed);
    if (options.frames > 0) scene.params.time.frames = options.frames;
    if (const auto wrong = problems(scene.params); !wrong.empty())
        throw InputError(wrong[0].key + ": " + wrong[0].text);
    if (!scene.bodies.empty() && !contacts_available())
        throw InputError(options.packed + ": has rigid bodies, which need Bullet to touch each other, and this program is built "
                         "without; use tarn run");
    LineFile log = open_folder(options.out, scene, options.resume);
    if (scene.params.dimension() == 2) return Simulation<2>(scene, options.out, log).run(options.resume);
    return Simulation<3>(scene, options.out, log).run(options.resume);
}

// Errors are one line, whatever they quote.
int complain(std::string text, int code)
{
    std::replace(text.begin(), text.end(), '\n', ' ');
    std::fprintf(stderr, "tarn-state: %s\n", text.c_str());
    return code;
}

}  // namespace

int main(int argc, char** argv)
{
    try {
        return run_command_line({argv + 1, argv + argc});
    } catch (const InputError& e) {
        return complain(e.what(), exit_bad_input);
    } catch (const std::bad_alloc&) {
        return complain("out of memory; pack the scene with a lower domain.cells", exit_failed);
    } catch (const std::exception& e) {
        return complain(e.what(), exit_failed);
    }
}
