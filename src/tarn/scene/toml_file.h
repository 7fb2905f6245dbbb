#pragma once
// Scene files as toml++ sees them: text to a tree, and `--set` applied to it. Only the scene reader includes this.

// Scenes nest four deep; the parser and its destructors recurse, so deep nesting is refused early.
#define TOML_MAX_NESTED_VALUES 16
#include <toml++/toml.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tarn {

// Text of a file as a message may quote it: on one line, and not too long.
std::string printable(std::string_view text, size_t longest = 60);
// What a value is, in words: "a list".
const char* kind_name(const toml::node& node);
std::optional<size_t> index_of(std::string_view text);
// The parts of a dotted key.
std::vector<std::string> split(const std::string& key);

// Throws InputError with file, line and key.
toml::table parse_toml(const std::string& text, const std::string& file);

// Puts the value where the key says. `made` collects the keys that do not stand in the file. Throws InputError.
void apply_set(toml::table& root, const std::string& key, const std::string& value, std::set<std::string>& made);

}  // namespace tarn
