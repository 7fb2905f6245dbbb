#include "tarn/run/convert.h"

#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "tarn/base/error.h"
#include "tarn/base/timer.h"
#include "tarn/output/checkpoint.h"
#include "tarn/output/files.h"
#include "tarn/render/preview.h"
#include "tarn/run/exit_code.h"
#include "tarn/run/frames.h"
#include "tarn/run/progress.h"
#include "tarn/run/states.h"
#include "tarn/run/write_frame.h"
#include "tarn/scene/pack.h"
#include "tarn/scene/read.h"
#include "tarn/step/step.h"

namespace fs = std::filesystem;

namespace tarn {
namespace {

// Writes the frames that are missing; returns how many.
template <int D>
int write_frames(const std::string& dir, const Scene& scene, const std::map<int, std::string>& all, Progress& progress)
{
    std::optional<Water<D>> water;
    int written = 0;
    for (const auto& [frame, path] : all) {
        const FramePaths paths = frame_paths(dir, scene, frame);
        if (paths.exist()) continue;
        const Timer timer;
        if (!water) water = initial_water<D>(scene);
        load_checkpoint(path, *water);
        restore(*water, scene);
        write_frame(paths, *water, scene);
        progress.note(fmt::format("frame {}/{}  {:.1f} s", frame, all.rbegin()->first, timer.seconds()));
        ++written;
    }
    return written;
}

// Parameters with another [output].
Params with_output(const Params& params, const std::string& file, const Overrides& overrides)
{
    return overrides.empty() ? params : read_params(write_params(params), file, overrides);
}

int convert_states(const std::string& dir, const Overrides& overrides)
{
    const std::string packed = packed_scene_path(dir);
    const std::map<int, std::string> all = states(dir);
    if (all.empty())
        throw InputError(fmt::format("{}: no states in {}/state; make them with: tarn-state {} --out {} --resume", dir,
                                     dir, packed, dir));
    Scene scene = unpack_scene(read_file(packed), packed);
    scene.params = with_output(scene.params, packed, overrides);
    const OutputParams& output = scene.params.output;
    if (output.surface == SurfaceFormat::none && !output.volume && !output.preview)
        throw InputError(packed + ": its [output] asks for nothing; give --set output.preview=true");

    Progress progress(false);
    const Timer timer;
    write_file(dir + "/scene.toml", write_params(scene.params));
    prepare_frames(dir, scene);
    const int written = scene.params.dimension() == 2 ? write_frames<2>(dir, scene, all, progress)
                                                      : write_frames<3>(dir, scene, all, progress);
    if (output.preview && (written > 0 || !fs::exists(dir + "/movie.mp4"))) {
        try {
            make_movie(dir, scene.params.time.rate);
        } catch (const RunError& e) {
            // The pictures are there and `tarn movie` joins them later.
            progress.warn(fmt::format("warning: no movie: {}", e.what()));
        }
    }
    progress.note(fmt::format("done: {} frames in {}, {} were there -> {}", written, duration_text(timer.seconds()),
                              all.size() - size_t(written), dir));
    return exit_done;
}

// A run keeps no states, but PLY files hold all of a surface, the solids and the spray.
int convert_files(const std::string& dir, const Overrides& overrides)
{
    const std::string file = dir + "/scene.toml";
    const Params before = read_params(read_file(file), file);
    Params params = with_output(before, file, overrides);
    OutputParams& output = params.output;
    if (output.volume != before.output.volume || output.volume_format != before.output.volume_format)
        throw InputError(dir + ": volumes cannot be made from surfaces; run the scene with this [output]");
    if (output.surface == SurfaceFormat::ply || output.surface == SurfaceFormat::none ||
        before.output.surface != SurfaceFormat::ply)
        throw InputError(
            fmt::format("{}: surfaces are converted from PLY to another format, as in: tarn convert {} "
                        "--set output.surface=usd",
                        dir, dir));
    output.volume = output.preview = false;
    output.particles = output.particles && before.output.particles;

    const auto source = [&](const char* kind, int frame) { return frame_path(dir, kind, frame, "ply"); };
    if (!fs::exists(source("surface", 0)))
        throw InputError(fmt::format("{}: there is no {}; run the scene first", dir, source("surface", 0)));
    Progress progress(false);
    const Timer timer;
    prepare_frames(dir, params, fs::exists(source("solids", 0)));
    int frame = 0, written = 0;
    for (; fs::exists(source("surface", frame)); ++frame) {
        const FramePaths paths = frame_paths(dir, output, frame, fs::exists(source("solids", frame)));
        if (paths.exist()) continue;
        FrameShapes shapes;
        shapes.time = params.time.time_of(frame);
        shapes.surface = read_ply(source("surface", frame));
        if (!paths.solids.empty()) shapes.solids = read_ply(source("solids", frame));
        if (output.particles) shapes.spray = read_particles(source("particles", frame));
        write_shapes(paths, params, shapes);
        ++written;
    }
    progress.note(fmt::format("done: {} frames in {}, {} were there -> {}", written, duration_text(timer.seconds()),
                              frame - written, dir));
    return exit_done;
}

}  // namespace

int pack(const Scene& scene, const std::string& given, bool force)
{
    const std::string file = given.empty() ? scene.name + ".pack" : given;
    const std::string bytes = pack_scene(scene);
    try {
        if (fs::exists(file)) {
            if (fs::is_directory(file)) throw InputError(file + ": is a folder; give the name of a file");
            const std::string there = read_file(file);
            if (!there.starts_with(pack_magic))
                throw InputError(file + ": is there and is no packed scene; give another name");
            if (there != bytes && !force)
                throw InputError(file + ": holds another packed scene; give another name, or replace it with --force");
        }
        write_file(file, bytes);
    } catch (const RunError& e) {
        throw InputError(std::string(e.what()) + "; give another name");
    }
    fmt::print("{}\n", file);
    return exit_done;
}

int convert(const std::string& dir, const Overrides& overrides)
{
    if (!fs::is_directory(dir)) throw InputError(dir + ": no such folder; give the one that tarn-state or a run wrote");
    for (const auto& [key, value] : overrides)
        if (!key.starts_with("output."))
            throw InputError(fmt::format("--set {}: what is there stays as it is; only [output] can be changed", key));
    if (fs::exists(packed_scene_path(dir))) return convert_states(dir, overrides);
    if (fs::exists(dir + "/run.json")) return convert_files(dir, overrides);
    throw InputError(dir +
                     ": holds no scene.pack; give the folder that tarn-state or a run wrote, or copy the scene there");
}

}  // namespace tarn
