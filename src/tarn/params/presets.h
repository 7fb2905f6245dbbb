#pragma once
// The papers' own methods: what each preset chooses where a scene does not say.

#include <string>
#include <vector>

#include "tarn/params/params.h"

namespace tarn {

struct PresetChoice {
    Preset preset;
    std::string section, key;
    std::string value;  // as in a scene file
    std::string why;    // where the paper says so
};
const std::vector<PresetChoice>& preset_choices();

// Whether a preset chooses this key.
bool chosen_by_preset(Preset preset, const std::string& section, const std::string& key);

// Sets one key to a choice's value.
void set_choice(Params& params, const PresetChoice& choice);

// Makes the choices of the scene's preset but for keys that are given. `given` tells whether a scene has a key in a table.
template <class Given>
void apply_preset(Params& params, const Given& given)
{
    for (const PresetChoice& c : preset_choices())
        if (c.preset == params.method.preset && !given(c.section.c_str(), c.key.c_str())) set_choice(params, c);
}

}  // namespace tarn
