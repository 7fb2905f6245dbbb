#pragma once

// TARN_HD marks the pure per-cell functions that run alike on the CPU and on a GPU, TARN_KERNEL the lambdas that loops
// over cells are given.
#if defined(__CUDACC__)
#define TARN_HD __host__ __device__
#define TARN_KERNEL __device__
#else
#define TARN_HD
#define TARN_KERNEL
#endif

// For small functions in the innermost loops, which the compiler would otherwise call where there are many of them.
#if defined(__CUDACC__)
#define TARN_INLINE __forceinline__
#else
#define TARN_INLINE inline __attribute__((always_inline))
#endif

// After the parameters of a kernel that is too long for the compiler to copy into its loop by itself, and would not be
// done for many cells at once.
#if defined(__CUDACC__)
#define TARN_IN_LOOP
#else
#define TARN_IN_LOOP __attribute__((always_inline))
#endif

// For large functions that kernels call in many places: compiled once, not copied to each of them.
#if defined(__CUDACC__)
#define TARN_APART __noinline__
#else
#define TARN_APART __attribute__((noinline))
#endif

// Where per-cell functions may use the processor's own vectors.
#if defined(__SSE2__) && !defined(__CUDACC__)
#define TARN_SSE 1
#else
#define TARN_SSE 0
#endif

// Before a loop over axes inside a kernel: unrolled, the kernel itself can be vectorised.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define TARN_UNROLL _Pragma("GCC unroll 8")
#elif defined(__clang__) || defined(__CUDACC__)
#define TARN_UNROLL _Pragma("unroll")
#else
#define TARN_UNROLL
#endif

// Before a loop whose rounds do not read what others of them write, so that several can be done at once.
#if defined(__clang__)
#define TARN_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define TARN_INDEPENDENT _Pragma("GCC ivdep")
#else
#define TARN_INDEPENDENT
#endif
