#pragma once
// Sources and sinks on the grid. A source with a velocity is an inlet: its cells are always wet and move as told. A
// source with a rate makes volume in its cells. A sink with a rate takes volume from the water in its cells; one
// without empties them. A source whose keyframes have ended at zero is shut: its cells are like any others.

#include <cstdint>
#include <vector>

#include "tarn/backend/parallel.h"
#include "tarn/bodies/solids.h"
#include "tarn/field/field.h"
#include "tarn/scene/scene.h"
#include "tarn/surface/particles.h"

namespace tarn {

template <int D>
struct Flows {
    bool any_inlet = false, any_rate = false;
    Field<D, uint8_t> inlet;                         // inlet of a cell, counted from 1; only where there are inlets
    std::vector<Vec<D, float>> inlet_velocity;       // now
    Memory<Vec<D, float>> inlet_velocity_there;      // the same for kernels
    Field<D> volume_rate;                            // now, fraction of the cell per second; only where there are rates
    std::vector<Tiles<D>> source_tiles, sink_tiles;  // around each
    std::vector<uint8_t> shut;                       // whether each source is
};

template <int D>
Flows<D> make_flows(const Scene& scene, const Grid<D>& grid);

// Shuts the sources whose keyframes have ended at zero by time t.
template <int D>
void shut_sources(Flows<D>& flows, const Scene& scene, double t);

// Lets sources wet their cells and sinks without a rate dry theirs. Returns the volume that the sinks took; what phi
// shows inside solids is no water.
template <int D>
double fill_and_drain(Field<D>& phi, const Flows<D>& flows, const Solids<D>& solids, const Scene& scene);

// Particles that sources and sinks have proved wrong: those of air in a source, and of water in a sink, are none any
// more.
template <int D>
void obey_flows(Particles<D>& particles, const Field<D>& phi, const Solids<D>& solids, const Scene& scene);

// Sets velocities and rates for the step from t to t + dt. Returns the volume that flows in by rates, less what flows
// out.
template <int D>
double set_rates(Flows<D>& flows, const Field<D>& phi, const Scene& scene, double t, double dt);

// The volume that inlets give in dt: what leaves their cells, less the water that enters them.
template <int D>
double inlet_volume(const Flows<D>& flows, const Field<D>& phi, const Scene& scene, double dt);

}  // namespace tarn
