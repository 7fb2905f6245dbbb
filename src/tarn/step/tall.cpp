#include "tarn/step/tall.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "tarn/advect/advect.h"
#include "tarn/pressure/surface_view.h"
#include "tarn/pressure/walls.h"
#include "tarn/scene/frame.h"
#include "tarn/step/boundary.h"
#include "tarn/step/surface.h"
#include "tarn/step/tall_columns.h"
#include "tarn/step/vortices.h"

namespace tarn::tall {

namespace {

// The faces of the uniform grid whose velocity is right now; closed ones bring their own.
template <int D>
void mark_known(Water<D>& w, const Boundary<D>& boundary)
{
    const auto phi = std::as_const(w.phi).view();
    const SurfaceView<D> surface{w.grid.cells, phi, static_cast<float>(w.grid.h), {}, 0, {}, 0, {}};
    for (int a = 0; a < D; ++a) {
        const auto k = w.known[a].view();
        const auto u = w.velocity[a].view();
        if (!boundary.solids && !boundary.inlets) {
            const int n = phi.next(a);
            parallel_for_faces<true>("mark known", w.tiles_active, a, [=](Cell<D> c) {
                const int i = phi.index(c);
                k[i] = phi[i] < 0 || phi[i - n] < 0;
            });
            continue;
        }
        parallel_for_faces("mark known", w.tiles_active, a, [=](Cell<D> c) {
            const bool wet = surface.wet(c, a) || surface.wet(moved<D>(c, a, -1), a);
            if (boundary.inlet_at(c, a)) {
                u(c) = boundary.closed_velocity(c, a);
                k(c) = 1;
            } else
                k(c) = wet && boundary.open_at(c, a) > 0;
        });
    }
    close_walls(w.velocity, w.known, w.projection.walls, false, boundary, w.tiles_active);
    if (boundary.solids) average_cut_faces(w.velocity, w.phi, boundary, w.tiles_active, w.faces);
}

// The pressure at the nodes of new columns, from that at the old ones; below the surface alone at the start.
template <int D>
std::vector<float> pressure_on(const Water<D>& w, const TallColumns& columns, double weight)
{
    const TallCells<D>& t = w.tall;
    std::vector<float> p(columns.row.size() + 1, 0.0f);
    const auto phi = std::as_const(w.phi).view();
    parallel_range("tall pressure", columns.columns(), [&](int c) {
        const int first = columns.start[at(c)], end = columns.start[at(c) + 1];
        for (int n = first; n < end; ++n) {
            if (t.pressure.empty()) {
                const int top = columns.row[at(end) - 1];
                const double above = -static_cast<double>(phi(cell_of<D>(w.grid, c, top)));
                p[at(n)] = static_cast<float>(weight * (above + w.grid.h * (top - columns.row[at(n)])));
                continue;
            }
            const Between old = find_row(t.columns, c, columns.row[at(n)]);
            if (old.node < 0) continue;
            p[at(n)] = t.pressure[at(old.node)];
            if (old.part > 0) p[at(n)] += old.part * (t.pressure[at(old.node) + 1] - p[at(n)]);
        }
    });
    return p;
}

// The nodes of the layer on the uniform grid, and back: values of `x` there, or what a field there adds to them.
template <int D>
void to_cells(Field<D>& field, const Water<D>& w, const std::vector<float>* x)
{
    const TallCells<D>& t = w.tall;
    const auto f = field.view();
    parallel_range("nodes to cells", t.columns.columns(), [&](int c) {
        for (int n = t.columns.start[at(c)]; n < t.columns.start[at(c) + 1]; ++n)
            if (t.columns.row[at(n)] >= t.bottom[at(c)]) f(cell_of<D>(w.grid, c, t.columns.row[at(n)])) = x ? (*x)[at(n)] : 0.0f;
    });
}
template <int D>
void add_cells(std::vector<float>& x, const Water<D>& w, const Field<D>& field)
{
    const TallCells<D>& t = w.tall;
    const auto f = field.view();
    parallel_range("cells to nodes", t.columns.columns(), [&](int c) {
        for (int n = t.columns.start[at(c)]; n < t.columns.start[at(c) + 1]; ++n)
            if (t.columns.row[at(n)] >= t.bottom[at(c)]) x[at(n)] += f(cell_of<D>(w.grid, c, t.columns.row[at(n)]));
    });
}

// The pressure on the grid: of the nodes in the layer, and between nodes in what else is active.
template <int D>
void pressure_to_cells(Water<D>& w)
{
    const TallCells<D>& t = w.tall;
    const auto p = w.pressure.view();
    parallel_range("nodes to cells", t.columns.columns(), [&](int c) {
        for (int n = t.columns.start[at(c)]; n < t.columns.start[at(c) + 1]; ++n) {
            const int row = t.columns.row[at(n)];
            Cell<D> cell = cell_of<D>(w.grid, c, row);
            if (row >= t.bottom[at(c)]) p(cell) = t.pressure[at(n)];
            if (row > t.bottom[at(c)] || n == t.columns.start[at(c)] || !t.columns.joined[at(n) - 1]) continue;
            const int below = t.columns.row[at(n) - 1];
            const float per_row = (t.pressure[at(n)] - t.pressure[at(n) - 1]) / static_cast<float>(row - below);
            for (int j = row - 1; j >= below; --j) {
                cell[1] = j;
                Cell<D> tile = cell;
                for (int a = 0; a < D; ++a) tile[a] /= tile_size;
                if (w.map.flags[w.map.index(tile)] & tile_active)
                    p(cell) = t.pressure[at(n) - 1] + static_cast<float>(j - below) * per_row;
            }
        }
    });
}

// The rows of faces beside air, as the uniform grid has them.
template <int D>
void take_surface_rows(Water<D>& w)
{
    for (int axis = 0; axis < D - 1; ++axis) {
        const FaceColumns& faces = w.tall.faces[axis];
        const auto u = std::as_const(w.velocity[2 * axis]).view();
        parallel_range("surface rows", faces.faces(), [&](int f) {
            if (faces.before(f) < 0 || faces.after(f) < 0) return;
            for (int k = faces.start[at(f)]; k < faces.start[at(f) + 1]; ++k)
                if (faces.lower[at(k)].node < 0 || faces.upper[at(k)].node < 0)
                    w.tall.velocity.u[axis][at(k)] = u(face_cell<D>(faces, f, faces.row[at(k)]));
        });
    }
}

// Rebuilds bottoms and faces for the columns of a state. A frame's state has none, nor has what was written from outside: then they
// are those of the surface, and below the layer the water is at rest.
template <int D>
void rebuild(Water<D>& w, const Boundary<D>& boundary)
{
    TallCells<D>& t = w.tall;
    std::vector<int> bottom;
    TallColumns columns = choose_columns(w, boundary, bottom);
    FaceColumns faces[2];
    for (int axis = 0; axis < D - 1; ++axis) faces[axis] = make_faces(w, boundary, columns, bottom, axis);
    if (!(columns == t.columns)) {
        t.columns.row.clear();
        t.columns.joined.clear();
        t.columns.start.assign(at(columns.columns()) + 1, 0);
        for (FaceColumns& none : t.faces) none = {};
        t.pressure.clear();
        t.velocity = regrid(w, {}, columns, faces, bottom, {});
        t.pressure = pressure_on(w, columns, 0);
        t.columns = std::move(columns);
    }
    for (int axis = 0; axis < 2; ++axis) t.faces[axis] = std::move(faces[axis]);
    t.bottom = std::move(bottom);
}

// The fastest in gaps.
template <int D>
double fastest_below(const TallCells<D>& t)
{
    float fastest = 0;
    for (const std::vector<float>* u : {&t.velocity.u[0], &t.velocity.u[1], &t.velocity.v})
        for (const float v : *u) fastest = std::fabs(v) > fastest || std::isnan(v) ? std::fabs(v) : fastest;
    return static_cast<double>(fastest);
}

// Bodies in the system: they meet nodes of the layer alone, of which there are few.
template <int D>
class BodiesInColumns {
public:
    BodiesInColumns(const Water<D>& w, const RigidRows<D>& rigid) : rigid_(rigid)
    {
        std::vector<int> cells;
        for (const RigidTerm<D>& term : rigid.terms()) cells.push_back(term.cell);
        std::sort(cells.begin(), cells.end());
        cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
        const Cell<D> first{};
        const auto phi = std::as_const(w.phi).view();
        for (const int i : cells) {
            // The cell of an index.
            int rest = i - phi.index(first);
            Cell<D> c;
            for (int a = D - 1; a >= 0; --a) {
                c[a] = rest / phi.next(a);
                rest -= c[a] * phi.next(a);
            }
            const int column = c[0] + (D == 3 ? w.grid.cells[0] * c[D - 1] : 0);
            const Between b = find_row(w.tall.columns, column, c[1]);
            if (b.node >= 0 && !(b.part > 0)) nodes_.push_back({b.node, i});
        }
    }
    // z += J^T S J x, by way of the cells.
    void add_product(const std::vector<float>& x, std::vector<float>& z, Field<D>& from, Field<D>& to) const
    {
        double dot = 0;
        const auto f = from.view(), g = to.view();
        for (const Place& p : nodes_) f[p.cell] = x[at(p.node)], g[p.cell] = 0;
        rigid_.add_product(to, from, &dot);
        for (const Place& p : nodes_) z[at(p.node)] += g[p.cell];
    }

private:
    struct Place {
        int node, cell;
    };
    const RigidRows<D>& rigid_;
    std::vector<Place> nodes_;
};

// Solves for x. Enclosed air and bodies touch the layer alone: their terms are the uniform grid's.
template <int D>
SolveReport solve(Water<D>& w, const Boundary<D>& boundary, const ProjectionForces<D>& forces, const std::vector<float>& flow,
                  const Goal& goal, bool& enclosed)
{
    TallCells<D>& t = w.tall;
    find_right_hand_side(w, boundary, forces, flow, t.b);
    const Regions<D>* const regions =
        forces.air ? forces.air->couple(w.phi, w.velocity, boundary, nullptr, 0, forces.correction_rate) : nullptr;
    const RigidRows<D>* const rigid = forces.bodies ? forces.bodies() : nullptr;
    std::optional<BodiesInColumns<D>> bodies;
    if (rigid) bodies.emplace(w, *rigid);
    if (regions) {
        to_cells<D>(w.scratch[0], w, nullptr);
        regions->add_sources(w.scratch[0]);
        add_cells(t.b, w, w.scratch[0]);
    }
    SharedProduct shared;
    if (regions || bodies)
        shared = [&](const std::vector<float>& x, std::vector<float>& z) {
            if (bodies) bodies->add_product(x, z, w.scratch[1], w.scratch[0]);
            if (!regions) return;
            double dot = 0;
            to_cells<D>(w.scratch[0], w, nullptr);
            to_cells(w.scratch[1], w, &x);
            regions->subtract_shared(w.scratch[0], w.scratch[1], &dot);
            add_cells(z, w, w.scratch[0]);
        };
    enclosed = regions != nullptr;
    return t.solver.solve(t.pressure, t.b, goal, shared);
}

// Gravity acts on what the layer does not hold, after forces, where there are any.
template <int D>
void push_below(Water<D>& w, const Vec<D>& g, const Pushed& pushed, double dt)
{
    TallCells<D>& t = w.tall;
    if (pushed) push_gaps(w, pushed);
    for (int axis = 0; axis < D - 1; ++axis)
        if (g[2 * axis] != 0)
            for (float& u : t.velocity.u[axis]) u += static_cast<float>(dt * g[2 * axis]);
    for (float& v : t.velocity.v) v += static_cast<float>(dt * g[1]);
}

// Columns follow the surface, and the velocity comes to their rows.   [IGLF06] §3.1
template <int D>
void change_columns(Water<D>& w, const Boundary<D>& boundary, const Params& p, const Scene& scene, const Ground& ground)
{
    TallCells<D>& t = w.tall;
    const bool first = t.bottom.empty();
    std::vector<int> bottom;
    TallColumns columns = choose_columns(w, boundary, bottom);
    // The solver's copies are of the last step.
    FaceColumns faces[2];
    for (int axis = 0; axis < D - 1; ++axis)
        faces[axis] = make_faces(w, boundary, columns, bottom, axis, std::move(t.solver.fine().faces[axis]));
    t.pressure = pressure_on(w, columns, p.fluid.density.constant() * std::fabs(p.domain.gravity.at(w.time)[1]));
    t.velocity = first ? initial_velocity(w, scene, columns, faces) : regrid(w, t.velocity, columns, faces, bottom, ground);
    t.columns = std::move(columns);
    for (int axis = 0; axis < 2; ++axis) {
        std::swap(t.faces[axis], faces[axis]);
        t.solver.fine().faces[axis] = std::move(faces[axis]);
    }
    t.bottom = std::move(bottom);
}

// After the last solve: the velocity of all, in the columns and on the grid.
template <int D>
void take_pressure(Water<D>& w, const Boundary<D>& boundary, const ProjectionForces<D>& forces, const std::vector<float>& flow,
                   bool enclosed)
{
    TallCells<D>& t = w.tall;
    if (forces.move_bodies) forces.move_bodies(w.pressure);
    apply_pressure(w, boundary, t.pressure);
    spread(w);
    if (enclosed) {
        forces.air->apply(w.velocity, w.pressure);
        take_surface_rows(w);
    }
    t.fastest = fastest_below(t);
    // What is left, per row.
    find_right_hand_side(w, boundary, forces, flow, t.b);
    float most = 0;
    for (int n = 0; n < t.columns.nodes(); ++n)
        most = std::max(most, std::fabs(t.b[at(n)]) / t.solver.fine().rows[at(n)]);
    t.divergence = static_cast<double>(most) / w.grid.h;
    mark_known(w, boundary);
}

// Forces act on what the layer does not hold; new columns for the new surface; then the projection of all. As on the uniform grid
// (pressure/project.h) it is done again where walls pull at water, or water would pass them, or a void turns out to be filled with air.
template <int D>
SolveReport project(Water<D>& w, const Params& p, const ProjectionForces<D>& forces, const Boundary<D>& boundary, const Scene& scene,
                    double start, double dt)
{
    constexpr int separating_sets = 2, rejoining_sets = 4;
    constexpr double roughly = 0.1;
    TallCells<D>& t = w.tall;
    const Vec<D> g = take<D>(frame_forces(p, start, dt).gravity);
    const Pushed pushed = with_vortices(pushed_by(scene, start, dt, w.grid.h), w, dt);
    if (!t.bottom.empty()) push_below(w, g, pushed, dt);
    const Ground ground{dt * g[1], pushed};
    // Where the layer may come to in this step, too.
    start_walls(w.projection.walls, w.velocity, boundary, all_tiles(w.grid));
    if (forces.rejoin) (void)forces.rejoin(nullptr);

    const float to_x = static_cast<float>(dt / (p.fluid.density.constant() * w.grid.h));
    std::vector<float> flow;
    SolveReport report;
    bool changed = true, rough = forces.gaps, enclosed = false;
    for (int sets = 1;; ++sets) {
        // One system for rows and tall cells alike.   [IGLF06] §4
        close_walls(w.velocity, w.known, w.projection.walls, true, boundary, w.tiles_active);
        if (changed) {
            change_columns(w, boundary, p, scene, ground);
            find_system(w, boundary, flow);
            t.solver.build();
        }
        if (sets == 1)
            for (float& x : t.pressure) x *= to_x;
        const Goal goal{.tolerance = rough ? std::max(roughly, p.pressure.tolerance) : p.pressure.tolerance,
                        .most = forces.fastest > 0 ? forces.fastest : fastest_below(t),
                        .max_iterations = p.pressure.max_iterations};
        const int before = report.iterations;
        report = solve(w, boundary, forces, flow, goal, enclosed);
        report.iterations += before;
        report.solves = sets;
        pressure_to_cells(w);

        const bool filled = enclosed && forces.air->find_pressures(w.pressure);
        const bool separated = forces.separate && sets <= separating_sets && forces.separate(w.pressure);
        const bool rejoined = forces.rejoin && sets <= rejoining_sets && forces.rejoin(&w.pressure);
        changed = separated || rejoined;
        if (separated) find_tiles_again(w);
        if (changed || filled || (rough && report.residual > p.pressure.tolerance)) {
            rough = changed && sets < rejoining_sets;
            continue;
        }
        take_pressure(w, boundary, forces, flow, enclosed);
        for (float& x : t.pressure) x /= to_x;
        pressure_to_cells(w);
        return report;
    }
}

template <int D>
free_surface::Stages<D> stages(const Scene& scene)
{
    const Params& p = scene.params;
    free_surface::Stages<D> s;
    s.advect = [&p](Water<D>& w, double dt) {
        const bool upwind = p.tall.advection == TallAdvection::upwind;
        w.tall.velocity = upwind ? advect_gaps_upwind(w, dt) : advect_gaps(w, dt);
        Field<D>* const scratch[] = {&w.scratch[0], &w.scratch[1], &w.scratch[2]};
        self_advect(w.velocity, w.faces, w.phi, w.tiles_active, dt, p.method.advection, scratch, sides_of(w.solids, w.grid));
        if (upwind) join_upwind(w);
    };
    s.project = [&p, &scene](Water<D>& w, const ProjectionForces<D>& forces, const Boundary<D>& boundary, double t, double dt) {
        return project(w, p, forces, boundary, scene, t, dt);
    };
    return s;
}

}  // namespace

template <int D>
Water<D> initial_water(const Scene& scene)
{
    return free_surface::initial_water<D>(scene, stages<D>(scene));
}

template <int D>
void restore(Water<D>& w, const Scene& scene)
{
    rebuild(w, boundary_of(w, scene.params));
    w.tall.fastest = fastest_below(w.tall);
    w.fastest = std::max(w.fastest, w.tall.fastest);
}

template <int D>
StepReport step(Water<D>& w, const Scene& scene, double dt)
{
    StepReport report = free_surface::step(w, scene, dt, stages<D>(scene));
    w.fastest = std::max(w.fastest, w.tall.fastest);
    report.finite = report.finite && std::isfinite(w.tall.fastest);
    return report;
}

#define TARN_INSTANTIATE(D)                             \
    template Water<D> initial_water(const Scene&);      \
    template void restore(Water<D>&, const Scene&);     \
    template StepReport step(Water<D>&, const Scene&, double);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn::tall
