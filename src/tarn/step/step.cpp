#include "tarn/step/step.h"

#include "tarn/bodies/parting.h"
#include "tarn/scene/place_solids.h"
#include "tarn/step/carried_surface.h"
#include "tarn/step/free_surface.h"
#include "tarn/step/surface.h"

namespace tarn {

template <int D>
Water<D> initial_water(const Scene& scene)
{
    return scene.params.flow ? carried_surface::initial_water<D>(scene) : free_surface::initial_water<D>(scene);
}

template <int D>
void restore(Water<D>& w, const Scene& scene)
{
    if (w.solids.moving) place_solids(w.solids, scene, w.time, 0);
    for (uint8_t& flags : w.map.flags) flags |= tile_candidate;
    find_tiles(w);
    w.gaps = any_gap_at_sides(w.phi, all_tiles(w.grid));
    w.fastest = fastest_face(w);
}

template <int D>
double choose_dt(const Water<D>& w, const Scene& scene)
{
    return scene.params.flow ? carried_surface::choose_dt(w, scene) : free_surface::choose_dt(w, scene);
}

template <int D>
StepReport step(Water<D>& w, const Scene& scene, double dt)
{
    return scene.params.flow ? carried_surface::step(w, scene, dt) : free_surface::step(w, scene, dt);
}

#define TARN_INSTANTIATE(D)                                   \
    template Water<D> initial_water(const Scene&);            \
    template void restore(Water<D>&, const Scene&);           \
    template double choose_dt(const Water<D>&, const Scene&); \
    template StepReport step(Water<D>&, const Scene&, double);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
