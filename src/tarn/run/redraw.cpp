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

// Returns false when interrupted.
template <int D>
bool draw_frames(const std::string& run, const std::string& dir, const Scene& scene,
                 const std::map<int, std::string>& states, Progress& progress)
{
    Water<D> water = initial_water<D>(scene);
    for (const auto& [frame, state] : states) {
        if (interrupted()) return false;
        const Timer timer;
        load_state(state, water);
        choose_drops(water.fragments, run, frame, scene.params);
        restore(water, scene);
        const std::string picture = frame_path(dir, "preview", frame, "png");
        const std::optional<Water<D>> fine = finer(water, scene);
        write_png(picture, preview(fine ? *fine : water, scene, scene.params.output.preview_width));
        progress.note(fmt::format("frame {}  {}  {:.1f} s", frame, picture, timer.seconds()));
    }
    return true;
}

}  // namespace

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
    const bool done = scene.params.dimension() == 2 ? draw_frames<2>(options.dir, dir, scene, states, progress)
                                                    : draw_frames<3>(options.dir, dir, scene, states, progress);
    if (!done) {
        progress.warn("interrupted; to draw all frames, call it again");
        return exit_interrupted;
    }
    if (all) make_preview_movie(options.dir, scene.params.time.rate);
    progress.note(fmt::format("done: {} frames -> {}/preview", states.size(), dir));
    return exit_done;
}

}  // namespace tarn
