#include "tarn/step/step.h"

#include <algorithm>
#include <numeric>

#include "tarn/bodies/wall_separation.h"
#include "tarn/phases/two_fluids.h"
#include "tarn/scene/place_solids.h"
#include "tarn/step/bodies.h"
#include "tarn/step/boundary.h"
#include "tarn/step/carried_surface.h"
#include "tarn/step/foster_metaxas.h"
#include "tarn/step/free_surface.h"
#include "tarn/step/smoke.h"
#include "tarn/step/surface.h"
#include "tarn/step/tall.h"
#include "tarn/step/two_phase.h"

namespace tarn {

namespace {

bool has_air(const Scene& scene) { return scene.params.method.phases == Phases::water_air; }
bool has_smoke(const Scene& scene) { return scene.params.method.phases == Phases::smoke; }
bool is_tall(const Scene& scene) { return scene.params.method.grid == GridKind::tall; }
bool is_explicit(const Scene& scene) { return scene.params.method.solver == Solver::foster_metaxas; }

// What the fluids' properties at the start may not have asked for yet.
template <int D>
void make_room_for_fluids(Water<D>& w, const Params& p)
{
    if ((p.fluid.viscosity.any() || (w.air && p.air.viscosity.any())) && w.viscosity[0][0].size() == 0) {
        if (w.air) w.mu = Field<D>(w.grid);
        for (auto& field : w.viscosity) field = FaceField<D>(w.grid);
    }
    if (p.fluid.surface_tension.any() && w.kappa.size() == 0) w.kappa = Field<D>(w.grid);
}

}  // namespace

template <int D>
Water<D> initial_water(const Scene& scene)
{
    if (fluids_vary(scene.params)) {
        Water<D> w = initial_water<D>(at_time(scene, 0));
        make_room_for_fluids(w, scene.params);
        return w;
    }
    if (scene.params.flow) return carried_surface::initial_water<D>(scene);
    if (has_air(scene)) return two_phase::initial_water<D>(scene);
    if (has_smoke(scene)) return smoke::initial_water<D>(scene);
    if (is_explicit(scene)) return foster_metaxas::initial_water<D>(scene);
    if (is_tall(scene)) return tall::initial_water<D>(scene);
    return free_surface::initial_water<D>(scene);
}

template <int D>
void restore(Water<D>& w, const Scene& scene)
{
    if (fluids_vary(scene.params)) return restore(w, at_time(scene, w.time));
    if (w.smoke) return smoke::restore(w, scene);
    tell_poses(w, scene, w.time);
    if (w.solids.moving) place_solids(w.solids, scene, w.time, 0);
    if (is_tall(scene)) tall::refine_around_movers(w, scene, w.time);
    set_body_velocities(w);
    for (uint8_t& flags : w.map.flags) flags |= tile_candidate;
    w.octree_states.clear();  // the state says which tiles have small cells
    find_tiles(w);
    w.enclosed.mark(w.enclosed_air, w.grid);
    w.gaps = any_gap_at_sides(w.phi, all_tiles(w.grid));
    if (w.air) find_density(w.density, w.phi, scene.params, cut_faces(w, scene.params, w.time), w.tiles_active);
    w.fastest = w.air ? two_phase::fastest_near_water(w) : fastest_face(w);
    if (is_tall(scene)) tall::restore(w, scene);
}

template <int D>
void start_again(Water<D>& w, const Scene& scene)
{
    restore(w, scene);
    if (w.phi_gradient.any()) find_gradient(w.phi_gradient, w.phi, -1, all_tiles(w.grid));
    if (w.velocity_gradient[0].any()) start_gradients(w);
    if (w.smoke) {
        w.volume_expected = measure(w, scene.params).volume;
        return;
    }
    const auto closed = closed_faces(w.solids);
    find_bodies(w.targets, w.phi, closed ? &*closed : nullptr, w.tiles_shallow, w.tiles_deep, w.tiles_inner);
    w.targets.expected = w.targets.actual;
    w.targets.elsewhere = 0;
    share_out(w.targets, water_volume(w) - std::accumulate(w.targets.expected.begin(), w.targets.expected.end(), 0.0));
    w.volume_expected = measure(w, scene.params).volume;
}

template <int D>
double choose_dt(const Water<D>& w, const Scene& scene)
{
    if (fluids_vary(scene.params)) return choose_dt(w, at_time(scene, w.time));
    const TimeParams& time = scene.params.time;
    if (time.step == StepKind::fixed) return std::min(time.max_step, time.frame_seconds());
    if (is_explicit(scene)) return foster_metaxas::choose_dt(w, scene);
    return scene.params.flow ? carried_surface::choose_dt(w, scene) : longest_step(w, scene);
}

template <int D>
StepReport step(Water<D>& w, const Scene& scene, double dt)
{
    if (fluids_vary(scene.params)) return step(w, at_time(scene, w.time + dt), dt);
    if (scene.params.flow) return carried_surface::step(w, scene, dt);
    if (has_air(scene)) return two_phase::step(w, scene, dt);
    if (has_smoke(scene)) return smoke::step(w, scene, dt);
    if (is_tall(scene)) return tall::step(w, scene, dt);
    return is_explicit(scene) ? foster_metaxas::step(w, scene, dt) : free_surface::step(w, scene, dt);
}

#define TARN_INSTANTIATE(D)                                   \
    template Water<D> initial_water(const Scene&);            \
    template void restore(Water<D>&, const Scene&);           \
    template void start_again(Water<D>&, const Scene&);       \
    template double choose_dt(const Water<D>&, const Scene&); \
    template StepReport step(Water<D>&, const Scene&, double);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
