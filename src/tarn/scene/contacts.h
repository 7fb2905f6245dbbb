#pragma once
// Contacts among rigid bodies, solids and the domain's closed sides.

#include <vector>

#include "tarn/bodies/rigid.h"
#include "tarn/scene/scene.h"

namespace tarn {

// Changes velocities and spins so that within dt no body passes another, a solid or a side, with friction and restitution. Solids
// are where they are at time t. A side is met `film` before it. What comes out depends on nothing but what goes in.
void resolve_contacts(std::vector<RigidBody>& bodies, const Scene& scene, double t, double dt, double film);

// The same in two dimensions, with the standard library alone: what a program without Bullet has.
void resolve_flat_contacts(std::vector<RigidBody>& bodies, const Scene& scene, double t, double dt, double film);

// Whether this program has what finds contacts: Bullet.
bool contacts_available();

}  // namespace tarn
