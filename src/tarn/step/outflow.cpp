// What leaves through the domain's open sides.

#include <algorithm>
#include <utility>
#include <vector>

#include "tarn/backend/parallel.h"
#include "tarn/step/boundary.h"
#include "tarn/step/surface.h"
#include "tarn/surface/measure.h"

namespace tarn {

namespace {

// The wet part of the slice of a cell beside one of its sides, both in cells.
template <int D>
TARN_HD inline float wet_slice(const View<D, const float>& phi, Cell<D> cells, Cell<D> c, int axis, int side, float thick, float h,
                               const ThinWalls<D>& thin_walls)
{
    const float p = phi(c);
    if (p > h) return 0;
    if (p < -h) return thick;
    Vec<D, float> g = gradient_per_cell<D>(phi, cells, c, thin_walls);
    const float middle = p + (side ? 1.0f : -1.0f) * (0.5f - 0.5f * thick) * g[axis];
    g[axis] *= thick;
    return thick * fraction_behind<D>(middle, g);
}

}  // namespace

template <int D>
double outflow(const Water<D>& w, Boundary<D> boundary, double dt)
{
    double volume = 0;
    const auto phi = w.phi.view();
    const float h = static_cast<float>(w.grid.h), s = static_cast<float>(dt) / h;
    const ThinWalls<D> thin_walls = thin_walls_of(w.solids, w.grid);
    for (int a = 0; a < D; ++a)
        for (int side = 0; side < 2; ++side) {
            if (!boundary.wall_open[a][side]) continue;
            const int layer = side ? w.grid.cells[a] - 1 : 0;
            const auto u = w.velocity[a].view();
            volume += parallel_sum("outflow", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
                if (c[a] != layer) return 0.0;
                const Cell<D> face = moved<D>(c, a, side);
                float way = s * (side ? u(face) : -u(face)), wet = 0;  // what comes in is air
                for (Cell<D> from = c; way > 0 && from[a] >= 0 && from[a] < boundary.cells[a]; from[a] += side ? -1 : 1, way -= 1)
                    wet += wet_slice<D>(phi, boundary.cells, from, a, side, way < 1 ? way : 1.0f, h, thin_walls);
                return static_cast<double>(wet * boundary.open_at(face, a));
            });
        }
    return volume * cell_volume(w.grid);
}

template <int D>
void let_components_out(Water<D>& w, const std::vector<double>& gone)
{
    if (gone.empty()) return;
    SumsByComponent sums(gone.size());
    const SumsByComponent::Adder add = sums.adder();
    const auto before = std::as_const(w.targets.before).view();
    for (int a = 0; a < D; ++a)
        for (int side = 0; side < 2; ++side) {
            if (!w.ends.open[a][side]) continue;
            const auto u = w.velocity[a].view();
            parallel_for("outflow", along_side(w.tiles_active, a, side), [=] TARN_KERNEL(Cell<D> c) {
                const float out = u(moved<D>(c, a, side));
                if (before(c) > 0 && (side ? out >= 0 : out <= 0)) add(c, before(c), 1);
            });
        }
    const std::vector<double> beside = sums.result();
    for (size_t i = 0; i < gone.size(); ++i) {
        if (beside[i] > 0)
            w.volume_expected = std::max(0.0, w.volume_expected - gone[i]);
        else if (gone[i] != 0)
            share_out(w.targets, gone[i]);
    }
}

#define TARN_INSTANTIATE(D)                                        \
    template double outflow(const Water<D>&, Boundary<D>, double); \
    template void let_components_out(Water<D>&, const std::vector<double>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
