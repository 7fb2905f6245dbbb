// What an octree asks of a scene, and what it does not do yet.

#include "tarn/grid/octree.h"
#include "tarn/params/tables.h"
#include "tarn/scene/scene.h"
#include "tarn/scene/validate.h"

namespace tarn {

namespace {

std::optional<Problem> needs_octree(const Params& params)
{
    const OctreeParams none;
    const OctreeParams& o = params.octree;
    const char* const why = "has a meaning on an octree alone; remove it, or set method.grid = \"octree\"";
    if (!params.refine.empty()) return Problem{"refine.0", why};
    if (o.levels != none.levels) return Problem{"octree.levels", why};
    if (o.pressure != none.pressure) return Problem{"octree.pressure", why};
    if (o.distance != none.distance) return Problem{"octree.distance", why};
    if (o.advection != none.advection) return Problem{"octree.advection", why};
    if (o.vorticity) return Problem{"octree.vorticity", why};
    if (o.density_from != none.density_from) return Problem{"octree.density_from", why};
    if (o.density_to != none.density_to) return Problem{"octree.density_to", why};
    if (params.output.preview_grid && params.method.grid == GridKind::uniform && params.dimension() == 3)
        return Problem{"output.preview_grid", "draws an octree's cells, and tall ones in 2D; remove it"};
    return {};
}

int most_levels_in(const DomainParams& domain)
{
    return domain.size.size() == 2 ? most_levels_of(make_grid<2>(domain)) : most_levels_of(make_grid<3>(domain));
}

std::optional<Problem> check_levels(const Params& params)
{
    const int most = most_levels_in(params.domain), levels = params.octree.levels > 0 ? params.octree.levels : most;
    if (levels > most)
        return Problem{"octree.levels", "do not fit the domain: with " + std::to_string(params.domain.cells) +
                                            " cells there is room for " + std::to_string(most) + ", found " + std::to_string(levels)};
    for (size_t i = 0; i < params.refine.size(); ++i) {
        const std::string entry = "refine." + std::to_string(i) + ".";
        const RefineParams& r = params.refine[i];
        for (int a = 0; a < params.dimension(); ++a) {
            if (!((*r.min)[a] < (*r.max)[a]))
                return Problem{entry + "max", "must be higher than min along every axis"};
            if ((*r.max)[a] <= 0 || (*r.min)[a] >= params.domain.size[static_cast<size_t>(a)])
                return Problem{entry + "min", "the box lies outside of the domain; move it in, or remove it"};
        }
        if (r.level >= levels)
            return Problem{entry + "level", "there are " + std::to_string(levels) + " levels, of which the finest is 0, found " +
                                                std::to_string(r.level)};
    }
    return {};
}

}  // namespace

std::optional<Problem> check_octree(const Params& params)
{
    if (params.method.grid != GridKind::octree) return needs_octree(params);
    const auto no = [](const std::string& key, const std::string& why) {
        return Problem{key, why + "; remove it, or set method.grid = \"uniform\""};
    };
    const MethodParams& m = params.method;
    if (m.phases == Phases::water_air)
        return no("method.phases", "air that flows beside water needs velocities of both in small cells everywhere, so an octree gains nothing");
    if (m.phases == Phases::smoke && params.air.viscosity.any()) return no("air.viscosity", "larger cells know no viscosity yet");
    const bool smoke = m.phases == Phases::smoke;
    for (const auto& [key, given, none] : {std::tuple{"octree.density_from", params.octree.density_from, OctreeParams{}.density_from},
                                           std::tuple{"octree.density_to", params.octree.density_to, OctreeParams{}.density_to}})
        if (!smoke && given != none) return no(key, "is of smoke alone");
    if (!(params.octree.density_from < params.octree.density_to))
        return Problem{"octree.density_to", "must be more than octree.density_from"};
    if (m.solver != Solver::projection) return no("method.solver", "an octree takes the solver \"projection\" alone");
    if (is_cip(m.advection))
        return no("method.advection", "\"cip\" carries gradients, which larger cells do not have yet; choose \"maccormack\"");
    if (is_cip(params.surface.advection))
        return no("surface.advection", "\"cip\" carries gradients, which larger cells do not have yet; choose \"maccormack\"");
    for (const auto& [key, scheme] : {std::pair{"octree.advection", params.octree.advection}})
        if (is_cip(scheme) || is_weno(scheme))
            return Problem{key, "larger cells take \"semi-lagrangian\", \"semi-lagrangian-rk3\" or \"maccormack\""};
    if (params.octree.distance != OctreeParams{}.distance && params.octree.pressure != OctreePressure::losasso_2004)
        return Problem{"octree.distance", "is chosen with octree.pressure = \"losasso-2004\" alone; give that, or remove it"};
    if (params.pressure.solver != PressureSolver::multigrid)
        return no("pressure.solver", "an octree's pressure takes \"multigrid\" alone");
    if (params.flow) return no("flow", "a given flow carries a surface alone, whose cells are small everywhere");
    if (params.fluid.viscosity.any()) return no("fluid.viscosity", "larger cells know no viscosity yet");
    if (params.motion) return no("motion", "in larger cells a moving domain is not felt yet");
    return check_levels(params);
}

}  // namespace tarn
