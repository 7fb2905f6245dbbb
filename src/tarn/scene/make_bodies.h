#pragma once
// The rigid bodies of a scene: their masses, centres and inertia, from their shapes.

#include <string>
#include <vector>

#include "tarn/bodies/joints.h"
#include "tarn/bodies/rigid.h"
#include "tarn/params/params.h"
#include "tarn/shapes/shape.h"

namespace tarn {

// Every solid with motion = "body", as it is at the start; marks them in the geometry. Throws InputError naming `file` and the
// solid's line for one that is too light, outside the domain, or inside another.
std::vector<RigidBody> make_bodies(const Params& params, Geometry& solids, const std::string& file);

// The joints between them, as all stands at the start.
std::vector<Joint> make_joints(const Params& params, const std::vector<RigidBody>& bodies);

// The entries of [[solid]] that the one at `first` is made of end here: itself, or the last that is cut from it.
int last_entry(const Params& params, int first);

}  // namespace tarn
