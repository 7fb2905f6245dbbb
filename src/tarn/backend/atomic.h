#pragma once
// What several cells may change at once. Only changes whose order does not matter are here: minima, maxima, sums of
// integers, and stores where any of the stored values will do.

#if !defined(__CUDACC__) && !defined(TARN_BACKEND_SERIAL)
#include <atomic>
#endif

#if defined(TARN_BACKEND_SERIAL)
#include <utility>
#endif

#include "tarn/base/macros.h"

namespace tarn {

#if defined(__CUDACC__)

__device__ inline int atomic_load(const int* value) { return *static_cast<const volatile int*>(value); }
__device__ inline void atomic_store(int* value, int now) { *static_cast<volatile int*>(value) = now; }
__device__ inline void atomic_store(unsigned char* value, unsigned char now) { *static_cast<volatile unsigned char*>(value) = now; }
__device__ inline int atomic_exchange(int* value, int now) { return atomicExch(value, now); }
__device__ inline int atomic_min(int* value, int with) { return atomicMin(value, with); }
__device__ inline int atomic_add(int* value, int more) { return atomicAdd(value, more); }
__device__ inline void atomic_add(long long* value, long long more)
{
    atomicAdd(reinterpret_cast<unsigned long long*>(value), static_cast<unsigned long long>(more));
}
__device__ inline void atomic_min(float* value, float with)
{
    int* const at = reinterpret_cast<int*>(value);
    for (int old = *at; with < __int_as_float(old);) {
        const int seen = atomicCAS(at, old, __float_as_int(with));
        if (seen == old) return;
        old = seen;
    }
}
__device__ inline void atomic_max(float* value, float with)
{
    int* const at = reinterpret_cast<int*>(value);
    for (int old = *at; with > __int_as_float(old);) {
        const int seen = atomicCAS(at, old, __float_as_int(with));
        if (seen == old) return;
        old = seen;
    }
}

#elif defined(TARN_BACKEND_SERIAL)

// One thread has nobody to wait for; and compilers for WebAssembly lack std::atomic_ref.
inline int atomic_load(const int* value) { return *value; }
inline void atomic_store(int* value, int now) { *value = now; }
inline void atomic_store(unsigned char* value, unsigned char now) { *value = now; }
inline int atomic_exchange(int* value, int now) { return std::exchange(*value, now); }
inline int atomic_min(int* value, int with) { return std::exchange(*value, with < *value ? with : *value); }
inline int atomic_add(int* value, int more) { return std::exchange(*value, *value + more); }
inline void atomic_add(long long* value, long long more) { *value += more; }
inline void atomic_min(float* value, float with) { *value = with < *value ? with : *value; }
inline void atomic_max(float* value, float with) { *value = with > *value ? with : *value; }

#else

inline int atomic_load(const int* value)
{
    return std::atomic_ref<int>(*const_cast<int*>(value)).load(std::memory_order_relaxed);
}
inline void atomic_store(int* value, int now) { std::atomic_ref<int>(*value).store(now, std::memory_order_relaxed); }
inline void atomic_store(unsigned char* value, unsigned char now)
{
    std::atomic_ref<unsigned char>(*value).store(now, std::memory_order_relaxed);
}
inline int atomic_exchange(int* value, int now)
{
    return std::atomic_ref<int>(*value).exchange(now, std::memory_order_relaxed);
}
inline int atomic_min(int* value, int with)
{
    const std::atomic_ref<int> at(*value);
    int old = at.load(std::memory_order_relaxed);
    while (with < old && !at.compare_exchange_weak(old, with, std::memory_order_relaxed)) {
    }
    return old;
}
inline int atomic_add(int* value, int more)
{
    return std::atomic_ref<int>(*value).fetch_add(more, std::memory_order_relaxed);
}
inline void atomic_add(long long* value, long long more)
{
    std::atomic_ref<long long>(*value).fetch_add(more, std::memory_order_relaxed);
}
inline void atomic_min(float* value, float with)
{
    const std::atomic_ref<float> at(*value);
    float old = at.load(std::memory_order_relaxed);
    while (with < old && !at.compare_exchange_weak(old, with, std::memory_order_relaxed)) {
    }
}
inline void atomic_max(float* value, float with)
{
    const std::atomic_ref<float> at(*value);
    float old = at.load(std::memory_order_relaxed);
    while (with > old && !at.compare_exchange_weak(old, with, std::memory_order_relaxed)) {
    }
}

#endif

}  // namespace tarn
