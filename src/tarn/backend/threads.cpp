#include "tarn/backend/parallel.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

#if defined(TARN_BACKEND_TBB)
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#endif

namespace tarn {

namespace {
int thread_count = 0;
std::mutex kernels_mutex;  // frames are written while the next ones are made
std::unordered_map<const char*, KernelTime> kernels;
#if defined(TARN_BACKEND_TBB)
std::unique_ptr<tbb::global_control> control;
#endif
}  // namespace

void set_threads(int n)
{
    thread_count = n;
#if defined(TARN_BACKEND_TBB)
    control.reset();
    if (n > 0)
        control =
            std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, static_cast<size_t>(n));
#endif
}

int threads()
{
#if defined(TARN_BACKEND_TBB)
    return thread_count > 0 ? thread_count : static_cast<int>(std::thread::hardware_concurrency());
#elif defined(TARN_BACKEND_THREADS)
    return thread_count > 0 ? thread_count : 2;
#else
    return 1;
#endif
}

void set_profiling(bool on) { backend::profiling_on = on; }
void clear_profile() { kernels.clear(); }

std::vector<KernelTime> profile()
{
    std::vector<KernelTime> all;
    for (const auto& entry : kernels) {
        const KernelTime& time = entry.second;
        const auto same = std::find_if(all.begin(), all.end(), [&](const auto& t) { return t.name == time.name; });
        if (same == all.end()) {
            all.push_back(time);
        } else {
            same->seconds += time.seconds;
            same->calls += time.calls;
            same->cells += time.cells;
        }
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
    return all;
}

namespace backend {

void run(int n, void (*task)(const void*, int), const void* context)
{
#if defined(TARN_BACKEND_TBB)
    tbb::parallel_for(0, n, [=](int i) { task(context, i); });
#elif defined(TARN_BACKEND_THREADS)
    // Threads of its own for each loop, of which ThreadSanitizer sees every start and end; it knows nothing of oneTBB's.
    std::atomic<int> next = 0;
    const auto work = [&] {
        for (int i = next++; i < n; i = next++) task(context, i);
    };
    std::vector<std::thread> others(static_cast<size_t>(std::min(threads(), n)) - 1);
    for (std::thread& t : others) t = std::thread(work);
    work();
    for (std::thread& t : others) t.join();
#else
    for (int i = 0; i < n; ++i) task(context, i);
#endif
}

void record(const char* name, double seconds, long cells)
{
    const std::lock_guard lock(kernels_mutex);
    KernelTime& time = kernels[name];
    if (time.calls == 0) time.name = name;
    time.seconds += seconds;
    ++time.calls;
    time.cells += cells;
}

}  // namespace backend

}  // namespace tarn
