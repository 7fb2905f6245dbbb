#include "tarn/pressure/project.h"

#include <initializer_list>
#include <utility>

#include "tarn/pressure/solve.h"
#include "tarn/pressure/surface_view.h"
#include "tarn/pressure/walls.h"

namespace tarn {

namespace {

// The tuned versions of the three kernels around the solve, for water in a box with nothing else in it: no solids, no
// inlets, no surface tension, no pressure on the surface, no sources. A wall's velocity is zero before they run, and phi's padding tells walls,
// `outside`, from air. tests/core_pressure.cpp holds them against the plain versions in project().
template <int D>
struct PlainBox {
    View<D, const float> phi;
    float least;       // what phi is at most in water, see surface_fraction.h
    float wall[D][2];  // one over the distance to the air past an open side; 0 where closed

    TARN_HD float dirichlet_term(float own, float neighbour, float at_wall) const
    {
        const float kept = own < least ? own : least;
        const float t = is_outside(neighbour) ? at_wall : (kept - neighbour) / kept;
        return neighbour < 0 ? 0.0f : t;
    }
};

template <int D>
PlainBox<D> plain_box(const Field<D>& phi, const Boundary<D>& boundary)
{
    PlainBox<D> box{phi.view(), -theta_min * static_cast<float>(phi.grid().h), {}};
    for (int a = 0; a < D; ++a)
        for (int side = 0; side < 2; ++side) box.wall[a][side] = boundary.wall_open[a][side] ? 1.0f : 0.0f;
    return box;
}

// Around the tiles of the system there are no unknowns, and fields must be zero.
template <int D>
void clear_rim(std::initializer_list<Field<D>*> fields, const TileMap<D>& wet)
{
    constexpr uint8_t near = 128;
    TileMap<D> rim = wet;
    for (uint8_t& flags : rim.flags) flags = flags & 1 ? 1 | near : 0;
    dilate(rim, near);
    for (uint8_t& flags : rim.flags) flags = flags == near ? near : 0;
    const Tiles<D> tiles = select(rim, near);
    for (Field<D>* field : fields) {
        const auto f = field->view();
        parallel_for<true>("clear rim", tiles, [=] TARN_KERNEL(Cell<D> c) { f(c) = 0; });
    }
}

template <int D>
void conductances_in_box(FaceField<D>& w, const PlainBox<D>& box, const Tiles<D>& active)
{
    const auto phi = box.phi;
    for (int a = 0; a < D; ++a) {
        const auto wa = w[a].view();
        const int n = phi.next(a);
        parallel_for_faces<true>("conductances", active, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = phi.index(c);
            const float upper = phi[i], lower = phi[i - n];
            wa[i] = (upper > lower ? upper : lower) < 0 ? 1.0f : 0.0f;
        });
    }
}

template <int D>
void right_hand_side_in_box(Field<D>& x, Field<D>& b, Field<D>& dirichlet, const FaceField<D>& velocity,
                            const PlainBox<D>& box, const Tiles<D>& wet, float to_x, View<D, const float> divergence_source,
                            float h)
{
    const auto xv = x.view(), bv = b.view(), ev = dirichlet.view();
    const auto u = velocity.view();
    parallel_for<true>("right-hand side", wet, [=] TARN_KERNEL(Cell<D> c) {
        const auto phi = box.phi;
        const int i = phi.index(c);
        const float own = phi[i];
        float dirichlet_term = 0, flow = 0;
        TARN_UNROLL
        for (int a = 0; a < D; ++a) {
            const int n = phi.next(a);
            const float lower = phi[i - n], upper = phi[i + n];
            flow += u[a][i + n] - u[a][i];
            dirichlet_term += box.dirichlet_term(own, lower, box.wall[a][0]) + box.dirichlet_term(own, upper, box.wall[a][1]);
        }
        const float start = xv[i] * to_x;
        const float more = divergence_source.data ? divergence_source[i] * h : 0.0f;
        bv[i] = own < 0 ? more - flow : 0.0f;
        ev[i] = own < 0 ? dirichlet_term : 0.0f;
        xv[i] = own < 0 ? start : 0.0f;
    });
}

template <int D>
void apply_pressure_in_box(FaceField<D>& velocity, FaceField<D, uint8_t>& known, const Field<D>& x,
                           const PlainBox<D>& box, const Tiles<D>& active)
{
    const auto xv = x.view();
    for (int a = 0; a < D; ++a) {
        const auto u = velocity[a].view();
        const auto k = known[a].view();
        const auto phi = box.phi;
        const int n = phi.next(a);
        const float wall_below = box.wall[a][0], wall_above = box.wall[a][1];
        parallel_for_faces<true>("apply pressure", active, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = phi.index(c);
            const float upper = phi[i], lower = phi[i - n];
            // With both cells dry neither the Dirichlet term nor x counts.
            const float down = box.dirichlet_term(upper, lower, wall_below),
                        up = box.dirichlet_term(lower, upper, wall_above);
            const float scale = upper < 0 ? down : up;
            const bool both = (upper < 0) & (lower < 0), any = (upper < 0) | (lower < 0);
            const float xi = xv[i], xn = xv[i - n];
            const float x_upper = upper < 0 ? xi : 0.0f, x_lower = lower < 0 ? xn : 0.0f;
            const float old = u[i], change = (both ? 1.0f : scale) * (x_upper - x_lower);
            u[i] = any ? old - change : old;
        });
        parallel_for_faces<true>("mark known", active, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = phi.index(c);
            const float upper = phi[i], lower = phi[i - n];
            k[i] = (upper < lower ? upper : lower) < 0 ? 1 : 0;
        });
    }
}

// What a projection is made of, as its stages see it.
template <int D>
struct Stages {
    FaceField<D>& velocity;
    Field<D>& x;
    const Field<D>& phi;
    const ProjectionForces<D>& forces;
    const Boundary<D>& boundary;
    const Tiles<D>& active;
    const ProjectionScratch<D>& scratch;
    SurfaceView<D> surface;
    PlainBox<D> box;
    bool plain;  // a box with nothing else in it
};

template <int D>
Stages<D> stages_of(FaceField<D>& velocity, Field<D>& x, const Field<D>& phi, const ProjectionForces<D>& forces, const Boundary<D>& boundary,
                    const Tiles<D>& active, const ProjectionScratch<D>& scratch, const FluidParams& fluid, float to_x)
{
    const bool plain =
        !boundary.solids && !boundary.inlets && !forces.kappa && !forces.volume_rate && !forces.surface_pressure;
    Stages<D> s{velocity, x, phi, forces, boundary, active, scratch, {phi.grid().cells, phi.view(), static_cast<float>(phi.grid().h), {}, 0, {}, to_x, {}},
                plain_box(phi, boundary), plain};
    if (forces.kappa) {
        s.surface.kappa = forces.kappa->view();
        s.surface.tension = static_cast<float>(fluid.surface_tension.constant()) * to_x;
    }
    if (forces.surface_pressure) {
        s.surface.pressure = forces.surface_pressure->view();
        if (forces.air && forces.air->any_marked()) s.surface.enclosed = forces.air->marked();
    }
    return s;
}

// The faces between wet cells conduct with their open fraction.
template <int D>
void find_conductances(const Stages<D>& s)
{
    if (s.plain) return conductances_in_box(s.scratch.w, s.box, s.active);
    const SurfaceView<D> surface = s.surface;
    const Boundary<D> boundary = s.boundary;
    for (int a = 0; a < D; ++a) {
        const auto w = s.scratch.w[a].view();
        parallel_for_faces("conductances", s.active, a, [=] TARN_KERNEL(Cell<D> c) {
            const bool joined = surface.wet(c, a) && surface.wet(moved<D>(c, a, -1), a);
            w(c) = joined ? boundary.open_at(c, a) : 0.0f;
        });
    }
}

// b = - sum of what flows out, of which the closed part moves with the solid; faces to the surface are Dirichlet terms.
// The solve starts from x times `scale`.
template <int D>
void find_right_hand_side(const Stages<D>& s, const Poisson<D>& system, Field<D>& dirichlet, float scale)
{
    const float h = static_cast<float>(s.phi.grid().h);
    const View<D, const float> source = s.forces.divergence_source ? s.forces.divergence_source->view() : View<D, const float>{};
    if (s.plain || s.forces.larger) clear_rim({&s.x, &s.scratch.b, &s.scratch.p, &s.scratch.z}, system.map);
    if (s.plain) {
        return right_hand_side_in_box(s.x, s.scratch.b, dirichlet, s.velocity, s.box, system.tiles, scale, source, h);
    }
    const auto p = s.phi.view();
    const auto x = s.x.view(), b = s.scratch.b.view(), e = dirichlet.view();
    const FaceView<D, const float> u = std::as_const(s.velocity).view();
    const View<D, const float> rate = s.forces.volume_rate ? s.forces.volume_rate->view() : View<D, const float>{};
    const SurfaceView<D> surface = s.surface;
    const Boundary<D> boundary = s.boundary;
    parallel_for("right-hand side", system.tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = p.index(c);
        float term = 0, rhs = 0, conductance = 0;
        if (p[i] < 0) {
            for (int a = 0; a < D; ++a)
                for (int side = 0; side < 2; ++side) {
                    const Cell<D> face = moved<D>(c, a, side), other = moved<D>(c, a, 2 * side - 1);
                    const float open = boundary.open_at(face, a);
                    // A closed side moves as close_walls() says; what a solid closes of an open one, as the solid does.
                    const bool wall = boundary.at_wall(face, a) && !boundary.wall_open[a][side] && !(open > 0);
                    const float closed = wall ? u[a](face) : boundary.closed_velocity(face, a);
                    const float flow = open * u[a](face) + (1 - open) * closed;
                    rhs -= side ? flow : -flow;
                    conductance += open;
                    if (open > 0 && !surface.wet(other, a)) {
                        const float t = open * surface.closeness(c, other);
                        term += t;
                        rhs += t * surface.on_surface(c, other, a);
                    }
                }
            if (source.data) rhs += source[i] * h;
            if (rate.data) rhs += rate[i] * h;
        }
        const bool unknown = conductance > 0;
        b[i] = unknown ? rhs : 0.0f;
        e[i] = unknown ? term : 0.0f;
        x[i] = unknown ? x[i] * scale : 0.0f;
    });
}

// u = u* - grad x, wherever the water's pressure acts.
template <int D>
void apply_pressure(const Stages<D>& s, FaceField<D, uint8_t>& known)
{
    if (s.plain) return apply_pressure_in_box(s.velocity, known, s.x, s.box, s.active);
    const auto x = std::as_const(s.x).view();
    const SurfaceView<D> surface = s.surface;
    const Boundary<D> boundary = s.boundary;
    for (int a = 0; a < D; ++a) {
        const auto k = known[a].view();
        const auto u = s.velocity[a].view();
        parallel_for_faces("apply pressure", s.active, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = x.index(c);
            const Cell<D> below = moved<D>(c, a, -1);
            const bool upper = surface.wet(c, a), lower = surface.wet(below, a);
            const float open = boundary.open_at(c, a);
            if (open > 0 && (upper || lower)) {
                const float x_upper = upper ? x[i] : surface.on_surface(below, c, a);
                const float x_lower = lower ? x[i - x.next(a)] : surface.on_surface(c, below, a);
                const float scale = upper && lower ? 1.0f
                                    : upper        ? surface.closeness(c, below)
                                                   : surface.closeness(below, c);
                u[i] -= scale * (x_upper - x_lower);
                k[i] = 1;
            } else if (boundary.inlet_at(c, a)) {
                u[i] = boundary.closed_velocity(c, a);
                k[i] = 1;
            } else {
                k[i] = 0;
            }
        });
    }
}

template <int D>
std::vector<Field<D>*> residuals_of(Field<D>& finest, OctreeSystem<D>& system)
{
    std::vector<Field<D>*> all{&finest};
    for (auto& level : system.levels) all.push_back(&level.r);
    return all;
}

template <int D>
double fastest_of(const FaceField<D>& velocity, const Tiles<D>& tiles)
{
    double fastest = 0;
    for (int a = 0; a < D; ++a) {
        const auto u = velocity[a].view();
        const double here =
            parallel_max<true>("fastest", tiles, [=] TARN_KERNEL(Cell<D> c) { return std::fabs(u(c)); });
        fastest = here < fastest ? fastest : here;
    }
    return fastest;
}

}  // namespace

template <int D>
SolveReport project(FaceField<D>& velocity, Field<D>& pressure, FaceField<D, uint8_t>& known, const Field<D>& phi,
                    const ProjectionForces<D>& forces, const Boundary<D>& boundary, const TileMap<D>& wet,
                    const Tiles<D>& active, const FluidParams& fluid, const PressureParams& params, double dt,
                    Projection<D>& projection, const ProjectionScratch<D>& scratch)
{
    // Water separates in the first solves only and rejoins in some more, so that no face goes to and fro.
    constexpr int separating_sets = 2, rejoining_sets = 4;
    constexpr double roughly = 0.1;  // how well a set that is still changing is solved with
    const float to_x = static_cast<float>(dt / (fluid.density.constant() * phi.grid().h));
    const Stages<D> s = stages_of(velocity, pressure, phi, forces, boundary, active, scratch, fluid, to_x);
    start_walls(projection.walls, velocity, boundary, active);
    LargerCells<D>* const larger = forces.larger;
    if (larger) {
        close_coarse_walls(larger->coarse, larger->system);
        copy_to_small_faces(velocities_of(velocity, larger->coarse), *larger->system.octree);
    }
    if (forces.rejoin) forces.rejoin(nullptr);

    SolveReport report;
    bool rough = forces.gaps;
    for (int sets = 1;; ++sets) {
        // 1. The system  A x = b.
        close_walls(velocity, known, projection.walls, true, boundary, active);
        Poisson<D> system{&scratch.w, &projection.inverse_diagonal, &projection.dirichlet, select(wet, 1), wet, s.plain};
        find_conductances(s);
        find_right_hand_side(s, system, projection.dirichlet, sets == 1 ? to_x : 1.0f);
        if (larger) {
            system.octree = &larger->system;
            coarse_right_hand_side(larger->system, larger->coarse, sets == 1 ? to_x : 0.0f);
        }
        if (forces.air)
            system.regions =
                forces.air->couple(phi, velocity, boundary, forces.kappa, s.surface.tension, forces.correction_rate);
        if (system.regions) system.regions->add_sources(scratch.b);
        if (forces.bodies) system.bodies = forces.bodies();
        projection.multigrid.build(system, projection.dirichlet);
        // What moving solids and sources press into a component without Dirichlet rows has nowhere to go: it is taken
        // off evenly.
        const ClosedComponents<D> closed =
            find_closed_components(system, projection.dirichlet, projection.labels, boundary.solids || boundary.inlets);
        projection.in_closed = closed.cells();
        if (larger && closed.everything)
            remove_mean(residuals_of(scratch.b, larger->system), system, true);
        else
            remove_means(scratch.b, system, closed);

        // 2. Solve, so that no cell's divergence is more than the tolerance times the fastest flow through a face.
        const Goal goal{.tolerance = rough ? std::max(roughly, params.tolerance) : params.tolerance,
                        .most = forces.fastest > 0 ? forces.fastest : fastest_of(velocity, active),
                        .max_iterations = params.max_iterations};
        const int before = report.iterations;
        report = solve_pressure(pressure, scratch.b, system, closed, projection.multigrid, params, goal, scratch.p,
                                scratch.z, projection.workspace);
        report.iterations += before;
        report.solves = sets;
        const bool filled = forces.air && forces.air->find_pressures(pressure);

        // 3. Walls push and do not pull, and water does not pass them: where either would be, the active set of walls
        // changes, and the solve is done again.
        const bool separated = forces.separate && sets <= separating_sets && forces.separate(pressure);
        const bool rejoined = forces.rejoin && sets <= rejoining_sets && forces.rejoin(&pressure);
        if (separated || rejoined || filled || (rough && report.residual > params.tolerance)) {
            rough = (separated || rejoined) && sets < rejoining_sets;
            continue;
        }

        // 4. u = u* - grad x; bodies are pushed by the same pressure.
        if (forces.move_bodies) forces.move_bodies(pressure);
        apply_pressure(s, known);
        if (larger) apply_coarse_pressure(velocity, larger->coarse, pressure, larger->system, to_x);
        if (system.regions) forces.air->apply(velocity, pressure);
        close_walls(velocity, known, projection.walls, false, boundary, active);
        if (boundary.solids) average_cut_faces(velocity, phi, boundary, active, scratch.w);
        const auto pa = pressure.view();
        parallel_for<true>("scale pressure", system.tiles, [=] TARN_KERNEL(Cell<D> c) { pa(c) /= to_x; });
        return report;
    }
}

#define TARN_INSTANTIATE(D)                                                                                          \
    template SolveReport project(FaceField<D>&, Field<D>&, FaceField<D, uint8_t>&, const Field<D>&,                  \
                                 const ProjectionForces<D>&, const Boundary<D>&, const TileMap<D>&, const Tiles<D>&, \
                                 const FluidParams&, const PressureParams&, double, Projection<D>&,                  \
                                 const ProjectionScratch<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
