#include "tarn/grid/octree.h"

#include <algorithm>

namespace tarn {

namespace {

constexpr int block_size = tile_size / 2;  // of the positions that a tile of the level below covers

enum : uint8_t { exists = 1, covered = 2, beside = 4 };

// Calls f for every position of a block's side.
template <int D, class F>
void for_each_on_side(Box<D> box, int axis, int side, const F& f)
{
    (side ? box.lo[axis] : box.hi[axis]) = side ? box.hi[axis] - 1 : box.lo[axis] + 1;
    Cell<D> c = box.lo;
    for (long n = box.volume(); n > 0; --n) {
        f(c);
        for (int a = 0; a < D; ++a) {
            if (++c[a] < box.hi[a]) break;
            c[a] = box.lo[a];
        }
    }
}

// Of the tiles of `rim`, the parts of half a tile's width that touch tiles that exist, corners included; runs along x joined.
template <int D>
Tiles<D> halves_beside(const TileMap<D>& map, const TileMap<D>& rim)
{
    Tiles<D> parts{map.grid, {}};
    rim.for_each([&](size_t i, Cell<D> t) {
        if (!rim.flags[i]) return;
        bool touches[1 << D] = {};
        for (int n = 0; n < (D == 3 ? 27 : 9); ++n) {
            Cell<D> other = t, way;
            bool inside = true;
            for (int a = 0, left = n; a < D; ++a, left /= 3) {
                way[a] = left % 3 - 1;
                other[a] += way[a];
                inside = inside && other[a] >= 0 && other[a] < map.count[a];
            }
            if (!inside || !(map.flags[map.index(other)] & exists)) continue;
            for (int k = 0; k < (1 << D); ++k) {
                bool near = true;
                for (int a = 0; a < D; ++a) near = near && (way[a] == 0 || (k >> a & 1) == (way[a] > 0));
                touches[k] = touches[k] || near;
            }
        }
        for (int k = 0; k < (1 << D); k += 2) {
            Box<D> box = map.box(t);
            bool any = true;
            for (int a = 1; a < D; ++a) {
                const int middle = std::min(box.lo[a] + block_size, box.hi[a]);
                (k >> a & 1 ? box.lo[a] : box.hi[a]) = middle;
                any = any && box.lo[a] < box.hi[a];
            }
            const int middle = std::min(box.lo[0] + block_size, box.hi[0]);
            if (!touches[k]) box.lo[0] = middle;
            if (!touches[k + 1]) box.hi[0] = std::max(box.lo[0], middle);
            if (!touches[k] && !touches[k + 1]) any = false;
            if (!any || box.lo[0] >= box.hi[0]) continue;
            // A run goes on.
            if (!parts.boxes.empty()) {
                Box<D>& last = parts.boxes.back();
                bool joins = last.hi[0] == box.lo[0] && box.hi[0] - last.lo[0] <= tile_size * longest_run;
                for (int a = 1; a < D; ++a) joins = joins && last.lo[a] == box.lo[a] && last.hi[a] == box.hi[a];
                if (joins) {
                    last.hi[0] = box.hi[0];
                    continue;
                }
            }
            parts.boxes.push_back(box);
        }
    });
    return parts;
}

// Index as fields have it, from cell 0.
template <int D>
int index_of(const Grid<D>& grid, Cell<D> c)
{
    return grid.index(c) - grid.origin;
}

template <int D>
void find_t_faces(OctreeLevel<D>& level, const TileMap<D>& below)
{
    const Grid<D>& fine = below.grid;
    for (int a = 0; a < D; ++a)
        for (auto& list : level.faces[a]) list.clear();
    below.for_each([&](size_t i, Cell<D> t) {
        if (!(below.flags[i] & covered) || !(below.flags[i] & beside)) return;
        Box<D> box;
        for (int a = 0; a < D; ++a) {
            box.lo[a] = block_size * t[a];
            box.hi[a] = std::min(box.lo[a] + block_size, level.grid.cells[a]);
        }
        for (int a = 0; a < D; ++a)
            for (int side = 0; side < 2; ++side) {
                Cell<D> other = t;
                other[a] += 2 * side - 1;
                if (other[a] < 0 || other[a] >= below.count[a] || !(below.flags[below.index(other)] & exists)) continue;
                for_each_on_side<D>(box, a, side, [&](Cell<D> c) {
                    Cell<D> child;
                    for (int b = 0; b < D; ++b) child[b] = 2 * c[b];
                    child[a] += side ? 2 : -1;
                    level.faces[a][side].push_back({index_of(level.grid, c), index_of(fine, child)});
                });
            }
    });
}

// Blocks of leaves, of parents, and of both near each other, once it is known which tiles exist.
template <int D>
void find_blocks(Octree<D>& octree, int l, const std::vector<uint8_t>& states)
{
    OctreeLevel<D>& level = octree.levels[static_cast<size_t>(l)];
    if (l == 0) {
        level.leaves = level.tiles;
        level.parents = level.parents_rim = level.near = level.near_parents = Tiles<D>{level.grid, {}};
        level.any_leaf = true;
        return;
    }
    TileMap<D> below = octree.levels[static_cast<size_t>(l) - 1].map;
    const TileMap<D>& map_here = level.map;
    constexpr uint8_t leaf = 8, near = 16, near_parent = 32;
    below.for_each([&](size_t i, Cell<D> t) {
        Cell<D> parent = t;
        for (int a = 0; a < D; ++a) parent[a] /= 2;
        if (map_here.flags[map_here.index(parent)] & exists && !(below.flags[i] & exists)) below.flags[i] |= leaf;
    });
    // Dry tiles below are neither.
    const int scale = 1 << (l - 1);
    const TileMap<D> finest(octree.levels[0].grid);
    below.for_each([&](size_t i, Cell<D> t) {
        if (!(below.flags[i] & leaf)) return;
        for (int a = 0; a < D; ++a) t[a] *= scale;
        if (states[finest.index(t)] == static_cast<uint8_t>(TileState::none))
            below.flags[i] = static_cast<uint8_t>(below.flags[i] & ~leaf);
    });
    TileMap<D> around = below;
    for (uint8_t& flags : around.flags) flags = flags & leaf ? near : 0;
    dilate(around, near);
    for (size_t i = 0; i < below.flags.size(); ++i) {
        below.flags[i] |= around.flags[i];
        if ((below.flags[i] & exists) && (below.flags[i] & near)) below.flags[i] |= near_parent;
    }
    level.leaves = blocks_over(below, level.grid, leaf);
    level.parents = blocks_over(below, level.grid, exists);
    TileMap<D> grown = octree.levels[static_cast<size_t>(l) - 1].map;
    dilate(grown, exists);
    level.parents_rim = blocks_over(grown, level.grid, exists);
    level.near = blocks_over(below, level.grid, near);
    level.near_parents = blocks_over(below, level.grid, near_parent);
    level.any_leaf = !level.leaves.boxes.empty();
    for (uint8_t& flags : below.flags)
        flags = flags & exists ? exists : (flags & leaf ? covered | beside : 0);
    find_t_faces(level, below);
}

}  // namespace

template <int D>
Tiles<D> blocks_over(const TileMap<D>& below, const Grid<D>& grid, uint8_t mask)
{
    Tiles<D> blocks{grid, {}};
    for (Box<D> box : select(below, mask).boxes) {
        for (int a = 0; a < D; ++a) {
            box.lo[a] /= 2;
            box.hi[a] = std::min((box.hi[a] + 1) / 2, grid.cells[a]);
        }
        blocks.boxes.push_back(box);
    }
    return blocks;
}

template <int D>
int most_levels_of(const Grid<D>& grid)
{
    int longest = 0, levels = 1;
    for (int a = 0; a < D; ++a) longest = std::max(longest, grid.cells[a]);
    while (levels < most_levels && (longest = (longest + 1) / 2) >= 2 * tile_size) ++levels;
    return levels;
}

template <int D>
Octree<D> make_octree(const Grid<D>& grid, int levels)
{
    Octree<D> octree;
    Grid<D> g = grid;
    for (int l = 0; l < levels; ++l) {
        OctreeLevel<D> level;
        level.grid = g;
        octree.levels.push_back(level);
        Cell<D> n;
        for (int a = 0; a < D; ++a) n[a] = (g.cells[a] + 1) / 2;
        g = Grid<D>(n, 2 * g.h);
    }
    return octree;
}

template <int D>
void divide(Octree<D>& octree, std::vector<uint8_t>& states, const std::vector<TileMap<D>>& least, int reach)
{
    const int last = octree.count() - 1;
    TileMap<D> map(octree.levels[0].grid);
    for (size_t i = 0; i < map.flags.size(); ++i)
        map.flags[i] = states[i] == static_cast<uint8_t>(TileState::fine)     ? exists
                       : states[i] == static_cast<uint8_t>(TileState::coarse) ? covered
                                                                              : 0;
    for (int l = 0; l <= last; ++l) {
        OctreeLevel<D>& level = octree.levels[static_cast<size_t>(l)];
        const Grid<D>& grid = level.grid;
        // A position of the level above must not stick out of the domain.
        map.for_each([&](size_t i, Cell<D> t) {
            bool keep = l == last;
            for (int a = 0; a < D; ++a) keep = keep || (grid.cells[a] % 2 == 1 && t[a] == map.count[a] - 1);
            if (!least.empty() && l < static_cast<int>(least.size()) && !least[static_cast<size_t>(l)].flags.empty())
                keep = keep || least[static_cast<size_t>(l)].flags[i];
            if (keep && (map.flags[i] & covered)) map.flags[i] = exists;
        });
        // What lies beside tiles of this level.
        TileMap<D> around = map;
        for (uint8_t& flags : around.flags) flags &= exists;
        for (int n = 0; n < std::max(1, reach); ++n) {
            dilate(around, exists);
            if (n > 0) continue;
            for (size_t i = 0; i < map.flags.size(); ++i)
                if (around.flags[i] & exists) map.flags[i] |= beside;
        }
        level.map = map;
        for (uint8_t& flags : level.map.flags) flags &= exists;
        level.tiles = select(level.map, exists);
        TileMap<D> rim = around;
        for (size_t i = 0; i < rim.flags.size(); ++i)
            rim.flags[i] = (rim.flags[i] & exists) && (map.flags[i] & covered) ? exists : 0;
        level.rim = reach > 0 ? select(rim, exists) : halves_beside(map, rim);
        if (l == last) break;

        // The level above: a tile exists where it covers one of this level or one beside it.
        OctreeLevel<D>& above = octree.levels[static_cast<size_t>(l) + 1];
        TileMap<D> next(above.grid);
        map.for_each([&](size_t i, Cell<D> t) {
            for (int a = 0; a < D; ++a) t[a] /= 2;
            uint8_t& flags = next.flags[next.index(t)];
            if (map.flags[i] & (exists | covered)) flags |= map.flags[i] & beside ? exists : covered;
        });
        for (uint8_t& flags : next.flags)
            if (flags & exists) flags = exists;
        // Leaves of the level above lie over what is not of this one. (Whether its tile exists is settled when it is looked at.)
        map = std::move(next);
    }
    for (int l = 0; l <= last; ++l) find_blocks(octree, l, states);
    // What stayed small after all.
    const TileMap<D>& finest = octree.levels[0].map;
    for (size_t i = 0; i < states.size(); ++i)
        if (finest.flags[i]) states[i] = static_cast<uint8_t>(TileState::fine);
}

#define TARN_INSTANTIATE(D)                                 \
    template Tiles<D> blocks_over(const TileMap<D>&, const Grid<D>&, uint8_t); \
    template int most_levels_of(const Grid<D>&);            \
    template Octree<D> make_octree(const Grid<D>&, int);    \
    template void divide(Octree<D>&, std::vector<uint8_t>&, const std::vector<TileMap<D>>&, int);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
