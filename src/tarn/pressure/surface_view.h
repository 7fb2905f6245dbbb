#pragma once
// A face as the projection sees it from one of its cells.

#include "tarn/field/field.h"
#include "tarn/pressure/surface_fraction.h"

namespace tarn {

template <int D>
struct SurfaceView {
    Cell<D> cells;
    View<D, const float> phi;
    float h;
    View<D, const float> kappa;  // data null: no surface tension
    float tension = 0;           // sigma dt / (rho h): times kappa it is the x on the surface
    View<D, const float> pressure;  // of the atmosphere, Pa; data null: none
    float to_x = 0;                 // dt / (rho h)
    View<D, const int> enclosed;    // not zero where air is not the atmosphere; data null: nowhere

    TARN_HD bool inside(Cell<D> c, int axis) const { return c[axis] >= 0 && c[axis] < cells[axis]; }
    TARN_HD bool wet(Cell<D> c, int axis) const { return inside(c, axis) && phi(c) < 0; }
    // One over the distance, in cells, from the wet cell to the surface towards its dry neighbour. Past an open wall
    // lies air, a cell away.
    TARN_HD float closeness(Cell<D> wet_cell, Cell<D> dry_cell) const
    {
        return is_outside(phi(dry_cell)) ? 1.0f : 1 / surface_fraction(phi(wet_cell), phi(dry_cell), h);
    }
    // x on the surface between them.
    TARN_HD float on_surface(Cell<D> wet_cell, Cell<D> dry_cell, int axis) const
    {
        if ((!kappa.data && !pressure.data) || !inside(dry_cell, axis)) return 0;
        const float theta = surface_fraction(phi(wet_cell), phi(dry_cell), h);
        const auto between = [&](const View<D, const float>& f) { return f(wet_cell) + theta * (f(dry_cell) - f(wet_cell)); };
        const bool atmosphere = pressure.data && !(enclosed.data && enclosed(dry_cell) != 0);
        return (kappa.data ? tension * between(kappa) : 0.0f) + (atmosphere ? to_x * between(pressure) : 0.0f);
    }
};

}  // namespace tarn
