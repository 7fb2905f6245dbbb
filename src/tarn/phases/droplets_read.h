#pragma once
// What both files of droplets need: sizes, and what kernels found, as the program sees it.

#include <cmath>
#include <numbers>
#include <vector>

#include "tarn/backend/memory.h"

namespace tarn {

// Radius in cells.
template <int D>
inline double radius_of(double volume)
{
    return D == 3 ? std::cbrt(3 * volume / (4 * std::numbers::pi)) : std::sqrt(volume / std::numbers::pi);
}

// A copy of what lies where kernels work.
template <class T>
std::vector<T> read(const T* there, int n)
{
    std::vector<T> values(static_cast<size_t>(n));
    if (n > 0) backend::copy(values.data(), there, values.size() * sizeof(T));
    return values;
}

}  // namespace tarn
