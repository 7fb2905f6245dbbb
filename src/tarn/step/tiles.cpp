// What every tile holds, and the lists of tiles that loops run over.

#include <algorithm>
#include <cmath>
#include <utility>

#include "tarn/backend/parallel.h"
#include "tarn/step/octree.h"
#include "tarn/step/surface.h"
#include "tarn/step/tall.h"

namespace tarn {

// Of tiles that become inner ones, all labels but those that inner ones have (surface/target_volumes.h).
template <int D>
static void forget_labels(TargetVolumes<D>& targets, const Tiles<D>& tiles)
{
    if (targets.body.size() == 0) return;
    const Cell<D> cells = tiles.grid.cells;
    const auto body = targets.body.view(), before = targets.before.view();
    parallel_for("clear tiles", tiles, [=] TARN_KERNEL(Cell<D> c) {
        int away = 0;
        bool last = true;
        for (int a = 0; a < D; ++a) {
            const int place = c[a] % tile_size;
            away += place > 0;
            last = last && (place == 0 || place == tile_size - 1 || c[a] == cells[a] - 1);
        }
        if (away == 0 || (away == 1 && last)) return;
        if (body(c) != 0) body(c) = 0;
        if (before(c) != 0) before(c) = 0;
    });
}

template <int D>
static void list_tiles(Water<D>& w)
{
    w.tiles_band = select(w.map, tile_band);
    w.tiles_deep = select(w.map, tile_deep);
    w.tiles_shallow = select(w.map, tile_shallow);
    w.tiles_dry = select(w.map, tile_dry);
    w.tiles_active = select(w.octree.any() ? fine_map(w.map) : w.map, tile_active);
    if (!w.octree.any()) return;
    // What is deep and near small cells is one piece by its tiles, and known by all its cells; the rest by its first ones.
    TileMap<D> near = w.octree.levels[0].map;
    dilate(near, 1);
    TileMap<D> deep = w.map, inner = w.map;
    for (size_t i = 0; i < deep.flags.size(); ++i) {
        const bool inside = (w.map.flags[i] & tile_coarse) && !near.flags[i];
        deep.flags[i] = !inside && (w.map.flags[i] & tile_deep);
        inner.flags[i] = inside;
    }
    w.tiles_deep = select(deep, 1);
    TileMap<D> fresh = inner;
    for (const Box<D>& first : w.tiles_inner.boxes) {
        Cell<D> t = first.lo;
        for (int a = 0; a < D; ++a) t[a] /= tile_size;
        fresh.flags[fresh.index(t)] = 0;
    }
    forget_labels(w.targets, select(fresh, 1));
    w.tiles_inner = {w.grid, {}};
    inner.for_each([&](size_t i, Cell<D> t) {
        if (!inner.flags[i]) return;
        Box<D> first = inner.box(t);
        for (int a = 0; a < D; ++a) first.hi[a] = first.lo[a] + 1;
        w.tiles_inner.boxes.push_back(first);
    });
}

template <int D>
void find_tiles(Water<D>& w)
{
    const auto phi = std::as_const(w.phi).view();
    const float band = static_cast<float>(w.tall.on ? tall::nearly * w.band : w.band);
    const int everywhere = w.air ? tile_active : 0;
    const bool tall = w.tall.on;
    const Ends<D> ends = w.ends;
    const Cell<D> cells = w.grid.cells;
    const std::vector<uint8_t> found =
        parallel_any("find tiles", w.map, tile_candidate, [=] TARN_KERNEL(Cell<D> c) -> uint8_t {
            const float p = phi(c);
            const int wet = p < 0 ? tile_wet | tile_active : everywhere;
            const int dry = p >= 0 ? tile_dry : 0;
            // An open side under water is a surface, too.
            const bool near = std::fabs(p) < band || (p < 0 && ends.open_at(c, cells));
            // Told apart below from what the bit says of a tile in the end.
            const int air = tall && p >= 0 ? tile_shallow : 0;
            return static_cast<uint8_t>(wet | air | (near ? tile_band | tile_active | dry : 0));
        });
    TileMap<D> left(w.grid), dried(w.grid);
    const std::vector<uint8_t> before_flags = w.map.flags;
    for (size_t i = 0; i < found.size(); ++i)
        if (w.map.flags[i] & tile_candidate) w.map.flags[i] = found[i];
    if (w.tall.on) {
        tall::keep_layer(w, w.map.flags);
        // Inside solids phi may change from water to air without a band between: such a tile is not all water.
        for (size_t i = 0; i < found.size(); ++i)
            if ((found[i] & tile_wet) && (found[i] & tile_shallow)) w.map.flags[i] |= tile_active;
    }
    for (size_t i = 0; i < found.size(); ++i) {
        left.flags[i] = (before_flags[i] & tile_active) && !(w.map.flags[i] & tile_active);
        dried.flags[i] = left.flags[i] && !(w.map.flags[i] & tile_wet);
    }
    const Tiles<D> cleared = select(left, 1);
    if (w.targets.body.size() > 0) {
        const auto body = w.targets.body.view(), before = w.targets.before.view();
        parallel_for<true>("clear tiles", select(dried, 1), [=] TARN_KERNEL(Cell<D> c) { body(c) = before(c) = 0; });
    }
    for (int a = 0; a < D; ++a) {
        const auto u = w.velocity[a].view(), f = w.faces[a].view();
        const auto k = w.known[a].view();
        parallel_for_faces("clear tiles", cleared, a, [=] TARN_KERNEL(Cell<D> c) { u(c) = f(c) = k(c) = 0; });
        if (!w.velocity_gradient[a].any()) continue;
        const auto g = w.velocity_gradient[a].view();
        parallel_for_faces("clear tiles", cleared, a, [=] TARN_KERNEL(Cell<D> c) {
            for (int b = 0; b < D; ++b) g[b](c) = 0;
        });
    }
    for (size_t i = 0; i < w.map.flags.size(); ++i) {
        uint8_t& flags = w.map.flags[i];
        // Inside solids phi need not be water's.
        const bool inside = (flags & tile_wet) && !(flags & tile_band);
        const bool deep = w.tall.on ? tall::is_whole(w, i) : inside && !w.solids.any;
        flags = static_cast<uint8_t>(flags & ~(tile_deep | tile_shallow));
        if (flags & (tile_active | tile_wet)) flags |= deep ? tile_deep : tile_shallow;
    }
    if (w.octree.any()) divide_domain(w, w.octree_states.empty() && !w.octree_tiles.empty());
    list_tiles(w);
}

template <int D>
void find_tiles_again(Water<D>& w)
{
    for (uint8_t& flags : w.map.flags)
        if ((flags & tile_active) && !(flags & tile_coarse)) flags |= tile_candidate;
    find_tiles(w);
}

template <int D>
void find_wet_tiles(Water<D>& w)
{
    const auto phi = std::as_const(w.phi).view();
    const std::vector<uint8_t> found =
        parallel_any("find tiles", fine_map(w.map), tile_active,
                     [=] TARN_KERNEL(Cell<D> c) -> uint8_t { return phi(c) < 0 ? tile_wet : uint8_t(0); });
    for (size_t i = 0; i < found.size(); ++i)
        if ((w.map.flags[i] & tile_active) && !(w.map.flags[i] & tile_coarse))
            w.map.flags[i] = static_cast<uint8_t>((w.map.flags[i] & ~tile_wet) | found[i]);
}

template <int D>
void find_candidates(Water<D>& w, double cfl)
{
    for (uint8_t& flags : w.map.flags)
        flags = static_cast<uint8_t>((flags & tile_active) && !(flags & tile_coarse) ? flags | tile_candidate
                                                                                      : flags & ~tile_candidate);
    for (const Tiles<D>& tiles : w.flows.source_tiles)
        for (const Box<D>& box : tiles.boxes)
            for (int x = box.lo[0]; x < box.hi[0]; x += tile_size) {
                Cell<D> t = box.lo;
                t[0] = x;
                for (int a = 0; a < D; ++a) t[a] /= tile_size;
                w.map.flags[w.map.index(t)] |= tile_candidate;
            }
    for (int n = 0; n < std::max(1, static_cast<int>(std::ceil(cfl / tile_size))); ++n) dilate(w.map, tile_candidate);
}

#define TARN_INSTANTIATE(D)                      \
    template void find_wet_tiles(Water<D>&);     \
    template void find_tiles_again(Water<D>&);   \
    template void find_tiles(Water<D>&);         \
    template void find_candidates(Water<D>&, double);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
