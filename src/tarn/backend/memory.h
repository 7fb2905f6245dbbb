#pragma once
// Zeroed memory for fields. Pages that no kernel touches are never resident, so memory follows the water.

#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

namespace tarn {

template <class T>
class Memory {
public:
    Memory() = default;
    explicit Memory(size_t n) : data_(static_cast<T*>(std::calloc(n ? n : 1, sizeof(T)))), size_(n)
    {
        if (!data_) throw std::bad_alloc();
    }
    ~Memory() { std::free(data_); }
    Memory(Memory&& other) noexcept { swap(other); }
    Memory& operator=(Memory&& other) noexcept
    {
        swap(other);
        return *this;
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    T* data() { return data_; }
    const T* data() const { return data_; }
    size_t size() const { return size_; }
    void swap(Memory& other) noexcept
    {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
    }

private:
    T* data_ = nullptr;
    size_t size_ = 0;
};

}  // namespace tarn
