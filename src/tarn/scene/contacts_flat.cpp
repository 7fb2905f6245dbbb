// Contacts in two dimensions with the standard library alone, for programs without Bullet: points of each body's contour against the
// signed distances of what is around. A point that would pass within dt is held at the surface by an impulse along the normal, with
// Coulomb friction and Newton's restitution; impulses are found one after the other, again and again (projected Gauss-Seidel).
//
// Limits: a body is seen from its centre of mass, so that what its contour hides from there touches nothing.

#include "tarn/scene/contacts.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "tarn/scene/frame.h"
#include "tarn/scene/make_bodies.h"

namespace tarn {

namespace {

constexpr int contour_points = 48;
constexpr int rounds = 30;
// What is too deep comes out by this part a step, as in the contacts by Bullet.
constexpr double out_at_once = 0.05;
// Of the domain's sides, likewise.
constexpr double side_friction = 0.5, side_restitution = 0.2;

struct Contact {
    RigidBody *a, *b;  // b: null where it is a solid or a side
    Vec3 from_a, from_b, normal;  // from the centres of mass; towards a
    double friction, least;       // what the speed along the normal may not fall short of
    double push = 0, rub = 0;     // impulses so far
};

Vec3 velocity_at(const RigidBody& body, Vec3 from) { return body.velocity + cross(body.spin, from); }

void kick(RigidBody& body, Vec3 from, Vec3 impulse)
{
    body.velocity += (1 / body.mass) * impulse;
    body.spin[2] += cross(from, impulse)[2] / body.inertia.rows[2][2];
}

// How much the relative speed along a direction changes by an impulse of 1.
double response(const Contact& c, Vec3 direction)
{
    const auto of = [&](const RigidBody& body, Vec3 from) {
        const double arm = cross(from, direction)[2];
        return 1 / body.mass + arm * arm / body.inertia.rows[2][2];
    };
    return of(*c.a, c.from_a) + (c.b ? of(*c.b, c.from_b) : 0);
}

Vec3 relative_velocity(const Contact& c)
{
    return velocity_at(*c.a, c.from_a) - (c.b ? velocity_at(*c.b, c.from_b) : Vec3{});
}

void act(Contact& c, Vec3 impulse)
{
    kick(*c.a, c.from_a, impulse);
    if (c.b) kick(*c.b, c.from_b, -impulse);
}

void solve(Contact& c)
{
    const double short_of = c.least - dot(relative_velocity(c), c.normal);
    const double push = std::max(0.0, c.push + short_of / response(c, c.normal));
    act(c, (push - c.push) * c.normal);
    c.push = push;
    const Vec3 along{-c.normal[1], c.normal[0], 0};
    const double most = c.friction * c.push;
    const double rub = std::clamp(c.rub - dot(relative_velocity(c), along) / response(c, along), -most, most);
    act(c, (rub - c.rub) * along);
    c.rub = rub;
}

// What a body meets: a distance, and how it rubs and throws back.
struct Obstacle {
    std::function<double(Vec3)> distance;
    RigidBody* body;
    double friction, restitution;
};

class Search {
public:
    Search(const Scene& scene, double t, double dt) : scene_(scene), shapes_(scene.solids.at(t)), dt_(dt)
    {
        // A body that rests meets what carries it with what gravity gave it within a step: that is no impact.
        rests_ = 0.02 + 2 * dt * (length(scene.params.domain.gravity.at(t)) + strongest_in_frame(scene.params, t, 0));
    }

    std::vector<Shape> shapes_of(int first, int last) const { return {shapes_.begin() + first, shapes_.begin() + last + 1}; }

    // Everything but bodies, with what is cut out of it.
    std::vector<Shape> still() const
    {
        std::vector<Shape> all;
        for (size_t i = 0; i < shapes_.size(); ++i)
            if (scene_.solids.body_of(i) < 0) all.push_back(shapes_[i]);
        return all;
    }

    // The points that rays towards the centre of mass meet first.
    std::vector<Vec3> contour(const RigidBody& body) const
    {
        const std::vector<Shape> own = shapes_of(body.first, body.last);
        std::vector<Vec3> points;
        for (int n = 0; n < contour_points; ++n) {
            const double turn = 2 * std::numbers::pi * n / contour_points;
            const Vec3 away{std::cos(turn), std::sin(turn), 0};
            double far = 1.01 * body.radius;
            for (int i = 0; i < 200 && far > 0; ++i) {
                const double d = distance(own, body.position + far * away);
                if (d < 1e-4 * body.radius) break;
                far -= d;
            }
            if (far > 0) points.push_back(body.position + far * away);
        }
        return points;
    }

    // What is farther apart than all could go, once they have pushed each other, does not meet.
    void find(RigidBody& body, const std::vector<Vec3>& contour, const Obstacle& obstacle, double fastest)
    {
        const double reach = 2 * dt_ * fastest + 1e-3 * body.radius;
        if (obstacle.distance(body.position) > body.radius + reach) return;
        // Of a disc the nearest point is known, whichever way it turns.
        const Shape& first = shapes_[static_cast<size_t>(body.first)];
        if (body.first == body.last && first.kind == ShapeKind::sphere)
            add(body, body.position - first.scale * first.r * normal_at(obstacle, body.position, body.radius), obstacle, reach);
        for (const Vec3& x : contour) add(body, x, obstacle, reach);
    }

    std::vector<Contact> contacts;

private:
    Vec3 normal_at(const Obstacle& obstacle, Vec3 x, double size) const
    {
        const double e = 1e-4 * size;
        Vec3 n;
        for (int a = 0; a < 2; ++a) n[a] = obstacle.distance(x + e * Vec3::unit(a)) - obstacle.distance(x - e * Vec3::unit(a));
        const double steep = length(n);
        return steep > 0 ? (1 / steep) * n : Vec3{0, 1, 0};
    }

    void add(RigidBody& body, Vec3 x, const Obstacle& obstacle, double reach)
    {
        const double gap = obstacle.distance(x);
        if (gap > reach) return;
        Contact c{&body, obstacle.body, x - body.position, {}, normal_at(obstacle, x, body.radius), obstacle.friction, 0};
        if (c.b) c.from_b = x - c.b->position;
        const double speed = dot(relative_velocity(c), c.normal);
        c.least = gap > 0 ? -gap / dt_ : -out_at_once * gap / dt_;
        if (speed < -rests_ && gap + speed * dt_ < 0) c.least = std::max(c.least, -obstacle.restitution * speed);
        contacts.push_back(c);
    }

    const Scene& scene_;
    std::vector<Shape> shapes_;
    double dt_, rests_;
};

// The domain's closed sides, and the solids that are no bodies, which rub and throw back as the first of them does.
std::vector<Obstacle> obstacles(const Scene& scene, const std::vector<Shape>& still, double film)
{
    const DomainParams& domain = scene.params.domain;
    const WallKind kinds[2][2] = {{domain.walls.left, domain.walls.right}, {domain.walls.bottom, domain.walls.top}};
    std::vector<Obstacle> all;
    for (int a = 0; a < 2; ++a)
        for (int side = 0; side < 2; ++side) {
            if (kinds[a][side] == WallKind::open) continue;
            const double size = domain.size[static_cast<size_t>(a)];
            all.push_back({[=](Vec3 x) { return (side ? size - x[a] : x[a]) - film; }, nullptr, side_friction, side_restitution});
        }
    for (size_t i = 0; i < scene.params.solid.size(); ++i) {
        const SolidParams& solid = scene.params.solid[i];
        if (solid.subtract || scene.solids.body_of(i) >= 0) continue;
        all.push_back({[=](Vec3 x) { return distance(still, x); }, nullptr, solid.friction, solid.restitution});
        break;
    }
    return all;
}

}  // namespace

void resolve_flat_contacts(std::vector<RigidBody>& bodies, const Scene& scene, double t, double dt, double film)
{
    Search search(scene, t, dt);
    const std::vector<Obstacle> around = obstacles(scene, search.still(), film);
    std::vector<std::vector<Shape>> shapes;
    double fastest = 0;
    for (const RigidBody& body : bodies) {
        shapes.push_back(search.shapes_of(body.first, body.last));
        fastest = std::max(fastest, body.fastest());
    }
    for (size_t n = 0; n < bodies.size(); ++n) {
        const std::vector<Vec3> contour = search.contour(bodies[n]);
        for (const Obstacle& obstacle : around) search.find(bodies[n], contour, obstacle, fastest);
        for (size_t m = 0; m < bodies.size(); ++m) {
            if (m == n) continue;
            const Obstacle other{[&](Vec3 x) { return distance(shapes[m], x); }, &bodies[m],
                                 std::sqrt(bodies[n].friction * bodies[m].friction), std::sqrt(bodies[n].restitution * bodies[m].restitution)};
            search.find(bodies[n], contour, other, fastest);
        }
    }
    for (int n = 0; n < rounds; ++n)
        for (Contact& contact : search.contacts) solve(contact);
}

}  // namespace tarn
