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

// A box around a shape: boxes that its distance does not rule out are divided down to `resolution`.
void find_extent(Extent& extent, const std::vector<Shape>& shapes, Vec3 centre, Vec3 half, double resolution, int dimension)
{
    const double d = distance(shapes, centre), corner = length(half);
    if (d > corner) return;
    if (d < -corner || corner < resolution) return extent.add(centre, half);
    int longest = 0;
    for (int a = 1; a < dimension; ++a)
        if (half[a] > half[longest]) longest = a;
    half[longest] *= 0.5;
    Vec3 shift;
    shift[longest] = half[longest];
    find_extent(extent, shapes, centre - shift, half, resolution, dimension);
    find_extent(extent, shapes, centre + shift, half, resolution, dimension);
}

// Calls f(x, volume) for small cells that fill a shape, those on its surface by their part inside.
template <class F>
void for_each_part(const std::vector<Shape>& shapes, const Extent& extent, int dimension, const F& f)
{
    const int along = dimension == 2 ? 512 : 64;
    double side = 0;
    for (int a = 0; a < dimension; ++a) side = std::max(side, (extent.hi[a] - extent.lo[a]) / along);
    int n[3] = {1, 1, 1};
    for (int a = 0; a < dimension; ++a) n[a] = static_cast<int>(std::ceil((extent.hi[a] - extent.lo[a]) / side));
    for (int k = 0; k < n[2]; ++k)
        for (int j = 0; j < n[1]; ++j)
            for (int i = 0; i < n[0]; ++i) {
                Vec3 x = extent.lo + side * Vec3{i + 0.5, j + 0.5, k + 0.5};
                if (dimension == 2) x[2] = 0;
                const double part = std::clamp(0.5 - distance(shapes, x) / side, 0.0, 1.0);
                if (part > 0) f(x, part * std::pow(side, dimension));
            }
}

// Whether two shapes share a place within a box that is deep inside of both. Boxes in which neither distance can be low enough are left
// out, the others divided down to `resolution`.
bool overlap(const std::vector<Shape>& a, const std::vector<Shape>& b, Vec3 centre, Vec3 half, double deep, double resolution,
             int dimension)
{
    const double d = std::max(distance(a, centre), distance(b, centre)), corner = length(half);
    if (d < -deep) return true;
    if (d > corner - deep || corner < resolution) return false;
    int longest = 0;
    for (int i = 1; i < dimension; ++i)
        if (half[i] > half[longest]) longest = i;
    half[longest] *= 0.5;
    Vec3 shift;
    shift[longest] = half[longest];
    return overlap(a, b, centre - shift, half, deep, resolution, dimension) ||
           overlap(a, b, centre + shift, half, deep, resolution, dimension);
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
    Vec3 first;
    for_each_part(shapes, extent, dimension, [&](Vec3 x, double v) {
        volume += v;
        first += v * x;
    });
    body.mass = p.mass ? *p.mass : *p.density * volume;
    body.centre = body.position = (1 / volume) * first;
    const double density = body.mass / volume;
    for_each_part(shapes, extent, dimension, [&](Vec3 x, double v) {
        const Vec3 r = x - body.centre;
        body.radius = std::max(body.radius, length(r));
        for (int a = 0; a < 3; ++a) {
            body.inertia.rows[a] -= (density * v * r[a]) * r;
            body.inertia.rows[a][a] += density * v * dot(r, r);
        }
    });
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

        RigidBody body;
        double volume = 0;
        weigh(body, p, groups[g], extent, dimension, volume);
        const double heaviest = params.fluid.density.largest(params.time.time_of(params.time.frames));
        if (body.mass < least_density * heaviest * volume)
            fail("a body of " + number_text(std::round(body.mass / volume * 1e4) / 1e4) + " kg/m³ is lighter than " +
                 number_text(least_density) + " of the water, which the pressure is not solved well with; make it " +
                 number_text(least_density * heaviest) + " kg/m³ at least");
        const Vec3 middle = 0.5 * (extent.lo + extent.hi), reach = extent.hi - middle;
        for (size_t other = 0; other < groups.size(); ++other)
            if (other != g && overlap(groups[g], groups[other], middle, reach, 0.5 * h, 0.125 * h, dimension))
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
