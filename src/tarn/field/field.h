#pragma once
// Values on a grid. A Field owns memory; a View is what kernels capture: a pointer and the grid's strides.

#include <utility>

#include "tarn/backend/memory.h"
#include "tarn/grid/grid.h"

namespace tarn {

template <int D, class T = float>
struct View {
    T* data = nullptr;  // at cell 0
    Cell<D> stride;

    TARN_HD int index(Cell<D> c) const
    {
        int i = c[0];
        for (int a = 1; a < D; ++a) i += c[a] * stride[a];
        return i;
    }
    // What to add to an index for the next element along an axis; a constant along x, which lets loops vectorise.
    TARN_HD int next(int axis) const { return axis == 0 ? 1 : stride[axis]; }
    TARN_HD T& operator()(Cell<D> c) const { return data[index(c)]; }
    TARN_HD T& operator[](int i) const { return data[i]; }
    TARN_HD operator View<D, const T>() const { return {data, stride}; }
};

template <int D, class T = float>
class Field {
public:
    Field() = default;
    explicit Field(const Grid<D>& g, Where where = Where::kernels)
        : grid_(g), memory_(static_cast<size_t>(g.storage() + 2 * g.stride[D - 1]), where)
    {
    }

    const Grid<D>& grid() const { return grid_; }
    View<D, T> view() { return {data() + grid_.origin, grid_.stride}; }
    View<D, const T> view() const { return {data() + grid_.origin, grid_.stride}; }
    // On a GPU, for kernels alone.
    T& operator()(Cell<D> c) { return view()(c); }
    const T& operator()(Cell<D> c) const { return view()(c); }

    // The whole storage, padding included: for checkpoints and fills.
    T* data() { return memory_.data() + grid_.stride[D - 1]; }
    const T* data() const { return memory_.data() + grid_.stride[D - 1]; }
    size_t size() const { return memory_.size() ? static_cast<size_t>(grid_.storage()) : 0; }
    Where where() const { return memory_.where(); }
    void fill(T value) { backend::fill(data(), value, size()); }
    void copy(const Field& from)
    {
        const bool in_order = where() == Where::kernels && from.where() == Where::kernels;
        (in_order ? backend::copy_in_order : backend::copy)(data(), from.data(), size() * sizeof(T));
    }
    void swap(Field& other)
    {
        std::swap(grid_, other.grid_);
        memory_.swap(other.memory_);
    }

private:
    Grid<D> grid_;
    Memory<T> memory_;  // with a layer more at either end, so that stencils two cells wide may read past the padding
};

// A distance's padding holds this, so that stencils see the grid's end without asking where they are.
inline constexpr float outside = 1e30f;
TARN_HD inline bool is_outside(float v) { return v > 1e29f; }

// A cell field of one value, its padding `outside`.
template <int D>
Field<D> distance_field(const Grid<D>& grid, float value);

// One value per face: a component of velocity, say, on the faces of each axis.
template <int D, class T = float>
struct FaceView {
    View<D, T> axis[D];

    TARN_HD View<D, T> operator[](int a) const { return axis[a]; }
    TARN_HD operator FaceView<D, const T>() const
    {
        FaceView<D, const T> r;
        for (int a = 0; a < D; ++a) r.axis[a] = axis[a];
        return r;
    }
};

template <int D, class T = float>
class FaceField {
public:
    FaceField() = default;
    explicit FaceField(const Grid<D>& g, Where where = Where::kernels)
    {
        for (auto& f : axis_) f = Field<D, T>(g, where);
    }
    Field<D, T>& operator[](int a) { return axis_[a]; }
    const Field<D, T>& operator[](int a) const { return axis_[a]; }
    const Grid<D>& grid() const { return axis_[0].grid(); }
    FaceView<D, T> view()
    {
        FaceView<D, T> v;
        for (int a = 0; a < D; ++a) v.axis[a] = axis_[a].view();
        return v;
    }
    FaceView<D, const T> view() const
    {
        FaceView<D, const T> v;
        for (int a = 0; a < D; ++a) v.axis[a] = axis_[a].view();
        return v;
    }
    void fill(T value)
    {
        for (auto& f : axis_) f.fill(value);
    }
    void swap(FaceField& other)
    {
        for (int a = 0; a < D; ++a) axis_[a].swap(other.axis_[a]);
    }

private:
    Field<D, T> axis_[D];
};

}  // namespace tarn
