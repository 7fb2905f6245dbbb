#include "tarn/scene/place_solids.h"

namespace tarn {

namespace {

// Distances, exact near the surface of a solid. A tile far from any surface gets one value.
template <int D>
void place_distance(Field<D>& nodes, const std::vector<Shape>& shapes)
{
    const Grid<D> grid = nodes.grid();
    const TileMap<D> map(grid);
    const double far = (0.5 * tile_size * std::sqrt(D) + 3) * grid.h;
    parallel_rows("place solids", static_cast<int>(map.flags.size()), [&](int i) {
        Box<D> box = map.box(map.tile(static_cast<size_t>(i)));
        const Vec<D> middle = 0.5 * grid.h * (box.lo + box.hi).template as<double>();
        const double d = distance(shapes, lift<D>(middle));
        // A tile owns its cells' lower nodes; the grid's last nodes go with the tile beside them.
        for (int a = 0; a < D; ++a)
            if (box.hi[a] == grid.cells[a]) ++box.hi[a];
        const bool constant = std::fabs(d) > far;
        backend::each(box, [&](Cell<D> c) {
            nodes(c) = static_cast<float>(constant ? d : distance(shapes, lift<D>(grid.node(c))));
        });
    });
}

}  // namespace

template <int D>
void place_solids(Solids<D>& solids, const Scene& scene, double t, double dt)
{
    const Grid<D> grid = solids.distance.grid();
    const auto shapes = scene.solids.at(t + dt);
    const Tiles<D> tiles = all_tiles(grid);
    place_distance(solids.distance, shapes);
    measure_faces(solids, tiles);
    if (!solids.moving && !solids.any_no_slip) return;

    std::vector<Pose> back(scene.solids.size());
    for (size_t s = 0; s < back.size(); ++s) back[s] = scene.solids.displacement(s, t + dt, t);
    for (int a = 0; a < D; ++a)
        parallel_for_faces("place solids", tiles, a, [&](Cell<D> c) {
            const bool closed = solids.open[a](c) < 1;
            int owner = 0;
            const Vec3 x = lift<D>(grid.face(c, a));
            if (closed) (void)distance(shapes, x, &owner);
            if (solids.moving) {
                // What is at x after the step was at back(x) before it.
                const Vec3 from = closed ? back[static_cast<size_t>(owner)].apply(x) : x;
                solids.velocity[a](c) = dt > 0 ? static_cast<float>((x[a] - from[a]) / dt) : 0.0f;
            }
            if (solids.any_no_slip)
                solids.no_slip[a](c) = closed && scene.params.solid[static_cast<size_t>(owner)].no_slip;
        });
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
