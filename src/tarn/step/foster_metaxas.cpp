#include "tarn/step/foster_metaxas.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tarn/step/boundary.h"
#include "tarn/step/foster_metaxas_cells.h"
#include "tarn/step/foster_metaxas_surface.h"
#include "tarn/step/surface.h"
#include "tarn/surface/height_field.h"

namespace tarn::foster_metaxas {

namespace {

// max |u| dt < h, and nu dt D / h^2 < 1/2.   [FM96] §3.1
template <int D>
double stable_dt(const Water<D>& w, const Params& p)
{
    const double none = std::numeric_limits<double>::infinity(), nu = p.fluid.viscosity.constant();
    double fastest = w.fastest;
    for (const SourceParams& source : p.source)
        for (int a = 0; a < D; ++a) fastest = std::max(fastest, std::fabs(source.velocity->at(w.time)[a]));
    const double convection = fastest > 0 ? w.grid.h / fastest : none;
    return std::min(convection, nu > 0 ? 0.5 * w.grid.h * w.grid.h / (D * nu) : none);
}

// Velocities that are given: those of inflows, and none through walls.
template <int D>
void set_given_velocities(Water<D>& w, const Labels<D>& labels, const Boundary<D>& boundary)
{
    const LabelView<D> label = labels.view();
    for (int a = 0; a < D; ++a) {
        const auto u = w.velocity[a].view();
        parallel_for_faces("walls", w.tiles_active, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = u.index(c);
            // An inflow may come out of a wall.
            if (boundary.inlet_at(c, a))
                u[i] = boundary.closed_velocity(c, a);
            else if (is_wall(label[i]) || is_wall(label[i - u.next(a)]))
                u[i] = 0;
        });
    }
}

// Velocities through the surface, by continuity; `fall` is what the body force adds where nothing else moves a face.
// Deviation: a face of the domain's open sides has what the face opposite has, in surface cells as in full ones.
template <int D>
void set_surface_velocities(Water<D>& w, const Labels<D>& labels, const Vec<D, float>& fall)
{
    const LabelView<D> label = labels.view();
    const FaceView<D, float> u = w.velocity.view();
    parallel_for("surface velocities", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
        const int i = label.index(c);
        if (label[i] != Contents::surface) return;
        float around[D][2];
        bool open[D][2];
        for (int a = 0; a < D; ++a)
            for (int side = 0; side < 2; ++side) {
                const int n = label.next(a);
                around[a][side] = u[a][side ? i + n : i];
                open[a][side] = label[side ? i + n : i - n] == Contents::empty;
            }
        set_open_faces<D>(around, open, fall);
        for (int a = 0; a < D; ++a)
            for (int side = 0; side < 2; ++side)
                if (open[a][side]) u[a][side ? i + label.next(a) : i] = around[a][side];
    });
}

// Velocities in the air beside the water, where markers and differences look: the mean of those around, two faces deep.
template <int D>
void extend_into_air(Water<D>& w, const Labels<D>& labels)
{
    const LabelView<D> label = labels.view();
    for (int a = 0; a < D; ++a) {
        const auto u = w.velocity[a].view(), next = w.faces[a].view();
        const auto known = w.known[a].view();
        const auto in_air = [=] TARN_KERNEL(int i) {
            const Contents upper = label[i], lower = label[i - label.next(a)];
            return upper == Contents::empty ? lower == Contents::empty || lower == Contents::outflow
                                            : upper == Contents::outflow && lower == Contents::empty;
        };
        parallel_for_faces("extend into air", w.tiles_active, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = u.index(c), n = u.next(a);
            const bool air = in_air(i);
            known[i] = !air && !is_wall(label[i]) && !is_wall(label[i - n]);
            if (air) u[i] = 0;
        });
        for (uint8_t layer = 1; layer <= 2; ++layer) {
            parallel_for_faces("extend into air", w.tiles_active, a, [=] TARN_KERNEL(Cell<D> c) {
                const int i = u.index(c);
                next[i] = outside;
                if (!in_air(i) || known[i]) return;
                float sum = 0;
                int count = 0;
                for (int b = 0; b < D; ++b)
                    for (const int m : {-u.next(b), u.next(b)})
                        if (known[i + m]) {
                            sum += u[i + m];
                            ++count;
                        }
                if (count > 0) next[i] = sum / static_cast<float>(count);
            });
            parallel_for_faces("extend into air", w.tiles_active, a, [=] TARN_KERNEL(Cell<D> c) {
                const int i = u.index(c);
                if (is_outside(next[i])) return;
                u[i] = next[i];
                known[i] = 1;
            });
        }
    }
}

template <int D>
SurfaceWithin<D> surface_within(const Water<D>& w, const Params& p)
{
    return knows_surface(p) ? SurfaceWithin<D>{w.phi.view()} : SurfaceWithin<D>{};
}

// u~ on every face between cells of water; at open sides that of the face before.   [FM96] §3.1, §3.2
template <int D>
void compute_velocities(Water<D>& w, const Labels<D>& labels, const Params& p, double dt, StepReport& step)
{
    const Stage stage(step.seconds_advect);
    const LabelView<D> label = labels.view();
    Momentum<D> momentum{std::as_const(w.velocity).view(),
                         std::as_const(w.pressure).view(),
                         label,
                         take<D>(p.domain.gravity.at(w.time)).template as<float>(),
                         static_cast<float>(p.fluid.density.constant()),
                         static_cast<float>(p.fluid.viscosity.constant()),
                         static_cast<float>(upwind_share(w.fastest, p.fluid.viscosity.constant(), w.grid.h)),
                         static_cast<float>(w.grid.h),
                         static_cast<float>(dt),
                         surface_within(w, p)};
    for (int a = 0; a < D; ++a) {
        const auto next = w.faces[a].view();
        const auto u = std::as_const(w.velocity[a]).view();
        parallel_for_faces("velocities", w.tiles_active, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = u.index(c);
            next[i] = is_water(label[i]) && is_water(label[i - u.next(a)]) ? momentum.tentative(c, a) : u[i];
        });
    }
    for (int a = 0; a < D; ++a) {
        const auto next = std::as_const(w.faces[a]).view();
        const auto u = w.velocity[a].view();
        parallel_for_faces("velocities", w.tiles_active, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = u.index(c), n = u.next(a);
            const bool above = label[i] == Contents::outflow && is_water(label[i - n]);
            const bool below = label[i - n] == Contents::outflow && is_water(label[i]);
            u[i] = next[above ? i - n : (below ? i + n : i)];
        });
    }
}

// Sweeps over all full cells until what flows into none of them is more than the tolerance times the fastest flow through a
// face.   [FM96] §3.1
// Deviation: a sweep goes over the cells of one colour of a chess board, then over those of the other, which may be done at once.
template <int D>
void iterate_pressure(Water<D>& w, const Labels<D>& labels, const Params& p, double dt, StepReport& step)
{
    const Stage stage(step.seconds_pressure);
    constexpr int sweeps_between_looks = 4;
    const LabelView<D> label = labels.view();
    const Relaxation<D> relaxation{w.velocity.view(),
                                   w.pressure.view(),
                                   label,
                                   static_cast<float>(p.pressure.relaxation),
                                   static_cast<float>(p.fluid.density.constant()),
                                   static_cast<float>(w.grid.h),
                                   static_cast<float>(dt),
                                   surface_within(w, p)};
    const double fastest = w.fastest + length(take<D>(p.domain.gravity.at(w.time))) * dt;
    const double scale = fastest > 0 ? fastest / w.grid.h : 1;
    SolveReport& report = step.pressure;
    while (true) {
        report.residual = parallel_max("inflow", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
                              const int i = label.index(c);
                              return label[i] == Contents::full ? std::fabs(relaxation.inflow(i)) : 0.0f;
                          }) / scale;
        report.converged = report.residual <= p.pressure.tolerance;
        if (report.converged || report.iterations >= p.pressure.max_iterations || !std::isfinite(report.residual)) return;
        for (int n = 0; n < sweeps_between_looks; ++n, ++report.iterations)
            for (int which = 0; which < 2; ++which)
                parallel_for("relax", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
                    const int i = label.index(c);
                    if (colour(c) == which && label[i] == Contents::full) relaxation.relax(i);
                });
    }
}

// The pressure of surface cells is the atmosphere's. Deviation: where chains or heights tell where in them the surface is, it is zero there
// (SurfaceWithin), and between two surface cells each has the share of its deepest full neighbour's. Without, waves lower than a cell
// would not know that they are. Water of a height field that is but a cell deep weighs on the ground: p = - rho g phi.
template <int D>
void set_surface_pressure(Water<D>& w, const Labels<D>& labels, const Params& p)
{
    const LabelView<D> label = labels.view();
    const auto pressure = w.pressure.view();
    const SurfaceWithin<D> within = surface_within(w, p);
    const auto phi = std::as_const(w.phi).view();
    const double g = p.method.surface == SurfaceKind::height_field ? length(take<D>(p.domain.gravity.at(w.time))) : 0;
    const float weight = static_cast<float>(p.fluid.density.constant() * g);
    parallel_for("surface pressure", all_tiles(w.grid), [=] TARN_KERNEL(Cell<D> c) {
        const int i = label.index(c);
        if (label[i] == Contents::full) return;
        pressure[i] = 0;
        if (!within.phi.data || label[i] != Contents::surface) return;
        int deepest = i;
        for (int a = 0; a < D; ++a)
            for (const int n : {-label.next(a), label.next(a)})
                if (label[i + n] == Contents::full && (deepest == i || phi[i + n] < phi[deepest])) deepest = i + n;
        pressure[i] = deepest != i ? within.share(deepest, i) * pressure[deepest] : -weight * phi[i];
    });
}

// What the step's change of pressure does to faces between two surface cells, which no full cell asks for.
template <int D>
void push_between_surface_cells(Water<D>& w, const Labels<D>& labels, const Params& p, double dt)
{
    if (!knows_surface(p)) return;
    Field<D>& before = w.scratch[0];
    const auto old = before.view();
    const auto pressure = std::as_const(w.pressure).view();
    parallel_for("surface pressure", all_tiles(w.grid), [=] TARN_KERNEL(Cell<D> c) { old(c) = pressure(c); });
    set_surface_pressure(w, labels, p);
    const LabelView<D> label = labels.view();
    const float push = static_cast<float>(dt / (p.fluid.density.constant() * w.grid.h));
    for (int a = 0; a < D; ++a) {
        const auto u = w.velocity[a].view();
        const int n = label.next(a);
        parallel_for_faces("surface pressure", w.tiles_active, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = label.index(c);
            if (label[i] != Contents::surface || label[i - n] != Contents::surface) return;
            u[i] -= push * (pressure[i] - old[i] - pressure[i - n] + old[i - n]);
        });
    }
}

// For stats.csv: only full cells are asked to let out all that flows in.
template <int D>
void tell_divergence(Water<D>& w, const Labels<D>& labels)
{
    const LabelView<D> label = labels.view();
    const auto u = std::as_const(w.velocity).view();
    const float per_h = static_cast<float>(1 / w.grid.h);
    const auto asked = w.divergence_source.view();
    parallel_for("divergence", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
        const int i = label.index(c);
        float out = 0;
        for (int a = 0; a < D; ++a) out += u[a][i + u[a].next(a)] - u[a][i];
        asked[i] = label[i] == Contents::full ? 0.0f : per_h * out;
    });
}

// Obstacles are whole cells: a face is open unless one of its cells is an obstacle.
template <int D>
void fill_whole_cells(Solids<D>& solids, const Grid<D>& grid)
{
    if (!solids.any) return;
    solids.thin = false;  // whole cells have no thin walls among them
    const Tiles<D> all = all_tiles(grid);
    const auto nodes = std::as_const(solids.distance).view();
    const Cell<D> cells = grid.cells;
    for (int a = 0; a < D; ++a) {
        const auto open = solids.open[a].view();
        parallel_for_faces("whole cells", all, a, [=] TARN_KERNEL(Cell<D> c) {
            bool free = true;
            for (const int below : {0, 1}) {
                const Cell<D> cell = moved<D>(c, a, -below);
                if (cell[a] >= 0 && cell[a] < cells[a]) free = free && !(nodes_at_cell<D>(nodes, cell) < 0);
            }
            open(c) = free ? 1.0f : 0.0f;
        });
    }
}

}  // namespace

template <int D>
Labels<D> cell_contents(const Water<D>& w, const Scene& scene)
{
    const Grid<D> grid = w.grid;
    Labels<D> labels(grid);
    Contents* const label = labels.data();
    const NoSlip<D> no_slip = no_slip_of(w, scene.params);
    const Boundary<D> boundary = boundary_of(w, scene.params);
    const View<D, const float> nodes = w.solids.any ? w.solids.distance.view() : View<D, const float>{};
    const View<D, const uint8_t> inlet = w.flows.any_inlet ? w.flows.inlet.view() : View<D, const uint8_t>{};
    parallel_range("obstacles", static_cast<int>(grid.storage()), [=] TARN_KERNEL(int i) {
        Cell<D> c;
        bool outside = false, open = true, sticks = false;
        for (int a = 0, left = i; a < D; ++a) {
            c[a] = left % (grid.cells[a] + 2) - 1;
            left /= grid.cells[a] + 2;
            if (c[a] >= 0 && c[a] < grid.cells[a]) continue;
            const int side = c[a] < 0 ? 0 : 1;
            outside = true;
            open = open && boundary.wall_open[a][side];
            sticks = sticks || no_slip.wall[a][side];
        }
        if (outside && open) {
            label[i] = Contents::outflow;
        } else if (outside || (nodes.data && nodes_at_cell<D>(nodes, c) < 0)) {
            if (!outside && no_slip.solid[0].data)
                for (int a = 0; a < D; ++a) sticks = sticks || no_slip.solid[a](c) || no_slip.solid[a](moved<D>(c, a, 1));
            label[i] = sticks ? Contents::no_slip_wall : Contents::slip_wall;
        } else {
            label[i] = inlet.data && inlet(c) ? Contents::inflow : Contents::empty;
        }
    });
    label_surface(labels, w, scene.params);
    return labels;
}

template <int D>
Water<D> initial_water(const Scene& scene)
{
    const Params& p = scene.params;
    // 1. Obstacles, which are whole cells, and the water, whose markers tell where it is.
    Water<D> w = initial_surface<D>(scene);
    fill_whole_cells(w.solids, w.grid);
    start_surface(w, cell_contents(w, scene), scene);

    // 2. Its velocity; the pressure is found by the first step.
    set_initial_velocity(w.velocity, w.tiles_active, scene);
    follow_surface(w, cell_contents(w, scene), p);
    w.fastest = fastest_face(w);
    return w;
}

template <int D>
std::optional<Vec3> overhang(const Scene& scene)
{
    Water<D> w = initial_surface<D>(scene);
    fill_whole_cells(w.solids, w.grid);
    std::optional<Cell<D>> over;
    (void)heights_of(shapes_phi(w.grid, scene), cell_contents(w, scene), &over);
    if (!over) return {};
    return lift<D>(w.grid.centre(*over));
}

template <int D>
double choose_dt(const Water<D>& w, const Scene& scene)
{
    return std::min(longest_step(w, scene), scene.params.time.cfl * stable_dt(w, scene.params));
}

double upwind_share(double fastest, double viscosity, double h)
{
    return fastest > 0 ? std::max(0.0, 1 - 2 * viscosity / (fastest * h)) : 0.0;
}

template <int D>
StepReport step(Water<D>& w, const Scene& scene, double dt)
{
    const Params& p = scene.params;
    StepReport report;
    report.dt = dt;
    report.dt_bound = stable_dt(w, p);
    if (dt > report.dt_bound) return report;
    const Vec<D, float> fall = (dt * take<D>(p.domain.gravity.at(w.time))).template as<float>();
    shut_sources(w.flows, scene, w.time, dt);
    (void)set_rates(w.flows, w.phi, w.solids, scene, w.time, dt);

    // 3. What cells hold.
    const Labels<D> labels = cell_contents(w, scene);

    // 4. Conditions at obstacles and at the free surface.
    set_given_velocities(w, labels, boundary_of(w, p));
    set_surface_pressure(w, labels, p);
    set_surface_velocities(w, labels, Vec<D, float>{});
    extend_into_air(w, labels);

    // 5. The velocity u~ in the water.
    compute_velocities(w, labels, p, dt, report);

    // 6. The pressure, until as much flows out of every full cell as in.
    iterate_pressure(w, labels, p, dt, report);
    report.finite = std::isfinite(report.pressure.residual);
    if (!report.finite) return report;
    push_between_surface_cells(w, labels, p, dt);

    // 7. Velocities of surface cells again.
    set_surface_velocities(w, labels, fall);
    extend_into_air(w, labels);
    tell_divergence(w, labels);

    // 8. The surface moves, and all begins again with 3.
    move_surface(w, labels, scene, dt, report);
    w.time += dt;
    ++w.step;
    w.fastest = fastest_face(w);
    report.finite = std::isfinite(w.fastest);
    return report;
}

#define TARN_INSTANTIATE(D)                                              \
    template Water<D> initial_water(const Scene&);                       \
    template std::optional<Vec3> overhang<D>(const Scene&);              \
    template double choose_dt(const Water<D>&, const Scene&);            \
    template StepReport step(Water<D>&, const Scene&, double);           \
    template Labels<D> cell_contents(const Water<D>&, const Scene&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn::foster_metaxas
