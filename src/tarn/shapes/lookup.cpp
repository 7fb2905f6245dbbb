// Which shapes of a list can decide its distance where.
//
// In a box of half the diagonal rho and middle c, a shape that lies in a ball (m, r) is at least |c - m| - rho - r away from every
// point, and one whose distance at c is e at most e + L rho, where L bounds the slope of its distance. So of united shapes only
// those with |c - m| - r <= min e + (1 + L) rho can be the nearest anywhere in the box. What stands before a shape that is subtracted
// can be made farther away by it, so there the minimum is over those that come with it or later. A subtracted shape decides only
// where it is nearer than the surface of what stands before it. The value is the same to the bit as that of the whole list.

#include <algorithm>
#include <cmath>

#include "tarn/shapes/shape.h"

namespace tarn {

namespace {

constexpr int few = 3;              // shapes that are asked one by one
constexpr double box_in_cells = 4;  // one side of the smallest boxes

// The distances between samples bend: along a cell's diagonal they may change by more than its length.
double slope_of(const Shape& s)
{
    const bool exact = s.kind != ShapeKind::mesh && s.kind != ShapeKind::terrain && s.kind != ShapeKind::solitary_wave;
    return exact ? 1 : 2;
}

class Divider {
public:
    Divider(const std::vector<Shape>& shapes, ShapeLists& lists) : shapes_(shapes), lists_(lists)
    {
        size_t n = 1;
        for (int a = 0; a < 3; ++a) n *= static_cast<size_t>(lists.grid.boxes[a]);
        of_box_.resize(n);
    }

    // Divides the boxes from lo to hi, down to single ones or such with few shapes, handing on those that can decide.
    void divide(Cell<3> lo, Cell<3> hi, const std::vector<int>& candidates)
    {
        const Vec3 half = (0.5 * lists_.grid.side) * (hi - lo).as<double>();
        const Vec3 middle = lists_.grid.origin + lists_.grid.side * lo.as<double>() + half;
        const std::vector<int> near = that_decide(candidates, middle, 1.001 * length(half));
        int longest = 0;
        for (int a = 1; a < 3; ++a)
            if (hi[a] - lo[a] > hi[longest] - lo[longest]) longest = a;
        if (hi[longest] - lo[longest] == 1 || static_cast<int>(near.size()) <= few) {
            const Cell<3>& n = lists_.grid.boxes;
            for (int k = lo[2]; k < hi[2]; ++k)
                for (int j = lo[1]; j < hi[1]; ++j)
                    for (int i = lo[0]; i < hi[0]; ++i) of_box_[static_cast<size_t>((k * n[1] + j) * n[0] + i)] = near;
            return;
        }
        const int between = (lo[longest] + hi[longest]) / 2;
        Cell<3> end = hi, start = lo;
        end[longest] = start[longest] = between;
        divide(lo, end, near);
        divide(start, hi, near);
    }

    void write()
    {
        lists_.start.push_back(0);
        for (const std::vector<int>& list : of_box_) {
            lists_.which.insert(lists_.which.end(), list.begin(), list.end());
            lists_.start.push_back(static_cast<int>(lists_.which.size()));
        }
    }

private:
    std::vector<int> that_decide(const std::vector<int>& candidates, Vec3 c, double rho) const
    {
        std::vector<int> deciding;
        std::vector<double> nearest(candidates.size() + 1, HUGE_VAL);  // of what stands before each
        for (size_t i = 0; i < candidates.size(); ++i) {
            const Shape& s = shape(candidates[i]);
            nearest[i + 1] = s.subtract ? nearest[i] : std::min(nearest[i], at_least(s, c) - rho);
        }
        // From the last to the first, in runs of shapes that are united without one subtracted between them.
        double farthest = HUGE_VAL;
        for (size_t end = candidates.size(); end > 0;) {
            size_t first = end;
            while (first > 0 && !shape(candidates[first - 1]).subtract) --first;
            for (size_t i = first; i < end; ++i) {
                const Shape& s = shape(candidates[i]);
                if (at_least(s, c) < farthest) farthest = std::min(farthest, distance(s, c) + slope_of(s) * rho);
            }
            for (size_t i = end; i > first; --i)
                if (at_least(shape(candidates[i - 1]), c) - rho <= farthest) deciding.push_back(candidates[i - 1]);
            end = first;
            for (; end > 0 && shape(candidates[end - 1]).subtract; --end)
                if (at_least(shape(candidates[end - 1]), c) - rho <= -nearest[end - 1]) deciding.push_back(candidates[end - 1]);
        }
        std::reverse(deciding.begin(), deciding.end());
        return deciding;
    }
    const Shape& shape(int i) const { return shapes_[static_cast<size_t>(i)]; }
    static double at_least(const Shape& s, Vec3 c) { return length(c - s.middle) - s.reach; }

    const std::vector<Shape>& shapes_;
    ShapeLists& lists_;
    std::vector<std::vector<int>> of_box_;
};

}  // namespace

ShapeLists find_lists(const std::vector<Shape>& shapes, const AskedAt& at)
{
    ShapeLists lists;
    if (static_cast<int>(shapes.size()) <= few || !(at.h > 0)) return lists;
    // Cells beside the domain ask, too.
    const double side = box_in_cells * at.h, beyond = 2 * at.h;
    lists.grid.side = side;
    std::vector<int> all;
    for (size_t i = 0; i < shapes.size(); ++i) all.push_back(static_cast<int>(i));
    for (int a = 0; a < 3; ++a) {
        lists.grid.origin[a] = -beyond;
        lists.grid.boxes[a] = static_cast<int>(std::ceil((at.size[a] + 2 * beyond) / side));
    }
    Divider divider(shapes, lists);
    divider.divide({}, lists.grid.boxes, all);
    divider.write();
    return lists;
}

bool may_be_thin(const std::vector<Shape>& shapes, double h, int dimension)
{
    // The diameter of a ball that touches every point of the surface from inside.
    const auto thickness = [&](const Shape& s) -> double {
        switch (s.kind) {
            case ShapeKind::box: {
                const Vec3 sides = s.b - s.a;
                const double least = std::min(sides[0], sides[1]);
                return dimension == 2 ? least : std::min(least, sides[2]);
            }
            case ShapeKind::sphere:
                return 2 * s.r;
            case ShapeKind::cylinder:
                return std::min(2 * s.r, s.s);
            case ShapeKind::torus:
                return 2 * s.s;
            case ShapeKind::plane:
                return HUGE_VAL;
            default:
                return 0;
        }
    };
    for (const Shape& s : shapes)
        if (s.subtract || !(s.scale * thickness(s) > 2.5 * h)) return true;
    return false;
}

}  // namespace tarn
