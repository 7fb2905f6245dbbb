// The command line: words in, one call into the library, an exit code out.

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>

#include <unistd.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tarn/backend/parallel.h"
#include "tarn/base/nearest.h"
#include "tarn/base/version.h"
#include "tarn/output/files.h"
#include "tarn/params/describe.h"
#include "tarn/render/preview.h"
#include "tarn/run/bench.h"
#include "tarn/run/check.h"
#include "tarn/run/convert.h"
#include "tarn/run/render.h"
#include "tarn/run/run.h"
#include "tarn/run/validate.h"
#include "tarn/scene/read.h"

namespace fs = std::filesystem;
using namespace tarn;

namespace {

constexpr const char* examples = R"(Examples:
  tarn run scenes/dam_break.toml                  frames, previews and a movie in out/dam_break
  tarn run scenes/dam_break.toml --frames 10 --set domain.cells=64 --out out/quick
  tarn run scenes/dam_break.toml --backend cuda   the same on a GPU
  tarn run scenes/dam_break.toml --resume         go on after Ctrl-C, a crash or a power cut
  tarn render out/dam_break --frames 20-40        pictures by the renderer, from a run with output.volume = true
  tarn check scenes/dam_break.toml                what it will take, and what looks like a mistake
  tarn params                                     every key of a scene file
  tarn pack scenes/dam_break.toml                 dam_break.pack, for a machine that has only tarn-state
  tarn convert out/dam_break                      meshes, pictures and a movie from the states that it left

Exit codes: 0 done, 1 the simulation failed, 2 bad input, 130 interrupted (after saving).
The script ./tarn knows two more commands: build, and test.)";

// The folder that holds scenes/ and validation/: beside an installed program, or the source it was built from.
fs::path home()
{
    std::error_code error;
    const fs::path installed = fs::read_symlink("/proc/self/exe", error).parent_path() / "../share/tarn";
    return fs::exists(installed / "scenes", error) ? installed : fs::path(TARN_SOURCE_DIR);
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

int movie(const std::string& dir, double rate)
{
    if (!fs::exists(dir + "/render/frame_0000.png"))
        throw InputError(
            fmt::format("{}: no pictures in {}/render; run the scene with output.preview = true", dir, dir));
    if (rate <= 0) {
        const std::string file = dir + "/scene.toml";
        rate = fs::exists(file) ? read_params(read_file(file), file).time.rate : TimeParams{}.rate;
    }
    make_movie(dir, rate);
    fmt::print("{}/movie.mp4\n", dir);
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

int run_command_line(int argc, char** argv)
{
    CLI::App app{"Tarn animates water: a scene file goes in, moving water comes out.", "tarn"};
    app.set_version_flag("--version", std::string("tarn ") + version());
    app.set_help_flag("-h,--help", "Print this and leave");
    app.footer(examples);
    app.require_subcommand(1);

    std::string scene_file, dir, name, packed, results = "out/bench", backend = "cpu";
    RunOptions options;
    std::vector<std::string> settings;
    int frames = 0;
    double rate = 0;
    bool resume = false, force = false, markdown = false;

    const auto scene_options = [&](CLI::App* command) {
        command->add_option("scene", scene_file, "Scene file")->required()->type_name("SCENE");
        command->add_option("--set", settings, "Set any key of the scene, such as domain.cells=64; may be repeated")
            ->type_name("KEY=VALUE")
            ->allow_extra_args(false);
        command->add_option("--frames", frames, "Frames to make, instead of time.frames")
            ->type_name("N")
            ->check(CLI::PositiveNumber);
    };

    const auto backend_option = [&](CLI::App* command) {
        command->add_option("--backend", backend, "Where the kernels run: cpu, or cuda [cpu]")
            ->type_name("WORD")
            ->check(CLI::IsMember({"cpu", "cuda"}));
    };

    CLI::App* run_cmd = app.add_subcommand("run", "Simulate a scene");
    scene_options(run_cmd);
    backend_option(run_cmd);
    run_cmd->add_option("--out", options.out, "Folder for the results [out/<scene>]")->type_name("DIR");
    run_cmd->add_option("--threads", options.threads, "Threads [one per core]; the result is the same on any number")
        ->type_name("N")
        ->check(CLI::Range(1, 1024));
    CLI::Option* resume_option =
        run_cmd->add_flag("--resume", resume, "Go on with the run in the folder; more frames with --frames");
    run_cmd->add_flag("--force", force, "Replace the run in the folder")->excludes(resume_option);
    run_cmd->add_flag("--quiet", options.quiet, "Print nothing but warnings and errors");

    CLI::App* check_cmd = app.add_subcommand("check", "Look for mistakes; estimate cells, memory and disk");
    scene_options(check_cmd);
    backend_option(check_cmd);

    CLI::App* pack_cmd =
        app.add_subcommand("pack", "Write a scene as one file, which tarn-state runs without any library");
    scene_options(pack_cmd);
    pack_cmd->add_option("file", packed, "Packed scene [<scene>.pack]")->type_name("FILE");
    pack_cmd->add_flag("--force", force, "Replace another packed scene");
    CLI::App* convert_cmd =
        app.add_subcommand("convert",
                           "Make meshes, pictures and a movie from the states that tarn-state left; or bring a run's "
                           "surfaces into another format");
    convert_cmd->add_option("dir", dir, "Folder of the states or of the run")->required()->type_name("DIR");
    convert_cmd->add_option("--set", settings, "Set a key of [output], such as output.surface=usd; may be repeated")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);

    RenderOptions rendering;
    CLI::App* render_cmd = app.add_subcommand("render", "Render the frames of a run, finished or still going on");
    render_cmd->add_option("dir", rendering.dir, "Folder of the run")->required()->type_name("DIR");
    render_cmd->add_option("--frames", rendering.frames, "Which: 12, 10-20 or 10-20/5, several with commas [all]")
        ->type_name("LIST");
    render_cmd->add_option("--samples", rendering.samples, "Paths for each pixel, instead of render.samples")
        ->type_name("N")
        ->check(CLI::Range(1, 1000000));
    render_cmd->add_option("--scale", rendering.scale, "Of width and height [1]")
        ->type_name("X")
        ->check(CLI::Range(0.01, 16.0));
    render_cmd->add_flag("--preview", rendering.preview, "Quick: half the size, 8 samples, denoised");
    render_cmd->add_flag("--again", rendering.again, "Render frames that are finished, too");
    render_cmd->add_option("--set", settings, "Set any key of the scene, such as render.width=1920; may be repeated")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
    render_cmd->add_option("--threads", rendering.threads, "Threads [one per core]; the result is the same on any number")
        ->type_name("N")
        ->check(CLI::Range(1, 1024));
    render_cmd->add_flag("--quiet", rendering.quiet, "Print nothing but warnings and errors");

    CLI::App* movie_cmd = app.add_subcommand("movie", "Join the pictures of a run into movie.mp4");
    movie_cmd->add_option("dir", dir, "Folder of the run")->required()->type_name("DIR");
    movie_cmd->add_option("--rate", rate, "Frames per second [as simulated]")
        ->type_name("N")
        ->check(CLI::PositiveNumber);

    CLI::App* scenes_cmd = app.add_subcommand("scenes", "List the example scenes");
    CLI::App* params_cmd = app.add_subcommand("params", "Every key of a scene file: default, unit, range, meaning");
    params_cmd->add_flag("--markdown", markdown, "As the page docs/parameters.md");
    CLI::App* schema_cmd = app.add_subcommand("schema", "The same as a JSON schema, for editors");

    CLI::App* validate_cmd = app.add_subcommand("validate", "Compare with experiments and exact solutions");
    validate_cmd->add_option("case", name, "One case [all]")->type_name("CASE");
    CLI::App* bench_cmd = app.add_subcommand("bench", "Measure speed");
    bench_cmd->add_option("case", name, "One case [all]")->type_name("CASE");
    backend_option(bench_cmd);
    bench_cmd->add_option("--results", results, "Folder for the numbers [out/bench]")->type_name("DIR");
    bench_cmd->add_option("--threads", options.threads, "Threads [one per core]")
        ->type_name("N")
        ->check(CLI::Range(1, 1024));

    // A misspelt command is told apart from a bad argument.
    if (argc > 1 && argv[1][0] != '-') {
        std::vector<std::string> known;
        for (const CLI::App* command : app.get_subcommands({})) known.push_back(command->get_name());
        if (std::find(known.begin(), known.end(), argv[1]) == known.end())
            throw InputError(fmt::format("unknown command \"{}\"; {}", argv[1], suggestion(argv[1], known)));
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        if (e.get_exit_code() == 0) return app.exit(e);
        if (argc == 1) {
            fmt::print(stderr, "{}", app.help());
            return exit_bad_input;
        }
        throw InputError(e.what());
    }

    if (backend == "cuda" && !on_device()) return hand_over_to_cuda(argv);
    if (on_device()) (void)device();

    if (*run_cmd) {
        options.existing = resume ? Existing::resume : force ? Existing::replace : Existing::refuse;
        options.command = program_name() + " run " + shell_word(scene_file);
        for (const std::string& s : settings) options.command += " --set " + shell_word(s);
        if (frames > 0) options.command += fmt::format(" --frames {}", frames);
        if (on_device()) options.command += " --backend cuda";
        return run(read_scene(scene_file, overrides_of(settings, frames)), options);
    }
    if (*check_cmd) {
        const Scene scene = read_scene(scene_file, overrides_of(settings, frames));
        print_check(scene, check(scene));
        return exit_done;
    }
    if (*pack_cmd) return pack(read_scene(scene_file, overrides_of(settings, frames)), packed, force);
    if (*convert_cmd) return convert(dir, overrides_of(settings, 0));
    if (*render_cmd) {
        rendering.settings = overrides_of(settings, 0);
        return render(rendering);
    }
    if (*movie_cmd) return movie(dir, rate);
    if (*scenes_cmd) return list_scenes();
    if (*params_cmd) fmt::print("{}", markdown ? params_markdown() : params_text());
    if (*schema_cmd) fmt::print("{}", params_schema());
    if (*validate_cmd) return validate(name, home() / "validation", fs::read_symlink("/proc/self/exe"));
    if (*bench_cmd) {
        set_threads(options.threads);
        return bench(name, results, home() / "scenes");
    }
    return exit_done;
}

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
        return run_command_line(argc, argv);
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
