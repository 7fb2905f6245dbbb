#pragma once
// The volume of each connected component of water (surface/target_volumes.h), kept.   [SSK05] §5.4
//
// [SSK05] moves the whole surface by delta phi = (V - V_expected) / S, (20) to (22). Deviation: each component k is moved
// by its own first, so that water lost in one place does not come back in another,
//
//   phi <- phi - delta_k,   V_k(delta_k) = V_k + (1 - exp(-dt / tau)) (V*_k - V_k),   |delta_k| <= h / 4 (1 - exp(-dt / tau)),
//
// where V*_k is what it should hold. That takes a time tau of its own: what the flow presses out of a drop of few cells
// and a correction puts back in every step would be a pump. Then the whole surface moves, until there is as much water as
// there should be: what is left of the errors of a few small components is little for all of it. No water is accelerated.
//
// V_k is the volume of cut cells, which is second order and what stats.csv reports. With labels that stay, it grows with
// delta_k, and Newton's method finds the delta: S_k tells V_k's derivative to first order, then a secant does, and where that
// leaves the interval known so far, it is halved.

#include "tarn/surface/target_volumes.h"
#include "tarn/surface/measure.h"

namespace tarn {

template <int D>
struct VolumeCorrection {
    double share = 1;                  // 1 - exp(-dt / tau)
    double unsure = 0;                 // how well a surface between cells tells its volume, as a part of it
    double deep = 0;                   // the cells that no tile holds: water throughout
    View<D, const int> enclosed = {};  // not zero where air is enclosed, whose surface stays; data null: nowhere
};

// Moves every component by a share of what it lacks, then all of them until there is what there should be, to 1e-5 of it
// or as well as that can be told. `tiles` hold every cell within the band around the surface, beyond which phi is +-band,
// and `inner` ones the rest of the water. The target volumes knows what components hold, and does afterwards. Returns whether
// anything moved.
template <int D>
bool correct_volumes(Field<D>& phi, TargetVolumes<D>& targets, const WetPart<D>& wet, double band, const VolumeCorrection<D>& how,
                     const Tiles<D>& tiles, const Tiles<D>& inner);

}  // namespace tarn
