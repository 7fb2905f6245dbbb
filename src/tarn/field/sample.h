#pragma once
// Values between grid points, by multilinear interpolation. Positions are in cells: a cell's centre has its integer
// index. Beyond the outermost values a field continues as it is there.

#include "tarn/field/field.h"

namespace tarn {

// Where a position falls among a field's values: the lower corner and the weights of the upper ones.
template <int D>
struct Lattice {
    int index = 0;
    float w[D];
};

TARN_HD inline float clamp(float x, float lo, float hi) { return x < lo ? lo : (x > hi ? hi : x); }

// `last`: index of the field's last value along each axis.
template <int D, class T>
TARN_HD inline Lattice<D> locate(const View<D, T>& f, Vec<D, float> x, Cell<D> last)
{
    Lattice<D> l;
    for (int a = 0; a < D; ++a) {
        const float p = clamp(x[a], 0.0f, static_cast<float>(last[a]));
        int i = static_cast<int>(p);
        i = i < last[a] ? i : (last[a] > 0 ? last[a] - 1 : 0);
        l.w[a] = p - static_cast<float>(i);
        l.index += f.next(a) * i;
    }
    return l;
}

template <class T>
TARN_HD inline float sample(const View<2, T>& f, const Lattice<2>& l)
{
    const float* p = f.data + l.index;
    const int sy = f.stride[1];
    const float a = p[0] + l.w[0] * (p[1] - p[0]);
    const float b = p[sy] + l.w[0] * (p[sy + 1] - p[sy]);
    return a + l.w[1] * (b - a);
}
template <class T>
TARN_HD inline float sample(const View<3, T>& f, const Lattice<3>& l)
{
    const float* p = f.data + l.index;
    const int sy = f.stride[1], sz = f.stride[2];
    const float a = p[0] + l.w[0] * (p[1] - p[0]);
    const float b = p[sy] + l.w[0] * (p[sy + 1] - p[sy]);
    const float c = p[sz] + l.w[0] * (p[sz + 1] - p[sz]);
    const float d = p[sz + sy] + l.w[0] * (p[sz + sy + 1] - p[sz + sy]);
    const float e = a + l.w[1] * (b - a);
    const float g = c + l.w[1] * (d - c);
    return e + l.w[2] * (g - e);
}

// A cell-centred field at a position.
template <int D, class T>
TARN_HD inline float sample_cells(const View<D, T>& f, Cell<D> cells, Vec<D, float> x)
{
    Cell<D> last = cells;
    for (int a = 0; a < D; ++a) --last[a];
    return sample(f, locate(f, x, last));
}

// A face-centred component at a position.
template <int D, class T>
TARN_HD inline float sample_faces(const View<D, T>& f, Cell<D> cells, int axis, Vec<D, float> x)
{
    Cell<D> last = cells;
    for (int a = 0; a < D; ++a)
        if (a != axis) --last[a];
    x[axis] += 0.5f;
    return sample(f, locate(f, x, last));
}

// The velocity at a position.
template <int D, class T>
TARN_HD inline Vec<D, float> sample_velocity(const FaceView<D, T>& u, Cell<D> cells, Vec<D, float> x)
{
    Vec<D, float> v;
    for (int a = 0; a < D; ++a) v[a] = sample_faces(u[a], cells, a, x);
    return v;
}

// The velocity at a cell's centre: the mean of its two faces along each axis.
template <int D, class T>
TARN_HD inline Vec<D, float> velocity_at_cell(const FaceView<D, T>& u, Cell<D> c)
{
    Vec<D, float> v;
    for (int a = 0; a < D; ++a) {
        const int i = u[a].index(c);
        v[a] = 0.5f * (u[a][i] + u[a][i + u[a].next(a)]);
    }
    return v;
}

}  // namespace tarn
