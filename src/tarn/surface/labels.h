#pragma once
// What each cell holds, as one word: the way the marker-and-cell method tells water, air and walls apart.   [FM96] §3.1
//
// The padding around the grid has labels, too: a closed side of the domain is a wall, an open one lets water out. So no
// stencil need ask where the grid ends.

#include <cstdint>

#include "tarn/field/field.h"

namespace tarn {

enum class Contents : uint8_t {
    empty,         // air
    surface,       // water, and air in a cell beside it
    full,          // water, and no air beside it
    inflow,        // water whose velocity is given
    outflow,       // outside of an open side
    slip_wall,     // an obstacle that water slides along
    no_slip_wall,  // one that it sticks to
};

TARN_HD inline bool is_wall(Contents c) { return c == Contents::slip_wall || c == Contents::no_slip_wall; }
TARN_HD inline bool is_water(Contents c) { return c == Contents::surface || c == Contents::full; }
// Where nothing flows that has a velocity of its own.
TARN_HD inline bool is_beyond(Contents c) { return is_wall(c) || c == Contents::outflow; }

template <int D>
using Labels = Field<D, Contents>;
template <int D>
using LabelView = View<D, const Contents>;

// A face lies inside an obstacle, or outside the domain, where both of its cells do.
template <int D>
TARN_HD inline bool is_buried(const LabelView<D>& label, int face, int axis)
{
    return is_beyond(label[face]) && is_beyond(label[face - label.next(axis)]);
}

// How the velocity along a wall goes on inside of it: as it is, or turned around so that it is zero between.   [FM96] §3.2
template <int D>
TARN_HD inline float mirrored(const LabelView<D>& label, int face, int axis, float outside)
{
    const bool sticks = label[face] == Contents::no_slip_wall || label[face - label.next(axis)] == Contents::no_slip_wall;
    return sticks ? -outside : outside;
}

}  // namespace tarn
