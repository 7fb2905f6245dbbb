#include "tarn/play/settings.h"

#include <cstdlib>

#include "tarn/base/error.h"
#include "tarn/base/nearest.h"

namespace tarn {

namespace {

constexpr Setting all_settings[] = {
    {"time.speed", "Speed", 0.05, 2, true},
    {"air.density", "Density of air", 0.5, 2000, true},
    {"fluid.viscosity", "Viscosity", 1e-6, 1e-1, true, true},
    {"fluid.surface_tension", "Surface tension", 1e-2, 50, true, true},
    {"time.cfl", "CFL", 0.5, 25, true},
    {"surface.volume_correction", "Mass compensation"},
    {"surface.spray", "Droplets and bubbles"},
    {"fragments.pieces_per_speed", "Breakup of droplets", 0, 3},
    {"fragments.foam_life", "Life of foam", 0, 0.05},
    {"fragments.drag", "Drag of droplets", 0, 2},
    {"method.advection", "Advection of velocity", 0, 0, false, true},
    {"surface.advection", "Advection of surface", 0, 0, false, true},
    {"method.interface", "Interface", 0, 0, false, true},
    {"pressure.tolerance", "Tolerance of pressure", 1e-6, 1e-2, true},
};

struct Place {
    const Section* section;
    const ParamRow* row;
};

Place find(const std::string& key)
{
    const size_t dot = key.rfind('.');
    for (const Section& section : sections())
        if (section.name == key.substr(0, dot))
            for (const ParamRow& row : section.rows)
                if (row.name == key.substr(dot + 1)) return {&section, &row};
    throw InputError(key + ": no such parameter");
}

std::string value_of(const Params& given, const Place& place)
{
    // Sections give out what they hold for writing, hence the copy.
    Params params = given;
    const auto value = place.row->value(place.section->object(params, 0));
    return value ? value_text(*place.row, *value, 2) : "null";
}

std::string json(const Setting& setting, const Params& params)
{
    const Place place = find(setting.key);
    const ParamRow& row = *place.row;
    std::string words;
    for (const Word& word : row.words)
        if (word.available()) words += (words.empty() ? "" : ",") + quoted(word.text);
    const char* const kind = row.kind == ParamKind::boolean ? "boolean" : row.kind == ParamKind::choice ? "choice" : "number";
    return "{\"key\":" + quoted(setting.key) + ",\"label\":" + quoted(setting.label) + ",\"kind\":\"" + kind +
           "\",\"unit\":" + quoted(row.unit) + ",\"meaning\":" + quoted(row.meaning) + ",\"lo\":" + number_text(setting.lo) +
           ",\"hi\":" + number_text(setting.hi) + ",\"logarithmic\":" + (setting.logarithmic ? "true" : "false") +
           ",\"words\":[" + words + "],\"value\":" + value_of(params, place) + "}";
}

ParamValue parse(const ParamRow& row, const std::string& key, const std::string& text)
{
    if (row.kind == ParamKind::boolean) {
        if (text != "true" && text != "false") throw InputError(key + ": give true or false");
        return text == "true";
    }
    if (row.kind == ParamKind::choice) {
        std::vector<std::string> known;
        for (const Word& word : row.words) {
            if (word.available() && text == word.text) return word.value;
            if (word.available()) known.push_back(word.text);
        }
        throw InputError(key + ": unknown word \"" + text + "\"; " + suggestion(text, known));
    }
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (text.empty() || *end) throw InputError(key + ": \"" + text + "\" is no number");
    if (row.kind == ParamKind::integer) return static_cast<int>(number);
    if (row.kind == ParamKind::keyed_number) return Keyed<double>(number);
    return number;
}

}  // namespace

std::span<const Setting> settings() { return all_settings; }

std::string settings_json(const Params& params)
{
    std::string text;
    for (const Setting& setting : settings()) text += (text.empty() ? "[" : ",") + json(setting, params);
    return text + "]";
}

const Setting& set_parameter(Params& params, const std::string& key, const std::string& text)
{
    for (const Setting& setting : settings()) {
        if (setting.key != key) continue;
        const Place place = find(key);
        const ParamValue value = parse(*place.row, key, text);
        if (const auto problem = range_problem(*place.row, value, 2)) throw InputError(key + ": " + *problem);
        place.row->set(place.section->object(params, 0), value);
        return setting;
    }
    throw InputError(key + ": the playground does not change this parameter");
}

}  // namespace tarn
