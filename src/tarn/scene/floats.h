#pragma once
// Floats: rigid bodies that the water carries and that do not disturb it, like large markers.   [FM96] §5
//
// A body is a set of nodes, each of which stands for a part dV of its volume. Where a node is under water it feels
//
//   f = -grad p dV - k (rho dV / l) |v - u| (v - u),
//
// the pressure of the water that it is in and a damping by its velocity against that of the water, l being the body's
// size, the root of its volume; a body as a whole feels its weight, and contacts (scene/contacts.h). As in the paper,
//
//   M dV/dt = sum f + M g,   I dw/dt = sum r x f.
//
// Damping is implicit, so that no step flings a light body away. grad p is that of the cells around, from faces with
// water on both sides: at the surface it goes on as it is below. Deviation: the paper takes the difference to the
// previous cell.
//
// Everything here is the program's, in double.

#include <vector>

#include "tarn/bodies/rigid.h"
#include "tarn/field/field.h"
#include "tarn/scene/scene.h"

namespace tarn {

// The water at one time, where the program reads it. A cell without a pressure has 0.
template <int D>
struct FloatWater {
    const Field<D>* phi;
    const FaceField<D>* velocity;
    const Field<D>* pressure;
};

struct FloatNodes {
    std::vector<Vec3> at;         // from the centre of mass, at the start
    std::vector<double> volumes;  // m³ (m² in 2D)
    Vec3 spacing;                 // between them along the body's axes at the start
    double volume = 0;            // their sum
    double length = 0;            // its root
};
// Of a body of the scene.
FloatNodes float_nodes(const RigidBody& body, const Scene& scene);

// The longest step that follows the bobbing of all of them.
double longest_float_step(const std::vector<RigidBody>& bodies, const std::vector<FloatNodes>& nodes, const Scene& scene);

// Moves the bodies, which are those of the scene, from t for dt. The water is `before` and `after`, a share s of the second.
template <int D>
void step_floats(std::vector<RigidBody>& bodies, const std::vector<FloatNodes>& nodes, const FloatWater<D>& before,
                 const FloatWater<D>& after, double s, const Scene& scene, double t, double dt);

}  // namespace tarn
