#include "tarn/pressure/walls.h"

#include <utility>

#include "tarn/pressure/surface_view.h"

namespace tarn {

template <int D>
void close_walls(FaceField<D>& velocity, FaceField<D, uint8_t>& known, const WallFaces<D>& walls, bool before,
                 const Boundary<D>& boundary, const Tiles<D>& active)
{
    for (int a = 0; a < D; ++a)
        for (int side = 0; side < 2; ++side) {
            if (boundary.wall_open[a][side]) continue;
            const auto u = velocity[a].view();
            const auto k = known[a].view();
            const float *const free = walls.free[a][side].data(), *const wall = walls.wall[a][side].data();
            parallel_for("close walls", along_side(active, a, side), [=] TARN_KERNEL(Cell<D> c) {
                const Cell<D> face = moved<D>(c, a, side);
                const int n = place_at_side<D>(boundary.cells, c, a);
                const bool separated = boundary.parted_from_side(face, a);
                if (separated && before) u(face) = free[n];
                if (separated) return;
                u(face) = boundary.inlet_at(face, a) ? boundary.closed_velocity(face, a) : wall[n];
                k(face) = 1;
            });
        }
}

template <int D>
void start_walls(WallFaces<D>& walls, const FaceField<D>& velocity, const Boundary<D>& boundary,
                 const Tiles<D>& active)
{
    for (int a = 0; a < D; ++a)
        for (int side = 0; side < 2; ++side) {
            if (boundary.wall_open[a][side]) continue;
            const auto u = velocity[a].view();
            const Cell<D> cells = boundary.cells;
            const int faces = static_cast<int>(velocity.grid().count() / cells[a]);
            float* const free = storage_for(walls.free[a][side], faces);
            float* const wall = storage_for(walls.wall[a][side], faces);
            parallel_for("close walls", along_side(active, a, side), [=] TARN_KERNEL(Cell<D> c) {
                const int n = place_at_side<D>(cells, c, a);
                free[n] = u(moved<D>(c, a, side));
                wall[n] = 0;
            });
        }
}

template <int D>
void average_cut_faces(FaceField<D>& velocity, const Field<D>& phi, const Boundary<D>& boundary, const Tiles<D>& active,
                       FaceField<D>& scratch)
{
    const SurfaceView<D> surface{phi.grid().cells, phi.view(), static_cast<float>(phi.grid().h), {}, 0, {}, 0, {}};
    const auto is_cut = [=] TARN_KERNEL(Cell<D> c, int a) {
        if (boundary.at_wall(c, a)) return false;
        const float open = boundary.open_at(c, a);
        return open > 0 && open < 1 && surface.wet(c, a) != surface.wet(moved<D>(c, a, -1), a);
    };
    for (int a = 0; a < D; ++a) {
        const auto u = velocity[a].view(), next = scratch[a].view();
        parallel_for_faces("average cut faces", active, a, [=] TARN_KERNEL(Cell<D> c) {
            if (!is_cut(c, a)) return;
            const Cell<D> inner = moved<D>(c, a, surface.wet(c, a) ? 1 : -1);
            const float open = boundary.open_at(c, a), part = boundary.open_at(inner, a);
            const float inside = part * u(inner) + (1 - part) * boundary.closed_velocity(inner, a);
            next(c) = open * u(c) + (1 - open) * inside;
        });
        parallel_for_faces("average cut faces", active, a, [=] TARN_KERNEL(Cell<D> c) {
            if (is_cut(c, a)) u(c) = next(c);
        });
    }
}

#define TARN_INSTANTIATE(D)                                                                                                 \
    template void start_walls(WallFaces<D>&, const FaceField<D>&, const Boundary<D>&, const Tiles<D>&);                     \
    template void close_walls(FaceField<D>&, FaceField<D, uint8_t>&, const WallFaces<D>&, bool, const Boundary<D>&,         \
                              const Tiles<D>&);                                                                             \
    template void average_cut_faces(FaceField<D>&, const Field<D>&, const Boundary<D>&, const Tiles<D>&, FaceField<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
