#include "tarn/params/describe.h"

#include <algorithm>
#include <utility>

#include "tarn/params/presets.h"
#include "tarn/params/tables.h"

namespace tarn {

namespace {

// ---- What a row says ----

std::string kind_text(const ParamRow& row)
{
    switch (row.kind) {
        case ParamKind::number:
            return "number";
        case ParamKind::integer:
            return "whole number";
        case ParamKind::boolean:
            return "true or false";
        case ParamKind::text:
            return "text";
        case ParamKind::vector:
            return "vector";
        case ParamKind::choice:
            return "word";
        case ParamKind::numbers:
            return "2 or 3 numbers";
        case ParamKind::keyed_number:
            return "number or keyframes";
        case ParamKind::keyed_vector:
            return "vector or keyframes";
        case ParamKind::keyed_turn:
            return "angles or keyframes";
    }
    return "";
}

bool has_range(const ParamRow& row)
{
    return row.kind != ParamKind::boolean && row.kind != ParamKind::text && row.kind != ParamKind::choice;
}

// The range of a number, or the words of a choice.
std::string range_text(const ParamRow& row)
{
    if (has_range(row)) return number_text(row.lo) + " to " + number_text(row.hi);
    std::string words;
    for (const Word& w : row.words)
        if (w.available()) words += (words.empty() ? "" : ", ") + quoted(w.text);
    return words;
}

// The shapes that take a key, empty where all do.
std::string shapes_text(const ParamRow& row)
{
    std::string r;
    bool all = true;
    for (const Word& w : shape_words())
        if (row.belongs_to(static_cast<ShapeKind>(w.value)))
            r += (r.empty() ? "" : ", ") + std::string(w.text);
        else
            all = false;
    return all ? "" : r;
}

// The default as TOML in a 3D scene, from a struct that nobody has touched; empty where there is none.
std::string default_text(const ParamRow& row, const void* untouched)
{
    if (row.required) return "";
    const auto value = row.value(untouched);
    return value ? value_text(row, *value, 3) : "";
}

std::string default_or_required(const ParamRow& row, const void* untouched)
{
    return row.required ? "required" : default_text(row, untouched);
}

std::string title(const Section& section)
{
    const std::string name = section.name;
    return name.empty() ? "The top of the file" : section.repeated() ? "[[" + name + "]]" : "[" + name + "]";
}

// Params with one untouched entry in every table and a shape wherever one may be, for the defaults.
Params untouched_params()
{
    Params params;
    for (const Section& section : sections()) {
        if (section.may_be_absent()) section.add(params);
        if (section.add_shape) section.add_shape(params);
    }
    return params;
}

const char* shape_title = "The keys of every shape";
const char* shape_meaning = "Taken by the entries of [[water]], [[solid]], [[source]] and [[sink]]; [wind], [[force]] and [[surface_pressure]] may have one.";

// Columns as wide as their widest cell, counted in characters rather than bytes.
size_t width(const std::string& text)
{
    return static_cast<size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

using Cells = std::vector<std::string>;

Cells cells_of(const ParamRow& row, const void* untouched)
{
    return {row.name, default_or_required(row, untouched), row.unit, range_text(row)};
}

void append_text(std::string& out, std::span<const ParamRow> rows, const void* untouched)
{
    std::vector<Cells> lines;
    std::vector<size_t> widths(4);
    for (const ParamRow& row : rows) {
        lines.push_back(cells_of(row, untouched));
        for (size_t c = 0; c < widths.size(); ++c) widths[c] = std::max(widths[c], width(lines.back()[c]));
    }
    for (size_t i = 0; i < lines.size(); ++i) {
        std::string line = " ";
        for (size_t c = 0; c < widths.size(); ++c)
            line += " " + lines[i][c] + std::string(widths[c] - width(lines[i][c]) + 1, ' ');
        out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
        const std::string shapes = rows[i].shapes ? shapes_text(rows[i]) : "";
        out += "      " + (shapes.empty() ? "" : "(" + shapes + ") ") + std::string(rows[i].meaning) + "\n";
    }
}

void append_markdown(std::string& out, std::span<const ParamRow> rows, const void* untouched)
{
    const bool shapes = !rows.empty() && rows[0].shapes;
    const auto code = [](const std::string& text) {
        return text.empty() || text == "required" ? text : "`" + text + "`";
    };
    out += shapes
               ? "| key | shapes | takes | default | unit | range or words | meaning |\n|---|---|---|---|---|---|---|\n"
               : "| key | takes | default | unit | range or words | meaning |\n|---|---|---|---|---|---|\n";
    for (const ParamRow& row : rows) {
        const std::string in = shapes_text(row);
        out += "| `" + std::string(row.name) + "` | " + (shapes ? (in.empty() ? "all" : in) + " | " : "") +
               kind_text(row) + " | " + code(default_or_required(row, untouched)) + " | " + row.unit + " | " +
               range_text(row) + " | " + row.meaning + " |\n";
    }
}

// What each preset chooses, by key and value, with the paper's place.
template <class F>
void for_each_preset(const F& f)
{
    const ParamRow* preset = nullptr;
    for (const Section& section : sections())
        for (const ParamRow& row : section.rows)
            if (std::string(section.name) == "method" && std::string(row.name) == "preset") preset = &row;
    for (const Word& word : preset->words) {
        std::vector<PresetChoice> chosen;
        for (const PresetChoice& c : preset_choices())
            if (static_cast<int>(c.preset) == word.value) chosen.push_back(c);
        if (!chosen.empty()) f(word.text, chosen);
    }
}

const char* preset_meaning = "What method.preset chooses where a scene does not say; keys of the scene come first.";

}  // namespace

std::string params_text()
{
    Params params = untouched_params();
    std::string out;
    for (const Section& section : sections()) {
        if (!out.empty()) out += "\n";
        out += title(section) + "  " + section.meaning + "\n";
        append_text(out, section.rows, section.object(params, 0));
    }
    out += std::string("\n") + shape_title + "  " + shape_meaning + "\n";
    append_text(out, shape_rows(), params.water.data());
    out += std::string("\nPresets  ") + preset_meaning + "\n";
    for_each_preset([&](const char* name, const std::vector<PresetChoice>& chosen) {
        out += std::string("  ") + name + "\n";
        for (const PresetChoice& c : chosen)
            out += std::string("      ") + c.section + "." + c.key + " = " + c.value + "  (" + c.why + ")\n";
    });
    return out;
}

std::string params_markdown()
{
    Params params = untouched_params();
    std::string out =
        "# Parameters\n\n"
        "Every key of a scene file. This page is made from `src/tarn/params/tables.cpp` and a test compares the two.\n"
        "\n"
        "Lengths are in metres and times in seconds; y is up. A *vector* is as many numbers as the scene has\n"
        "dimensions. *Keyframes* are a list `[{t = 0, v = ...}, {t = 1, v = ...}]`, joined by straight lines; with\n"
        "`ease = \"in\"`, `\"out\"` or `\"in-out\"` in a keyframe the way to the next starts slowly, ends slowly or both,\n"
        "and `ease = \"curve\"` draws a smooth curve through the keyframes, which never goes beyond them. On the\n"
        "command line, `--set domain.cells=64` and `--set water.0.radius=0.2` change one key.\n";
    for (const Section& section : sections()) {
        out += "\n## " + title(section) + "\n\n" + section.meaning + "\n";
        if (section.rows.empty()) continue;
        out += "\n";
        append_markdown(out, section.rows, section.object(params, 0));
    }
    out += std::string("\n## ") + shape_title + "\n\n" + shape_meaning + "\n\n";
    append_markdown(out, shape_rows(), params.water.data());
    out += std::string("\n## Presets\n\n") + preset_meaning + " [presets.md](presets.md) compares them with the defaults.\n\n"
           "| preset | sets | where the paper says so |\n|---|---|---|\n";
    for_each_preset([&](const char* name, const std::vector<PresetChoice>& chosen) {
        for (const PresetChoice& c : chosen)
            out += std::string("| `") + name + "` | `" + c.section + "." + c.key + " = " + c.value + "` | " + c.why + " |\n";
    });
    return out;
}

// ---- JSON Schema ----

namespace {

// A JSON value as text, built from the inside out; members keep their order.
using Members = std::vector<std::pair<std::string, std::string>>;

std::string indent(const std::string& text)
{
    std::string r;
    for (const char c : text) {
        r += c;
        if (c == '\n') r += "  ";
    }
    return r;
}
std::string object(const Members& members)
{
    if (members.empty()) return "{}";
    std::string r = "{";
    for (const auto& [name, value] : members)
        r += std::string(r.size() > 1 ? ",\n  " : "\n  ") + quoted(name) + ": " + indent(value);
    return r + "\n}";
}
std::string list(const std::vector<std::string>& values)
{
    std::string r = "[";
    for (const std::string& v : values) r += (r.size() > 1 ? ", " : "") + v;
    return r + "]";
}

Members number_schema(const ParamRow& row, const char* type = "number")
{
    return {{"type", quoted(type)}, {"minimum", number_text(row.lo)}, {"maximum", number_text(row.hi)}};
}
Members vector_schema(const ParamRow& row)
{
    return {{"type", "\"array\""}, {"items", object(number_schema(row))}, {"minItems", "2"}, {"maxItems", "3"}};
}
// The plain value, keyframes of it, or formulas.
Members keyed_schema(const std::vector<std::string>& plain, const std::vector<std::string>& formulas)
{
    const std::string value = plain.size() == 1 ? plain[0] : object({{"anyOf", list(plain)}});
    std::vector<std::string> ease;
    for (const Word& w : ease_words()) ease.push_back(quoted(w.text));
    const std::string frame = object({{"type", "\"object\""},
                                      {"properties", object({{"t", object({{"type", "\"number\""}})},
                                                             {"v", value},
                                                             {"ease", object({{"enum", list(ease)}})}})},
                                      {"required", "[\"t\", \"v\"]"},
                                      {"additionalProperties", "false"}});
    std::vector<std::string> options = plain;
    options.insert(options.end(), formulas.begin(), formulas.end());
    options.push_back(object({{"type", "\"array\""}, {"items", frame}, {"minItems", "1"}}));
    return {{"anyOf", list(options)}};
}

std::string row_schema(const ParamRow& row, const void* untouched)
{
    const std::string text_schema = object({{"type", "\"string\""}});
    const std::string formulas_schema =
        object({{"type", "\"array\""}, {"items", object({{"type", "[\"number\", \"string\"]"}})}, {"maxItems", "3"}});
    Members members;
    switch (row.kind) {
        case ParamKind::number:
            members = number_schema(row);
            break;
        case ParamKind::integer:
            members = number_schema(row, "integer");
            break;
        case ParamKind::boolean:
            members = {{"type", "\"boolean\""}};
            break;
        case ParamKind::text:
            members = {{"type", "\"string\""}};
            break;
        case ParamKind::vector:
        case ParamKind::numbers:
            members = vector_schema(row);
            break;
        case ParamKind::choice: {
            std::vector<std::string> words;
            for (const Word& w : row.words)
                if (w.available()) words.push_back(quoted(w.text));
            members = {{"enum", list(words)}};
            break;
        }
        case ParamKind::keyed_number:
            members = keyed_schema({object(number_schema(row))}, {text_schema});
            break;
        case ParamKind::keyed_vector:
            members = keyed_schema({object(vector_schema(row))}, {formulas_schema});
            break;
        case ParamKind::keyed_turn:
            members = keyed_schema({object(number_schema(row)), object(vector_schema(row))}, {text_schema, formulas_schema});
            break;
    }
    const std::string unit = *row.unit ? std::string(" In ") + row.unit + "." : "";
    members.push_back({"description", quoted(row.meaning + unit)});
    if (const std::string value = default_text(row, untouched); !value.empty()) members.push_back({"default", value});
    return object(members);
}

void append_rows(Members& properties, std::span<const ParamRow> rows, const void* untouched)
{
    for (const ParamRow& row : rows) properties.push_back({row.name, row_schema(row, untouched)});
}

std::string closed_object(const char* meaning, const Members& properties, const std::vector<std::string>& required,
                          const Members& more = {})
{
    Members members{{"type", "\"object\""}, {"description", quoted(meaning)}, {"properties", object(properties)}};
    if (!required.empty()) members.push_back({"required", list(required)});
    members.insert(members.end(), more.begin(), more.end());
    members.push_back({"additionalProperties", "false"});
    return object(members);
}

// One rule per shape: what it needs, and what it does not take.
std::string shape_rules()
{
    std::vector<std::string> rules;
    for (const Word& shape : shape_words()) {
        std::vector<std::string> needed;
        Members refused;
        for (const ParamRow& row : shape_rows()) {
            if (!row.belongs_to(static_cast<ShapeKind>(shape.value)))
                refused.push_back({row.name, "false"});
            else if (row.required)
                needed.push_back(quoted(row.name));
        }
        const std::string is = object({{"const", quoted(shape.text)}});
        rules.push_back(object({{"if", object({{"properties", object({{"shape", is}})}})},
                                {"then", object({{"required", list(needed)}, {"properties", object(refused)}})}}));
    }
    return list(rules);
}

// The rows of the shapes that a section takes.
void append_shape_rows(Members& properties, const Section& section, const ShapeParams* untouched)
{
    std::vector<Word> words;
    for (const Word& w : shape_words())
        if (section.takes(static_cast<ShapeKind>(w.value))) words.push_back(w);
    for (ParamRow row : shape_rows()) {
        if (std::string(row.name) == "shape") row.words = words;
        properties.push_back({row.name, row_schema(row, untouched)});
    }
}

// The rules of a table that may have a shape: they hold once it has one, and no key of a shape stands without it.
Members optional_shape_rules()
{
    Members needs;
    for (const ParamRow& row : shape_rows())
        if (std::string(row.name) != "shape") needs.push_back({row.name, "[\"shape\"]"});
    return {{"if", object({{"required", "[\"shape\"]"}})},
            {"then", object({{"$ref", "\"#/$defs/shape\""}})},
            {"dependentRequired", object(needs)}};
}

}  // namespace

std::string params_schema()
{
    Params params = untouched_params();
    Members top{{"tarn", object({{"const", "1"}, {"description", quoted("The version of the scene language.")}})}};
    for (const Section& section : sections()) {
        const std::string name = section.name;
        if (name.empty()) {
            append_rows(top, section.rows, section.object(params, 0));
            continue;
        }
        if (name.find('.') != std::string::npos) continue;
        Members properties;
        std::vector<std::string> required;
        if (const ShapeParams* shape = section.shape_of(params, 0)) append_shape_rows(properties, section, shape);
        append_rows(properties, section.rows, section.object(params, 0));
        for (const ParamRow& row : section.rows)
            if (row.required) required.push_back(quoted(row.name));
        for (const Section& inner : sections()) {
            const std::string full = inner.name;
            if (full.size() <= name.size() || full.compare(0, name.size() + 1, name + ".") != 0) continue;
            Members inside;
            append_rows(inside, inner.rows, inner.object(params, 0));
            properties.push_back({full.substr(name.size() + 1), closed_object(inner.meaning, inside, {})});
        }
        if (!section.repeated()) {
            const Members more = section.add_shape ? optional_shape_rules() : Members{};
            top.push_back({name, closed_object(section.meaning, properties, required, more)});
            continue;
        }
        Members entry_rules{
            {"type", "\"object\""}, {"properties", object(properties)}, {"additionalProperties", "false"}};
        if (section.add_shape) {
            const Members more = optional_shape_rules();
            entry_rules.insert(entry_rules.end(), more.begin(), more.end());
        } else if (section.shape) {
            required.push_back("\"shape\"");
            entry_rules.push_back({"allOf", "[{\"$ref\": \"#/$defs/shape\"}]"});
        }
        if (!required.empty()) entry_rules.push_back({"required", list(required)});
        const std::string entry = object(entry_rules);
        top.push_back(
            {name, object({{"type", "\"array\""}, {"description", quoted(section.meaning)}, {"items", entry}})});
    }
    return object({{"$schema", quoted("https://json-schema.org/draft/2020-12/schema")},
                   {"title", quoted("Tarn scene")},
                   {"type", "\"object\""},
                   {"properties", object(top)},
                   {"required", "[\"tarn\", \"domain\"]"},
                   {"anyOf", "[{\"required\": [\"water\"]}, {\"required\": [\"source\"]}]"},
                   {"additionalProperties", "false"},
                   {"$defs", object({{"shape", object({{"allOf", shape_rules()}})}})}}) +
           "\n";
}

}  // namespace tarn
