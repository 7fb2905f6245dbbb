#pragma once
// Bodies among the solids of a scene that changes while it runs. A scene has them as they are at its start; so before it is made anew
// they are written into it as they are now. They stand behind all other solids, so that what is drawn or cut leaves them whole.

#include <vector>

#include "tarn/bodies/rigid.h"
#include "tarn/params/params.h"

namespace tarn {

// Puts bodies, with what is cut from them, behind all other solids.
void put_bodies_last(std::vector<SolidParams>& solids);

// Where they begin.
size_t first_body(const std::vector<SolidParams>& solids);

// Every body where it is now, with the velocity and spin that it has.
void place_bodies(std::vector<SolidParams>& solids, const std::vector<RigidBody>& bodies);

// How far a body has turned since the start, anticlockwise, in radians.
double turned(const RigidBody& body);

// A ball that is thrown.
SolidParams ball(Vec<2> center, double radius, double density, Vec<2> velocity);

}  // namespace tarn
