#include "tarn/advect/advect.h"

#include <algorithm>

#include "tarn/advect/beside_water.h"
#include "tarn/advect/beyond.h"
#include "tarn/advect/weno.h"
#include "tarn/base/axes.h"

namespace tarn {

namespace {

template <int D, int axis>
TARN_HD inline float maccormack(const View<D, const float>& old, const View<D, const float>& forth,
                                const FaceView<D, const float>& u, const Place<D, axis>& place, Cell<D> c, float s)
{
    // e = (old - back(forth)) / 2 is the error of one trip; the path forth starts at x.
    const float back = sample(forth, place.find(forth, trace(u, place, c, s, false)));
    const float corrected = forth(c) + 0.5f * (old(c) - back);
    float lo, hi;
    const Vec<D, float> from = trace(u, place, c, -s, false);
    // A distance from beyond the grid has no values around it to be limited to.
    if constexpr (axis < 0)
        if (!place.inside(from)) return forth(c);
    extremes(old, place.find(old, from).index, lo, hi);
    return clamp(corrected, lo, hi);
}

// The axis along which a gap closes at a cell where it and what comes into it are in the clear, or -1.
template <int D>
TARN_HD inline int near_contact_beside_walls(const View<D, const float>& phi, const FaceView<D, const float>& u,
                                        const Sides<D>& sides, const NearContactAir<D>& air, Cell<D> c, float s)
{
    const int i = phi.index(c);
    if (sides.before.around(i) || sides.after.around(i)) return -1;
    const int axis = near_contact_axis(phi, u, air, c);
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

// The same beside thin walls. A face with a thin wall at the end of the step gets its wall's velocity later.
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
                         const Sides<D>& sides, const NearContactAir<D>& air)
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
        const int contact = here < h ? near_contact_beside_walls(old, u, sides, air, c, s) : -1;
        forth(c) = contact < 0 ? sample_one_side(old, sides.before,
                                                 trace_back_beside_walls(u, sides, c, place.position(c), s, rk3))
                               : nearest_of_two(old, u, place.cells, c, contact, s, h);
    });
    const View<D, const float> forth_const = forth;
    const bool correct = scheme == Advection::maccormack;
    parallel_for("advect phi back", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const float here = old(c);
        const bool corrected = correct && std::fabs(here) < near_limit && sides.origin(c) == c &&
                               !(here < h && near_contact_beside_walls(old, u, sides, air, c, s) >= 0);
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
            const NearContactAir<D>& air)
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
        const int contact = here < h ? near_contact_axis(old, u, air, c) : -1;
        forth(c) = contact < 0 ? sample(old, place.find(old, trace(u, place, c, -s, rk3)))
                               : nearest_of_two(old, u, place.cells, c, contact, s, h);
    });
    Field<D>* result = scratch[0];
    if (scheme == Advection::maccormack) {
        const auto out = scratch[1]->view();
        const View<D, const float> forth_const = forth;
        parallel_for("advect phi back", tiles, [=] TARN_KERNEL(Cell<D> c) {
            const float here = old(c);
            const bool contact = here < h && near_contact_axis(old, u, air, c) >= 0;
            const bool rough = std::fabs(here) >= near_limit || contact;
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

template void advect(Field<2>&, const FaceField<2>&, const Tiles<2>&, double, Advection, double, double,
                     Field<2>* const[2], const Ends<2>&, const Sides<2>&, const NearContactAir<2>&);
template void advect(Field<3>&, const FaceField<3>&, const Tiles<3>&, double, Advection, double, double,
                     Field<3>* const[2], const Ends<3>&, const Sides<3>&, const NearContactAir<3>&);
template void self_advect(FaceField<2>&, FaceField<2>&, const Field<2>&, const Tiles<2>&, double, Advection,
                          Field<2>* const[2], const Sides<2>&);
template void self_advect(FaceField<3>&, FaceField<3>&, const Field<3>&, const Tiles<3>&, double, Advection,
                          Field<3>* const[3], const Sides<3>&);

}  // namespace tarn
