#pragma once
// TallColumns and their faces on the uniform grid.

#include "tarn/field/field.h"
#include "tarn/grid/columns.h"

namespace tarn::tall {

inline size_t at(int n) { return static_cast<size_t>(n); }

template <int D>
Cell<D> cell_of(const Grid<D>& grid, int column, int row)
{
    Cell<D> c;
    c[0] = column % grid.cells[0];
    c[1] = row;
    if constexpr (D == 3) c[2] = column / grid.cells[0];
    return c;
}

// The cell whose lower face it is; its axis is 2 faces.axis.
template <int D>
Cell<D> face_cell(const FaceColumns& faces, int f, int row)
{
    Cell<D> c;
    c[0] = f % faces.count[0];
    c[1] = row;
    if constexpr (D == 3) c[2] = f / faces.count[0];
    return c;
}

// The lowest row at which a face has the uniform grid's velocity.
inline int lowest_fine(const FaceColumns& faces, const std::vector<int>& bottom, int f)
{
    const int before = faces.before(f), after = faces.after(f);
    if (before < 0 || after < 0) return bottom[at(before < 0 ? after : before)];
    const int a = bottom[at(before)], b = bottom[at(after)];
    return a < b ? a : b;
}

}  // namespace tarn::tall
