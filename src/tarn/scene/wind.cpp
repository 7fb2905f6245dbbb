#include "tarn/scene/wind.h"

#include <algorithm>

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
          const Tiles<D>& tiles, double t)
{
    if (!scene.params.wind) return;
    const Grid<D> grid = phi.grid();
    const KernelShapes where = scene.wind.for_kernels(t);
    const Wind wind = wind_of(scene, where, t, grid.h);
    if (wind.alpha == 0) return;

    const auto p = phi.view();
    for (int a = 0; a < D; ++a) {
        const double direction = wind.direction[a];
        const auto v = velocity[a].view();
        const auto k = known[a].view();
        const int back = p.next(a), last = grid.cells[a];
        parallel_for_faces("wind", tiles, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = p.index(c);
            if (k[i] || c[a] == 0 || c[a] == last || !(p[i] + p[i - back] > 0)) return;
            const Vec3 x = lift<D>(grid.face(c, a));
            const double alpha = wind.alpha * wind.part_at(x);
            v[i] = static_cast<float>((1 - alpha) * static_cast<double>(v[i]) + alpha * direction * wind.speed_at(x));
        });
    }
}

template void blow(FaceField<2>&, const FaceField<2, uint8_t>&, const Field<2>&, const Scene&, const Tiles<2>&, double);
template void blow(FaceField<3>&, const FaceField<3, uint8_t>&, const Field<3>&, const Scene&, const Tiles<3>&, double);

}  // namespace tarn
