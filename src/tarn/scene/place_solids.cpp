#include "tarn/scene/place_solids.h"

#include <utility>

namespace tarn {

namespace {

// How a solid moves: back in time, by a step.
struct Motion {
    Pose back;
    bool no_slip = false;
};

// Distances at nodes, exact near the surface of a solid. A tile far from any surface gets the one of its middle.
template <int D>
void place_distance(Field<D>& nodes, const ShapesView& shapes, const Tiles<D>& tiles)
{
    const Grid<D> grid = nodes.grid();
    const TileMap<D> map(grid);
    const Cell<D> tiles_along = map.count;
    Memory<float> middles(map.flags.size());
    float* const middle = middles.data();
    parallel_range("place solids", static_cast<int>(map.flags.size()), [=] TARN_KERNEL(int n) {
        Vec<D> x;
        int left = n;
        for (int a = 0; a < D; ++a) {
            const int lo = left % tiles_along[a] * tile_size, hi = lo + tile_size;
            left /= tiles_along[a];
            x[a] = 0.5 * grid.h * (lo + (hi < grid.cells[a] ? hi : grid.cells[a]));
        }
        middle[n] = static_cast<float>(shapes.distance(lift<D>(x)));
    });

    // A tile owns its cells' lower nodes; the grid's last nodes go with the tile beside them.
    const float far = static_cast<float>((0.5 * tile_size * std::sqrt(D) + 3) * grid.h);
    const auto v = nodes.view();
    parallel_for_nodes("place solids", tiles, [=] TARN_KERNEL(Cell<D> c) {
        int n = 0;
        for (int a = D - 1; a >= 0; --a) {
            const int t = c[a] / tile_size;
            n = n * tiles_along[a] + (t < tiles_along[a] ? t : tiles_along[a] - 1);
        }
        const float d = middle[n];
        v(c) = std::fabs(d) > far ? d : static_cast<float>(shapes.distance(lift<D>(grid.node(c))));
    });
}

}  // namespace

template <int D>
void place_solids(Solids<D>& solids, const Scene& scene, double t, double dt)
{
    const Grid<D> grid = solids.distance.grid();
    const KernelShapes kept = scene.solids.for_kernels(t + dt);
    const ShapesView shapes = kept.view();
    const Tiles<D> tiles = all_tiles(grid);
    place_distance(solids.distance, shapes, tiles);
    measure_faces(solids, tiles);
    if (!solids.moving && !solids.any_no_slip) return;

    std::vector<Motion> motions(scene.solids.size());
    for (size_t s = 0; s < motions.size(); ++s)
        motions[s] = {scene.solids.displacement(s, t + dt, t), scene.params.solid[s].no_slip};
    const Mirror mirror;
    const Motion* const motion = mirror.of(motions.data(), motions.size());
    const bool moving = solids.moving, any_no_slip = solids.any_no_slip;
    for (int a = 0; a < D; ++a) {
        const auto open = std::as_const(solids.open)[a].view();
        const View<D> velocity = moving ? solids.velocity[a].view() : View<D>{};
        const View<D, uint8_t> no_slip = any_no_slip ? solids.no_slip[a].view() : View<D, uint8_t>{};
        parallel_for_faces("place solids", tiles, a, [=] TARN_KERNEL(Cell<D> c) {
            const bool closed = open(c) < 1;
            int owner = 0;
            const Vec3 x = lift<D>(grid.face(c, a));
            if (closed) (void)shapes.distance(x, &owner);
            // What is at x after the step was at back(x) before it.
            const Vec3 from = closed && moving ? motion[owner].back.apply(x) : x;
            if (moving) velocity(c) = dt > 0 ? static_cast<float>((x[a] - from[a]) / dt) : 0.0f;
            if (any_no_slip) no_slip(c) = closed && motion[owner].no_slip;
        });
    }
}

template <int D>
Solids<D> make_solids(const Scene& scene, const Grid<D>& grid)
{
    Solids<D> solids;
    if (scene.solids.empty()) return solids;
    solids.any = true;
    solids.moving = scene.solids.moving();
    for (const auto& solid : scene.params.solid) solids.any_no_slip |= solid.no_slip;
    solids.distance = Field<D>(grid);
    solids.open = FaceField<D>(grid);
    if (solids.moving) solids.velocity = FaceField<D>(grid);
    if (solids.any_no_slip) solids.no_slip = FaceField<D, uint8_t>(grid);
    place_solids(solids, scene, 0, 0);
    return solids;
}

#define TARN_INSTANTIATE(D)                                       \
    template Solids<D> make_solids(const Scene&, const Grid<D>&); \
    template void place_solids(Solids<D>&, const Scene&, double, double);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
