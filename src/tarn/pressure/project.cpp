#include "tarn/pressure/project.h"

#include <utility>
#include <vector>

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
    TARN_HD float closeness(Cell<D> wet_cell, Cell<D> dry_cell, int axis) const
    {
        return inside(dry_cell, axis) ? 1 / surface_fraction(phi(wet_cell), phi(dry_cell)) : 1.0f;
    }
    // x on the surface between them.
    TARN_HD float on_surface(Cell<D> wet_cell, Cell<D> dry_cell, int axis) const
    {
        if (!kappa.data || !inside(dry_cell, axis)) return 0;
        const float theta = surface_fraction(phi(wet_cell), phi(dry_cell));
        return tension * (kappa(wet_cell) + theta * (kappa(dry_cell) - kappa(wet_cell)));
    }
};

template <int D>
TARN_HD inline Cell<D> moved(Cell<D> c, int axis, int by)
{
    c[axis] += by;
    return c;
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

    // 1. The faces between wet cells conduct with their open fraction.
    for (int a = 0; a < D; ++a) {
        const auto w = scratch.w[a].view();
        parallel_for_faces("conductances", active, a, [=](Cell<D> c) {
            const bool joined = surface.wet(c, a) && surface.wet(moved<D>(c, a, -1), a);
            w(c) = joined ? boundary.open_at(c, a) : 0.0f;
        });
    }

    // 2. b = - sum of what flows out, of which the closed part moves with the solid; faces to the surface tie the cell to it.
    Poisson<D> system{&scratch.w, &projection.inverse_diagonal, select(wet, 1), wet};
    Field<D>& excess = scratch.z;
    {
        const auto x = pressure.view(), b = scratch.b.view(), e = excess.view();
        const View<D, const float> rate = forces.volume_rate ? forces.volume_rate->view() : View<D, const float>{};
        const float rate_scale = static_cast<float>(grid.h);
        parallel_for("right-hand side", system.tiles, [=](Cell<D> c) {
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
                            const float t = open * surface.closeness(c, other, a);
                            tie += t;
                            rhs += t * surface.on_surface(c, other, a);
                        }
                    }
                if (rate.data) rhs += rate[i] * rate_scale;
            }
            const bool unknown = conductance > 0;
            b[i] = unknown ? rhs : 0.0f;
            e[i] = unknown ? tie : 0.0f;
            x[i] = unknown ? x[i] * to_x : 0.0f;
        });
    }
    projection.multigrid.build(system, excess);
    // What moving solids and sources press into a closed pocket has nowhere to go: it is taken off evenly.
    const ClosedPockets<D> pockets =
        find_closed_pockets(system, excess, projection.visited, boundary.solids || boundary.inlets);
    remove_means(scratch.b, system, pockets);

    // 3. Solve.
    const SolveReport report =
        params.solver == PressureSolver::multigrid
            ? solve_multigrid(pressure, scratch.b, system, pockets, projection.multigrid, params.tolerance, params.max_iterations,
                              scratch.p, scratch.z)
            : solve_mic0(pressure, scratch.b, system, pockets, params.tolerance, params.max_iterations, scratch.p, scratch.z);

    // 4. u = u* - grad x, wherever the water's pressure acts.
    const View<D, const float> x = std::as_const(pressure).view();
    for (int a = 0; a < D; ++a) {
        const auto k = known[a].view();
        const auto ua = u[a];
        parallel_for_faces("apply pressure", active, a, [=](Cell<D> c) {
            const int i = p.index(c);
            const Cell<D> below = moved<D>(c, a, -1);
            const bool upper = surface.wet(c, a), lower = surface.wet(below, a);
            const float open = boundary.open_at(c, a);
            if (open > 0 && (upper || lower)) {
                const float x_upper = upper ? x[i] : surface.on_surface(below, c, a);
                const float x_lower = lower ? x[i - x.next(a)] : surface.on_surface(c, below, a);
                const float scale = upper && lower ? 1.0f
                                    : upper        ? surface.closeness(c, below, a)
                                                   : surface.closeness(below, c, a);
                ua[i] -= scale * (x_upper - x_lower);
                k[i] = 1;
            } else if (open == 0 && (boundary.at_wall(c, a) || boundary.inlet_at(c, a))) {
                ua[i] = boundary.closed_velocity(c, a);
                k[i] = 1;
            } else {
                k[i] = 0;
            }
        });
    }
    const auto pa = pressure.view();
    parallel_for("scale pressure", system.tiles, [=](Cell<D> c) { pa(c) /= to_x; });
    return report;
}

#define TARN_INSTANTIATE(D)                                                                                         \
    template SolveReport project(FaceField<D>&, Field<D>&, FaceField<D, uint8_t>&, const Field<D>&,                 \
                                 const ProjectionForces<D>&, const Boundary<D>&, const TileMap<D>&, const Tiles<D>&, \
                                 const FluidParams&, const PressureParams&, double, Projection<D>&,                  \
                                 const ProjectionScratch<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
