#include "tarn/advect/advect.h"

#include <algorithm>

#include "tarn/advect/beyond.h"
#include "tarn/advect/place.h"
#include "tarn/advect/weno.h"
#include "tarn/base/axes.h"

namespace tarn {

namespace {

// Least and greatest of the values that an interpolation mixes.
template <int D>
TARN_HD inline void extremes(const View<D, const float>& f, int index, float& lo, float& hi)
{
    lo = hi = f[index];
    for (int corner = 1; corner < (1 << D); ++corner) {
        int i = index;
        for (int a = 0; a < D; ++a)
            if (corner >> a & 1) i += f.next(a);
        const float v = f[i];
        lo = v < lo ? v : lo;
        hi = v > hi ? v : hi;
    }
}

template <int D, int axis>
TARN_HD inline float maccormack(const View<D, const float>& old, const View<D, const float>& forth,
                                const FaceView<D, const float>& u, const Place<D, axis>& place, Cell<D> c, float s)
{
    // e = (old - back(forth)) / 2 is the error of one trip; the path forth starts at x.
    const Vec<D, float> to = trace(u, place, c, s, false), from = trace(u, place, c, -s, false);
    // A distance has no values beyond the grid to be limited to, and goes on there as it is at the end.
    if (axis < 0 && !place.inside(from)) return forth(c);
    const float back = sample(forth, axis < 0 ? place.find_beyond(forth, to) : place.find(forth, to));
    const float corrected = forth(c) + 0.5f * (old(c) - back);
    float lo, hi;
    extremes(old, place.find(old, from).index, lo, hi);
    return clamp(corrected, lo, hi);
}

// In a gap that closes: each surface comes with its own velocity, and the nearer one counts.
template <int D>
TARN_HD inline float nearest_of_two(const View<D, const float>& phi, const FaceView<D, const float>& u, Cell<D> cells,
                                    Cell<D> c, int axis, float s, float h)
{
    const int i = phi.index(c);
    Vec<D, float> v = velocity_at_cell(u, c);
    float nearest = nowhere;
    for (int side = 0; side < 2; ++side) {
        v[axis] = u[axis][side ? i + phi.next(axis) : i];
        const float p = sample_distance(phi, cells, c.template as<float>() - s * v, h);
        nearest = p < nearest ? p : nearest;
    }
    return nearest;
}

// The axis along which a gap closes at a cell where it and what comes into it are in the clear, or -1.
template <int D>
TARN_HD inline int closing_beside_walls(const View<D, const float>& phi, const FaceView<D, const float>& u,
                                        const Sides<D>& sides, const FlowingAir<D>& air, Cell<D> c, float s)
{
    const int i = phi.index(c);
    if (sides.before.around(i) || sides.after.around(i)) return -1;
    const int axis = closing_axis(phi, u, air, c);
    if (axis < 0) return -1;
    const Vec<D, float> x = c.template as<float>();
    Vec<D, float> v = velocity_at_cell(u, c);
    for (int side = 0; side < 2; ++side) {
        v[axis] = u[axis][side ? i + phi.next(axis) : i];
        if (!in_the_clear(sides, x, x - s * v)) return -1;
    }
    return axis;
}

// MacCormack in the clear, else what went `forth`.
template <int D, int axis>
TARN_HD inline float maccormack_beside_walls(const View<D, const float>& old, const View<D, const float>& forth,
                                             const FaceView<D, const float>& u, const Place<D, axis>& place,
                                             const Sides<D>& sides, Cell<D> c, float s)
{
    const Vec<D, float> x = place.position(c);
    const bool clear =
        in_the_clear(sides, x, trace(u, place, c, s, false)) && in_the_clear(sides, x, trace(u, place, c, -s, false));
    return clear ? maccormack(old, forth, u, place, c, s) : forth(c);
}

// Faces that a step must advect: those of wet cells. Or, with a limit, those that are no farther from the water.
template <int D>
TARN_HD inline bool touches_water(const View<D, const float>& phi, Cell<D> c, int axis, float limit = 0)
{
    const int i = phi.index(c);
    return phi[i] < limit || phi[i - phi.next(axis)] < limit;
}

// Component `axis` of the velocity by MacCormack.
template <int D, int axis>
void maccormack_axis(Field<D>& next, const FaceView<D, const float>& u, const View<D, const float>& phi,
                     const Tiles<D>& tiles, float s, Field<D>& scratch)
{
    const Place<D, axis> place(next.grid().cells);
    const auto old = u[axis];
    const auto out = next.view(), forth = scratch.view();
    parallel_for_faces("advect velocity", tiles, axis, [=] TARN_KERNEL(Cell<D> c) {
        forth(c) = sample(old, place.find(old, trace(u, place, c, -s, false)));
    });
    const View<D, const float> forth_const = forth;
    parallel_for_faces("advect velocity back", tiles, axis, [=] TARN_KERNEL(Cell<D> c) {
        out(c) = touches_water(phi, c, axis) ? maccormack(old, forth_const, u, place, c, s) : 0.0f;
    });
}

// Component `axis` of the velocity, from where the mean path of the two cells beside a face comes from.
template <int D, int axis>
void follow_paths(Field<D>& next, const FaceView<D, const float>& u, const FaceView<D>& path,
                  const View<D, const float>& phi, const Tiles<D>& tiles)
{
    const Cell<D> cells = next.grid().cells;
    const Place<D, axis> place(cells);
    const auto old = u[axis];
    const auto out = next.view();
    parallel_for_faces("advect velocity", tiles, axis, [=] TARN_KERNEL(Cell<D> c) {
        if (!touches_water(phi, c, axis)) {
            out(c) = 0;
            return;
        }
        const int upper = phi.index(c) - (c[axis] == cells[axis] ? phi.next(axis) : 0);
        const int lower = c[axis] > 0 && c[axis] < cells[axis] ? upper - phi.next(axis) : upper;
        Vec<D, float> x = place.position(c);
        for (int a = 0; a < D; ++a) x[a] += 0.5f * (path[a][upper] + path[a][lower]);
        out(c) = sample(old, place.find(old, x));
    });
}

// The same beside thin walls. A face with a sheet at the end of the step gets its wall's velocity later.
template <int D, int axis>
void follow_paths(Field<D>& next, const FaceView<D, const float>& u, const FaceView<D>& path,
                  const View<D, const float>& phi, const Tiles<D>& tiles, const Sides<D>& sides)
{
    const Cell<D> cells = next.grid().cells;
    const Place<D, axis> place(cells);
    const auto old = u[axis];
    const auto out = next.view();
    parallel_for_faces("advect velocity", tiles, axis, [=] TARN_KERNEL(Cell<D> c) {
        if (!touches_water(phi, c, axis) || sides.after.below(phi.index(c), axis)) {
            out(c) = 0;
            return;
        }
        Cell<D> upper = c, lower = c;
        if (c[axis] == cells[axis]) --upper[axis];
        if (c[axis] > 0) --lower[axis];
        Vec<D, float> x = place.position(c);
        for (int a = 0; a < D; ++a) x[a] += 0.5f * (path[a](upper) + path[a](lower));
        const Vec<D, float> from = go(sides.before, sides.origin(upper).template as<float>(), x);
        out(c) = component_one_side(old, sides.before, axis, from);
    });
}
template <int D, int axis>
void maccormack_axis(Field<D>& next, const FaceView<D, const float>& u, const View<D, const float>& phi,
                     const Tiles<D>& tiles, float s, Field<D>& scratch, const Sides<D>& sides)
{
    const Cell<D> cells = next.grid().cells;
    const Place<D, axis> place(cells);
    const auto old = u[axis];
    const auto out = next.view(), forth = scratch.view();
    parallel_for_faces("advect velocity", tiles, axis, [=] TARN_KERNEL(Cell<D> c) {
        Cell<D> cell = c;
        if (c[axis] == cells[axis]) --cell[axis];
        const Vec<D, float> from = trace_back_beside_walls(u, sides, cell, place.position(c), s, false);
        forth(c) = component_one_side(old, sides.before, axis, from);
    });
    const View<D, const float> forth_const = forth;
    parallel_for_faces("advect velocity back", tiles, axis, [=] TARN_KERNEL(Cell<D> c) {
        const bool counts = touches_water(phi, c, axis) && !sides.after.below(phi.index(c), axis);
        out(c) = counts ? maccormack_beside_walls(old, forth_const, u, place, sides, c, s) : 0.0f;
    });
}

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
    FlowingAir<D> air;

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
        const int closing = old(c) < h ? closing_axis(old, u, air, c) : -1;
        if (closing >= 0) moved(c) = nearest_of_two(old, u, place.cells, c, closing, s, h);
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

// Paths back from cell centres, as offsets.
template <int D>
void trace_near(const FaceView<D>& path, const FaceView<D, const float>& u, const View<D, const float>& phi,
                const Tiles<D>& tiles, float s, float near, bool rk3, bool far)
{
    const Place<D, -1> centre(tiles.grid.cells);
    parallel_for("trace", tiles, [=] TARN_KERNEL(Cell<D> c) {
        Vec<D, float> d;
        const Vec<D, float> x = centre.position(c);
        if (phi(c) < near)
            d = (far ? trace_far(u, centre.cells, x, centre.velocity(u, c), -s) : trace(u, centre, c, -s, rk3)) - x;
        for (int a = 0; a < D; ++a) path[a](c) = d[a];
    });
}

// One TVD-RK3 stage's Euler step of the Hamilton-Jacobi equation.
template <int D>
TARN_HD inline float euler_weno5(const View<D, const float>& phi, const FaceView<D, const float>& u, Cell<D> cells,
                                 Cell<D> c, float s)
{
    const Vec<D, float> v = velocity_at_cell(u, c);
    float rate = 0;
    for (int a = 0; a < D; ++a) rate += v[a] * upwind_weno5(phi, cells, c, a, v[a]);
    return phi(c) - s * rate;
}

template <int D>
void advect_weno5(Field<D>& phi, const FaceField<D>& velocity, const Tiles<D>& tiles, double dt, double far,
                  Field<D>* const scratch[2], const Ends<D>& ends, bool euler)
{
    const Cell<D> cells = phi.grid().cells;
    const auto u = velocity.view();
    const double fastest = parallel_max("weno cfl", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const Vec<D, float> v = velocity_at_cell(u, c);
        float sum = 0;
        for (int a = 0; a < D; ++a) sum += std::fabs(v[a]);
        return sum;
    });
    const int substeps = std::max(1, static_cast<int>(std::ceil(fastest * dt / (0.5 * phi.grid().h))));
    const float s = static_cast<float>(dt / phi.grid().h / substeps);

    // Outside the tiles every stage must see the same values as phi.
    scratch[0]->copy(phi);
    scratch[1]->copy(phi);
    for (int n = 0; n < substeps; ++n) {
        const auto p = phi.view(), first = scratch[0]->view(), second = scratch[1]->view();
        parallel_for("weno5", tiles, [=] TARN_KERNEL(Cell<D> c) { first(c) = euler_weno5<D>(p, u, cells, c, s); });
        const auto again = [=] TARN_KERNEL(Cell<D> c) { second(c) = 0.75f * p(c) + 0.25f * euler_weno5<D>(first, u, cells, c, s); };
        if (!euler) parallel_for("weno5", tiles, again);
        const auto last = [=] TARN_KERNEL(Cell<D> c) { first(c) = (1.0f / 3) * p(c) + (2.0f / 3) * euler_weno5<D>(second, u, cells, c, s); };
        if (!euler) parallel_for("weno5", tiles, last);
        advect_from_beyond(*scratch[0], View<D, const float>(p), u, tiles, s, true, far, ends, Sides<D>{});
        phi.swap(*scratch[0]);
    }
    // Others rely on the padding of working fields being zero.
    scratch[0]->fill(0);
    scratch[1]->fill(0);
}

template <int D>
void advect_beside_walls(Field<D>& phi, const FaceField<D>& velocity, const Tiles<D>& tiles, double dt,
                         Advection scheme, double near, double far, Field<D>* const scratch[2], const Ends<D>& ends,
                         const Sides<D>& sides, const FlowingAir<D>& air)
{
    const Place<D, -1> place(phi.grid().cells);
    const float s = static_cast<float>(dt / phi.grid().h);
    const bool rk3 = scheme == Advection::semi_lagrangian_rk3 || is_weno(scheme);
    const auto u = velocity.view();
    const auto old = std::as_const(phi).view();
    const auto forth = scratch[0]->view(), out = scratch[1]->view();
    const float near_limit = static_cast<float>(near), far_limit = static_cast<float>(far);
    const float h = static_cast<float>(phi.grid().h);
    parallel_for("advect phi", tiles, [=] TARN_KERNEL(Cell<D> c) {
        // A cell that a wall has swept over has changed sides, however far it was from the surface.
        const float here = old(sides.origin(c));
        if (std::fabs(here) >= far_limit) {
            forth(c) = here;
            return;
        }
        const int closing = here < h ? closing_beside_walls(old, u, sides, air, c, s) : -1;
        forth(c) = closing < 0 ? sample_one_side(old, sides.before,
                                                 trace_back_beside_walls(u, sides, c, place.position(c), s, rk3))
                               : nearest_of_two(old, u, place.cells, c, closing, s, h);
    });
    const View<D, const float> forth_const = forth;
    const bool correct = scheme == Advection::maccormack;
    parallel_for("advect phi back", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const float here = old(c);
        const bool corrected = correct && std::fabs(here) < near_limit && sides.origin(c) == c &&
                               !(here < h && closing_beside_walls(old, u, sides, air, c, s) >= 0);
        out(c) = corrected ? maccormack_beside_walls(old, forth_const, u, place, sides, c, s) : forth_const(c);
    });
    advect_from_beyond(*scratch[1], old, u, tiles, s, rk3, far, ends, sides);
    const auto p = phi.view();
    parallel_for<true>("advect phi copy", tiles, [=] TARN_KERNEL(Cell<D> c) { p(c) = out(c); });
}

}  // namespace

template <int D>
void advect(Field<D>& phi, const FaceField<D>& velocity, const Tiles<D>& tiles, double dt, Advection scheme,
            double near, double far, Field<D>* const scratch[2], const Ends<D>& ends, const Sides<D>& sides,
            const FlowingAir<D>& air)
{
    if (sides.any()) return advect_beside_walls(phi, velocity, tiles, dt, scheme, near, far, scratch, ends, sides, air);
    if (is_weno(scheme))
        return advect_weno5(phi, velocity, tiles, dt, far, scratch, ends, scheme == Advection::forward_euler);

    const Place<D, -1> place(phi.grid().cells);
    const float s = static_cast<float>(dt / phi.grid().h);
    const bool rk3 = scheme == Advection::semi_lagrangian_rk3;
    const auto u = velocity.view();
    const auto old = std::as_const(phi).view();
    const auto forth = scratch[0]->view();
    const float near_limit = static_cast<float>(near), far_limit = static_cast<float>(far);
    const float h = static_cast<float>(phi.grid().h);
    parallel_for("advect phi", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const float here = old(c);
        if (std::fabs(here) >= far_limit) {
            forth(c) = here;
            return;
        }
        const int closing = here < h ? closing_axis(old, u, air, c) : -1;
        forth(c) = closing < 0 ? sample(old, place.find(old, trace(u, place, c, -s, rk3)))
                               : nearest_of_two(old, u, place.cells, c, closing, s, h);
    });
    Field<D>* result = scratch[0];
    if (scheme == Advection::maccormack) {
        const auto out = scratch[1]->view();
        const View<D, const float> forth_const = forth;
        parallel_for("advect phi back", tiles, [=] TARN_KERNEL(Cell<D> c) {
            const float here = old(c);
            const bool closing = here < h && closing_axis(old, u, air, c) >= 0;
            const bool rough = std::fabs(here) >= near_limit || closing;
            out(c) = rough ? forth_const(c) : maccormack(old, forth_const, u, place, c, s);
        });
        result = scratch[1];
    }
    advect_from_beyond(*result, old, u, tiles, s, rk3, far, ends, sides);
    const auto moved = result->view();
    const auto p = phi.view();
    parallel_for<true>("advect phi copy", tiles, [=] TARN_KERNEL(Cell<D> c) { p(c) = moved(c); });
}

template <int D>
void self_advect(FaceField<D>& velocity, FaceField<D>& next, const Field<D>& phi, const Tiles<D>& tiles, double dt,
                 Advection scheme, Field<D>* const scratch[D], const Sides<D>& sides)
{
    const Cell<D> cells = phi.grid().cells;
    const float h = static_cast<float>(phi.grid().h), s = static_cast<float>(dt / phi.grid().h);
    const FaceView<D, const float> u = std::as_const(velocity).view();
    const auto p = phi.view();
    if (scheme == Advection::maccormack) {
        for_each_axis<D>([&](auto axis) {
            constexpr int a = decltype(axis)::value;
            if (sides.any())
                maccormack_axis<D, a>(next[a], u, p, tiles, s, *scratch[0], sides);
            else
                maccormack_axis<D, a>(next[a], u, p, tiles, s, *scratch[0]);
        });
        velocity.swap(next);
        return;
    }

    // Paths are traced from cell centres; a face starts from between two of them and takes the mean of their paths,
    // second order like the paths themselves, at a third of the cost.
    const bool rk3 = scheme == Advection::semi_lagrangian_rk3;
    const Place<D, -1> centre(cells);
    FaceView<D> path;
    for (int a = 0; a < D; ++a) path.axis[a] = scratch[a]->view();
    const float near = 1.5f * h;  // every cell beside a wet one
    if (sides.any()) {
        parallel_for("trace", tiles, [=] TARN_KERNEL(Cell<D> c) {
            Vec<D, float> d;
            const Vec<D, float> x = centre.position(c);
            if (p(c) < near) d = trace_back_beside_walls(u, sides, c, x, s, rk3) - x;
            for (int a = 0; a < D; ++a) path[a](c) = d[a];
        });
        for_each_axis<D>([&](auto axis) {
            constexpr int a = decltype(axis)::value;
            follow_paths<D, a>(next[a], u, path, p, tiles, sides);
        });
        velocity.swap(next);
        return;
    }
    trace_near(path, u, p, tiles, s, near, rk3, false);
    for_each_axis<D>([&](auto axis) { follow_paths<D, decltype(axis)::value>(next[axis], u, path, p, tiles); });
    velocity.swap(next);
}

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
                double far, CipRoom<D>& room, const Ends<D>& ends, const Sides<D>& sides, const FlowingAir<D>& air,
                const FaceField<D>* path)
{
    if (sides.any()) {
        Field<D>* const scratch[2] = {&room.cross[0], &room.moved_phi};
        advect_beside_walls(phi, velocity, tiles, dt, Advection::semi_lagrangian, 0, far, scratch, ends, sides, air);
        return find_gradient(gradient, phi, -1, tiles);
    }
    const Place<D, -1> place(phi.grid().cells);
    const float h = static_cast<float>(phi.grid().h), s = static_cast<float>(dt / phi.grid().h);
    const Jets<D> jets = prepare_jets(phi, gradient, -1, tiles, s, room);
    const FaceView<D, const float> u = velocity.view();
    const auto old = std::as_const(phi).view();
    const auto moved = room.moved_phi.view();
    const MovePhiCip<D> move{place,
                             jets,
                             path ? path->view() : FaceView<D, const float>{},
                             u,
                             std::as_const(gradient).view(),
                             moved,
                             room.next.view(),
                             s,
                             h,
                             static_cast<float>(far),
                             path != nullptr,
                             air};
    if (on_device())
        parallel_for("advect phi", tiles, [=] TARN_KERNEL(Cell<D> c) { move(c); });
    else
        for_each_row<D, -1>("advect phi", tiles, [&](Cell<D> c, int n) { move.row(c, n); });
    advect_from_beyond(room.moved_phi, old, u, tiles, s, false, far, ends, sides);
    const auto p = phi.view();
    parallel_for<true>("advect phi copy", tiles, [=] TARN_KERNEL(Cell<D> c) { p(c) = moved(c); });
    take_over(gradient, room.next, -1, tiles);
}

template <int D>
void self_advect_cip(FaceField<D>& velocity, Gradient<D> (&gradient)[D], FaceField<D>& next, const Field<D>& phi,
                     const Tiles<D>& tiles, double dt, Field<D>* const scratch[D], CipRoom<D>& room,
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
            find_deformation(room, velocity, tiles);
            from = to;
        }
        for_each_axis<D>([&](auto axis) {
            constexpr int a = decltype(axis)::value;
            const Jets<D> jets = prepare_jets(velocity[a], gradient[a], a, tiles, s, room);
            follow_paths_cip<D, a>(next[a], room.next, jets, from, phi.view(), near, tiles);
            take_over(gradient[a], room.next, a, tiles);
        });
        velocity.swap(next);
    }
    for (int a = 0; a < D; ++a) room.moved[a].copy(velocity[a]);
}

template <int D>
void follow_velocity(Gradient<D> (&gradient)[D], const FaceField<D>& velocity, const CipNear<D>& near,
                     const Tiles<D>& tiles, CipRoom<D>& room)
{
    for (int a = 0; a < D; ++a) follow_change(gradient[a], velocity[a], room.moved[a], a, tiles, near);
}

template void advect(Field<2>&, const FaceField<2>&, const Tiles<2>&, double, Advection, double, double,
                     Field<2>* const[2], const Ends<2>&, const Sides<2>&, const FlowingAir<2>&);
template void advect(Field<3>&, const FaceField<3>&, const Tiles<3>&, double, Advection, double, double,
                     Field<3>* const[2], const Ends<3>&, const Sides<3>&, const FlowingAir<3>&);
#define TARN_INSTANTIATE(D)                                                                                            \
    template void trace_paths(FaceField<D>&, const FaceField<D>&, const Tiles<D>&, double);                            \
    template void retrace_paths(FaceField<D>&, const FaceField<D>&, const Field<D>&, double, const Tiles<D>&, double); \
    template void advect_cip(Field<D>&, Gradient<D>&, const FaceField<D>&, const Tiles<D>&, double, double,            \
                             CipRoom<D>&, const Ends<D>&, const Sides<D>&, const FlowingAir<D>&, const FaceField<D>*); \
    template void self_advect_cip(FaceField<D>&, Gradient<D>(&)[D], FaceField<D>&, const Field<D>&, const Tiles<D>&,   \
                                  double, Field<D>* const[D], CipRoom<D>&, const Sides<D>&, const CipNear<D>&,         \
                                  const FaceField<D>*);                                                                \
    template void follow_velocity(Gradient<D>(&)[D], const FaceField<D>&, const CipNear<D>&, const Tiles<D>&,          \
                                  CipRoom<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE
template void self_advect(FaceField<2>&, FaceField<2>&, const Field<2>&, const Tiles<2>&, double, Advection,
                          Field<2>* const[2], const Sides<2>&);
template void self_advect(FaceField<3>&, FaceField<3>&, const Field<3>&, const Tiles<3>&, double, Advection,
                          Field<3>* const[3], const Sides<3>&);

}  // namespace tarn
