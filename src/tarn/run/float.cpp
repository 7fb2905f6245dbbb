#include "tarn/run/float.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tarn/backend/parallel.h"
#include "tarn/base/error.h"
#include "tarn/base/timer.h"
#include "tarn/output/files.h"
#include "tarn/output/frame_state.h"
#include "tarn/params/tables.h"
#include "tarn/run/bodies_file.h"
#include "tarn/run/exit_code.h"
#include "tarn/run/interrupt.h"
#include "tarn/run/kept.h"
#include "tarn/run/progress.h"
#include "tarn/scene/contacts.h"
#include "tarn/scene/floats.h"

namespace fs = std::filesystem;

namespace tarn {
namespace {

std::string set_folder(const std::string& dir, const std::string& name) { return dir + "/float/" + name; }

// The run's domain and fixed solids, with bodies of another file. Meshes and images are named by whole paths.
Scene joined(const Scene& run, const std::vector<SolidParams>& bodies, const std::string& file)
{
    Params params = run.params;
    params.solid.insert(params.solid.end(), bodies.begin(), bodies.end());
    params.floats.clear();
    return build_scene(std::move(params), run.name, file, "/");
}

// Water up to half of the domain's height, as a scene file has it.
std::string any_water(const DomainParams& domain)
{
    return fmt::format("\n[[water]]\nshape = \"plane\"\npoint = [0, {0}{1}]\nnormal = [0, 1{1}]\n",
                       number_text(0.5 * domain.size[1]), domain.size.size() == 2 ? "" : ", 0");
}

// What floats is a body wherever it is read.
std::vector<SolidParams> as_bodies(std::vector<SolidParams> floats)
{
    for (SolidParams& s : floats)
        if (s.motion == SolidMotion::carried) s.motion = SolidMotion::body;
    return floats;
}

// The bodies of a file, in the domain of a run.
std::vector<SolidParams> bodies_in(const std::string& file, const Scene& run)
{
    Overrides domain{{"domain.cells", std::to_string(run.params.domain.cells)}};
    std::string size;
    for (const double s : run.params.domain.size) size += (size.empty() ? "" : ", ") + number_text(s);
    domain.emplace_back("domain.size", "[" + size + "]");
    if (!fs::is_regular_file(file)) throw InputError(file + ": no such file; give one with the bodies");
    // It need have no water of its own; lines before this keep their numbers.
    Params params = read_params(read_file(file) + any_water(run.params.domain), file, domain);
    for (SolidParams& s : as_bodies(std::exchange(params.floats, {}))) params.solid.push_back(std::move(s));
    for (SolidParams& s : params.solid)
        for (std::string* name : {&s.file, &s.image})
            if (!name->empty()) *name = (fs::absolute(file).parent_path() / *name).lexically_normal().string();
    for (const SolidParams& s : params.solid)
        if (s.motion != SolidMotion::body && !s.subtract)
            throw InputError(fmt::format("{}:{}: solid: what floats needs motion = \"body\"; what stands still belongs to the "
                                         "scene that was run",
                                         file, s.line));
    if (params.solid.empty())
        throw InputError(file + ": has no bodies; give a [[solid]] with motion = \"body\" and a density");
    return params.solid;
}

template <int D>
void need_pressure(const FrameState<D>& state, const std::string& path)
{
    if (!state.any_pressure)
        throw InputError(path + ": holds no pressure, as states of earlier versions and of a given [flow] do not; run the "
                                "scene again");
}

// Before anything is written: the first state that the bodies are moved by. At the start there has been no solve yet.
void need_pressure(const std::map<int, std::string>& states, int dimension)
{
    if (states.size() < 2) return;
    const std::string& path = std::next(states.begin())->second;
    dimension == 2 ? need_pressure(read_state<2>(path), path) : need_pressure(read_state<3>(path), path);
}

template <int D>
class Floating : public LiveFloats {
public:
    Floating(const std::string& out, Scene scene)
        : scene_(std::move(scene)), bodies_(scene_.bodies), file_(out + "/bodies.jsonl", -1, true)
    {
        for (const RigidBody& b : bodies_) nodes_.push_back(float_nodes(b, scene_));
    }

    void add(int frame, const std::string& state) override
    {
        FrameState<D> after = read_state<D>(state);
        if (any_) between_frames(before_, after, state);
        any_ = true;
        file_.add(frame, after.time, bodies_);
        before_ = std::move(after);
    }
    std::vector<RigidPose> poses() const override
    {
        std::vector<RigidPose> poses;
        for (const RigidBody& b : bodies_) poses.push_back({b.position, b.rotation});
        return poses;
    }

private:
    void between_frames(const FrameState<D>& before, const FrameState<D>& after, const std::string& path)
    {
        need_pressure(after, path);
        const double dt = after.time - before.time;
        if (!(dt > 0)) throw RunError(path + ": does not follow the frame before in time; run the scene again");
        const int steps = static_cast<int>(std::clamp(std::ceil(dt / longest_float_step(bodies_, nodes_, scene_)), 1.0, 64.0));
        const FloatWater<D> now{&before.phi, &before.velocity, &before.pressure}, next{&after.phi, &after.velocity, &after.pressure};
        for (int n = 0; n < steps; ++n) {
            const double s = before.any_pressure ? (n + 0.5) / steps : 1;
            step_floats(bodies_, nodes_, now, next, s, scene_, before.time + n * dt / steps, dt / steps);
        }
    }

    const Scene scene_;
    bool any_ = false;  // frames yet
    FrameState<D> before_;
    std::vector<RigidBody> bodies_;
    std::vector<FloatNodes> nodes_;
    BodiesFile file_;
};

// Begins a set: its folder, with the bodies.
std::unique_ptr<LiveFloats> begin_set(const std::string& out, Scene scene, const Params& run, const std::vector<SolidParams>& bodies)
{
    if (!contacts_available()) throw InputError("floats: this program was built without Bullet, which finds contacts");
    fs::create_directories(out);
    // In a scene of the default method, which any bodies can be read from again; the run's may be one whose own solids stand still.
    Params kept;
    kept.title = run.title;
    kept.domain = run.domain;
    kept.fluid = run.fluid;
    kept.water = run.water;
    kept.time = run.time;
    kept.solid = bodies;
    write_file(out + "/scene.toml", write_params(kept));
    if (run.dimension() == 2) return std::make_unique<Floating<2>>(out, std::move(scene));
    return std::make_unique<Floating<3>>(out, std::move(scene));
}

// Returns false when interrupted.
bool carry(LiveFloats& set, const std::map<int, std::string>& states, Progress& progress)
{
    const Timer timer;
    for (const auto& [frame, path] : states) {
        if (interrupted()) return false;
        set.add(frame, path);
        progress.show(fmt::format("frame {}/{}", frame, states.rbegin()->first));
    }
    const double seconds = timer.seconds();
    progress.note(fmt::format("done: {} frames of {} bodies in {}, {:.1f} frames a second", states.size(), set.poses().size(),
                              duration_text(seconds), static_cast<double>(states.size()) / seconds));
    return true;
}

}  // namespace

std::unique_ptr<LiveFloats> live_floats(const std::string& dir, const Scene& run)
{
    if (run.params.floats.empty()) return nullptr;
    return begin_set(set_folder(dir, live_set), with_live_floats(run), run.params, as_bodies(run.params.floats));
}

Scene with_live_floats(const Scene& run) { return joined(run, as_bodies(run.params.floats), run.file); }

int float_bodies(const FloatOptions& options)
{
    const Scene run = kept_water(options.dir, {});
    const std::map<int, std::string> states = kept_frames(options.dir, "");
    if (!run.bodies.empty())
        throw InputError(options.dir + ": has bodies of its own, which the water feels; give these to its scene, too, and run it "
                                       "again");
    const std::vector<SolidParams> bodies = bodies_in(options.scene, run);
    const std::string name = options.name.empty() ? fs::path(options.scene).stem().string() : options.name;
    if (name.find('/') != std::string::npos || name == "." || name == "..")
        throw InputError(fmt::format("--name {}: is a folder's name within {}/float; leave out slashes and dots", name, options.dir));
    need_pressure(states, run.params.dimension());
    const std::string out = set_folder(options.dir, name);
    set_threads(options.threads);
    Progress progress(options.quiet);
    const Interrupts interrupts;
    const auto set = begin_set(out, joined(run, bodies, options.scene), run.params, bodies);
    const bool done = carry(*set, states, progress);
    if (!done) {
        progress.warn("interrupted; it begins anew when it is called again");
        return exit_interrupted;
    }
    progress.note(fmt::format("-> {}; to see it: tarn preview {} --float {}", out, options.dir, name));
    return exit_done;
}

Scene with_floats(const Scene& run, const std::string& dir, const std::vector<std::string>& given)
{
    std::vector<std::string> names = given;
    if (!run.params.floats.empty() && fs::exists(set_folder(dir, live_set) + "/bodies.jsonl") &&
        std::find(names.begin(), names.end(), live_set) == names.end())
        names.insert(names.begin(), live_set);
    if (names.empty()) return run;
    std::vector<SolidParams> bodies;
    std::map<double, std::vector<RigidPose>> poses;
    for (const std::string& name : names) {
        const std::string folder = set_folder(dir, name), file = folder + "/scene.toml";
        if (!fs::exists(file) || !fs::exists(folder + "/bodies.jsonl")) {
            std::string there;
            std::error_code error;
            for (const auto& entry : fs::directory_iterator(dir + "/float", error)) there += " " + entry.path().filename().string();
            throw InputError(fmt::format("--float {}: {} holds no such set;{}", name, dir,
                                         there.empty() ? " make one with: tarn float " + dir + " --scene FILE"
                                                       : " there are:" + there));
        }
        const Params set = read_params(read_file(file), file);
        bodies.insert(bodies.end(), set.solid.begin(), set.solid.end());
        load_poses(folder + "/bodies.jsonl", [&](double time, std::vector<RigidPose> more) {
            std::vector<RigidPose>& all = poses[time];
            all.insert(all.end(), more.begin(), more.end());
        });
    }
    Scene scene = joined(run, bodies, dir);
    for (auto& [time, all] : poses) {
        if (all.size() != scene.bodies.size())
            throw InputError(fmt::format("--float: the sets of {} do not have the same frames; make them again", dir));
        scene.solids.tracks().record(time, std::move(all));
    }
    return scene;
}

}  // namespace tarn
