#pragma once
// Loops on threads, or on one where there are none.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include "tarn/base/timer.h"
#include "tarn/grid/tiles.h"

namespace tarn {

namespace backend {
// Calls task(context, i) for every i in [0, n), in any order, on all threads.
void run(int n, void (*task)(const void*, int), const void* context);
// Below this many cells a loop is quicker on one thread than the threads are to wake.
inline constexpr long too_small = 8192;

// Records how long it lives, when asked.
class Recorded {
public:
    Recorded(const char* name, long cells) : name_(name), cells_(cells)
    {
        if (profiling_on) timer_.emplace();
    }
    ~Recorded()
    {
        if (timer_) record(name_, timer_->seconds(), cells_);
    }
    Recorded(const Recorded&) = delete;
    Recorded& operator=(const Recorded&) = delete;

private:
    const char* name_;
    long cells_;
    std::optional<Timer> timer_;
};

template <class F>
void blocks(const char* name, int n, long cells, const F& f)
{
    const Recorded recorded(name, cells);
    if (n == 1 || cells < too_small)
        for (int i = 0; i < n; ++i) f(i);
    else
        run(
            n, [](const void* context, int i) { (*static_cast<const F*>(context))(i); }, &f);
}

// Visits a box row by row. `independent` promises that no cell reads what another cell of its row writes, so that the
// compiler may work on several at once.
template <bool independent = false, class F>
void each(const Box<2>& b, const F& f)
{
    const F g = f;  // a copy of its own spares the compiler the thought that stores might change what f holds
    const int begin = b.lo[0], end = b.hi[0];
    for (int j = b.lo[1]; j < b.hi[1]; ++j) {
        if constexpr (independent) {
            TARN_INDEPENDENT
            for (int i = begin; i < end; ++i) g(Cell<2>{i, j});
        } else {
            for (int i = begin; i < end; ++i) g(Cell<2>{i, j});
        }
    }
}
template <bool independent = false, class F>
void each(const Box<3>& b, const F& f)
{
    const F g = f;
    const int begin = b.lo[0], end = b.hi[0];
    for (int k = b.lo[2]; k < b.hi[2]; ++k)
        for (int j = b.lo[1]; j < b.hi[1]; ++j) {
            if constexpr (independent) {
                TARN_INDEPENDENT
                for (int i = begin; i < end; ++i) g(Cell<3>{i, j, k});
            } else {
                for (int i = begin; i < end; ++i) g(Cell<3>{i, j, k});
            }
        }
}

// Visits a box row by row: first every value of a row, then `use` with the row, filled up with zeros to whole lanes,
// its length and its first cell.
inline constexpr int lanes = 16;
template <class T>
struct Lanes {
    T of[lanes] = {};

    void add(const T* row, int n)
    {
        // A copy of its own can stay in registers, whatever the row may be.
        Lanes sum = *this;
        for (int i = 0; i < n; i += lanes)
            for (int l = 0; l < lanes; ++l) sum.of[l] += row[i + l];
        *this = sum;
    }
    T total() const
    {
        T s = 0;
        for (const T v : of) s += v;
        return s;
    }
};
template <bool independent, class T, int D, class F, class Use>
void each_row_at(const Box<D>& box, const F& f, const Use& use)
{
    T row[tile_size * longest_run + lanes] = {};
    const int begin = box.lo[0], length = box.hi[0] - begin;
    Box<D> rows = box;
    rows.hi[0] = begin + 1;
    each(rows, [&](Cell<D> c) {
        const F g = f;
        if constexpr (independent) {
            TARN_INDEPENDENT
            for (int i = 0; i < length; ++i) {
                Cell<D> here = c;
                here[0] = begin + i;
                row[i] = g(here);
            }
        } else {
            for (int i = 0; i < length; ++i) {
                Cell<D> here = c;
                here[0] = begin + i;
                row[i] = g(here);
            }
        }
        use(row, length, c);
    });
}
template <bool independent, class T, int D, class F, class Use>
void each_row(const Box<D>& box, const F& f, const Use& use)
{
    each_row_at<independent, T>(box, f, [&](const T* row, int length, Cell<D>) { use(row, length); });
}
// Every second value of a row, from the first or from the second one on.
inline void take_colour(float* to, const float* row, int n, int first)
{
    for (int i = 0; i < n; ++i) {
        const float old = to[i], now = row[i];
        to[i] = (i & 1) == first ? now : old;
    }
}
}  // namespace backend

template <class F>
void parallel_rows(const char* name, int n, const F& f)
{
    backend::blocks(name, n, backend::too_small, f);
}

#if !defined(__CUDACC__)

template <bool independent = false, int D, class F>
void parallel_for(const char* name, const Tiles<D>& tiles, const F& f)
{
    backend::blocks(name, static_cast<int>(tiles.boxes.size()), tiles.cells(),
                    [&](int b) { backend::each<independent>(tiles.boxes[static_cast<size_t>(b)], f); });
}

template <bool independent = false, int D, class F>
void parallel_for_faces(const char* name, const Tiles<D>& tiles, int axis, const F& f)
{
    backend::blocks(name, static_cast<int>(tiles.boxes.size()), tiles.cells(), [&](int b) {
        Box<D> box = tiles.boxes[static_cast<size_t>(b)];
        if (box.hi[axis] == tiles.grid.cells[axis]) ++box.hi[axis];
        backend::each<independent>(box, f);
    });
}

template <int D, class F>
void parallel_for_nodes(const char* name, const Tiles<D>& tiles, const F& f)
{
    backend::blocks(name, static_cast<int>(tiles.boxes.size()), tiles.cells(), [&](int b) {
        Box<D> box = tiles.boxes[static_cast<size_t>(b)];
        for (int a = 0; a < D; ++a)
            if (box.hi[a] == tiles.grid.cells[a]) ++box.hi[a];
        backend::each(box, f);
    });
}

// Each row is summed in fixed lanes, so that the compiler can work on them at once.
template <bool independent = false, int D, class F>
double parallel_sum(const char* name, const Tiles<D>& tiles, const F& f)
{
    std::vector<double> partial(tiles.boxes.size());
    backend::blocks(name, static_cast<int>(tiles.boxes.size()), tiles.cells(), [&](int b) {
        backend::Lanes<double> sums;
        backend::each_row<independent, double>(tiles.boxes[static_cast<size_t>(b)], f,
                                               [&](const double* row, int n) { sums.add(row, n); });
        partial[static_cast<size_t>(b)] = sums.total();
    });
    double sum = 0;
    for (const double s : partial) sum += s;
    return sum;
}

template <bool independent = false, int D, class F>
double parallel_max(const char* name, const Tiles<D>& tiles, const F& f)
{
    std::vector<float> partial(tiles.boxes.size());
    backend::blocks(name, static_cast<int>(tiles.boxes.size()), tiles.cells(), [&](int b) {
        backend::Lanes<float> most, nan;
        backend::each_row<independent, float>(tiles.boxes[static_cast<size_t>(b)], f, [&](const float* row, int n) {
            // Of its own, for the same reason as in Lanes::add.
            backend::Lanes<float> m = most, none = nan;
            for (int i = 0; i < n; i += backend::lanes)
                for (int l = 0; l < backend::lanes; ++l) {
                    const float v = row[i + l];
                    m.of[l] = v > m.of[l] ? v : m.of[l];
                    none.of[l] += v - v;  // 0, or NaN for ever
                }
            most = m;
            nan = none;
        });
        float m = 0;
        for (int l = 0; l < backend::lanes; ++l) m = std::max(m, most.of[l]);
        partial[static_cast<size_t>(b)] = m + nan.total();
    });
    double m = 0;
    for (const float v : partial) m = (std::isnan(v) || v > m) ? v : m;
    return m;
}

template <bool independent = false, int D, class F>
void parallel_sum_to(double* result, const char* name, const Tiles<D>& tiles, const F& f)
{
    *result = parallel_sum<independent>(name, tiles, f);
}
template <bool independent = false, int D, class F>
void parallel_max_to(double* result, const char* name, const Tiles<D>& tiles, const F& f)
{
    *result = parallel_max<independent>(name, tiles, f);
}

template <int D, class Out, class F>
void parallel_for_colour(const char* name, const Tiles<D>& tiles, int which, const Out& out, const F& f)
{
    // Both colours are computed and one is kept: a processor then works on many cells at once. A row is written when
    // all of it is known, as reading what was written a moment ago, one cell aside, is slow.
    backend::blocks(name, static_cast<int>(tiles.boxes.size()), tiles.cells(), [&](int b) {
        backend::each_row_at<true, float>(tiles.boxes[static_cast<size_t>(b)], f,
                                          [&](const float* row, int n, Cell<D> first) {
                                              backend::take_colour(&out(first), row, n, which ^ colour(first));
                                          });
    });
}

template <class F>
void parallel_range(const char* name, int n, const F& f)
{
    constexpr int block = 256;
    backend::blocks(name, (n + block - 1) / block, n, [&](int b) {
        for (int i = b * block; i < std::min(n, (b + 1) * block); ++i) f(i);
    });
}

template <class F>
void parallel_phases(const char* name, int n, const F& f)
{
    long items = 0;
    for (int phase = 0; phase < n; ++phase) items += f.count(phase);
    const backend::Recorded recorded(name, items);
    for (int phase = 0; phase < n; ++phase) {
        const int count = f.count(phase);
        for (int i = 0; i < count; ++i) f(phase, i);
    }
}

template <int D, class F>
std::vector<uint8_t> parallel_any(const char* name, const TileMap<D>& map, uint8_t mask, const F& f)
{
    std::vector<uint8_t> bits(map.flags.size());
    backend::blocks(name, static_cast<int>(bits.size()), map.grid.count(), [&](int i) {
        const size_t tile = static_cast<size_t>(i);
        if (!(map.flags[tile] & mask)) return;
        uint8_t any = 0;
        backend::each(map.box(map.tile(tile)), [&](Cell<D> c) { any |= f(c); });
        bits[tile] = any;
    });
    return bits;
}

#endif

}  // namespace tarn
