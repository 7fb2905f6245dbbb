#include "tarn/scene/make_bodies.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tarn/base/error.h"
#include "tarn/params/tables.h"
#include "tarn/scene/scene.h"

namespace tarn {

namespace {

// Lighter than this part of the water the solve takes several times as long, and next to nothing is changed by being lighter.
constexpr double least_density = 0.02;
constexpr size_t most_bodies = 255;

struct Extent {
    Vec3 lo = Vec3::all(HUGE_VAL), hi = Vec3::all(-HUGE_VAL);

    bool empty() const { return !(lo[0] <= hi[0]); }
    void add(Vec3 centre, Vec3 half)
    {
        for (int a = 0; a < 3; ++a) {
            lo[a] = std::min(lo[a], centre[a] - half[a]);
            hi[a] = std::max(hi[a], centre[a] + half[a]);
        }
    }
};

// Divides a box along its longest side, given by its half: that of its halves is left, and the way to their centres returned.
Vec3 divide(Vec3& half, int dimension)
{
    int longest = 0;
    for (int a = 1; a < dimension; ++a)
        if (half[a] > half[longest]) longest = a;
    half[longest] *= 0.5;
    Vec3 shift;
    shift[longest] = half[longest];
    return shift;
}

// A box around a shape: boxes that its distance does not rule out are divided down to `resolution`.
void find_extent(Extent& extent, const std::vector<Shape>& shapes, Vec3 centre, Vec3 half, double resolution, int dimension)
{
    const double d = distance(shapes, centre), corner = length(half);
    if (d > corner) return;
    if (d < -corner || corner < resolution) return extent.add(centre, half);
    const Vec3 shift = divide(half, dimension);
    find_extent(extent, shapes, centre - shift, half, resolution, dimension);
    find_extent(extent, shapes, centre + shift, half, resolution, dimension);
}

// Small cells that fill a shape. Boxes of cells of which their middle tells that none, or all, are inside are not looked into.
template <class F>
class Parts {
public:
    Parts(const std::vector<Shape>& shapes, const Extent& extent, int dimension, const F& f)
        : shapes_(shapes), lo_(extent.lo), dimension_(dimension), f_(f)
    {
        const int along = dimension == 2 ? 512 : 64;
        for (int a = 0; a < dimension; ++a) side_ = std::max(side_, (extent.hi[a] - extent.lo[a]) / along);
        volume_ = std::pow(side_, dimension);
        // Between its samples a mesh's distance may change by more than the way.
        for (const Shape& s : shapes) slope_ = s.kind == ShapeKind::mesh ? 2 : slope_;
        for (int a = 0; a < dimension; ++a) cells_[a] = static_cast<int>(std::ceil((extent.hi[a] - extent.lo[a]) / side_));
    }
    void visit() const { divide({}, cells_); }

private:
    Vec3 middle(Cell<3> first, Cell<3> end) const
    {
        Vec3 x = lo_ + (0.5 * side_) * (first + end).as<double>();
        if (dimension_ == 2) x[2] = 0;
        return x;
    }
    void divide(Cell<3> first, Cell<3> end) const
    {
        const Cell<3> n = end - first, one{1, 1, 1};
        const Vec3 x = middle(first, end);
        const double d = distance(shapes_, x) / side_, around = 0.5 * slope_ * length((n - one).as<double>());
        if (d - around >= 0.5) return;
        if (n == one) return f_(x, std::min(0.5 - d, 1.0) * volume_, d <= -0.5);
        if (d + around <= -0.5) return take_all(first, end);
        int longest = 0;
        for (int a = 1; a < 3; ++a)
            if (n[a] > n[longest]) longest = a;
        Cell<3> lower = end, upper = first;
        lower[longest] = upper[longest] = first[longest] + n[longest] / 2;
        divide(first, lower);
        divide(upper, end);
    }
    void take_all(Cell<3> first, Cell<3> end) const
    {
        const Cell<3> one{1, 1, 1};
        Cell<3> c;
        for (c[2] = first[2]; c[2] < end[2]; ++c[2])
            for (c[1] = first[1]; c[1] < end[1]; ++c[1])
                for (c[0] = first[0]; c[0] < end[0]; ++c[0]) f_(middle(c, c + one), volume_, true);
    }

    const std::vector<Shape>& shapes_;
    Vec3 lo_;
    int dimension_;
    const F& f_;
    Cell<3> cells_{1, 1, 1};
    double side_ = 0, volume_ = 0, slope_ = 1;
};
// Calls f(x, volume, whole) for each, those on the surface by their part inside.
template <class F>
void for_each_part(const std::vector<Shape>& shapes, const Extent& extent, int dimension, const F& f)
{
    Parts<F>(shapes, extent, dimension, f).visit();
}

// Whether a function that changes by no more than the way falls below zero in a box: where its middle does not tell, the box is divided.
template <class F>
bool falls_below_zero(const F& f, Vec3 centre, Vec3 half, double resolution, int dimension)
{
    const double here = f(centre), corner = length(half);
    if (here < 0) return true;
    if (here > corner || corner < resolution) return false;
    const Vec3 shift = divide(half, dimension);
    return falls_below_zero(f, centre - shift, half, resolution, dimension) ||
           falls_below_zero(f, centre + shift, half, resolution, dimension);
}
template <class F>
bool falls_below_zero(const F& f, const Extent& extent, double resolution, int dimension)
{
    Vec3 centre = 0.5 * (extent.lo + extent.hi), half = extent.hi - centre;
    if (dimension == 2) centre[2] = half[2] = 0;
    return falls_below_zero(f, centre, half, resolution, dimension);
}

// Whether two shapes, of which the first lies within `extent`, share a place that is deep inside of both.
bool overlap(const std::vector<Shape>& a, const std::vector<Shape>& b, const Extent& extent, double deep, int dimension)
{
    return falls_below_zero([&](Vec3 x) { return deep + std::max(distance(a, x), distance(b, x)); }, extent, 0.1 * deep, dimension);
}

// The closed side of the domain that a shape reaches through, deeper than `deep`; null where there is none.
const char* side_passed(const std::vector<Shape>& shapes, const Extent& extent, double deep, const DomainParams& domain)
{
    const int dimension = static_cast<int>(domain.size.size());
    const WallsParams& w = domain.walls;
    const WallKind kinds[3][2] = {{w.left, w.right}, {w.bottom, w.top}, {w.back, w.front}};
    const char* const names[3][2] = {{"left", "right"}, {"bottom", "top"}, {"back", "front"}};
    for (int a = 0; a < dimension; ++a)
        for (int side = 0; side < 2; ++side) {
            const auto within = [&](Vec3 x) { return side ? domain.size[static_cast<size_t>(a)] - x[a] : x[a]; };
            const auto passed = [&](Vec3 x) { return std::max(distance(shapes, x), deep + within(x)); };
            if (kinds[a][side] != WallKind::open && falls_below_zero(passed, extent, 0.1 * deep, dimension)) return names[a][side];
        }
    return nullptr;
}

// A ball's, or a disc's, which are known.
void weigh_ball(RigidBody& body, const SolidParams& p, const Shape& ball, int dimension, double& volume)
{
    const double r = ball.scale * ball.r;
    volume = dimension == 2 ? std::numbers::pi * r * r : 4.0 / 3 * std::numbers::pi * r * r * r;
    body.mass = p.mass ? *p.mass : *p.density * volume;
    body.centre = body.position = ball.pose.apply(ball.scale * ball.a);
    body.radius = r;
    for (int a = 0; a < 3; ++a)
        body.inertia.rows[a][a] = (dimension == 3 ? 0.4 : a == 2 ? 0.5 : 0.25) * body.mass * r * r;
}

// The mass of a body from its volume, and its moments.
void weigh(RigidBody& body, const SolidParams& p, const std::vector<Shape>& shapes, const Extent& extent, int dimension,
           double& volume)
{
    if (shapes.size() == 1 && shapes[0].kind == ShapeKind::sphere) return weigh_ball(body, p, shapes[0], dimension, volume);
    volume = 0;
    // From the middle of the extent, and then from the centre of mass: it is the asking for distances that takes time.
    const Vec3 middle = 0.5 * (extent.lo + extent.hi);
    Vec3 first, second[3];  // sums of r and of r r^T
    std::vector<Vec3> on_surface;
    const auto add = [&](Vec3 x, double v, bool whole) {
        const Vec3 r = x - middle;
        volume += v;
        first += v * r;
        for (int a = 0; a < 3; ++a) second[a] += (v * r[a]) * r;
        if (!whole) on_surface.push_back(r);
    };
    for_each_part(shapes, extent, dimension, add);
    body.mass = p.mass ? *p.mass : *p.density * volume;
    const Vec3 centre = (1 / volume) * first;
    body.centre = body.position = middle + centre;
    const double density = body.mass / volume;
    double trace = 0;
    for (int a = 0; a < 3; ++a) {
        second[a] -= (volume * centre[a]) * centre;
        trace += second[a][a];
    }
    for (int a = 0; a < 3; ++a) {
        body.inertia.rows[a] = -density * second[a];
        body.inertia.rows[a][a] += density * trace;
    }
    for (const Vec3 r : on_surface) body.radius = std::max(body.radius, length(r - centre));
}

}  // namespace

int last_entry(const Params& params, int first)
{
    const int count = static_cast<int>(params.solid.size());
    while (first + 1 < count && params.solid[static_cast<size_t>(first + 1)].subtract) ++first;
    return first;
}

std::vector<RigidBody> make_bodies(const Params& params, Geometry& solids, const std::string& file)
{
    std::vector<RigidBody> bodies;
    const bool any = std::any_of(params.solid.begin(), params.solid.end(),
                                 [](const SolidParams& s) { return s.motion == SolidMotion::body; });
    if (!any) return bodies;
    const int dimension = params.dimension();
    const double h = cell_size(params.domain);
    const std::vector<Shape> all = solids.at(0);
    // What stands apart: every solid with what is cut from it.
    std::vector<std::vector<Shape>> groups;
    std::vector<int> firsts;
    for (int i = 0; i < static_cast<int>(all.size()); i = last_entry(params, i) + 1) {
        groups.push_back({all.begin() + i, all.begin() + last_entry(params, i) + 1});
        firsts.push_back(i);
    }
    for (size_t g = 0; g < groups.size(); ++g) {
        const SolidParams& p = params.solid[static_cast<size_t>(firsts[g])];
        if (p.motion != SolidMotion::body) continue;
        const auto fail = [&](const std::string& text) {
            throw InputError(file + ":" + std::to_string(p.line) + ": solid: " + text);
        };
        if (bodies.size() == most_bodies) fail("a scene takes at most " + std::to_string(most_bodies) + " bodies");
        Vec3 size;
        for (int a = 0; a < dimension; ++a) size[a] = params.domain.size[static_cast<size_t>(a)];
        Vec3 half = 1.5 * size;
        if (dimension == 2) half[2] = 0;
        Extent extent;
        find_extent(extent, groups[g], 0.5 * size, half, 0.25 * h, dimension);
        bool inside = !extent.empty();
        for (int a = 0; inside && a < dimension; ++a) inside = extent.lo[a] < size[a] && extent.hi[a] > 0;
        if (!inside) fail("the body lies outside the domain; move it, or change domain.size");
        if (const char* const side = side_passed(groups[g], extent, 0.5 * h, params.domain))
            fail(std::string("the body reaches through the domain's ") + side + " side, which is closed; move it in, or open the side");

        RigidBody body;
        double volume = 0;
        weigh(body, p, groups[g], extent, dimension, volume);
        const double heaviest = params.fluid.density.largest(params.time.time_of(params.time.frames));
        if (body.mass < least_density * heaviest * volume)
            fail("a body of " + number_text(std::round(body.mass / volume * 1e4) / 1e4) + " kg/m³ is lighter than " +
                 number_text(least_density) + " of the water, which the pressure is not solved well with; make it " +
                 number_text(least_density * heaviest) + " kg/m³ at least");
        for (size_t other = 0; other < groups.size(); ++other)
            if (other != g && overlap(groups[g], groups[other], extent, 0.5 * h, dimension))
                fail("the body overlaps the solid of line " +
                     std::to_string(params.solid[static_cast<size_t>(firsts[other])].line) + "; move them apart");
        body.first = firsts[g];
        body.last = last_entry(params, body.first);
        body.name = p.name.empty() ? "body" + std::to_string(bodies.size() + 1) : p.name;
        body.velocity = p.velocity;
        body.spin = p.spin.at(0);
        body.friction = p.friction;
        body.restitution = p.restitution;
        solids.make_body(static_cast<size_t>(body.first), static_cast<size_t>(body.last), body.centre);
        bodies.push_back(std::move(body));
    }
    std::vector<RigidPose> poses;
    for (const RigidBody& b : bodies) poses.push_back({b.position, b.rotation});
    solids.tracks().tell(0, std::move(poses));
    return bodies;
}

}  // namespace tarn
