#pragma once
// Whether parameters make a scene, whoever made them: a file, a program or a slider.

#include <string>
#include <vector>

#include "tarn/params/params.h"

namespace tarn {

// `key` is dotted, with the index of an entry inside: "water.0.radius".
struct Problem {
    std::string key, text;
};

// What is wrong with single values and shapes: out of range, missing, upside down.
std::vector<Problem> row_problems(const Params& params);

// Those, or where there are none what is wrong with the scene as a whole: a domain that no grid fits, water that is
// nowhere, keys that do nothing. Files that shapes name are not opened.
std::vector<Problem> problems(const Params& params);

}  // namespace tarn
