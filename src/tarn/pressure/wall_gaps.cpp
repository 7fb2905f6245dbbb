#include "tarn/pressure/wall_gaps.h"

#include <utility>

#include "tarn/backend/atomic.h"
#include "tarn/pressure/surface_fraction.h"

namespace tarn {

namespace {

// What a place along a side is, where it is no region.
constexpr int not_known = -1, water = -2;

}  // namespace

// Regions spread along the side from gap to gap, the one with the largest number where several meet.
template <int D>
void WallGaps<D>::follow_gaps(const Boundary<D>& boundary, const Tiles<D>& layer, int axis, int places)
{
    const Cell<D> cells = boundary.cells;
    for (double changed = 1; changed > 0;) {
        const int* const now = region_.data();
        int* const next = storage_for(next_, places);
        changed = parallel_sum("gaps at walls", layer, [=] TARN_KERNEL(Cell<D> c) {
            const int n = place_at_side<D>(cells, c, axis);
            int best = now[n];
            for (int b = 0; b < D && now[n] == not_known; ++b)
                for (int by = -1; b != axis && by < 2; by += 2) {
                    const Cell<D> other = moved<D>(c, b, by);
                    if (other[b] < 0 || other[b] >= cells[b]) continue;
                    const int there = now[place_at_side<D>(cells, other, axis)];
                    best = there > best ? there : best;
                }
            next[n] = best;
            return best != now[n] ? 1.0 : 0.0;
        });
        std::swap(region_, next_);
    }
}

template <int D>
bool WallGaps<D>::add_side(std::vector<RegionFace>& faces, const View<D, const float>& phi, const FaceView<D, const float>& velocity,
                           const Boundary<D>& boundary, const Tiles<D>& layer, int axis, int side, int with_voids)
{
    const float h = static_cast<float>(layer.grid.h);
    const int* const regions = region_.data();
    const double voids = parallel_sum("gaps at walls", layer, [=] TARN_KERNEL(Cell<D> c) {
        return regions[place_at_side<D>(boundary.cells, c, axis)] == not_known ? 1.0 : 0.0;
    });
    RegionFace* const found = storage_for(faces_, static_cast<int>(layer.cells()));
    int* const count = storage_for(count_, 1);
    parallel_range("gaps at walls", 1, [=] TARN_KERNEL(int) { *count = 0; });
    parallel_for("gaps at walls", layer, [=] TARN_KERNEL(Cell<D> c) {
        const int here = regions[place_at_side<D>(boundary.cells, c, axis)], region = here == not_known ? with_voids : here;
        const Cell<D> face = moved<D>(c, axis, side);
        const float open = boundary.open_at(face, axis);
        if (!(phi(c) < 0) || region <= 0 || !(open > 0)) return;
        const float closeness = 1 / surface_fraction(phi(c), phi(moved<D>(c, axis, 2 * side - 1)), h);
        found[atomic_add(count, 1)] = {region - 1, phi.index(c), phi.index(face), axis, 1 - side, open, closeness, 0, velocity[axis](face)};
    });
    int number = 0;
    backend::copy(&number, count, sizeof number);
    const size_t before = faces.size();
    faces.resize(before + static_cast<size_t>(number));
    backend::copy(faces.data() + before, found, static_cast<size_t>(number) * sizeof(RegionFace));
    return voids > 0;
}

template <int D>
bool WallGaps<D>::add_faces(std::vector<RegionFace>& faces, const View<D, const float>& phi, const FaceView<D, const float>& velocity,
                            const Boundary<D>& boundary, const View<D, const int>& region, int with_voids, const Grid<D>& grid)
{
    if (!boundary.phi.data || !region.data) return false;
    const Tiles<D> all = all_tiles(grid);
    bool voids = false;
    for (int a = 0; a < D; ++a)
        for (int side = 0; side < 2; ++side) {
            if (boundary.wall_open[a][side]) continue;
            const Tiles<D> layer = along_side(all, a, side);
            const int places = static_cast<int>(layer.cells());
            int* const here = storage_for(region_, places);
            const double gaps = parallel_sum("gaps at walls", layer, [=] TARN_KERNEL(Cell<D> c) {
                const int own = region(c);
                const bool gap = phi(c) < 0 && !is_outside(phi(moved<D>(c, a, 2 * side - 1)));
                here[place_at_side<D>(boundary.cells, c, a)] = gap ? not_known : phi(c) < 0 ? water : own > 0 ? own : 0;
                return gap ? 1.0 : 0.0;
            });
            if (gaps == 0) continue;
            follow_gaps(boundary, layer, a, places);
            voids = add_side(faces, phi, velocity, boundary, layer, a, side, with_voids) || voids;
        }
    return voids;
}

template class WallGaps<2>;
template class WallGaps<3>;

}  // namespace tarn
