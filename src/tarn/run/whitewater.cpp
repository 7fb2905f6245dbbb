#include "tarn/run/whitewater.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "tarn/backend/parallel.h"
#include "tarn/base/error.h"
#include "tarn/base/timer.h"
#include "tarn/effects/whitewater.h"
#include "tarn/output/files.h"
#include "tarn/output/frame_state.h"
#include "tarn/output/particles.h"
#include "tarn/output/vtk.h"
#include "tarn/run/bodies_file.h"
#include "tarn/run/exit_code.h"
#include "tarn/run/frames.h"
#include "tarn/run/interrupt.h"
#include "tarn/run/kept.h"
#include "tarn/run/progress.h"
#include "tarn/scene/frame.h"
#include "tarn/step/boundary.h"
#include "tarn/step/step.h"

namespace fs = std::filesystem;

namespace tarn {
namespace {

// A pass over the frames of one run.
template <int D>
class Pass : public FrameFollower {
public:
    Pass(const std::string& dir, Scene scene, Progress& progress)
        : dir_(dir), scene_(std::move(scene)), progress_(progress), water_(initial_water<D>(scene_)), before_(water_.grid)
    {
        phi_before_ = distance_field(water_.grid, 0);
    }

    void add(int frame, const std::string& state) override
    {
        next(state, first_);
        if (!first_) between_frames();
        first_ = false;
        write(frame);
        most_ = std::max(most_, white_.drops.count());
    }

    // Returns false when interrupted.
    bool run(const std::map<int, std::string>& states)
    {
        const Timer timer;
        for (const auto& [frame, state] : states) {
            if (interrupted()) return false;
            add(frame, state);
            progress_.show(fmt::format("frame {}/{}  {} drops", frame, states.rbegin()->first, white_.drops.count()));
        }
        progress_.note(fmt::format("done: {} frames in {}, at most {} droplets, bubbles and foam -> {}/whitewater",
                                   states.size(), duration_text(timer.seconds()), most_, dir_));
        return true;
    }

private:
    // Loads a frame; the one before is kept.
    void next(const std::string& state, bool first)
    {
        fastest_ = water_.fastest;
        const std::vector<Droplet<D>> own = first ? std::vector<Droplet<D>>{} : read_fragments(water_.droplets);
        const double time = water_.time;
        phi_before_.swap(water_.phi);
        before_.swap(water_.velocity);
        if (!scene_.bodies.empty()) load_tracks(dir_ + "/bodies.jsonl", scene_);
        load_state(state, water_);
        restore(water_, scene_);
        fastest_ = std::max(fastest_, water_.fastest);
        dt_ = water_.time - time;
        if (!first) tarn::add(white_, landed(own));
    }

    // The run's own droplets that the water takes back before this frame: they fly on by themselves until then.
    std::vector<Droplet<D>> landed(const std::vector<Droplet<D>>& own) const
    {
        std::set<int> there;
        for (const Droplet<D>& f : read_fragments(water_.droplets)) there.insert(f.id);
        std::vector<Droplet<D>> gone;
        for (const Droplet<D>& f : own)
            if (f.kind == DropletKind::droplet && !there.contains(f.id)) gone.push_back(f);
        return gone;
    }

    // Steps in which the water moves by about four cells, and 8 at most: droplets follow their way whatever the step.
    void between_frames()
    {
        if (!(dt_ > 0)) throw RunError(dir_ + "/state: frames do not follow each other in time; run the scene again");
        const TwoFrames<D> frames{{&phi_before_, &water_.phi}, {&before_, &water_.velocity}, dt_};
        const int steps = static_cast<int>(std::clamp(std::ceil(fastest_ * dt_ / (4 * water_.grid.h)), 1.0, 8.0));
        const Boundary<D> boundary = boundary_of(water_, scene_.params);
        for (int n = 1; n <= steps; ++n) {
            const double s = double(n) / steps, t = water_.time - (1 - s) * dt_;
            const KernelShapes where = scene_.wind.for_kernels(t);
            const Surroundings around{wind_at(where, t), frame_forces(scene_.params, t, 0).gravity};
            step(white_, frames, s, 1.0 / steps, water_.solids, boundary, around, at_time(scene_.params, t));
            if (white_.full && !warned_)
                progress_.warn(fmt::format("at {:.2f} s there are {} droplets, bubbles and foam, as many as may be: fewer "
                                           "appear from here on; ask for more with --set whitewater.most=N, or for fewer "
                                           "or larger ones",
                                           t, white_.drops.count()));
            warned_ = warned_ || white_.full;
        }
    }

    Wind wind_at(const KernelShapes& where, double t) const
    {
        if (!scene_.params.whitewater.wind) return wind_of(scene_, where, t, water_.grid.h);
        Wind wind;
        const Vec3 u = scene_.params.whitewater.wind->at(t);
        wind.speed = length(u);
        if (wind.speed > 0) wind.direction = (1 / wind.speed) * u;
        return wind;
    }

    void write(int frame)
    {
        // What was born dead, in a wall say, is not written.
        (void)compact(white_.drops, 0, white_.workspace);
        const std::vector<Drop> drops = drops_of(white_.drops, water_.grid.h, scene_.params.droplets);
        write_particles(frame_path(dir_, "whitewater", frame, "ply"), drops);
        if (scene_.params.output.surface == SurfaceFormat::vtp)
            write_vtp(frame_path(dir_, "whitewater", frame, "vtp"), drops, water_.time);
    }

    const std::string dir_;
    const Scene scene_;
    Progress& progress_;
    bool first_ = true;
    Water<D> water_;
    Field<D> phi_before_;
    FaceField<D> before_;
    Whitewater<D> white_;
    double dt_ = 0, fastest_ = 0;
    int most_ = 0;
    bool warned_ = false;
};

// Of an earlier pass.
void clear(const std::string& dir)
{
    for (const char* ending : {"ply", "vtp"})
        for (const auto& [frame, path] : frames_in(dir, "whitewater", ending)) fs::remove(path);
}

// Begins anew, with all settings beside it.
void begin_pass(const std::string& dir, const Params& params)
{
    fs::create_directories(dir + "/whitewater");
    clear(dir);
    write_file(dir + "/whitewater/whitewater.toml", write_params(params));
}

}  // namespace

std::unique_ptr<FrameFollower> live_whitewater(const std::string& dir, const Scene& run, Progress& progress)
{
    if (!run.params.whitewater.live) return nullptr;
    begin_pass(dir, run.params);
    // A scene of its own: where its bodies are is that of the frames.
    Scene scene = read_scene(dir + "/scene.toml");
    if (run.params.dimension() == 2) return std::make_unique<Pass<2>>(dir, std::move(scene), progress);
    return std::make_unique<Pass<3>>(dir, std::move(scene), progress);
}

int whitewater(const WhitewaterOptions& options)
{
    const Scene scene = kept_water(options.dir, options.settings);
    const std::map<int, std::string> states = kept_frames(options.dir, "");
    int expected = states.begin()->first;
    for (const auto& [frame, path] : states) {
        if (frame != expected)
            throw InputError(fmt::format("{}: no state of frame {}, and one of frame {}; run the scene again", options.dir,
                                         expected, frame));
        ++expected;
    }
    if (states.size() < 2)
        throw InputError(fmt::format("{}: one frame alone shows no motion; run more with --resume", options.dir));
    set_threads(options.threads);
    Progress progress(options.quiet);
    const Interrupts interrupts;
    begin_pass(options.dir, scene.params);
    const bool done = scene.params.dimension() == 2 ? Pass<2>(options.dir, scene, progress).run(states)
                                                    : Pass<3>(options.dir, scene, progress).run(states);
    if (done) return exit_done;
    progress.warn("interrupted; it begins anew when it is called again");
    return exit_interrupted;
}

}  // namespace tarn
