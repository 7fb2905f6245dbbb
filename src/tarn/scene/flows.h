#pragma once
// Sources and sinks on the grid.
//
// A source with a velocity is an inlet: its cells are always wet and move as told, so that it gives the area of its
// cross-section, as far as no solid covers it, times its velocity; water that flows into it is taken. Inlets that overlap
// are one, with the velocity of the last. While its velocity is zero it is shut, and its cells are like any others.
//
// A source with a rate gives rate / volume of the source everywhere in it, outside of solids and inside the domain: to
// water as divergence, div u = rate / volume, and to air as a volume that is due. From that a ball of water at rest fills
// the source from its middle, as soon as it is large enough for the grid. So the sum is the rate in water, in air and
// between, and neither depends on dt.
//
// A sink with a rate takes it from the water in its cells, likewise as divergence. Where only a small part of it is wet it
// takes less, and never more than is there. A sink without a rate empties its cells. While it is closed it does nothing.
//
// A source of drops does not touch the grid (scene/rain.h).

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
    // A checkpoint, of each source: the volume that is due, of one with a rate or of drops; 1 while it is shut, of an inlet.
    std::vector<double> due;

    bool any_inlet = false, any_rate = false;
    Field<D, uint8_t> inlet;                         // inlet of a cell, counted from 1; only where there are inlets
    Field<D> inlet_part;                             // the part of a cell inside of inlets; only where there are any
    Field<D> inlet_front;                            // what they give: volume per area of a face
    Field<D, uint8_t> inlet_which;                   // and which of them
    std::vector<Vec<D, float>> inlet_velocity;       // now
    std::vector<Vec<D, float>> front_velocity;       // when fronts were found
    Memory<Vec<D, float>> inlet_velocity_there;      // the same for kernels
    Field<D> volume_rate;                            // now, fraction of the cell per second; only where there are rates
    std::vector<Tiles<D>> source_tiles, sink_tiles;  // around each
    std::vector<Vec3> middle;                        // of each source: the point that is deepest inside
    std::vector<uint8_t> shut, sink_shut;            // whether each source and sink is
};

template <int D>
Flows<D> make_flows(const Scene& scene, const Grid<D>& grid);

// Shuts the sources that give nothing from t to t + dt and the sinks that are closed, and opens the others.
template <int D>
void shut_sources(Flows<D>& flows, const Scene& scene, double t, double dt);

// Lets inlets wet their cells, sources with a rate fill theirs with the volume that is due, and sinks without a rate dry
// theirs. Returns the volume that this took, less what it brought; what phi shows inside solids is no water. New water of
// sources with a rate is at rest in `velocity`; without it they do not fill, as at the start. `scratch` is a field to work
// in.
template <int D>
double fill_and_drain(Field<D>& phi, FaceField<D>* velocity, Flows<D>& flows, const Solids<D>& solids,
                      const Scene& scene, Field<D>& scratch);

// Particles that sources and sinks have proved wrong: those of air in a source, and of water in a sink, are none any
// more.
template <int D>
void obey_flows(Particles<D>& particles, const Field<D>& phi, const Flows<D>& flows, const Solids<D>& solids,
                const Scene& scene);

// Sets velocities and rates for the step from t to t + dt. Returns the volume that flows in by rates, less what flows
// out.
template <int D>
double set_rates(Flows<D>& flows, const Field<D>& phi, const Solids<D>& solids, const Scene& scene, double t,
                 double dt);

// The volume that inlets give in dt: what leaves their surface, as far as no solid covers it.
template <int D>
double inlet_volume(const Flows<D>& flows, const Solids<D>& solids, double dt);

}  // namespace tarn
