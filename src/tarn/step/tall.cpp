#include "tarn/step/tall.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tarn/advect/advect.h"
#include "tarn/pressure/surface_view.h"
#include "tarn/scene/frame.h"
#include "tarn/step/boundary.h"
#include "tarn/step/surface.h"
#include "tarn/step/tall_columns.h"

namespace tarn::tall {

namespace {

// The vertical faces at the ends of a piece of water, and what the uniform grid knows of a face.
template <int D>
struct Faces {
    const Water<D>& w;
    const Boundary<D>& boundary;
    SurfaceView<D> surface;
    FaceView<D, float> u;

    Faces(Water<D>& water, const Boundary<D>& b)
        : w(water), boundary(b), surface{water.grid.cells, std::as_const(water.phi).view(), static_cast<float>(water.grid.h), {}, 0, {}, 0, {}}, u(water.velocity.view())
    {
    }
    // What flows through a face besides the water that the pressure moves.
    float closed_flow(Cell<D> face, int a) const
    {
        if (!boundary.moving && !boundary.inlets) return 0;
        const float open = boundary.open_at(face, a);
        return (1 - open) * boundary.closed_velocity(face, a);
    }
    // Of the face beside a node at an end of its piece: its Dirichlet term.
    float dirichlet(Cell<D> c, int side) const
    {
        const Cell<D> face = moved<D>(c, 1, side), other = moved<D>(c, 1, 2 * side - 1);
        const float open = boundary.open_at(face, 1);
        return open > 0 && !surface.wet(other, 1) ? open * surface.closeness(c, other) : 0.0f;
    }
};

// Calls f(node, side) for the ends of the pieces of a column that lie in the layer.
template <class F>
void for_ends(const TallColumns& columns, const std::vector<int>& bottom, int c, const F& f)
{
    const int first = columns.start[at(c)], end = columns.start[at(c) + 1];
    for (int n = first; n < end; ++n) {
        if (columns.row[at(n)] < bottom[at(c)]) continue;
        if (n == first || !columns.joined[at(n) - 1]) f(n, 0);
        if (!columns.joined[at(n)]) f(n, 1);
    }
}

// The finest level of the system: links with the mean of what is open, the ends' Dirichlet terms.
template <int D>
void find_system(Water<D>& w, const Boundary<D>& boundary, std::vector<float>& flow)
{
    TallCells<D>& t = w.tall;
    ColumnLevel& level = t.solver.fine();
    level.columns = t.columns;
    for (int axis = 0; axis < 2; ++axis) level.faces[axis] = t.faces[axis];
    const TallColumns& columns = t.columns;
    const size_t n = columns.row.size();
    for (auto* v : {&level.link, &level.dirichlet, &level.rows, &flow}) v->assign(n + 1, 0.0f);
    const Faces<D> faces(w, boundary);
    parallel_range("tall system", columns.columns(), [&](int c) {
        const int first = columns.start[at(c)], end = columns.start[at(c) + 1];
        for (int m = first; m < end; ++m) {
            level.rows[at(m)] += 1;
            if (!columns.joined[at(m)]) continue;
            const int a = columns.row[at(m)], b = columns.row[at(m) + 1];
            const float gap = static_cast<float>(b - a);
            const float open = a >= t.bottom[at(c)] ? boundary.open_at(cell_of<D>(w.grid, c, b), 1) : mean_open(t, c, a + 1, b + 1);
            flow[at(m)] = open;
            level.link[at(m)] = open / gap;
            level.rows[at(m)] += 0.5f * (gap - 1);
            level.rows[at(m) + 1] += 0.5f * (gap - 1);
        }
        for_ends(columns, t.bottom, c, [&](int m, int side) {
            level.dirichlet[at(m)] += faces.dirichlet(cell_of<D>(w.grid, c, columns.row[at(m)]), side);
        });
    });
}

// b = - sum of what flows out of the rows that a node stands for.
template <int D>
void find_right_hand_side(Water<D>& w, const Boundary<D>& boundary, const ProjectionForces<D>& forces, const std::vector<float>& flow,
                          std::vector<float>& b)
{
    const TallCells<D>& t = w.tall;
    const TallColumns& columns = t.columns;
    const Faces<D> faces(w, boundary);
    const float h = static_cast<float>(w.grid.h);
    const View<D, const float> rate = forces.volume_rate ? forces.volume_rate->view() : View<D, const float>{};
    b.assign(columns.row.size() + 1, 0.0f);
    parallel_range("tall right-hand side", columns.columns(), [&](int c) {
        for (int axis = 0; axis < D - 1; ++axis) {
            const FaceColumns& f = t.faces[axis];
            const std::vector<float>& u = t.velocity.u[axis];
            for (int side = 0; side < 2; ++side) {
                const int face = f.of_column(c, side), first = f.start[at(face)], end = f.start[at(face) + 1];
                const std::vector<Between>& mine = side ? f.lower : f.upper;
                for (int k = first; k < end; ++k) {
                    const Between to = mine[at(k)];
                    if (to.node < 0) continue;
                    float out = f.own[at(k)] * u[at(k)];
                    if (k > first) out += f.next[at(k) - 1] * u[at(k) - 1];
                    if (k + 1 < end) out += f.next[at(k)] * u[at(k) + 1];
                    if (!side) out = -out;
                    b[at(to.node)] -= (1 - to.part) * out;
                    if (to.part > 0) b[at(to.node) + 1] -= to.part * out;
                }
            }
        }
        const int first = columns.start[at(c)], end = columns.start[at(c) + 1];
        for (int m = first; m < end; ++m) {
            const int row = columns.row[at(m)];
            const Cell<D> cell = cell_of<D>(w.grid, c, row);
            if (columns.joined[at(m)]) {
                float out = flow[at(m)] * t.velocity.v[at(m)];
                if (row >= t.bottom[at(c)]) out += faces.closed_flow(moved<D>(cell, 1, 1), 1);
                b[at(m)] -= out;
                b[at(m) + 1] += out;
            }
            if (row < t.bottom[at(c)]) continue;
            for (int a = 0; a < D; a += 2)
                for (int side = 0; side < 2; ++side)
                    b[at(m)] += (side ? -1.0f : 1.0f) * faces.closed_flow(moved<D>(cell, a, side), a);
            if (rate.data) b[at(m)] += rate(cell) * h;
        }
        for_ends(columns, t.bottom, c, [&](int m, int side) {
            const Cell<D> face = moved<D>(cell_of<D>(w.grid, c, columns.row[at(m)]), 1, side);
            const float open = boundary.open_at(face, 1);
            const float out = (open > 0 ? open * faces.u[1](face) : 0.0f) + faces.closed_flow(face, 1);
            b[at(m)] -= side ? out : -out;
        });
    });
}

// u = u* - grad x on the rows of faces, on links, and on the faces at the ends of pieces.
template <int D>
void apply_pressure(Water<D>& w, const Boundary<D>& boundary, const std::vector<float>& x)
{
    TallCells<D>& t = w.tall;
    const TallColumns& columns = t.columns;
    const auto value = [&](Between b) {
        if (b.node < 0) return 0.0f;
        return b.part > 0 ? x[at(b.node)] + b.part * (x[at(b.node) + 1] - x[at(b.node)]) : x[at(b.node)];
    };
    for (int axis = 0; axis < D - 1; ++axis) {
        const FaceColumns& f = t.faces[axis];
        parallel_range("apply pressure", f.rows(), [&](int k) {
            if (f.own[at(k)] > 0)
                t.velocity.u[axis][at(k)] -= f.scale[at(k)] * (value(f.upper[at(k)]) - value(f.lower[at(k)]));
        });
    }
    const Faces<D> faces(w, boundary);
    const std::vector<float>& link = t.solver.fine().link;
    parallel_range("apply pressure", columns.columns(), [&](int c) {
        for (int m = columns.start[at(c)]; m < columns.start[at(c) + 1]; ++m) {
            if (!columns.joined[at(m)]) continue;
            const float gap = static_cast<float>(columns.row[at(m) + 1] - columns.row[at(m)]);
            if (link[at(m)] > 0) t.velocity.v[at(m)] -= (x[at(m) + 1] - x[at(m)]) / gap;
        }
        for_ends(columns, t.bottom, c, [&](int m, int side) {
            const Cell<D> cell = cell_of<D>(w.grid, c, columns.row[at(m)]);
            const float open = boundary.open_at(moved<D>(cell, 1, side), 1), term = faces.dirichlet(cell, side);
            if (term > 0) faces.u[1](moved<D>(cell, 1, side)) -= (side ? -1.0f : 1.0f) * (term / open) * x[at(m)];
        });
    });
}

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
            const int last = w.grid.cells[a], n = phi.next(a);
            const bool lower = boundary.wall_open[a][0], upper = boundary.wall_open[a][1];
            parallel_for_faces<true>("mark known", w.tiles_active, a, [=](Cell<D> c) {
                const int i = phi.index(c);
                const bool closed = (c[a] == 0 && !lower) || (c[a] == last && !upper);
                const float old = u[i];
                k[i] = closed || phi[i] < 0 || phi[i - n] < 0;
                u[i] = closed ? 0.0f : old;
            });
            continue;
        }
        parallel_for_faces("mark known", w.tiles_active, a, [=](Cell<D> c) {
            const bool wet = surface.wet(c, a) || surface.wet(moved<D>(c, a, -1), a);
            if (boundary.inlet_at(c, a)) {
                u(c) = boundary.closed_velocity(c, a);
                k(c) = 1;
            } else if (boundary.at_wall(c, a) && !boundary.wall_open[a][c[a] > 0]) {
                u(c) = 0;
                k(c) = 1;
            } else
                k(c) = wet && boundary.open_at(c, a) > 0;
        });
    }
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
        t.velocity = regrid(w, {}, columns, faces, bottom, 0);
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

// Solves for x, again where a void turns out to be filled with air. Enclosed air touches the layer alone: its terms are the uniform
// grid's. Tells whether there is any.
template <int D>
SolveReport solve(Water<D>& w, const Boundary<D>& boundary, const ProjectionForces<D>& forces, const std::vector<float>& flow,
                  const Goal& goal, bool& enclosed)
{
    TallCells<D>& t = w.tall;
    SolveReport report;
    for (int solves = 1;; ++solves) {
        find_right_hand_side(w, boundary, forces, flow, t.b);
        const Regions<D>* const regions =
            forces.air ? forces.air->tie(w.phi, w.velocity, boundary, nullptr, 0, forces.correction_rate) : nullptr;
        SharedProduct shared;
        if (regions) {
            to_cells<D>(w.scratch[0], w, nullptr);
            regions->add_sources(w.scratch[0]);
            add_cells(t.b, w, w.scratch[0]);
            shared = [&w, regions](const std::vector<float>& x, std::vector<float>& z) {
                double dot = 0;
                to_cells<D>(w.scratch[0], w, nullptr);
                to_cells(w.scratch[1], w, &x);
                regions->subtract_shared(w.scratch[0], w.scratch[1], &dot);
                add_cells(z, w, w.scratch[0]);
            };
        }
        const int before = report.iterations;
        report = t.solver.solve(t.pressure, t.b, goal, shared);
        report.iterations += before;
        report.solves = solves;
        enclosed = regions != nullptr;
        to_cells(w.pressure, w, &t.pressure);
        if (!enclosed || !forces.air->find_pressures(w.pressure)) return report;
    }
}

// Forces act on what the layer does not hold; new columns for the new surface; then the projection of all.
template <int D>
SolveReport project(Water<D>& w, const Params& p, const ProjectionForces<D>& forces, const Boundary<D>& boundary, const Scene& scene,
                    double start, double dt)
{
    TallCells<D>& t = w.tall;
    const bool first = t.bottom.empty();
    const Vec<D> g = take<D>(frame_forces(p, start, dt).gravity);
    if (!first) {
        for (int axis = 0; axis < D - 1; ++axis)
            if (g[2 * axis] != 0)
                for (float& u : t.velocity.u[axis]) u += static_cast<float>(dt * g[2 * axis]);
        for (float& v : t.velocity.v) v += static_cast<float>(dt * g[1]);
    }

    // TallColumns follow the surface.   [IGLF06] §3.1
    std::vector<int> bottom;
    TallColumns columns = choose_columns(w, boundary, bottom);
    // The solver's copies are of the last step.
    FaceColumns faces[2];
    for (int axis = 0; axis < D - 1; ++axis)
        faces[axis] = make_faces(w, boundary, columns, bottom, axis, std::move(t.solver.fine().faces[axis]));
    const double weight = p.fluid.density.constant() * std::fabs(g[1]);
    t.pressure = pressure_on(w, columns, weight);
    t.velocity = first ? initial_velocity(w, scene, columns, faces) : regrid(w, t.velocity, columns, faces, bottom, dt * g[1]);
    t.columns = std::move(columns);
    for (int axis = 0; axis < 2; ++axis) {
        std::swap(t.faces[axis], faces[axis]);
        t.solver.fine().faces[axis] = std::move(faces[axis]);
    }
    t.bottom = std::move(bottom);

    // One system for rows and tall cells alike.   [IGLF06] §4
    const float to_x = static_cast<float>(dt / (p.fluid.density.constant() * w.grid.h));
    std::vector<float> flow;
    find_system(w, boundary, flow);
    t.solver.build();
    for (float& x : t.pressure) x *= to_x;
    const Goal goal{.tolerance = p.pressure.tolerance,
                    .most = forces.fastest > 0 ? forces.fastest : fastest_below(t),
                    .max_iterations = p.pressure.max_iterations};
    bool enclosed = false;
    const SolveReport report = solve(w, boundary, forces, flow, goal, enclosed);
    apply_pressure(w, boundary, t.pressure);
    spread(w);
    if (enclosed) {
        forces.air->apply(w.velocity, w.pressure);
        take_surface_rows(w);
    }
    for (float& x : t.pressure) x /= to_x;
    to_cells(w.pressure, w, &t.pressure);
    mark_known(w, boundary);
    t.fastest = fastest_below(t);

    // What is left, per row.
    find_right_hand_side(w, boundary, forces, flow, t.b);
    float most = 0;
    for (int n = 0; n < t.columns.nodes(); ++n)
        most = std::max(most, std::fabs(t.b[at(n)]) / t.solver.fine().rows[at(n)]);
    t.divergence = static_cast<double>(most) / w.grid.h;

    return report;
}

template <int D>
free_surface::Stages<D> stages(const Scene& scene)
{
    const Params& p = scene.params;
    free_surface::Stages<D> s;
    s.advect = [&p](Water<D>& w, double dt) {
        w.tall.velocity = advect_gaps(w, dt);
        Field<D>* const scratch[] = {&w.scratch[0], &w.scratch[1], &w.scratch[2]};
        self_advect(w.velocity, w.faces, w.phi, w.tiles_active, dt, p.method.advection, scratch, sides_of(w.solids, w.grid));
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
