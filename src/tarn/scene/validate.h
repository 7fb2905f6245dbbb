#pragma once
// Whether parameters make a scene, whoever made them: a file, a program or a slider.

#include <optional>
#include <string>
#include <vector>

#include "tarn/params/params.h"
#include "tarn/shapes/shape.h"

namespace tarn {

// `key` is dotted, with the index of an entry inside: "water.0.radius".
struct Problem {
    std::string key, text;
};

// What is wrong with single values and shapes: out of range, missing, upside down.
std::vector<Problem> row_problems(const Params& params);

// Those, or where there are none what is wrong with the scene as a whole: a domain that no grid fits, water that is
// nowhere, keys that do nothing. Files that shapes name are not opened.
std::vector<Problem> problems(const Params& params);

// What is wrong with a domain that moves.
std::optional<Problem> check_motion(const Params& params);

// What does not go with an octree, or with a uniform grid where there is none.
std::optional<Problem> check_octree(const Params& params);

// What is wrong with vortex particles.
std::optional<Problem> check_vortices(const Params& params);

// What is wrong with joints.
std::optional<Problem> check_joints(const Params& params);

// Why nothing of a shape is in the domain, and what to do: a mesh in other units than metres is told the scale that fits.
std::string why_outside(const Shape& shape, const DomainParams& domain);
// The scale that a mesh seems to lack, in words; empty where its size suits the domain.
std::string unit_hint(const Shape& shape, const DomainParams& domain);

}  // namespace tarn
