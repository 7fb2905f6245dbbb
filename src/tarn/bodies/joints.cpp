#include "tarn/bodies/joints.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tarn {

namespace {

constexpr int most_rows = 5;

// Where a partner of a joint is, and how it answers.
struct Partner {
    Vec3 position;
    Quaternion rotation;
    RigidBody* body = nullptr;  // none: the domain
    Matrix3 inverse{};          // of its inertia

    // Where its velocity takes it.
    Partner after(double dt) const
    {
        Partner p = *this;
        if (!body) return p;
        p.position += dt * body->velocity;
        p.rotation = (rotation_by(dt * body->spin) * rotation).normalised();
        return p;
    }
};

Partner partner_of(std::vector<RigidBody>& bodies, int n, int dimension)
{
    Partner p;
    if (n < 0) return p;
    RigidBody& b = bodies[static_cast<size_t>(n)];
    p = {b.position, b.rotation, &b, {}};
    if (dimension == 3)
        p.inverse = b.inertia_now().inverse();
    else
        p.inverse.rows[2] = {0, 0, 1 / b.inertia.rows[2][2]};
    return p;
}

// A row of J: what the first partner's velocity and spin count with; the second's count with the opposite and `turn_second`.
struct Row {
    Vec3 along, turn, turn_second;
};

struct System {
    int count = 0;
    Row rows[most_rows];
    double error[most_rows];

    void add(Row row, double c)
    {
        rows[count] = row;
        error[count++] = c;
    }
};

// Two directions across an axis; in the plane the first of them lies in it.
void across(Vec3 axis, int dimension, Vec3& a, Vec3& b)
{
    if (dimension == 2) {
        a = {-axis[1], axis[0], 0};
        b = {0, 0, 1};
        return;
    }
    int least = 0;
    for (int n = 1; n < 3; ++n)
        if (std::fabs(axis[n]) < std::fabs(axis[least])) least = n;
    a = cross(axis, Vec3::unit(least));
    a = (1 / length(a)) * a;
    b = cross(axis, a);
}

// J where the partners are, C where they will be.
System system_of(const Joint& j, const Partner& p, const Partner& q, double dt, int dimension)
{
    const Partner p1 = p.after(dt), q1 = q.after(dt);
    const auto point = [](const Partner& at, Vec3 arm) { return at.position + at.rotation.rotate(arm); };
    const Vec3 r = p.rotation.rotate(j.at_first), s = point(p, j.at_first) - q.position;
    const Vec3 gap = point(p1, j.at_first) - point(q1, j.at_second);
    System system;
    Vec3 a, b;
    if (j.kind == JointKind::hinge) {
        for (int n = 0; n < dimension; ++n) {
            const Vec3 e = Vec3::unit(n);
            system.add({e, cross(r, e), cross(s, e)}, gap[n]);
        }
        if (dimension == 2) return system;
        // The rotation that takes the one's axis to the other's.
        const Vec3 off = cross(q1.rotation.rotate(j.axis), p1.rotation.rotate(j.axis));
        across(q.rotation.rotate(j.axis), 3, a, b);
        for (const Vec3 e : {a, b}) system.add({{}, e, e}, dot(e, off));
        return system;
    }
    across(j.axis, dimension, a, b);
    for (const Vec3 e : {a, b}) {
        if (dimension == 2 && e[2] != 0) break;
        const Vec3 here = q.rotation.rotate(e);
        system.add({here, cross(r, here), cross(s, here)}, dot(q1.rotation.rotate(e), gap));
    }
    const Quaternion turned = p1.rotation * q1.rotation.inverse();
    for (int n = dimension == 2 ? 2 : 0; n < 3; ++n)
        system.add({{}, Vec3::unit(n), Vec3::unit(n)}, (turned.w < 0 ? -2.0 : 2.0) * turned.v[n]);
    return system;
}

double inverse_mass(const Partner& p) { return p.body ? 1 / p.body->mass : 0; }

// L of J M^-1 J^T L = -C / dt, by elimination with the largest pivots.
void solve(const System& s, const Partner& p, const Partner& q, double dt, double* impulse)
{
    double m[most_rows][most_rows + 1] = {};
    for (int i = 0; i < s.count; ++i) {
        for (int k = 0; k < s.count; ++k)
            m[i][k] = (inverse_mass(p) + inverse_mass(q)) * dot(s.rows[i].along, s.rows[k].along) +
                      dot(s.rows[i].turn, p.inverse * s.rows[k].turn) +
                      dot(s.rows[i].turn_second, q.inverse * s.rows[k].turn_second);
        m[i][s.count] = -s.error[i] / dt;
    }
    for (int i = 0; i < s.count; ++i) {
        int pivot = i;
        for (int k = i + 1; k < s.count; ++k)
            if (std::fabs(m[k][i]) > std::fabs(m[pivot][i])) pivot = k;
        std::swap(m[i], m[pivot]);
        for (int k = i + 1; k < s.count; ++k) {
            const double part = m[k][i] / m[i][i];
            for (int c = i; c <= s.count; ++c) m[k][c] -= part * m[i][c];
        }
    }
    for (int i = s.count - 1; i >= 0; --i) {
        double sum = m[i][s.count];
        for (int k = i + 1; k < s.count; ++k) sum -= m[i][k] * impulse[k];
        impulse[i] = sum / m[i][i];
    }
}

void apply(const System& s, const Partner& p, double sign, const double* impulse)
{
    if (!p.body) return;
    for (int i = 0; i < s.count; ++i) {
        p.body->velocity += (sign * impulse[i] / p.body->mass) * s.rows[i].along;
        p.body->spin += p.inverse * ((sign * impulse[i]) * (sign > 0 ? s.rows[i].turn : s.rows[i].turn_second));
    }
}

}  // namespace

void hold(std::vector<RigidBody>& bodies, const std::vector<Joint>& joints, double dt, int dimension)
{
    constexpr int most = 200;
    constexpr double close = 1e-12;  // m, rad
    for (int n = 0; n < most; ++n) {
        double worst = 0;
        for (const Joint& j : joints) {
            const Partner p = partner_of(bodies, j.first, dimension), q = partner_of(bodies, j.second, dimension);
            const System system = system_of(j, p, q, dt, dimension);
            double impulse[most_rows];
            solve(system, p, q, dt, impulse);
            apply(system, p, 1, impulse);
            apply(system, q, -1, impulse);
            for (int i = 0; i < system.count; ++i) worst = std::max(worst, std::fabs(system.error[i]));
        }
        if (worst < close) return;
    }
}

}  // namespace tarn
