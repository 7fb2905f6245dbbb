// The system of the pressure on columns: what its matrix and right-hand side are made of, and what its solution does.   [IGLF06] §4

#include <utility>

#include "tarn/pressure/surface_view.h"
#include "tarn/step/boundary.h"
#include "tarn/step/tall.h"
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
        : w(water),
          boundary(b),
          surface{water.grid.cells, std::as_const(water.phi).view(), static_cast<float>(water.grid.h), {}, 0, {}, 0, {}},
          u(water.velocity.view())
    {
    }
    // What flows through a face besides the water that the pressure moves. A closed side moves as close_walls() says.
    float closed_flow(Cell<D> face, int a) const
    {
        const bool side = w.gaps && boundary.at_wall(face, a);
        if (!side && !boundary.moving && !boundary.inlets) return 0;
        const float open = boundary.open_at(face, a);
        const bool wall = side && !boundary.wall_open[a][face[a] > 0] && !(open > 0);
        return wall ? u[a](face) : (1 - open) * boundary.closed_velocity(face, a);
    }
    // Of a face between a cell and no other node: its Dirichlet term.
    float dirichlet(Cell<D> c, int a, int side) const
    {
        const Cell<D> face = moved<D>(c, a, side), other = moved<D>(c, a, 2 * side - 1);
        const float open = boundary.open_at(face, a);
        return open > 0 && !surface.wet(other, a) ? open * surface.closeness(c, other) : 0.0f;
    }
    // Whether water beside a closed side of the domain has separated from it: then the face is one to air.
    bool separated(Cell<D> c, int a, int side) const
    {
        const Cell<D> face = moved<D>(c, a, side);
        return w.gaps && boundary.at_wall(face, a) && !boundary.wall_open[a][side] && boundary.parted_from_side(face, a);
    }
};

// Calls f(node, cell, axis, side) for the faces of a column's nodes in the layer that lead to none: those at the ends of its pieces, and
// closed sides of the domain that water has separated from.
template <int D, class F>
void for_ends(const Faces<D>& faces, const TallColumns& columns, const std::vector<int>& bottom, int c, const F& f)
{
    const int first = columns.start[at(c)], end = columns.start[at(c) + 1];
    for (int n = first; n < end; ++n) {
        if (columns.row[at(n)] < bottom[at(c)]) continue;
        const Cell<D> cell = cell_of<D>(faces.w.grid, c, columns.row[at(n)]);
        if (n == first || !columns.joined[at(n) - 1]) f(n, cell, 1, 0);
        if (!columns.joined[at(n)]) f(n, cell, 1, 1);
        for (int a = 0; a < D && faces.w.gaps; a += 2)
            for (int side = 0; side < 2; ++side)
                if (faces.separated(cell, a, side)) f(n, cell, a, side);
    }
}

}  // namespace

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
        for_ends<D>(faces, columns, t.bottom, c,
                    [&](int m, Cell<D> cell, int a, int side) { level.dirichlet[at(m)] += faces.dirichlet(cell, a, side); });
    });
}

template <int D>
void find_right_hand_side(Water<D>& w, const Boundary<D>& boundary, const ProjectionForces<D>& forces, const std::vector<float>& flow,
                          std::vector<float>& b)
{
    const TallCells<D>& t = w.tall;
    const TallColumns& columns = t.columns;
    const Faces<D> faces(w, boundary);
    const float h = static_cast<float>(w.grid.h);
    const View<D, const float> rate = forces.volume_rate ? forces.volume_rate->view() : View<D, const float>{};
    const View<D, const float> divergence_source = forces.divergence_source ? forces.divergence_source->view() : View<D, const float>{};
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
            if (divergence_source.data) b[at(m)] += divergence_source(cell) * h;
        }
        for_ends<D>(faces, columns, t.bottom, c, [&](int m, Cell<D> cell, int a, int side) {
            const Cell<D> face = moved<D>(cell, a, side);
            const float open = boundary.open_at(face, a);
            // What is closed of the others has been counted above.
            const float out = (open > 0 ? open * faces.u[a](face) : 0.0f) + (a == 1 ? faces.closed_flow(face, a) : 0.0f);
            b[at(m)] -= side ? out : -out;
        });
    });
}

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
        for_ends<D>(faces, columns, t.bottom, c, [&](int m, Cell<D> cell, int a, int side) {
            const Cell<D> face = moved<D>(cell, a, side);
            const float open = boundary.open_at(face, a), term = faces.dirichlet(cell, a, side);
            if (term > 0) faces.u[a](face) -= (side ? -1.0f : 1.0f) * (term / open) * x[at(m)];
        });
    });
}

#define TARN_INSTANTIATE(D)                                                                                                        \
    template void find_system(Water<D>&, const Boundary<D>&, std::vector<float>&);                                                 \
    template void find_right_hand_side(Water<D>&, const Boundary<D>&, const ProjectionForces<D>&, const std::vector<float>&,      \
                                       std::vector<float>&);                                                                       \
    template void apply_pressure(Water<D>&, const Boundary<D>&, const std::vector<float>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn::tall
