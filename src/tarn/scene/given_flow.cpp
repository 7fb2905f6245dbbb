#include "tarn/scene/given_flow.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tarn {

namespace {

// The flow at one time, as kernels see it.
template <int D>
struct GivenFlow {
    FlowField field;
    Vec<D> size;      // of the domain
    double strength;  // radians a second, or the factor of the time

    TARN_HD double component(Vec<D> x, int axis) const
    {
        if (field == FlowField::rotation) {
            if (axis > 1) return 0;
            const double from_middle = x[1 - axis] - 0.5 * size[1 - axis];
            return axis == 0 ? -strength * from_middle : strength * from_middle;
        }
        double square[D], twice[D];  // sin^2(pi x) and sin(2 pi x) along each axis
        for (int a = 0; a < D; ++a) {
            const double angle = std::numbers::pi * x[a] / size[a];
            const double s = std::sin(angle);
            square[a] = s * s;
            twice[a] = 2 * s * std::cos(angle);
        }
        if (field == FlowField::vortex) {
            if (axis > 1) return 0;
            return strength * size[axis] * (axis == 0 ? -square[0] * twice[1] : square[1] * twice[0]);
        }
        double u = axis == 0 ? 2 : -1;
        for (int a = 0; a < D; ++a) u *= a == axis ? square[a] : twice[a];
        return strength * size[axis] * u;
    }
};

}  // namespace

template <int D>
void prescribe(FaceField<D>& velocity, const FlowParams& flow, const Tiles<D>& tiles, double t)
{
    const Grid<D> grid = velocity.grid();
    const double turn = std::numbers::pi / flow.period;
    const GivenFlow<D> given{flow.field, grid.size(),
                             flow.field == FlowField::rotation ? 2 * turn : std::cos(turn * t)};
    for (int a = 0; a < D; ++a) {
        const auto u = velocity[a].view();
        parallel_for_faces("given flow", tiles, a, [=] TARN_KERNEL(Cell<D> c) {
            u(c) = static_cast<float>(given.component(grid.face(c, a), a));
        });
    }
}

template <int D>
double fastest(const FlowParams& flow, const Grid<D>& grid)
{
    const Vec<D> size = grid.size();
    if (flow.field == FlowField::rotation) return std::numbers::pi / flow.period * std::max(size[0], size[1]);
    double most = 0;
    for (int a = 0; a < D; ++a)
        most = std::max(most, flow.field == FlowField::deformation && a == 0 ? 2 * size[a] : size[a]);
    return most;
}

template void prescribe(FaceField<2>&, const FlowParams&, const Tiles<2>&, double);
template void prescribe(FaceField<3>&, const FlowParams&, const Tiles<3>&, double);
template double fastest(const FlowParams&, const Grid<2>&);
template double fastest(const FlowParams&, const Grid<3>&);

}  // namespace tarn
