#include "tarn/run/convert.h"

#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "tarn/base/error.h"
#include "tarn/base/timer.h"
#include "tarn/output/checkpoint.h"
#include "tarn/output/files.h"
#include "tarn/output/frame_state.h"
#include "tarn/render/preview.h"
#include "tarn/run/exit_code.h"
#include "tarn/run/frames.h"
#include "tarn/run/kept.h"
#include "tarn/run/progress.h"
#include "tarn/run/states.h"
#include "tarn/run/write_frame.h"
#include "tarn/scene/pack.h"
#include "tarn/scene/read.h"
#include "tarn/step/step.h"

namespace fs = std::filesystem;

namespace tarn {
namespace {

// Writes the files that are missing of each frame; returns of how many frames. `load` reads what was kept of one.
template <int D, class Load>
int write_frames(const std::string& dir, const Scene& scene, const std::map<int, std::string>& all, Progress& progress,
                 Load load)
{
    std::optional<Water<D>> water;
    int written = 0;
    for (const auto& [frame, path] : all) {
        FramePaths paths = frame_paths(dir, scene, frame).missing();
        paths.vortices.clear();  // a frame's state holds none
        if (!paths.any()) continue;
        const Timer timer;
        if (!water) water = initial_water<D>(scene);
        load(path, *water);
        choose_drops(water->droplets, dir, frame, scene.params);
        restore(*water, scene);
        write_frame(paths, *water, scene);
        progress.note(fmt::format("frame {}/{}  {:.1f} s", frame, all.rbegin()->first, timer.seconds()));
        ++written;
    }
    return written;
}

template <class Load>
int write_all(const std::string& dir, const Scene& scene, const std::map<int, std::string>& all, Progress& progress,
              Load load)
{
    const OutputParams& output = scene.params.output;
    const Timer timer;
    prepare_frames(dir, scene);
    const int written = scene.params.dimension() == 2 ? write_frames<2>(dir, scene, all, progress, load)
                                                      : write_frames<3>(dir, scene, all, progress, load);
    if (output.preview && (written > 0 || !fs::exists(dir + "/movie.mp4"))) {
        try {
            make_preview_movie(dir, scene.params.time.rate);
        } catch (const RunError& e) {
            // The pictures are there and `tarn movie` joins them later.
            progress.warn(fmt::format("warning: no movie: {}", e.what()));
        }
    }
    progress.note(fmt::format("done: {} frames in {}, {} were there -> {}", written, duration_text(timer.seconds()),
                              all.size() - size_t(written), dir));
    return exit_done;
}

int convert_states(const std::string& dir, const Overrides& overrides)
{
    const std::string packed = packed_scene_path(dir);
    const std::map<int, std::string> all = states(dir);
    if (all.empty())
        throw InputError(fmt::format("{}: no states in {}/state; make them with: tarn-state {} --out {} --resume", dir,
                                     dir, packed, dir));
    Scene scene = unpack_scene(read_file(packed), packed);
    if (!overrides.empty()) scene.params = read_params(write_params(scene.params), packed, overrides);
    if (!frame_paths(dir, scene, 0).any())
        throw InputError(packed + ": its [output] asks for nothing; give --set output.preview=true");
    write_file(dir + "/scene.toml", write_params(scene.params));
    Progress progress(false);
    return write_all(dir, scene, all, progress, [](const std::string& path, auto& water) { load_checkpoint(path, water); });
}

}  // namespace

bool all_files_there(const std::string& dir, const Scene& scene, int frames)
{
    for (int frame = 0; frame <= frames; ++frame)
        if (frame_paths(dir, scene, frame).missing().any()) return false;
    return true;
}

int make_missing(const std::string& dir, const Scene& scene, Progress& progress)
{
    return write_all(dir, scene, kept_frames(dir, ""), progress,
                     [](const std::string& path, auto& water) { load_state(path, water); });
}

int pack(const Scene& scene, const std::string& given, bool force)
{
    if (!scene.params.floats.empty() || scene.params.whitewater.live)
        throw InputError(scene.file + ": a packed scene is for states alone, which take no floats and no live whitewater; remove these, and make them "
                                      "of the states with tarn float and tarn whitewater");
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
    if (fs::exists(dir + "/run.json")) {
        Progress progress(false);
        return make_missing(dir, kept_scene(dir, overrides), progress);
    }
    throw InputError(dir +
                     ": holds no scene.pack; give the folder that tarn-state or a run wrote, or copy the scene there");
}

}  // namespace tarn
