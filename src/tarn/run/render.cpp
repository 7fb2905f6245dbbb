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
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/printf.h>

#include "tarn/backend/parallel.h"
#include "tarn/base/error.h"
#include "tarn/base/timer.h"
#include "tarn/output/files.h"
#include "tarn/render/denoise.h"
#include "tarn/render/studio.h"
#include "tarn/run/exit_code.h"
#include "tarn/run/frames.h"
#include "tarn/run/interrupt.h"
#include "tarn/run/progress.h"
#include "tarn/scene/read.h"

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

// The frames whose volumes are there.
std::vector<int> frames_there(const std::string& dir)
{
    std::vector<int> frames;
    std::error_code error;
    for (fs::directory_iterator it(dir + "/volume", error), end; !error && it != end; it.increment(error)) {
        int frame = 0;
        char rest = 0;
        if (std::sscanf(it->path().filename().c_str(), "frame_%d.vd%c", &frame, &rest) == 2 && rest == 'b' &&
            it->path().extension() == ".vdb")
            frames.push_back(frame);
    }
    std::sort(frames.begin(), frames.end());
    return frames;
}

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
    Session(const RenderOptions& options, const Scene& scene)
        : options_(options),
          scene_(scene),
          studio_(scene_),
          progress_(options.quiet),
          params_(picture_params(scene.params.render))
    {
    }

    int run(const std::vector<int>& frames)
    {
        int made = 0, there = 0, elsewhere = 0;
        for (size_t i = 0; i < frames.size(); ++i) {
            const Paths paths(options_.dir, frames[i]);
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
            if (!render_frame(frames[i], paths, claim, made, static_cast<int>(frames.size() - i))) {
                progress_.warn("interrupted; to go on, call it again: finished frames are skipped");
                return exit_interrupted;
            }
            ++made;
            seconds_ += timer.seconds();
            progress_.note(fmt::format("frame {}  {}  {:.1f} s", frames[i], paths.png, timer.seconds()));
        }
        progress_.note(fmt::format("done: {} frames in {}{}{} -> {}/render", made, duration_text(seconds_),
                                   there ? fmt::format(", {} were there", there) : "",
                                   elsewhere ? fmt::format(", {} are being made elsewhere", elsewhere) : "",
                                   options_.dir));
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

    bool render_frame(int frame, const Paths& paths, const Claim& claim, int made, int left)
    {
        Frame3d data;
        data.now = read_vdb(frame_path(options_.dir, "volume", frame, "vdb"));
        if (scene_.params.camera.shutter > 0) {
            const std::string next = frame_path(options_.dir, "volume", frame + 1, "vdb");
            if (fs::exists(next)) data.next = read_vdb(next);
        }
        const std::string spray = frame_path(options_.dir, "particles", frame, "ply");
        if (fs::exists(spray)) data.drops = read_particles(spray);

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
    const Scene& scene_;
    const Studio studio_;
    Progress progress_;
    const PictureParams params_;
    double seconds_ = 0;
};

}  // namespace

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

int render(const RenderOptions& options)
{
    const std::string& dir = options.dir;
    const std::string file = dir + "/scene.toml";
    if (!fs::is_directory(dir)) throw InputError(dir + ": no such folder; give the folder of a run");
    if (!fs::exists(file)) throw InputError(dir + ": holds no scene.toml; give the folder of a run");
    Overrides settings = options.settings;
    const auto set = [&](const char* key, const std::string& value) { settings.emplace_back(key, value); };
    if (options.preview) {
        set("render.samples", "8");
        set("render.denoise", "true");
    }
    if (options.samples > 0) set("render.samples", std::to_string(options.samples));
    Scene scene = read_scene(file, settings);
    if (scene.params.dimension() == 2)
        throw InputError(dir + ": is a 2D run; sections are drawn by the run itself, with output.preview = true");
    const double scale = options.scale * (options.preview ? 0.5 : 1);
    // Even, as video codecs want them.
    const auto scaled = [&](int n) { return std::max(2, 2 * static_cast<int>(std::lround(0.5 * scale * n))); };
    constexpr double most = 16384;  // pixels, as of render.width
    if (!(scale > 0) || scale * std::max(scene.params.render.width, scene.params.render.height) > most)
        throw InputError(
            fmt::format("--scale {}: no side of a picture may be longer than {} pixels", options.scale, most));
    scene.params.render.width = scaled(scene.params.render.width);
    scene.params.render.height = scaled(scene.params.render.height);

    const std::vector<int> there = frames_there(dir);
    if (there.empty())
        throw InputError(
            fmt::format("{}: no volumes in {}/volume to render from; run the scene with output.volume = true "
                        "or output.render = true",
                        dir, dir));
    std::vector<int> frames = there;
    if (!options.frames.empty()) {
        frames = frames_named(options.frames);
        for (const int f : frames)
            if (!std::binary_search(there.begin(), there.end(), f))
                throw InputError(fmt::format("--frames {}: {} holds no volume of frame {}; there are {} to {}",
                                             options.frames, dir, f, there.front(), there.back()));
    }
    std::error_code error;
    fs::create_directories(dir + "/render", error);
    const Interrupts interrupts;
    set_threads(options.threads);
    const int code = Session(options, scene).run(frames);
    if (code != exit_done || !all_rendered(dir, scene.params.time.frames)) return code;
    try {
        make_movie(dir, scene.params.time.rate);
    } catch (const RunError& e) {
        // The pictures are there and `tarn movie` joins them later.
        fmt::print(stderr, "tarn: warning: no movie: {}\n", e.what());
    }
    return code;
}

}  // namespace tarn
