#pragma once
// Water or smoke as plain arrays of values at the cells' centres, x fastest.

#include <vector>

#include "tarn/backend/parallel.h"
#include "tarn/field/sample.h"
#include "tarn/output/shown_levels.h"
#include "tarn/step/water.h"

namespace tarn {

struct CellValues {
    std::vector<float> phi;       // negative in water, and so nowhere in solids; empty with smoke
    std::vector<float> density, temperature;  // of smoke, K; empty with water
    std::vector<Vec3f> velocity;  // in 2D the last is zero
    std::vector<float> pressure;  // Pa; zero where there is no water
    std::vector<float> solid;     // the distance to solids; empty where there are none
};

template <int D>
CellValues cell_values(const Water<D>& water)
{
    const Cell<D> cells = water.grid.cells;
    const int depth = D == 3 ? cells[D - 1] : 1;
    const size_t width = static_cast<size_t>(cells[0]), count = width * cells[1] * depth;
    const size_t wet = water.smoke ? 0 : count, smoky = count - wet;
    CellValues values{std::vector<float>(wet), std::vector<float>(smoky), std::vector<float>(smoky), std::vector<Vec3f>(count), std::vector<float>(wet),
                      std::vector<float>(water.solids.any ? count : 0)};
    const ShownSmoke<D> smoke(water);
    const View<D, const float> density = smoke.density().view(), warmth = smoke.temperature().view();
    const float ambient = static_cast<float>(water.ambient);
    const View<D, const float> phi = water.phi.view(), solid = water.solids.distance.view();
    const View<D, const float> pressure = water.pressure.size() > 0 ? water.pressure.view() : View<D, const float>{};
    const FaceView<D, const float> velocity = water.velocity.view();
    const ShownLevels<D> levels(water);
    parallel_rows("gather cells", cells[1] * depth, [&](int row) {
        Cell<D> c;
        c[1] = row % cells[1];
        if constexpr (D == 3) c[2] = row / cells[1];
        for (c[0] = 0; c[0] < cells[0]; ++c[0]) {
            const size_t i = static_cast<size_t>(row) * width + static_cast<size_t>(c[0]);
            if (water.smoke) {
                values.density[i] = density(c);
                values.temperature[i] = ambient + warmth(c);
            } else {
                values.phi[i] = phi(c);
                if (phi(c) < 0 && pressure.data) values.pressure[i] = pressure(c);
            }
            const int level = levels.level_at(c);
            const Vec<D, float> u = level > 0 ? levels.velocity_at(level, c.template as<float>()) : velocity_at_cell(velocity, c);
            for (int a = 0; a < D; ++a) values.velocity[i][a] = u[a];
            if (!water.solids.any) continue;
            // Distances to solids sit on nodes, half a cell before the centres.
            const Vec<D, float> x = c.template as<float>() + Vec<D, float>::all(0.5f);
            values.solid[i] = sample(solid, locate(solid, x, cells));
            // phi itself goes on into solids; what is written is the water that is outside of them.
            if (!water.smoke) values.phi[i] = std::max(values.phi[i], -values.solid[i]);
        }
    });
    return values;
}

}  // namespace tarn
