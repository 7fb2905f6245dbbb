#include "tarn/run/check_levels.h"

#include <algorithm>
#include <cmath>

#include "tarn/grid/octree.h"

namespace tarn {

template <int D>
std::vector<int64_t> levels_at_start(const Scene& scene)
{
    const Params& p = scene.params;
    const Grid<D> grid = make_grid<D>(p.domain);
    const bool smoke = p.method.phases == Phases::smoke;
    const std::vector<Shape> water = scene.water.at(0), solids = scene.solids.at(0), clouds = scene.clouds.at(0);
    Octree<D> octree = make_octree(grid, p.octree.levels > 0 ? p.octree.levels : most_levels_of(grid));
    const TileMap<D> map(grid);
    std::vector<uint8_t> states;
    const double reach = grid.h * (std::max(p.surface.band, std::ceil(p.time.cfl) + 3) + 0.5 * tile_size);
    for (size_t i = 0; i < map.flags.size(); ++i) {
        const Box<D> box = map.box(map.tile(i));
        const Vec3 x = lift<D>(0.5 * grid.h * (box.lo + box.hi).template as<double>());
        if (smoke) {
            bool seen = !solids.empty() && distance(solids, x) < reach;
            for (const Shape& cloud : clouds) seen = seen || std::fabs(distance(cloud, x)) < reach;
            for (const Geometry& source : scene.sources) seen = seen || distance(source.at(0), x) < reach;
            states.push_back(static_cast<uint8_t>(seen ? TileState::fine : TileState::coarse));
            continue;
        }
        const double d = water.empty() ? reach : distance(water, x);
        double to_wall = -1e300;
        for (int a = 0; a < D; ++a) to_wall = std::max({to_wall, -x[a], x[a] - grid.size()[a]});
        // Along the domain's sides the water goes on.
        const bool surface = d > 0 || (-d < reach && d - to_wall > 0.1 * grid.h);
        const bool solid = !solids.empty() && distance(solids, x) < reach;
        const TileState state = d >= reach ? TileState::none : surface || solid ? TileState::fine : TileState::coarse;
        states.push_back(static_cast<uint8_t>(state));
    }
    divide(octree, states, {}, 1);
    std::vector<int64_t> cells;
    for (const OctreeLevel<D>& level : octree.levels) cells.push_back(level.leaves.cells());
    return cells;
}

template std::vector<int64_t> levels_at_start<2>(const Scene&);
template std::vector<int64_t> levels_at_start<3>(const Scene&);

}  // namespace tarn
