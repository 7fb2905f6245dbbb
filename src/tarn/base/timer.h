#pragma once

#include <chrono>

namespace tarn {

// Seconds since it was made.
class Timer {
public:
    double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Adds the life of a scope to a total.
class ScopedTimer {
public:
    explicit ScopedTimer(double& total) : total_(total) {}
    ~ScopedTimer() { total_ += timer_.seconds(); }
    ScopedTimer(const ScopedTimer&) = delete;
    ScopedTimer& operator=(const ScopedTimer&) = delete;

private:
    double& total_;
    Timer timer_;
};

}  // namespace tarn
