#pragma once

// TARN_HD marks the pure per-cell functions that run alike on the CPU and on a GPU.
#if defined(__CUDACC__)
#define TARN_HD __host__ __device__
#else
#define TARN_HD
#endif
