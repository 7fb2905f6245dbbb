#pragma once
// The parameters that a playground lets be changed while the water moves, by the rows of the tables in params/.

#include <span>
#include <string>

#include "tarn/params/tables.h"

namespace tarn {

// A parameter with the part of its range that a slider spans.
struct Setting {
    const char* key;    // dotted, as in a scene file
    const char* label;  // in a few words
    double lo = 0, hi = 0;
    bool logarithmic = false;
    bool restarts = false;  // fields of the state depend on it
};
std::span<const Setting> settings();

// Every setting with its table's unit, range, words and meaning, and its value now, as JSON.
std::string settings_json(const Params& params);

// Sets a parameter from text: a number, true or false, or a word. Throws InputError where there is no such setting, or the
// value is none that the table allows.
const Setting& set_parameter(Params& params, const std::string& key, const std::string& value);

}  // namespace tarn
