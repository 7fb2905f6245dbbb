#include "tarn/scene/place_solids.h"

#include <algorithm>
#include <utility>

#include "tarn/shapes/sight.h"

namespace tarn {

namespace {

// How a solid moves by a step, and back in time.
struct Motion {
    Pose forth, back;
    bool no_slip = false;
    uint8_t body = 0;  // rigid, counted from 1
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

// Whether a wall parts a cell from its lower neighbour along an axis; seen from the cell.
template <int D>
TARN_HD inline bool sheet_at(const ShapesView& solids, const Grid<D>& grid, Cell<D> c, int axis,
                             Obstacle* wall = nullptr)
{
    if (c[axis] == 0 || c[axis] == grid.cells[axis]) return false;
    Vec3 x = lift<D>(grid.centre(c)), y = x;
    y[axis] -= grid.h;
    const double dx = distance_at<D>(solids, x), dy = distance_at<D>(solids, y);
    if (dx > grid.h || dy > grid.h || (dx > 0 && dy > 0 && dx + dy > grid.h)) return false;
    if (!stand_outside<D>(solids, grid.h, x) || !stand_outside<D>(solids, grid.h, y)) return false;
    if (std::fabs(dot(y - x, normal_at<D>(solids, x, grid.h))) > 2 * too_deep * grid.h) return false;
    return !sees<D>(solids, grid.h, x, y, wall);
}

// The volume that a cell has on its side of the thin walls around it, in cells, up to the walls and not just to its faces: so
// the volume on a side changes smoothly while a wall passes over the grid. A wall counts along the axis that it lies
// across most, along which it stands beside one cell of each row.
template <int D>
TARN_HD inline float volume_fraction_beside_walls(const ShapesView& solids, const ThinWalls<D>& thin_walls, const Grid<D>& grid,
                                        Cell<D> c)
{
    const Vec3 centre = lift<D>(grid.centre(c));
    const int i = thin_walls.on[0].index(c);
    double fraction = 1;
    for (int a = 0; a < D; ++a)
        for (int side = -1; side <= 1; side += 2) {
            if (!thin_walls.beside(i, a, side > 0)) continue;
            Vec3 x = centre, y = centre;
            y[a] += side * grid.h;
            (void)stand_outside<D>(solids, grid.h, x);
            (void)stand_outside<D>(solids, grid.h, y);
            Obstacle wall;
            if (sees<D>(solids, grid.h, x, y, &wall)) continue;
            const Vec3 n = normal_at<D>(solids, wall.at, grid.h);
            bool across = true;
            for (int b = 0; b < D; ++b) across = across && std::fabs(n[a]) >= std::fabs(n[b]);
            if (!across) continue;
            const double to_wall = side * dot(wall.at - centre, n) / (n[a] * grid.h);
            fraction += (to_wall < -0.5 ? -0.5 : (to_wall > 1 ? 1 : to_wall)) - 0.5;
        }
    return static_cast<float>(fraction > 0 ? fraction : 0);
}

// Finds the walls that are too thin for the distances at nodes, and closes the faces between the cells on their sides.
// A scene without them costs one look at the cells beside its solids, and nothing where no shape is that thin.
template <int D>
void place_thin_walls(Solids<D>& solids, const KernelShapes& kept, const Tiles<D>& tiles)
{
    const ShapesView shapes = kept.view();
    const Grid<D> grid = solids.distance.grid();
    const auto nodes = std::as_const(solids.distance).view();
    const float near = static_cast<float>(3 * grid.h);
    solids.thin_walls.swap(solids.thin_walls_before);
    solids.thin_before = solids.thin;
    solids.thin = may_be_thin(kept.shapes(), grid.h, D) && parallel_max("find thin walls", tiles, [=] TARN_KERNEL(Cell<D> c) {
                      if (std::fabs(nodes(c)) > near) return 0.0f;
                      for (int a = 0; a < D; ++a) {
                          Obstacle obstacle;
                          if (sheet_at(shapes, grid, c, a, &obstacle) && obstacle.wall) return 1.0f;
                      }
                      return 0.0f;
                  }) > 0;
    if (!solids.thin && !solids.thin_before) return;
    if (solids.thin_walls[0].size() == 0) solids.thin_walls = FaceField<D, uint8_t>(grid);
    const bool thin = solids.thin;
    for (int a = 0; a < D; ++a) {
        const auto sheet = solids.thin_walls[a].view();
        const auto open = solids.open[a].view();
        parallel_for_faces("place sheets", tiles, a, [=] TARN_KERNEL(Cell<D> c) {
            sheet(c) = thin && std::fabs(nodes(c)) <= near && sheet_at(shapes, grid, c, a);
            if (sheet(c)) open(c) = 0;
        });
    }
    if (!thin) return;
    if (solids.volume_fraction.size() == 0) solids.volume_fraction = Field<D>(grid);
    const ThinWalls<D> thin_walls = thin_walls_of(solids, grid);
    const auto fraction = solids.volume_fraction.view();
    const float h = static_cast<float>(grid.h);
    parallel_for("room beside sheets", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = fraction.index(c);
        bool any = false;
        for (int a = 0; a < D; ++a) any = any || thin_walls.below(i, a) || thin_walls.above(i, a);
        fraction[i] = any ? volume_fraction_beside_walls(shapes, thin_walls, grid, c) : fluid_fraction<D>(nodes, c, h);
    });
}

// From cell c beside solids `here`, the way to a cell beside solids `there` that is on the same side of all walls.
// A solid comes from here to there by its motion, forth or back.
template <int D>
TARN_HD inline Cell<D> cell_on_same_side(const ShapesView& here, const ShapesView& there, const Motion* motion,
                                         bool back, const Grid<D>& grid, Cell<D> c)
{
    Vec3 x = lift<D>(grid.centre(c));
    if (!stand_outside<D>(here, grid.h, x)) return Cell<D>{};
    int owner = 0;
    (void)here.distance(x, &owner);
    const Vec3 moved = (back ? motion[owner].back : motion[owner].forth).apply(x);
    // The cell itself, where it has not changed sides; else the nearest.
    Vec3 y = lift<D>(grid.centre(c));
    if (stand_outside<D>(there, grid.h, y) && sees<D>(there, grid.h, moved, y)) return Cell<D>{};
    const Cell<D> middle = cell_at((1 / grid.h * take<D>(moved) - Vec<D>::all(0.5)).template as<float>(), grid.cells);
    double least = HUGE_VAL;
    Cell<D> nearest = middle;
    for (int n = 0; n < (D == 2 ? 9 : 27); ++n) {
        Cell<D> cell = middle;
        for (int a = 0, rest = n; a < D; ++a, rest /= 3) cell[a] += rest % 3 - 1;
        if (!grid.contains(cell)) continue;
        y = lift<D>(grid.centre(cell));
        const double far = length(y - moved);
        if (far < least && stand_outside<D>(there, grid.h, y) && sees<D>(there, grid.h, moved, y)) {
            least = far;
            nearest = cell;
        }
    }
    return nearest - c;
}

// Follows thin walls over a step: from where they were before it, `before`, to where they are now.
template <int D>
void follow_walls(Solids<D>& solids, const ShapesView& before, const ShapesView& now, const Motion* motion,
                  double farthest, const Tiles<D>& tiles)
{
    const Grid<D> grid = solids.distance.grid();
    if (solids.came_from[0].size() == 0) {
        solids.came_from = FaceField<D, int8_t>(grid);
        solids.goes_to = FaceField<D, int8_t>(grid);
    }
    const auto nodes = std::as_const(solids.distance).view();
    const auto from = solids.came_from.view(), to = solids.goes_to.view();
    // A distance at a node may be that of its tile's middle.
    const float near = static_cast<float>((0.5 * tile_size * std::sqrt(D) + 3) * grid.h + 2 * farthest);
    parallel_for("follow walls", tiles, [=] TARN_KERNEL(Cell<D> c) {
        Cell<D> there, here;
        if (std::fabs(nodes(c)) < near) {
            there = cell_on_same_side(now, before, motion, true, grid, c);
            here = cell_on_same_side(before, now, motion, false, grid, c);
        }
        for (int a = 0; a < D; ++a) {
            from[a](c) = static_cast<int8_t>(there[a]);
            to[a](c) = static_cast<int8_t>(here[a]);
        }
    });
}

// The longest way that any point of the domain would go with one of the solids: that of a corner.
template <int D>
double farthest_motion(const Grid<D>& grid, const std::vector<Motion>& motions)
{
    double farthest = 0;
    for (const Motion& m : motions)
        for (int corner = 0; corner < (1 << D); ++corner) {
            Vec<D> x = grid.size();
            for (int a = 0; a < D; ++a)
                if (corner >> a & 1) x[a] = 0;
            farthest = std::max(farthest, length(m.forth.apply(lift<D>(x)) - lift<D>(x)));
        }
    return farthest;
}

}  // namespace

template <int D>
void place_solids(Solids<D>& solids, const Scene& scene, double t, double dt)
{
    const Grid<D> grid = solids.distance.grid();
    const KernelShapes kept = scene.solids.for_kernels(t + dt, {lift<D>(grid.size()), grid.h});
    const ShapesView shapes = kept.view();
    const Tiles<D> tiles = all_tiles(grid);
    place_distance(solids.distance, shapes, tiles);
    measure_faces(solids, tiles, sliver);
    place_thin_walls(solids, kept, tiles);
    if (!solids.moving && !solids.any_no_slip) return;

    std::vector<Motion> motions(scene.solids.size());
    for (size_t s = 0; s < motions.size(); ++s)
        motions[s] = {scene.solids.displacement(s, t, t + dt), scene.solids.displacement(s, t + dt, t),
                      scene.params.solid[s].no_slip, static_cast<uint8_t>(scene.solids.body_of(s) + 1)};
    const DeviceCopy device_copy;
    const Motion* const motion = device_copy.of(motions.data(), motions.size());
    if (solids.moving && dt > 0 && (solids.thin || solids.thin_before)) {
        const KernelShapes before = scene.solids.for_kernels(t);
        follow_walls(solids, before.view(), shapes, motion, farthest_motion(grid, motions), tiles);
    }
    const bool moving = solids.moving, any_no_slip = solids.any_no_slip, any_body = scene.solids.any_body();
    for (int a = 0; a < D; ++a) {
        const auto open = std::as_const(solids.open)[a].view();
        const View<D> velocity = moving ? solids.velocity[a].view() : View<D>{};
        const View<D, uint8_t> body = any_body ? solids.body[a].view() : View<D, uint8_t>{};
        const View<D, uint8_t> no_slip = any_no_slip ? solids.no_slip[a].view() : View<D, uint8_t>{};
        parallel_for_faces("place solids", tiles, a, [=] TARN_KERNEL(Cell<D> c) {
            const bool closed = open(c) < 1;
            int owner = 0;
            const Vec3 x = lift<D>(grid.face(c, a));
            if (closed) (void)shapes.distance(x, &owner);
            // What is at x after the step was at back(x) before it.
            const Vec3 from = closed && moving ? motion[owner].back.apply(x) : x;
            // Pages with nothing but open faces are not touched.
            if (moving && (closed || velocity(c) != 0)) velocity(c) = dt > 0 ? static_cast<float>((x[a] - from[a]) / dt) : 0.0f;
            if (any_body && (closed || body(c) != 0)) body(c) = closed ? motion[owner].body : 0;
            if (any_no_slip) no_slip(c) = closed && motion[owner].no_slip;
        });
    }
}

bool moves(const Scene& scene, size_t solid)
{
    const SolidParams& s = scene.params.solid[solid];
    return scene.solids.body_of(solid) >= 0 || !s.path.empty() || s.translate.varies() || s.rotate.varies();
}

template <int D>
Solids<D> make_still_solids(const Scene& scene, const Grid<D>& grid)
{
    Solids<D> solids;
    std::vector<Shape> still;
    const std::vector<Shape> all = scene.solids.at(0);
    for (size_t s = 0; s < all.size(); ++s)
        if (!moves(scene, s)) still.push_back(all[s]);
    if (still.empty()) return solids;
    solids.any = true;
    solids.distance = Field<D>(grid);
    solids.open = FaceField<D>(grid);
    const KernelShapes kept(std::move(still));
    const Tiles<D> tiles = all_tiles(grid);
    place_distance(solids.distance, kept.view(), tiles);
    measure_faces(solids, tiles, sliver);
    place_thin_walls(solids, kept, tiles);
    return solids;
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
    if (scene.solids.any_body()) solids.body = FaceField<D, uint8_t>(grid);
    if (solids.any_no_slip) solids.no_slip = FaceField<D, uint8_t>(grid);
    place_solids(solids, scene, 0, 0);
    return solids;
}

#define TARN_INSTANTIATE(D)                                             \
    template Solids<D> make_solids(const Scene&, const Grid<D>&);       \
    template Solids<D> make_still_solids(const Scene&, const Grid<D>&); \
    template void place_solids(Solids<D>&, const Scene&, double, double);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
