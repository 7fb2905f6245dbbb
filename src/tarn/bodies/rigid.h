#pragma once
// Rigid bodies: their state and how it moves without the water. Everything is in double and in three dimensions; in two, z = 0
// and only the spin about z moves.

#include <string>
#include <vector>

#include "tarn/base/quaternion.h"

namespace tarn {

// A symmetric 3 x 3 matrix by its rows.
struct Matrix3 {
    Vec3 rows[3];

    Vec3 operator*(Vec3 x) const { return {dot(rows[0], x), dot(rows[1], x), dot(rows[2], x)}; }
    Matrix3 inverse() const;
};

struct RigidBody {
    // The state.
    Vec3 position;         // of the centre of mass, m
    Quaternion rotation;   // since the start
    Vec3 velocity, spin;   // m/s, rad/s
    Vec3 force, torque;    // of the water, over the newest step
    Vec3 push, twist;      // force and torque of contacts, over the newest step

    // What never changes.
    std::string name;
    int first = 0, last = 0;  // entries of the scene's solids, both included
    double mass = 1;
    Vec3 centre;              // of mass, at the start
    Matrix3 inertia;          // about it, at the start
    double radius = 0;        // farthest point from it
    double friction = 0.5, restitution = 0.2;

    Matrix3 inertia_now() const;
    // The fastest that any of its points moves.
    double fastest() const { return length(velocity) + length(spin) * radius; }
};

// How the frame that a body is seen from turns within a step, in its own axes: at the start, at the end, and from there back.
struct FrameTurn {
    Vec3 before, after;
    Quaternion back;
};

// Moves and turns for dt with its velocity and spin; its angular momentum stays, that of the frame's turn included.
void move(RigidBody& body, double dt, const FrameTurn& frame = {});

// What acts for dt, in newtons, about its centre of mass.
void push(RigidBody& body, Vec3 force, Vec3 torque, double dt, int dimension);

// What a body's state is made of, for checkpoints: the same order both ways.
inline constexpr int rigid_state_numbers = 25;
std::vector<double> numbers_of(const std::vector<RigidBody>& bodies);
void set_numbers(std::vector<RigidBody>& bodies, const std::vector<double>& numbers);

}  // namespace tarn
