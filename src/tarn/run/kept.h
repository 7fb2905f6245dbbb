#pragma once
// What a run has kept for whatever is made of it later: its scene, and the water of its frames.

#include <map>
#include <string>
#include <vector>

#include "tarn/phases/droplets.h"
#include "tarn/scene/read.h"

namespace tarn {

// The scene of a run, seen with other settings. What was simulated cannot be changed any more. Throws InputError.
Scene kept_scene(const std::string& dir, const Overrides& settings);
// The same where it is water.
Scene kept_water(const std::string& dir, const Overrides& settings);

// The frames that a text names: "12", "10-20", "10-20/5", or several with commas. Throws InputError.
std::vector<int> frames_named(const std::string& text);

// The states of those frames, or of all where the text is empty. Throws InputError where there are none.
std::map<int, std::string> kept_frames(const std::string& dir, const std::string& named);

// Of a frame's own droplets, bubbles and foam and those of `tarn whitewater`, what output.drops asks for. Throws InputError
// where it asks for what is not there.
template <int D>
void choose_drops(Droplets<D>& droplets, const std::string& dir, int frame, const Params& params);

}  // namespace tarn
