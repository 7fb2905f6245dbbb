// Reads a scene file. The tables of params/tables.h say which keys there are and what they take; this file says it
// in TOML, and says clearly what is wrong with a file that does not: everything at once, in the order of the file.

#include "tarn/scene/read.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "tarn/base/error.h"
#include "tarn/base/nearest.h"
#include "tarn/params/tables.h"
#include "tarn/scene/choose_schemes.h"
#include "tarn/scene/float_params.h"
#include "tarn/scene/toml_file.h"
#include "tarn/scene/validate.h"

namespace tarn {

namespace {

constexpr size_t max_keyframes = 10000;
constexpr size_t max_faults = 30;  // that are told

// Where in a file; what `--set` brings comes after the file.
struct Position {
    int line = 1, column = 1;
    auto operator<=>(const Position&) const = default;
};
constexpr Position after_the_file{std::numeric_limits<int>::max(), 0};

Position position_of(const toml::source_region& source)
{
    return {std::max(1, static_cast<int>(source.begin.line)), static_cast<int>(source.begin.column)};
}

// What is wrong with one key. The reader notes it and goes on.
struct Fault {
    Position at;
    std::string key, text;
};

// The table that a dotted key stands in, with a dot behind it.
std::string table_of(const std::string& key) { return key.substr(0, key.find_last_of('.') + 1); }

class Reader {
public:
    Reader(std::string file, toml::table root, std::set<std::string> made)
        : file_(std::move(file)), root_(std::move(root)), made_(std::move(made))
    {
    }

    // `before` is what was wrong with the overrides.
    Params read(const std::vector<std::string>& before)
    {
        attempt([&] { check_version(); });
        // Another version's keys mean other things.
        if (faults_.empty() || !root_.contains("tarn")) {
            attempt([&] { read_dimension(); });
            read_table(root_, {*find_section(""), 0, nullptr, false, ""});
            choose_schemes(params_, [&](const char* section, const char* key) {
                const toml::table* const table = root_[section].as_table();
                return table && table->contains(key);
            });
            check();
        }
        if (faults_.empty() && before.empty()) return std::move(params_);
        throw InputError(lines(before));
    }

private:
    std::string file_;
    toml::table root_;
    std::set<std::string> made_;  // by --set
    Params params_;
    int dimension_ = 0;  // unknown as long as the domain's size is
    std::vector<Fault> faults_;
    std::set<std::string> renamed_;  // tables that stand under another name

    // What no key shows by itself. Of a table with a wrong key only that is told: the rest may follow from it.
    void check()
    {
        std::set<std::string> wrong;
        for (const Fault& f : faults_) wrong.insert(table_of(f.key));
        for (const Problem& problem : wrong.empty() ? problems(params_) : row_problems(params_))
            if (!wrong.count(table_of(problem.key)) && !renamed_.count(split(problem.key)[0])) attempt([&] { fail(problem.key, problem.text); });
    }

    // ---- Messages ----

    std::vector<std::string> lines(const std::vector<std::string>& before)
    {
        std::stable_sort(faults_.begin(), faults_.end(), [](const Fault& a, const Fault& b) { return a.at < b.at; });
        std::vector<std::string> lines;
        for (const Fault& f : faults_) {
            const std::string place =
                f.at == after_the_file ? "--set " : file_ + ":" + std::to_string(f.at.line) + ": ";
            lines.push_back(place + printable(f.key) + ": " + f.text);
        }
        lines.insert(lines.end(), before.begin(), before.end());
        if (lines.size() > max_faults) {
            const size_t more = lines.size() - max_faults;
            lines.resize(max_faults);
            lines.push_back(file_ + ": and " + std::to_string(more) + " more; mend these first");
        }
        return lines;
    }

    bool is_made(const std::string& key) const
    {
        for (size_t end = key.find('.');; end = key.find('.', end + 1)) {
            if (made_.count(key.substr(0, end))) return true;
            if (end == std::string::npos) return false;
        }
    }

    // The place of a key, or of what stands nearest around it.
    Position find(const std::string& key) const
    {
        Position found;
        const toml::node* at = &root_;
        for (const std::string& part : split(key)) {
            if (const toml::table* table = at->as_table()) {
                const auto it = table->find(part);
                if (it == table->cend()) break;
                found = position_of(it->first.source());
                at = &it->second;
            } else if (const toml::array* array = at->as_array()) {
                const auto index = index_of(part);
                if (!index || *index >= array->size()) break;
                at = array->get(*index);
                found = position_of(at->source());
            } else {
                break;
            }
        }
        return found;
    }

    template <class F>
    void attempt(F&& f)
    {
        try {
            f();
        } catch (const Fault& fault) {
            faults_.push_back(fault);
        }
    }

    [[noreturn]] void fail(const std::string& key, const std::string& text) const { fail_at(find(key), key, text); }

    [[noreturn]] void fail_at(Position at, const std::string& key, const std::string& text) const
    {
        throw Fault{is_made(key) ? after_the_file : at, key, text};
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
        if (dimension_ > 0 && static_cast<int>(numbers.size()) != dimension_)
            fail(key, "expected " + count + ", found " + std::to_string(numbers.size()));
        Vec3 v;
        for (size_t a = 0; a < numbers.size(); ++a) v[static_cast<int>(a)] = numbers[a];
        return v;
    }

    // Angles about x, y and z; a 2D scene turns about z alone.
    Vec3 read_turn(const toml::node& node, const std::string& key) const
    {
        if (dimension_ == 2) {
            if (!node.is_number()) wrong_type(key, "one number, as the scene is 2D", node);
            return {0, 0, read_number(node, key)};
        }
        if (dimension_ == 0 && node.is_number()) return {};
        return read_vector(node, key, "three angles");
    }

    Formula read_formula(const toml::node& node, const std::string& key) const
    {
        const auto text = node.value_exact<std::string>();
        std::string why;
        const auto formula = Formula::parse(text ? *text : number_text(read_number(node, key)), why);
        if (!formula) fail(key, "the formula \"" + printable(*text) + "\" cannot be read: " + printable(why));
        return *formula;
    }

    // Formulas in t, a text each, of a value that has so many numbers; none where there is no text.
    std::vector<Formula> read_formulas(const toml::node& node, const std::string& key, size_t numbers) const
    {
        if (node.is_string() && numbers <= 1) return {read_formula(node, key)};
        const toml::array* array = node.as_array();
        if (!array || std::none_of(array->begin(), array->end(), [](const toml::node& n) { return n.is_string(); })) return {};
        if (numbers > 0 && array->size() != numbers)
            fail(key, "expected " + std::to_string(numbers) + " numbers or formulas, found " + std::to_string(array->size()));
        std::vector<Formula> formulas;
        for (const toml::node& element : *array) formulas.push_back(read_formula(element, key));
        return formulas;
    }

    // A plain value, formulas, or [{t = ..., v = ...}, ...]. `numbers`: how many the value has; 0 where that is unknown.
    template <class Read>
    auto read_keyed(const toml::node& node, const std::string& key, size_t numbers, Read read) const
    {
        using T = decltype(read(node));
        Keyed<T> in_time;
        in_time.formulas = read_formulas(node, key, numbers);
        if (!in_time.formulas.empty()) {
            // In 2D a turn is about z.
            const bool turn = std::is_same_v<T, Vec3> && numbers == 1;
            std::string why;
            if (turn) in_time.formulas.insert(in_time.formulas.begin(), 2, *Formula::parse("0", why));
            if (in_time.formulas.size() > (std::is_same_v<T, Vec3> ? 3 : 1)) fail(key, "expected one number or formula");
            in_time.keys.front().v = in_time.at(0);
            return in_time;
        }
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
                if (name.str() != "t" && name.str() != "v" && name.str() != "ease")
                    fail(key, "keyframe " + number + ": unknown key \"" + printable(name.str()) +
                                  "\"; a keyframe is {t = ..., v = ...}, and may have ease = \"in-out\"");
            const toml::node *t = frame->get("t"), *v = frame->get("v"), *ease = frame->get("ease");
            if (!t || !v) fail(key, "keyframe " + number + ": expected {t = ..., v = ...}");
            keyed.keys.push_back({read_number(*t, key), read(*v)});
            if (ease) keyed.keys.back().ease = static_cast<Ease>(read_word(ease_words(), *ease, key));
        }
        // One keyframe is a constant, whenever it is; and no way leads on from the last.
        keyed.keys.back().ease = Ease::linear;
        if (keyed.keys.size() == 1 && std::isfinite(keyed.keys[0].t)) keyed.keys[0].t = 0;
        return keyed;
    }

    int read_word(std::span<const Word> known, const toml::node& node, const std::string& key) const
    {
        std::vector<std::string> words;
        for (const Word& w : known)
            if (w.available()) words.push_back(w.text);
        const toml::value<std::string>* text = node.as_string();
        if (!text) {
            std::string list;
            for (const std::string& w : words) list += (list.empty() ? "" : ", ") + quoted(w);
            wrong_type(key, "one of " + list, node);
        }
        for (const Word& w : known)
            if (**text == w.text) return w.value;
        const std::string start = "unknown word \"" + printable(**text) + "\"; ";
        if (const char* ours = synonym_of_word(known, **text)) fail(key, start + "it is called " + quoted(ours) + " here");
        fail(key, start + suggestion(**text, words));
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
                return read_word(row.words, node, key);
            case ParamKind::vector:
                return read_vector(node, key);
            case ParamKind::numbers:
                return read_numbers(node, key, "two or three numbers");
            case ParamKind::keyed_number:
                return read_keyed(node, key, 1, [&](const toml::node& n) { return read_number(n, key); });
            case ParamKind::keyed_vector:
                return read_keyed(node, key, static_cast<size_t>(dimension_), [&](const toml::node& n) { return read_vector(n, key); });
            case ParamKind::keyed_turn:
                return read_keyed(node, key, dimension_ == 2 ? 1 : 3, [&](const toml::node& n) { return read_turn(n, key); });
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

    // Where keys are read into.
    struct Place {
        const Section& section;
        size_t entry;
        ShapeParams* shape;  // of the entry, where it has one
        bool any_shape;      // but nobody knows which
        std::string prefix;  // of the keys' names
    };

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

    // The keys and tables that may stand in a place.
    static std::vector<std::string> names_in(const Place& place)
    {
        const Section& section = place.section;
        std::vector<std::string> names;
        if (!*section.name) names.push_back("tarn");
        if (place.shape)
            for (const ParamRow& row : shape_rows())
                if (row.belongs_to(place.shape->shape)) names.push_back(row.name);
        if (section.add_shape && !place.shape) names.push_back("shape");
        for (const ParamRow& row : section.rows) names.push_back(row.name);
        const std::string inner = *section.name ? std::string(section.name) + "." : "";
        for (const Section& s : sections()) {
            const std::string full = s.name;
            if (full.size() > inner.size() && full.compare(0, inner.size(), inner) == 0 &&
                full.find('.', inner.size()) == std::string::npos)
                names.push_back(full.substr(inner.size()));
        }
        return names;
    }

    static std::string bracketed(const Section& section)
    {
        return (section.repeated() ? "[[" : "[") + std::string(section.name) + (section.repeated() ? "]]" : "]");
    }

    // What a key that is not known could mean.
    static std::string hint(std::string_view name, const Place& place)
    {
        const Section& section = place.section;
        for (const Reserved& r : reserved())
            if (r.name == name && std::string_view(r.section) == section.name)
                return std::string("is not built yet; ") + r.instead;
        if (section.add_shape && !place.shape && find_row(shape_rows(), name))
            return "belongs to a shape; say which with shape, or remove it";

        // A key that stands in the wrong table is told its own.
        std::vector<std::string> elsewhere;
        for (const Section& s : sections())
            if (find_row(s.rows, name)) elsewhere.push_back(bracketed(s));
        if (elsewhere.size() == 1) return "unknown key here; it belongs in " + elsewhere[0];

        if (const Synonym* s = synonym_of_key(name)) {
            const Section* table = find_section(s->ours);
            const std::string ours = table ? bracketed(*table) : quoted(s->ours);
            const std::string where = std::string_view(s->section) == section.name ? ""
                                      : *s->section ? std::string(", in [") + s->section + "]"
                                                    : ", at the top of the file";
            return "unknown key; it is called " + ours + " here" + where + s->more;
        }
        return "unknown key; " + suggestion(name, names_in(place));
    }

    void read_table(const toml::table& table, const Place& place)
    {
        for (const auto& [name, node] : table) attempt([&, &name = name, &node = node] { read_key(name, node, place); });
    }

    void read_key(const toml::key& name, const toml::node& node, const Place& place)
    {
        const Section& section = place.section;
        const std::string key = place.prefix + std::string(name.str());
        if (!*section.name && name.str() == "tarn") return;
        // The first of all that was read.
        if (key == "domain.size") return;
        if (place.shape)
            if (const ParamRow* row = find_row(shape_rows(), name.str())) {
                if (place.any_shape || std::string_view(row->name) == "shape") return;
                if (!row->belongs_to(place.shape->shape)) wrong_shape(*row, *place.shape, key);
                return read_row(*row, place.shape, node, key);
            }
        if (const ParamRow* row = find_row(section.rows, name.str()))
            return read_row(*row, section.object(params_, place.entry), node, key);
        // Names of sections hold no dots but their own, so that no quoted key can pose as one.
        const bool may_be_section =
            !place.shape && !section.repeated() && name.str().find('.') == std::string_view::npos;
        const Section* inner = may_be_section ? find_section(key) : nullptr;
        if (inner && inner != &section) return read_section(node, *inner, key);
        // Under a name of another program, what is in a table is read as well.
        const Synonym* s = *section.name ? nullptr : synonym_of_key(name.str());
        if (s && !*s->section && !*s->more) {
            renamed_.insert(s->ours);
            read_section(node, *find_section(s->ours), key);
        }
        fail_at(position_of(name.source()), key, hint(name.str(), place));
    }

    void read_section(const toml::node& node, const Section& section, const std::string& key)
    {
        if (section.repeated())
            read_entries(node, section, key);
        else if (const toml::table* t = node.as_table())
            read_single(*t, section, key + ".");
        else
            fail(key, "expected a table [" + key + "], found " + kind_name(node));
    }

    void read_single(const toml::table& table, const Section& section, const std::string& prefix)
    {
        if (section.may_be_absent()) section.add(params_);
        ShapeParams* shape = nullptr;
        bool known = true;
        if (section.add_shape && table.contains("shape")) {
            section.add_shape(params_);
            shape = section.shape(params_, 0);
            known = read_shape_kind(table, *shape, prefix);
        }
        read_table(table, {section, 0, shape, !known, prefix});
    }

    // Which keys apply hangs on the shape, so it comes first. Returns whether it is known.
    bool read_shape_kind(const toml::table& table, ShapeParams& shape, const std::string& prefix)
    {
        const size_t before = faults_.size();
        shape.line = position_of(table.source()).line;
        attempt([&] {
            const toml::node* word = table.get("shape");
            if (!word) {
                std::vector<std::string> words;
                for (const Word& w : shape_words()) words.push_back(w.text);
                fail(prefix + "shape", "missing; " + suggestion("", words));
            }
            read_row(*find_row(shape_rows(), "shape"), &shape, *word, prefix + "shape");
        });
        return faults_.size() == before;
    }

    void read_entries(const toml::node& node, const Section& section, const std::string& key)
    {
        const toml::array* array = node.as_array();
        if (!array)
            fail(key, "expected entries, each under [[" + key + "]] with double brackets, found " + kind_name(node));
        if (array->size() > max_shapes)
            fail(key,
                 "expected at most " + std::to_string(max_shapes) + " entries, found " + std::to_string(array->size()));
        for (size_t i = 0; i < array->size(); ++i) {
            const toml::node& element = *array->get(i);
            const std::string prefix = key + "." + std::to_string(i) + ".";
            const toml::table* table = element.as_table();
            if (!table) fail(key, "expected entries, each under [[" + key + "]], found " + kind_name(element));
            const size_t entry = section.count(params_);
            section.add(params_);
            if (section.add_shape && table->contains("shape")) section.add_shape(params_);
            ShapeParams* const shape = section.shape_of(params_, entry);
            const bool known = !shape || read_shape_kind(*table, *shape, prefix);
            read_table(*table, {section, entry, shape, !known, prefix});
            if (std::string_view(section.name) == "gauge")
                params_.gauge[entry].line = position_of(table->source()).line;
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
        if (domain && !domain->is_table()) return;  // which is told when its turn comes
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
    toml::table root = parse_toml(text, file);
    std::set<std::string> made;
    std::vector<std::string> wrong;
    for (const auto& [key, value] : overrides) try {
            apply_set(root, key, value, made);
        } catch (const InputError& e) {
            wrong.push_back(e.what());
        }
    Params params = Reader(file, std::move(root), std::move(made)).read(wrong);
    set_floats_apart(params);
    return params;
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
    for (SolidParams& s : params.floats) {
        resolve(s.file);
        resolve(s.image);
    }
    for (LightParams& light : params.light) resolve(light.image);
    resolve(params.render.floor_image);
    return build_scene(std::move(params), fs::path(path).stem().string(), path, folder.string());
}

}  // namespace tarn
