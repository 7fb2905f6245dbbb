#pragma once
// A number that a kernel made, for the kernels after it. On a processor that kernel is done by now, so it is a plain
// number, which loops need not fetch again.

#include "tarn/base/macros.h"

namespace tarn {

class DeviceScalar {
public:
#if defined(__CUDACC__)
    explicit DeviceScalar(const float* made) : made_(made) {}
    __device__ operator float() const { return *made_; }

private:
    const float* made_;
#else
    explicit DeviceScalar(const float* made) : value_(*made) {}
    operator float() const { return value_; }

private:
    float value_;
#endif
};

}  // namespace tarn
