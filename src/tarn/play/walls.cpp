#include "tarn/play/walls.h"

#include <numbers>

namespace tarn {

namespace {

double distance_to_segment(Vec<2> x, Vec<2> a, Vec<2> b)
{
    const Vec<2> along = b - a, from = x - a;
    const double square = dot(along, along), s = square > 0 ? dot(from, along) / square : 0;
    return length(from - (s < 0 ? 0 : s > 1 ? 1 : s) * along);
}

}  // namespace

std::vector<Vec<2>> simplified(const std::vector<Vec<2>>& line, double tolerance)
{
    if (line.size() < 3) return line;
    size_t farthest = 0;
    double most = tolerance;
    for (size_t i = 1; i + 1 < line.size(); ++i) {
        const double far = distance_to_segment(line[i], line.front(), line.back());
        if (far > most) most = far, farthest = i;
    }
    if (farthest == 0) return {line.front(), line.back()};
    const auto middle = line.begin() + static_cast<long>(farthest);
    std::vector<Vec<2>> first = simplified({line.begin(), middle + 1}, tolerance);
    const std::vector<Vec<2>> second = simplified({middle, line.end()}, tolerance);
    first.insert(first.end(), second.begin() + 1, second.end());
    return first;
}

std::vector<SolidParams> wall_along(const std::vector<Vec<2>>& line, double radius, bool subtract)
{
    std::vector<SolidParams> shapes;
    for (size_t i = 0; i < line.size(); ++i) {
        SolidParams disc;
        disc.shape = ShapeKind::sphere;
        disc.center = Vec3{line[i][0], line[i][1], 0};
        disc.radius = radius;
        disc.subtract = subtract;
        shapes.push_back(disc);
        if (i + 1 == line.size()) break;
        const Vec<2> way = line[i + 1] - line[i], middle = 0.5 * (line[i] + line[i + 1]);
        SolidParams box;
        box.shape = ShapeKind::box;
        box.min = Vec3{-0.5 * length(way), -radius, 0};
        box.max = Vec3{0.5 * length(way), radius, 0};
        box.rotate = Vec3{0, 0, std::atan2(way[1], way[0]) * 180 / std::numbers::pi};
        box.translate = Vec3{middle[0], middle[1], 0};
        box.subtract = subtract;
        if (length(way) > 0) shapes.push_back(box);
    }
    return shapes;
}

}  // namespace tarn
