#include "tarn/phases/phase_velocities.h"

#include <cmath>
#include <utility>

#include "tarn/base/axes.h"
#include "tarn/field/extrapolate.h"
#include "tarn/phases/two_fluids.h"
#include "tarn/phases/water_velocity.h"

namespace tarn {

namespace {

// How far a phase's velocity is sampled in the other: a smeared layer, and the cell that interpolation needs.
constexpr int layers = 3;

// The mean of phi over the cells beside a face is negative where water holds at least half of it, smeared or sharp. A cell of water
// neither of whose faces along an axis is so has its velocity on them all the same: else drops of a cell and films would have that of the
// next larger body of water, or of the air.
template <int D>
struct Own {
    View<D, const float> phi;
    CutFaces<D> cut;
    Cell<D> cells;

    TARN_HD bool half(Cell<D> face, int axis) const
    {
        const FaceSides b = phi_beside(phi, cut, cells, face, axis);
        return b.lower + b.upper <= 0;
    }
    TARN_HD bool alone(Cell<D> c, int axis) const
    {
        return phi(c) < 0 && !half(c, axis) && !half(moved<D>(c, axis, 1), axis);
    }
    TARN_HD bool operator()(Cell<D> face, int axis) const
    {
        return half(face, axis) || (face[axis] > 0 && alone(moved<D>(face, axis, -1), axis)) || (face[axis] < cells[axis] && alone(face, axis));
    }
};

template <int D>
void mark_own(Field<D, uint8_t>& known, const Own<D>& own, int axis, const Tiles<D>& tiles)
{
    const auto k = known.view();
    parallel_for_faces("phase velocities", tiles, axis, [=] TARN_KERNEL(Cell<D> c) { k(c) = own(c, axis) ? 1 : 0; });
}

// Component `axis` of one phase's velocity is extended where the other is. Faces that nothing reaches keep what
// `otherwise` has.
template <int D>
void extend_phase(Field<D>& u, const Field<D>& otherwise, Field<D, uint8_t>& known, Field<D>& scratch, int axis,
                  const PhaseVelocities<D>& phases, const Own<D>& own, const ThinWalls<D>& thin_walls, const Tiles<D>& tiles)
{
    mark_own(known, own, axis, tiles);
    scratch.copy(u);  // the faces beside the tiles are read, too
    extrapolate(u, known, axis, phases.phi, tiles, tiles, layers, scratch, thin_walls, &otherwise);
}

// Phi as the other phase sees it. Its padding stays what it is.
template <int D>
void turn(Field<D>& phi, const Tiles<D>& tiles)
{
    const auto p = phi.view();
    parallel_for<true>("phase velocities", tiles, [=] TARN_KERNEL(Cell<D> c) { p(c) = -p(c); });
}

// The largest component of the velocity on faces of which water holds at least half.
template <int D>
float fastest_water(const FaceField<D>& velocity, const Field<D>& phi, const Tiles<D>& tiles)
{
    const FaceView<D, const float> u = velocity.view();
    const auto p = phi.view();
    return static_cast<float>(parallel_max("fastest water", tiles, [=] TARN_KERNEL(Cell<D> c) {
        float most = 0;
        const int i = p.index(c);
        for (int a = 0; a < D; ++a) {
            const float lower = c[a] > 0 ? p[i - p.next(a)] : p[i], here = std::fabs(u[a][i]);
            most = lower + p[i] <= 0 && here > most ? here : most;
        }
        return most;
    }));
}

}  // namespace

template <int D>
void hold_to_water(FaceField<D>& velocity, PhaseVelocities<D>& phases, const Tiles<D>& tiles)
{
    constexpr float times = 2;
    const float most = times * fastest_water(velocity, phases.phi, tiles);
    for (int a = 0; a < D; ++a) {
        phases.air[a].copy(velocity[a]);
        const auto u = velocity[a].view();
        parallel_for_faces<true>("phase velocities", tiles, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = u.index(c);
            const float v = u[i], below = v < most ? v : most;
            u[i] = below > -most ? below : -most;
        });
    }
}

template <int D>
void part_velocities(FaceField<D>& velocity, Gradient<D> (&gradient)[D], PhaseVelocities<D>& phases,
                     FaceField<D, uint8_t>& known, FaceField<D>& scratch, FaceField<D>& moved, const CutFaces<D>& cut,
                     const ThinWalls<D>& thin_walls, const Tiles<D>& tiles)
{
    const View<D, const float> phi = std::as_const(phases.phi).view();
    const Own<D> own{phi, cut, tiles.grid.cells};  // as phi is turned
    const bool gradients = gradient[0].any();
    for (int a = 0; a < D; ++a) {
        phases.air[a].copy(velocity[a]);
        if (gradients) moved[a].copy(velocity[a]);
        if (gradients)
            for (int b = 0; b < D; ++b) phases.air_gradient[a].along[b].copy(gradient[a].along[b]);
        extend_phase(velocity[a], phases.air[a], known[a], scratch[a], a, phases, own, thin_walls, tiles);
        if (gradients) follow_extension(gradient[a], velocity[a], moved[a], known[a], a, tiles);
    }
    turn(phases.phi, tiles);
    for (int a = 0; a < D; ++a) {
        extend_phase(phases.air[a], velocity[a], known[a], scratch[a], a, phases, own, thin_walls, tiles);
        if (gradients) follow_extension(phases.air_gradient[a], phases.air[a], moved[a], known[a], a, tiles);
    }
    turn(phases.phi, tiles);
}

template <int D>
void weigh_extensions(FaceField<D>& velocity, Gradient<D> (&gradient)[D], PhaseVelocities<D>& phases, const Params& params,
                      const CutFaces<D>& cut, const Tiles<D>& tiles)
{
    const double water = params.fluid.density.constant(), air = params.air.density.constant();
    const float rest = static_cast<float>(1 - std::fabs(water - air) / (water + air));
    const bool gradients = gradient[0].any();
    const auto phi = std::as_const(phases.phi).view();
    const Cell<D> cells = tiles.grid.cells;
    for (int a = 0; a < D; ++a) {
        const auto of_water = velocity[a].view(), of_air = phases.air[a].view();
        const FaceView<D> g_water = gradients ? gradient[a].view() : FaceView<D>{};
        const FaceView<D> g_air = gradients ? phases.air_gradient[a].view() : FaceView<D>{};
        parallel_for_faces("phase velocities", tiles, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = phi.index(c);
            const FaceSides beside = phi_beside(phi, cut, cells, c, a);
            const bool wet = beside.lower + beside.upper <= 0;
            const float own = wet ? of_water[i] : of_air[i], extended = wet ? of_air[i] : of_water[i];
            (wet ? of_air : of_water)[i] = extended + rest * (own - extended);
            for (int b = 0; b < D && gradients; ++b) {
                const float g_own = wet ? g_water[b][i] : g_air[b][i], g = wet ? g_air[b][i] : g_water[b][i];
                (wet ? g_air : g_water)[b][i] = g + rest * (g_own - g);
            }
        });
    }
}

template <int D>
void find_carried(PhaseVelocities<D>& phases, const Field<D>& phi, bool water, const Tiles<D>& tiles)
{
    const auto carried = phases.carried.view();
    const auto p = phi.view();
    const float sign = water ? 1.0f : -1.0f, reach = smearing * static_cast<float>(phi.grid().h);
    parallel_for<true>("phase velocities", tiles,
                       [=] TARN_KERNEL(Cell<D> c) { carried(c) = sign * p(c) - reach; });
}

template <int D>
void join_velocities(FaceField<D>& velocity, Gradient<D> (&gradient)[D], const PhaseVelocities<D>& phases,
                     const Field<D>& phi, const Params& params, const CutFaces<D>& cut, const Tiles<D>& tiles)
{
    const float water = static_cast<float>(params.fluid.density.constant()), air = static_cast<float>(params.air.density.constant());
    const float epsilon = smearing * static_cast<float>(phi.grid().h);
    const bool sharp = params.method.interface == Interface::sharp, gradients = gradient[0].any();
    const auto p = phi.view();
    const Cell<D> cells = tiles.grid.cells;
    for (int a = 0; a < D; ++a) {
        const auto u = velocity[a].view();
        const auto u_air = phases.air[a].view();
        const FaceView<D> g = gradients ? gradient[a].view() : FaceView<D>{};
        const FaceView<D, const float> g_air = gradients ? phases.air_gradient[a].view() : FaceView<D, const float>{};
        parallel_for_faces("phase velocities", tiles, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = p.index(c);
            const float share = water_share(phi_beside(p, cut, cells, c, a), sharp, epsilon);
            if (!(share < 1)) return;
            const float mass = share * water / (air + (water - air) * share), rest = 1 - mass;
            // What a phase does not hold it was not advected to.
            u[i] = share > 0 ? mass * u[i] + rest * u_air[i] : u_air[i];
            if (!gradients) return;
            for (int b = 0; b < D; ++b) g[b][i] = share > 0 ? mass * g[b][i] + rest * g_air[b][i] : g_air[b][i];
        });
    }
}

#define TARN_INSTANTIATE(D)                                                                                            \
    template void hold_to_water(FaceField<D>&, PhaseVelocities<D>&, const Tiles<D>&);                                  \
    template void weigh_extensions(FaceField<D>&, Gradient<D>(&)[D], PhaseVelocities<D>&, const Params&,               \
                                   const CutFaces<D>&, const Tiles<D>&);                                               \
    template void part_velocities(FaceField<D>&, Gradient<D>(&)[D], PhaseVelocities<D>&, FaceField<D, uint8_t>&,       \
                                  FaceField<D>&, FaceField<D>&, const CutFaces<D>&, const ThinWalls<D>&,                  \
                                  const Tiles<D>&);                                                                    \
    template void find_carried(PhaseVelocities<D>&, const Field<D>&, bool, const Tiles<D>&);                           \
    template void join_velocities(FaceField<D>&, Gradient<D>(&)[D], const PhaseVelocities<D>&, const Field<D>&,        \
                                  const Params&, const CutFaces<D>&, const Tiles<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
