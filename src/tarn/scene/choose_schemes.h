#pragma once
// Schemes where a scene does not say which.

#include "tarn/params/presets.h"

namespace tarn {

// `given` tells whether a scene has a key in a table. Water and air together are carried as in [SSK05], by CIP, smoke by
// MacCormack's method; the solver of [FM96] has its markers, its relaxation and its step, and comes with its surfaces.
// A preset makes its choices first.
template <class Given>
void choose_schemes(Params& params, const Given& by_scene)
{
    apply_preset(params, by_scene);
    const auto given = [&](const char* section, const char* key) {
        return by_scene(section, key) || chosen_by_preset(params.method.preset, section, key);
    };
    if (params.method.phases == Phases::water_air) {
        if (!given("method", "advection")) params.method.advection = Advection::cip;
        if (!given("surface", "advection")) params.surface.advection = Advection::cip;
    }
    if (params.method.phases == Phases::smoke) {
        if (!given("method", "advection")) params.method.advection = Advection::maccormack;
        // There is no surface, and there are no drops.
        if (!given("output", "surface")) params.output.surface = SurfaceFormat::none;
        if (!given("output", "particles")) params.output.particles = false;
    }
    const SurfaceKind surface = params.method.surface;
    if (!given("method", "solver") && (surface == SurfaceKind::markers || surface == SurfaceKind::marker_chains ||
                                       surface == SurfaceKind::height_field))
        params.method.solver = Solver::foster_metaxas;
    if (params.method.solver == Solver::foster_metaxas) {
        if (!given("method", "surface")) params.method.surface = SurfaceKind::markers;
        if (!given("surface", "particles_per_cell")) params.surface.particles_per_cell = 16;
        if (!given("pressure", "solver")) params.pressure.solver = PressureSolver::relaxation;
        if (!given("time", "cfl")) params.time.cfl = 0.5;
    }
    if (params.pressure.solver == PressureSolver::relaxation && !given("pressure", "max_iterations"))
        params.pressure.max_iterations = 100000;
}

}  // namespace tarn
