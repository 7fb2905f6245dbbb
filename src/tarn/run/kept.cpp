#include "tarn/run/kept.h"

#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "tarn/base/error.h"
#include "tarn/output/files.h"
#include "tarn/output/particles.h"
#include "tarn/run/bodies_file.h"
#include "tarn/run/folder.h"
#include "tarn/run/frames.h"

namespace fs = std::filesystem;

namespace tarn {

namespace {

// Whoever names the folder of what was made of a run is told how to see it.
void refuse_parts_of_runs(const std::string& dir)
{
    const fs::path path = fs::path(dir + "/.").lexically_normal().parent_path(), parent = path.parent_path();
    const std::string name = path.filename().string();
    if (name == "whitewater" && fs::exists(parent / "run.json"))
        throw InputError(fmt::format("{}: is the whitewater of a run, which is shown with its water; give the run's folder, {}", dir, parent.string()));
    if (parent.filename() == "float" && fs::exists(parent.parent_path() / "run.json"))
        throw InputError(fmt::format("{0}: is a set of floats, which is shown with its water; give the run's folder, {1} --float {2}", dir,
                                     parent.parent_path().string(), name));
}

}  // namespace

Scene kept_scene(const std::string& dir, const Overrides& settings)
{
    refuse_parts_of_runs(dir);
    const std::string file = dir + "/scene.toml";
    if (!fs::is_directory(dir)) throw InputError(dir + ": no such folder; give the folder of a run");
    if (!fs::exists(file)) throw InputError(dir + ": holds no scene.toml; give the folder of a run");
    Scene scene = read_scene(file, settings);
    if (const std::string changed = first_difference(read_params(read_file(file), file), scene.params); !changed.empty())
        throw InputError(fmt::format("{}: what is simulated stays as it is ({}); only what is written of it and how it "
                                     "looks can be set: [output], [whitewater], [camera], [render], [[light]], and the "
                                     "material, color and roughness of solids",
                                     dir, changed));
    load_tracks(dir + "/bodies.jsonl", scene);
    return scene;
}

Scene kept_water(const std::string& dir, const Overrides& settings)
{
    Scene scene = kept_scene(dir, settings);
    if (scene.params.method.phases == Phases::smoke)
        throw InputError(dir + ": is a run of smoke, which has no surface; give the folder of a run of water");
    return scene;
}

std::vector<int> frames_named(const std::string& text)
{
    const auto fail = [&] {
        throw InputError(fmt::format("--frames {}: give frames as 12, 10-20 or 10-20/5, several with commas", text));
    };
    std::set<int> frames;
    size_t at = 0;
    const auto number = [&] {
        size_t end = at;
        while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
        if (end == at || end - at > 7) fail();
        const int n = std::stoi(text.substr(at, end - at));
        at = end;
        return n;
    };
    for (;;) {
        const int first = number();
        int last = first, step = 1;
        if (at < text.size() && text[at] == '-') ++at, last = number();
        if (at < text.size() && text[at] == '/') ++at, step = number();
        if (step < 1 || last < first) fail();
        for (int f = first; f <= last; f += step) frames.insert(f);
        if (at == text.size()) break;
        if (text[at++] != ',') fail();
    }
    return {frames.begin(), frames.end()};
}

std::map<int, std::string> kept_frames(const std::string& dir, const std::string& named)
{
    const std::map<int, std::string> there = frames_in(dir, "state", state_ending);
    if (there.empty())
        throw InputError(fmt::format("{}: no states in {}/state; run the scene with output.state = true", dir, dir));
    if (named.empty()) return there;
    std::map<int, std::string> chosen;
    for (const int frame : frames_named(named)) {
        const auto found = there.find(frame);
        if (found == there.end())
            throw InputError(fmt::format("--frames {}: {} holds no state of frame {}; there are {} to {}", named, dir,
                                         frame, there.begin()->first, there.rbegin()->first));
        chosen.insert(*found);
    }
    return chosen;
}

template <int D>
void choose_drops(Droplets<D>& droplets, const std::string& dir, int frame, const Params& params)
{
    const DropsShown shown = params.output.drops;
    if (shown == DropsShown::none || shown == DropsShown::whitewater) droplets.resize(0);
    if (shown == DropsShown::none || shown == DropsShown::run) return;
    const std::string file = frame_path(dir, "whitewater", frame, "ply");
    if (!fs::exists(file)) {
        if (shown == DropsShown::all) return;
        throw InputError(fmt::format("output.drops = \"whitewater\": {} is not there; make it with: tarn whitewater {}", file,
                                     dir));
    }
    std::vector<Droplet<D>> list = read_fragments(droplets);
    for (const Droplet<D>& f : fragments_of<D>(read_particles(file), cell_size(params.domain))) list.push_back(f);
    write_fragments(droplets, list);
}
template void choose_drops(Droplets<2>&, const std::string&, int, const Params&);
template void choose_drops(Droplets<3>&, const std::string&, int, const Params&);

}  // namespace tarn
