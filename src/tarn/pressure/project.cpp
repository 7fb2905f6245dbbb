#include "tarn/pressure/project.h"

#include <initializer_list>
#include <utility>

namespace tarn {

namespace {

// A face as the projection sees it from one of its cells.
template <int D>
struct SurfaceView {
    Cell<D> cells;
    View<D, const float> phi;
    View<D, const float> kappa;  // data null: no surface tension
    float tension = 0;           // sigma dt / (rho h): times kappa it is the x on the surface

    TARN_HD bool inside(Cell<D> c, int axis) const { return c[axis] >= 0 && c[axis] < cells[axis]; }
    TARN_HD bool wet(Cell<D> c, int axis) const { return inside(c, axis) && phi(c) < 0; }
    // One over the distance, in cells, from the wet cell to the surface towards its dry neighbour. Past an open wall
    // lies air, a cell away.
    TARN_HD float closeness(Cell<D> wet_cell, Cell<D> dry_cell) const
    {
        return is_nowhere(phi(dry_cell)) ? 1.0f : 1 / surface_fraction(phi(wet_cell), phi(dry_cell));
    }
    // x on the surface between them.
    TARN_HD float on_surface(Cell<D> wet_cell, Cell<D> dry_cell, int axis) const
    {
        if (!kappa.data || !inside(dry_cell, axis)) return 0;
        const float theta = surface_fraction(phi(wet_cell), phi(dry_cell));
        return tension * (kappa(wet_cell) + theta * (kappa(dry_cell) - kappa(wet_cell)));
    }
};

// Walls bring their own velocity, whether or not there is water, but not to water that has left them.
template <int D>
void close_walls(FaceField<D>& velocity, FaceField<D, uint8_t>& known, const Boundary<D>& boundary,
                 const Tiles<D>& active)
{
    for (int a = 0; a < D; ++a)
        for (int side = 0; side < 2; ++side) {
            if (boundary.wall_open[a][side]) continue;
            const auto u = velocity[a].view();
            const auto k = known[a].view();
            parallel_for("close walls", along_side(active, a, side), [=] TARN_KERNEL(Cell<D> c) {
                const Cell<D> face = moved<D>(c, a, side);
                if (boundary.parted_from_side(face, a)) return;
                u(face) = boundary.closed_velocity(face, a);
                k(face) = 1;
            });
        }
}

// The tuned versions of the three kernels around the solve, for water in a box with nothing else in it: no solids, no
// inlets, no surface tension, no sources. A wall's velocity is zero before they run, and phi's padding tells walls,
// `nowhere`, from air. tests/core_pressure.cpp holds them against the plain versions in project().
template <int D>
struct PlainBox {
    View<D, const float> phi;
    float wall[D][2];  // one over the distance to the air past an open side; 0 where closed

    TARN_HD static float tie(float own, float neighbour, float at_wall)
    {
        const float theta = own / (own - neighbour), kept = theta < theta_min ? theta_min : theta;
        const float t = is_nowhere(neighbour) ? at_wall : 1 / kept;
        return neighbour < 0 ? 0.0f : t;
    }
};

template <int D>
PlainBox<D> plain_box(const Field<D>& phi, const Boundary<D>& boundary)
{
    PlainBox<D> box{phi.view(), {}};
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
void right_hand_side_in_box(Field<D>& x, Field<D>& b, Field<D>& excess, const FaceField<D>& velocity,
                            const PlainBox<D>& box, const Tiles<D>& wet, float to_x, View<D, const float> swelling,
                            float h)
{
    const auto xv = x.view(), bv = b.view(), ev = excess.view();
    const auto u = velocity.view();
    parallel_for<true>("right-hand side", wet, [=] TARN_KERNEL(Cell<D> c) {
        const auto phi = box.phi;
        const int i = phi.index(c);
        const float own = phi[i];
        float tie = 0, flow = 0;
        TARN_UNROLL
        for (int a = 0; a < D; ++a) {
            const int n = phi.next(a);
            const float lower = phi[i - n], upper = phi[i + n];
            flow += u[a][i + n] - u[a][i];
            tie += PlainBox<D>::tie(own, lower, box.wall[a][0]) + PlainBox<D>::tie(own, upper, box.wall[a][1]);
        }
        const float start = xv[i] * to_x;
        const float more = swelling.data ? swelling[i] * h : 0.0f;
        bv[i] = own < 0 ? more - flow : 0.0f;
        ev[i] = own < 0 ? tie : 0.0f;
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
            // With both cells dry neither tie nor x counts.
            const float down = PlainBox<D>::tie(upper, lower, wall_below),
                        up = PlainBox<D>::tie(lower, upper, wall_above);
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

}  // namespace

template <int D>
SolveReport project(FaceField<D>& velocity, Field<D>& pressure, FaceField<D, uint8_t>& known, const Field<D>& phi,
                    const ProjectionForces<D>& forces, const Boundary<D>& boundary, const TileMap<D>& wet,
                    const Tiles<D>& active, const FluidParams& fluid, const PressureParams& params, double dt,
                    Projection<D>& projection, const ProjectionScratch<D>& scratch)
{
    const Grid<D>& grid = phi.grid();
    const auto p = phi.view();
    const auto u = velocity.view();
    const float to_x = static_cast<float>(dt / (fluid.density * grid.h));
    SurfaceView<D> surface{grid.cells, p, {}, 0};
    if (forces.kappa) {
        surface.kappa = forces.kappa->view();
        surface.tension = static_cast<float>(fluid.surface_tension) * to_x;
    }

    const PlainBox<D> box = plain_box(phi, boundary);
    const View<D, const float> swelling = forces.swelling ? forces.swelling->view() : View<D, const float>{};
    const float h = static_cast<float>(grid.h);
    const bool plain = !boundary.solids && !boundary.inlets && !forces.kappa && !forces.volume_rate;

    // 1. The faces between wet cells conduct with their open fraction.
    close_walls(velocity, known, boundary, active);
    if (plain) conductances_in_box(scratch.w, box, active);
    for (int a = 0; a < D && !plain; ++a) {
        const auto w = scratch.w[a].view();
        parallel_for_faces("conductances", active, a, [=] TARN_KERNEL(Cell<D> c) {
            const bool joined = surface.wet(c, a) && surface.wet(moved<D>(c, a, -1), a);
            w(c) = joined ? boundary.open_at(c, a) : 0.0f;
        });
    }

    // 2. b = - sum of what flows out, of which the closed part moves with the solid; faces to the surface tie the cell
    // to it.
    Field<D>& excess = projection.dirichlet;
    Poisson<D> system{&scratch.w, &projection.inverse_diagonal, &excess, select(wet, 1), wet, plain};
    if (plain) {
        clear_rim({&pressure, &scratch.b, &scratch.p, &scratch.z}, wet);
        right_hand_side_in_box(pressure, scratch.b, excess, velocity, box, system.tiles, to_x, swelling, h);
    } else {
        const auto x = pressure.view(), b = scratch.b.view(), e = excess.view();
        const View<D, const float> rate = forces.volume_rate ? forces.volume_rate->view() : View<D, const float>{};
        parallel_for("right-hand side", system.tiles, [=] TARN_KERNEL(Cell<D> c) {
            const int i = p.index(c);
            float tie = 0, rhs = 0, conductance = 0;
            if (p[i] < 0) {
                for (int a = 0; a < D; ++a)
                    for (int side = 0; side < 2; ++side) {
                        const Cell<D> face = moved<D>(c, a, side), other = moved<D>(c, a, 2 * side - 1);
                        const float open = boundary.open_at(face, a);
                        const float flow = open * u[a](face) + (1 - open) * boundary.closed_velocity(face, a);
                        rhs -= side ? flow : -flow;
                        conductance += open;
                        if (open > 0 && !surface.wet(other, a)) {
                            const float t = open * surface.closeness(c, other);
                            tie += t;
                            rhs += t * surface.on_surface(c, other, a);
                        }
                    }
                if (swelling.data) rhs += swelling[i] * h;
                if (rate.data) rhs += rate[i] * h;
            }
            const bool unknown = conductance > 0;
            b[i] = unknown ? rhs : 0.0f;
            e[i] = unknown ? tie : 0.0f;
            x[i] = unknown ? x[i] * to_x : 0.0f;
        });
    }
    if (forces.air)
        system.regions = forces.air->tie(phi, velocity, boundary, forces.kappa, surface.tension, forces.correction_time);
    if (system.regions) system.regions->add_sources(scratch.b);
    projection.multigrid.build(system, excess);
    // What moving solids and sources press into a closed pocket has nowhere to go: it is taken off evenly.
    const ClosedPockets<D> pockets =
        find_closed_pockets(system, excess, projection.labels, boundary.solids || boundary.inlets);
    projection.in_pocket = pockets.cells();
    remove_means(scratch.b, system, pockets);

    // 3. Solve, so that no cell's divergence is more than the tolerance times the fastest flow through a face.
    Goal goal{.tolerance = params.tolerance, .most = forces.fastest, .max_iterations = params.max_iterations};
    for (int a = 0; a < D && forces.fastest == 0; ++a) {
        const auto ua = u[a];
        const double fastest =
            parallel_max<true>("fastest", active, [=] TARN_KERNEL(Cell<D> c) { return std::fabs(ua(c)); });
        goal.most = fastest < goal.most ? goal.most : fastest;
    }
    const SolveReport report = params.solver == PressureSolver::multigrid
                                   ? solve_multigrid(pressure, scratch.b, system, pockets, projection.multigrid, goal,
                                                     scratch.p, scratch.z, projection.room)
                                   : solve_mic0(pressure, scratch.b, system, pockets, goal, scratch.p, scratch.z);

    // 4. u = u* - grad x, wherever the water's pressure acts.
    const View<D, const float> x = std::as_const(pressure).view();
    if (plain) apply_pressure_in_box(velocity, known, pressure, box, active);
    for (int a = 0; a < D && !plain; ++a) {
        const auto k = known[a].view();
        const auto ua = u[a];
        parallel_for_faces("apply pressure", active, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = p.index(c);
            const Cell<D> below = moved<D>(c, a, -1);
            const bool upper = surface.wet(c, a), lower = surface.wet(below, a);
            const float open = boundary.open_at(c, a);
            if (open > 0 && (upper || lower)) {
                const float x_upper = upper ? x[i] : surface.on_surface(below, c, a);
                const float x_lower = lower ? x[i - x.next(a)] : surface.on_surface(c, below, a);
                const float scale = upper && lower ? 1.0f
                                    : upper        ? surface.closeness(c, below)
                                                   : surface.closeness(below, c);
                ua[i] -= scale * (x_upper - x_lower);
                k[i] = 1;
            } else if (boundary.inlet_at(c, a)) {
                ua[i] = boundary.closed_velocity(c, a);
                k[i] = 1;
            } else {
                k[i] = 0;
            }
        });
    }
    if (system.regions) forces.air->apply(velocity, pressure);
    close_walls(velocity, known, boundary, active);
    const auto pa = pressure.view();
    parallel_for<true>("scale pressure", system.tiles, [=] TARN_KERNEL(Cell<D> c) { pa(c) /= to_x; });
    return report;
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
