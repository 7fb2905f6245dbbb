#pragma once
// What every step that moves a surface shares: the start from shapes, active tiles, and the motion of phi and its
// particles.

#include <cmath>
#include <exception>

#include "tarn/backend/parallel.h"
#include "tarn/base/timer.h"
#include "tarn/scene/scene.h"
#include "tarn/step/water.h"

namespace tarn {

// A part of the step, timed until its kernels are done.
class Stage {
public:
    explicit Stage(double& seconds) : timer_(seconds) {}
    // What went wrong in a kernel is told here, unless something else is being told already.
    ~Stage() noexcept(false)
    {
        if (std::uncaught_exceptions() == before_) backend::wait();
    }

private:
    ScopedTimer timer_;
    int before_ = std::uncaught_exceptions();
};

// Whether particles correct phi.
inline bool has_particles(const Params& p)
{
    return p.method.surface == SurfaceKind::particle_level_set || p.method.surface == SurfaceKind::one_sided_particles ||
           p.method.surface == SurfaceKind::foster_fedkiw_2001;
}

// The scene at time 0 without velocities: phi, its tiles and particles, solids, and what the bodies of water hold.
template <int D>
Water<D> initial_surface(const Scene& scene);

// Finds what every tile holds now. Tiles that water has left are cleared, so that outside active tiles all is zero.
template <int D>
void find_tiles(Water<D>& water);

// The same after phi has changed within the active ones.
template <int D>
void find_tiles_again(Water<D>& water);

// The wet ones among the active tiles, after phi has changed there.
template <int D>
void find_wet_tiles(Water<D>& water);

// Tiles that this step's motion and the sources can reach become candidates.
template <int D>
void find_candidates(Water<D>& water, double cfl);

// What bounds the water goes where it is at the end of a step of dt: bodies and other solids. Sources that give nothing are shut.
template <int D>
void move_boundaries(Water<D>& water, const Scene& scene, double dt);

// How the surface moves in a step: in so many substeps, where, and between which walls.
template <int D>
struct SurfaceMotion {
    int substeps = 1;
    double dt = 0;                     // of a substep
    Tiles<D> first = {}, around = {};  // where phi moves in the first substep, and where in the others
    // How far from the surface phi is carried, from where what it is carried from must be a distance, and how far it is made one until
    // the step is over; metres.
    double near = HUGE_VAL, far = HUGE_VAL, band = 0;
    Sides<D> sides = {};  // of thin walls
    Ends<D> ends = {};
    NearContactAir<D> air = {};
    Escape escape = {};  // which particles count
    const FaceField<D>* path = nullptr;  // where each substep's flow comes from, if that is known already
};

// Which particles count, as the scene wants it.
Escape escape_of(const Params& params);

// Moves the surface of water without air for dt: phi, and the particles that put it right wherever it was changed.   [EMF02] §3.2
template <int D>
void carry_surface(Water<D>& water, const Params& params, double dt);

// What each of its substeps consists of, in this order; a step that moves air, too, takes phi between them.
// The particles go with the flow, dx_p/dt = u(x_p).   [EMF02] §3.2.2
template <int D>
void advect_particles(Water<D>& water, const Params& params, const SurfaceMotion<D>& motion);
// phi_t + u . grad phi = 0  (1).   [EMF02] §3.2.2
template <int D>
void advect_phi(Water<D>& water, const Params& params, const SurfaceMotion<D>& motion, const Tiles<D>& tiles);
// Escaped particles rebuild phi  (3).   [EMF02] §3.2.3
template <int D>
void correct_phi(Water<D>& water, const Params& params, const SurfaceMotion<D>& motion);
// Phi becomes a distance again within `band`; particles correct that, too, and get their radii  (2), (4).   [EMF02] §3.2.4
template <int D>
void smooth_phi(Water<D>& water, const Params& params, const SurfaceMotion<D>& motion, double band);

// Keeps particles around the surface.   [EMF02] §3.2.5
template <int D>
void keep_seeded(Water<D>& water, const Params& params);

// The same at the end of every so many steps or frames, as the scene wants it, of which this step of dt may be one.
template <int D>
void reseed_periodically(Water<D>& water, const Params& params, double dt);

// Finds the bodies of water after the surface has moved for dt: what they should hold goes with their water. `gone` as
// in surface/target_volumes.h.
template <int D>
void carry_bodies(Water<D>& water, const Params& params, double dt, std::vector<double>* gone = nullptr);

// What sources gave and what left goes to the bodies that it went to or came from: those with the most cells where that
// happens. No more can leave than there is: returns what was booked.
template <int D>
double add_to_targets(Water<D>& water, double gained);

// The time in which water at rest falls by half a cell, sqrt(h / g). Without gravity, that of the Earth stands in. Volume
// errors are corrected in a time that follows from it: it depends on the scene and the grid, not on dt, the frame rate or
// how fast the water is.
template <int D>
double falling_time(const Grid<D>& grid, const Params& params);

// The volume of every component comes to what it should be (surface/correct_volumes.h), and particles and phi's gradient
// follow; where the scene wants it.
template <int D>
void correct_volumes(Water<D>& water, const Params& params, double dt);

// The volume that will leave through open sides within dt: the water behind them that is no farther away than it moves.
template <int D>
double outflow(const Water<D>& water, Boundary<D> boundary, double dt);

// Components that are gone since the surface moved, with what each should have held: those that were at an open side and did not flow in have
// left. What others held is shared out.
template <int D>
void let_components_out(Water<D>& water, const std::vector<double>& gone);

// Volume per second that sources and solids press into water that touches no air, where it cannot go, as the newest solve
// found it; negative where they draw it out.
struct Pressed {
    double by_sources = 0, by_solids = 0;
};
template <int D>
Pressed find_pressed(const Water<D>& water, const Boundary<D>& boundary);

// The volume of water on the grid.
template <int D>
double water_volume(const Water<D>& water);

// The longest step that CFL, capillary waves and max_step allow. CFL counts the water and what moves it; air may be
// faster.
template <int D>
double longest_step(const Water<D>& water, const Scene& scene);

// Each water shape brings its velocity, and that of the wave it is, to the faces inside it; later ones win.
template <int D>
void set_initial_velocity(FaceField<D>& velocity, const Tiles<D>& tiles, const Scene& scene);

// The gradients of the velocity that CIP carries along, from the velocity.
template <int D>
void start_gradients(Water<D>& water);

// Finds the curvature that pulls at the surface, around it, if anything does.
template <int D>
void find_curvature(Water<D>& water, const Params& params);

// The largest velocity component on any face; NaN where any is.
template <int D>
double fastest_face(const Water<D>& water);

}  // namespace tarn
