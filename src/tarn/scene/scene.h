#pragma once
// A scene: parameters and the geometry they name, ready to be turned into fields.

#include <string>
#include <utility>
#include <vector>

#include "tarn/grid/grid.h"
#include "tarn/params/params.h"
#include "tarn/shapes/shape.h"

namespace tarn {

struct Scene {
    std::string name;    // file name without folder and ending
    std::string file;    // as given, for messages
    Params params;
    Geometry water, solids;
    std::vector<Geometry> sources, sinks;  // one each per [[source]], [[sink]]
};

// Builds the geometry of parameters already read and validated. No file format is involved.
Scene build_scene(Params params, std::string name, std::string file, const std::string& folder);

// The grid that the domain asks for: cubic cells, `cells` along the longest side, the others rounded to whole cells.
template <int D>
Grid<D> make_grid(const DomainParams& domain);

}  // namespace tarn
