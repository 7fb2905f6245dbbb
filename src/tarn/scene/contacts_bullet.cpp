// Contacts by Bullet. Poses and velocities stay Tarn's own, in double: every call builds a small world of them from nothing and
// keeps nothing, so that a resumed run, or one on other threads, makes the same contacts. Bullet solves on one thread, in the
// order in which bodies and solids stand in the scene.
//
// Boxes, spheres, cylinders, cones and planes are themselves. Whatever else a body or solid is made of stands as the hull of its
// outermost points, and terrain as its triangles.

#include "tarn/scene/contacts.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include <btBulletDynamicsCommon.h>

#include "tarn/scene/frame.h"
#include "tarn/scene/make_bodies.h"

namespace tarn {

namespace {

btVector3 to_bullet(Vec3 v) { return {btScalar(v[0]), btScalar(v[1]), btScalar(v[2])}; }
Vec3 from_bullet(const btVector3& v) { return {double(v.x()), double(v.y()), double(v.z())}; }

btTransform transform_of(const Pose& pose, Vec3 origin)
{
    btMatrix3x3 m;
    for (int a = 0; a < 3; ++a) m[a] = to_bullet(pose.rows[a]);
    return btTransform(m, to_bullet(pose.apply(origin)));
}

// A rotation that takes y to the axis.
btQuaternion from_y_to(Vec3 axis) { return shortestArcQuat(btVector3(0, 1, 0), to_bullet(axis)); }

// The world, and all that it looks at.
class World {
public:
    World(const Scene& scene, double t, double dt, double film) : scene_(scene), shapes_(scene.solids.at(t)), dimension_(scene.params.dimension())
    {
        for (int a = 0; a < dimension_; ++a) size_[a] = scene.params.domain.size[static_cast<size_t>(a)];
        if (dimension_ == 2) size_[2] = std::max(size_[0], size_[1]);
        config_.setConvexConvexMultipointIterations(3, 3);
        config_.setPlaneConvexMultipointIterations(3, 3);
        world_.setGravity({0, 0, 0});
        btContactSolverInfo& info = world_.getSolverInfo();
        info.m_solverMode = SOLVER_SIMD;
        info.m_numIterations = 50;
        info.m_splitImpulse = 0;
        // A body that rests meets what carries it with what gravity gave it within a step: that is no impact.
        info.m_restitutionVelocityThreshold = btScalar(0.02 + 2 * dt * (length(scene.params.domain.gravity.at(t)) + strongest_in_frame(scene.params, t, 0)));
        info.m_erp = info.m_erp2 = btScalar(0.05);
        add_sides(film);
        add_solids();
    }
    ~World()
    {
        for (const auto& body : bodies_) world_.removeRigidBody(body.get());
    }

    btRigidBody& add(const RigidBody& b)
    {
        btMatrix3x3 turn(btQuaternion(btScalar(b.rotation.v[0]), btScalar(b.rotation.v[1]), btScalar(b.rotation.v[2]),
                                      btScalar(b.rotation.w)));
        // Bullet's inertia is along the body's own axes: the frame turns into the principal ones.
        btMatrix3x3 inertia, axes;
        for (int a = 0; a < 3; ++a) inertia[a] = to_bullet(b.inertia.rows[a]);
        inertia.diagonalize(axes, btScalar(1e-6), 50);
        const btTransform frame(turn * axes, to_bullet(b.position));
        auto compound = std::make_unique<btCompoundShape>();
        add_shapes(*compound, b.first, b.last, frame.inverse(), b.position, b.radius);
        const btVector3 principal(inertia[0][0], inertia[1][1], inertia[2][2]);
        btRigidBody& body = insert(std::move(compound), frame, btScalar(b.mass), principal, b.friction, b.restitution);
        body.setActivationState(DISABLE_DEACTIVATION);
        body.setLinearVelocity(to_bullet(b.velocity));
        body.setAngularVelocity(to_bullet(b.spin));
        if (dimension_ == 2) {
            body.setLinearFactor({1, 1, 0});
            body.setAngularFactor(btVector3(0, 0, 1));
        }
        return body;
    }
    void step(double dt, int parts) { world_.stepSimulation(btScalar(dt), parts, btScalar(dt / parts)); }

private:
    const Scene& scene_;
    std::vector<Shape> shapes_;
    int dimension_;
    Vec3 size_;
    std::vector<std::unique_ptr<btCollisionShape>> kept_;
    std::vector<std::unique_ptr<btTriangleMesh>> meshes_;
    std::vector<std::unique_ptr<btRigidBody>> bodies_;
    btDefaultCollisionConfiguration config_;
    btCollisionDispatcher dispatcher_{&config_};
    btDbvtBroadphase broadphase_;
    btSequentialImpulseConstraintSolver solver_;
    btDiscreteDynamicsWorld world_{&dispatcher_, &broadphase_, &solver_, &config_};

    btRigidBody& insert(std::unique_ptr<btCollisionShape> shape, const btTransform& frame, btScalar mass,
                        const btVector3& inertia, double friction, double restitution)
    {
        btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shape.get(), inertia);
        info.m_startWorldTransform = frame;
        // Bullet multiplies those of a pair: the roots make the pair's friction the mean of equals.
        info.m_friction = btScalar(std::sqrt(friction));
        info.m_restitution = btScalar(std::sqrt(restitution));
        bodies_.push_back(std::make_unique<btRigidBody>(info));
        kept_.push_back(std::move(shape));
        world_.addRigidBody(bodies_.back().get());
        return *bodies_.back();
    }

    void add_sides(double film)
    {
        const WallsParams& w = scene_.params.domain.walls;
        const WallKind kinds[3][2] = {{w.left, w.right}, {w.bottom, w.top}, {w.back, w.front}};
        for (int a = 0; a < dimension_; ++a)
            for (int side = 0; side < 2; ++side) {
                if (kinds[a][side] == WallKind::open) continue;
                const Vec3 normal = (side ? -1.0 : 1.0) * Vec3::unit(a);
                insert(std::make_unique<btStaticPlaneShape>(to_bullet(normal), btScalar(side ? film - size_[a] : film)),
                       btTransform::getIdentity(), 0, {0, 0, 0}, 0.5, 0.2);
            }
    }

    void add_solids()
    {
        const Params& p = scene_.params;
        for (int i = 0; i < static_cast<int>(shapes_.size()); i = last_entry(p, i) + 1) {
            const SolidParams& solid = p.solid[static_cast<size_t>(i)];
            if (solid.motion == SolidMotion::body) continue;
            const Shape& shape = shapes_[static_cast<size_t>(i)];
            if (shape.kind == ShapeKind::terrain) {
                insert(ground(i), btTransform::getIdentity(), 0, {0, 0, 0}, solid.friction, solid.restitution);
                continue;
            }
            if (shape.kind == ShapeKind::plane) {
                const Vec3 normal = shape.pose.apply(shape.b) - shape.pose.translation;
                const Vec3 point = shape.pose.apply(shape.scale * shape.a);
                insert(std::make_unique<btStaticPlaneShape>(to_bullet(normal), btScalar(dot(normal, point))),
                       btTransform::getIdentity(), 0, {0, 0, 0}, solid.friction, solid.restitution);
                continue;
            }
            auto compound = std::make_unique<btCompoundShape>();
            add_shapes(*compound, i, last_entry(p, i), btTransform::getIdentity(), 0.5 * size_, length(size_));
            insert(std::move(compound), btTransform::getIdentity(), 0, {0, 0, 0}, solid.friction, solid.restitution);
        }
    }

    // The shapes of some entries, seen from a frame; `middle` and `reach` tell where to look for what has no shape of Bullet's.
    void add_shapes(btCompoundShape& to, int first, int last, const btTransform& from_world, Vec3 middle, double reach)
    {
        const Shape& s = shapes_[static_cast<size_t>(first)];
        std::unique_ptr<btCollisionShape> made;
        btTransform at = transform_of(s.pose, s.scale * s.a);
        const btScalar r = btScalar(s.scale * s.r), half = btScalar(0.5 * s.scale * s.s);
        if (first != last) {
            made = hull(first, last, from_world, middle, reach);
        } else if (s.kind == ShapeKind::box) {
            Vec3 lo = s.a, hi = s.b;
            if (dimension_ == 2) lo[2] = -size_[2] / s.scale, hi[2] = size_[2] / s.scale;
            made = std::make_unique<btBoxShape>(to_bullet(0.5 * s.scale * (hi - lo)));
            at = transform_of(s.pose, 0.5 * s.scale * (lo + hi));
        } else if (s.kind == ShapeKind::sphere) {
            made = std::make_unique<btSphereShape>(r);
        } else if (s.kind == ShapeKind::cylinder) {
            made = std::make_unique<btCylinderShape>(btVector3(r, half, r));
            at = at * btTransform(from_y_to(s.axis));
        } else if (s.kind == ShapeKind::cone) {
            made = std::make_unique<btConeShape>(r, 2 * half);
            at = at * btTransform(from_y_to(s.axis)) * btTransform(btQuaternion::getIdentity(), {0, half, 0});
        } else {
            made = hull(first, last, from_world, middle, reach);
        }
        const bool is_hull = made->getShapeType() == CONVEX_HULL_SHAPE_PROXYTYPE;
        to.addChildShape(is_hull ? btTransform::getIdentity() : from_world * at, made.get());
        kept_.push_back(std::move(made));
    }

    // The points that rays from all around, towards the middle, meet first.
    std::unique_ptr<btCollisionShape> hull(int first, int last, const btTransform& from_world, Vec3 middle, double reach)
    {
        const std::vector<Shape> own(shapes_.begin() + first, shapes_.begin() + last + 1);
        auto made = std::make_unique<btConvexHullShape>();
        constexpr int rays = 192;
        for (int n = 0; n < rays; ++n) {
            const double y = dimension_ == 2 ? 0 : 1 - (2 * n + 1.0) / rays, ring = std::sqrt(1 - y * y);
            const double turn = dimension_ == 2 ? 2 * std::numbers::pi * n / rays : 2.399963229728653 * n;
            const Vec3 away = dimension_ == 2 ? Vec3{std::cos(turn), std::sin(turn), 0}
                                              : Vec3{ring * std::cos(turn), y, ring * std::sin(turn)};
            double far = 1.01 * reach;
            for (int i = 0; i < 200 && far > 0; ++i) {
                const double d = distance(own, middle + far * away);
                if (d < 1e-4 * reach) break;
                far -= d;
            }
            if (!(far > 0)) continue;
            for (const double z : {-1.0, 1.0}) {
                Vec3 x = middle + far * away;
                if (dimension_ == 2) x[2] = z * size_[2];
                made->addPoint(from_world * to_bullet(x), false);
                if (dimension_ == 3) break;
            }
        }
        made->recalcLocalAabb();
        return made;
    }

    // The height of a terrain over a net of points, as triangles.
    std::unique_ptr<btCollisionShape> ground(int entry)
    {
        const Shape& s = shapes_[static_cast<size_t>(entry)];
        constexpr int along = 64;
        const int deep = dimension_ == 2 ? 1 : along;
        auto mesh = std::make_unique<btTriangleMesh>();
        const auto point = [&](int i, int k) {
            Vec3 x{size_[0] * i / along, size_[1], dimension_ == 2 ? 0 : size_[2] * k / deep};
            for (int n = 0; n < 200 && x[1] > -size_[1]; ++n) {
                const double d = distance(s, x);
                if (d < 1e-4 * size_[1]) break;
                x[1] -= d;
            }
            if (dimension_ == 2) x[2] = k == 0 ? -size_[2] : size_[2];
            return to_bullet(x);
        };
        for (int k = 0; k < deep; ++k)
            for (int i = 0; i < along; ++i) {
                mesh->addTriangle(point(i, k), point(i, k + 1), point(i + 1, k));
                mesh->addTriangle(point(i + 1, k), point(i, k + 1), point(i + 1, k + 1));
            }
        auto made = std::make_unique<btBvhTriangleMeshShape>(mesh.get(), true);
        meshes_.push_back(std::move(mesh));
        return made;
    }
};

}  // namespace

bool contacts_available() { return true; }

void resolve_contacts(std::vector<RigidBody>& bodies, const Scene& scene, double t, double dt, double film)
{
    World world(scene, t, dt, film);
    std::vector<btRigidBody*> inside;
    double fastest = 0, smallest = HUGE_VAL;
    for (const RigidBody& b : bodies) {
        inside.push_back(&world.add(b));
        fastest = std::max(fastest, b.fastest());
        smallest = std::min(smallest, b.radius);
    }
    // No body goes farther than a tenth of its radius between two looks.
    const int parts = std::clamp(static_cast<int>(std::ceil(10 * fastest * dt / smallest)), 1, 32);
    std::vector<Vec3> velocity, spin;
    for (const btRigidBody* body : inside) {
        velocity.push_back(from_bullet(body->getLinearVelocity()));
        spin.push_back(from_bullet(body->getAngularVelocity()));
    }
    world.step(dt, parts);
    for (size_t n = 0; n < bodies.size(); ++n) {
        // What Bullet changed is added to what it was given in double: a body that touches nothing keeps every bit.
        RigidBody& b = bodies[n];
        const Vec3 more = from_bullet(inside[n]->getLinearVelocity()) - velocity[n];
        const Vec3 turn = from_bullet(inside[n]->getAngularVelocity()) - spin[n];
        b.velocity += more;
        b.spin += turn;
    }
}

}  // namespace tarn
