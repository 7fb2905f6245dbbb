#pragma once
// What a person sees while a run goes on: a live line on a terminal, a plain line per frame in a pipe.

#include <deque>
#include <string>

#include "tarn/base/timer.h"

namespace tarn {

struct ProgressState {
    int frame = 0, frames = 0;  // finished, of
    double share = 0;           // of the frame in hand, 0...1
    double dt = 0;
    int iterations = 0;
    double volume = 0, volume_expected = 0;
};

class Progress {
public:
    explicit Progress(bool quiet);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void begin();                        // starts the clock of the estimate
    void note(const std::string& text);  // one line on stdout, not with quiet
    void warn(const std::string& text);  // one line on stderr, always
    void step(const ProgressState& state);
    void show(std::string text);  // the live line, where there is one
    std::string frame(const ProgressState& state);  // returns the line, for the log

    // Seconds that the rest will take, from the newest frames; 0 until one is done.
    double eta(const ProgressState& state) const;

private:
    void clear_line();
    std::string text(const ProgressState& state) const;

    bool quiet_, live_;
    bool line_shown_ = false;
    Timer timer_;
    double last_shown_ = -1;
    std::deque<double> frame_ends_;
};

// "4 s", "3 min 05 s", "2 h 10 min".
std::string duration_text(double seconds);

}  // namespace tarn
