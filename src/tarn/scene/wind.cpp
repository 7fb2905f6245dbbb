#include "tarn/scene/wind.h"

#include <algorithm>
#include <utility>

#include "tarn/field/sample.h"
#include "tarn/surface/measure.h"

namespace tarn {

Wind wind_of(const Scene& scene, const KernelShapes& where, double t, double h)
{
    Wind wind;
    if (!scene.params.wind) return wind;
    const WindParams& params = *scene.params.wind;
    const Vec3 u = params.velocity.at(t);
    wind.speed = length(u);
    if (wind.speed > 0) wind.direction = (1 / wind.speed) * u;
    wind.shear = params.shear;
    wind.shear_from = params.shear_from;
    wind.alpha = params.alpha.at(t);
    wind.fade = std::max(params.fade.value_or(0), h);
    wind.everywhere = scene.wind.empty();
    if (!wind.everywhere) wind.where = where.view();
    return wind;
}

template <int D>
void blow(FaceField<D>& velocity, const FaceField<D, uint8_t>& known, const Field<D>& phi, const Scene& scene,
          const Tiles<D>& tiles, double t, FaceField<D>& workspace)
{
    if (!scene.params.wind) return;
    const Grid<D> grid = phi.grid();
    const KernelShapes where = scene.wind.for_kernels(t);
    const Wind wind = wind_of(scene, where, t, grid.h);
    if (wind.alpha == 0) return;

    const auto p = phi.view();
    const FaceView<D, const float> old = std::as_const(velocity).view();
    for (int a = 0; a < D; ++a) {
        const auto next = workspace[a].view();
        const auto k = known[a].view();
        const int back = p.next(a), last = grid.cells[a];
        parallel_for_faces("wind", tiles, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = p.index(c);
            next[i] = old[a][i];
            if (k[i] || c[a] == 0 || c[a] == last || !(p[i] + p[i - back] > 0)) return;
            const Vec3 x = lift<D>(grid.face(c, a));
            const float speed = static_cast<float>(wind.speed_at(x));
            const Cell<D> below = moved<D>(c, a, -1);
            const Vec<D, float> u = 0.5f * (velocity_at_cell(old, c) + velocity_at_cell(old, below));
            const Vec<D, float> n = gradient_per_cell<D>(p, grid.cells, c) + gradient_per_cell<D>(p, grid.cells, below);
            float through = 0;
            for (int b = 0; b < D; ++b) through += n[b] * (speed * static_cast<float>(wind.direction[b]) - u[b]);
            const float steepness = dot(n, n);
            const float along = speed * static_cast<float>(wind.direction[a]) - old[a][i] -
                                (steepness > 0 ? n[a] * through / steepness : 0.0f);
            next[i] += static_cast<float>(wind.alpha * wind.part_at(x)) * along;
        });
    }
    for (int a = 0; a < D; ++a) {
        const auto u = velocity[a].view(), next = workspace[a].view();
        parallel_for_faces<true>("wind", tiles, a, [=] TARN_KERNEL(Cell<D> c) { u(c) = next(c); });
    }
}

#define TARN_INSTANTIATE(D)                                                                                             \
    template void blow(FaceField<D>&, const FaceField<D, uint8_t>&, const Field<D>&, const Scene&, const Tiles<D>&, double, \
                       FaceField<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
