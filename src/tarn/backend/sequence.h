#pragma once
// A sequence of kernels that is run many times over. A GPU keeps it as a graph, which it starts at once instead of
// kernel by kernel: short kernels would otherwise wait for the program. Elsewhere it is simply called.

#include <functional>
#include <memory>
#include <vector>

namespace tarn {

class Sequence {
public:
    Sequence();
    ~Sequence();
    Sequence(Sequence&&) noexcept;
    Sequence& operator=(Sequence&&) noexcept;

    // Runs the kernels that `launch` launches. They must be the same ones as before, unless forget() was called or the
    // memory they work in, `on`, is other; nothing in `launch` may wait for a result.
    void run(std::vector<const void*> on, const std::function<void()>& launch);
    void forget();

private:
    struct Graph;
    std::unique_ptr<Graph> graph_;
};

}  // namespace tarn
