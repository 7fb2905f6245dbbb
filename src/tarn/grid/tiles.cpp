#include "tarn/grid/tiles.h"

namespace tarn {

template <int D>
Tiles<D> select(const TileMap<D>& map, uint8_t mask)
{
    Tiles<D> tiles{map.grid, {}};
    const size_t row = static_cast<size_t>(map.count[0]);
    for (size_t first = 0; first < map.flags.size(); first += row)
        for (size_t i = 0; i < row;) {
            if (!(map.flags[first + i] & mask)) {
                ++i;
                continue;
            }
            size_t end = i + 1;
            while (end < row && end - i < longest_run && (map.flags[first + end] & mask)) ++end;
            Box<D> box = map.box(map.tile(first + i));
            box.hi[0] = map.box(map.tile(first + end - 1)).hi[0];
            tiles.boxes.push_back(box);
            i = end;
        }
    return tiles;
}

template <int D>
void dilate(TileMap<D>& map, uint8_t bit)
{
    // One axis after the other, each reading what the one before it wrote, reaches the corners too.
    std::vector<uint8_t> before(map.flags.size());
    size_t step = 1;
    for (int a = 0; a < D; ++a) {
        for (size_t i = 0; i < before.size(); ++i) before[i] = map.flags[i] & bit;
        // Along this axis tiles lie `step` apart, in blocks that do not touch.
        const size_t block = step * static_cast<size_t>(map.count[a]);
        for (size_t first = 0; first < before.size(); first += block) {
            uint8_t* const flags = map.flags.data() + first;
            const uint8_t* const old = before.data() + first;
            for (size_t i = step; i < block; ++i) flags[i] |= old[i - step];
            for (size_t i = 0; i + step < block; ++i) flags[i] |= old[i + step];
        }
        step = block;
    }
}

template <int D>
Tiles<D> along_side(const Tiles<D>& tiles, int axis, int side)
{
    Tiles<D> layer{tiles.grid, {}};
    const int last = tiles.grid.cells[axis] - 1;
    for (Box<D> box : tiles.boxes) {
        if (side ? box.hi[axis] != last + 1 : box.lo[axis] != 0) continue;
        box.lo[axis] = side ? last : 0;
        box.hi[axis] = box.lo[axis] + 1;
        layer.boxes.push_back(box);
    }
    return layer;
}

template <int D>
Tiles<D> all_tiles(const Grid<D>& grid)
{
    return select(TileMap<D>(grid, 1), 1);
}

template Tiles<2> select(const TileMap<2>&, uint8_t);
template Tiles<3> select(const TileMap<3>&, uint8_t);
template void dilate(TileMap<2>&, uint8_t);
template void dilate(TileMap<3>&, uint8_t);
template Tiles<2> along_side(const Tiles<2>&, int, int);
template Tiles<3> along_side(const Tiles<3>&, int, int);
template Tiles<2> all_tiles(const Grid<2>&);
template Tiles<3> all_tiles(const Grid<3>&);

}  // namespace tarn
