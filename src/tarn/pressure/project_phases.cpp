#include "tarn/pressure/project_phases.h"

#include <algorithm>
#include <utility>

#include "tarn/base/axes.h"
#include "tarn/pressure/solve.h"

namespace tarn {

namespace {

template <int D>
double largest(const Field<D>& f, const Tiles<D>& tiles)
{
    const auto v = f.view();
    return parallel_max<true>("largest", tiles, [=] TARN_KERNEL(Cell<D> c) { return std::fabs(v(c)); });
}

// Conductances along an axis of a closed box, through whose walls nothing flows.
template <int D, int axis>
void close_walls(Field<D>& velocity, Field<D>& conductance, Field<D, uint8_t>& known, const Field<D>& density,
                 float heavy, const Tiles<D>& tiles)
{
    const auto u = velocity.view(), w = conductance.view();
    const auto rho = density.view();
    const int last = tiles.grid.cells[axis];
    known.fill(1);
    parallel_for_faces<true>("conductances", tiles, axis, [=] TARN_KERNEL(Cell<D> c) {
        const int i = w.index(c);
        // Numbers: with truths GCC would not do many at once.
        const float inner = (c[axis] > 0 ? 1.0f : 0.0f) * (c[axis] < last ? 1.0f : 0.0f);
        const float before = u[i], here = rho[i];
        u[i] = inner * before;
        w[i] = inner * heavy / here;
    });
}

// The mean of x and its change, weighted by conductances. Where the pressure is known up to a constant, that of the air is
// about zero: floats have the most digits there, and the air needs them.
template <int D>
float mean_pressure(const FaceField<D>& conductance, const Field<D>& before, const Field<D>& more, const Tiles<D>& tiles)
{
    const FaceView<D, const float> w = conductance.view();
    const auto x = before.view(), change = more.view();
    const double weights = parallel_sum<true>(
        "offset", tiles, [=] TARN_KERNEL(Cell<D> c) { return double(sum_faces(w, x.index(c))); });
    const double sum = parallel_sum<true>("offset", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = x.index(c);
        return double(sum_faces(w, i)) * (double(x[i]) + change[i]);
    });
    return static_cast<float>(weights > 0 ? sum / weights : 0);
}

// What the parts of the projection are told.
template <int D>
struct Flow {
    FaceField<D>& velocity;
    const FaceField<D>& density;
    const Boundary<D>& boundary;
    const Tiles<D>& tiles;
    float heavy, h, to_x;  // the water's density; metres; from Pa to x
    bool solids;           // or inlets
    bool closed_box;       // with nothing in it but water and air: it has tuned versions
};

template <int D>
Flow<D> flow_of(FaceField<D>& velocity, const FaceField<D>& density, const Boundary<D>& boundary, const Tiles<D>& tiles, double heavy, double dt)
{
    const double h = velocity.grid().h;
    bool any_open = false;
    for (int a = 0; a < D; ++a) any_open = any_open || boundary.wall_open[a][0] || boundary.wall_open[a][1];
    const bool solids = boundary.solids || boundary.inlets, closed_box = !solids && !any_open && !boundary.phi.data;
    return {velocity, density, boundary, tiles, static_cast<float>(heavy), static_cast<float>(h), static_cast<float>(dt / (heavy * h)), solids,
            closed_box};
}

// 1. Faces conduct with their open fraction, the more the lighter what flows there; what is closed moves as told.
template <int D>
void find_conductances(const Flow<D>& flow, FaceField<D>& conductance, FaceField<D, uint8_t>& known)
{
    const float heavy = flow.heavy;
    if (flow.closed_box)
        return for_each_axis<D>([&](auto axis) {
            close_walls<D, decltype(axis)::value>(flow.velocity[axis], conductance[axis], known[axis], flow.density[axis], heavy, flow.tiles);
        });
    const Boundary<D> boundary = flow.boundary;
    const bool solids = flow.solids;
    for (int a = 0; a < D; ++a) {
        const auto w = conductance[a].view(), ua = flow.velocity[a].view();
        const auto k = known[a].view();
        const auto r = flow.density[a].view();
        const int last = flow.tiles.grid.cells[a];
        parallel_for_faces("conductances", flow.tiles, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = w.index(c);
            const bool inner = c[a] > 0 && c[a] < last;
            const float open = inner && !solids ? 1.0f : boundary.open_at(c, a);
            const bool flows = open > 0;
            if (!flows) ua[i] = boundary.closed_velocity(c, a);
            k[i] = flows || !inner || boundary.inlet_at(c, a) ? 1 : 0;
            w[i] = inner ? open * heavy / r[i] : 0.0f;
        });
    }
}

// 2. b = - sum of what flows out. Open sides of the domain tie a cell to the pressure outside. Returns whether any cell may be.
template <int D>
bool find_right_hand_side(const Flow<D>& flow, const FaceField<D>& conductance, const Field<D>* volume_rate, Field<D>& pressure,
                          Projection<D>& projection, Field<D>& right_hand_side)
{
    const auto b = right_hand_side.view(), e = projection.dirichlet.view(), x = pressure.view(), d = projection.correction.view();
    const FaceView<D, const float> u = std::as_const(flow.velocity).view(), rho = flow.density.view(), w = conductance.view();
    const View<D, const float> rate = volume_rate ? volume_rate->view() : View<D, const float>{};
    const Boundary<D> boundary = flow.boundary;
    const Cell<D> cells = pressure.grid().cells;
    const float heavy = flow.heavy, h = flow.h, to_x = flow.to_x;
    const bool solids = flow.solids, plain = flow.closed_box && !rate.data;
    if (plain)
        parallel_for<true>("right-hand side", flow.tiles, [=] TARN_KERNEL(Cell<D> c) {
            const int i = b.index(c);
            float out = 0;
            TARN_UNROLL
            for (int a = 0; a < D; ++a) out += u[a][i + b.next(a)] - u[a][i];
            b[i] = -out;
            e[i] = 0;
            x[i] *= to_x;
            d[i] = 0;
        });
    else
        parallel_for("right-hand side", flow.tiles, [=] TARN_KERNEL(Cell<D> c) {
            const int i = b.index(c);
            float dirichlet_term = 0, rhs = 0, conducts = 0;
            for (int a = 0; a < D; ++a)
                for (int side = 0; side < 2; ++side) {
                    const Cell<D> face = moved<D>(c, a, side);
                    const int f = side ? i + b.next(a) : i;
                    const bool at_wall = face[a] == 0 || face[a] == cells[a];
                    float out = u[a][f];
                    if (solids || at_wall) {
                        const float open = boundary.open_at(face, a);
                        out = open * out + (1 - open) * boundary.closed_velocity(face, a);
                        if (at_wall && open > 0) dirichlet_term += open * heavy / rho[a][f];
                    }
                    rhs -= side ? out : -out;
                    conducts += w[a][f];
                }
            if (rate.data) rhs += rate[i] * h;
            const bool unknown = conducts + dirichlet_term > 0;
            b[i] = unknown ? rhs : 0.0f;
            e[i] = unknown ? dirichlet_term : 0.0f;
            x[i] = unknown ? x[i] * to_x : 0.0f;
            d[i] = 0;
        });
    return !plain;
}

// How much is to be done, and how much is left to be: the largest right-hand side without and with the newest pressure.
struct Left {
    double scale, remaining;
};

// 3. Does the newest pressure leave less to be done than none? If not, it is forgotten. The right-hand side becomes that of the change.
template <int D>
Left start_from_newest(const Poisson<D>& system, Field<D>& pressure, const ProjectionScratch<D>& scratch)
{
    const double scale = largest(scratch.b, system.tiles);
    const auto left = scratch.p.view();
    const auto b = std::as_const(scratch.b).view(), x = std::as_const(pressure).view();
    const PoissonView<D> a = view_of(system);
    parallel_for<true>("residual", system.tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = b.index(c);
        left[i] = b[i] - apply<false>(x, a, i);
    });
    if (system.bodies) system.bodies->subtract_product(scratch.p, pressure);
    const double remaining = largest(scratch.p, system.tiles);
    if (remaining < scale) {
        scratch.b.swap(scratch.p);
        return {scale, remaining};
    }
    pressure.fill(0);
    return {scale, scale};
}

// 5. u = u* - grad x / rho, first with the newest pressure, then with the change.
template <int D>
void apply_pressures(const Flow<D>& flow, const FaceField<D>& conductance, const Field<D>& pressure, const Field<D>& correction)
{
    const auto x = pressure.view(), change = correction.view();
    const Boundary<D> boundary = flow.boundary;
    const float heavy = flow.heavy;
    const bool solids = flow.solids;
    for (int a = 0; a < D; ++a) {
        const auto ua = flow.velocity[a].view();
        const auto r = flow.density[a].view();
        const int n = x.next(a), last = flow.tiles.grid.cells[a];
        if (flow.closed_box) {
            const auto w = conductance[a].view();
            parallel_for_faces<true>("apply pressure", flow.tiles, a, [=] TARN_KERNEL(Cell<D> c) {
                const int i = x.index(c);
                ua[i] -= w[i] * ((x[i] - x[i - n]) + (change[i] - change[i - n]));
            });
            continue;
        }
        parallel_for_faces("apply pressure", flow.tiles, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = x.index(c);
            const bool inner = c[a] > 0 && c[a] < last;
            if (!(inner && !solids) && !(boundary.open_at(c, a) > 0)) return;
            const bool upper = c[a] < last, lower = c[a] > 0;
            const float before = (upper ? x[i] : 0.0f) - (lower ? x[i - n] : 0.0f);
            const float now = (upper ? change[i] : 0.0f) - (lower ? change[i - n] : 0.0f);
            ua[i] -= heavy / r[i] * (before + now);
        });
    }
}

}  // namespace

template <int D>
SolveReport project_phases(FaceField<D>& velocity, Field<D>& pressure, FaceField<D, uint8_t>& known,
                           const FaceField<D>& density, const ProjectionForces<D>& forces, const Boundary<D>& boundary,
                           const Tiles<D>& tiles, const FluidParams& fluid, const PressureParams& params, double dt,
                           Projection<D>& projection, const ProjectionScratch<D>& scratch)
{
    const Flow<D> flow = flow_of(velocity, density, boundary, tiles, fluid.density.constant(), dt);
    find_conductances(flow, scratch.w, known);
    Field<D>& dirichlet = projection.dirichlet;
    Poisson<D> system{&scratch.w, &projection.inverse_diagonal, &dirichlet, tiles, TileMap<D>(pressure.grid(), 1), false};
    const bool tied = find_right_hand_side(flow, scratch.w, forces.volume_rate, pressure, projection, scratch.b);
    if constexpr (D == 2)
        projection.black_box.build(system, dirichlet, tied);
    else
        projection.multigrid.build(system, dirichlet);
    const ClosedComponents<D> closed = find_closed_components(system, dirichlet, projection.labels, flow.solids);
    projection.in_closed = closed.cells();
    remove_means(scratch.b, system, closed);
    if (forces.bodies) system.bodies = forces.bodies();
    const auto [scale, left] = start_from_newest(system, pressure, scratch);

    // 4. Solve for the change, so that no cell's divergence is more than the tolerance times what it was.
    const Goal goal{.tolerance = left > 0 ? params.tolerance * scale / left : params.tolerance,
                    .max_iterations = params.max_iterations,
                    .from_zero = true};
    const auto solve = [&](const auto& multigrid) {
        return solve_pressure(projection.correction, scratch.b, system, closed, multigrid, params, goal, scratch.p,
                              scratch.z, projection.workspace);
    };
    SolveReport report;
    if constexpr (D == 2)
        report = solve(projection.black_box);
    else
        report = solve(projection.multigrid);
    if (scale > 0) report.residual *= left / scale;

    for (const Field<D>* part : {&std::as_const(pressure), &std::as_const(projection.correction)})
        if (forces.move_bodies) forces.move_bodies(*part);
    apply_pressures(flow, scratch.w, pressure, projection.correction);
    const float offset = closed.everything ? mean_pressure(scratch.w, pressure, projection.correction, tiles) : 0.0f;
    const auto p = pressure.view();
    const auto change = std::as_const(projection.correction).view();
    const float to_x = flow.to_x;
    parallel_for<true>("scale pressure", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = p.index(c);
        p[i] = (p[i] + change[i] - offset) / to_x;
    });
    return report;
}

#define TARN_INSTANTIATE(D)                                                                                    \
    template SolveReport project_phases(FaceField<D>&, Field<D>&, FaceField<D, uint8_t>&, const FaceField<D>&, \
                                        const ProjectionForces<D>&, const Boundary<D>&, const Tiles<D>&,       \
                                        const FluidParams&, const PressureParams&, double, Projection<D>&,     \
                                        const ProjectionScratch<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
