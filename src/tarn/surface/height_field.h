#pragma once
// The surface as a height over every column of cells, moved by the velocity of the water below it.   [FM96] §4.3
//
//   dh/dt = v - u dh/dx - w dh/dz      at the surface,
//
// which, since nothing can be compressed, is the same as that of the whole column,
//
//   dh/dt = - d/dx (sum of u over the column) - d/dz (sum of w).
//
// Deviation: it is the second that is solved. What one column loses the next one has, so that the volume is kept to
// round-off; and slopes need not be taken. What flows between two columns reaches up to the height of the one that it comes
// from, and of half the difference to the next as far as heights go on alike (van Leer's limiter).
//
// Heights are held as markers, one for every column, which stay in the middle of it: positions in cells, a cell's centre having
// its integer index. A column stands on the highest obstacle that touches the bottom, and has no room above another.

#include <optional>
#include <vector>

#include "tarn/surface/markers.h"

namespace tarn {

// One height for every column, in cells from the bottom. A column is named by any of its cells.
template <int D>
struct Heights {
    Cell<D> cells;  // of the grid
    std::vector<double> values;

    explicit Heights(Cell<D> n) : cells(n), values(static_cast<size_t>(D == 3 ? n[0] * n[D - 1] : n[0])) {}
    size_t index(Cell<D> c) const { return static_cast<size_t>(D == 3 ? c[0] + cells[0] * c[D - 1] : c[0]); }
    Cell<D> column(size_t i) const
    {
        Cell<D> c;
        c[0] = static_cast<int>(i) % cells[0];
        if (D == 3) c[D - 1] = static_cast<int>(i) / cells[0];
        return c;
    }
    double& operator()(Cell<D> c) { return values[index(c)]; }
    double operator()(Cell<D> c) const { return values[index(c)]; }
};

template <int D>
Heights<D> read_heights(const Particles<D>& markers, Cell<D> cells);
template <int D>
void write_heights(Particles<D>& markers, const Heights<D>& heights);

// Where the water of phi reaches up to; `over` is a cell of water over one without, where there is any.
template <int D>
Heights<D> heights_of(const Field<D>& phi, const Labels<D>& labels, std::optional<Cell<D>>* over = nullptr);

// The water of all columns, in cells.
template <int D>
double volume(const Heights<D>& heights, const Labels<D>& labels);

// Moves them for dt. Inflows keep their columns as high as those beside them. Returns what has come in, in cells.
template <int D>
double move_heights(Heights<D>& heights, const FaceField<D>& velocity, const Labels<D>& labels, double dt);

// Labels cells: below a height, or with it in them, they hold water.   [FM96] §4.3
template <int D>
void label_cells(Labels<D>& labels, const Heights<D>& heights);

// Phi of the surface, near it. Under dry ground the water beside it goes on, level. `finer` times as many cells along each side as
// the columns have, and between their middles a bicubic spline.
template <int D>
void find_phi(Field<D>& phi, const Heights<D>& heights, const Labels<D>& labels, int finer = 1);

}  // namespace tarn
