// The processor behind backend/: kernels run where the program does.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

// Under AddressSanitizer all comes from the C library, whose blocks it watches.
#if __has_include(<sys/mman.h>) && !defined(__wasm__) && !defined(__SANITIZE_ADDRESS__)
#define TARN_FRESH_PAGES 1
#include <sys/mman.h>
#else
#define TARN_FRESH_PAGES 0
#endif

#include "tarn/backend/memory.h"
#include "tarn/backend/parallel.h"
#include "tarn/backend/sequence.h"

namespace tarn {

bool on_device() { return false; }
Device device() { return {}; }

int parallel_starts(const char* name, int* counts, int n)
{
    const backend::Recorded recorded(name, n);
    int end = 0;
    for (int i = 0; i < n; ++i) end += std::exchange(counts[i], end);
    return end;
}

const void* DeviceCopy::of_bytes(const void* made, size_t) const { return made; }

struct Sequence::Graph {};
Sequence::Sequence() = default;
Sequence::~Sequence() = default;
Sequence::Sequence(Sequence&&) noexcept = default;
Sequence& Sequence::operator=(Sequence&&) noexcept = default;
void Sequence::run(std::vector<const void*>, const std::function<void()>& launch) { launch(); }
void Sequence::forget() {}

double memory_bandwidth()
{
    constexpr int block = 1 << 16, blocks = 512;
    std::vector<float> a(size_t(block) * blocks, 1), b = a, c = a;
    double best = 0;
    for (int n = 0; n < 5; ++n) {
        const Timer timer;
        parallel_rows("bandwidth", blocks, [&](int i) {
            const size_t first = size_t(i) * block;
            for (size_t k = first; k < first + block; ++k) c[k] = a[k] + 0.5f * b[k];
        });
        best = std::max(best, 3.0 * sizeof(float) * static_cast<double>(a.size()) / timer.seconds());
    }
    return best;
}

namespace backend {

void wait() {}

namespace {

// Before a block: how long it is with this, if it is the system's own.
constexpr size_t head = 64;
// The C library makes blocks of less than 32 MB of such as were freed before, and clears them, by which all of their pages become
// resident. From this size on they are fresh pages of the system.
constexpr size_t fresh_from = size_t(1) << 17;

}  // namespace

void* allocate(size_t bytes, Where)
{
    const size_t all = bytes + head;
#if TARN_FRESH_PAGES
    if (all >= fresh_from) {
        void* const fresh = mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (fresh == MAP_FAILED) throw std::bad_alloc();
        *static_cast<size_t*>(fresh) = all;
        return static_cast<char*>(fresh) + head;
    }
#endif
    void* const memory = std::calloc(all, 1);
    if (!memory) throw std::bad_alloc();
    return static_cast<char*>(memory) + head;
}
void release(void* memory, Where) noexcept
{
    void* const block = static_cast<char*>(memory) - head;
#if TARN_FRESH_PAGES
    if (const size_t all = *static_cast<const size_t*>(block); all > 0) {
        munmap(block, all);
        return;
    }
#endif
    std::free(block);
}

void copy(void* to, const void* from, size_t bytes)
{
    constexpr size_t page = 4096;
    char* const out = static_cast<char*>(to);
    const char* const in = static_cast<const char*>(from);
    for (size_t i = 0; i < bytes; i += page) {
        const size_t n = std::min(page, bytes - i);
        if (std::memcmp(out + i, in + i, n) != 0) std::memcpy(out + i, in + i, n);
    }
}

void copy_in_order(void* to, const void* from, size_t bytes) { copy(to, from, bytes); }
void copy_beside(void* to, const void* from, size_t bytes) { copy(to, from, bytes); }
void follow_copies() {}
void wait_for_copies() {}
AsynchronousCopy::AsynchronousCopy() = default;
AsynchronousCopy::~AsynchronousCopy() = default;

void fill(float* to, float value, size_t n) { std::fill_n(to, n, value); }
void fill(uint8_t* to, uint8_t value, size_t n) { std::fill_n(to, n, value); }

}  // namespace backend

}  // namespace tarn
