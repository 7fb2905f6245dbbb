#include "tarn/run/progress.h"

#include <cmath>
#include <cstdio>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tarn/run/machine.h"

namespace tarn {
namespace {

constexpr double live_interval = 0.1;  // s between two drawings of the live line
constexpr size_t eta_frames = 10;      // newest frames that the estimate looks at

int terminal_width()
{
    winsize size{};
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

std::string duration_text(double seconds)
{
    const long s = std::lround(seconds);
    if (s < 60) return fmt::format("{} s", s);
    if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
    return fmt::format("{} h {:02} min", s / 3600, s % 3600 / 60);
}

Progress::Progress(bool quiet) : quiet_(quiet), live_(!quiet && isatty(STDOUT_FILENO)) {}
Progress::~Progress() { clear_line(); }

void Progress::begin() { frame_ends_ = {timer_.seconds()}; }

void Progress::clear_line()
{
    if (!line_shown_) return;
    std::fputs("\r\x1b[K", stdout);
    std::fflush(stdout);
    line_shown_ = false;
}

void Progress::note(const std::string& text)
{
    if (quiet_) return;
    clear_line();
    fmt::print("{}\n", text);
    std::fflush(stdout);
}

void Progress::warn(const std::string& text)
{
    clear_line();
    fmt::print(stderr, "tarn: {}\n", text);
}

double Progress::eta(const ProgressState& s) const
{
    if (frame_ends_.size() < 2) return 0;
    const double per_frame = (frame_ends_.back() - frame_ends_.front()) / double(frame_ends_.size() - 1);
    return per_frame * (s.frames - s.frame - s.share);
}

std::string Progress::text(const ProgressState& s) const
{
    const double left = eta(s);
    const std::string drift =
        s.volume_expected > 0 ? fmt::format("{:+.2f} %", 100 * (s.volume / s.volume_expected - 1)) : std::string("-");
    return fmt::format("frame {}/{}  eta {}  dt {:.2g} s  iterations {}  volume {}  memory {:.0f} MB", s.frame,
                       s.frames,
                       left > 0              ? duration_text(left)
                       : s.frame == s.frames ? "0 s"
                                             : "-",
                       s.dt, s.iterations, drift, memory_resident() / 1e6);
}

void Progress::step(const ProgressState& s)
{
    if (live_ && timer_.seconds() - last_shown_ >= live_interval) show(text(s));
}

void Progress::show(std::string line)
{
    const double t = timer_.seconds();
    if (!live_ || t - last_shown_ < live_interval) return;
    last_shown_ = t;
    if (int(line.size()) >= terminal_width()) line.resize(size_t(terminal_width() - 1));
    fmt::print("\r{}\x1b[K", line);
    std::fflush(stdout);
    line_shown_ = true;
}

std::string Progress::frame(const ProgressState& s)
{
    frame_ends_.push_back(timer_.seconds());
    if (frame_ends_.size() > eta_frames + 1) frame_ends_.pop_front();
    const std::string line = text(s);
    if (live_) {
        last_shown_ = -1;
        step(s);
    } else {
        note(line);
    }
    return line;
}

}  // namespace tarn
