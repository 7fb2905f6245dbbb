#include "tarn/run/folder.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tarn/base/version.h"
#include "tarn/output/files.h"
#include "tarn/run/frames.h"
#include "tarn/run/states.h"
#include "tarn/run/write_frame.h"
#include "tarn/scene/read.h"
#include "tarn/step/gauges.h"

namespace fs = std::filesystem;

namespace tarn {
namespace {

std::string now()
{
    const std::time_t t = std::time(nullptr);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&t));
    return text;
}

// What must agree for one run to go on where another stopped: all but how long it is and what it writes.
std::string identity(Params params)
{
    params.time.frames = TimeParams{}.frames;
    params.output = OutputParams{};
    // What is added to it afterwards.
    params.whitewater = WhitewaterParams{};
    // What pictures look like.
    params.camera = CameraParams{};
    params.render = RenderParams{};
    params.light.clear();
    for (SolidParams& solid : params.solid) {
        solid.material = SolidParams{}.material;
        solid.color.reset();
        solid.roughness = SolidParams{}.roughness;
    }
    return write_params(params);
}

}  // namespace

std::string first_difference(const Params& theirs, const Params& ours)
{
    std::istringstream a(identity(theirs)), b(identity(ours));
    for (std::string la, lb;;) {
        const bool more_a = bool(std::getline(a, la)), more_b = bool(std::getline(b, lb));
        if (!more_a && !more_b) return {};
        if (!more_a) la = "nothing more";
        if (!more_b) lb = "nothing more";
        if (la != lb) return fmt::format("\"{}\" there, \"{}\" here", la, lb);
    }
}

RunFolder::RunFolder(std::string dir, const Scene& scene, Existing existing)
    : dir_(std::move(dir)),
      scene_name_(scene.name),
      title_(scene.params.title),
      started_(now()),
      rate_(scene.params.time.rate),
      machine_(this_machine())
{
    if (scene.params.dimension() == 2) {
        const Grid<2> g = make_grid<2>(scene.params.domain);
        cells_ = {g.cells[0], g.cells[1], 1};
    } else {
        cells_ = make_grid<3>(scene.params.domain).cells;
    }
    std::error_code error;
    if (fs::exists(dir_, error) && !fs::is_directory(dir_, error))
        throw InputError(fmt::format("{}: is a file; give a folder with --out", dir_));

    const bool holds_run = fs::exists(dir_ + "/run.json", error);
    if (!holds_run && !is_free(dir_))
        throw InputError(
            fmt::format("{}: is not empty and holds no run of Tarn; give another folder with --out", dir_));

    if (holds_run) {
        nlohmann::json status;
        // An unreadable run is treated as another scene's: it is replaced only on request.
        std::string difference = "it cannot be read";
        try {
            status = nlohmann::json::parse(read_file(dir_ + "/run.json"));
            const std::string file = dir_ + "/scene.toml";
            difference = first_difference(read_params(read_file(file), file), scene.params);
        } catch (const std::exception&) {
        }
        if (existing == Existing::replace) {
            replace_ = true;
        } else if (!difference.empty()) {
            throw InputError(fmt::format(
                "{}: holds the run of another scene ({}); give another folder with --out, or replace it with --force",
                dir_, difference));
        } else if (existing == Existing::refuse) {
            throw InputError(
                fmt::format("{}: holds a run of this scene; go on with --resume, or start over with --force", dir_));
        } else if (status.value("state", "") == "done") {
            finished_ = status.value("frame", 0);
        }
    }

    // Whether the folder can be written shows now, before hours of work.
    try {
        fs::create_directories(dir_);
        log_ = LineFile(dir_ + "/log.txt");
    } catch (const fs::filesystem_error& e) {
        throw InputError(
            fmt::format("{}: cannot be made: {}; give another folder with --out", dir_, e.code().message()));
    } catch (const RunError& e) {
        throw InputError(fmt::format("{}; give another folder with --out", e.what()));
    }
    if (!log_.lock())
        throw InputError(fmt::format("{}: another run is writing there; give another folder with --out", dir_));
}

void RunFolder::begin(const Scene& scene)
{
    try {
        if (replace_) clear();
        // run.json marks the folder as a run from the first moment on; write_status fills it.
        if (!fs::exists(dir_ + "/run.json")) write_file(dir_ + "/run.json", "{}\n");
        write_file(dir_ + "/scene.toml", write_params(scene.params));
        prepare_frames(dir_, scene);
        fs::create_directories(dir_ + "/checkpoint");
    } catch (const fs::filesystem_error& e) {
        throw InputError(fmt::format("{}: cannot be written: {}", dir_, e.code().message()));
    } catch (const RunError& e) {
        throw InputError(e.what());
    }
}

// Removes what runs make and nothing else; the log stays open, since it carries the lock.
void RunFolder::clear()
{
    for (const char* kind : {"surface", "solids", "volume", "particles", "whitewater", "preview", "grid", "render", "state", "checkpoint", "try/preview",
                             "try/render", "try"}) {
        const fs::path folder = fs::path(dir_) / kind;
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(folder, error)) {
            const std::string name = entry.path().filename();
            if (name.starts_with("frame_") || name.starts_with("step_") || name.starts_with("failed.") ||
                name == "manifest.usda" || name == "whitewater.toml")
                fs::remove(entry.path());
        }
        fs::remove(folder, error);  // fails, rightly, where something else lies in it
    }
    std::error_code error;
    for (const auto& set : fs::directory_iterator(fs::path(dir_) / "float", error)) {
        for (const char* name : {"bodies.jsonl", "scene.toml"}) fs::remove(set.path() / name, error);
        fs::remove(set.path(), error);
    }
    fs::remove(fs::path(dir_) / "float", error);
    for (const char* name : {"stats.csv", "components.csv", "gauges.csv", "bodies.jsonl", "gauges.svg", "stats.svg", "movie.mp4", "render.mp4", "tarn.usda", "scene.toml", "run.json"})
        fs::remove(fs::path(dir_) / name);
    fs::resize_file(dir_ + "/log.txt", 0);
}

void RunFolder::write_status(const RunStatus& s) const
{
    const auto tenth = [](double x) { return std::round(x * 10) / 10; };
    nlohmann::ordered_json json = {
        {"version", version()},
        {"scene", scene_name_},
        {"title", title_},
        {"state", s.state},
        {"exit_reason", s.exit_reason},
        {"frame", s.frame},
        {"frames", s.frames},
        {"rate", rate_},
        {"time", s.time},
        {"step", s.step},
        {"eta_seconds", tenth(s.eta)},
        {"elapsed_seconds", tenth(s.elapsed)},
        {"started", started_},
        {"updated", now()},
        {"cells", {cells_[0], cells_[1], cells_[2]}},
        {"machine", {{"cpu", machine_.cpu}, {"cores", machine_.cores}}},
        {"threads", s.threads},
        {"peak_memory_mb", tenth(memory_peak() / 1e6)},
    };
    if (!s.hash.empty()) json["hash"] = s.hash;
    write_file(dir_ + "/run.json", json.dump(2) + '\n');
}

void RunFolder::log(const std::string& text) { log_.add(now() + "  " + text); }

void RunFolder::begin_stats(long step, const Scene& scene)
{
    stats_ = StatsFile(dir_ + "/stats.csv", step);
    components_ = ComponentsFile(dir_ + "/components.csv", step);
    levels_ = LevelsFile(dir_ + "/levels.csv", step, scene.params.method.grid == GridKind::octree);
    gauges_ = GaugesFile(dir_ + "/gauges.csv", step, gauge_columns(scene.params));
    bodies_ = BodiesFile(dir_ + "/bodies.jsonl", step, !scene.bodies.empty());
}

void RunFolder::add_stats(const StatsRow& row) { stats_.add(row); }

std::string RunFolder::checkpoint_path(long step) const
{
    return fmt::format("{}/checkpoint/step_{:08}.ckpt", dir_, step);
}
std::string RunFolder::failed_checkpoint_path() const { return dir_ + "/checkpoint/failed.ckpt"; }

std::vector<std::string> RunFolder::checkpoints() const
{
    std::vector<std::string> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(dir_ + "/checkpoint", error)) {
        const std::string name = entry.path().filename();
        if (name.starts_with("step_") && name.ends_with(".ckpt")) found.push_back(entry.path());
    }
    // Names hold the step with leading zeros; longer names are later steps.
    std::sort(found.begin(), found.end(), [](const std::string& a, const std::string& b) {
        return a.size() != b.size() ? a.size() > b.size() : a > b;
    });
    // A failure's state, while it is there, is the newest of all: passing it removes it.
    if (fs::exists(failed_checkpoint_path(), error)) found.insert(found.begin(), failed_checkpoint_path());
    return found;
}

void RunFolder::prune_checkpoints() const
{
    std::error_code error;
    fs::remove(failed_checkpoint_path(), error);
    const std::vector<std::string> all = checkpoints();
    for (size_t i = 2; i < all.size(); ++i) fs::remove(all[i], error);
}

}  // namespace tarn
