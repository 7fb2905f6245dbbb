#pragma once

// TARN_HD marks the pure per-cell functions that run alike on the CPU and on a GPU.
#if defined(__CUDACC__)
#define TARN_HD __host__ __device__
#else
#define TARN_HD
#endif

// Before a loop over axes inside a kernel: unrolled, the kernel itself can be vectorised.
#if defined(__GNUC__) && !defined(__clang__)
#define TARN_UNROLL _Pragma("GCC unroll 8")
#elif defined(__clang__) || defined(__CUDACC__)
#define TARN_UNROLL _Pragma("unroll")
#else
#define TARN_UNROLL
#endif
