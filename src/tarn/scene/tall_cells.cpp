#include "tarn/scene/tall_cells.h"

#include "tarn/params/tables.h"
#include "tarn/scene/scene.h"

namespace tarn {

std::optional<Problem> check_tall_cells(const Params& params)
{
    // What [tall] says is no error elsewhere: a scene runs on a uniform grid by one change.
    if (params.method.grid != GridKind::tall) return {};
    if (params.tall.optical_depth && *params.tall.optical_depth < cell_size(params.domain))
        return Problem{"tall.optical_depth", "is less than a cell, " + number_text(cell_size(params.domain)) +
                                                 " m; give more, or remove it for as little as the surface needs"};
    if (params.output.preview_grid && params.dimension() == 3)
        return Problem{"output.preview_grid", "draws tall cells in sections alone; give domain.size two numbers, or remove it"};
    const auto no_part = [](const std::string& key, const std::string& why) {
        return Problem{key, why + "; remove it, or choose method.grid = \"uniform\""};
    };
    const MethodParams method;
    if (params.method.phases != method.phases) return no_part("method.phases", "tall cells hold water alone");
    if (params.method.solver != method.solver) return no_part("method.solver", "tall cells know the solver \"projection\" alone");
    if (is_cip(params.method.advection))
        return no_part("method.advection", "below the surface \"cip\" finds no gradients in tall cells");
    if (params.pressure.solver != PressureSolver::multigrid)
        return no_part("pressure.solver", "tall cells have a multigrid of their own");
    if (params.flow) return no_part("flow", "tall cells move by themselves");
    if (params.motion) return no_part("domain.motion", "tall cells stand still in the world");
    if (!params.surface_pressure.empty()) return no_part("surface_pressure.0", "over tall cells the atmosphere has one pressure");
    if (params.fluid.viscosity.any()) return no_part("fluid.viscosity", "tall cells hold water without viscosity");
    if (params.fluid.surface_tension.any())
        return no_part("fluid.surface_tension", "tall cells are for waters so wide that it does not count");
    for (const auto& key : params.domain.gravity.keys)
        if (!(key.v[1] < 0)) return no_part("domain.gravity", "tall cells stand upright, and need a gravity that leads down");
    return {};
}

}  // namespace tarn
