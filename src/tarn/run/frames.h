#pragma once
// How a frame is divided into steps, and where its files lie.

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace tarn {

// A state that needs more is running away.
constexpr int max_steps_per_frame = 10000;

// The largest dt <= limit of which a whole number fits into the time that remains of the frame; 0 where that takes more
// than max_steps_per_frame, or where the limit is no number. It depends on nothing but the state, so a run that was
// stopped and resumed within a frame takes the same steps.
inline double equal_step(double remaining, double limit)
{
    // Rounding must not make an extra step of a hair's breadth: a limit missed by a millionth is met.
    const double steps = std::ceil(remaining / limit * (1 - 1e-6));
    if (!(limit > 0) || !(steps <= max_steps_per_frame)) return 0;
    return remaining / std::max(1.0, steps);
}

// On a GPU: how many states, of so many bytes each, are written at a time. Several small ones let pictures keep up.
inline int states_at_once(double bytes) { return static_cast<int>(std::clamp(1e9 / bytes, 1.0, 4.0)); }

// DIR/KIND/frame_NNNN.ENDING
inline std::string frame_path(const std::string& dir, const std::string& kind, int frame, const std::string& ending)
{
    const std::string number = std::to_string(frame);
    const std::string zeros(number.size() < 4 ? 4 - number.size() : 0, '0');
    return dir + "/" + kind + "/frame_" + zeros + number + "." + ending;
}

// The ending of the states that a run keeps.
inline constexpr const char* state_ending = "state";

// The files of that kind and ending that are there, by their frame.
std::map<int, std::string> frames_in(const std::string& dir, const std::string& kind, const std::string& ending);

}  // namespace tarn
