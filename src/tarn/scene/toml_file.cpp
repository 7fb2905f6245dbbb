// Scene files as toml++ sees them: text to a tree, and `--set` applied to it.

#include "tarn/scene/toml_file.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "tarn/base/error.h"

namespace tarn {

namespace {

constexpr size_t max_bytes = 16 << 20;
constexpr size_t max_key_parts = 32;  // far more than any key has

}  // namespace

std::string printable(std::string_view text, size_t longest)
{
    std::string r;
    for (const char c : text.substr(0, longest)) r += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    return text.size() > longest ? r + "..." : r;
}

const char* kind_name(const toml::node& node)
{
    switch (node.type()) {
        case toml::node_type::table:
            return "a table";
        case toml::node_type::array:
            return "a list";
        case toml::node_type::string:
            return "text";
        case toml::node_type::integer:
            return "a whole number";
        case toml::node_type::floating_point:
            return "a number with a fraction";
        case toml::node_type::boolean:
            return "true or false";
        case toml::node_type::date:
        case toml::node_type::time:
        case toml::node_type::date_time:
            return "a date or time";
        default:
            return "nothing";
    }
}

std::optional<size_t> index_of(std::string_view text)
{
    if (text.empty() || text.size() > 9) return {};
    size_t n = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') return {};
        n = 10 * n + static_cast<size_t>(c - '0');
    }
    return n;
}

std::vector<std::string> split(const std::string& key)
{
    std::vector<std::string> parts(1);
    for (const char c : key)
        if (c == '.')
            parts.emplace_back();
        else
            parts.back() += c;
    return parts;
}

namespace {

// The key that stands on a line, with its table, as far as plain text can tell: for messages about broken TOML.
std::string key_on_line(const std::string& text, int line)
{
    std::string table, key;
    std::istringstream lines(text);
    std::string l;
    const auto trim = [](std::string s) {
        const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
        while (!s.empty() && blank(s.back())) s.pop_back();
        size_t i = 0;
        while (i < s.size() && blank(s[i])) ++i;
        return s.substr(i);
    };
    const auto is_key_character = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.';
    };
    for (int n = 1; n <= line && std::getline(lines, l); ++n) {
        l = trim(l);
        if (!l.empty() && l[0] == '[' && l.find(',') == std::string::npos) {
            table = l.substr(l.find_first_not_of('[') == std::string::npos ? l.size() : l.find_first_not_of('['));
            table = trim(table.substr(0, table.find(']')));
            key.clear();
        }
        if (const size_t equals = l.find('='); equals != std::string::npos && l[0] != '[' && l[0] != '#')
            key = trim(l.substr(0, equals));
        else if (n == line && !l.empty() && std::all_of(l.begin(), l.end(), is_key_character))
            key = l;
    }
    if (table.empty() && key.empty()) return "TOML";
    return printable(table.empty() ? key : key.empty() ? table : table + "." + key);
}

// Refuses two things that toml++ 3.3 cannot bear: keys of very many parts, which nest without being counted and are
// recursed into later; and characters beyond ASCII where it looks for blanks, because its test for them then runs into
// undefined behaviour. Texts and comments may hold any character.
void check_characters(const std::string& text, const std::string& file)
{
    enum class In { plain, comment, string, multiline } in = In::plain;
    char quote = 0;
    // A string may only start behind one of these; elsewhere a quote is broken TOML, which the parser takes as plain.
    const std::string_view opens = "\n=,[{.";
    char last = '\n';
    int line = 1;
    size_t dots = 0;
    const auto fail = [&](const std::string& what) {
        throw InputError(file + ":" + std::to_string(line) + ": " + key_on_line(text, line) + ": " + what);
    };
    const auto at = [&](size_t i) { return i < text.size() ? text[i] : '\0'; };
    const auto is_blank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
    const size_t start = text.compare(0, 3, "\xef\xbb\xbf") == 0 ? 3 : 0;
    for (size_t i = start; i < text.size(); ++i) {
        const char c = text[i];
        const bool tripled = (c == '"' || c == '\'') && at(i + 1) == c && at(i + 2) == c;
        if (c == '\n') ++line;
        switch (in) {
            case In::plain:
                if ((c == '"' || c == '\'') && opens.find(last) != std::string_view::npos) {
                    quote = c;
                    in = tripled ? In::multiline : In::string;
                    if (tripled) i += 2;
                } else if (c == '#') {
                    in = In::comment;
                } else if (static_cast<unsigned char>(c) >= 0x80) {
                    fail("a character that is not ASCII stands outside of quotes; put the text into quotes");
                } else if (c == '.') {
                    if (++dots > max_key_parts)
                        fail("a key of more than " + std::to_string(max_key_parts) + " parts; no key needs so many");
                } else if (c == '\n' || c == '=' || c == ',') {
                    dots = 0;
                }
                if (!is_blank(c) || c == '\n') last = c;
                break;
            case In::comment:
                if (c == '\n') {
                    in = In::plain;
                    last = c;
                    dots = 0;
                }
                break;
            case In::string:
            case In::multiline:
                if (c == '\\' && quote == '"') {
                    // The parser asks whether a blank follows; in long strings it skips all of them and asks again.
                    size_t behind = i + 1;
                    while (is_blank(at(behind))) ++behind;
                    if (static_cast<unsigned char>(at(behind)) >= 0x80) {
                        line += static_cast<int>(std::count(text.begin() + i, text.begin() + behind, '\n'));
                        fail("a character that is not ASCII stands behind a backslash; write \\\\ for the sign itself");
                    }
                    if (at(i + 1) != '\n') ++i;
                } else if (in == In::string) {
                    if (c == quote || c == '\n') {
                        in = In::plain;
                        last = c;
                    }
                } else if (c == quote && tripled) {
                    in = In::plain;
                    // Up to two quotes may belong to the text before the closing three.
                    for (i += 2; at(i + 1) == quote;) ++i;
                }
                break;
        }
    }
}

}  // namespace

toml::table parse_toml(const std::string& text, const std::string& file)
{
    if (text.size() > max_bytes)
        throw InputError(file + ":1: TOML: the file is larger than 16 MiB; large shapes belong in mesh files");
    check_characters(text, file);
    try {
        return toml::parse(text, file);
    } catch (const toml::parse_error& e) {
        const int line = std::max(1, static_cast<int>(e.source().begin.line));
        throw InputError(file + ":" + std::to_string(line) + ": " + key_on_line(text, line) +
                         ": not valid TOML: " + printable(e.description(), 200));
    }
}

namespace {

[[noreturn]] void fail_set(const std::string& key, const std::string& text)
{
    throw InputError("--set " + printable(key) + ": " + text);
}

// A TOML value, or a bare word, which needs no quotes on a command line.
toml::table parse_set_value(const std::string& key, const std::string& value)
{
    if (value.find('\n') == std::string::npos && value.size() < max_bytes) {
        try {
            const std::string text = "v = " + value;
            check_characters(text, "--set");
            return toml::parse(text);
        } catch (const toml::parse_error&) {
            const auto plain = [](char c) {
                return std::isalnum(static_cast<unsigned char>(c)) ||
                       std::string_view("_-+./~:@() ").find(c) != std::string_view::npos;
            };
            if (!value.empty() && std::all_of(value.begin(), value.end(), plain)) {
                toml::table table;
                table.insert("v", value);
                return table;
            }
        } catch (const InputError&) {
        }
    }
    fail_set(key,
             "cannot read the value " + printable(value) + "; write it as in a scene file: 64, [1, 1] or \"text\"");
}

}  // namespace

void apply_set(toml::table& root, const std::string& key, const std::string& value, std::set<std::string>& made)
{
    const std::vector<std::string> parts = split(key);
    if (parts.size() > max_key_parts) fail_set(key, "has too many parts");
    for (const std::string& part : parts)
        if (part.empty()) fail_set(key, "expected a dotted key such as domain.cells");
    toml::table parsed = parse_set_value(key, value);
    toml::node& node = *parsed.get("v");

    toml::node* at = &root;
    std::string path;
    for (size_t i = 0; i < parts.size(); ++i) {
        const bool last = i + 1 == parts.size();
        path += (i ? "." : "") + parts[i];
        if (toml::array* array = at->as_array()) {
            const auto index = index_of(parts[i]);
            if (!index || *index >= array->size())
                fail_set(key, "there is no entry " + printable(parts[i]) + "; the list has " +
                                  std::to_string(array->size()) + ", and the first is 0");
            if (last)
                array->replace(array->cbegin() + static_cast<std::ptrdiff_t>(*index), std::move(node));
            else
                at = array->get(*index);
        } else if (toml::table* table = at->as_table()) {
            if (last) {
                table->insert_or_assign(parts[i], std::move(node));
            } else {
                if (!table->contains(parts[i])) {
                    if (index_of(parts[i + 1]))
                        fail_set(key, "there is no entry " + parts[i + 1] + "; the file has no " + printable(path));
                    table->insert(parts[i], toml::table{});
                    made.insert(path);
                }
                at = table->get(parts[i]);
            }
        } else {
            fail_set(key, "is inside of " + std::string(kind_name(*at)) + ", which holds no keys");
        }
    }
    made.insert(path);
}

}  // namespace tarn
