#include "tarn/run/run.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tarn/backend/parallel.h"
#include "tarn/base/timer.h"
#include "tarn/base/version.h"
#include "tarn/output/checkpoint.h"
#include "tarn/render/preview.h"
#include "tarn/run/backup.h"
#include "tarn/run/check.h"
#include "tarn/run/complaint.h"
#include "tarn/run/convert.h"
#include "tarn/run/frames.h"
#include "tarn/run/interrupt.h"
#include "tarn/run/live.h"
#include "tarn/run/plot.h"
#include "tarn/run/progress.h"
#include "tarn/run/render.h"
#include "tarn/run/stats.h"
#include "tarn/run/write_frame.h"
#include "tarn/step/bodies.h"
#include "tarn/step/gauges.h"
#include "tarn/step/step.h"

namespace tarn {
namespace {

// A step that goes wrong is taken again with half its dt, at most this often. Four halvings bring CFL 2 to 1/8: what
// fails even then is not cured by smaller steps.
constexpr int max_halvings = 4;

template <int D>
class Session {
public:
    Session(const Scene& scene, const RunOptions& options, RunFolder& folder, Progress& progress)
        : scene_(scene),
          params_(scene.params),
          options_(options),
          folder_(folder),
          progress_(progress),
          threads_(options.threads > 0 ? options.threads : this_machine().cores),
          water_(initial_water<D>(scene)),
          live_(folder.dir(), scene, progress),
          backup_(water_.grid, true)
    {
        const int most = on_device() ? states_at_once(4.0 * (2 + D) * double(water_.grid.storage())) : 0;
        for (int n = 0; n < most; ++n) shown_.push_back({Backup<D>::storage_for(water_), {}, {}, {}});
        if constexpr (D == 3)
            if (on_device() && params_.output.preview)
                painter_.emplace(scene_, water_.grid, params_.output.preview_width);
    }

    int run()
    {
        try {
            begin();
            while (frame_ < params_.time.frames) {
                while (water_.time < frame_time(frame_ + 1)) {
                    if (const std::string why = advance(); !why.empty()) return fail_step(why);
                    // A frame is written from the step that ends with it.
                    if (interrupted() && water_.time < frame_time(frame_ + 1)) return stop();
                }
                const int next = frame_ + 1;
                const bool due = next % params_.output.checkpoint_every == 0 &&
                                 timer_.seconds() - saved_ >= params_.output.checkpoint_interval;
                const bool save = due || next == params_.time.frames;
                write_frame(next, save);
                if (save) saved_ = timer_.seconds();
                ++frame_;
                report_frame();
                if (interrupted()) return stop();
            }
            finish_writing();
            return finish();
        } catch (const RunError& e) {
            return fail_writing(e.what());
        }
    }

    ~Session()
    {
        // What is written must be done with this before it goes; its errors were told, or another was.
        for (const Shown& each : shown_)
            if (each.written.valid()) each.written.wait();
    }

private:
    double frame_time(int frame) const { return params_.time.time_of(frame); }

    // Frame 0, or where the newest checkpoint that can be read left off.
    void begin()
    {
        folder_.log(fmt::format("tarn {}: {}, {} frames, {} threads", version(), scene_.file, params_.time.frames,
                                threads_));
        const bool resumed = options_.existing == Existing::resume && load();
        folder_.begin_stats(resumed ? water_.step : -1, scene_);
        before_ = measure(water_, params_);
        if (!resumed) {
            folder_.add_stats(row({}, 0));
            add_readings({});
            write_frame(0, false);
        }
        progress_.begin();
        write_status("running", "");
    }

    bool load()
    {
        for (const std::string& path : folder_.checkpoints()) {
            try {
                frame_ = load_checkpoint(path, water_);
                restore(water_, scene_);
                live_.catch_up(frame_);
                say(fmt::format("going on from {}: frame {}, {:.4f} s", path, frame_, water_.time));
                return true;
            } catch (const RunError& e) {
                warn(fmt::format("{}; trying an older checkpoint", e.what()));
            }
        }
        // A torn file may have left its traces.
        water_ = initial_water<D>(scene_);
        say("no checkpoint to go on from: starting at frame 0");
        return false;
    }

    // One step towards the end of the frame. Returns what was wrong if it could not be made; the water is then as
    // before.
    std::string advance()
    {
        const Timer timer;
        const double frame_end = frame_time(frame_ + 1);
        const double remaining = frame_end - water_.time;
        const double limit = choose_dt(water_, scene_);
        double dt = equal_step(remaining, limit);
        halvings_ = 0;
        if (!(dt > 0)) return step_too_short(limit, before_.max_speed);

        backup_.take(water_);
        StepReport report = step(water_, scene_, dt);
        for (;; ++halvings_) {
            const std::string why = complaint(report, params_);
            if (why.empty()) break;
            backup_.give_back(water_);
            restore(water_, scene_);
            if (halvings_ == max_halvings) return why;
            dt /= 2;
            folder_.log(fmt::format("step {}: {}; again with dt = {:.3g} s", water_.step + 1, why, dt));
            report = step(water_, scene_, dt);
        }
        // The sum of the steps may miss the frame by a rounding error; frames are hit exactly.
        if (dt == remaining) {
            water_.time = frame_end;
            tell_poses(water_, scene_, frame_end);
        }

        pressed_ += std::fabs(report.pressed) * dt;
        if (!told_pressed_ && pressed_ > cell_volume(water_.grid)) {
            told_pressed_ = true;
            warn(fmt::format("at {:.4f} s sources or solids press {:.3g} {}/s into water that fills its room: it cannot be "
                             "compressed, so its volume stays; open a side of the domain, or leave some air",
                             water_.time, report.pressed, D == 2 ? "m²" : "m³"));
        }
        const double speed = before_.max_speed;
        before_ = measure(water_, params_);
        StatsRow r = row(report, timer.seconds());
        r.frame = frame_ + 1;
        r.cfl = speed * dt / water_.grid.h;
        folder_.add_stats(r);
        add_readings(backup_.velocity_before());
        report_ = report;
        progress_.step(progress_state());
        return {};
    }

    void add_readings(const VelocityBefore<D>& before)
    {
        folder_.add_gauges(water_.step, water_.time, read_gauges(water_, scene_, before));
        folder_.add_bodies(water_.step, water_.time, bodies_now(water_, params_));
    }

    StatsRow row(const StepReport& report, double seconds)
    {
        StatsRow r = stats_row(water_, before_, report);
        r.frame = frame_;
        r.seconds = seconds;
        r.seconds_output = std::exchange(seconds_output_, 0);
        return r;
    }

    // Frame and checkpoint from one state, the frame with the velocity of the surface's time. On a GPU they are written while the next steps go on; its pictures in 3D it
    // draws itself, and most frames then need nothing else of the state.
    void write_frame(int frame, bool save)
    {
        const ScopedTimer timer(seconds_output_);
        folder_.add_components(frame, water_);
        FramePaths paths = frame_paths(folder_.dir(), scene_, frame);
        const bool other = paths.need_fields() && backup_.make_surface_velocity(water_);
        if (!on_device()) return write(water_, backup_.velocity(), other, paths, frame, save);
        Shown& next = shown_[size_t(frame) % shown_.size()];
        if (next.written.valid()) next.written.get();
        for (int a = 0; other && a < D; ++a) copy_member_beside(next.velocity[a], backup_.velocity()[a]);
        backup_.take(water_);
        const std::string picture = painter_ ? std::exchange(paths.preview, {}) : "";
        if (painter_) draw(next.drawn);
        if (save || paths.need_fields()) {
            backup_.copy_beside(next.water);
            if (water_.solids.any) next.water.solids.distance.copy(water_.solids.distance);
        } else {
            backup_.copy_spray_beside(next.water);
        }
        // A checkpoint says that every frame before it is there.
        std::vector<std::shared_future<void>> before;
        for (const Shown& other : shown_)
            if (save && &other != &next && other.written.valid()) before.push_back(other.written);
        next.written = std::async(std::launch::async, [this, &next, other, picture, paths, frame, save, before] {
            backend::wait_for_copies();
            if (!picture.empty()) {
                Image image = painter_->image(next.drawn.data());
                paint_drops(image, drops_of(next.water, params_.droplets), scene_, next.water.time);
                write_png(picture, image);
            }
            for (const auto& written : before) written.get();
            write(next.water, next.velocity, other, paths, frame, save);
        });
    }

    // Beside the step that follows, from the state before it.
    void draw(Memory<uint8_t>& to)
    {
        if constexpr (D == 3) {
            const backend::AsynchronousCopy beside;
            const Memory<uint8_t>& drawn = painter_->draw(backup_.phi(), water_.solids, water_.time);
            if (to.size() == 0) to = Memory<uint8_t>(drawn.size(), Where::program);
            backend::copy_beside(to.data(), drawn.data(), drawn.size());
        }
        // Of solids that move there is no other copy.
        if (water_.solids.moving) backend::follow_copies();
    }

    void finish_writing()
    {
        for (Shown& each : shown_)
            if (each.written.valid()) std::exchange(each.written, {}).get();
    }

    // `velocity` is what the frame has where it has another than the state's.
    void write(Water<D>& water, FaceField<D>& velocity, bool other, const FramePaths& paths, int frame, bool save)
    {
        FramePaths own = paths;
        if (live_.any()) own.preview.clear();
        {
            const WithVelocity<D> at_surface_time(water, velocity, other);
            tarn::write_frame(own, water, scene_);
        }
        live_.add(frame);
        if (!save) return;
        save_checkpoint(folder_.checkpoint_path(water.step), water, frame);
        folder_.prune_checkpoints();
    }

    void save()
    {
        const ScopedTimer timer(seconds_output_);
        finish_writing();
        save_checkpoint(folder_.checkpoint_path(water_.step), water_, frame_);
        folder_.prune_checkpoints();
    }

    ProgressState progress_state() const
    {
        const double share = (water_.time - frame_time(frame_)) / params_.time.frame_seconds();
        return {.frame = frame_,
                .frames = params_.time.frames,
                .share = std::clamp(share, 0.0, 1.0),
                .dt = report_.dt,
                .iterations = report_.pressure.iterations,
                .volume = before_.volume,
                .volume_expected = water_.volume_expected};
    }

    void report_frame()
    {
        folder_.log(progress_.frame(progress_state()));
        // A file that is flushed to the disk takes as long as a frame of a quick run.
        if (since_status_.seconds() < 0.25) return;
        write_status("running", "");
        since_status_ = Timer();
    }

    void write_status(const std::string& state, const std::string& reason)
    {
        folder_.write_status({.state = state,
                              .exit_reason = reason,
                              .frame = frame_,
                              .frames = params_.time.frames,
                              .time = water_.time,
                              .step = water_.step,
                              .eta = progress_.eta(progress_state()),
                              .elapsed = timer_.seconds(),
                              .threads = threads_,
                              .hash = state == "running" ? "" : fmt::format("{:016x}", state_hash(water_))});
    }

    int finish()
    {
        write_status("done", "all frames are there");
        const std::string text = fmt::format("done: {} frames in {}, at most {:.0f} MB -> {}", frame_,
                                             duration_text(timer_.seconds()), memory_peak() / 1e6, folder_.dir());
        if (!params_.gauge.empty()) plot_csv(folder_.dir() + "/gauges.csv", folder_.dir() + "/gauges.svg");
        if (params_.output.preview) {
            try {
                make_preview_movie(folder_.dir(), params_.time.rate);
            } catch (const RunError& e) {
                // The pictures are there and `tarn movie` joins them later: no reason to call the run failed.
                warn(fmt::format("no movie: {}", e.what()));
            }
        }
        say(text);
        return exit_done;
    }

    int stop()
    {
        save();
        write_status("interrupted", "stopped by a signal");
        folder_.log(fmt::format("interrupted at {:.4f} s, step {}", water_.time, water_.step));
        progress_.warn("interrupted and saved; to go on: " + resume_command());
        return exit_interrupted;
    }

    int fail_step(const std::string& why)
    {
        const std::string halved = halvings_ > 0 ? fmt::format(", even with dt halved {} times", halvings_) : "";
        const std::string text = fmt::format("step {} at {:.4f} s failed{}: {}", water_.step + 1, water_.time, halved, why);
        save_checkpoint(folder_.failed_checkpoint_path(), water_, frame_);
        return fail(text + "; to replay it: " + resume_command());
    }

    // The disk is full or the folder is gone. What can still be saved is saved; the reason told is the first one.
    int fail_writing(const std::string& why)
    {
        try {
            if (water_.step > 0) save();  // before that, starting over loses nothing
        } catch (const RunError&) {
        }
        return fail(why + "; when that is mended: " + resume_command());
    }

    int fail(const std::string& text)
    {
        progress_.warn(text);
        try {
            write_status("failed", text);
            folder_.log(text);
        } catch (const RunError&) {
            // It was told on stderr; a full disk takes no more.
        }
        return exit_failed;
    }

    std::string resume_command() const { return fmt::format("{} --out {} --resume", options_.command, folder_.dir()); }

    void say(const std::string& text)
    {
        folder_.log(text);
        progress_.note(text);
    }
    void warn(const std::string& text)
    {
        folder_.log("warning: " + text);
        progress_.warn("warning: " + text);
    }

    const Scene& scene_;
    const Params& params_;
    const RunOptions& options_;
    RunFolder& folder_;
    Progress& progress_;
    const int threads_;
    const Timer timer_;
    Timer since_status_;

    Water<D> water_;
    Live live_;
    int halvings_ = 0;  // of dt, in the newest step
    Backup<D> backup_;
    // On a GPU: states whose frames are being written, their pictures, and that work.
    struct Shown {
        Water<D> water;
        FaceField<D> velocity;  // of the surface's time
        Memory<uint8_t> drawn;
        std::shared_future<void> written;
    };
    std::vector<Shown> shown_;
    std::optional<Painter> painter_;  // on a GPU in 3D
    int frame_ = 0;                   // the newest whose files are all written
    Measures before_;                 // of water_ as it stands
    StepReport report_;               // of the newest step
    double seconds_output_ = 0;
    double saved_ = 0;  // when, by timer_
    double pressed_ = 0;  // volume, into water that has nowhere to go
    bool told_pressed_ = false;
};

}  // namespace

int run(const Scene& scene, const RunOptions& options)
{
    CheckReport report = check(scene);
    const std::string out = options.out.empty() ? "out/" + scene.name : options.out;
    check_disk(report, scene, out);
    for (const Finding& f : report.findings)
        if (f.level == Finding::error) throw InputError(f.text);

    RunFolder folder(out, scene, options.existing);
    Progress progress(options.quiet);
    // Frames are rendered from what is on disk, as by `tarn render`.
    const auto render_frames = [&](int code) {
        if (code != exit_done || !scene.params.output.render) return code;
        RenderOptions rendering;
        rendering.dir = out;
        rendering.threads = options.threads;
        rendering.quiet = options.quiet;
        return render(rendering);
    };
    if (folder.finished() && *folder.finished() >= scene.params.time.frames) {
        progress.note(fmt::format("{}: all {} frames are there; more with --frames", out, *folder.finished()));
        // The scene as it is written, looked at and rendered from now on.
        Scene now = scene;
        now.params.time.frames = *folder.finished();
        folder.begin(now);
        // What [output] asks for now, and did not then.
        load_tracks(out + "/bodies.jsonl", now);
        if (!all_files_there(out, now, now.params.time.frames)) make_missing(out, now, progress);
        return render_frames(exit_done);
    }
    folder.begin(scene);
    for (const Finding& f : report.findings)
        if (f.level == Finding::warning) {
            folder.log("warning: " + f.text);
            progress.warn("warning: " + f.text);
        }

    const Interrupts interrupts;
    // Beside a GPU, two threads are left to launch its kernels and to carry frames.
    set_threads(options.threads > 0 || !on_device() ? options.threads : std::max(1, this_machine().cores - 2));
    progress.note(fmt::format("{}: {} cells -> {}", scene.name, report.estimate.grid, out));
    if (scene.params.dimension() == 2) return Session<2>(scene, options, folder, progress).run();
    return render_frames(Session<3>(scene, options, folder, progress).run());
}

}  // namespace tarn
