#pragma once
// The volume of each connected component of water beside air (surface/ledger.h), kept.   [SSK05] §5.4
//
// [SSK05] moves the whole surface by delta phi = (V - V_expected) / S, (20) to (22). Deviation: each component k is moved
// by its own first, so that water lost in one place does not come back in another,
//
//   phi <- phi - delta_k,   V_k(delta_k) = V_k + (1 - exp(-dt / tau)) (V*_k - V_k),   |delta_k| <= h / 4 (1 - exp(-dt / tau)),
//
// where V*_k, what it should hold, goes with its water, less the droplets that leave it, plus those that return and the
// bubbles in it, which the grid shows as water. As without air, that takes a time tau of its own: what the flow presses out
// of a drop of few cells and a correction puts back in every step would be a pump. Then the whole surface moves, until there
// is as much water as there should be: what is left of the errors of a few small components is little for all of it.
//
// V_k is the volume of cut cells, which is second order and what stats.csv reports. With labels that stay, it grows with
// delta_k, and Newton's method finds the delta: S_k tells V_k's derivative to first order, then a secant does, and where that
// leaves the interval known so far, it is halved.

#include <vector>

#include "tarn/phases/fragments.h"
#include "tarn/surface/ledger.h"

namespace tarn {

// Sets l.body for each of the places l.x - back l.u (in cells): the component of the nearest wet cell up to two cells
// away, 0 where there is none.
template <int D>
void find_components(std::vector<Lost<D>>& places, double back, const Field<D, int>& component, const Sheets<D>& sheets);

// Droplets leave the components that they came from: `lost` knows which, by the numbers that the ledger has now. Where
// the volume is `kept`, they leave with no more than there should be.
template <int D>
void take_droplets(Ledger<D>& ledger, std::vector<Lost<D>>& lost, bool kept, const Grid<D>& grid);

// What components should have held that are gone (surface/ledger.h) is in the droplets that they became; and where they
// became none, in new ones, one for each of their cells, where the flow takes it. Returns what that cannot be said of: of
// components that should have held less than nothing, after bubbles in them had burst.
template <int D>
double scatter_gone(std::vector<Lost<D>>& lost, const std::vector<double>& gone, const Ledger<D>& ledger,
                  const FaceField<D>& velocity, const Tiles<D>& tiles, double dt, FragmentRoom<D>& room);

// A volume, in m³, comes to a component, or to all where it is 0.
template <int D>
void give(Ledger<D>& ledger, int component, double volume);

// What components hold too little, or too much where the volume is negative, is taken from what they should hold, in
// proportion.
template <int D>
void forgive(Ledger<D>& ledger, double volume);

// Moves every component by `share`, 1 - exp(-dt / tau), of what it lacks, then all of them until there is what there should
// be, to 1e-5 of it. `tiles` hold every cell within the band around the surface, beyond which phi is +-band, and `inner` ones
// the rest of the water. Returns whether any moved by itself, so that phi's gradient has changed.
template <int D>
bool correct_volumes(Field<D>& phi, Ledger<D>& ledger, const WetPart<D>& wet, double band, double share,
                     const Tiles<D>& tiles, const Tiles<D>& inner);

}  // namespace tarn
