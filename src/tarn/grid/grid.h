#pragma once
// The uniform MAC grid: topology only. Cell (0,0,0) starts at the origin; y is up.
//
// Every field on a grid, whether its values sit at cell centres, faces or nodes, is addressed alike: x runs fastest
// and each row, column and layer carries one padding element at either end. Face (i,j,k) of axis a is the face
// through which cell (i,j,k) meets its lower neighbour along a; node (i,j,k) is that cell's lowest corner. So one
// linear index serves all fields, and the last face and node of a row live in the padding.

#include "tarn/base/error.h"
#include "tarn/base/vec.h"

namespace tarn {

// A half-open range of cells.
template <int D>
struct Box {
    Cell<D> lo, hi;

    TARN_HD bool contains(Cell<D> c) const
    {
        for (int a = 0; a < D; ++a)
            if (c[a] < lo[a] || c[a] >= hi[a]) return false;
        return true;
    }
    long volume() const
    {
        long n = 1;
        for (int a = 0; a < D; ++a) n *= hi[a] > lo[a] ? hi[a] - lo[a] : 0;
        return n;
    }
};

template <int D>
struct Grid {
    Cell<D> cells;   // along each axis
    double h = 1;    // cell size
    Cell<D> stride;  // of the linear index
    int origin = 0;  // linear index of cell 0

    Grid() = default;
    Grid(Cell<D> n, double cell_size) : cells(n), h(cell_size)
    {
        int s = 1;
        for (int a = 0; a < D; ++a) {
            TARN_CHECK_GT(n[a], 0);
            stride[a] = s;
            origin += s;
            s *= n[a] + 2;
        }
    }

    TARN_HD int index(Cell<D> c) const
    {
        int i = origin + c[0];
        for (int a = 1; a < D; ++a) i += c[a] * stride[a];
        return i;
    }
    // Elements that a field must hold.
    long storage() const
    {
        long n = 1;
        for (int a = 0; a < D; ++a) n *= cells[a] + 2;
        return n;
    }
    long count() const { return box().volume(); }
    Box<D> box() const { return {Cell<D>{}, cells}; }
    TARN_HD bool contains(Cell<D> c) const { return Box<D>{Cell<D>{}, cells}.contains(c); }

    TARN_HD Vec<D> centre(Cell<D> c) const { return position(c, 0.5); }
    TARN_HD Vec<D> node(Cell<D> c) const { return position(c, 0.0); }
    TARN_HD Vec<D> face(Cell<D> c, int axis) const
    {
        Vec<D> x = position(c, 0.5);
        x[axis] -= 0.5 * h;
        return x;
    }
    Vec<D> size() const { return h * cells.template as<double>(); }

private:
    TARN_HD Vec<D> position(Cell<D> c, double offset) const
    {
        Vec<D> x;
        for (int a = 0; a < D; ++a) x[a] = (c[a] + offset) * h;
        return x;
    }
};

// The cell so many further along an axis.
template <int D>
TARN_HD inline Cell<D> moved(Cell<D> c, int axis, int by)
{
    c[axis] += by;
    return c;
}

// The colour of a cell's field on a chess board: no two neighbours have the same.
template <int D>
TARN_HD inline int colour(Cell<D> c)
{
    int s = c[0];
    for (int a = 1; a < D; ++a) s += c[a];
    return s & 1;
}

// h^D: the volume of a cell (the area in 2D).
template <int D>
double cell_volume(const Grid<D>& g)
{
    double v = 1;
    for (int a = 0; a < D; ++a) v *= g.h;
    return v;
}

}  // namespace tarn
