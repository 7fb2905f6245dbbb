#pragma once
// The tables behind every parameter: one row gives its name, unit, range and meaning; its default is the member
// initialiser in params.h. Rows are type-erased, so that readers, writers and documents loop over them without
// knowing any struct.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tarn/params/params.h"

namespace tarn {

enum class ParamKind {
    number,
    integer,
    boolean,
    text,
    vector,        // as many numbers as the scene has dimensions
    choice,        // one of some words
    numbers,       // two or three numbers, whatever the dimension
    keyed_number,  // a number, or keyframes of it
    keyed_vector,  // a vector, or keyframes of it
    keyed_turn     // three angles in 3D, one in 2D, or keyframes of them
};

// A value on its way between a file and a struct. A choice travels as the enumerator's value.
using ParamValue = std::variant<double, int, bool, std::string, Vec3, std::vector<double>, Keyed<double>, Keyed<Vec3>>;

// One word of a choice. A word that a later version will understand says what to use until then.
struct Word {
    const char* text;
    int value;
    const char* instead = nullptr;

    bool available() const { return instead == nullptr; }
};

struct ParamRow {
    const char* name;
    ParamKind kind;
    const char* unit;
    double lo, hi;  // of every number in the value, both included
    const char* meaning;
    std::span<const Word> words;                             // of a choice
    std::optional<ParamValue> (*value)(const void* object);  // nothing where it is not given and has no default
    void (*set)(void* object, const ParamValue& value);
    unsigned shapes = 0;    // the shapes that take this key, one bit each; 0 outside shapes
    bool required = false;  // in those shapes, or in its section
    bool only_3d = false;

    bool belongs_to(ShapeKind shape) const { return (shapes >> static_cast<int>(shape)) & 1u; }
};

// One table of the scene file. `object` gives what its rows read and write.
struct Section {
    const char* name;  // "domain.walls"; empty for the top of the file
    const char* meaning;
    std::span<const ParamRow> rows;
    void* (*object)(Params& params, size_t entry);
    // Only for tables that need not be there: [[...]], and a [...] of which there may be one.
    size_t (*count)(const Params& params) = nullptr;
    void (*add)(Params& params) = nullptr;
    // The shape that an entry is, or has; it takes shape_rows() too. Nothing where the entry has none.
    ShapeParams* (*shape)(Params& params, size_t entry) = nullptr;
    // Only where the shape may be left out: gives the newest entry one.
    void (*add_shape)(Params& params) = nullptr;
    bool single = false;  // only where there may be one at most
    bool waves = false;   // whether its shapes may be those that water alone can have

    bool may_be_absent() const { return count != nullptr; }
    bool repeated() const { return may_be_absent() && !single; }
    size_t entries(const Params& params) const { return count ? count(params) : 1; }
    bool takes(ShapeKind kind) const { return waves || kind != ShapeKind::solitary_wave; }
    ShapeParams* shape_of(Params& params, size_t entry) const { return shape ? shape(params, entry) : nullptr; }
};

std::span<const Section> sections();
std::span<const ParamRow> shape_rows();

// Keys and tables that the scene language has reserved for later versions. `section` is empty at the top.
struct Reserved {
    const char* section;
    const char* name;
    const char* instead;  // what to do until then
};
std::span<const Reserved> reserved();

// What other programs call our keys, tables and words; nothing where the word is not known either.
struct Synonym {
    const char* theirs;
    const char* section;  // where ours stands, empty at the top
    const char* ours;
    const char* more = "";  // what else to say
};
const Synonym* synonym_of_key(std::string_view name);
const char* synonym_of_word(std::span<const Word> words, std::string_view text);

std::span<const Word> shape_words();
std::span<const Word> ease_words();  // of a keyframe
const char* word_of(std::span<const Word> words, int value);

// What is wrong with a value of that row, in words, or nothing. Formulas are tried from 0 to `until`.
std::optional<std::string> range_problem(const ParamRow& row, const ParamValue& value, int dimension, double until = 0);

// The shortest decimal that reads back to the same bits; valid in TOML and in JSON.
std::string number_text(double value);
// In quotes, escaped so that TOML and JSON read it alike.
std::string quoted(const std::string& text);
// A value as TOML, with as many numbers as the dimension asks for.
std::string value_text(const ParamRow& row, const ParamValue& value, int dimension);

}  // namespace tarn
