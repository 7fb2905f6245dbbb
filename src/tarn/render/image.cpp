// Pictures and movies on disk.

#include <fcntl.h>
#include <fmt/format.h>
#include <png.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csetjmp>
#include <cstring>
#include <filesystem>
#include <vector>

#include "tarn/base/error.h"
#include "tarn/output/files.h"
#include "tarn/render/film.h"

namespace tarn {

namespace {

void append_png(png_structp png, png_bytep bytes, png_size_t n)
{
    static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<const char*>(bytes), n);
}

// Runs a program without a shell, so that no path needs quoting. Its output goes to `log`. Returns the exit status, 127
// where the program is not there.
int run_program(const std::vector<std::string>& words, const std::string& log)
{
    std::vector<char*> argv;
    for (const std::string& w : words) argv.push_back(const_cast<char*>(w.c_str()));
    argv.push_back(nullptr);
    const pid_t child = ::fork();
    if (child < 0) throw RunError(fmt::format("cannot start {}: {}", words[0], std::strerror(errno)));
    if (child == 0) {
        // Descriptors and not streams: what the parent has not yet printed must not be printed here as well.
        const int in = ::open("/dev/null", O_RDONLY), out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
        if (in < 0 || out < 0) ::_exit(126);
        ::dup2(in, STDIN_FILENO);
        ::dup2(out, STDOUT_FILENO);
        ::dup2(out, STDERR_FILENO);
        ::execvp(argv[0], argv.data());
        ::_exit(127);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR) throw RunError(fmt::format("lost sight of {}: {}", words[0], std::strerror(errno)));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// The number in frame_NNNN.png, or -1.
int frame_number(const std::string& name)
{
    const std::string_view prefix = "frame_", suffix = ".png";
    if (name.size() <= prefix.size() + suffix.size() || !name.starts_with(prefix) || !name.ends_with(suffix)) return -1;
    const std::string digits = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    if (digits.size() > 9 || !std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }))
        return -1;
    return std::stoi(digits);
}

}  // namespace

void write_png(const std::string& path, const Image& image)
{
    std::string bytes;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
    png_infop info = png ? png_create_info_struct(png) : nullptr;
    // libpng reports errors by a long jump to here; nothing between has a destructor.
    if (!info || setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        throw RunError(path + ": cannot encode the picture as PNG");
    }
    png_set_write_fn(png, &bytes, append_png, nullptr);
    png_set_IHDR(png, info, static_cast<png_uint_32>(image.width), static_cast<png_uint_32>(image.height), 8,
                 PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    // Of the levels, 3 with the slope filters costs a third of the default's time for a file a few percent larger.
    png_set_compression_level(png, 3);
    png_set_filter(png, 0, PNG_FILTER_SUB | PNG_FILTER_UP);
    png_write_info(png, info);
    for (int y = 0; y < image.height; ++y)
        png_write_row(png, image.rgb.data() + static_cast<size_t>(y) * static_cast<size_t>(image.width) * 3);
    png_write_end(png, nullptr);
    png_destroy_write_struct(&png, &info);
    write_file(path, bytes);
}

Picture read_picture(const std::string& path)
{
    if (path.ends_with(".exr")) return read_exr(path);
    png_image png{};
    png.version = PNG_IMAGE_VERSION;
    std::vector<uint8_t> bytes;
    const bool opened = png_image_begin_read_from_file(&png, path.c_str());
    if (opened) {
        png.format = PNG_FORMAT_RGB;
        bytes.resize(PNG_IMAGE_SIZE(png));
    }
    if (!opened || !png_image_finish_read(&png, nullptr, bytes.data(), 0, nullptr)) {
        const std::string why = png.message;
        png_image_free(&png);
        throw InputError(path + ": cannot be read as PNG: " + why + "; give a PNG or EXR picture");
    }
    Picture picture{static_cast<int>(png.width), static_cast<int>(png.height), std::vector<Vec3f>(bytes.size() / 3)};
    for (size_t i = 0; i < picture.pixels.size(); ++i)
        for (size_t c = 0; c < 3; ++c)
            picture.pixels[i][static_cast<int>(c)] = from_srgb(static_cast<float>(bytes[3 * i + c]) / 255);
    return picture;
}

void make_preview_movie(const std::string& dir, double rate)
{
    make_movie(dir + "/preview", dir + "/movie.mp4", rate);
}
void make_render_movie(const std::string& dir, double rate) { make_movie(dir + "/render", dir + "/render.mp4", rate); }

void make_movie(const std::string& pictures, const std::string& movie, double rate)
{
    namespace fs = std::filesystem;
    const std::string log = movie + ".log";
    std::vector<int> frames;
    std::error_code error;
    for (fs::directory_iterator it(pictures, error), end; !error && it != end; it.increment(error))
        if (const int n = frame_number(it->path().filename().string()); n >= 0) frames.push_back(n);
    if (frames.empty())
        throw RunError(
            fmt::format("{}: no frame_*.png to make a movie of; run the scene with output.preview = true", pictures));
    std::sort(frames.begin(), frames.end());
    // Width and height lie at the start of a PNG.
    const auto size_of = [&](int frame) {
        return read_file(fmt::format("{}/frame_{:04}.png", pictures, frame)).substr(16, 8);
    };
    for (size_t i = 1; i < frames.size(); ++i)
        if (size_of(frames[i]) != size_of(frames[0]))
            throw RunError(fmt::format("{}: frame {} is not as large as frame {}; render all frames alike", pictures,
                                       frames[i], frames[0]));
    for (size_t i = 1; i < frames.size(); ++i)
        if (frames[i] != frames[i - 1] + 1)
            throw RunError(fmt::format("{}: frame {} is missing, so that the movie would end there; render it again",
                                       pictures, frames[i - 1] + 1));

    // In the pattern, a percent sign of the folder's own name would be read as a frame number's.
    std::string pattern;
    for (const char c : pictures) pattern += c == '%' ? std::string("%%") : std::string(1, c);
    const int status = run_program({"ffmpeg",
                                    "-nostdin",
                                    "-hide_banner",
                                    "-loglevel",
                                    "error",
                                    "-y",
                                    "-framerate",
                                    fmt::format("{}", rate),
                                    "-start_number",
                                    fmt::format("{}", frames.front()),
                                    "-i",
                                    pattern + "/frame_%04d.png",
                                    "-c:v",
                                    "libx264",
                                    "-preset",
                                    "medium",
                                    "-crf",
                                    "18",
                                    "-pix_fmt",
                                    "yuv420p",
                                    "-movflags",
                                    "+faststart",
                                    "-f",
                                    "mp4",
                                    part_name(movie)},
                                   log);
    std::string said;
    if (fs::exists(log)) said = read_file(log);
    fs::remove(log, error);
    if (status != 0) {
        discard_part(movie);
        if (status == 127) throw RunError(movie + ": ffmpeg is not installed; apt install ffmpeg, then run tarn movie");
        throw RunError(fmt::format("{}: ffmpeg failed ({}): {}; the pictures are in {}", movie, status, said, pictures));
    }
    publish_file(movie);
}

}  // namespace tarn
