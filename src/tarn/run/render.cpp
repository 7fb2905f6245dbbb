#include "tarn/run/render.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/printf.h>

#include "tarn/backend/parallel.h"
#include "tarn/base/error.h"
#include "tarn/base/timer.h"
#include "tarn/output/files.h"
#include "tarn/output/finer.h"
#include "tarn/render/denoise.h"
#include "tarn/render/studio.h"
#include "tarn/run/exit_code.h"
#include "tarn/run/float.h"
#include "tarn/run/frames.h"
#include "tarn/run/interrupt.h"
#include "tarn/run/kept.h"
#include "tarn/run/progress.h"
#include "tarn/scene/read.h"
#include "tarn/step/step.h"

namespace fs = std::filesystem;

namespace tarn {
namespace {

constexpr const char* done_text = "%d x %d, %d samples\n";
constexpr double claim_holds = 120;  // s after it was last renewed

// A file that says: this frame is being rendered. Made by one program only, renewed while it works, gone after.
class Claim {
public:
    explicit Claim(std::string path) : path_(std::move(path))
    {
        struct stat there;
        if (::stat(path_.c_str(), &there) == 0 && std::difftime(std::time(nullptr), there.st_mtime) > claim_holds)
            ::unlink(path_.c_str());
        const int fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0644);
        held_ = fd >= 0;
        if (held_)
            ::close(fd);
        else if (errno != EEXIST)
            throw RunError(fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
    }
    ~Claim()
    {
        if (held_) ::unlink(path_.c_str());
    }
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;

    bool held() const { return held_; }
    void renew() const { ::utimensat(AT_FDCWD, path_.c_str(), nullptr, 0); }

private:
    std::string path_;
    bool held_ = false;
};

struct Paths {
    std::string png, exr, done, claim;
    Paths(const std::string& dir, int frame)
        : png(frame_path(dir, "render", frame, "png")),
          exr(frame_path(dir, "render", frame, "exr")),
          done(frame_path(dir, "render", frame, "done")),
          claim(frame_path(dir, "render", frame, "claim"))
    {
    }
};

bool all_rendered(const std::string& dir, int frames)
{
    for (int f = 0; f <= frames; ++f)
        if (!fs::exists(Paths(dir, f).done)) return false;
    return true;
}

class Session {
public:
    // Pictures go to OUT/render.
    Session(const RenderOptions& options, const Scene& scene, const std::string& out)
        : options_(options),
          out_(out),
          scene_(scene),
          studio_(scene_),
          progress_(options.quiet),
          params_(picture_params(scene.params.render))
    {
    }

    // By their states.
    int run(const std::map<int, std::string>& frames)
    {
        int made = 0, there = 0, elsewhere = 0, left = static_cast<int>(frames.size()) + 1;
        for (const auto& [frame, state] : frames) {
            --left;
            const Paths paths(out_, frame);
            if (finished(paths)) {
                ++there;
                continue;
            }
            const Claim claim(paths.claim);
            if (!claim.held()) {
                ++elsewhere;
                continue;
            }
            // Someone may have finished it between the two looks.
            if (finished(paths)) {
                ++there;
                continue;
            }
            const Timer timer;
            if (!render_frame(frame, state, paths, claim, made, left)) {
                progress_.warn("interrupted; to go on, call it again: finished frames are skipped");
                return exit_interrupted;
            }
            ++made;
            seconds_ += timer.seconds();
            progress_.note(fmt::format("frame {}  {}  {:.1f} s", frame, paths.png, timer.seconds()));
        }
        progress_.note(fmt::format("done: {} frames in {}{}{} -> {}/render", made, duration_text(seconds_),
                                   there ? fmt::format(", {} were there", there) : "",
                                   elsewhere ? fmt::format(", {} are being made elsewhere", elsewhere) : "",
                                   out_));
        return exit_done;
    }

private:
    // A smaller picture or one of fewer samples, a preview's say, is not what is asked for.
    bool finished(const Paths& paths) const
    {
        if (options_.again || !fs::exists(paths.done)) return false;
        int width = 0, height = 0, samples = 0;
        if (std::sscanf(read_file(paths.done).c_str(), done_text, &width, &height, &samples) != 3) return false;
        return width >= params_.width && height >= params_.height && samples >= params_.samples;
    }

    // As fine as what carries its surface.
    FrameState<3> state_of(const std::string& path)
    {
        if (!keeps_points(scene_.params)) return read_state<3>(path);
        if (!water_) water_ = initial_water<3>(scene_);
        load_state(path, *water_);
        restore(*water_, scene_);
        std::optional<Water<3>> fine = finer(*water_, scene_);
        return fine ? shown_state(*fine) : read_state<3>(path);
    }

    bool render_frame(int frame, const std::string& state, const Paths& paths, const Claim& claim, int made, int left)
    {
        FrameState<3> water = state_of(state);
        choose_drops(water.droplets, options_.dir, frame, scene_.params);
        Frame3d data = frame_from(water, scene_.params.droplets);
        const std::string next = frame_path(options_.dir, "state", frame + 1, state_ending);
        if (scene_.params.camera.shutter > 0 && fs::exists(next)) data.next = volume_of(state_of(next));

        const World world = studio_.set(data);
        const Camera camera = studio_.camera(data.now.time, double(params_.width) / params_.height);
        const Timer timer;
        const auto film = take_picture(world, camera, params_, [&](double share) {
            claim.renew();
            const double rest = timer.seconds() * (1 / share - 1);
            const double eta = rest + (made > 0 ? seconds_ / made : timer.seconds() / share) * (left - 1);
            progress_.show(fmt::format("frame {}  {:.0f} %  eta {}", frame, 100 * share, duration_text(eta)));
            return !interrupted();
        });
        if (!film) return false;
        std::vector<Vec3f> light(film->pixels());
        for (size_t i = 0; i < light.size(); ++i) light[i] = film->mean(i);
        // As it was found, for those who filter it themselves.
        if (scene_.params.render.exr) write_exr(paths.exr, *film, light);
        if (scene_.params.render.denoise) light = denoise(*film);
        write_png(paths.png, develop(light, film->width, film->height, scene_.params.render.exposure));
        write_file(paths.done, fmt::sprintf(done_text, film->width, film->height, film->samples));
        return true;
    }

    const RenderOptions& options_;
    const std::string out_;
    const Scene& scene_;
    const Studio studio_;
    Progress progress_;
    const PictureParams params_;
    std::optional<Water<3>> water_;  // only where points carry the surface
    double seconds_ = 0;
};

}  // namespace

int render(const RenderOptions& options)
{
    Overrides settings = options.settings;
    const auto set = [&](const char* key, const std::string& value) { settings.emplace_back(key, value); };
    if (options.preview) {
        set("render.samples", "8");
        set("render.denoise", "true");
    }
    if (options.samples > 0) set("render.samples", std::to_string(options.samples));
    Scene scene = with_floats(kept_scene(options.dir, settings), options.dir, options.floats);
    if (scene.params.dimension() == 2)
        throw InputError(options.dir + ": is a 2D run; sections are drawn by the run itself, with output.preview = true");
    const double scale = options.scale * (options.preview ? 0.5 : 1);
    // Even, as video codecs want them.
    const auto scaled = [&](int n) { return std::max(2, 2 * static_cast<int>(std::lround(0.5 * scale * n))); };
    constexpr double most = 16384;  // pixels, as of render.width
    if (!(scale > 0) || scale * std::max(scene.params.render.width, scene.params.render.height) > most)
        throw InputError(
            fmt::format("--scale {}: no side of a picture may be longer than {} pixels", options.scale, most));
    scene.params.render.width = scaled(scene.params.render.width);
    scene.params.render.height = scaled(scene.params.render.height);

    const std::map<int, std::string> frames = kept_frames(options.dir, options.frames);
    // A try costs nothing of what is finished.
    const std::string out = scale == 1 ? options.dir : options.dir + "/try";
    std::error_code error;
    fs::create_directories(out + "/render", error);
    const Interrupts interrupts;
    set_threads(options.threads);
    const int code = Session(options, scene, out).run(frames);
    if (code != exit_done || scale != 1 || !all_rendered(options.dir, scene.params.time.frames)) return code;
    try {
        make_render_movie(options.dir, scene.params.time.rate);
    } catch (const RunError& e) {
        // The pictures are there and `tarn movie` joins them later.
        fmt::print(stderr, "tarn: warning: no movie: {}\n", e.what());
    }
    return code;
}

}  // namespace tarn
