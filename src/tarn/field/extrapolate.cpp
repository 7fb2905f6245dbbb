#include "tarn/field/extrapolate.h"

#include <cmath>
#include <utility>

namespace tarn {

namespace {

// Whether a face of `axis`, by its index, cannot see its neighbour along `a`.
struct NothingHidden {
    TARN_HD bool operator()(int, int, int, bool) const { return false; }
};
template <int D>
struct HiddenBySheets {
    ThinWalls<D> thin_walls;

    TARN_HD bool operator()(int i, int axis, int a, bool up) const
    {
        const int n = thin_walls.on[a].next(a), back = thin_walls.on[axis].next(axis);
        if (thin_walls.on[axis][i] || thin_walls.on[axis][up ? i + n : i - n]) return true;
        return a != axis && thin_walls.beside(i, a, up) && thin_walls.beside(i - back, a, up);
    }
};

// The smaller of two slopes of one sign, else zero.
TARN_HD inline float minmod(float a, float b)
{
    const float size_a = std::fabs(a), size_b = std::fabs(b);
    return a * b > 0 ? (size_a < size_b ? a : b) : 0.0f;
}

template <bool limited, int D, class Hidden>
void extrapolate_seen(Field<D>& u, const Field<D, unsigned char>& known, int axis, const Field<D>& distance,
                      const Tiles<D>& tiles, const Tiles<D>& unknown, int layers, Field<D>& scratch,
                      const Hidden& hidden, const Field<D>* otherwise)
{
    const auto d = distance.view();
    const auto k = known.view();
    const View<D, const float> bound = otherwise ? otherwise->view() : View<D, const float>{};
    const Cell<D> cells = distance.grid().cells;
    const int back = d.next(axis);
    const float little = 1e-3f * static_cast<float>(distance.grid().h);

    // Unknown values are `outside` until a layer reaches them. Each layer reads one field and writes the other.
    View<D> from = u.view(), to = scratch.view();
    parallel_for_faces<true>("extrapolate mark", tiles, axis, [=] TARN_KERNEL(Cell<D> c) {
        const int i = k.index(c);
        const float v = from[i], marked = k[i] ? v : outside;
        from[i] = marked;
        to[i] = marked;
    });
    for (int layer = 0; layer < layers; ++layer) {
        parallel_for_faces<true>("extrapolate", unknown, axis, [=] TARN_KERNEL(Cell<D> c) {
            const int i = from.index(c);
            // nvcc captures nothing that is first named under `if constexpr`.
            [[maybe_unused]] const auto limit = bound;
            [[maybe_unused]] const Cell<D> last = cells;
            const float here = d[i] + d[i - back];
            float sum = 0, weight = 0;
            TARN_UNROLL
            for (int a = 0; a < D; ++a) TARN_UNROLL
            for (int side = -1; side <= 1; side += 2) {
                const int j = i + side * from.next(a);
                const float v = from[j], upper = d[j], lower = d[j - back];
                // Neighbours no nearer to the water count a little, so that a ridge of the distance is crossed too;
                // faces not yet reached, and those beyond the grid's ends, not at all.
                const float nearer = 0.5f * (here - (upper + lower));
                const float strength = nearer > little ? nearer : little;
                const bool nothing =
                    is_outside(v) | is_outside(upper < lower ? upper : lower) | hidden(i, axis, a, side > 0);
                float there = v;
                if constexpr (limited) {
                    // On with the slope so far, but not past what is there. Beyond the grid's ends there is none.
                    const bool there_is = side < 0 ? c[a] > 1 : c[a] + 2 < last[a] + (a == axis ? 1 : 0);
                    const float before = from[there_is ? j + side * from.next(a) : j], slope = v - before;
                    there += is_outside(before) ? 0.0f : minmod(slope, limit[i] - v);
                }
                weight += nothing ? 0.0f : strength;
                sum += nothing ? 0.0f : strength * there;
            }
            const float old = from[i], mean = sum / (weight > 0 ? weight : 1.0f);
            const float reached = weight > 0 ? mean : outside;
            to[i] = is_outside(old) ? reached : old;
        });
        std::swap(from, to);
    }
    const auto v = u.view();
    if (otherwise) {
        const auto rest = otherwise->view();
        return parallel_for_faces<true>("extrapolate rest", unknown, axis, [=] TARN_KERNEL(Cell<D> c) {
            const int i = v.index(c);
            const float reached = from[i], old = rest[i];
            v[i] = is_outside(reached) ? old : reached;
        });
    }
    parallel_for_faces<true>("extrapolate rest", unknown, axis, [=] TARN_KERNEL(Cell<D> c) {
        const int i = v.index(c);
        const float reached = from[i];
        v[i] = is_outside(reached) ? 0.0f : reached;
    });
}

}  // namespace

template <int D>
void extrapolate(Field<D>& u, const Field<D, unsigned char>& known, int axis, const Field<D>& distance,
                 const Tiles<D>& tiles, const Tiles<D>& unknown, int layers, Field<D>& scratch, const ThinWalls<D>& thin_walls,
                 const Field<D>* otherwise)
{
    if (thin_walls.any())
        extrapolate_seen<false>(u, known, axis, distance, tiles, unknown, layers, scratch, HiddenBySheets<D>{thin_walls},
                         otherwise);
    else if (otherwise)
        extrapolate_seen<true>(u, known, axis, distance, tiles, unknown, layers, scratch, NothingHidden{}, otherwise);
    else
        extrapolate_seen<false>(u, known, axis, distance, tiles, unknown, layers, scratch, NothingHidden{}, otherwise);
}

template void extrapolate(Field<2>&, const Field<2, unsigned char>&, int, const Field<2>&, const Tiles<2>&,
                          const Tiles<2>&, int, Field<2>&, const ThinWalls<2>&, const Field<2>*);
template void extrapolate(Field<3>&, const Field<3, unsigned char>&, int, const Field<3>&, const Tiles<3>&,
                          const Tiles<3>&, int, Field<3>&, const ThinWalls<3>&, const Field<3>*);

}  // namespace tarn
