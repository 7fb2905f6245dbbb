#include "tarn/advect/cip.h"

#include <type_traits>
#include <utility>

#include "tarn/advect/place.h"
#include "tarn/base/axes.h"

namespace tarn {

namespace {

// Calls f with where values sit as a constant.
template <int D, class F>
void with_axis(int axis, const F& f)
{
    if (axis == 0) return f(std::integral_constant<int, 0>{});
    if (axis == 1) return f(std::integral_constant<int, 1>{});
    if constexpr (D == 3)
        if (axis == 2) return f(std::integral_constant<int, 2>{});
    f(std::integral_constant<int, -1>{});
}

template <int axis, int D, class F>
void for_each_value(const char* name, const Tiles<D>& tiles, const F& f)
{
    if constexpr (axis < 0)
        parallel_for<true>(name, tiles, f);
    else
        parallel_for_faces<true>(name, tiles, axis, f);
}

// Half the difference between a value's neighbours along an axis; at the grid's ends from one side. Where the value
// sits is told by numbers: with truths GCC would not do many at once.
template <int D>
TARN_HD inline float difference(const View<D, const float>& f, Cell<D> last, Cell<D> c, int i, int axis)
{
    const int n = f.next(axis);
    const float low = c[axis] > 0 ? 1.0f : 0.0f, high = c[axis] < last[axis] ? 1.0f : 0.0f;
    const float above = f[i + n], below = f[i - n], own = f[i];
    return (1 - 0.5f * low * high) * (high * (above - own) + low * (own - below));
}

// The derivative along both axes, from both first ones.
template <int D>
TARN_HD inline float second(const FaceView<D, const float>& g, Cell<D> last, Cell<D> c, int i, int a, int b)
{
    return 0.5f * (difference<D>(g[a], last, c, i, b) + difference<D>(g[b], last, c, i, a));
}

template <int D>
struct Deformation {
    View<D, const float> of[D * D];

    explicit Deformation(const CipWorkspace<D>& workspace)
    {
        for (int n = 0; n < D * D; ++n) of[n] = workspace.deformation[n].view();
    }
};

// -u_xi . grad phi for a step of s, at one place: a cell, or the face between it and the one n before it, of which the
// grid may have only one: `first` and `last`, which are numbers, tell.
template <int axis, int D>
TARN_HD inline void shear(const FaceView<D>& g, const Deformation<D>& du, int at, int n, float first, float last,
                          float s)
{
    Vec<D, float> old, change;
    TARN_UNROLL
    for (int b = 0; b < D; ++b) old[b] = g[b][at];
    const float of_upper = 0.5f * s * (1 - last + first), of_lower = 0.5f * s * (1 - first + last);
    float most = 0;
    TARN_UNROLL
    for (int xi = 0; xi < D; ++xi) {
        float sum = 0, dot = 0;
        TARN_UNROLL
        for (int b = 0; b < D; ++b) {
            const auto& d = du.of[D * xi + b];
            const float upper = d[at], lower = d[at - n];
            const float here = axis < 0 ? s * upper : of_upper * upper + of_lower * lower;
            sum += std::fabs(here);
            dot += here * old[b];
        }
        most = sum > most ? sum : most;
        change[xi] = dot;
    }
    const float share = 1 / (most > 1 ? most : 1.0f);
    TARN_UNROLL
    for (int xi = 0; xi < D; ++xi) g[xi][at] = old[xi] - share * change[xi];
}

template <int axis>
void find_cross(const FaceView<2, const float>& g, const Tiles<2>& tiles, CipWorkspace<2>& workspace)
{
    const Cell<2> last = Place<2, axis>(tiles.grid.cells).last;
    const auto xy = workspace.cross[0].view();
    for_each_value<axis>("cip cross", tiles, [=] TARN_KERNEL(Cell<2> c) {
        const int i = xy.index(c);
        xy[i] = second<2>(g, last, c, i, 0, 1);
    });
}
template <int axis>
void find_cross(const FaceView<3, const float>& g, const Tiles<3>& tiles, CipWorkspace<3>& workspace)
{
    const Cell<3> last = Place<3, axis>(tiles.grid.cells).last;
    const auto xy = workspace.cross[0].view(), xz = workspace.cross[1].view(), yz = workspace.cross[2].view();
    const auto xyz = workspace.cross[3].view();
    for_each_value<axis>("cip cross", tiles, [=] TARN_KERNEL(Cell<3> c) {
        const int i = xy.index(c);
        xy[i] = second<3>(g, last, c, i, 0, 1);
        xz[i] = second<3>(g, last, c, i, 0, 2);
        yz[i] = second<3>(g, last, c, i, 1, 2);
        // The second difference of one of them.
        const int ny = xy.next(1), low = c[1] > 0 ? i - ny : i, high = c[1] < last[1] ? i + ny : i;
        const float d = difference<3>(g[2], last, c, high, 0) - difference<3>(g[2], last, c, low, 0);
        xyz[i] = (high - low == 2 * ny ? 0.5f : 1.0f) * d;
    });
}

template <int axis, int D>
void prepare(Gradient<D>& gradient, const Tiles<D>& tiles, float s, CipWorkspace<D>& workspace)
{
    const auto g = gradient.view();
    const Deformation<D> du(workspace);
    const int last = axis < 0 ? 0 : tiles.grid.cells[axis < 0 ? 0 : axis];
    for_each_value<axis>("cip shear", tiles, [=] TARN_KERNEL(Cell<D> c) {
        constexpr int a = axis < 0 ? 0 : axis;
        shear<axis, D>(g, du, g[0].index(c), axis < 0 ? 0 : g[0].next(a), c[a] == 0 ? 1.0f : 0.0f,
                       c[a] == last ? 1.0f : 0.0f, s);
    });
    find_cross<axis>(std::as_const(gradient).view(), tiles, workspace);
}

// One where a face and its neighbours are all near, each beside a cell whose phi is less than the limit; else zero. A
// number, as processors do many of these at once, but not many truths.
template <int axis, int D>
TARN_HD inline float all_near(const View<D, const float>& phi, float limit, int i)
{
    const int n = phi.next(axis < 0 ? 0 : axis);
    const auto near = [&](int at) {
        const float above = phi[at], below = phi[at - n], nearer = above < below ? above : below;
        return nearer < limit ? 1.0f : 0.0f;
    };
    float all = near(i);
    TARN_UNROLL
    for (int b = 0; b < D; ++b) all *= near(i - phi.next(b)) * near(i + phi.next(b));
    return all;
}

template <int axis, int D>
void follow(Gradient<D>& gradient, const Field<D>& values, const Field<D>& moved, const Tiles<D>& tiles)
{
    const Cell<D> last = Place<D, axis>(tiles.grid.cells).last;
    const auto g = gradient.view();
    const auto now = values.view(), before = moved.view();
    for_each_value<axis>("cip follow", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = now.index(c);
        TARN_UNROLL
        for (int b = 0; b < D; ++b) g[b][i] += difference<D>(now, last, c, i, b) - difference<D>(before, last, c, i, b);
    });
}
template <int axis, int D>
void follow_near(Gradient<D>& gradient, const Field<D>& values, const Field<D>& moved, const Tiles<D>& tiles,
                 const CipNear<D>& near)
{
    const Cell<D> last = Place<D, axis>(tiles.grid.cells).last;
    const auto g = gradient.view();
    const auto now = values.view(), before = moved.view(), phi = near.phi->view();
    const float limit = static_cast<float>(near.limit);
    for_each_value<axis>("cip follow", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = now.index(c);
        const float share = all_near<axis>(phi, limit, i);
        TARN_UNROLL
        for (int b = 0; b < D; ++b)
            g[b][i] = difference<D>(now, last, c, i, b) + share * (g[b][i] - difference<D>(before, last, c, i, b));
    });
}

template <int axis, int D>
void find(Gradient<D>& gradient, const Field<D>& values, const Tiles<D>& tiles)
{
    const Cell<D> last = Place<D, axis>(tiles.grid.cells).last;
    const auto g = gradient.view();
    const auto now = values.view();
    for_each_value<axis>("cip gradient", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = now.index(c);
        TARN_UNROLL
        for (int b = 0; b < D; ++b) g[b][i] = difference<D>(now, last, c, i, b);
    });
}

// How a component of velocity, on faces along `b`, changes from cell to cell along xi.
template <int D, int xi>
void find_slope(Field<D>& slope, const Field<D>& component, int b, const Tiles<D>& tiles)
{
    const auto d = slope.view();
    const auto u = component.view();
    const int n = d.next(xi), m = d.next(b), last = tiles.grid.cells[xi] - 1;
    if (xi == b)
        parallel_for<true>("deformation", tiles, [=] TARN_KERNEL(Cell<D> c) {
            const int i = d.index(c);
            d[i] = u[i + m] - u[i];
        });
    else
        parallel_for<true>("deformation", tiles, [=] TARN_KERNEL(Cell<D> c) {
            const int i = d.index(c);
            const float low = c[xi] > 0 ? 1.0f : 0.0f, high = c[xi] < last ? 1.0f : 0.0f;
            const float own = u[i] + u[i + m], up = u[i + n] + u[i + n + m], down = u[i - n] + u[i - n + m];
            d[i] = (0.5f - 0.25f * low * high) * (high * (up - own) + low * (own - down));
        });
}

}  // namespace

template <int D>
void find_deformation(CipWorkspace<D>& workspace, const FaceField<D>& velocity, const Tiles<D>& tiles)
{
    // What lies outside the tiles must not depend on what the workspace was used for before.
    if (tiles.cells() != tiles.grid.count())
        for (auto& f : workspace.deformation) f.fill(0);
    for_each_axis<D>([&](auto xi) {
        for (int b = 0; b < D; ++b)
            find_slope<D, decltype(xi)::value>(workspace.deformation[D * xi + b], velocity[b], b, tiles);
    });
}

template <int D>
Jets<D> prepare_jets(const Field<D>& values, Gradient<D>& gradient, int axis, const Tiles<D>& tiles, double s,
                     CipWorkspace<D>& workspace)
{
    // What lies outside the tiles must not depend on what the workspace was used for before.
    if (tiles.cells() != values.grid().count())
        for (auto& f : workspace.cross) f.fill(0);
    with_axis<D>(axis,
                 [&](auto where) { prepare<decltype(where)::value>(gradient, tiles, static_cast<float>(s), workspace); });
    constexpr int crossed[] = {3, 5, 6, 7};  // xy, xz, yz, xyz
    Jets<D> jets;
    jets.rational = axis < 0 ? workspace.rational_phi : workspace.rational_velocity;
    jets.of[0] = values.view();
    for (int a = 0; a < D; ++a) jets.of[1 << a] = std::as_const(gradient.along[a]).view();
    for (int n = 0; n < CipWorkspace<D>::crosses; ++n) jets.of[crossed[n]] = std::as_const(workspace.cross[n]).view();
    return jets;
}

template <int D>
void follow_change(Gradient<D>& gradient, const Field<D>& values, const Field<D>& moved, int axis,
                   const Tiles<D>& tiles, const CipNear<D>& near)
{
    with_axis<D>(axis, [&](auto where) {
        if (near.phi)
            follow_near<decltype(where)::value>(gradient, values, moved, tiles, near);
        else
            follow<decltype(where)::value>(gradient, values, moved, tiles);
    });
}

// follow_extension for values on the faces of an axis, or at cells.
template <int at, int D>
void follow_extension_at(Gradient<D>& gradient, const Field<D>& values, const Field<D>& moved,
                         const Field<D, uint8_t>& own, const Tiles<D>& tiles)
{
    const Cell<D> last = Place<D, at>(tiles.grid.cells).last;
    const auto g = gradient.view();
    const auto now = values.view(), before = moved.view();
    const auto kept = own.view();
    for_each_value<at>("cip follow", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = now.index(c);
        const float share = kept[i] ? 1.0f : 0.0f;
        TARN_UNROLL
        for (int b = 0; b < D; ++b)
            g[b][i] = difference<D>(now, last, c, i, b) + share * (g[b][i] - difference<D>(before, last, c, i, b));
    });
}

template <int D>
void follow_extension(Gradient<D>& gradient, const Field<D>& values, const Field<D>& moved,
                      const Field<D, uint8_t>& own, int axis, const Tiles<D>& tiles)
{
    with_axis<D>(axis, [&](auto where) {
        follow_extension_at<decltype(where)::value>(gradient, values, moved, own, tiles);
    });
}

template <int D>
void find_gradient(Gradient<D>& gradient, const Field<D>& values, int axis, const Tiles<D>& tiles)
{
    with_axis<D>(axis, [&](auto where) { find<decltype(where)::value>(gradient, values, tiles); });
}

#define TARN_INSTANTIATE(D)                                                                                  \
    template void find_deformation(CipWorkspace<D>&, const FaceField<D>&, const Tiles<D>&);                       \
    template Jets<D> prepare_jets(const Field<D>&, Gradient<D>&, int, const Tiles<D>&, double, CipWorkspace<D>&); \
    template void follow_change(Gradient<D>&, const Field<D>&, const Field<D>&, int, const Tiles<D>&,        \
                                const CipNear<D>&);                                                          \
    template void follow_extension(Gradient<D>&, const Field<D>&, const Field<D>&, const Field<D, uint8_t>&, int, \
                                   const Tiles<D>&);                                                            \
    template void find_gradient(Gradient<D>&, const Field<D>&, int, const Tiles<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
