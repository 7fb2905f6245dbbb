#pragma once
// An octree (a quadtree in 2D) as a pyramid of uniform grids: a cell of level l is twice as large as one of level l - 1, and
// level 0 is the finest. Topology only.
//
// A position of a level is a leaf, which is a cell of the octree; a parent, which finer leaves divide; or absent. It is divided by
// whole tiles: where a tile of level l - 1 exists, the block of half as many positions of level l under it are parents. Leaves
// that touch, at corners too, differ by one level at most (graded 2:1), so where a leaf meets a parent, all of the parent's
// children on the face between are leaves: a T-face.

#include <vector>

#include "tarn/grid/tiles.h"

namespace tarn {

inline constexpr int most_levels = 12;

// A T-face of a leaf, by linear indices (see View::index): the leaf, and the lowest of the children across the face.
struct TFace {
    int leaf, child;
};

// The n-th of the corners of a cell's lower face along an axis: a bit for each axis along which it is an upper one.
constexpr int corner_of_face(int n, int axis) { return (n >> axis << (axis + 1)) | (n & ((1 << axis) - 1)); }

template <int D>
struct OctreeLevel {
    Grid<D> grid;
    TileMap<D> map;          // 1: a tile with leaves or parents
    Tiles<D> tiles;          // those
    Tiles<D> leaves;         // blocks of leaves
    Tiles<D> parents;        // blocks of parents
    Tiles<D> parents_rim;    // and the blocks around those
    Tiles<D> near;           // leaves, and the blocks of parents and of larger cells around them
    Tiles<D> near_parents;   // the parents among them
    Tiles<D> rim;            // blocks or tiles of larger cells beside this level's: values there are interpolated
    std::vector<TFace> faces[D][2];  // of leaves, along an axis; 1: the children lie on the upper side
    bool any_leaf = false;
};

template <int D>
struct Octree {
    std::vector<OctreeLevel<D>> levels;  // none on a uniform grid

    bool any() const { return levels.size() > 1; }
    int count() const { return static_cast<int>(levels.size()); }
};

// What a tile of level 0 is to an octree.
enum class TileState : uint8_t { none, fine, coarse };  // neither water nor near it; of small cells; of larger ones, if these fit

// The blocks of a level that lie over the tiles of the level below whose flag has any bit of `mask`, runs along x joined.
template <int D>
Tiles<D> blocks_over(const TileMap<D>& below, const Grid<D>& grid, uint8_t mask);

// How many levels there is room for: on the coarsest the longest side has two tiles or more, if there are more levels than one.
template <int D>
int most_levels_of(const Grid<D>& grid);

// The levels' grids, each with half as many cells along each axis.
template <int D>
Octree<D> make_octree(const Grid<D>& grid, int levels);

// Finds leaves and parents so that tiles of level 0 are of small cells where their state says so, and the others as large as
// grading allows; at the latter all around, water must go on for a tile. `least`, of level 1 and up: tiles (1) that must exist
// on that level. What a larger cell would stick out of the domain for stays small. `reach`: tiles around a level that
// values are interpolated for.
template <int D>
void divide(Octree<D>& octree, std::vector<uint8_t>& states, const std::vector<TileMap<D>>& least, int reach);

}  // namespace tarn
