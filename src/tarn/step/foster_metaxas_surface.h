#pragma once
// What shows where the water is: markers, chains of them or heights.   [FM96] §4

#include "tarn/step/step.h"
#include "tarn/surface/labels.h"

namespace tarn::foster_metaxas {

// Whether it tells where in a cell the surface is.
inline bool knows_surface(const Params& p) { return p.method.surface != SurfaceKind::markers; }

// The distance to the water's shapes at the start, on the program's side; negative within.
template <int D>
Field<D> shapes_phi(const Grid<D>& grid, const Scene& scene);

// From the scene's shapes, before there is any surface: sets what there should be, too.
template <int D>
void start_surface(Water<D>& water, const Labels<D>& labels, const Scene& scene);

// Labels the cells that are no walls.
template <int D>
void label_surface(Labels<D>& labels, const Water<D>& water, const Params& params);

// Phi, tiles and the volumes of connected components, as it has them.
template <int D>
void follow_surface(Water<D>& water, const Labels<D>& labels, const Params& params);

// Moves it for dt.
template <int D>
void move_surface(Water<D>& water, const Labels<D>& labels, const Scene& scene, double dt, StepReport& report);

}  // namespace tarn::foster_metaxas
