#include "tarn/run/plot.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "tarn/base/error.h"
#include "tarn/output/files.h"
#include "tarn/run/exit_code.h"

namespace tarn {
namespace {

constexpr int width = 880, panel = 190, left = 90, right = 20, top = 26, bottom = 34;
constexpr const char* colours[] = {"#1f77b4", "#d62728", "#2ca02c"};

struct Table {
    std::vector<std::string> names;
    std::vector<std::vector<double>> columns;
};

Table read_table(const std::string& path)
{
    std::istringstream text(read_file(path));
    Table table;
    std::string line, word;
    std::getline(text, line);
    for (std::istringstream names(line); std::getline(names, word, ',');) table.names.push_back(word);
    table.columns.resize(table.names.size());
    while (std::getline(text, line)) {
        std::istringstream words(line);
        for (auto& column : table.columns) {
            const bool there = bool(std::getline(words, word, ','));
            column.push_back(there ? std::strtod(word.c_str(), nullptr) : std::nan(""));
        }
    }
    return table;
}

// Round numbers that divide a range into about four parts.
std::vector<double> ticks(double lo, double hi)
{
    const double rough = (hi - lo) / 4, power = std::pow(10, std::floor(std::log10(rough)));
    const double unit = rough / power, step = power * (unit < 1.5 ? 1 : unit < 3.5 ? 2 : unit < 7.5 ? 5 : 10);
    std::vector<double> at;
    for (double x = std::ceil(lo / step) * step; x <= hi + 1e-9 * step; x += step)
        at.push_back(std::fabs(x) < 1e-9 * step ? 0 : x);
    return at;
}

// A panel with the columns that share a name, over time.
std::string draw_panel(const Table& table, const std::vector<double>& time, const std::vector<size_t>& columns,
                       const std::string& title, int offset)
{
    double lo = HUGE_VAL, hi = -HUGE_VAL;
    for (const size_t c : columns)
        for (const double v : table.columns[c])
            if (std::isfinite(v)) lo = std::min(lo, v), hi = std::max(hi, v);
    if (!(lo <= hi)) lo = hi = 0;
    const double margin = hi > lo ? 0.05 * (hi - lo) : std::max(1e-3 * std::fabs(hi), 1e-9);
    lo -= margin;
    hi += margin;
    const double begin = time.empty() ? 0 : time.front(), end = time.size() < 2 ? begin + 1 : time.back();
    const auto x_of = [&](double t) { return left + (width - left - right) * (t - begin) / (end - begin); };
    const auto y_of = [&](double v) { return offset + top + (panel - top - bottom) * (hi - v) / (hi - lo); };
    std::string out = fmt::format("<text x=\"{}\" y=\"{}\" font-weight=\"bold\">{}</text>\n", left, offset + 16, title);
    for (const double v : ticks(lo, hi))
        out += fmt::format("<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#ddd\"/>"
                           "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:.6g}</text>\n",
                           left, width - right, y_of(v), left - 6, y_of(v) + 4, v);
    for (const double t : ticks(begin, end))
        out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:.6g}</text>\n", x_of(t),
                           offset + panel - bottom + 16, t);
    out += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#888\"/>\n", left,
                       offset + top, width - left - right, panel - top - bottom);
    for (size_t n = 0; n < columns.size(); ++n) {
        const std::vector<double>& values = table.columns[columns[n]];
        std::string points;
        for (size_t i = 0; i < values.size(); ++i)
            if (std::isfinite(values[i])) points += fmt::format("{:.1f},{:.1f} ", x_of(time[i]), y_of(values[i]));
        out += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.3\"/>\n", points,
                           colours[n % 3]);
        if (columns.size() > 1)
            out += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"{}\">{}</text>\n", width - right - 90 + 30 * static_cast<int>(n),
                               offset + 16, colours[n % 3], table.names[columns[n]].back());
    }
    return out;
}

}  // namespace

void plot_csv(const std::string& csv, const std::string& svg)
{
    const Table table = read_table(csv);
    std::vector<double> time;
    std::vector<std::pair<std::string, std::vector<size_t>>> panels;
    for (size_t c = 0; c < table.names.size(); ++c) {
        std::string name = table.names[c];
        if (name == "time") time = table.columns[c];
        if (name == "time" || name == "step" || name == "frame") continue;
        if (name.ends_with("_x") || name.ends_with("_y") || name.ends_with("_z")) name.resize(name.size() - 2);
        if (panels.empty() || panels.back().first != name) panels.push_back({name, {}});
        panels.back().second.push_back(c);
    }
    std::string out = fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
                                  "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" "
                                  "fill=\"white\"/>\n",
                                  width, panel * std::max<int>(1, static_cast<int>(panels.size())));
    int offset = 0;
    for (const auto& [name, columns] : panels) {
        out += draw_panel(table, time, columns, name, offset);
        offset += panel;
    }
    write_file(svg, out + "</svg>\n");
}

int plot(const std::string& dir)
{
    if (!std::filesystem::exists(dir + "/stats.csv"))
        throw InputError(fmt::format("{}: holds no run: there is no stats.csv; give the folder of a run", dir));
    for (const std::string name : {"stats", "gauges"}) {
        const std::string file = dir + "/" + name;
        if (!std::filesystem::exists(file + ".csv")) continue;
        plot_csv(file + ".csv", file + ".svg");
        fmt::print("{}.svg\n", file);
    }
    return exit_done;
}

}  // namespace tarn
