#include "tarn/field/extrapolate.h"

namespace tarn {

namespace {

// Distance at a face: the mean of its two cells, or the one that exists.
template <int D>
TARN_HD inline float at_face(const View<D, const float>& f, Cell<D> cells, Cell<D> c, int axis)
{
    const int i = f.index(c), n = f.next(axis);
    if (c[axis] == 0) return f[i];
    if (c[axis] == cells[axis]) return f[i - n];
    return 0.5f * (f[i] + f[i - n]);
}

}  // namespace

template <int D>
void extrapolate(Field<D>& u, Field<D, unsigned char>& known, int axis, const Field<D>& distance, const Tiles<D>& tiles,
                 int layers)
{
    const Cell<D> cells = distance.grid().cells;
    Cell<D> last = cells;
    for (int a = 0; a < D; ++a)
        if (a != axis) --last[a];
    const auto v = u.view();
    const auto k = known.view();
    const auto d = distance.view();
    const float little = 1e-3f * static_cast<float>(distance.grid().h);

    for (int layer = 1; layer <= layers; ++layer) {
        // This layer reads faces of earlier ones only, so that the order of cells does not matter.
        const unsigned char mine = static_cast<unsigned char>(layer + 1);
        parallel_for_faces("extrapolate", tiles, axis, [=](Cell<D> c) {
            const int i = k.index(c);
            if (k[i]) return;
            const float here = at_face<D>(d, cells, c, axis);
            float sum = 0, weight = 0;
            for (int a = 0; a < D; ++a)
                for (int side = -1; side <= 1; side += 2) {
                    const int p = c[a] + side;
                    if (p < 0 || p > last[a]) continue;
                    const int j = i + side * k.next(a);
                    if (k[j] == 0 || k[j] >= mine) continue;
                    Cell<D> n = c;
                    n[a] = p;
                    // Neighbours no nearer to the water count a little, so that a ridge of the distance is crossed too.
                    const float nearer = here - at_face<D>(d, cells, n, axis);
                    const float w = nearer > little ? nearer : little;
                    sum += w * v[j];
                    weight += w;
                }
            if (weight > 0) {
                v[i] = sum / weight;
                k[i] = mine;
            }
        });
    }
    parallel_for_faces("extrapolate rest", tiles, axis, [=](Cell<D> c) {
        if (!k(c)) v(c) = 0;
    });
}

template void extrapolate(Field<2>&, Field<2, unsigned char>&, int, const Field<2>&, const Tiles<2>&, int);
template void extrapolate(Field<3>&, Field<3, unsigned char>&, int, const Field<3>&, const Tiles<3>&, int);

}  // namespace tarn
