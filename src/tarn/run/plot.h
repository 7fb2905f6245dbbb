#pragma once
// stats.csv and gauges.csv as drawings.

#include <string>

namespace tarn {

// Every column of a CSV over its time, as panels of an SVG; columns that differ in _x, _y, _z alone share one.
// Throws RunError where the file cannot be read.
void plot_csv(const std::string& csv, const std::string& svg);

// stats.svg, and gauges.svg where the run has gauges. Returns the exit code.
int plot(const std::string& dir);

}  // namespace tarn
