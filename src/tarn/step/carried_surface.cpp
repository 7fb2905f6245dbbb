#include "tarn/step/carried_surface.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tarn/scene/given_flow.h"
#include "tarn/step/surface.h"

namespace tarn::carried_surface {

template <int D>
Water<D> initial_water(const Scene& scene)
{
    Water<D> w = initial_surface<D>(scene);
    prescribe(w.velocity, *scene.params.flow, w.tiles_active, 0);
    w.fastest = fastest_face(w);
    return w;
}

template <int D>
double choose_dt(const Water<D>& w, const Scene& scene)
{
    const Params& p = scene.params;
    return std::min(p.time.cfl * w.grid.h / fastest(*p.flow, w.grid), p.time.max_step);
}

template <int D>
StepReport step(Water<D>& w, const Scene& scene, double dt)
{
    const Params& p = scene.params;
    StepReport report;
    report.dt = dt;

    // 1. The velocity is that of the middle of the step: second order in time.
    {
        const Stage stage(report.seconds_advect);
        prescribe(w.velocity, *p.flow, w.tiles_active, w.time + 0.5 * dt);
        w.fastest = fastest_face(w);
    }

    // 2. The surface moves with it. Particles that the grid has lost go on: they are where the surface should be.
    {
        const Stage stage(report.seconds_surface);
        find_candidates(w, p.time.cfl);
        carry_surface(w, p, dt);
        find_tiles(w);
        carry_bodies(w, p, dt);
        reseed_periodically(w, p, dt);
    }

    // 3. The velocity becomes that of the new time, for whoever looks at it.
    {
        const Stage stage(report.seconds_advect);
        prescribe(w.velocity, *p.flow, w.tiles_active, w.time + dt);
    }
    w.time += dt;
    ++w.step;
    w.fastest = fastest_face(w);
    report.finite = std::isfinite(std::accumulate(w.targets.actual.begin(), w.targets.actual.end(), w.fastest));
    return report;
}

#define TARN_INSTANTIATE(D)                                   \
    template Water<D> initial_water(const Scene&);            \
    template double choose_dt(const Water<D>&, const Scene&); \
    template StepReport step(Water<D>&, const Scene&, double);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn::carried_surface
