#include "tarn/serve/run_files.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <regex>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tarn/base/error.h"
#include "tarn/output/files.h"
#include "tarn/run/frames.h"
#include "tarn/scene/read.h"
#include "tarn/serve/slices.h"

namespace fs = std::filesystem;

namespace tarn {

namespace {

// Larger files are for other programs.
constexpr uintmax_t most_bytes = uintmax_t(1) << 30;
constexpr const char* shown[][2] = {{"surface", "ply"}, {"solids", "ply"}, {"preview", "png"}, {"render", "png"}, {"state", state_ending}};

bool is_run(const fs::path& folder)
{
    std::error_code error;
    return fs::is_regular_file(fs::symlink_status(folder / "run.json", error));
}

bool may_be_seen(const std::string& file)
{
    static const std::regex names("(run\\.json|stats\\.csv|gauges\\.csv|components\\.csv|scene\\.toml|log\\.txt|movie\\.mp4|render\\.mp4)"
                                  "|(surface|solids)/frame_[0-9]{4,9}\\.ply|(preview|render)/frame_[0-9]{4,9}\\.png");
    return std::regex_match(file, names);
}

// Whether it is a plain file in the folder, reached over no link.
bool is_plain(const fs::path& folder, const std::string& file)
{
    std::error_code error;
    const fs::path path = folder / file;
    if (path.parent_path() != folder && !fs::is_directory(fs::symlink_status(path.parent_path(), error))) return false;
    return fs::is_regular_file(fs::symlink_status(path, error)) && fs::file_size(path, error) <= most_bytes && !error;
}

bool read_plain(const fs::path& folder, const std::string& file, ServedFile& to)
{
    if (!is_plain(folder, file)) return false;
    to = {read_file(folder / file), content_type(file)};
    return true;
}

// slice/phi/z/500/frame_0012.bin: a cut at half of z. drops/frame_0012.bin: droplets and bubbles. Of states that cannot be read there is
// neither.
bool read_of_state(const fs::path& folder, const std::string& file, Slices& slices, ServedFile& to)
{
    static const std::regex names("(?:slice/(phi|speed)/([xyz])/([0-9]{1,4})|drops)/(frame_[0-9]{4,9})\\.bin");
    std::smatch parts;
    if (!std::regex_match(file, parts, names)) return false;
    const std::string state = "state/" + parts[4].str() + "." + state_ending;
    ServedFile scene;
    if (!is_plain(folder, state) || !read_plain(folder, "scene.toml", scene)) return false;
    try {
        const int dimension = read_params(scene.bytes, "scene.toml").dimension();
        const std::string path = folder / state;
        to = {parts[1].matched ? slices.cut(path, dimension, parts[1] == "phi" ? SliceOf::phi : SliceOf::speed, parts[2].str()[0] - 'x',
                                            std::stoi(parts[3]) / 1000.0)
                               : slices.drops(path, dimension),
              content_type(file)};
        return true;
    } catch (const std::runtime_error&) {
        return false;
    }
}

nlohmann::json frames_of(const std::string& folder)
{
    nlohmann::json kinds = nlohmann::json::object();
    for (const auto& [kind, ending] : shown) {
        nlohmann::json numbers = nlohmann::json::array();
        for (const auto& [frame, path] : frames_in(folder, kind, ending)) numbers.push_back(frame);
        kinds[kind] = numbers;
    }
    kinds["gauges"] = is_plain(folder, "gauges.csv");
    return kinds;
}

}  // namespace

Runs runs_in(const std::string& folder)
{
    Runs runs;
    std::error_code error;
    if (is_run(folder)) {
        const fs::path whole = fs::weakly_canonical(folder);
        runs[whole.filename()] = whole;
        return runs;
    }
    for (const auto& entry : fs::directory_iterator(folder, error))
        if (entry.is_directory() && !entry.is_symlink() && is_run(entry.path())) runs[entry.path().filename()] = entry.path();
    if (runs.empty()) throw InputError(folder + ": no run there; make one with: tarn run SCENE");
    return runs;
}

Server::Answer run_files(Runs runs)
{
    return [runs = std::move(runs), slices = std::make_shared<Slices>()](const std::string& rest, ServedFile& file) {
        if (rest == "runs.json") {
            nlohmann::json names = nlohmann::json::array();
            for (const auto& [name, folder] : runs) names.push_back(name);
            file = {names.dump(), content_type(rest)};
            return true;
        }
        const size_t slash = rest.find('/');
        if (slash == std::string::npos) return false;
        const auto run = runs.find(rest.substr(0, slash));
        const std::string name = rest.substr(slash + 1);
        if (run == runs.end()) return false;
        if (name == "frames.json") {
            file = {frames_of(run->second).dump(), content_type(name)};
            return true;
        }
        if (may_be_seen(name)) return read_plain(run->second, name, file);
        return read_of_state(run->second, name, *slices, file);
    };
}

}  // namespace tarn
