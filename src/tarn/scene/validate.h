#pragma once
// Whether parameters make a scene, whoever made them: a file, a program or a slider.

#include <optional>
#include <string>

#include "tarn/params/params.h"

namespace tarn {

// `key` is dotted, with the index of an entry inside: "water.0.radius".
struct Problem {
    std::string key, text;
};

// The first thing that is wrong: a value out of range, a key that is missing, a domain that no grid fits, water that
// is nowhere. Files that shapes name are not opened.
std::optional<Problem> first_problem(const Params& params);

}  // namespace tarn
