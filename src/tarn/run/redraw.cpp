#include "tarn/run/redraw.h"

#include <filesystem>

#include <fmt/format.h>

#include "tarn/backend/parallel.h"
#include "tarn/base/timer.h"
#include "tarn/output/finer.h"
#include "tarn/output/frame_state.h"
#include "tarn/render/preview.h"
#include "tarn/run/exit_code.h"
#include "tarn/run/float.h"
#include "tarn/run/frames.h"
#include "tarn/run/interrupt.h"
#include "tarn/run/kept.h"
#include "tarn/run/progress.h"
#include "tarn/step/step.h"

namespace tarn {
namespace {

template <int D>
class Drawer : public FrameFollower {
public:
    Drawer(const std::string& run, const std::string& dir, Scene scene, const LiveFloats* floats)
        : run_(run), dir_(dir), scene_(std::move(scene)), floats_(floats), water_(initial_water<D>(scene_))
    {
    }
    void add(int frame, const std::string& state) override
    {
        load_state(state, water_);
        if (floats_) scene_.solids.tracks().record(water_.time, floats_->poses());
        choose_drops(water_.droplets, run_, frame, scene_.params);
        restore(water_, scene_);
        const std::optional<Water<D>> fine = finer(water_, scene_);
        write_png(picture(frame), preview(fine ? *fine : water_, scene_, scene_.params.output.preview_width));
    }
    std::string picture(int frame) const { return frame_path(dir_, "preview", frame, "png"); }

private:
    const std::string run_, dir_;
    const Scene scene_;
    const LiveFloats* const floats_;
    Water<D> water_;
};

// Returns false when interrupted.
template <int D>
bool draw_frames(Drawer<D> drawer, const std::map<int, std::string>& states, Progress& progress)
{
    for (const auto& [frame, state] : states) {
        if (interrupted()) return false;
        const Timer timer;
        drawer.add(frame, state);
        progress.note(fmt::format("frame {}  {}  {:.1f} s", frame, drawer.picture(frame), timer.seconds()));
    }
    return true;
}

}  // namespace

std::unique_ptr<FrameFollower> live_drawer(const std::string& dir, const Scene& run, const LiveFloats* floats)
{
    Scene scene = floats ? with_live_floats(run) : read_scene(dir + "/scene.toml");
    if (run.params.dimension() == 2) return std::make_unique<Drawer<2>>(dir, dir, std::move(scene), floats);
    return std::make_unique<Drawer<3>>(dir, dir, std::move(scene), floats);
}

int redraw(const RedrawOptions& options)
{
    const Scene scene = with_floats(kept_scene(options.dir, options.settings), options.dir, options.floats);
    const std::map<int, std::string> states = kept_frames(options.dir, options.frames);
    const bool all = options.frames.empty();
    const std::string dir = all ? options.dir : options.dir + "/try";
    std::filesystem::create_directories(dir + "/preview");
    set_threads(options.threads);
    Progress progress(options.quiet);
    const Interrupts interrupts;
    const bool done = scene.params.dimension() == 2 ? draw_frames(Drawer<2>(options.dir, dir, scene, nullptr), states, progress)
                                                    : draw_frames(Drawer<3>(options.dir, dir, scene, nullptr), states, progress);
    if (!done) {
        progress.warn("interrupted; to draw all frames, call it again");
        return exit_interrupted;
    }
    if (all) make_preview_movie(options.dir, scene.params.time.rate);
    progress.note(fmt::format("done: {} frames -> {}/preview", states.size(), dir));
    return exit_done;
}

}  // namespace tarn
