// The command line: words in, one call into the library, an exit code out.

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <new>

#include <unistd.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "play.h"
#include "tarn/backend/parallel.h"
#include "tarn/base/nearest.h"
#include "tarn/base/version.h"
#include "tarn/output/files.h"
#include "tarn/params/describe.h"
#include "tarn/render/preview.h"
#include "tarn/run/bench.h"
#include "tarn/run/bench_pressure.h"
#include "tarn/run/check.h"
#include "tarn/run/convert.h"
#include "tarn/run/float.h"
#include "tarn/run/plot.h"
#include "tarn/run/redraw.h"
#include "tarn/run/render.h"
#include "tarn/run/run.h"
#include "tarn/run/validate.h"
#include "tarn/run/whitewater.h"
#include "tarn/scene/read.h"

namespace fs = std::filesystem;
using namespace tarn;

namespace {

constexpr const char* examples = R"(Examples:
  tarn run scenes/dam_break.toml                  frames, previews and a movie in out/dam_break
  tarn run scenes/dam_break.toml --frames 10 --set domain.cells=64 --out out/quick
  tarn run scenes/dam_break.toml --backend cuda   the same on a GPU
  tarn run scenes/dam_break.toml --resume         go on after Ctrl-C, a crash or a power cut
  tarn preview out/dam_break --set camera.fov=30  draws the run again, with another camera
  tarn render out/dam_break --frames 20-40        pictures by the renderer
  tarn whitewater out/dam_break                   spray, bubbles and foam over the run, for both of these
  tarn float out/soda_cans --scene scenes/floats/cans.toml   bodies that the run carries and that do not disturb it
  tarn check scenes/dam_break.toml                what it will take, and what looks like a mistake
  tarn params                                     every key of a scene file
  tarn view out/dam_break                         the run in a browser, while it goes on or afterwards
  tarn play                                       water to play with, in a browser
  tarn pack scenes/dam_break.toml                 dam_break.pack, for a machine that has only tarn-state
  tarn convert out/dam_break --set output.surface=usd   other files, from the states that it left

Exit codes: 0 done, 1 the simulation failed, 2 bad input, 130 interrupted (after saving).
The script ./tarn knows four more commands: build, test, python and blender.)";

// The folder that holds scenes/ and validation/: beside an installed program, or the source it was built from.
fs::path home()
{
    std::error_code error;
    const fs::path installed = fs::read_symlink("/proc/self/exe", error).parent_path() / "../share/tarn";
    return fs::exists(installed / "scenes", error) ? installed : fs::path(TARN_SOURCE_DIR);
}

// The folder of the page that `tarn play` serves: beside an installed program, or where the source is built.
fs::path web_folder()
{
    std::error_code error;
    return fs::exists(home() / "web", error) ? home() / "web" : home() / "build-web/web";
}

// The name under which the program was called: the script ./tarn gives its own.
std::string program_name()
{
    const char* name = std::getenv("TARN_COMMAND");
    return name ? name : "tarn";
}

// A word as a shell must be given it.
std::string shell_word(const std::string& word)
{
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
        return std::isalnum(c) || std::string_view("_-./=,:+").find(char(c)) != std::string_view::npos;
    });
    if (plain) return word;
    std::string quoted = "'";
    for (char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

Overrides overrides_of(const std::vector<std::string>& settings, int frames)
{
    Overrides overrides;
    for (const std::string& s : settings) {
        const size_t equals = s.find('=');
        if (equals == std::string::npos || equals == 0)
            throw InputError(fmt::format("--set {}: give it as key=value, such as --set domain.cells=64", s));
        overrides.emplace_back(s.substr(0, equals), s.substr(equals + 1));
    }
    if (frames > 0) overrides.emplace_back("time.frames", std::to_string(frames));
    return overrides;
}

int list_scenes()
{
    std::vector<fs::path> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(home() / "scenes", error))
        if (entry.path().extension() == ".toml") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    if (files.empty()) throw InputError(fmt::format("{}: no scenes there", (home() / "scenes").string()));
    for (const fs::path& file : files) {
        const Params params = read_params(read_file(file), file);
        fmt::print("{:<44} {}\n", fs::proximate(file, error).string(), params.title);
    }
    return exit_done;
}

// Of the drawings, of the renders, or of both, as they are there.
int movie(const std::string& dir, double rate)
{
    if (rate <= 0) {
        const std::string file = dir + "/scene.toml";
        rate = fs::exists(file) ? read_params(read_file(file), file).time.rate : TimeParams{}.rate;
    }
    const bool drawn = fs::exists(dir + "/preview/frame_0000.png"), rendered = fs::exists(dir + "/render/frame_0000.png");
    if (!drawn && !rendered)
        throw InputError(fmt::format("{}: no pictures in {}/preview or {}/render; make them with: {} preview {}", dir, dir,
                                     dir, program_name(), dir));
    if (drawn) {
        make_preview_movie(dir, rate);
        fmt::print("{}/movie.mp4\n", dir);
    }
    if (rendered) {
        make_render_movie(dir, rate);
        fmt::print("{}/render.mp4\n", dir);
    }
    return exit_done;
}

// The program whose kernels run on a GPU lies beside this one.
int hand_over_to_cuda(char** argv)
{
    const std::string program = fs::read_symlink("/proc/self/exe").parent_path() / "tarn-cuda";
    execv(program.c_str(), argv);
    throw InputError(
        fmt::format("--backend cuda: {}: {}; Tarn was built without CUDA: install its compiler, nvcc, and build again",
                    program, std::strerror(errno)));
}

// CLI11's own would tell the largest number that there is, digit by digit.
const CLI::Validator above_zero(
    [](std::string& text) -> std::string {
        double number = 0;
        if (CLI::detail::lexical_cast(text, number) && number > 0) return "";
        return "give a number above 0, not " + text;
    },
    "");

// Every command with its options, and what it does.
class CommandLine {
public:
    CommandLine()
    {
        app_.set_version_flag("--version", std::string("tarn ") + version());
        app_.set_help_flag("-h,--help", "Print this and leave");
        app_.footer(examples);
        app_.require_subcommand(1);
        add_scene_commands();
        add_picture_commands();
        add_other_commands();
    }

    int run(int argc, char** argv)
    {
        // A misspelt command is told apart from a bad argument.
        if (argc > 1 && argv[1][0] != '-') {
            std::vector<std::string> known;
            for (const auto& [command, action] : commands_) known.push_back(command->get_name());
            if (std::find(known.begin(), known.end(), argv[1]) == known.end())
                throw InputError(fmt::format("unknown command \"{}\"; {}", argv[1], suggestion(argv[1], known)));
        }
        try {
            app_.parse(argc, argv);
        } catch (const CLI::ParseError& e) {
            if (e.get_exit_code() == 0) return app_.exit(e);
            if (argc == 1) {
                fmt::print(stderr, "{}", app_.help());
                return exit_bad_input;
            }
            throw InputError(e.what());
        }
        if (backend_ == "cuda" && !on_device()) return hand_over_to_cuda(argv);
        if (on_device()) (void)device();
        for (const auto& [command, action] : commands_)
            if (*command) return action();
        return exit_done;
    }

private:
    CLI::App app_{"Tarn animates water: a scene file goes in, moving water comes out.", "tarn"};
    std::vector<std::pair<CLI::App*, std::function<int()>>> commands_;
    std::string scene_, dir_, name_, packed_, results_ = "out/bench", backend_ = "cpu";
    std::vector<std::string> settings_;
    RunOptions running_;
    RenderOptions rendering_;
    RedrawOptions drawing_;
    WhitewaterOptions foaming_;
    FloatOptions floating_;
    PlayOptions playing_;
    int frames_ = 0;
    double rate_ = 0, scale_ = 1;
    bool resume_ = false, force_ = false, markdown_ = false, no_browser_ = false, compare_only_ = false;

    CLI::App* add(const char* name, const char* meaning, std::function<int()> action)
    {
        commands_.emplace_back(app_.add_subcommand(name, meaning), std::move(action));
        return commands_.back().first;
    }

    // ---- Options of several commands ----

    void add_settings(CLI::App* command, const char* meaning)
    {
        command->add_option("--set", settings_, meaning)->type_name("KEY=VALUE")->allow_extra_args(false);
    }
    void add_scene(CLI::App* command)
    {
        command->add_option("scene", scene_, "Scene file")->required()->type_name("SCENE");
        add_settings(command, "Set any key of the scene, such as domain.cells=64; may be repeated");
        command->add_option("--frames", frames_, "Frames to make, instead of time.frames")
            ->type_name("N")
            ->check(above_zero);
    }
    void add_backend(CLI::App* command)
    {
        command->add_option("--backend", backend_, "Where the kernels run: cpu, or cuda [cpu]")
            ->type_name("WORD")
            ->check(CLI::IsMember({"cpu", "cuda"}));
    }
    static void add_threads(CLI::App* command, int& threads)
    {
        command->add_option("--threads", threads, "Threads [one per core]; the result is the same on any number")
            ->type_name("N")
            ->check(CLI::Range(1, 1024));
    }
    static void add_quiet(CLI::App* command, bool& quiet)
    {
        command->add_flag("--quiet", quiet, "Print nothing but warnings and errors");
    }
    static void add_floats(CLI::App* command, std::vector<std::string>& floats)
    {
        command->add_option("--float", floats, "Show this set of `tarn float`; may be repeated")->type_name("NAME")->allow_extra_args(false);
    }
    static void add_folder(CLI::App* command, std::string& dir, const char* meaning = "Folder of the run")
    {
        command->add_option("dir", dir, meaning)->required()->type_name("DIR");
    }

    Scene scene() const { return read_scene(scene_, overrides_of(settings_, frames_)); }

    // ---- Commands ----

    void add_scene_commands()
    {
        CLI::App* command = add("run", "Simulate a scene", [this] { return run_scene(); });
        add_scene(command);
        add_backend(command);
        command->add_option("--out", running_.out, "Folder for the results [out/<scene>]")->type_name("DIR");
        add_threads(command, running_.threads);
        CLI::Option* resume =
            command->add_flag("--resume", resume_, "Go on with the run in the folder; more frames with --frames");
        command->add_flag("--force", force_, "Replace the run in the folder")->excludes(resume);
        add_quiet(command, running_.quiet);

        command = add("check", "Look for mistakes; estimate cells, memory and disk", [this] {
            const Scene checked = scene();
            print_check(checked, check(checked));
            return exit_done;
        });
        add_scene(command);
        add_backend(command);

        command = add("pack", "Write a scene as one file, which tarn-state runs without any library",
                      [this] { return pack(scene(), packed_, force_); });
        add_scene(command);
        command->add_option("file", packed_, "Packed scene [<scene>.pack]")->type_name("FILE");
        command->add_flag("--force", force_, "Replace another packed scene");

        command = add("convert", "Make meshes, volumes, drawings and a movie from the states that a run or tarn-state left",
                      [this] { return convert(dir_, overrides_of(settings_, 0)); });
        add_folder(command, dir_, "Folder of the states or of the run");
        add_settings(command, "Set a key of [output], such as output.surface=usd; may be repeated");
    }

    int run_scene()
    {
        running_.existing = resume_ ? Existing::resume : force_ ? Existing::replace : Existing::refuse;
        running_.command = program_name() + " run " + shell_word(scene_);
        for (const std::string& s : settings_) running_.command += " --set " + shell_word(s);
        if (frames_ > 0) running_.command += fmt::format(" --frames {}", frames_);
        if (on_device()) running_.command += " --backend cuda";
        return tarn::run(scene(), running_);
    }

    void add_picture_commands()
    {
        const char* const settings = "Set a key of the scene, such as camera.fov=30; may be repeated";
        CLI::App* command = add("preview", "Draw the frames of a run again, with another camera, colours or size", [this] {
            drawing_.settings = overrides_of(settings_, 0);
            return redraw(drawing_);
        });
        add_folder(command, drawing_.dir);
        command->add_option("--frames", drawing_.frames, "Only these, into try/preview: 12, 10-20 or 10-20/5 [all]")
            ->type_name("LIST");
        add_settings(command, settings);
        add_floats(command, drawing_.floats);
        add_threads(command, drawing_.threads);
        add_quiet(command, drawing_.quiet);

        command = add("render", "Render the frames of a run, finished or still going on", [this] {
            rendering_.settings = overrides_of(settings_, 0);
            return render(rendering_);
        });
        add_folder(command, rendering_.dir);
        command->add_option("--frames", rendering_.frames, "Which: 12, 10-20 or 10-20/5, several with commas [all]")
            ->type_name("LIST");
        command->add_option("--samples", rendering_.samples, "Paths for each pixel, instead of render.samples")
            ->type_name("N")
            ->check(CLI::Range(1, 1000000));
        command->add_option("--scale", rendering_.scale, "Of width and height, into try/render [1]")
            ->type_name("X")
            ->check(CLI::Range(0.01, 16.0));
        command->add_flag("--preview", rendering_.preview,
                          "Quick, into try/render: half the size, 8 samples, denoised");
        command->add_flag("--again", rendering_.again, "Render frames that are finished, too");
        add_settings(command, settings);
        add_floats(command, rendering_.floats);
        add_threads(command, rendering_.threads);
        add_quiet(command, rendering_.quiet);

        command = add("whitewater", "Add spray, bubbles and foam to a finished run; preview and render show them", [this] {
            foaming_.settings = overrides_of(settings_, 0);
            return whitewater(foaming_);
        });
        add_folder(command, foaming_.dir);
        add_settings(command, "Set a key of [whitewater], such as whitewater.size=0.002; may be repeated");
        add_threads(command, foaming_.threads);
        add_quiet(command, foaming_.quiet);

        command = add("float", "Let a finished run carry bodies that do not disturb it", [this] { return float_bodies(floating_); });
        add_folder(command, floating_.dir);
        command->add_option("--scene", floating_.scene, "File with the bodies: [[solid]] with motion = \"body\"")
            ->required()
            ->type_name("FILE");
        command->add_option("--name", floating_.name, "Of the set, in DIR/float [the file's]")->type_name("NAME");
        add_threads(command, floating_.threads);
        add_quiet(command, floating_.quiet);

        command = add("movie", "Join the pictures of a run: movie.mp4, and render.mp4",
                      [this] { return movie(dir_, rate_); });
        add_folder(command, dir_);
        command->add_option("--rate", rate_, "Frames per second [as simulated]")
            ->type_name("N")
            ->check(above_zero);
    }

    void add_browser_commands()
    {
        CLI::App* command = add("play", "Play with water in a browser", [this] {
            playing_.web = web_folder();
            playing_.browser = !no_browser_;
            return play(playing_);
        });
        add_serving(command);

        command = add("view", "Watch runs, finished or going on, in a browser", [this] {
            playing_.web = fs::exists(home() / "view") ? home() / "view" : home() / "app/web/view";
            playing_.browser = !no_browser_;
            return view(playing_, dir_.empty() ? "out" : dir_);
        });
        command->add_option("dir", dir_, "Folder of the run, or of several [out]")->type_name("DIR");
        add_serving(command);
    }
    void add_serving(CLI::App* command)
    {
        command->add_option("--port", playing_.port, "Port on 127.0.0.1 [a free one]")->type_name("N")->check(CLI::Range(1, 65535));
        command->add_flag("--no-browser", no_browser_, "Print the address, and open nothing");
    }

    void add_other_commands()
    {
        add_browser_commands();
        add("scenes", "List the example scenes", list_scenes);
        CLI::App* command = add("plot", "Draw stats.csv and gauges.csv of a run as SVG", [this] { return plot(dir_); });
        add_folder(command, dir_);
        command = add("params", "Every key of a scene file: default, unit, range, meaning", [this] {
            fmt::print("{}", markdown_ ? params_markdown() : params_text());
            return exit_done;
        });
        command->add_flag("--markdown", markdown_, "As the page docs/parameters.md");
        add("schema", "The same as a JSON schema, for editors", [] {
            fmt::print("{}", params_schema());
            return exit_done;
        });

        command = add("validate", "Compare with experiments and exact solutions",
                      [this] { return validate(name_, home() / "validation", fs::read_symlink("/proc/self/exe")); });
        command->add_option("case", name_, "One case [all]")->type_name("CASE");

        command = add("bench", "Measure speed", [this] {
            set_threads(running_.threads);
            if (name_ == "play") return bench_play(web_folder(), home(), compare_only_);
            if (name_ == "pressure") return bench_pressure(results_, home() / "scenes", scale_);
            return bench(name_, results_, home() / "scenes");
        });
        command->add_option("case", name_, "One case [all]")->type_name("CASE");
        add_backend(command);
        command->add_flag("--compare", compare_only_, "Of play: only compare WebAssembly with this program");
        command->add_option("--scale", scale_, "Of pressure: so many times the cells of each scene [1]")->check(CLI::Range(0.1, 10.0));
        command->add_option("--results", results_, "Folder for the numbers [out/bench]")->type_name("DIR");
        add_threads(command, running_.threads);
    }
};

// An error is one line, whatever it quotes.
int complain(std::string line, int code)
{
    std::replace(line.begin(), line.end(), '\n', ' ');
    fmt::print(stderr, "tarn: {}\n", line);
    return code;
}

}  // namespace

int main(int argc, char** argv)
{
    try {
        return CommandLine().run(argc, argv);
    } catch (const InputError& e) {
        for (const std::string& line : e.lines) complain(line, exit_bad_input);
        return exit_bad_input;
    } catch (const RunError& e) {
        return complain(e.what(), exit_failed);
    } catch (const std::bad_alloc&) {
        return complain("out of memory; lower domain.cells, or see what `tarn check` says", exit_failed);
    } catch (const std::exception& e) {
        return complain(e.what(), exit_failed);
    }
}
