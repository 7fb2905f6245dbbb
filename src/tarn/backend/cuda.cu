// The CUDA device behind backend/: its memory, its streams, and the ends of reductions.

#include <algorithm>
#include <exception>
#include <new>

#include <cub/device/device_scan.cuh>

#include "tarn/backend/memory.h"
#include "tarn/backend/parallel.h"
#include "tarn/backend/sequence.h"
#include "tarn/base/error.h"

namespace tarn {

namespace {

cudaEvent_t before = nullptr, after = nullptr;

// Everything below is made at the first use, by when device() has told whether there is a GPU at all.
struct Context {
    cudaStream_t stream = nullptr, copies = nullptr;
    cudaEvent_t kernels_done = nullptr, copies_done = nullptr;
    int beside = 0;  // how many of that name live
    double* result = nullptr;
    double* partials = nullptr;
    size_t workspace = 0;

    Context()
    {
        // What goes on beside the steps takes what they leave.
        int least = 0, greatest = 0;
        backend::check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "a stream");
        backend::check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest), "a stream");
        backend::check(cudaStreamCreateWithPriority(&copies, cudaStreamNonBlocking, least), "a stream");
        backend::check(cudaEventCreateWithFlags(&kernels_done, cudaEventDisableTiming), "an event");
        backend::check(cudaEventCreateWithFlags(&copies_done, cudaEventDisableTiming), "an event");
        backend::check(cudaHostAlloc(&result, sizeof(double), cudaHostAllocMapped), "pinned memory");
        // Small, often freed memory comes from a pool that never gives it back.
        cudaMemPool_t pool = nullptr;
        int device = 0;
        uint64_t everything = ~uint64_t{0};
        backend::check(cudaGetDevice(&device), "the device");
        backend::check(cudaDeviceGetDefaultMemPool(&pool, device), "a memory pool");
        backend::check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &everything), "a memory pool");
    }
};
Context& context()
{
    static Context c;
    return c;
}

template <class Op>
__global__ void finish_all(const double* partial, int n, double* result)
{
    double v = 0;
    for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) v = Op::apply(v, partial[i]);
    v = backend::combine<Op>(v);
    if (threadIdx.x == 0) *result = v;
}

__global__ void triad(const float4* a, const float4* b, float4* c)
{
    const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    c[i] = {a[i].x + 0.5f * b[i].x, a[i].y + 0.5f * b[i].y, a[i].z + 0.5f * b[i].z, a[i].w + 0.5f * b[i].w};
}

template <class T>
__global__ void fill_all(T* to, T value, size_t n)
{
    const size_t stride = size_t{blockDim.x} * gridDim.x;
    for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) to[i] = value;
}

}  // namespace

bool on_device() { return true; }

Device device()
{
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0)
        throw InputError(std::string("no CUDA device can be used (") +
                         (error != cudaSuccess ? cudaGetErrorString(error) : "none is there") +
                         "); run on the processor instead");
    cudaDeviceProp about{};
    int number = 0;
    size_t free = 0, total = 0;
    backend::check(cudaGetDevice(&number), "the device");
    backend::check(cudaGetDeviceProperties(&about, number), "the device's properties");
    backend::check(cudaMemGetInfo(&free, &total), "the device's memory");
    return {.name = about.name, .memory = static_cast<double>(total), .memory_free = static_cast<double>(free)};
}

struct Sequence::Graph {
    cudaGraphExec_t ready = nullptr;
    std::vector<const void*> on;
    int runs = 0;  // since forget()

    ~Graph()
    {
        if (ready) (void)cudaGraphExecDestroy(ready);
    }
    void record(const std::function<void()>& launch)
    {
        cudaGraph_t graph = nullptr;
        backend::check(cudaStreamBeginCapture(backend::stream(), cudaStreamCaptureModeThreadLocal), "a graph");
        launch();
        backend::check(cudaStreamEndCapture(backend::stream(), &graph), "a graph");
        // The newest graph mostly differs in its numbers alone, which is quick to take over.
        cudaGraphExecUpdateResultInfo difference{};
        if (!ready || cudaGraphExecUpdate(ready, graph, &difference) != cudaSuccess) {
            (void)cudaGetLastError();
            if (ready) backend::check(cudaGraphExecDestroy(ready), "a graph");
            backend::check(cudaGraphInstantiate(&ready, graph, 0), "a graph");
        }
        backend::check(cudaGraphDestroy(graph), "a graph");
    }
};
Sequence::Sequence() = default;
Sequence::~Sequence() = default;
Sequence::Sequence(Sequence&&) noexcept = default;
Sequence& Sequence::operator=(Sequence&&) noexcept = default;

void Sequence::run(std::vector<const void*> on, const std::function<void()>& launch)
{
    if (!graph_) graph_ = std::make_unique<Graph>();
    if (on != graph_->on) {
        graph_->on = std::move(on);
        graph_->runs = 0;
    }
    // The first run brings every list of tiles to the device, which a recording could not.
    const int before = graph_->runs++;
    if (before == 0 || backend::profiling_on) return launch();
    if (before == 1) graph_->record(launch);
    backend::check(cudaGraphLaunch(graph_->ready, backend::stream()), "a graph");
}

void Sequence::forget()
{
    if (graph_) graph_->runs = 0;
}

double memory_bandwidth()
{
    constexpr size_t n = size_t{1} << 26;
    const Memory<float4> a(n), b(n);
    Memory<float4> c(n);
    double best = 0;
    for (int repeat = 0; repeat < 5; ++repeat) {
        backend::wait();
        const Timer timer;
        triad<<<n / backend::threads_per_block, backend::threads_per_block, 0, backend::stream()>>>(a.data(), b.data(),
                                                                                                    c.data());
        backend::wait();
        best = std::max(best, 3.0 * sizeof(float4) * n / timer.seconds());
    }
    return best;
}

int parallel_starts(const char* name, int* counts, int n)
{
    if (n == 0) return 0;
    int last = 0, end = 0;
    backend::copy(&last, counts + n - 1, sizeof last);
    size_t bytes = 0;
    backend::check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, counts, counts, n, backend::stream()), name);
    void* const workspace = backend::partials(bytes / sizeof(double) + 1);
    {
        const backend::Launch launch(name, n);
        backend::check(cub::DeviceScan::ExclusiveSum(workspace, bytes, counts, counts, n, backend::stream()), name);
    }
    backend::copy(&end, counts + n - 1, sizeof end);
    return end + last;
}

const void* DeviceCopy::of_bytes(const void* made, size_t bytes) const
{
    if (!copy_) {
        void* there = nullptr;
        backend::check(cudaMallocAsync(&there, bytes ? bytes : 1, backend::stream()), "memory for a list");
        copy_ = std::shared_ptr<void>(there, [](void* p) { (void)cudaFreeAsync(p, backend::stream()); });
        backend::check(cudaMemcpyAsync(there, made, bytes, cudaMemcpyHostToDevice, backend::stream()), "a list");
    }
    return copy_.get();
}

namespace backend {

void check(cudaError_t error, const char* what)
{
    if (error != cudaSuccess) throw RunError(std::string("CUDA: ") + what + ": " + cudaGetErrorString(error));
}

cudaStream_t stream() { return context().beside ? context().copies : context().stream; }

double* partials(size_t n)
{
    Context& c = context();
    if (c.workspace < n) {
        wait();
        check(cudaFree(c.partials), "freeing memory");
        c.workspace = 2 * n;
        check(cudaMalloc(&c.partials, c.workspace * sizeof(double)), "memory for reductions");
    }
    return c.partials;
}

double* result() { return context().result; }

void wait() { check(cudaStreamSynchronize(stream()), "a kernel"); }

Launch::Launch(const char* name, long cells) : name_(name), cells_(cells)
{
    if (!profiling_on) return;
    if (!before) {
        check(cudaEventCreate(&before), "an event");
        check(cudaEventCreate(&after), "an event");
    }
    check(cudaEventRecord(before, stream()), "an event");
}

Launch::~Launch() noexcept(false)
{
    if (std::uncaught_exceptions() > before_) return;
    check(cudaGetLastError(), name_);
    if (!profiling_on) return;
    float ms = 0;
    check(cudaEventRecord(after, stream()), "an event");
    check(cudaEventSynchronize(after), name_);
    check(cudaEventElapsedTime(&ms, before, after), "an event");
    record(name_, 1e-3 * ms, cells_);
}

void finish(Add, const double* partial, int n, double* to)
{
    finish_all<Add><<<1, 1024, 0, stream()>>>(partial, n, to);
}
void finish(Larger, const double* partial, int n, double* to)
{
    finish_all<Larger><<<1, 1024, 0, stream()>>>(partial, n, to);
}

void* allocate(size_t bytes, Where where)
{
    void* memory = nullptr;
    const size_t some = bytes ? bytes : 1;
    const cudaError_t error =
        where == Where::kernels ? cudaMalloc(&memory, some) : cudaHostAlloc(&memory, some, cudaHostAllocDefault);
    if (error == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        throw std::bad_alloc();
    }
    check(error, "memory");
    if (where == Where::kernels)
        check(cudaMemsetAsync(memory, 0, some, stream()), "clearing memory");
    else
        std::memset(memory, 0, some);
    return memory;
}

void release(void* memory, Where where) noexcept
{
    (void)(where == Where::kernels ? cudaFree(memory) : cudaFreeHost(memory));
}

void copy(void* to, const void* from, size_t bytes)
{
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream()), "a copy");
    wait();
}

void copy_in_order(void* to, const void* from, size_t bytes)
{
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream()), "a copy");
}

void copy_beside(void* to, const void* from, size_t bytes)
{
    const AsynchronousCopy beside;
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream()), "a copy");
}
void follow_copies() { check(cudaStreamWaitEvent(context().stream, context().copies_done), "an event"); }
void wait_for_copies() { check(cudaStreamSynchronize(context().copies), "a copy"); }

AsynchronousCopy::AsynchronousCopy()
{
    Context& c = context();
    check(cudaEventRecord(c.kernels_done, c.stream), "an event");
    check(cudaStreamWaitEvent(c.copies, c.kernels_done), "an event");
    ++c.beside;
}
AsynchronousCopy::~AsynchronousCopy()
{
    Context& c = context();
    --c.beside;
    // An error here is told by whoever waits for the copies.
    (void)cudaEventRecord(c.copies_done, c.copies);
}

void fill(float* to, float value, size_t n)
{
    if (n) fill_all<<<1024, threads_per_block, 0, stream()>>>(to, value, n);
}
void fill(uint8_t* to, uint8_t value, size_t n) { check(cudaMemsetAsync(to, value, n, stream()), "filling memory"); }

}  // namespace backend

}  // namespace tarn
