#pragma once
// What is sampled, and where its values sit: cell centres (axis -1), or the faces of an axis. The axis is a constant,
// so that positions stay in registers.

#include "tarn/advect/trace.h"

namespace tarn {

template <int D, int axis>
struct Place {
    Cell<D> last;  // index of the last value along each axis
    Cell<D> cells;

    explicit Place(Cell<D> n) : last(n), cells(n)
    {
        for (int a = 0; a < D; ++a)
            if (a != axis) --last[a];
    }
    TARN_HD bool inside(Vec<D, float> x) const
    {
        bool in = true;
        for (int a = 0; a < D; ++a) in = in && x[a] >= 0 && x[a] <= static_cast<float>(last[a]);
        return in;
    }
    TARN_HD Vec<D, float> position(Cell<D> c) const
    {
        Vec<D, float> x = c.template as<float>();
        if constexpr (axis >= 0) x[axis] -= 0.5f;
        return x;
    }
    template <class T>
    TARN_HD Lattice<D> find(const View<D, T>& f, Vec<D, float> x) const
    {
        if constexpr (axis >= 0) x[axis] += 0.5f;
        return locate(f, x, last);
    }
    template <class T>
    TARN_HD Vec<D, float> velocity(const FaceView<D, T>& u, Cell<D> c) const
    {
        if constexpr (axis < 0)
            return velocity_at_cell(u, c);
        else
            return velocity_at_face(u, cells, c, axis);
    }
};

// Inlined wherever it is called: the busiest loops do little else.
template <int D, int axis>
[[gnu::always_inline]] TARN_HD inline Vec<D, float> trace(const FaceView<D, const float>& u,
                                                          const Place<D, axis>& place, Cell<D> c, float s, bool rk3)
{
    return trace_path(u, place.cells, place.position(c), place.velocity(u, c), s, rk3);
}

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

}  // namespace tarn
