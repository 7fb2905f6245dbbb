// Stands in for the methods of [FM96] and for smoke where there is no room for them: in the playground.

#include "tarn/pressure/hypre.h"
#include "tarn/pressure/relaxation.h"
#include "tarn/scene/reference_methods.h"
#include "tarn/scene/smoke_scene.h"
#include "tarn/step/foster_metaxas.h"
#include "tarn/step/smoke.h"

namespace tarn {

std::optional<Problem> check_reference_methods(const Params& params)
{
    const char* const none = "is no part of the playground; use `tarn run`, or remove it";
    if (params.method.solver == Solver::foster_metaxas) return Problem{"method.solver", none};
    for (const SurfaceKind kind : {SurfaceKind::markers, SurfaceKind::marker_chains, SurfaceKind::height_field})
        if (params.method.surface == kind) return Problem{"method.surface", none};
    if (params.pressure.solver == PressureSolver::relaxation || params.pressure.solver == PressureSolver::hypre)
        return Problem{"pressure.solver", none};
    return {};
}

std::optional<Problem> check_smoke(const Params& params)
{
    if (params.method.phases != Phases::smoke) return {};
    return Problem{"method.phases", "\"smoke\" is no part of the playground; use `tarn run`"};
}

// Never called: no scene that asks for them is read.
template <int D>
SolveReport solve_relaxation(Field<D>&, const Field<D>&, const Poisson<D>&, const Goal&, double, Field<D>&)
{
    return {};
}
template <int D>
SolveReport solve_hypre(Field<D>&, Field<D>&, const Poisson<D>&, const Goal&)
{
    return {};
}

namespace foster_metaxas {

template <int D>
Water<D> initial_water(const Scene&)
{
    return {};
}
template <int D>
double choose_dt(const Water<D>&, const Scene&)
{
    return 0;
}
template <int D>
StepReport step(Water<D>&, const Scene&, double)
{
    return {};
}

}  // namespace foster_metaxas

namespace smoke {

template <int D>
Water<D> initial_water(const Scene&)
{
    return {};
}
template <int D>
void restore(Water<D>&, const Scene&)
{
}
template <int D>
StepReport step(Water<D>&, const Scene&, double)
{
    return {};
}
template <int D>
void measure(Measures&, Water<D>&, const Params&)
{
}

}  // namespace smoke

#define TARN_INSTANTIATE(D)                                                                                               \
    template SolveReport solve_hypre(Field<D>&, Field<D>&, const Poisson<D>&, const Goal&);                               \
    template SolveReport solve_relaxation(Field<D>&, const Field<D>&, const Poisson<D>&, const Goal&, double, Field<D>&); \
    template Water<D> foster_metaxas::initial_water(const Scene&);                                                        \
    template double foster_metaxas::choose_dt(const Water<D>&, const Scene&);                                             \
    template StepReport foster_metaxas::step(Water<D>&, const Scene&, double);                                            \
    template Water<D> smoke::initial_water(const Scene&);                                                                 \
    template void smoke::restore(Water<D>&, const Scene&);                                                                \
    template StepReport smoke::step(Water<D>&, const Scene&, double);                                                     \
    template void smoke::measure(Measures&, Water<D>&, const Params&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
