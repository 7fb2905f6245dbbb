#include "tarn/play/balls.h"

#include <cmath>
#include <iterator>
#include <numbers>

namespace tarn {

namespace {

bool is_body(const SolidParams& solid) { return solid.motion == SolidMotion::body; }

}  // namespace

void put_bodies_last(std::vector<SolidParams>& solids)
{
    std::vector<SolidParams> others, bodies;
    bool body = false;
    for (SolidParams& solid : solids) {
        if (!solid.subtract) body = is_body(solid);
        (body ? bodies : others).push_back(std::move(solid));
    }
    std::move(bodies.begin(), bodies.end(), std::back_inserter(others));
    solids = std::move(others);
}

size_t first_body(const std::vector<SolidParams>& solids)
{
    size_t n = 0;
    while (n < solids.size() && !is_body(solids[n])) ++n;
    return n;
}

void place_bodies(std::vector<SolidParams>& solids, const std::vector<RigidBody>& bodies)
{
    for (const RigidBody& body : bodies) {
        const double turn = turned(body), c = std::cos(turn), s = std::sin(turn);
        for (int i = body.first; i <= body.last; ++i) {
            SolidParams& solid = solids[static_cast<size_t>(i)];
            const Vec3 from = solid.translate.at(0) - body.centre;
            solid.translate = body.position + Vec3{c * from[0] - s * from[1], s * from[0] + c * from[1], 0};
            solid.rotate = solid.rotate.at(0) + Vec3{0, 0, turn * 180 / std::numbers::pi};
            solid.velocity = body.velocity;
            solid.spin = body.spin;
        }
    }
}

double turned(const RigidBody& body) { return 2 * std::atan2(body.rotation.v[2], body.rotation.w); }

SolidParams ball(Vec<2> center, double radius, double density, Vec<2> velocity)
{
    SolidParams made;
    made.shape = ShapeKind::sphere;
    // About the origin, so that it turns in place.
    made.center = Vec3{};
    made.translate = lift<2>(center);
    made.radius = radius;
    made.motion = SolidMotion::body;
    made.density = density;
    made.velocity = lift<2>(velocity);
    made.restitution = 0.5;
    return made;
}

}  // namespace tarn
