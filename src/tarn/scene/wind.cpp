#include "tarn/scene/wind.h"

#include <algorithm>

namespace tarn {

namespace {

// The wind at one time, as kernels see it.
struct Wind {
    double direction = 0;  // the component, of length one, that a kernel asks for
    double speed = 0, shear = 0, shear_from = 0;
    double alpha = 0, fade = 1;
    ShapesView where;
    bool everywhere = true;

    // It blows faster with height, and never turns around.
    TARN_HD double velocity_at(Vec3 x) const
    {
        const double s = speed + shear * (x[1] - shear_from);
        return direction * (s > 0 ? s : 0);
    }
    // It grows from nothing at the edge of its shape to alpha inside.
    TARN_HD double alpha_at(Vec3 x) const
    {
        if (everywhere) return alpha;
        const double inside = -where.distance(x) / fade;
        return alpha * (inside < 0 ? 0 : (inside > 1 ? 1 : inside));
    }
};

}  // namespace

template <int D>
void blow(FaceField<D>& velocity, const FaceField<D, uint8_t>& known, const Field<D>& phi, const Scene& scene,
          const Tiles<D>& tiles, double t)
{
    if (!scene.params.wind) return;
    const WindParams& params = *scene.params.wind;
    const Grid<D> grid = phi.grid();
    const Vec3 u = params.velocity.at(t);
    const KernelShapes where = scene.wind.for_kernels(t);
    Wind wind;
    wind.speed = length(u);
    wind.shear = params.shear;
    wind.shear_from = params.shear_from;
    wind.alpha = params.alpha.at(t);
    wind.fade = std::max(params.fade.value_or(0), grid.h);
    wind.everywhere = scene.wind.empty();
    if (!wind.everywhere) wind.where = where.view();
    if (wind.alpha == 0) return;

    const auto p = phi.view();
    for (int a = 0; a < D; ++a) {
        wind.direction = wind.speed > 0 ? u[a] / wind.speed : 0;
        const auto v = velocity[a].view();
        const auto k = known[a].view();
        const int back = p.next(a), last = grid.cells[a];
        parallel_for_faces("wind", tiles, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = p.index(c);
            if (k[i] || c[a] == 0 || c[a] == last || !(p[i] + p[i - back] > 0)) return;
            const Vec3 x = lift<D>(grid.face(c, a));
            const double alpha = wind.alpha_at(x);
            v[i] = static_cast<float>((1 - alpha) * static_cast<double>(v[i]) + alpha * wind.velocity_at(x));
        });
    }
}

template void blow(FaceField<2>&, const FaceField<2, uint8_t>&, const Field<2>&, const Scene&, const Tiles<2>&, double);
template void blow(FaceField<3>&, const FaceField<3, uint8_t>&, const Field<3>&, const Scene&, const Tiles<3>&, double);

}  // namespace tarn
