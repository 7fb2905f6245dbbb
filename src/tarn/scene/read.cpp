// Reads a scene file. The tables of params/tables.h say which keys there are and what they take; this file says it
// in TOML, and says clearly what is wrong with a file that does not.

#include "tarn/scene/read.h"

// Scenes nest four deep; the parser and its destructors recurse, so deep nesting is refused early.
#define TOML_MAX_NESTED_VALUES 16
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "tarn/base/error.h"
#include "tarn/base/nearest.h"
#include "tarn/params/tables.h"
#include "tarn/scene/validate.h"

namespace tarn {

namespace {

constexpr size_t max_bytes = 16 << 20;
constexpr size_t max_key_parts = 32;  // far more than any key has
constexpr size_t max_keyframes = 10000;

// ---- Words for messages ----

std::string printable(std::string_view text, size_t longest = 60)
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

int line_of(const toml::source_region& source) { return static_cast<int>(source.begin.line); }

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

// ---- Syntax ----

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

toml::table parse(const std::string& text, const std::string& file)
{
    if (text.size() > max_bytes)
        throw InputError(file + ":1: TOML: the file is larger than 16 MiB; large shapes belong in mesh files");
    check_characters(text, file);
    try {
        return toml::parse(text, file);
    } catch (const toml::parse_error& e) {
        const int line = std::max(1, line_of(e.source()));
        throw InputError(file + ":" + std::to_string(line) + ": " + key_on_line(text, line) +
                         ": not valid TOML: " + printable(e.description(), 200));
    }
}

// ---- --set ----

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

// Puts the value where the key says. `made` collects the keys that do not stand in the file.
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

// ---- The reader ----

class Reader {
public:
    Reader(std::string file, toml::table root, std::set<std::string> made)
        : file_(std::move(file)), root_(std::move(root)), made_(std::move(made))
    {
    }

    Params read()
    {
        check_version();
        read_dimension();
        read_table(root_, *find_section(""), 0, nullptr, "");
        choose_schemes();
        if (const auto problem = first_problem(params_)) fail(problem->key, problem->text);
        return std::move(params_);
    }

private:
    std::string file_;
    toml::table root_;
    std::set<std::string> made_;  // by --set
    Params params_;
    int dimension_ = 3;

    // Water and air together are carried as in [SSK05], by CIP, where the scene does not say how.
    void choose_schemes()
    {
        if (params_.method.phases != Phases::water_air) return;
        const auto given = [&](const char* section) {
            const toml::table* const table = root_[section].as_table();
            return table && table->contains("advection");
        };
        if (!given("method")) params_.method.advection = Advection::cip;
        if (!given("surface")) params_.surface.advection = Advection::cip;
    }

    // ---- Messages ----

    bool is_made(const std::string& key) const
    {
        for (size_t end = key.find('.');; end = key.find('.', end + 1)) {
            if (made_.count(key.substr(0, end))) return true;
            if (end == std::string::npos) return false;
        }
    }

    // The line of a key, or of what stands nearest around it.
    int find_line(const std::string& key) const
    {
        int line = 1;
        const toml::node* at = &root_;
        for (const std::string& part : split(key)) {
            if (const toml::table* table = at->as_table()) {
                const auto it = table->find(part);
                if (it == table->cend()) break;
                line = line_of(it->first.source());
                at = &it->second;
            } else if (const toml::array* array = at->as_array()) {
                const auto index = index_of(part);
                if (!index || *index >= array->size()) break;
                at = array->get(*index);
                line = line_of(at->source());
            } else {
                break;
            }
        }
        return std::max(1, line);
    }

    [[noreturn]] void fail(const std::string& key, const std::string& text) const
    {
        fail_at(find_line(key), key, text);
    }

    [[noreturn]] void fail_at(int line, const std::string& key, const std::string& text) const
    {
        if (is_made(key)) fail_set(key, text);
        throw InputError(file_ + ":" + std::to_string(line) + ": " + printable(key) + ": " + text);
    }

    // ---- Values ----

    [[noreturn]] void wrong_type(const std::string& key, const std::string& expected, const toml::node& node) const
    {
        fail(key, "expected " + expected + ", found " + kind_name(node));
    }

    double read_number(const toml::node& node, const std::string& key) const
    {
        if (const auto i = node.value_exact<int64_t>()) return static_cast<double>(*i);
        if (const auto x = node.value_exact<double>()) return *x;
        wrong_type(key, "a number", node);
    }

    std::vector<double> read_numbers(const toml::node& node, const std::string& key, const std::string& expected) const
    {
        const toml::array* array = node.as_array();
        if (!array) wrong_type(key, expected, node);
        if (array->size() > 3) fail(key, "expected " + expected + ", found " + std::to_string(array->size()));
        std::vector<double> numbers;
        for (const toml::node& element : *array) numbers.push_back(read_number(element, key));
        return numbers;
    }

    Vec3 read_vector(const toml::node& node, const std::string& key, const std::string& expected = "") const
    {
        const std::string count = dimension_ == 2 ? "two numbers, as the scene is 2D" : "three numbers";
        const std::vector<double> numbers = read_numbers(node, key, expected.empty() ? count : expected);
        if (static_cast<int>(numbers.size()) != dimension_)
            fail(key, "expected " + count + ", found " + std::to_string(numbers.size()));
        Vec3 v;
        for (int a = 0; a < dimension_; ++a) v[a] = numbers[static_cast<size_t>(a)];
        return v;
    }

    // Angles about x, y and z; a 2D scene turns about z alone.
    Vec3 read_turn(const toml::node& node, const std::string& key) const
    {
        if (dimension_ == 2) {
            if (!node.is_number()) wrong_type(key, "one number, as the scene is 2D", node);
            return {0, 0, read_number(node, key)};
        }
        return read_vector(node, key, "three angles");
    }

    // A plain value, or [{t = ..., v = ...}, ...].
    template <class Read>
    auto read_keyed(const toml::node& node, const std::string& key, Read read) const
    {
        using T = decltype(read(node));
        const toml::array* array = node.as_array();
        if (!array || array->empty() || !array->front().is_table()) return Keyed<T>(read(node));
        if (array->size() > max_keyframes)
            fail(key, "expected at most " + std::to_string(max_keyframes) + " keyframes, found " +
                          std::to_string(array->size()));
        Keyed<T> keyed;
        keyed.keys.clear();
        for (const toml::node& element : *array) {
            const std::string number = std::to_string(keyed.keys.size());
            const toml::table* frame = element.as_table();
            if (!frame) wrong_type(key, "a keyframe {t = ..., v = ...}", element);
            for (const auto& [name, value] : *frame)
                if (name.str() != "t" && name.str() != "v")
                    fail(key, "keyframe " + number + ": unknown key \"" + printable(name.str()) +
                                  "\"; a keyframe is {t = ..., v = ...}");
            const toml::node *t = frame->get("t"), *v = frame->get("v");
            if (!t || !v) fail(key, "keyframe " + number + ": expected {t = ..., v = ...}");
            keyed.keys.push_back({read_number(*t, key), read(*v)});
        }
        // One keyframe is a constant, whenever it is.
        if (keyed.keys.size() == 1 && std::isfinite(keyed.keys[0].t)) keyed.keys[0].t = 0;
        return keyed;
    }

    ParamValue read_choice(const ParamRow& row, const toml::node& node, const std::string& key) const
    {
        std::vector<std::string> words;
        for (const Word& w : row.words)
            if (w.available()) words.push_back(w.text);
        const toml::value<std::string>* text = node.as_string();
        if (!text) {
            std::string list;
            for (const std::string& w : words) list += (list.empty() ? "" : ", ") + quoted(w);
            wrong_type(key, "one of " + list, node);
        }
        for (const Word& w : row.words)
            if (**text == w.text) return w.value;
        fail(key, "unknown word \"" + printable(**text) + "\"; " + suggestion(**text, words));
    }

    ParamValue read_value(const ParamRow& row, const toml::node& node, const std::string& key) const
    {
        switch (row.kind) {
            case ParamKind::number:
                return read_number(node, key);
            case ParamKind::integer: {
                const auto i = node.value_exact<int64_t>();
                if (!i) wrong_type(key, "a whole number", node);
                if (static_cast<double>(*i) < row.lo || static_cast<double>(*i) > row.hi)
                    fail(key, "must lie between " + number_text(row.lo) + " and " + number_text(row.hi) + ", found " +
                                  std::to_string(*i));
                return static_cast<int>(*i);
            }
            case ParamKind::boolean: {
                const auto b = node.value_exact<bool>();
                if (!b) wrong_type(key, "true or false", node);
                return *b;
            }
            case ParamKind::text: {
                const auto s = node.value_exact<std::string>();
                if (!s) wrong_type(key, "text in quotes", node);
                return *s;
            }
            case ParamKind::choice:
                return read_choice(row, node, key);
            case ParamKind::vector:
                return read_vector(node, key);
            case ParamKind::numbers:
                return read_numbers(node, key, "two or three numbers");
            case ParamKind::keyed_number:
                return read_keyed(node, key, [&](const toml::node& n) { return read_number(n, key); });
            case ParamKind::keyed_vector:
                return read_keyed(node, key, [&](const toml::node& n) { return read_vector(n, key); });
            case ParamKind::keyed_turn:
                return read_keyed(node, key, [&](const toml::node& n) { return read_turn(n, key); });
        }
        return {};
    }

    void read_row(const ParamRow& row, void* object, const toml::node& node, const std::string& key) const
    {
        if (row.only_3d && dimension_ == 2) fail(key, "does not apply to a 2D scene; remove it");
        const ParamValue value = read_value(row, node, key);
        if (const auto problem = range_problem(row, value, dimension_)) fail(key, *problem);
        row.set(object, value);
    }

    // ---- Tables ----

    static const Section* find_section(const std::string& name)
    {
        for (const Section& s : sections())
            if (s.name == name) return &s;
        return nullptr;
    }

    static const ParamRow* find_row(std::span<const ParamRow> rows, std::string_view name)
    {
        for (const ParamRow& row : rows)
            if (row.name == name) return &row;
        return nullptr;
    }

    [[noreturn]] void unknown(const toml::key& wrong, const Section& section, const ShapeParams* shape,
                              const std::string& key) const
    {
        const std::string_view name = wrong.str();
        const int line = std::max(1, line_of(wrong.source()));
        for (const Reserved& r : reserved())
            if (r.name == name && std::string_view(r.section) == section.name)
                fail_at(line, key, "is not available yet in this version; remove it");

        if (section.add_shape && !shape && find_row(shape_rows(), name))
            fail_at(line, key, "belongs to a shape; say which with shape, or remove it");

        std::vector<std::string> here;
        if (!*section.name) here.push_back("tarn");
        if (shape)
            for (const ParamRow& row : shape_rows())
                if (row.belongs_to(shape->shape)) here.push_back(row.name);
        if (section.add_shape && !shape) here.push_back("shape");
        for (const ParamRow& row : section.rows) here.push_back(row.name);
        // A key that stands in the wrong table is told its own.
        std::vector<std::string> elsewhere;
        for (const Section& s : sections()) {
            const std::string inner = *section.name ? std::string(section.name) + "." : "";
            const std::string full = s.name;
            if (!full.empty() && full.compare(0, inner.size(), inner) == 0 &&
                full.find('.', inner.size()) == std::string::npos && full.size() > inner.size())
                here.push_back(full.substr(inner.size()));
            if (find_row(s.rows, name)) elsewhere.push_back(s.repeated() ? "[[" + full + "]]" : "[" + full + "]");
        }
        if (elsewhere.size() == 1) fail_at(line, key, "unknown key here; it belongs in " + elsewhere[0]);
        fail_at(line, key, "unknown key; " + suggestion(name, here));
    }

    void read_table(const toml::table& table, const Section& section, size_t entry, ShapeParams* shape,
                    const std::string& prefix)
    {
        for (const auto& [name, node] : table) {
            const std::string key = prefix + std::string(name.str());
            if (!*section.name && name.str() == "tarn") continue;
            if (shape)
                if (const ParamRow* row = find_row(shape_rows(), name.str())) {
                    if (!row->belongs_to(shape->shape)) wrong_shape(*row, *shape, key);
                    read_row(*row, shape, node, key);
                    continue;
                }
            if (const ParamRow* row = find_row(section.rows, name.str())) {
                read_row(*row, section.object(params_, entry), node, key);
                continue;
            }
            // Names of sections hold no dots but their own, so that no quoted key can pose as one.
            const Section* inner =
                !shape && !section.repeated() && name.str().find('.') == std::string_view::npos ? find_section(key) : nullptr;
            if (!inner || inner == &section) unknown(name, section, shape, key);
            if (inner->repeated())
                read_entries(node, *inner, key);
            else if (const toml::table* t = node.as_table())
                read_single(*t, *inner, key + ".");
            else
                fail(key, "expected a table [" + key + "], found " + kind_name(node));
        }
    }

    void read_single(const toml::table& table, const Section& section, const std::string& prefix)
    {
        if (section.may_be_absent()) section.add(params_);
        ShapeParams* shape = nullptr;
        if (section.add_shape && table.contains("shape")) {
            section.add_shape(params_);
            shape = section.shape(params_, 0);
            read_shape_kind(table, *shape, prefix);
        }
        read_table(table, section, 0, shape, prefix);
    }

    // Which keys apply hangs on the shape, so it comes first.
    void read_shape_kind(const toml::table& table, ShapeParams& shape, const std::string& prefix) const
    {
        shape.line = std::max(1, line_of(table.source()));
        const toml::node* word = table.get("shape");
        if (!word) {
            std::vector<std::string> words;
            for (const Word& w : shape_words()) words.push_back(w.text);
            fail(prefix + "shape", "missing; " + suggestion("", words));
        }
        read_row(*find_row(shape_rows(), "shape"), &shape, *word, prefix + "shape");
    }

    void read_entries(const toml::node& node, const Section& section, const std::string& key)
    {
        const toml::array* array = node.as_array();
        if (!array)
            fail(key, "expected entries, each under [[" + key + "]] with double brackets, found " + kind_name(node));
        if (array->size() > max_shapes)
            fail(key,
                 "expected at most " + std::to_string(max_shapes) + " entries, found " + std::to_string(array->size()));
        for (const toml::node& element : *array) {
            const size_t entry = section.count(params_);
            const std::string prefix = key + "." + std::to_string(entry) + ".";
            const toml::table* table = element.as_table();
            if (!table) fail(key, "expected entries, each under [[" + key + "]], found " + kind_name(element));
            section.add(params_);
            ShapeParams* const shape = section.shape_of(params_, entry);
            if (shape) read_shape_kind(*table, *shape, prefix);
            read_table(*table, section, entry, shape, prefix);
        }
    }

    [[noreturn]] void wrong_shape(const ParamRow& row, const ShapeParams& shape, const std::string& key) const
    {
        std::string takes;
        for (const ParamRow& r : shape_rows())
            if (r.belongs_to(shape.shape) && r.shapes != ~0u)
                takes += (takes.empty() ? "" : ", ") + std::string(r.name);
        fail(key, std::string("the shape \"") + word_of(shape_words(), static_cast<int>(shape.shape)) + "\" has no " +
                      row.name + "; it takes " + takes);
    }

    void check_version() const
    {
        const toml::node* version = root_.get("tarn");
        if (!version) fail("tarn", "missing; a scene file starts with tarn = 1");
        const auto n = version->value_exact<int64_t>();
        if (!n) wrong_type("tarn", "the version of the scene language, tarn = 1", *version);
        if (*n != 1)
            fail("tarn", "this program reads version 1 of the scene language, found " + std::to_string(*n) +
                             "; use a program of that version");
    }

    // How many numbers every vector has hangs on the domain, so its size comes first.
    void read_dimension()
    {
        const toml::node* domain = root_.get("domain");
        if (domain && !domain->is_table())
            fail("domain", std::string("expected a table [domain], found ") + kind_name(*domain));
        const toml::node* size = domain ? domain->as_table()->get("size") : nullptr;
        if (!size)
            fail("domain.size",
                 "missing; give the size of the domain in metres: size = [1, 1, 1], or two numbers for 2D");
        read_row(*find_row(find_section("domain")->rows, "size"), &params_.domain, *size, "domain.size");
        dimension_ = params_.dimension();
    }
};

}  // namespace

Params read_params(const std::string& text, const std::string& file, const Overrides& overrides)
{
    toml::table root = parse(text, file);
    std::set<std::string> made;
    for (const auto& [key, value] : overrides) apply_set(root, key, value, made);
    return Reader(file, std::move(root), std::move(made)).read();
}

Scene read_scene(const std::string& path, const Overrides& overrides)
{
    namespace fs = std::filesystem;
    std::error_code error;
    if (fs::is_directory(path, error)) throw InputError(path + ": is a folder; give a scene file inside it");
    std::ifstream stream(path, std::ios::binary);
    if (!stream) throw InputError(path + ": cannot be opened; check the name of the scene file");
    std::ostringstream text;
    text << stream.rdbuf();
    if (stream.bad()) throw InputError(path + ": cannot be read");

    Params params = read_params(text.str(), path, overrides);

    // Meshes and images are named relative to the scene file; made absolute, they are still found by the resolved
    // scene, which lies in another folder.
    const fs::path folder = fs::absolute(fs::path(path).parent_path().empty() ? "." : fs::path(path).parent_path());
    const auto resolve = [&](std::string& name) {
        if (!name.empty()) name = (folder / name).lexically_normal().string();
    };
    for (const Section& section : sections())
        for (size_t i = 0; i < section.entries(params); ++i)
            if (ShapeParams* shape = section.shape_of(params, i)) {
                resolve(shape->file);
                resolve(shape->image);
            }
    for (LightParams& light : params.light) resolve(light.image);
    resolve(params.render.floor_image);
    return build_scene(std::move(params), fs::path(path).stem().string(), path, folder.string());
}

}  // namespace tarn
