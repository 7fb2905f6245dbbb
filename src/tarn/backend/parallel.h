#pragma once
// Loops over cells, in parallel: on threads, or on a GPU where the file is compiled for one. Whatever the backend and
// the number of threads, results are the same bits from run to run: loops write disjoint cells, and reductions add the
// partial results of fixed blocks in a fixed order.
//
//   parallel_for(name, tiles, f)               f(cell) for every cell of the tiles. f may read anything, but write only
//                                              what belongs to its own cell.
//   parallel_for_faces(name, tiles, axis, f)   the same for the faces of an axis: each cell's lower face, and the
//                                              grid's last face where a tile ends there
//   parallel_for_nodes(name, tiles, f)         the same for nodes: each cell's lowest corner, and the grid's last ones
//   parallel_for_colour(name, tiles, which, out, f)   out(cell) = f(cell) for the cells of one colour, as on a chess
//                                              board; f reads `out` of the other colour only
//   parallel_sum(name, tiles, f)               sum of f(cell), in double
//   parallel_sum_to(result, name, tiles, f)    the same into a number that only kernels look at: nothing waits for it
//   parallel_max_to(result, name, tiles, f)
//   parallel_max(name, tiles, f)               largest f(cell), at least 0; NaN where any value is
//   parallel_range(name, n, f)                 f(i) for every i in [0, n)
//   parallel_phases(name, n, f)                for every phase in [0, n), one after the other: f(phase, i) for every
//                                              i in [0, f.count(phase)). For work so small that starting it costs more
//                                              than doing it: all phases start at once.
//   parallel_starts(name, counts, n)           turns counts into where each begins when all stand in a row; returns
//                                              where the row ends
//   parallel_any(name, map, mask, f)           for every tile of the map that has a bit of the mask: the bits that
//                                              f(cell) has in any of its cells
//   parallel_rows(name, n, f)                  f(i) for every i in [0, n), always on threads: for the program itself
//
// Kernels are lambdas marked TARN_KERNEL that capture views by value. For short kernels without branches, `independent`
// (no cell reads what another of its row writes) lets a CPU work on several cells at once.

#include <string>
#include <vector>

#include "tarn/base/macros.h"

namespace tarn {

void set_threads(int n);  // 0: as many as there are cores
int threads();

// Where the time went, by kernel name. This is kept only when asked: a GPU must then wait for every kernel, and on a
// small grid a processor would spend as long on reading its clock as on a row of cells.
struct KernelTime {
    std::string name;
    double seconds = 0;
    long calls = 0;
    long cells = 0;
};
void set_profiling(bool on);
void clear_profile();
std::vector<KernelTime> profile();

// The GPU that kernels run on, or nothing on a CPU.
struct Device {
    std::string name;
    double memory = 0, memory_free = 0;  // bytes
};
bool on_device();
// Throws InputError where this program needs a GPU and there is none.
Device device();

// What memory gives to all threads, or to the GPU: a sum of two arrays into a third, far larger than any cache, in
// bytes per second.
double memory_bandwidth();

int parallel_starts(const char* name, int* counts, int n);

namespace backend {
inline bool profiling_on = false;
void record(const char* name, double seconds, long cells);
// Waits until every kernel is done.
void wait();
}  // namespace backend

}  // namespace tarn

#include "tarn/backend/parallel_threads.h"
#if defined(__CUDACC__)
#include "tarn/backend/parallel_cuda.h"
#endif
