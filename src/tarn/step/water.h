#pragma once
// The state of water with a free surface: what a checkpoint holds, what follows from it, and workspace.

#include <vector>

#include "tarn/advect/advect.h"
#include "tarn/advect/conservative.h"
#include "tarn/bodies/rigid.h"
#include "tarn/bodies/solids.h"
#include "tarn/effects/spray.h"
#include "tarn/effects/vortices.h"
#include "tarn/field/field.h"
#include "tarn/field/levels.h"
#include "tarn/phases/carried_volume.h"
#include "tarn/phases/droplets.h"
#include "tarn/phases/phase_velocities.h"
#include "tarn/pressure/enclosed_air.h"
#include "tarn/pressure/project.h"
#include "tarn/scene/flows.h"
#include "tarn/step/tall_cells.h"
#include "tarn/surface/particles.h"

namespace tarn {

// What a tile holds: bits of Water::map.
inline constexpr uint8_t tile_wet = 1;        // a cell with phi < 0
inline constexpr uint8_t tile_band = 2;       // a cell within the band around the surface
inline constexpr uint8_t tile_active = 4;     // either: where velocities are
inline constexpr uint8_t tile_candidate = 8;  // where a step may find any of these
inline constexpr uint8_t tile_deep = 16;      // wet, and nowhere within the band
inline constexpr uint8_t tile_shallow = 32;   // active, but not deep
inline constexpr uint8_t tile_dry = 64;       // within the band, a cell with phi >= 0
inline constexpr uint8_t tile_coarse = 128;   // deep, and in larger cells alone: work on small ones leaves it out, and it is not tile_wet

// What a checkpoint holds; step/state.h lists it.
template <int D>
struct WaterState {
    Grid<D> grid;

    double time = 0;
    long step = 0;
    Field<D> phi;                      // signed distance to the surface, negative in water, exact within the band
    Particles<D> particles;            // that correct phi; none with a level set alone
    FaceField<D> velocity;             // carried past the surface as far as the next step looks; zero beyond
    Field<D> pressure;                 // the newest, where the next solve starts
    Gradient<D> phi_gradient;          // only where CIP carries phi
    Gradient<D> velocity_gradient[D];  // of each component; only where CIP carries the velocity
    FaceField<D> acceleration;         // only with air or in a moving frame: of what stays in its phase, over the newest step
    double ahead = 0;                  // the velocity's time less the surface's; with smoke the newest step's length
    double placed_from = 0;            // only with smoke: the time from which solids moved for that long, to where they are
    Droplets<D> droplets;            // droplets and bubbles that the grid cannot hold
    AirRegions enclosed_air;           // without air being simulated: enclosed regions and their targets
    Field<D> smoke_density;            // only with smoke, as temperature
    Field<D> temperature;              // above that of the air around, K
    Field<D> volume_error;                     // only where volume is carried: what a cell should hold more than phi says
    Exchange exchange;                 // what they were given
    TargetVolumes<D> targets;                  // of every body of water
    std::vector<RigidBody> bodies;     // that float, sink and are pushed
    std::vector<CoarseLevel<D>> coarse;  // on an octree: velocity and pressure in its larger cells, from level 1 on
    std::vector<int> octree_tiles;       // on an octree: the tiles that exist, those of each level counted on from the level below
    TallCells<D> tall;                 // only on a tall grid
    Vortices<D> vortices;              // particles that keep up whirls, where the scene has any
    double volume_expected = 0;        // what was there at the start, plus sources, minus sinks
};

// What follows from the scene, the time and the state, and is found anew in every step.
template <int D>
struct WaterDerived {
    // From the scene and the time.
    bool smoke = false;         // whether the domain is full of air with smoke: then phi is negative everywhere
    bool air = false;           // whether air flows, too: then velocities are everywhere
    Redistancing distance = Redistancing::eikonal;  // how phi is made one again
    Ends<D> ends;               // the domain's open sides
    Solids<D> solids;
    Flows<D> flows;  // sources and sinks

    // From the state.
    double fastest = 0;  // largest velocity component on any face
    double ambient = 0;  // only with smoke: temperature of the air around, K
    double lift = 0;     // only with smoke: largest acceleration by buoyancy
    Field<D> divergence_source;   // divergence that the newest step asked for, to fill gaps at solids
    bool gaps = false;   // is there air between the water and the domain's sides?
    double band = 0;     // metres
    TileMap<D> map;
    Octree<D> octree;  // without levels on a uniform grid
    Tiles<D> tiles_inner;  // of larger cells alone, as what lies beside them
    std::vector<TileMap<D>> octree_least;  // tiles of each level that must exist
    std::vector<uint8_t> octree_states;    // of each tile, as it was last divided
    int octree_reach = 1;                  // tiles around a level where paths may lead
    OctreeParams octree_params;            // what makes cells small
    Tiles<D> tiles_band, tiles_active, tiles_deep, tiles_shallow, tiles_dry;
};

// What a step works in; no state. Outside active tiles, `faces` and `known` are zero.
template <int D>
struct WaterWorkspace {
    FaceField<D> faces;
    FaceField<D, uint8_t> known;
    Field<D> scratch[3];
    FaceField<D> viscosity[3];  // only for viscous water
    Field<D> kappa;             // only with surface tension
    Field<D> surface_pressure;  // only where one is given: Pa, around the surface
    Field<D> to_water;          // only with solids: distance to water that is outside of them
    Field<D> fluid;             // only with air: negative, as phi is in water, wherever something flows
    FaceField<D> density;       // only with air
    FaceField<D> path;          // only with air: where the flow comes from in a (sub)step, in cells from each centre
    FaceField<D> expected;      // only in a moving frame: the velocity at the end of a step, as far as its start can tell
    bool whole_path = false;    // the substep is the step
    PhaseVelocities<D> phases;  // only with air: each phase's own velocity
    Field<D> mu;                // only with air and viscosity
    Projection<D> projection;
    OctreeSystem<D> octree_system;
    EnclosedAir<D> enclosed;
    SeedingWorkspace<D> seeding;
    SprayWorkspace<D> spraying;
    LostParticles lost;
    CipWorkspace<D> cip;  // only with CIP
    CarriedVolume<D> carried;
    Conservative<D> carrying;  // only with smoke
    std::vector<Conservative<D>> coarse_carrying;  // the same in larger cells, from level 1 on
    RigidRows<D> rigid;  // bodies in the pressure
    DropletWorkspace<D> fragmenting;
};

template <int D>
struct Water : WaterState<D>, WaterDerived<D>, WaterWorkspace<D> {};

}  // namespace tarn
