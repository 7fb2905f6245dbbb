#pragma once
// Gauss-Seidel sweeps on the pressure's system, the cells of one colour of a chess board after those of the other, and
// its diagonal: what every multigrid does on its finest level.

#include "tarn/pressure/poisson.h"

namespace tarn {

// x = (b + sum w x_neighbour) / diagonal.
template <bool uniform, int D>
TARN_HD inline float relaxed(const View<D, const float>& x, const View<D, const float>& b,
                             const FaceView<D, const float>& w, const View<D, const float>& inverse, int i)
{
    return inverse[i] * (b[i] + sum_neighbours<uniform>(x, w, i));
}

// The first sweep, from zero: the first colour has no neighbours that count, the second has those.
template <bool uniform, int D>
TARN_HD inline float swept_from_zero(const View<D, const float>& b, const FaceView<D, const float>& w,
                                     const View<D, const float>& inverse, Cell<D> c)
{
    const int i = b.index(c);
    float sum = 0;
    TARN_UNROLL
    for (int a = 0; a < D; ++a) {
        const int n = b.next(a);
        const float lower = inverse[i - n] * b[i - n], upper = inverse[i + n] * b[i + n];
        if constexpr (uniform)
            sum += lower + upper;
        else
            sum += w[a][i] * lower + w[a][i + n] * upper;
    }
    return inverse[i] * (colour(c) == 0 ? b[i] : b[i] + sum);
}

// One colour of a Gauss-Seidel sweep.
template <bool uniform = false, int D>
void relax(Field<D>& x, const Field<D>& b, const FaceField<D>& w, const Field<D>& inverse, const Tiles<D>& tiles,
           int which)
{
    const auto xv = x.view();
    const View<D, const float> xc = xv;
    const auto bv = b.view(), iv = inverse.view();
    const auto wv = w.view();
    parallel_for_colour("smooth", tiles, which, xv,
                        [=] TARN_KERNEL(Cell<D> c) { return relaxed<uniform>(xc, bv, wv, iv, bv.index(c)); });
}

// relax_last for processors. A row is written when all of it is known, as parallel_for_colour does.
template <bool uniform, int D>
void relax_last_by_rows(const View<D>& x, const View<D, const float>& b, const FaceView<D, const float>& w,
                        const View<D, const float>& inverse, const Tiles<D>& tiles, double* dot)
{
    const View<D, const float> xc = x;
    std::vector<double> partial(tiles.boxes.size());
    backend::blocks("smooth last", static_cast<int>(tiles.boxes.size()), tiles.cells(), [&](int n) {
        backend::Lanes<double> sums;
        double products[tile_size * longest_run + backend::lanes] = {};
        backend::each_row_at<true, float>(
            tiles.boxes[static_cast<size_t>(n)],
            [=](Cell<D> c) { return relaxed<uniform>(xc, b, w, inverse, b.index(c)); },
            [&](const float* row, int length, Cell<D> first) {
                float* const to = &x(first);
                const float* const right = &b(first);
                backend::take_colour(to, row, length, colour(first));
                for (int i = 0; i < length; ++i) products[i] = static_cast<double>(to[i]) * right[i];
                sums.add(products, length);
            });
        partial[static_cast<size_t>(n)] = sums.total();
    });
    *dot = 0;
    for (const double sum : partial) *dot += sum;
}

// The last colour of a V-cycle, and with it b . x.
template <bool uniform, int D>
void relax_last(Field<D>& x, const Field<D>& b, const FaceField<D>& w, const Field<D>& inverse, const Tiles<D>& tiles,
                double* dot)
{
    const auto xv = x.view();
    const View<D, const float> xc = xv;
    const auto bv = b.view(), iv = inverse.view();
    const auto wv = w.view();
    if (!on_device()) {
        relax_last_by_rows<uniform>(xv, bv, wv, iv, tiles, dot);
        return;
    }
    parallel_sum_to<true>(dot, "smooth last", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = bv.index(c);
        const float old = xc[i], relaxed_now = relaxed<uniform>(xc, bv, wv, iv, i);
        const float now = colour(c) == 0 ? relaxed_now : old;
        xv[i] = now;
        return static_cast<double>(now) * bv[i];
    });
}

template <bool uniform = false, int D>
void sweep_from_zero(Field<D>& x, const Field<D>& b, const FaceField<D>& w, const Field<D>& inverse,
                     const Tiles<D>& tiles)
{
    const auto xv = x.view();
    const auto bv = b.view(), iv = inverse.view();
    const auto wv = w.view();
    parallel_for<true>("smooth first", tiles,
                       [=] TARN_KERNEL(Cell<D> c) { xv(c) = swept_from_zero<uniform>(bv, wv, iv, c); });
}

template <int D>
void invert_diagonal(Field<D>& inverse, const Field<D>& dirichlet, const FaceField<D>& w, const Tiles<D>& tiles)
{
    const auto iv = inverse.view();
    const auto ev = dirichlet.view();
    const auto wv = w.view();
    parallel_for<true>("multigrid build", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = ev.index(c);
        const float diagonal = ev[i] + sum_faces(wv, i), inverse = 1 / (diagonal > 0 ? diagonal : 1.0f);
        iv[i] = diagonal > 0 ? inverse : 0.0f;
    });
}

// Tiles that water has left hold no unknowns any more.
template <int D>
void clear_left(Field<D>& inverse, const TileMap<D>& before, const TileMap<D>& now)
{
    TileMap<D> left = now;
    for (size_t i = 0; i < left.flags.size(); ++i)
        left.flags[i] = i < before.flags.size() && (before.flags[i] & 1) && !(now.flags[i] & 1);
    const auto iv = inverse.view();
    parallel_for<true>("multigrid build", select(left, 1), [=] TARN_KERNEL(Cell<D> c) { iv(c) = 0; });
}

}  // namespace tarn
