#include "tarn/step/smoke_levels.h"

#include <utility>

#include "tarn/step/octree.h"

namespace tarn::smoke {

template <int D>
std::vector<AirLevel<D>> levels_of(Water<D>& w)
{
    std::vector<AirLevel<D>> levels;
    levels.push_back({w.grid, w.velocity, w.faces, w.smoke_density, w.temperature, w.scratch, w.carrying, w.tiles_active, w.tiles_active});
    if (w.octree.any())
        for (const Box<D>& box : w.octree.levels[0].rim.boxes) levels[0].around.boxes.push_back(box);
    for (int l = 1; l < w.octree.count(); ++l) {
        const OctreeLevel<D>& level = w.octree.levels[static_cast<size_t>(l)];
        CoarseLevel<D>& c = w.coarse[static_cast<size_t>(l) - 1];
        levels.push_back({level.grid, c.velocity, c.next, c.smoke_density, c.temperature, c.scratch, w.coarse_carrying[static_cast<size_t>(l) - 1],
                          level.leaves, level.near, &level});
    }
    return levels;
}

template <int D>
std::vector<CarriedLevel<D>> carried_levels(Water<D>& w)
{
    std::vector<CarriedLevel<D>> levels{{{&w.smoke_density, &w.temperature}, &w.carrying}};
    for (size_t n = 0; n < w.coarse.size(); ++n)
        levels.push_back({{&w.coarse[n].smoke_density, &w.coarse[n].temperature}, &w.coarse_carrying[n]});
    return levels;
}

template <int D>
void make_air_levels(Water<D>& w, const Scene& scene)
{
    make_levels(w, scene);
    for (CoarseLevel<D>& level : w.coarse) {
        const Grid<D>& grid = level.pressure.grid();
        level.smoke_density = Field<D>(grid);
        level.temperature = Field<D>(grid);
        w.coarse_carrying.emplace_back(grid);
    }
}

template <int D>
bool divide_air(Water<D>& w, bool as_before)
{
    if (!w.octree.any()) return false;
    for (uint8_t& flags : w.map.flags) flags = static_cast<uint8_t>((flags & tile_coarse) | tile_wet | tile_active | tile_deep);
    if (!divide_domain(w, as_before)) return false;
    w.tiles_active = w.tiles_deep = select(fine_map(w.map), tile_active);
    // Air is everywhere, but is told so only where small cells look for it.
    TileMap<D> near = w.octree.levels[0].map;
    dilate(near, 1);
    const Tiles<D> seen = select(near, 1);
    const auto phi = w.phi.view();
    const float inside = static_cast<float>(-w.band);
    parallel_for<true>("air", seen, [=](Cell<D> c) { phi(c) = inside; });
    for (int a = 0; a < D; ++a)
        for (int side = 0; side < 2; ++side)
            parallel_for("air", along_side(seen, a, side), [=](Cell<D> c) { phi(moved<D>(c, a, 2 * side - 1)) = outside; });
    for (size_t l = 1; l < w.octree.levels.size(); ++l) {
        const auto capacity = w.coarse_carrying[l - 1].capacity.view();
        parallel_for<true>("capacity", w.octree.levels[l].leaves, [=](Cell<D> c) { capacity(c) = 1; });
    }
    if (!as_before) join_carried(carried_levels(w), w.octree);
    return true;
}

#define TARN_INSTANTIATE(D)                                                 \
    template std::vector<AirLevel<D>> levels_of(Water<D>&);                 \
    template std::vector<CarriedLevel<D>> carried_levels(Water<D>&);        \
    template void make_air_levels(Water<D>&, const Scene&);                 \
    template bool divide_air(Water<D>&, bool);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn::smoke
