#pragma once
// Solids on the grid: a distance at the nodes, the open fraction of every face, and how the solid moves there.

#include <optional>

#include "tarn/advect/trace.h"
#include "tarn/backend/parallel.h"
#include "tarn/pressure/boundary.h"
#include "tarn/surface/measure.h"

namespace tarn {

template <int D>
struct Solids {
    bool any = false;  // false: the fields below stay empty and every inner face is open
    bool moving = false;
    Field<D> distance;              // at nodes, negative inside the solid
    FaceField<D> open;              // 0 closed ... 1 open
    FaceField<D> velocity;          // of the solid, along each axis; only where `moving`
    FaceField<D, uint8_t> body;     // of a face that a rigid body closes: its number, from 1; only where there are bodies
    FaceField<D, uint8_t> no_slip;  // whether water sticks to the solid at a face; only where any solid is so
    bool any_no_slip = false;

    // Walls too thin for the distance at nodes. The fields exist once there were any.
    bool thin = false, thin_before = false;       // whether there are any now, and were before the newest step
    FaceField<D, uint8_t> thin_walls, thin_walls_before;  // 1 between cells on different sides of such a wall
    FaceField<D, int8_t> came_from, goes_to;      // where `moving`: see Sides
    Field<D> volume_fraction;                                // the part of a cell that is its side's, in cells
};

// Thin walls as they are now, and over the newest step.
template <int D>
ThinWalls<D> thin_walls_of(const Solids<D>& solids, const Grid<D>& grid)
{
    ThinWalls<D> now{grid.cells};
    if (solids.thin) now.on = solids.thin_walls.view();
    return now;
}
template <int D>
Sides<D> sides_of(const Solids<D>& solids, const Grid<D>& grid)
{
    Sides<D> sides;
    sides.before = sides.after = thin_walls_of(solids, grid);
    if (!solids.moving) return sides;
    sides.before.on = {};
    if (solids.thin_before) sides.before.on = solids.thin_walls_before.view();
    if (!sides.any()) return sides;
    sides.came_from = solids.came_from.view();
    sides.goes_to = solids.goes_to.view();
    return sides;
}

// The same for what looks at phi; nothing where there are no solids.
template <int D>
std::optional<ClosedFaces<D>> closed_faces(const Solids<D>& solids, bool forget = false)
{
    if (!solids.any) return {};
    return ClosedFaces<D>{solids.open, solids.distance, forget, thin_walls_of(solids, solids.distance.grid()),
                          solids.thin ? &solids.volume_fraction : nullptr};
}
template <int D>
WetPart<D> wet_part(const Field<D>& phi, const Solids<D>& solids)
{
    const auto closed = closed_faces(solids);
    return WetPart<D>(phi, closed ? &*closed : nullptr);
}

// The open fraction of every face on the tiles, from the distances at its nodes. A sliver is closed.
template <int D>
void measure_faces(Solids<D>& solids, const Tiles<D>& tiles, float sliver);

// Continues phi into solids along their normals, straight on, so that a flat surface stays flat where it meets a wall
// of any slope. Where phi has `moved` with the water, cells beside the surface that the pressure looks at keep it: at
// the contact line the surface must follow the velocity that the pressure gives it (d phi / dt = - u . grad phi), or
// gravity does not restore it. Continued from in front, a ripple there would grow, even of still water.
template <int D>
void extend_into_solids(Field<D>& phi, const Solids<D>& solids, const Tiles<D>& tiles, double band, bool moved,
                        Field<D>& scratch);

// Gives faces at thin walls the velocity of their wall.
template <int D>
void close_thin_walls(FaceField<D>& velocity, const Solids<D>& solids, const Tiles<D>& tiles);

// Takes the velocity found by extrapolation inside solids and removes what would cross their surface, but for the air
// behind water that leaves them.
template <int D>
void slide_along_solids(FaceField<D>& velocity, const Solids<D>& solids, const Boundary<D>& boundary,
                        const Tiles<D>& tiles, FaceField<D>& scratch);

}  // namespace tarn
