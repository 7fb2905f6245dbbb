#pragma once
// A list of things with a few numbers each, as particles have: the numbers of one kind stand together.

#include <utility>

#include "tarn/backend/memory.h"

namespace tarn {

template <int N>
class Columns {
public:
    static constexpr int columns = N;

    Columns() = default;
    explicit Columns(Where where) : where_(where) {}

    int count() const { return count_; }
    Where where() const { return where_; }
    float* column(int n) { return columns_[n].data(); }
    const float* column(int n) const { return columns_[n].data(); }

    // What was there before is lost where the list must grow.
    void resize(int n)
    {
        const size_t needed = static_cast<size_t>(n);
        if (needed > columns_[0].size())
            for (auto& c : columns_) c = Memory<float>(needed + needed / 4, where_);
        count_ = n;
    }
    void copy(const Columns& from)
    {
        const bool in_order = where_ == Where::kernels && from.where_ == Where::kernels;
        copy_by(from, in_order ? backend::copy_in_order : backend::copy);
    }
    // The same beside the kernels that follow; see backend::copy_beside.
    void copy_beside(const Columns& from) { copy_by(from, backend::copy_beside); }
    void swap(Columns& other)
    {
        std::swap(count_, other.count_);
        std::swap(where_, other.where_);
        for (int n = 0; n < N; ++n) columns_[n].swap(other.columns_[n]);
    }

private:
    void copy_by(const Columns& from, void (*copy)(void*, const void*, size_t))
    {
        resize(from.count_);
        for (int n = 0; n < N; ++n) copy(column(n), from.column(n), static_cast<size_t>(count_) * sizeof(float));
    }

    int count_ = 0;
    Where where_ = Where::kernels;
    Memory<float> columns_[N];
};

}  // namespace tarn
