#pragma once
// The scene file: TOML in, Params out; and back, resolved.

#include <string>
#include <utility>
#include <vector>

#include "tarn/scene/scene.h"

namespace tarn {

using Overrides = std::vector<std::pair<std::string, std::string>>;  // dotted key, TOML value (bare words allowed)

// Parses and validates TOML text. Throws InputError: `file:line: key: what is wrong; the fix`.
Params read_params(const std::string& text, const std::string& file, const Overrides& overrides = {});

// Reads a scene file and builds its geometry. Throws InputError.
Scene read_scene(const std::string& path, const Overrides& overrides = {});

// Every parameter with its value, as a scene file that reads back to the same Params.
std::string write_params(const Params& params);

}  // namespace tarn
