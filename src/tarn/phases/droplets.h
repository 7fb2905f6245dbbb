#pragma once
// Droplets and bubbles: what is too small for the grid, as particles with mass and volume.   [SSK05] §5
//
// The grid gives volume to droplets where it is about to lose it (§5.1): in regions of one phase that fit into two
// cells a side (apparent), around a point between cells that a distance speaks of though no cell is in it (unapparent),
// and in cells that no path of a long step comes from (never referred). Droplets then move by
//
//   f = m g + alpha r^2 (u - v) |u - v| - V grad p     (16)
//
// and what the last two terms give them the grid loses. Droplets that overlap become one. The grid takes them back
// (§5.3) when they have grown beyond two cells, as a sphere (17), or when they come to fluid of their own kind, by the
// inverse of (15).
//
// Deviations: alpha is half the drag coefficient times pi and the density around, so that it has its meaning in SI.
// Drag is solved implicitly, since a bubble weighs so little that any explicit step would fling it away; it never
// entrains more fluid than half the mass of the cells around. A droplet's volume is that of the cut cells it came
// from, which is exactly what the grid loses, rather than a sum of smeared steps (14). When the grid takes one back it
// gets the droplet's momentum, rather than its velocity. Unapparent and never-referred regions are
// gone from the grid: what they should hold is known only in sum, from the volume that is missing, and they share that.
//
// Everything the droplets have, the grid or gravity gave them: Exchange counts that, in double.
//
// Positions are counted in cells from the first cell's centre, volumes in cells.

#include <vector>

#include "tarn/backend/parallel.h"
#include "tarn/base/frame_forces.h"
#include "tarn/field/columns.h"
#include "tarn/params/params.h"
#include "tarn/pressure/boundary.h"
#include "tarn/surface/measure.h"
#include "tarn/surface/particles.h"

namespace tarn {

// Foam is a bubble that has come to the surface and stays there for a while.
enum class DropletKind { droplet, bubble, foam };

// One of them, as the program sees it.
template <int D>
struct Droplet {
    Vec<D> x, u;
    double volume = 0;
    double age = 0, life = 0;  // s; life: what foam has left
    DropletKind kind = DropletKind::droplet;
    int id = 0;
};

// All of them: place, velocity, volume, age, life, kind and id, as floats, whose digits are all that a droplet has.
template <int D>
struct FragmentView {
    float *x[D], *u[D];
    float *volume, *age, *life, *kind, *id;  // volume 0: there is none any more
};
template <int D>
class Droplets : public Columns<2 * D + 5> {
public:
    using Columns<2 * D + 5>::Columns;
    FragmentView<D> view()
    {
        FragmentView<D> v;
        for (int a = 0; a < D; ++a) v.x[a] = this->column(a), v.u[a] = this->column(D + a);
        v.volume = this->column(2 * D);
        v.age = this->column(2 * D + 1);
        v.life = this->column(2 * D + 2);
        v.kind = this->column(2 * D + 3);
        v.id = this->column(2 * D + 4);
        return v;
    }
};

template <int D>
std::vector<Droplet<D>> read_fragments(const Droplets<D>& droplets);
template <int D>
void write_fragments(Droplets<D>& droplets, std::vector<Droplet<D>>& list);

// What droplets have been given since the start. The sums of what they hold now are the same, to round-off.
struct Exchange {
    double volume = 0;        // m³, droplets and bubbles alike
    double momentum[3] = {};  // kg m/s, from the grid and from walls
    double gravity[3] = {};   // kg m/s, from gravity
    double next_id = 0;
};
inline constexpr int exchange_numbers = 8;
inline constexpr int largest_id = 1 << 24;  // ids begin anew where floats no longer tell them apart

// What they hold.
struct FragmentTotals {
    long count = 0;
    double volume_droplets = 0, volume_bubbles = 0;  // m³; foam counts as bubbles
    double momentum[3] = {};
};
template <int D>
FragmentTotals totals(const Droplets<D>& droplets, const Grid<D>& grid, const Params& params);

// Regions that a step found to be lost: where, how much, and as what.
template <int D>
struct Lost {
    Vec<D> x;
    Vec<D> u;
    double volume;
    DropletKind kind;
    bool guessed = false;  // the grid has lost it already, so that its volume can only be guessed
    int body = 0;          // the body of water (surface/target_volumes.h) that it belongs to, where that is known
};

template <int D>
struct DropletWorkspace {
    Memory<int> count;
    Memory<int> referred;  // by cell
    Memory<float> found;
};

// Cells near the surface from which no path of a step of dt comes, with where the flow takes them: to be asked before
// phi moves along `path`. `wet` is phi's, and knows solids, which are left alone. With `everywhere`, as in [SSK05]: all of
// them, with their volumes by (14) and (15), which are then no guesses.
template <int D>
std::vector<Lost<D>> find_never_referred(const Field<D>& phi, const FaceField<D>& velocity, const FaceField<D>& path,
                                         const WetPart<D>& wet, const Tiles<D>& tiles, double dt,
                                         DropletWorkspace<D>& workspace, bool everywhere = false);
// After phi has moved: those of them that are not where there is fluid of their kind anyway; they are `lost`.
template <int D>
void keep_out_of_place(std::vector<Lost<D>>& lost, const Field<D>& phi);

// Isolated regions, apparent and unapparent; phi forgets them, and so do the particles that correct it, if there are any.
template <int D>
std::vector<Lost<D>> take_isolated(Field<D>& phi, Particles<D>* particles, const FaceField<D>& velocity,
                                   const WetPart<D>& wet, const Tiles<D>& tiles, DropletWorkspace<D>& workspace);

// The cells of those bodies that are wanted, by their numbers, as droplets of no volume yet where the flow takes them in dt.
template <int D>
std::vector<Lost<D>> cells_of(const Field<D, int>& bodies, const std::vector<int>& wanted, const FaceField<D>& velocity,
                              const Tiles<D>& tiles, double dt, DropletWorkspace<D>& workspace);

// Of what can only be guessed, takes as much as is `missing` in all: water, or air where that is negative, in cells.
// Guesses of the wrong kind are dropped, the others grow or shrink alike, up to a cell each.
template <int D>
void share_missing(std::vector<Lost<D>>& lost, double missing);

// Makes droplets of what was lost, in as many pieces as its speed asks for (§5.4).
template <int D>
void add_fragments(Droplets<D>& droplets, const std::vector<Lost<D>>& lost, const Grid<D>& grid, const Params& params,
                   Exchange& exchange);

// Moves droplets for dt, merges them, and gives back to the grid what it can hold again, which is `returned`: phi and
// velocity change. Returns the volume of water that left through open sides (less the air that did), in m³.
template <int D>
double move_fragments(Droplets<D>& droplets, Field<D>& phi, FaceField<D>& velocity, const Field<D>& pressure,
                      const FaceField<D>& density, const Boundary<D>& boundary, const Params& params, const FrameForces& frame,
                      double dt, Exchange& exchange, std::vector<Lost<D>>& returned);

// What the grid took back brings its momentum, after the velocity has been advected: the faces around hold it now, and
// get the mean by mass of theirs and its, which is never beyond both.
template <int D>
void add_momentum(FaceField<D>& velocity, const std::vector<Lost<D>>& returned, const FaceField<D>& density,
                  const Params& params);

// Removes particles that correct phi from around what the grid has taken back, where they are on the wrong side now.
template <int D>
void remove_strays(Particles<D>& particles, const Field<D>& phi, const std::vector<Lost<D>>& returned,
                   const Tiles<D>& tiles, DropletWorkspace<D>& workspace);

}  // namespace tarn
