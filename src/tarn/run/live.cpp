#include "tarn/run/live.h"

#include "tarn/backend/parallel.h"
#include "tarn/base/error.h"
#include "tarn/run/frames.h"
#include "tarn/run/redraw.h"
#include "tarn/run/whitewater.h"

namespace tarn {

Live::Live(const std::string& dir, const Scene& scene, Progress& progress) : dir_(dir)
{
    const Params& p = scene.params;
    if (p.floats.empty() && !p.whitewater.live) return;
    if (on_device())
        throw InputError(scene.file + ": floats and live whitewater are for processors; leave out --backend cuda, or make them of the "
                                      "finished run, with tarn float and tarn whitewater");
    floats_ = live_floats(dir, scene);
    whitewater_ = live_whitewater(dir, scene, progress);
    if (p.output.preview) drawer_ = live_drawer(dir, scene, floats_.get());
}

void Live::follow(int frame)
{
    const std::string state = frame_path(dir_, "state", frame, state_ending);
    if (floats_) floats_->add(frame, state);
    if (whitewater_) whitewater_->add(frame, state);
}

void Live::catch_up(int frame)
{
    for (int n = 0; any() && n <= frame; ++n) follow(n);
}

void Live::add(int frame)
{
    if (!any()) return;
    follow(frame);
    if (drawer_) drawer_->add(frame, frame_path(dir_, "state", frame, state_ending));
}

}  // namespace tarn
