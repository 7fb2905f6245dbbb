#include "tarn/scene/surface_pressure.h"

#include <algorithm>
#include <numbers>

#include "tarn/scene/wave_theory.h"

namespace tarn {

template <int D>
void set_surface_pressure(Field<D>& pressure, const Scene& scene, const Tiles<D>& tiles, double t)
{
    const Params& params = scene.params;
    const Grid<D> grid = pressure.grid();
    const auto p = pressure.view();
    parallel_for("surface pressure", tiles, [=] TARN_KERNEL(Cell<D> c) { p(c) = 0; });
    for (size_t i = 0; i < params.surface_pressure.size(); ++i) {
        const SurfacePressureParams& s = params.surface_pressure[i];
        // strength cos(wave . x - phase)
        double strength = s.pressure.at(t), phase = 0;
        Vec3 wave;
        if (s.wavelength) {
            const double g = length(params.domain.gravity.at(0)), k = 2 * std::numbers::pi / *s.wavelength;
            const double omega = wave_frequency(k, *s.level - s.bottom, g);
            const double within = s.within.value_or(6 * std::numbers::pi / omega);
            const double sine = t < within ? std::sin(std::numbers::pi * t / within) : 0;
            strength = 2 * params.fluid.density.constant() * g * *s.wave_height / (omega * within) * sine * sine;
            const Vec3 level{s.direction[0], 0, s.direction[2]};
            wave = (k / length(level)) * level;
            phase = omega * t;
        }
        if (strength == 0) continue;
        const KernelShapes shapes = scene.pressures[i].for_kernels(t);
        const ShapesView where = shapes.view();
        const bool everywhere = scene.pressures[i].empty();
        const double fade = std::max(s.fade.value_or(0), grid.h);
        parallel_for("surface pressure", tiles, [=] TARN_KERNEL(Cell<D> c) {
            const Vec3 x = lift<D>(grid.centre(c));
            double part = everywhere ? 1 : -where.distance(x) / fade;
            part = part < 0 ? 0 : (part > 1 ? 1 : part);
            p(c) += static_cast<float>(part * strength * std::cos(dot(wave, x) - phase));
        });
    }
}

template void set_surface_pressure(Field<2>&, const Scene&, const Tiles<2>&, double);
template void set_surface_pressure(Field<3>&, const Scene&, const Tiles<3>&, double);

}  // namespace tarn
