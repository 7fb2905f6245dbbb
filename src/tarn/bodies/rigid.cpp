#include "tarn/bodies/rigid.h"

namespace tarn {

Matrix3 Matrix3::inverse() const
{
    const Vec3 a = cross(rows[1], rows[2]), b = cross(rows[2], rows[0]), c = cross(rows[0], rows[1]);
    const double one_over = 1 / dot(rows[0], a);
    // Symmetric, as the matrix is.
    return {{one_over * a, one_over * b, one_over * c}};
}

Matrix3 RigidBody::inertia_now() const
{
    // R I R^T, by what it does to the axes.
    Matrix3 now;
    for (int a = 0; a < 3; ++a)
        now.rows[a] = rotation.rotate(inertia * rotation.inverse().rotate(Vec3::unit(a)));
    return now;
}

void move(RigidBody& body, double dt, const FrameTurn& frame)
{
    body.position += dt * body.velocity;
    const bool turns = !(frame.before == Vec3{} && frame.after == Vec3{});
    if (body.spin == Vec3{} && !turns) return;
    const Vec3 momentum = body.inertia_now() * (body.spin + frame.before);
    body.rotation = (rotation_by(dt * body.spin) * body.rotation).normalised();
    body.spin = body.inertia_now().inverse() * (turns ? frame.back.rotate(momentum) : momentum) - frame.after;
}

void push(RigidBody& body, Vec3 force, Vec3 torque, double dt, int dimension)
{
    body.velocity += (dt / body.mass) * force;
    const Vec3 change = body.inertia_now().inverse() * (dt * torque);
    for (int a = dimension == 2 ? 2 : 0; a < 3; ++a) body.spin[a] += change[a];
}

std::vector<double> numbers_of(const std::vector<RigidBody>& bodies)
{
    std::vector<double> numbers;
    for (const RigidBody& b : bodies) {
        numbers.push_back(b.rotation.w);
        for (const Vec3& v : {b.rotation.v, b.position, b.velocity, b.spin, b.force, b.torque, b.push, b.twist})
            for (int a = 0; a < 3; ++a) numbers.push_back(v[a]);
    }
    return numbers;
}

void set_numbers(std::vector<RigidBody>& bodies, const std::vector<double>& numbers)
{
    const double* next = numbers.data();
    for (RigidBody& b : bodies) {
        b.rotation.w = *next++;
        for (Vec3* v : {&b.rotation.v, &b.position, &b.velocity, &b.spin, &b.force, &b.torque, &b.push, &b.twist})
            for (int a = 0; a < 3; ++a) (*v)[a] = *next++;
    }
}

}  // namespace tarn
