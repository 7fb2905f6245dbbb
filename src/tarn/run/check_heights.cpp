#include "tarn/run/check_heights.h"

#include <limits>

#include <fmt/format.h>

#include "tarn/backend/parallel.h"
#include "tarn/step/foster_metaxas.h"

namespace tarn {

std::string height_field_problem(const Scene& scene)
{
    const Params& p = scene.params;
    if (p.method.surface != SurfaceKind::height_field || on_device()) return {};
    const bool flat = p.dimension() == 2;
    const std::optional<Vec3> where = flat ? foster_metaxas::overhang<2>(scene) : foster_metaxas::overhang<3>(scene);
    if (!where) return {};
    // Of the nearest shape that is wet.
    int line = 0;
    double nearest = std::numeric_limits<double>::infinity();
    const auto look = [&](const std::vector<Shape>& shapes, int at_line) {
        const double d = distance(shapes, *where);
        if (d < nearest) nearest = d, line = at_line;
    };
    for (size_t i = 0; i < p.source.size(); ++i) look(scene.sources[i].at(0), p.source[i].line);
    const std::vector<Shape> water = scene.water.at(0);
    for (size_t i = 0; i < water.size(); ++i)
        if (!water[i].subtract) look({water[i]}, p.water[i].line);
    return fmt::format("{}:{}: water at ({:.3g}, {:.3g}{}) hangs over air, which a height field cannot tell; let it reach down to the ground, or "
                       "choose method.surface = {}",
                       scene.file, line, (*where)[0], (*where)[1], flat ? "" : fmt::format(", {:.3g}", (*where)[2]),
                       flat ? "\"marker-chains\"" : "\"markers\"");
}

}  // namespace tarn
