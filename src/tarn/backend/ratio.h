#pragma once
// a / b of two numbers that kernels made, for the kernels after them; 0 unless b is positive. On a processor those
// kernels are done by now, so it is a plain number, which loops need not fetch again.

#include "tarn/base/macros.h"

namespace tarn {

class Ratio {
public:
#if defined(__CUDACC__)
    Ratio(const double* a, const double* b) : a_(a), b_(b) {}
    __device__ operator float() const { return *b_ > 0 ? static_cast<float>(*a_ / *b_) : 0.0f; }

private:
    const double *a_, *b_;
#else
    Ratio(const double* a, const double* b) : value_(*b > 0 ? static_cast<float>(*a / *b) : 0.0f) {}
    operator float() const { return value_; }

private:
    float value_;
#endif
};

}  // namespace tarn
