#pragma once

#include <type_traits>

namespace tarn {

// Calls f with every axis as a constant: then kernels know where along a row they are.
template <int D, class F>
void for_each_axis(const F& f)
{
    f(std::integral_constant<int, 0>{});
    f(std::integral_constant<int, 1>{});
    if constexpr (D == 3) f(std::integral_constant<int, 2>{});
}

}  // namespace tarn
