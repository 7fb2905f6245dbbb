#pragma once
// Connected components of air, and of whatever is not solid, on a grid with active tiles: cells are looked at one by one
// where there is water or a solid near, and by whole tiles elsewhere.

#include <climits>

#include "tarn/backend/parallel.h"
#include "tarn/pressure/boundary.h"
#include "tarn/surface/connected.h"

namespace tarn::air {

// Labels while components are found: a cell of the same one with a lower index, `open_air`, which is lower than all, or
// `no_air`. Afterwards the component's number n is held as first_number - n.
inline constexpr int open_air = -1, first_number = -2, no_air = INT_MAX;
inline constexpr uint8_t by_cell = 1, whole = 2;
template <int D>
TARN_HD inline Cell<D> cell_of(const Cell<D>& stride, int i)
{
    Cell<D> c;
    for (int a = D - 1; a > 0; --a) {
        c[a] = i / stride[a];
        i -= c[a] * stride[a];
    }
    c[0] = i;
    return c;
}

// Tiles as kernels see them.
template <int D>
struct TileClasses {
    Cell<D> count, cells;
    const uint8_t* classes;

    TARN_HD bool is_whole(Cell<D> c) const
    {
        int i = 0;
        for (int a = D - 1; a >= 0; --a) i = i * count[a] + c[a] / tile_size;
        return classes[i] & whole;
    }
    TARN_HD Cell<D> first(Cell<D> c) const
    {
        for (int a = 0; a < D; ++a) c[a] -= c[a] % tile_size;
        return c;
    }
    TARN_HD Cell<D> tile(int i) const
    {
        Cell<D> c;
        for (int a = 0; a < D; ++a) {
            c[a] = i % count[a] * tile_size;
            i /= count[a];
        }
        return c;
    }
    TARN_HD int volume(Cell<D> first) const
    {
        int n = 1;
        for (int a = 0; a < D; ++a) n *= first[a] + tile_size < cells[a] ? tile_size : cells[a] - first[a];
        return n;
    }
};

// The space whose components are found: air, or whatever is not solid.
template <int D>
struct Space {
    View<D, const float> phi;
    Boundary<D> boundary;
    bool air;
    float h;

    // Between water and a solid that it has separated from there is air, too: that of a dry cell in the solid.
    TARN_HD float open(Cell<D> face, int a) const
    {
        const float part = boundary.solids ? boundary.open[a](face) : 1.0f;
        const bool inner = face[a] > 0 && face[a] < boundary.cells[a];
        return air && !(part > 0) && inner && boundary.parted_from_solid(face, a) ? 1.0f : part;
    }
    TARN_HD bool belongs(Cell<D> c) const
    {
        if (air && !(phi(c) >= 0)) return false;
        if (!boundary.solids) return true;
        bool any = false;
        for (int a = 0; a < D; ++a) any = any || open(c, a) > 0 || open(moved<D>(c, a, 1), a) > 0;
        return any;
    }
    // Across an inner face.
    TARN_HD bool joined(Cell<D> face, int a) const { return open(face, a) > 0 && !boundary.inlet_at(face, a); }
    TARN_HD bool may_be_film(Cell<D> c) const { return phi(c) < 0 && phi(c) > -h; }
    // How far the surface is from a wet cell's centre, in cells, towards a side where there is air; else far.
    TARN_HD float to_surface(Cell<D> c, int slot) const
    {
        const int a = slot / 2, side = slot % 2;
        const Cell<D> other = moved<D>(c, a, 2 * side - 1);
        const bool inside = other[a] >= 0 && other[a] < boundary.cells[a];
        if (!inside || !(phi(other) >= 0) || !joined(moved<D>(c, a, side), a)) return 2;
        return phi(c) / (phi(c) - phi(other));
    }
    // Whether the water between the air on two sides of a wet cell is less than a cell thick.
    TARN_HD bool thin_between(Cell<D> c, int one, int two) const
    {
        const float s = to_surface(c, one), t = to_surface(c, two);
        return one / 2 == two / 2 ? s + t < 1 : s * s + t * t < 1;
    }
    // Whether a cell reaches an open side.
    TARN_HD bool opens(Cell<D> c) const
    {
        bool any = false;
        for (int a = 0; a < D; ++a) {
            any = any || (c[a] == 0 && boundary.wall_open[a][0] && open(c, a) > 0);
            any = any || (c[a] + 1 == boundary.cells[a] && boundary.wall_open[a][1] && open(moved<D>(c, a, 1), a) > 0);
        }
        return any;
    }
};

// Points every cell of the space to the lowest of its component. A whole tile is one with its first cell.
template <int D>
void unite_components(const View<D, int>& label, const Space<D>& space, const TileClasses<D>& tiles,
                      const Tiles<D>& by_cell_tiles, const int* whole_tiles, int whole_count)
{
    const Cell<D> cells = space.boundary.cells;
    parallel_range("components", whole_count, [=] TARN_KERNEL(int n) {
        const int i = label.index(tiles.tile(whole_tiles[n]));
        label[i] = i;
    });
    // Within a row of a tile, a run along x is one from the start.
    parallel_for("components", by_cell_tiles, [=] TARN_KERNEL(Cell<D> c) {
        if (c[0] % tile_size != 0) return;
        const int end = c[0] + tile_size < cells[0] ? c[0] + tile_size : cells[0];
        bool before = false;
        for (int first = label.index(c); c[0] < end; ++c[0]) {
            const int i = label.index(c);
            const bool belongs = space.belongs(c);
            if (!before || !space.joined(c, 0)) first = i;
            label[i] = belongs ? first : no_air;
            before = belongs;
        }
    });
    parallel_for("components", by_cell_tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = label.index(c);
        if (atomic_load(label.data + i) == no_air) return;
        if (space.opens(c)) unite(label.data, i, open_air);
        for (int a = 0; a < D; ++a)
            for (int side = 0; side < 2; ++side) {
                const Cell<D> other = moved<D>(c, a, 2 * side - 1);
                if (other[a] < 0 || other[a] >= cells[a] || !space.joined(moved<D>(c, a, side), a)) continue;
                const bool next_tile = c[a] / tile_size != other[a] / tile_size;
                if (next_tile && tiles.is_whole(other)) {
                    unite(label.data, i, label.index(tiles.first(other)));
                } else if (side == 0 && (a > 0 || next_tile)) {
                    const int j = label.index(other);
                    if (space.belongs(other) && atomic_load(label.data + j) != no_air) unite(label.data, i, j);
                }
            }
    });
    // A film of water thinner than a cell does not part air from air: the grid has no mass to hold a difference of
    // pressures with, and what was to keep an enclosed volume would blow the film away.
    if (space.air)
        parallel_for("components", by_cell_tiles, [=] TARN_KERNEL(Cell<D> c) {
            if (!space.may_be_film(c)) return;
            for (int one = 0; one < 2 * D; ++one)
                for (int two = 0; two < one; ++two) {
                    if (!space.thin_between(c, one, two)) continue;
                    const Cell<D> a = moved<D>(c, one / 2, 2 * (one % 2) - 1), b = moved<D>(c, two / 2, 2 * (two % 2) - 1);
                    unite(label.data, label.index(a), label.index(b));
                }
        });
    parallel_range("components", whole_count, [=] TARN_KERNEL(int n) {
        const Cell<D> first = tiles.tile(whole_tiles[n]);
        const int i = label.index(first);
        for (int a = 0; a < D; ++a) {
            const bool begins = first[a] == 0, ends = first[a] + tile_size >= cells[a];
            if ((begins && space.boundary.wall_open[a][0]) || (ends && space.boundary.wall_open[a][1]))
                unite(label.data, i, open_air);
            if (begins) continue;
            const Cell<D> other = moved<D>(first, a, -tile_size);
            if (tiles.is_whole(other)) unite(label.data, i, label.index(other));
        }
    });
}

}  // namespace tarn::air
