#include "tarn/phases/two_fluids.h"

#include "tarn/base/axes.h"

namespace tarn {

namespace {

// The curvature of the surface itself, from that of phi at a distance from it: a circle's radius is longer by phi.
template <int D>
TARN_HD inline float curvature_below(float kappa, float phi)
{
    const float shrunk = 1 - phi * kappa / (D - 1);
    return kappa / (shrunk < 0.5f ? 0.5f : (shrunk > 2 ? 2.0f : shrunk));
}

// The density on the faces of one axis.
template <int D, int axis>
void find_density_along(Field<D>& density, const Field<D>& phi, const Params& params, const CutFaces<D>& cut, const Tiles<D>& tiles)
{
    const float water = static_cast<float>(params.fluid.density.constant()), air = static_cast<float>(params.air.density.constant());
    const float epsilon = smearing * static_cast<float>(phi.grid().h);
    const Cell<D> cells = phi.grid().cells;
    const auto p = phi.view();
    const auto rho = density.view();
    const bool sharp = params.method.interface == Interface::sharp;
    if (!sharp && !cut.any())
        return parallel_for_faces<true>("density", tiles, axis, [=] TARN_KERNEL(Cell<D> c) {
            const FaceSides beside = phi_beside<D>(p, {}, cells, c, axis);
            rho(c) = air + (water - air) * smeared_step(0.5f * (beside.lower + beside.upper), epsilon);
        });
    parallel_for_faces("density", tiles, axis, [=] TARN_KERNEL(Cell<D> c) {
        const FaceSides beside = phi_beside<D>(p, cut, cells, c, axis);
        rho(c) = air + (water - air) * water_share(beside, sharp, epsilon);
    });
}

}  // namespace

template <int D>
void find_density(FaceField<D>& density, const Field<D>& phi, const Params& params, const CutFaces<D>& cut, const Tiles<D>& tiles)
{
    for_each_axis<D>(
        [&](auto axis) { find_density_along<D, decltype(axis)::value>(density[axis], phi, params, cut, tiles); });
}

template <int D>
void find_viscosity(Field<D>& mu, const Field<D>& phi, const Params& params, const Tiles<D>& tiles)
{
    const float water = static_cast<float>(params.fluid.density.constant() * params.fluid.viscosity.constant());
    const float air = static_cast<float>(params.air.density.constant() * params.air.viscosity.constant());
    const float epsilon = smearing * static_cast<float>(phi.grid().h);
    const auto p = phi.view();
    const auto m = mu.view();
    parallel_for<true>("viscosities", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = p.index(c);
        m[i] = air + (water - air) * smeared_step(p[i], epsilon);
    });
}

template <int D>
void average_curvature(Field<D>& kappa, const Field<D>& phi, float reach, const Tiles<D>& tiles, Field<D>& scratch)
{
    const Cell<D> cells = phi.grid().cells;
    const auto p = phi.view();
    const auto k = kappa.view(), s = scratch.view();
    parallel_for("curvature", tiles, [=] TARN_KERNEL(Cell<D> c) { s(c) = curvature_below<D>(k(c), p(c)); });
    parallel_for("curvature", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = p.index(c);
        if (!(std::fabs(p[i]) < reach)) return;
        constexpr float own = 4 * D;
        float sum = own * s[i], weight = own;
        for (int a = 0; a < D; ++a)
            for (int side = 0; side < 2; ++side) {
                const Cell<D> b = moved<D>(c, a, 2 * side - 1);
                if (b[a] < 0 || b[a] >= cells[a] || !(std::fabs(p(b)) < reach)) continue;
                sum += s(b);
                weight += 1;
            }
        k[i] = sum / weight;
    });
}

template <int D>
void add_surface_tension(FaceField<D>& velocity, const Field<D>& phi, const Field<D>& kappa,
                         const FaceField<D>& density, const Params& params, const Tiles<D>& tiles, double dt)
{
    const Grid<D>& grid = phi.grid();
    const float scale = static_cast<float>(params.fluid.surface_tension.constant() * dt / grid.h);
    const float epsilon = smearing * static_cast<float>(grid.h);
    const bool sharp = params.method.interface == Interface::sharp;
    const auto p = phi.view(), k = kappa.view();
    for (int a = 0; a < D; ++a) {
        const auto u = velocity[a].view();
        const auto rho = density[a].view();
        const int n = p.next(a), last = grid.cells[a];
        parallel_for_faces("surface tension", tiles, a, [=] TARN_KERNEL(Cell<D> c) {
            if (c[a] == 0 || c[a] == last) return;
            const int i = p.index(c);
            const float lower = p[i - n], upper = p[i];
            const float step = sharp ? float(upper < 0) - float(lower < 0)
                                     : smeared_step(upper, epsilon) - smeared_step(lower, epsilon);
            if (step == 0) return;
            // The nearer cell knows the surface better.
            const float d_lower = std::fabs(lower), d_upper = std::fabs(upper);
            const float kappa_here = (d_upper * k[i - n] + d_lower * k[i]) / (d_lower + d_upper + 1e-30f);
            u[i] += scale * kappa_here * step / rho[i];
        });
    }
}

#define TARN_INSTANTIATE(D)                                                                                 \
    template void find_density(FaceField<D>&, const Field<D>&, const Params&, const CutFaces<D>&,           \
                               const Tiles<D>&);                                                            \
    template void find_viscosity(Field<D>&, const Field<D>&, const Params&, const Tiles<D>&);               \
    template void average_curvature(Field<D>&, const Field<D>&, float, const Tiles<D>&, Field<D>&);         \
    template void add_surface_tension(FaceField<D>&, const Field<D>&, const Field<D>&, const FaceField<D>&, \
                                      const Params&, const Tiles<D>&, double);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
