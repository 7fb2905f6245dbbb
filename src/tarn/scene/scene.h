#pragma once
// A scene: parameters and the geometry they name, ready to be turned into fields.

#include <string>
#include <utility>
#include <vector>

#include "tarn/bodies/joints.h"
#include "tarn/bodies/rigid.h"
#include "tarn/grid/grid.h"
#include "tarn/params/params.h"
#include "tarn/shapes/shape.h"

namespace tarn {

struct Scene {
    std::string name;  // file name without folder and ending
    std::string file;  // as given, for messages
    Params params;
    Geometry water, clouds, solids;
    std::vector<RigidBody> bodies;         // as they are at the start
    std::vector<Joint> joints;             // between them
    std::vector<Geometry> sources, sinks;  // one each per [[source]], [[sink]]
    Geometry wind;                         // where it blows; empty where that is everywhere, or nowhere
    std::vector<Geometry> forces;          // where each [[force]] acts; empty where that is everywhere
    std::vector<Geometry> pressures;       // likewise each [[surface_pressure]]
    std::vector<Geometry> vortices;        // where those of each [[vortices]] start
};

// Builds the geometry of parameters already read and validated. No file format is involved.
// Throws InputError where a file that a shape names cannot be used.
Scene build_scene(Params params, std::string name, std::string file, const std::string& folder);
// Likewise, with samples that somebody else has: asked for water, clouds, solids, sources, sinks, wind, forces and surface
// pressures and vortices, in this order.
Scene build_scene(Params params, std::string name, std::string file, const Sampler& sample);

// Whether the properties of water or air change in time.
bool fluids_vary(const Params& params);
// The same with their values at time t, as constants.
Params at_time(const Params& params, double t);
Scene at_time(const Scene& scene, double t);

// Cells are cubes, so that `cells` of them make the longest side; the others are rounded to whole cells.
double cell_size(const DomainParams& domain);
// As a number that cannot overflow; whole.
double cells_along(const DomainParams& domain, int axis);

// The grid that the domain asks for.
template <int D>
Grid<D> make_grid(const DomainParams& domain);

// Every shape costs time at every point, so a list of very many is a mistake.
inline constexpr size_t max_shapes = 10000;
inline constexpr const char* outside_the_domain =
    "lies outside the domain, or is much thinner than a cell; move it or change domain.size or domain.cells";

}  // namespace tarn
