#pragma once
// Walls and solids push water but do not pull it:  0 <= p,  u . n >= u_wall . n  (n: away from the wall), and one of
// the two holds as an equality.
//
// Which one is an active set, found together with the pressure: water under suction in a solve separates from its wall,
// the surface then runs along the wall, with air behind it, and the solve is done again with p = 0 there. It stays so
// until the flow leads back to the wall. What a wall carries, as a floor does, it keeps. Where enclosed air is below the
// pressure of the atmosphere, as in an upside-down bottle, that is what suction is counted from.
//
// The air behind a side of the domain is phi's padding, which is `outside` where water and wall are together. The air
// behind a solid's surface is phi inside the solid, which continues the water where they are together. So phi tells all
// that the next step needs to know.

#include "tarn/backend/parallel.h"
#include "tarn/base/frame_forces.h"
#include "tarn/pressure/boundary.h"
#include "tarn/pressure/poisson.h"

namespace tarn {

// Whether there is air behind the domain's sides. Without any, nothing else here need be asked about them.
template <int D>
bool any_gap_at_sides(const Field<D>& phi, const Tiles<D>& tiles);

// After phi has moved: the air behind the domain's sides follows, and is forgotten where the water is far.
template <int D>
void move_gaps(Field<D>& phi, const Tiles<D>& tiles);

// Water that moves towards a closed side rejoins it, with its velocity or the one that closes the gap delta within dt:
// u . n >= - delta / dt  (Signorini's condition with a gap). A gap is less than half a cell while there is water in the
// cell, so that phi could not tell how it fills. x = p dt / (rho h) is that of the newest solve, or null. Returns whether
// there was any.
template <int D>
[[nodiscard]] bool rejoin_sides(Field<D>& phi, const Field<D>* x, WallFaces<D>& walls, const Boundary<D>& boundary,
                                double dt, const Tiles<D>& tiles);
// The same at solids, where the water closes its gap delta within dt: -u . n > delta / dt. Phi shows it closed at once;
// the volume that this fills is taken as `divergence`, per second, from the water before it. `scratch` is a field to work
// in.
template <int D>
[[nodiscard]] bool rejoin_solids(Field<D>& phi, const Field<D>* x, const FaceField<D>& velocity,
                                 const Boundary<D>& boundary, double dt, Field<D>& divergence, double band,
                                 const Tiles<D>& tiles, Field<D>& scratch);

// What suction is told by, all in the unit of the pressure.
template <int D>
struct Suction {
    FrameForces frame;      // g, which may vary with the place
    double per_metre = 1;   // rho
    TARN_HD Vec<D, float> weight(Vec<D> x) const { return (per_metre * take<D>(frame.at(lift<D>(x)))).template as<float>(); }
    float least = 0;        // less is not told from the solver's error
    InClosedComponent<D> in_closed;  // where the pressure is known up to a constant: such water is never separated
};

// Part water from the walls that pull at it. Return whether there were any.
template <int D>
[[nodiscard]] bool separate_from_sides(Field<D>& phi, const Field<D>& pressure, const Suction<D>& suction,
                                   const Boundary<D>& boundary, double band, const Tiles<D>& tiles);
template <int D>
[[nodiscard]] bool separate_from_solids(Field<D>& phi, const Field<D>& pressure, const Suction<D>& suction,
                                    const Boundary<D>& boundary, double band, const Tiles<D>& tiles,
                                    Field<D>& scratch);

// Air beside a side that water has left moves as the water does, away from the side.
template <int D>
void carry_to_separated_walls(FaceField<D>& velocity, const Field<D>& phi, const Tiles<D>& tiles);

}  // namespace tarn
