#pragma once
// Loops on a CUDA device: several blocks of threads share each box of tiles, a warp takes a row of it or half of one,
// its lanes go along x. Included by parallel.h alone.

#include <cstring>
#include <exception>
#include <string>

#include <cuda_runtime.h>

namespace tarn {

namespace backend {

inline constexpr int threads_per_block = 256, lanes_per_warp = 32;
inline constexpr int warps_per_block = threads_per_block / lanes_per_warp;

cudaStream_t stream();
// Throws RunError with CUDA's own words.
void check(cudaError_t error, const char* what);
// Room for partial results of reductions, at least n doubles, where kernels write; and one result where both look.
double* partials(size_t n);
double* result();

// Around every launch: complains, and takes the time where that was asked for.
class Launch {
public:
    Launch(const char* name, long cells);
    ~Launch() noexcept(false);

private:
    const char* name_;
    long cells_;
    int before_ = std::uncaught_exceptions();
};

// Blocks for every box: so many that each warp has `parts_of_row` parts of a row to do once.
template <int D>
dim3 blocks_for(const Tiles<D>& tiles, int parts_of_row = 2)
{
    const int rows = D == 3 ? tile_size * tile_size : tile_size;
    return {static_cast<unsigned>(tiles.boxes.size()), static_cast<unsigned>(rows * parts_of_row / warps_per_block)};
}

// For reductions: enough blocks to fill the device, and no more, so that threads have more to do than to combine.
template <int D>
dim3 blocks_to_reduce(const Tiles<D>& tiles)
{
    constexpr size_t enough = 2048;
    const dim3 most = blocks_for(tiles);
    if (most.x == 0) return {0, 0};
    const size_t share = (enough + most.x - 1) / most.x;
    return {most.x, static_cast<unsigned>(share < most.y ? share : most.y)};
}

template <int D>
const Box<D>* boxes_there(const Tiles<D>& tiles)
{
    return tiles.device_copy.of(tiles.boxes.data(), tiles.boxes.size());
}

// The rows of a box, numbered so that those of a block lie side by side along both y and z: what they read of each
// other then comes from the cache beside them.
struct Rows {
    int ny, count;
    bool whole;  // eight by eight

    __device__ explicit Rows(const Box<3>& box)
        : ny(box.hi[1] - box.lo[1]), count(ny * (box.hi[2] - box.lo[2])), whole(ny == 8 && count == 64)
    {
    }
    __device__ int y(int row) const { return whole ? (row & 1) | (row >> 1 & 2) | (row >> 2 & 4) : row % ny; }
    __device__ int z(int row) const { return whole ? (row >> 1 & 1) | (row >> 2 & 2) | (row >> 3 & 4) : row / ny; }
};

// A warp takes 32 cells of a row; the longest rows have 64 (65 faces).
template <class F>
__device__ inline void each_in_block(const Box<2>& box, const F& f)
{
    const int lane = threadIdx.x % lanes_per_warp;
    const int part = static_cast<int>(blockIdx.y) * warps_per_block + static_cast<int>(threadIdx.x) / lanes_per_warp;
    for (int j = box.lo[1] + part / 2; j < box.hi[1]; j += static_cast<int>(gridDim.y) * warps_per_block / 2)
        for (int i = box.lo[0] + part % 2 * lanes_per_warp + lane; i < box.hi[0]; i += 2 * lanes_per_warp)
            f(Cell<2>{i, j});
}
template <class F>
__device__ inline void each_in_block(const Box<3>& box, const F& f)
{
    const int lane = threadIdx.x % lanes_per_warp;
    const int part = static_cast<int>(blockIdx.y) * warps_per_block + static_cast<int>(threadIdx.x) / lanes_per_warp;
    const Rows rows(box);
    for (int row = part / 2; row < rows.count; row += static_cast<int>(gridDim.y) * warps_per_block / 2) {
        const int j = rows.y(row), k = rows.z(row);
        for (int i = box.lo[0] + part % 2 * lanes_per_warp + lane; i < box.hi[0]; i += 2 * lanes_per_warp)
            f(Cell<3>{i, box.lo[1] + j, box.lo[2] + k});
    }
}

// The cells of one colour: a warp takes those of a whole row.
template <class F>
__device__ inline void each_of_colour(const Box<2>& box, int which, const F& f)
{
    const int lane = threadIdx.x % lanes_per_warp, warp = threadIdx.x / lanes_per_warp;
    for (int j = box.lo[1] + warp; j < box.hi[1]; j += warps_per_block)
        for (int i = box.lo[0] + ((box.lo[0] + j + which) & 1) + 2 * lane; i < box.hi[0]; i += 2 * lanes_per_warp)
            f(Cell<2>{i, j});
}
template <class F>
__device__ inline void each_of_colour(const Box<3>& box, int which, const F& f)
{
    const int lane = threadIdx.x % lanes_per_warp, warp = threadIdx.x / lanes_per_warp;
    const Rows rows(box);
    for (int row = static_cast<int>(blockIdx.y) * warps_per_block + warp; row < rows.count;
         row += static_cast<int>(gridDim.y) * warps_per_block) {
        const int j = box.lo[1] + rows.y(row), k = box.lo[2] + rows.z(row);
        for (int i = box.lo[0] + ((box.lo[0] + j + k + which) & 1) + 2 * lane; i < box.hi[0]; i += 2 * lanes_per_warp)
            f(Cell<3>{i, j, k});
    }
}

template <int D, class F>
__global__ void __launch_bounds__(threads_per_block) run_cells(const Box<D>* boxes, F f)
{
    each_in_block(boxes[blockIdx.x], f);
}

template <int D, class Out, class F>
__global__ void __launch_bounds__(threads_per_block) run_colour(const Box<D>* boxes, int which, Out out, F f)
{
    each_of_colour(boxes[blockIdx.x], which, [&](Cell<D> c) { out(c) = f(c); });
}

template <int D, class F>
__global__ void __launch_bounds__(threads_per_block) run_faces(const Box<D>* boxes, int axis, int last, F f)
{
    Box<D> box = boxes[blockIdx.x];
    for (int a = 0; a < D; ++a)
        if (a == axis && box.hi[a] == last) ++box.hi[a];
    each_in_block(box, f);
}

template <int D, class F>
__global__ void __launch_bounds__(threads_per_block) run_nodes(const Box<D>* boxes, Cell<D> cells, F f)
{
    Box<D> box = boxes[blockIdx.x];
    for (int a = 0; a < D; ++a)
        if (box.hi[a] == cells[a]) ++box.hi[a];
    each_in_block(box, f);
}

template <class F>
__global__ void __launch_bounds__(threads_per_block) run_range(int n, F f)
{
    const int i = static_cast<int>(blockIdx.x) * threads_per_block + static_cast<int>(threadIdx.x);
    if (i < n) f(i);
}

inline constexpr int phase_threads = 1024;
template <class F>
__global__ void __launch_bounds__(phase_threads) run_phases(int n, const __grid_constant__ F f)
{
    for (int phase = 0; phase < n; ++phase) {
        const int count = f.count(phase);
        for (int i = static_cast<int>(threadIdx.x); i < count; i += phase_threads) f(phase, i);
        __syncthreads();
    }
}

struct Add {
    static __device__ double apply(double a, double b) { return a + b; }
};
struct Larger {
    static __device__ double apply(double a, double b) { return a != a ? a : (b != b ? b : (a > b ? a : b)); }
};

// One value from those of a block's threads, in an order that never changes; right in the first thread.
template <class Op>
__device__ inline double combine(double v)
{
    __shared__ double of_warp[32];
    const int lane = threadIdx.x % lanes_per_warp, warp = threadIdx.x / lanes_per_warp;
    const int warps = static_cast<int>(blockDim.x) / lanes_per_warp;
    for (int by = lanes_per_warp / 2; by > 0; by /= 2) v = Op::apply(v, __shfl_down_sync(~0u, v, by));
    if (lane == 0) of_warp[warp] = v;
    __syncthreads();
    v = lane < warps ? of_warp[lane] : 0;
    for (int by = lanes_per_warp / 2; by > 0; by /= 2) v = Op::apply(v, __shfl_down_sync(~0u, v, by));
    return v;
}

template <class Op, int D, class F>
__global__ void __launch_bounds__(threads_per_block) reduce_cells(const Box<D>* boxes, F f, double* partial)
{
    double v = 0;
    each_in_block(boxes[blockIdx.x], [&](Cell<D> c) { v = Op::apply(v, static_cast<double>(f(c))); });
    v = combine<Op>(v);
    if (threadIdx.x == 0) partial[blockIdx.x * gridDim.y + blockIdx.y] = v;
}

// All partial results into one.
void finish(Add, const double* partial, int n, double* result);
void finish(Larger, const double* partial, int n, double* result);

template <int D, class F>
__global__ void __launch_bounds__(threads_per_block) any_of_tiles(const Box<D>* tiles, F f, uint8_t* bits)
{
    const Box<D> box = tiles[blockIdx.x];
    constexpr int size = D == 3 ? tile_size * tile_size * tile_size : tile_size * tile_size;
    int any = 0;
    for (int n = static_cast<int>(threadIdx.x); n < size; n += threads_per_block) {
        Cell<D> c;
        int left = n;
        for (int a = 0; a < D; ++a) {
            c[a] = box.lo[a] + left % tile_size;
            left /= tile_size;
        }
        if (box.contains(c)) any |= f(c);
    }
    // One bit after the other, as that is what a whole block can be asked.
    int all = 0;
    for (int bit = 0; bit < 8; ++bit) all |= __syncthreads_or(any & (1 << bit)) ? 1 << bit : 0;
    if (threadIdx.x == 0) bits[blockIdx.x] = static_cast<uint8_t>(all);
}

template <class Op, int D, class F>
void reduce(double* to, const char* name, const Tiles<D>& tiles, const F& f)
{
    const dim3 blocks = blocks_to_reduce(tiles);
    const int n = static_cast<int>(blocks.x * blocks.y);
    double* const partial = partials(static_cast<size_t>(n));
    const Launch launch(name, profiling_on ? tiles.cells() : 0);
    if (n > 0) reduce_cells<Op><<<blocks, threads_per_block, 0, stream()>>>(boxes_there(tiles), f, partial);
    finish(Op{}, partial, n, to);
}
template <class Op, int D, class F>
double reduced(const char* name, const Tiles<D>& tiles, const F& f)
{
    if (tiles.boxes.empty()) return 0;
    reduce<Op>(result(), name, tiles, f);
    wait();
    return *result();
}

}  // namespace backend

template <bool independent = false, int D, class F>
void parallel_for(const char* name, const Tiles<D>& tiles, const F& f)
{
    if (tiles.boxes.empty()) return;
    const backend::Launch launch(name, backend::profiling_on ? tiles.cells() : 0);
    backend::run_cells<<<backend::blocks_for(tiles), backend::threads_per_block, 0, backend::stream()>>>(
        backend::boxes_there(tiles), f);
}

template <bool independent = false, int D, class F>
void parallel_for_faces(const char* name, const Tiles<D>& tiles, int axis, const F& f)
{
    if (tiles.boxes.empty()) return;
    const backend::Launch launch(name, backend::profiling_on ? tiles.cells() : 0);
    backend::run_faces<<<backend::blocks_for(tiles), backend::threads_per_block, 0, backend::stream()>>>(
        backend::boxes_there(tiles), axis, tiles.grid.cells[axis], f);
}

template <int D, class Out, class F>
void parallel_for_colour(const char* name, const Tiles<D>& tiles, int which, const Out& out, const F& f)
{
    if (tiles.boxes.empty()) return;
    const backend::Launch launch(name, backend::profiling_on ? tiles.cells() : 0);
    backend::run_colour<<<backend::blocks_for(tiles, 1), backend::threads_per_block, 0, backend::stream()>>>(
        backend::boxes_there(tiles), which, out, f);
}

template <int D, class F>
void parallel_for_nodes(const char* name, const Tiles<D>& tiles, const F& f)
{
    if (tiles.boxes.empty()) return;
    const backend::Launch launch(name, backend::profiling_on ? tiles.cells() : 0);
    backend::run_nodes<<<backend::blocks_for(tiles), backend::threads_per_block, 0, backend::stream()>>>(
        backend::boxes_there(tiles), tiles.grid.cells, f);
}

template <bool independent = false, int D, class F>
double parallel_sum(const char* name, const Tiles<D>& tiles, const F& f)
{
    return backend::reduced<backend::Add>(name, tiles, f);
}

template <bool independent = false, int D, class F>
double parallel_max(const char* name, const Tiles<D>& tiles, const F& f)
{
    return backend::reduced<backend::Larger>(name, tiles, f);
}

template <bool independent = false, int D, class F>
void parallel_sum_to(double* result, const char* name, const Tiles<D>& tiles, const F& f)
{
    backend::reduce<backend::Add>(result, name, tiles, f);
}
template <bool independent = false, int D, class F>
void parallel_max_to(double* result, const char* name, const Tiles<D>& tiles, const F& f)
{
    backend::reduce<backend::Larger>(result, name, tiles, f);
}

template <class F>
void parallel_range(const char* name, int n, const F& f)
{
    if (n <= 0) return;
    const backend::Launch launch(name, n);
    const unsigned blocks = static_cast<unsigned>((n + backend::threads_per_block - 1) / backend::threads_per_block);
    backend::run_range<<<blocks, backend::threads_per_block, 0, backend::stream()>>>(n, f);
}

template <class F>
void parallel_phases(const char* name, int n, const F& f)
{
    const backend::Launch launch(name, n);
    backend::run_phases<<<1, backend::phase_threads, 0, backend::stream()>>>(n, f);
}

template <int D, class F>
std::vector<uint8_t> parallel_any(const char* name, const TileMap<D>& map, uint8_t mask, const F& f)
{
    std::vector<size_t> chosen;
    std::vector<Box<D>> boxes;
    map.for_each([&](size_t i, Cell<D> t) {
        if (!(map.flags[i] & mask)) return;
        chosen.push_back(i);
        boxes.push_back(map.box(t));
    });
    std::vector<uint8_t> bits(map.flags.size());
    if (chosen.empty()) return bits;

    const DeviceCopy device_copy;
    const Box<D>* const there = device_copy.of(boxes.data(), boxes.size());
    uint8_t* const found = reinterpret_cast<uint8_t*>(backend::partials(chosen.size() / sizeof(double) + 1));
    {
        const backend::Launch launch(name, static_cast<long>(boxes.size()));
        backend::
            any_of_tiles<<<static_cast<unsigned>(boxes.size()), backend::threads_per_block, 0, backend::stream()>>>(
                there, f, found);
    }
    std::vector<uint8_t> of_chosen(chosen.size());
    backend::copy(of_chosen.data(), found, of_chosen.size());
    for (size_t n = 0; n < chosen.size(); ++n) bits[chosen[n]] = of_chosen[n];
    return bits;
}

}  // namespace tarn
