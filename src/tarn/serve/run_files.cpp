#include "tarn/serve/run_files.h"

#include <algorithm>
#include <filesystem>
#include <regex>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tarn/base/error.h"
#include "tarn/output/files.h"
#include "tarn/run/frames.h"

namespace fs = std::filesystem;

namespace tarn {

namespace {

// Larger files are for other programs.
constexpr uintmax_t most_bytes = uintmax_t(1) << 30;
constexpr const char* shown[][2] = {{"surface", "ply"}, {"solids", "ply"}, {"preview", "png"}, {"render", "png"}};

bool is_run(const fs::path& folder)
{
    std::error_code error;
    return fs::is_regular_file(fs::symlink_status(folder / "run.json", error));
}

bool may_be_seen(const std::string& file)
{
    static const std::regex names("(run\\.json|stats\\.csv|bodies\\.csv|scene\\.toml|log\\.txt|movie\\.mp4|render\\.mp4)"
                                  "|(surface|solids)/frame_[0-9]{4,9}\\.ply|(preview|render)/frame_[0-9]{4,9}\\.png");
    return std::regex_match(file, names);
}

// A plain file in the folder, reached over no link.
bool read_plain(const fs::path& folder, const std::string& file, ServedFile& to)
{
    std::error_code error;
    const fs::path path = folder / file;
    if (path.parent_path() != folder && !fs::is_directory(fs::symlink_status(path.parent_path(), error))) return false;
    if (!fs::is_regular_file(fs::symlink_status(path, error)) || fs::file_size(path, error) > most_bytes || error) return false;
    to = {read_file(path), content_type(file)};
    return true;
}

nlohmann::json frames_of(const std::string& folder)
{
    nlohmann::json kinds = nlohmann::json::object();
    for (const auto& [kind, ending] : shown) {
        nlohmann::json numbers = nlohmann::json::array();
        for (const auto& [frame, path] : frames_in(folder, kind, ending)) numbers.push_back(frame);
        kinds[kind] = numbers;
    }
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
    return [runs = std::move(runs)](const std::string& rest, ServedFile& file) {
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
        return may_be_seen(name) && read_plain(run->second, name, file);
    };
}

}  // namespace tarn
