#include "tarn/scene/reference_methods.h"

#include "tarn/backend/hypre.h"
#include "tarn/params/tables.h"

namespace tarn {

namespace {

// Relaxation takes cells alone.
std::optional<Problem> check_relaxation(const Params& params)
{
    if (params.pressure.solver != PressureSolver::relaxation) return {};
    for (const SolidParams& solid : params.solid)
        if (solid.motion == SolidMotion::body)
            return Problem{"pressure.solver", "\"relaxation\" goes from cell to cell and takes no bodies; choose \"multigrid\""};
    return {};
}

std::optional<Problem> check_hypre(const Params& params)
{
    if (params.pressure.solver != PressureSolver::hypre || hypre_module()) return {};
    return Problem{"pressure.solver", "this program has no hypre; `./tarn hypre` installs it and builds with it, or choose \"multigrid\""};
}

bool any_open(const WallsParams& w)
{
    for (const WallKind kind : {w.left, w.right, w.bottom, w.back, w.front})
        if (kind == WallKind::open) return true;
    return false;
}

bool points_down(const Params& params)
{
    for (const auto& key : params.domain.gravity.keys)
        if (key.v[0] != 0 || key.v[2] != 0 || key.v[1] > 0) return false;
    return params.domain.gravity.formulas.empty();
}

// What the explicit scheme of 1996 needs, and what it does not know.   [FM96]
std::optional<Problem> check_foster_metaxas(const Params& params)
{
    const SurfaceKind surface = params.method.surface;
    const bool markers = surface == SurfaceKind::markers, chains = surface == SurfaceKind::marker_chains;
    const bool heights = surface == SurfaceKind::height_field;
    if (params.method.solver != Solver::foster_metaxas) {
        if (markers || chains || heights)
            return Problem{"method.surface", std::string(markers  ? "\"markers\" need"
                                                         : chains ? "\"marker-chains\" need"
                                                                  : "a \"height-field\" needs") +
                                                 " method.solver = \"foster-metaxas\"; give that, or choose "
                                                 "\"particle-level-set\""};
        return {};
    }
    if (chains && params.dimension() == 3)
        return Problem{"method.surface", "\"marker-chains\" go round water in 2D; in 3D choose \"markers\", or a \"height-field\" where "
                                         "nothing overhangs"};
    if (chains && !params.source.empty())
        return Problem{"source.0", "\"marker-chains\" take no water in; choose method.surface = \"markers\""};
    if ((chains || heights) && !params.sink.empty())
        return Problem{"sink.0", "\"marker-chains\" and a \"height-field\" let no water out by a sink; choose method.surface = "
                                 "\"markers\""};
    if (chains && any_open(params.domain.walls))
        return Problem{"domain.walls", "\"marker-chains\" let no water out by open sides, but for one at the top; close them, or choose "
                                       "method.surface = \"markers\""};
    if (heights && !points_down(params))
        return Problem{"domain.gravity", "over a \"height-field\" gravity must point down, along -y; choose method.surface = "
                                         "\"markers\""};
    const auto no_part = [](const std::string& key, const std::string& why) {
        return Problem{key, why + "; remove it, or method.solver = \"foster-metaxas\""};
    };
    if (!markers && !chains && !heights)
        return Problem{"method.surface", "the solver \"foster-metaxas\" knows where the water is by \"markers\", "
                                         "\"marker-chains\" or a \"height-field\"; choose one of those, or the solver \"projection\""};
    if (params.pressure.solver != PressureSolver::relaxation)
        return Problem{"pressure.solver", "the solver \"foster-metaxas\" finds its pressure by \"relaxation\"; choose that, or the "
                                          "solver \"projection\""};
    if (!(params.time.cfl < 1))
        return Problem{"time.cfl", "must be less than 1, found " + number_text(params.time.cfl) +
                                       ": the explicit scheme is stable while water crosses less than a cell in a step"};
    const MethodParams none;
    if (params.method.phases != none.phases) return no_part("method.phases", "the solver \"foster-metaxas\" has water alone");
    if (params.method.advection != none.advection)
        return no_part("method.advection", "the solver \"foster-metaxas\" has its own differences");
    if (params.flow) return no_part("flow", "the solver \"foster-metaxas\" finds the velocity itself");
    for (const auto& [key, any] : {std::pair{"force.0", !params.force.empty()}, std::pair{"waves.0", !params.waves.empty()},
                                   std::pair{"surface_pressure.0", !params.surface_pressure.empty()}})
        if (any) return no_part(key, "the solver \"foster-metaxas\" knows gravity alone");
    if (params.wind) return no_part("wind", "the solver \"foster-metaxas\" knows no wind");
    if (params.fluid.surface_tension.any())
        return no_part("fluid.surface_tension", "the solver \"foster-metaxas\" knows no surface tension");
    for (size_t i = 0; i < params.solid.size(); ++i) {
        const std::string entry = "solid." + std::to_string(i) + ".";
        if (params.solid[i].motion == SolidMotion::body)
            return no_part(entry + "motion", "in the solver \"foster-metaxas\" solids stand still");
        for (const auto& [key, moves] : {std::pair{"translate", params.solid[i].translate.varies()},
                                         std::pair{"rotate", params.solid[i].rotate.varies()}})
            if (moves) return no_part(entry + key, "in the solver \"foster-metaxas\" solids stand still; give a single value");
    }
    for (size_t i = 0; i < params.source.size(); ++i)
        if (params.source[i].rate || params.source[i].drops)
            return Problem{"source." + std::to_string(i) + ".rate",
                           "the solver \"foster-metaxas\" lets water in by its velocity; give velocity instead"};
    for (size_t i = 0; i < params.sink.size(); ++i)
        if (params.sink[i].rate)
            return Problem{"sink." + std::to_string(i) + ".rate",
                           "with the solver \"foster-metaxas\" a sink takes all that comes; remove rate"};
    return {};
}

}  // namespace

std::optional<Problem> check_reference_methods(const Params& params)
{
    for (const auto check : {check_foster_metaxas, check_relaxation, check_hypre})
        if (const std::optional<Problem> found = check(params)) return found;
    return {};
}

}  // namespace tarn
