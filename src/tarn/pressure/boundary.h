#pragma once
// What bounds the water: walls, solids and inlets, as kernels see them.

#include <cstdint>

#include "tarn/backend/memory.h"
#include "tarn/field/thin_walls.h"
#include "tarn/surface/gap.h"

namespace tarn {

template <int D>
struct Boundary {
    Cell<D> cells;
    bool wall_open[D][2] = {};  // may water pass the domain's lower, upper side?
    bool solids = false, moving = false, inlets = false;
    FaceView<D, const float> open;            // with solids: the part of a face that is not inside one
    FaceView<D, const float> solid_velocity;  // with moving solids: of the solid, along the axis
    View<D, const uint8_t> inlet;             // with inlets: a cell's inlet, counted from 1, or 0
    const Vec<D, float>* inlet_velocity = nullptr;
    View<D, const float> inlet_part, water;   // with inlets: the part of a cell inside of them; phi
    // Tell where water has separated from walls; null: nowhere.
    View<D, const float> phi, solid_distance;
    ThinWalls<D> thin_walls;  // walls thinner than a cell, which water does not part from

    TARN_HD bool at_wall(Cell<D> c, int axis) const { return c[axis] == 0 || c[axis] == cells[axis]; }

    // Whether there is air between the water and a closed side of the domain, or the solid that closes a face.
    TARN_HD bool parted_from_side(Cell<D> c, int axis) const
    {
        if (c[axis] == 0) --c[axis];
        return phi.data && !is_outside(phi(c));
    }
    TARN_HD bool parted_from_solid(Cell<D> c, int axis) const
    {
        const int i = phi.index(c);
        return phi.data && !thin_walls.below(i, axis) && air_between<D>(phi, solid_distance, i, i - phi.next(axis), axis) &&
               dry_where_closed<D>(phi, solid_distance, c, axis);
    }
    // The inlet that prescribes a face's velocity, or 0.
    TARN_HD int inlet_at(Cell<D> c, int axis) const
    {
        if (!inlets) return 0;
        const int i = inlet.index(c);
        const int upper = c[axis] < cells[axis] ? inlet[i] : 0;
        const int lower = c[axis] > 0 ? inlet[i - inlet.next(axis)] : 0;
        return upper > lower ? upper : lower;
    }
    // Whether a face of an inlet leads to water behind it: into that water, the part of cells inside of inlets grows along
    // the inlet's velocity. Told by cells, not by faces: beside an inlet the faces of a row of steps lead in and out, and
    // only their sum is the flow across it.
    TARN_HD bool behind_inlet(Cell<D> c, int axis, const Vec<D, float>& velocity) const
    {
        const int i = inlet.index(c), n = inlet.next(axis);
        const int upper = c[axis] < cells[axis] ? inlet[i] : 0;
        const int lower = c[axis] > 0 ? inlet[i - n] : 0;
        const int outside = lower ? i : i - n;
        if ((upper && lower) || at_wall(c, axis) || !(water[outside] < 0)) return false;
        float along = 0;
        for (int a = 0; a < D; ++a)
            along += velocity[a] * (inlet_part[outside + inlet.next(a)] - inlet_part[outside - inlet.next(a)]);
        return along > 0;
    }
    // The part of a face through which the pressure moves water.
    TARN_HD float open_at(Cell<D> c, int axis) const
    {
        if (inlet_at(c, axis)) return 0;
        const float fraction = solids ? open[axis](c) : 1.0f;
        if (at_wall(c, axis)) return wall_open[axis][c[axis] > 0] || parted_from_side(c, axis) ? fraction : 0.0f;
        return fraction < 1 && parted_from_solid(c, axis) ? 1.0f : fraction;
    }
    // The velocity of what closes the rest of it.
    TARN_HD float closed_velocity(Cell<D> c, int axis) const
    {
        const float solid = at_wall(c, axis) || !moving ? 0.0f : solid_velocity[axis](c);
        const int n = inlet_at(c, axis);
        if (!n) return solid;
        // An inlet gives what the solid leaves open of its face. It is a nozzle: water does not enter it from behind. Nor does
        // any leave through a closed side.
        const float given = inlet_velocity[n - 1][axis];
        const bool out_of_domain = c[axis] == 0 ? given < 0 : c[axis] == cells[axis] && given > 0;
        if (behind_inlet(c, axis, inlet_velocity[n - 1]) || (out_of_domain && !wall_open[axis][c[axis] > 0])) return solid;
        return solids ? solid + open[axis](c) * (given - solid) : given;
    }
};

// The place of a cell along a side of the grid.
template <int D>
TARN_HD inline int place_at_side(Cell<D> cells, Cell<D> c, int axis)
{
    int i = 0;
    for (int a = D - 1; a >= 0; --a)
        if (a != axis) i = i * cells[a] + c[a];
    return i;
}

// What a solve knows of the faces of closed sides: the velocity that the water came with, and the one with which the
// water at the wall moves, that is not zero where a gap closes within the step.
template <int D>
struct WallFaces {
    Memory<float> free[D][2], wall[D][2];
};

}  // namespace tarn
