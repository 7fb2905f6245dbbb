#pragma once
// Active tiles: fields are addressed densely, but work is done only where a list of tiles says so, and memory is
// touched only there. Tiles of 8 cells a side; runs of active tiles along x are joined into one box so that inner loops
// are long.

#include <cstdint>
#include <vector>

#include "tarn/backend/memory.h"
#include "tarn/grid/grid.h"

namespace tarn {

inline constexpr int tile_size = 8;
// In tiles: long enough for good inner loops, short enough to share among threads.
inline constexpr int longest_run = 8;

template <int D>
struct Tiles {
    Grid<D> grid;
    std::vector<Box<D>> boxes;
    DeviceCopy device_copy = {};  // of the boxes, which do not change once a loop has run over them

    long cells() const
    {
        long n = 0;
        for (const auto& b : boxes) n += b.volume();
        return n;
    }
};

// One byte per tile of a grid.
template <int D>
struct TileMap {
    Grid<D> grid;
    Cell<D> count;
    std::vector<uint8_t> flags;

    TileMap() = default;
    explicit TileMap(const Grid<D>& g, uint8_t value = 0) : grid(g)
    {
        size_t n = 1;
        for (int a = 0; a < D; ++a) {
            count[a] = (g.cells[a] + tile_size - 1) / tile_size;
            n *= static_cast<size_t>(count[a]);
        }
        flags.assign(n, value);
    }
    size_t index(Cell<D> t) const
    {
        size_t i = 0;
        for (int a = D - 1; a >= 0; --a) i = i * static_cast<size_t>(count[a]) + static_cast<size_t>(t[a]);
        return i;
    }
    Cell<D> tile(size_t i) const
    {
        Cell<D> t;
        for (int a = 0; a < D; ++a) {
            t[a] = static_cast<int>(i % static_cast<size_t>(count[a]));
            i /= static_cast<size_t>(count[a]);
        }
        return t;
    }
    // Calls f(index, tile) for every tile, in order.
    template <class F>
    void for_each(const F& f) const
    {
        size_t i = 0;
        Cell<D> t;
        for (int k = 0; k < (D == 3 ? count[D - 1] : 1); ++k)
            for (int j = 0; j < count[1]; ++j) {
                if (D == 3) t[D - 1] = k;
                t[1] = j;
                for (t[0] = 0; t[0] < count[0]; ++t[0]) f(i++, t);
            }
    }
    Box<D> box(Cell<D> t) const
    {
        Box<D> b;
        for (int a = 0; a < D; ++a) {
            b.lo[a] = t[a] * tile_size;
            b.hi[a] = b.lo[a] + tile_size < grid.cells[a] ? b.lo[a] + tile_size : grid.cells[a];
        }
        return b;
    }
};

// The tiles whose flag has any of the bits in `mask`.
template <int D>
Tiles<D> select(const TileMap<D>& map, uint8_t mask);

// Sets `bit` in every tile that has it or touches one that has it, corners included.
template <int D>
void dilate(TileMap<D>& map, uint8_t bit);

// The cells of the tiles that lie along the lower (0) or upper (1) side of the grid.
template <int D>
Tiles<D> along_side(const Tiles<D>& tiles, int axis, int side);

// Every tile of a grid.
template <int D>
Tiles<D> all_tiles(const Grid<D>& grid);

}  // namespace tarn
