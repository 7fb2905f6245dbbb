// By monotonic CIP along paths: phi and the velocity with their gradients (advect/cip.h).   [SSK05] §4

#include "tarn/advect/advect.h"
#include "tarn/advect/beside_water.h"
#include "tarn/advect/beyond.h"
#include "tarn/base/axes.h"

namespace tarn {

namespace {

// Positions along a row, and where they fall among a field's values.
template <int D>
struct Row {
    static constexpr int most = tile_size * longest_run + 1;
    float x[D][most];
    int index[most];
    float w[D][most];

    template <class T>
    void locate(const View<D, T>& f, Cell<D> last, int n)
    {
        for (int i = 0; i < n; ++i) index[i] = 0;
        TARN_UNROLL
        for (int a = 0; a < D; ++a) {
            const int stride = f.next(a), end = last[a];
            TARN_INDEPENDENT
            for (int i = 0; i < n; ++i) index[i] += stride * tarn::locate(x[a][i], end, w[a][i]);
        }
    }
    void keep(int to, int from)
    {
        index[to] = index[from];
        for (int a = 0; a < D; ++a) w[a][to] = w[a][from];
    }
    Lattice<D> at(int i) const
    {
        Lattice<D> l;
        l.index = index[i];
        for (int a = 0; a < D; ++a) l.w[a] = w[a][i];
        return l;
    }
    // Those that are kept, together.
    void sample(const Jets<D>& jets, int kept, Jet<D>* out) const
    {
        const float* weights[D];
        for (int a = 0; a < D; ++a) weights[a] = w[a];
        sample_cip(jets, index, weights, kept, out);
    }
};

// Calls f with the first cell of every row of the tiles, or of their faces, and its length: on processors.
template <int D, int axis, class F>
void for_each_row(const char* name, const Tiles<D>& tiles, const F& f)
{
    backend::blocks(name, static_cast<int>(tiles.boxes.size()), tiles.cells(), [&](int b) {
        Box<D> box = tiles.boxes[static_cast<size_t>(b)];
        if constexpr (axis >= 0)
            if (box.hi[axis] == tiles.grid.cells[axis]) ++box.hi[axis];
        const int length = box.hi[0] - box.lo[0];
        box.hi[0] = box.lo[0] + 1;
        backend::each(box, [&](Cell<D> c) { f(c, length); });
    });
}

// As trace_far back from the centres of a row of cells: all of them, piece by piece. In three dimensions samples have
// vectors of their own.
inline void trace_row(const FaceView<2>& path, const FaceView<2, const float>& velocity, Cell<2> cells, Cell<2> c,
                      int n, float s)
{
    constexpr int most = tile_size * longest_run;
    float x[most], y[most], u[most], v[most], left[most];
    const float *const of_x = velocity[0].data, *const of_y = velocity[1].data;
    const int sy = velocity[0].stride[1], first = velocity[0].index(c), nx = cells[0], ny = cells[1];
    // The velocity at (px, py).
    const auto sample = [=](const float* f, int i, int j, float wx, float wy) {
        const int k = i + sy * j;
        const float lower = f[k] + wx * (f[k + 1] - f[k]);
        const float upper = f[k + sy] + wx * (f[k + sy + 1] - f[k + sy]);
        return lower + wy * (upper - lower);
    };
    const auto look = [=](float px, float py, float& ux, float& uy) {
        float wx, wy, wx_face, wy_face;
        const int i = locate(px, nx - 1, wx), j = locate(py, ny - 1, wy);
        const int i_face = locate(px + 0.5f, nx, wx_face), j_face = locate(py + 0.5f, ny, wy_face);
        ux = sample(of_x, i_face, j, wx_face, wy);
        uy = sample(of_y, i, j_face, wx, wy_face);
    };
    for (int i = 0; i < n; ++i) {
        x[i] = static_cast<float>(c[0] + i);
        y[i] = static_cast<float>(c[1]);
        u[i] = 0.5f * (of_x[first + i] + of_x[first + i + 1]);
        v[i] = 0.5f * (of_y[first + i] + of_y[first + i + sy]);
        left[i] = 1;
    }
    for (int pieces = 0; pieces < most_pieces; ++pieces) {
        float longest = 0;
        TARN_INDEPENDENT
        for (int i = 0; i < n; ++i) {
            const float far = s * left[i] * std::sqrt(u[i] * u[i] + v[i] * v[i]), length = far > piece ? far : piece;
            const float part = left[i] * piece / length;
            float mid_u, mid_v;
            look(x[i] - 0.5f * part * s * u[i], y[i] - 0.5f * part * s * v[i], mid_u, mid_v);
            x[i] -= part * s * mid_u;
            y[i] -= part * s * mid_v;
            left[i] = far > piece ? left[i] - part : 0.0f;
        }
        for (int i = 0; i < n; ++i) longest = left[i] > longest ? left[i] : longest;
        if (!(longest > 0)) break;
        TARN_INDEPENDENT
        for (int i = 0; i < n; ++i) look(x[i], y[i], u[i], v[i]);
    }
    for (int i = 0; i < n; ++i) {
        path[0][first + i] = x[i] - static_cast<float>(c[0] + i);
        path[1][first + i] = y[i] - static_cast<float>(c[1]);
    }
}

// Component `axis` of the velocity by CIP, from where the mean path of the two cells beside a face comes from; away
// from the water, which only air that flows has a velocity at, by linear interpolation.
template <int D, int axis>
struct FollowPathsCip {
    Cell<D> cells;
    Place<D, axis> place;
    Jets<D> jets;
    FaceView<D, const float> path;
    View<D, const float> phi, water;  // water: null where CIP carries all
    float limit;
    View<D> out;
    FaceView<D> gradient;

    TARN_HD void operator()(Cell<D> c) const
    {
        Jet<D> jet{};
        if (touches_water(phi, c, axis)) {
            const int upper = phi.index(c) - (c[axis] == cells[axis] ? phi.next(axis) : 0);
            const int lower = c[axis] > 0 && c[axis] < cells[axis] ? upper - phi.next(axis) : upper;
            Vec<D, float> x = place.position(c);
            for (int a = 0; a < D; ++a) x[a] += 0.5f * (path[a][upper] + path[a][lower]);
            const Lattice<D> from = place.find(jets.of[0], x);
            if (!water.data || touches_water(water, c, axis, limit))
                jet = sample_cip(jets, from);
            else
                jet.value = sample(jets.of[0], from);
        }
        out(c) = jet.value;
        for (int a = 0; a < D; ++a) gradient[a](c) = jet.gradient[a];
    }

    // The tuned version for processors: all places of a row first, then those that CIP carries, several at once.
    void row(Cell<D> c, int n) const
    {
        Row<D> row;
        const int first = phi.index(c), next = phi.next(axis);
        TARN_UNROLL
        for (int a = 0; a < D; ++a) {
            const float* const p = path[a].data + first;
            const float start = static_cast<float>(c[a]);  // the offset of faces, and that of their values, cancel
            const int at = c[axis], last = cells[axis];
            TARN_INDEPENDENT
            for (int i = 0; i < n; ++i) {
                const int face = axis == 0 ? at + i : at;
                const float upper = p[i], lower = p[i - next];
                const float mean = 0.5f * ((face < last ? upper : lower) + (face > 0 ? lower : upper));
                row.x[a][i] = start + (a == 0 ? static_cast<float>(i) : 0.0f) + mean;
            }
        }
        row.locate(jets.of[0], place.last, n);
        int kept = 0, kept_at[Row<D>::most];
        for (int i = 0; i < n; ++i) {
            const int at = first + i;
            float value = 0;
            if (phi[at] < 0 || phi[at - next] < 0) {
                if (!water.data || water[at] < limit || water[at - next] < limit) {
                    kept_at[kept] = at;
                    row.keep(kept++, i);
                    continue;
                }
                value = sample(jets.of[0], row.at(i));
            }
            out[at] = value;
            for (int a = 0; a < D; ++a) gradient[a][at] = 0;
        }
        Jet<D> of_kept[Row<D>::most];
        row.sample(jets, kept, of_kept);
        for (int k = 0; k < kept; ++k) {
            out[kept_at[k]] = of_kept[k].value;
            for (int a = 0; a < D; ++a) gradient[a][kept_at[k]] = of_kept[k].gradient[a];
        }
    }
};
template <int D, int axis>
void follow_paths_cip(Field<D>& next, Gradient<D>& next_gradient, const Jets<D>& jets,
                      const FaceView<D, const float>& path, const View<D, const float>& phi, const CipNear<D>& near,
                      const Tiles<D>& tiles)
{
    const Cell<D> cells = next.grid().cells;
    const FollowPathsCip<D, axis> follow{cells,
                                         Place<D, axis>(cells),
                                         jets,
                                         path,
                                         phi,
                                         near.phi ? near.phi->view() : View<D, const float>{},
                                         static_cast<float>(near.limit),
                                         next.view(),
                                         next_gradient.view()};
    if (on_device())
        parallel_for_faces("advect velocity", tiles, axis, [=] TARN_KERNEL(Cell<D> c) { follow(c); });
    else
        for_each_row<D, axis>("advect velocity", tiles, [&](Cell<D> c, int n) { follow.row(c, n); });
}

// Phi by CIP.
template <int D>
struct MovePhiCip {
    Place<D, -1> place;
    Jets<D> jets;
    FaceView<D, const float> path, u, before;
    View<D> moved;
    FaceView<D> after;
    float s, h, far;
    bool traced;
    NearContactAir<D> air;

    TARN_HD Vec<D, float> came_from(Cell<D> c) const
    {
        Vec<D, float> x = place.position(c);
        if (!traced) return trace_far(u, place.cells, x, place.velocity(u, c), -s);
        for (int a = 0; a < D; ++a) x[a] += path[a](c);
        return x;
    }
    TARN_HD bool rests(Cell<D> c) const { return std::fabs(jets.of[0](c)) > far; }
    TARN_HD void store(int i, const Jet<D>& jet) const
    {
        moved[i] = jet.value;
        for (int a = 0; a < D; ++a) after[a][i] = jet.gradient[a];
    }
    TARN_HD void stay(int i) const
    {
        moved[i] = jets.of[0][i];  // a distance, whose slope the shear of every step must not add up in
        for (int a = 0; a < D; ++a) after[a][i] = clamp(before[a][i], -h, h);
    }
    TARN_HD void close(Cell<D> c) const
    {
        const View<D, const float> old = jets.of[0];
        const int contact = old(c) < h ? near_contact_axis(old, u, air, c) : -1;
        if (contact >= 0) moved(c) = nearest_of_two(old, u, place.cells, c, contact, s, h);
    }
    TARN_HD void operator()(Cell<D> c) const
    {
        const View<D, const float> old = jets.of[0];
        const int i = old.index(c);
        if (rests(c)) return stay(i);
        const Lattice<D> from = place.find(old, came_from(c));
        // Far from the surface phi is the same all around.
        float lo, hi;
        extremes(old, from.index, lo, hi);
        Jet<D> jet{lo, {}};
        if (lo < hi) jet = sample_cip(jets, from);
        store(i, jet);
        close(c);
    }

    // The tuned version for processors, as above.
    void row(Cell<D> c, int n) const
    {
        const View<D, const float> old = jets.of[0];
        const int first = old.index(c);
        Row<D> row;
        if (traced) {
            TARN_UNROLL
            for (int a = 0; a < D; ++a) {
                const float* const p = path[a].data + first;
                const float start = static_cast<float>(c[a]);
                for (int i = 0; i < n; ++i) row.x[a][i] = start + (a == 0 ? static_cast<float>(i) : 0.0f) + p[i];
            }
        } else {
            for (int i = 0; i < n; ++i) {
                const Cell<D> here = tarn::moved<D>(c, 0, i);
                const Vec<D, float> x = rests(here) ? place.position(here) : came_from(here);
                for (int a = 0; a < D; ++a) row.x[a][i] = x[a];
            }
        }
        row.locate(old, place.last, n);
        int kept = 0, kept_at[Row<D>::most];
        for (int i = 0; i < n; ++i) {
            const int at = first + i;
            if (std::fabs(old[at]) > far) {
                stay(at);
                continue;
            }
            float lo, hi;
            extremes(old, row.index[i], lo, hi);
            if (lo < hi) {
                kept_at[kept] = at;
                row.keep(kept++, i);
            } else {
                store(at, {lo, {}});
            }
        }
        Jet<D> of_kept[Row<D>::most];
        row.sample(jets, kept, of_kept);
        for (int k = 0; k < kept; ++k) store(kept_at[k], of_kept[k]);
        if (air.everywhere) return;
        for (int i = 0; i < n; ++i)
            if (!rests(tarn::moved<D>(c, 0, i))) close(tarn::moved<D>(c, 0, i));
    }
};

// Takes over a new gradient on the tiles.
template <int D>
void take_over(Gradient<D>& gradient, Gradient<D>& next, int axis, const Tiles<D>& tiles)
{
    if (tiles.cells() == tiles.grid.count()) return gradient.swap(next);
    for (int b = 0; b < D; ++b) {
        const auto to = gradient.along[b].view();
        const auto from = std::as_const(next.along[b]).view();
        const auto copy = [=] TARN_KERNEL(Cell<D> c) { to(c) = from(c); };
        if (axis < 0)
            parallel_for<true>("advect copy", tiles, copy);
        else
            parallel_for_faces<true>("advect copy", tiles, axis, copy);
    }
}

}  // namespace

template <int D>
void trace_paths(FaceField<D>& path, const FaceField<D>& velocity, const Tiles<D>& tiles, double dt)
{
    const Place<D, -1> centre(tiles.grid.cells);
    const float s = static_cast<float>(dt / tiles.grid.h);
    const auto to = path.view();
    const FaceView<D, const float> u = velocity.view();
    if constexpr (D == 2)
        if (!on_device())
            return for_each_row<D, -1>("trace", tiles,
                                       [&](Cell<D> c, int n) { trace_row(to, u, centre.cells, c, n, s); });
    parallel_for("trace", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const Vec<D, float> x = centre.position(c);
        const Vec<D, float> d = trace_far(u, centre.cells, x, centre.velocity(u, c), -s) - x;
        for (int a = 0; a < D; ++a) to[a](c) = d[a];
    });
}

template <int D>
void retrace_paths(FaceField<D>& path, const FaceField<D>& velocity, const Field<D>& phi, double near,
                   const Tiles<D>& tiles, double dt)
{
    const Place<D, -1> centre(tiles.grid.cells);
    const float s = static_cast<float>(dt / tiles.grid.h), limit = static_cast<float>(near);
    const auto to = path.view();
    const FaceView<D, const float> u = velocity.view();
    const auto p = phi.view();
    parallel_for("trace", tiles, [=] TARN_KERNEL(Cell<D> c) {
        if (!(std::fabs(p(c)) < limit)) return;
        const Vec<D, float> x = centre.position(c);
        const Vec<D, float> d = trace_far(u, centre.cells, x, centre.velocity(u, c), -s) - x;
        for (int a = 0; a < D; ++a) to[a](c) = d[a];
    });
}

template <int D>
void advect_cip(Field<D>& phi, Gradient<D>& gradient, const FaceField<D>& velocity, const Tiles<D>& tiles, double dt,
                double far, CipWorkspace<D>& workspace, const Ends<D>& ends, const Sides<D>& sides, const NearContactAir<D>& air,
                const FaceField<D>* path)
{
    if (sides.any()) {
        Field<D>* const scratch[2] = {&workspace.cross[0], &workspace.moved_phi};
        advect(phi, velocity, tiles, dt, Advection::semi_lagrangian, 0, far, scratch, ends, sides, air);
        return find_gradient(gradient, phi, -1, tiles);
    }
    const Place<D, -1> place(phi.grid().cells);
    const float h = static_cast<float>(phi.grid().h), s = static_cast<float>(dt / phi.grid().h);
    const Jets<D> jets = prepare_jets(phi, gradient, -1, tiles, s, workspace);
    const FaceView<D, const float> u = velocity.view();
    const auto old = std::as_const(phi).view();
    const auto moved = workspace.moved_phi.view();
    const MovePhiCip<D> move{place,
                             jets,
                             path ? path->view() : FaceView<D, const float>{},
                             u,
                             std::as_const(gradient).view(),
                             moved,
                             workspace.next.view(),
                             s,
                             h,
                             static_cast<float>(far),
                             path != nullptr,
                             air};
    if (on_device())
        parallel_for("advect phi", tiles, [=] TARN_KERNEL(Cell<D> c) { move(c); });
    else
        for_each_row<D, -1>("advect phi", tiles, [&](Cell<D> c, int n) { move.row(c, n); });
    advect_from_beyond(workspace.moved_phi, old, u, tiles, s, false, far, ends, sides);
    const auto p = phi.view();
    parallel_for<true>("advect phi copy", tiles, [=] TARN_KERNEL(Cell<D> c) { p(c) = moved(c); });
    take_over(gradient, workspace.next, -1, tiles);
}

template <int D>
void self_advect_cip(FaceField<D>& velocity, Gradient<D> (&gradient)[D], FaceField<D>& next, const Field<D>& phi,
                     const Tiles<D>& tiles, double dt, Field<D>* const scratch[D], CipWorkspace<D>& workspace,
                     const Sides<D>& sides, const CipNear<D>& near, const FaceField<D>* path)
{
    if (sides.any()) {
        self_advect(velocity, next, phi, tiles, dt, Advection::semi_lagrangian, scratch, sides);
        for (int a = 0; a < D; ++a) find_gradient(gradient[a], velocity[a], a, tiles);
    } else {
        const float h = static_cast<float>(phi.grid().h), s = static_cast<float>(dt / phi.grid().h);
        FaceView<D, const float> from;
        if (path) {
            from = path->view();
        } else {
            FaceView<D> to;
            for (int a = 0; a < D; ++a) to.axis[a] = scratch[a]->view();
            trace_near<D>(to, std::as_const(velocity).view(), phi.view(), tiles, s, 1.5f * h, false, true);
            find_deformation(workspace, velocity, tiles);
            from = to;
        }
        for_each_axis<D>([&](auto axis) {
            constexpr int a = decltype(axis)::value;
            const Jets<D> jets = prepare_jets(velocity[a], gradient[a], a, tiles, s, workspace);
            follow_paths_cip<D, a>(next[a], workspace.next, jets, from, phi.view(), near, tiles);
            take_over(gradient[a], workspace.next, a, tiles);
        });
        velocity.swap(next);
    }
    for (int a = 0; a < D; ++a) workspace.moved[a].copy(velocity[a]);
}

template <int D>
void follow_velocity(Gradient<D> (&gradient)[D], const FaceField<D>& velocity, const CipNear<D>& near,
                     const Tiles<D>& tiles, CipWorkspace<D>& workspace)
{
    for (int a = 0; a < D; ++a) follow_change(gradient[a], velocity[a], workspace.moved[a], a, tiles, near);
}

#define TARN_INSTANTIATE(D)                                                                                            \
    template void trace_paths(FaceField<D>&, const FaceField<D>&, const Tiles<D>&, double);                            \
    template void retrace_paths(FaceField<D>&, const FaceField<D>&, const Field<D>&, double, const Tiles<D>&, double); \
    template void advect_cip(Field<D>&, Gradient<D>&, const FaceField<D>&, const Tiles<D>&, double, double,            \
                             CipWorkspace<D>&, const Ends<D>&, const Sides<D>&, const NearContactAir<D>&, const FaceField<D>*); \
    template void self_advect_cip(FaceField<D>&, Gradient<D>(&)[D], FaceField<D>&, const Field<D>&, const Tiles<D>&,   \
                                  double, Field<D>* const[D], CipWorkspace<D>&, const Sides<D>&, const CipNear<D>&,         \
                                  const FaceField<D>*);                                                                \
    template void follow_velocity(Gradient<D>(&)[D], const FaceField<D>&, const CipNear<D>&, const Tiles<D>&,          \
                                  CipWorkspace<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
