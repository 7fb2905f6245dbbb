#pragma once
// Random scenes and random damage to them, driven by the parameter tables, so that every key and value is tried as
// soon as it has a row. The same seed gives the same text on every machine.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tarn/params/tables.h"

namespace tarn {

class SceneGenerator {
public:
    explicit SceneGenerator(uint64_t seed) : state_(seed) {}

    // A scene of which most are good, with a few keys of each table.
    std::string scene()
    {
        dimension_ = chance(3) ? 2 : 3;
        std::string text = "tarn = 1\n";
        for (const Section& section : sections()) {
            if (!section.repeated()) {
                if (section.may_be_absent() && !chance(3)) continue;
                std::string rows;
                if (section.shape && chance(3)) rows += shape_lines(section);
                for (const ParamRow& row : section.rows)
                    // No path has the name, and most scenes are of water.
                    if (row.required || chance(of_smoke(section, row) ? 400 : seldom_fits(section, row) ? 40 : 4))
                        if (!row.only_3d || dimension_ == 3) rows += line(row);
                if (*section.name && (!rows.empty() || chance(8))) text += std::string("[") + section.name + "]\n";
                text += rows;
                continue;
            }
            const bool water = std::string(section.name) == "water";
            // Keys of tables without a shape of their own depend on each other, and drawn at random seldom fit.
            const bool seldom = !section.shape || section.add_shape || std::string(section.name) == "cloud" || std::string(section.name) == "vortices";
            for (size_t n = water ? 1 + pick(2) : seldom ? chance(30) : pick(2); n > 0; --n) text += entry(section);
        }
        return text;
    }

    // One change, small or large, to a text that need not be a scene.
    std::string damaged(std::string text)
    {
        std::vector<std::string> lines = split(text);
        const size_t at = pick(lines.size() + 1);
        const size_t there = lines.empty() ? 0 : pick(lines.size());
        switch (pick(16)) {
            case 0:
                lines.insert(lines.begin() + at, line(any_row()));
                break;
            case 1:
                lines.insert(lines.begin() + at, line(any_row()));
                break;
            case 2:
                lines.insert(lines.begin() + at, header());
                break;
            case 3:
                lines.insert(lines.begin() + at, misspelt(any_row().name) + " = " + odd_value() + "\n");
                break;
            case 4:
                lines.insert(lines.begin() + at, std::string(any_row().name) + " = " + odd_value() + "\n");
                break;
            case 5:
                if (!lines.empty()) lines.erase(lines.begin() + there);
                break;
            case 6:
                if (!lines.empty()) lines.insert(lines.begin() + at, lines[there]);
                break;
            case 7:
                if (!lines.empty()) std::swap(lines[there], lines[pick(lines.size())]);
                break;
            case 8:
                if (!lines.empty()) lines[there] = misspelt(lines[there]);
                break;
            case 9:
                lines.insert(lines.begin() + at, deep());
                break;
            case 10:
                lines.insert(lines.begin() + at, entry(any_list()));
                break;
            case 11:
                return text.substr(0, pick(text.size() + 1));
            case 12:
                return replaced_value(lines, there, odd_value());
            case 13:
                return replaced_value(lines, there, value(any_row()));
            case 14:
                if (!text.empty()) text[pick(text.size())] = static_cast<char>(pick(256));
                return text;
            case 15:
                text.insert(pick(text.size() + 1), 1, "[]{}=\"'.,#\n\\-+_eE0"[pick(18)]);
                return text;
        }
        return joined(lines);
    }

    size_t pick(size_t n) { return n ? next() % n : 0; }

private:
    uint64_t state_;
    int dimension_ = 3;

    // SplitMix64: small, and the same everywhere.
    uint64_t next()
    {
        uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return z ^ (z >> 31);
    }
    bool chance(size_t one_in) { return pick(one_in) == 0; }
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

    static std::vector<std::string> split(const std::string& text)
    {
        std::vector<std::string> lines;
        for (size_t at = 0; at < text.size();) {
            const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
            lines.push_back(text.substr(at, end - at));
            at = end;
        }
        return lines;
    }
    static std::string joined(const std::vector<std::string>& lines)
    {
        std::string text;
        for (const std::string& l : lines) text += l;
        return text;
    }

    // Keys that go with few other values: a path that must be there, or what only some methods have.
    static bool seldom_fits(const Section& section, const ParamRow& row)
    {
        const std::string name = row.name, table = section.name;
        for (const char* const of_some : {"path", "heights", "revolve", "live", "preset", "preview_grid", "carry_volume", "interface"})
            if (name == of_some) return true;
        return table == "octree" || table == "tall" || table == "air";
    }
    const ParamRow& any_row()
    {
        const Section& section = sections()[pick(sections().size())];
        if (section.rows.empty() || (section.repeated() && !chance(3))) return shape_rows()[pick(shape_rows().size())];
        return section.rows[pick(section.rows.size())];
    }
    const Section& any_list()
    {
        for (;;)
            if (const Section& section = sections()[pick(sections().size())]; section.repeated()) return section;
    }
    std::string header()
    {
        const Section& section = sections()[pick(sections().size())];
        const std::string name = chance(4) ? misspelt(section.name) : section.name;
        return section.repeated() != chance(6) ? "[[" + name + "]]\n" : "[" + name + "]\n";
    }
    std::string entry(const Section& section)
    {
        std::string text = std::string("[[") + section.name + "]]\n" + (section.shape ? shape_lines(section) : "");
        const std::string name = section.name;
        if (name == "gauge") return text + gauge_lines();
        // A source takes one of its rows, which suits the others as well.
        if (!section.rows.empty()) {
            const ParamRow& row = section.rows[pick(section.rows.size())];
            const std::string key = row.name;
            const bool weight = key == "density" || key == "mass", start = key == "velocity" || key == "spin";
            if (of_smoke(section, row) && !chance(8)) return name == "source" ? text + "rate = 0.01\n" : text;
            if (name == "source" && key == "drops") text += "rate = 0.01\n";
            if (name == "solid" && (key == "path" || key == "heading") && !chance(8)) return text;
            if (name == "solid" && (weight || start) && !chance(8)) text += "motion = \"body\"\n";
            if (name == "solid" && start && !chance(8)) text += "density = 500\n";
            text += line(row);
        }
        if (chance(40)) text += line(any_row());
        return text;
    }

    // Keys that do nothing in water.
    static bool of_smoke(const Section& section, const ParamRow& row)
    {
        const std::string name = section.name, key = row.name;
        return name == "smoke" || key == "temperature" || (name == "source" && key == "density") || key.starts_with("smoke_");
    }

    std::string gauge_lines()
    {
        static const char* const kinds[] = {"height", "pressure", "velocity", "runup", "flux"};
        const size_t kind = pick(std::size(kinds));
        const std::string zeros = dimension_ == 2 ? "0.4]\n" : "0.4, 0.4]\n";
        std::string text = "name = \"gauge" + std::to_string(pick(1000)) + "\"\nkind = \"" + kinds[kind] + "\"\n";
        if (kind < 3) text += "point = [0.4, " + zeros;
        if (kind == 4) text += dimension_ == 2 ? "min = [0.3, 0.1]\nmax = [0.3, 0.9]\n" : "min = [0.3, 0.1, 0.2]\nmax = [0.3, 0.9, 0.4]\n";
        return text;
    }

    std::string shape_lines(const Section& section)
    {
        std::vector<Word> taken;
        for (const Word& w : shape_words())
            if (section.takes(static_cast<ShapeKind>(w.value)) || chance(20)) taken.push_back(w);
        const Word shape = taken[pick(taken.size())];
        std::string text = std::string("shape = \"") + shape.text + "\"\n";
        for (const ParamRow& row : shape_rows())
            if (row.belongs_to(static_cast<ShapeKind>(shape.value)) && std::string(row.name) != "shape")
                if (row.required || chance(8)) text += line(row);
        return text;
    }

    std::string line(const ParamRow& row) { return std::string(row.name) + " = " + value(row) + "\n"; }

    // Mostly inside a domain of about a metre, with corners in order; sometimes anywhere in the range.
    std::string number(const ParamRow& row)
    {
        const std::string name = row.name;
        double x = name == "min" ? 0.4 * uniform() : name == "max" || name == "size" ? 1 - 0.4 * uniform() : uniform();
        if (chance(60)) x = row.lo + uniform() * (row.hi - row.lo);
        return number_text(std::clamp(x, row.lo, row.hi));
    }
    std::string numbers(const ParamRow& row, int n)
    {
        std::string text = "[";
        for (int i = 0; i < n; ++i) text += (i ? ", " : "") + number(row);
        return text + "]";
    }
    template <class Plain>
    std::string keyed(Plain plain)
    {
        if (!chance(4)) return plain();
        std::string text = "[";
        for (size_t i = 0, n = 1 + pick(4); i < n; ++i)
            text += (i ? ", " : "") + ("{t = " + std::to_string(i) + ", v = " + plain()) + "}";
        return text + "]";
    }
    // Grids, fluids and solvers that take only some of the other keys, and surfaces that bring such a solver with them.
    const char* word(const ParamRow& row)
    {
        static const char* const takes_little[] = {"octree", "tall", "smoke", "foster-metaxas", "markers", "marker-chains", "height-field"};
        const std::string text = row.words[chance(2) ? pick(row.words.size()) : 0].text;
        const bool seldom = std::any_of(std::begin(takes_little), std::end(takes_little), [&](const char* w) { return text == w; });
        for (const Word& w : row.words)
            if (text == w.text && (!seldom || chance(8))) return w.text;
        return row.words[0].text;
    }
    std::string value(const ParamRow& row)
    {
        switch (row.kind) {
            case ParamKind::number:
                return number(row);
            case ParamKind::integer:
                return std::to_string(static_cast<int>(std::min(row.hi, row.lo + static_cast<double>(pick(100)))));
            case ParamKind::boolean:
                return chance(2) ? "true" : "false";
            case ParamKind::text:
                if (std::string(row.name) == "name" && !chance(20)) return quoted("name" + std::to_string(pick(1000)));
                return quoted(chance(2) ? "a.obj" : "some \"text\" \\ \xc3\xbc");
            case ParamKind::choice:
                // The first goes with every other; most others need some of their own.
                return quoted(word(row));
            case ParamKind::vector:
                return numbers(row, dimension_);
            case ParamKind::numbers:
                return numbers(row, dimension_);
            case ParamKind::keyed_number:
                return keyed([&] { return number(row); });
            case ParamKind::keyed_vector:
                return keyed([&] { return numbers(row, dimension_); });
            case ParamKind::keyed_turn:
                return keyed([&] { return dimension_ == 2 ? number(row) : numbers(row, 3); });
        }
        return "";
    }

    std::string odd_value()
    {
        static const char* const odd[] = {
            "nan",
            "inf",
            "-inf",
            "-0.0",
            "1e400",
            "-1",
            "1e-320",
            "0x7fffffff",
            "0o17",
            "9223372036854775807",
            "9223372036854775808",
            "-9223372036854775808",
            "1_000",
            "\"\"",
            "[]",
            "{}",
            "[[]]",
            "[{}]",
            "[{t = 0}]",
            "[{t = 0, v = 0}, {t = 0, v = 0}]",
            "[{t = inf, v = [0, 0, 0]}]",
            "1979-05-27",
            "07:32:00",
            "1979-05-27T07:32:00Z",
            "true",
            "\"\\u0000\"",
            "\"\"\"\n\n\"\"\"",
            "'''x'''",
            "[1, \"a\", true]",
            "[1, 2, 3, 4, 5, 6, 7, 8, 9]",
            "{a = {b = {c = {d = 1}}}}",
            "[1e308, 1e308, 1e308]",
            "[\n1,\n\n2,\n3\n]",
        };
        return odd[pick(std::size(odd))];
    }
    std::string misspelt(std::string word)
    {
        const size_t at = pick(word.size() + 1);
        const char letter = static_cast<char>('a' + pick(26));
        switch (pick(3)) {
            case 0:
                word.insert(at, 1, letter);
                break;
            case 1:
                if (at < word.size()) word.erase(at, 1);
                break;
            case 2:
                if (at < word.size()) word[at] = letter;
                break;
        }
        return word;
    }
    // Nesting, dots and lists far beyond what a scene needs.
    std::string deep()
    {
        const size_t n = chance(4) ? 3000 : 1 + pick(40);
        std::string text;
        switch (pick(5)) {
            case 0:
                return "a = " + std::string(n, '[') + std::string(n, ']') + "\n";
            case 1:
                for (size_t i = 0; i < n; ++i) text += "a.";
                return text + "a = 1\n";
            case 2:
                for (size_t i = 0; i < n; ++i) text += "{a=";
                return "a = " + text + "1" + std::string(n, '}') + "\n";
            case 3:
                for (size_t i = 0; i < n; ++i) text += "0,";
                return "velocity = [" + text + "]\n";
            default:
                for (size_t i = 0; i < n; ++i) text += "a.";
                return "[" + text + "a]\n";
        }
    }
    std::string replaced_value(std::vector<std::string>& lines, size_t at, const std::string& value)
    {
        if (at < lines.size())
            if (const size_t equals = lines[at].find('='); equals != std::string::npos)
                lines[at] = lines[at].substr(0, equals + 1) + " " + value + "\n";
        return joined(lines);
    }
};

}  // namespace tarn
