#pragma once
// Zeroed memory for fields, where the kernels run: on a GPU its own. On a CPU, pages that no kernel touches are never
// resident, so memory follows the water.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace tarn {

// Where the kernels run, or where the program does. On a CPU they are the same.
enum class Where { kernels, program };

namespace backend {
void* allocate(size_t bytes, Where where);  // zeroed; throws std::bad_alloc
void release(void* memory, Where where) noexcept;
// Between any two places, and done on return. Pages that already agree are not written, hence not made resident.
void copy(void* to, const void* from, size_t bytes);
// The same between places of kernels, done when the kernels that follow look.
void copy_in_order(void* to, const void* from, size_t bytes);
// A copy that goes on beside the kernels that follow. Those that overwrite `from` come after follow_copies(); the
// program reads `to` after wait_for_copies().
void copy_beside(void* to, const void* from, size_t bytes);
void follow_copies();
void wait_for_copies();
// While it lives, loops go where those copies do, after one another. They may not be reductions, whose room is shared.
class AsynchronousCopy {
public:
    AsynchronousCopy();
    ~AsynchronousCopy();
    AsynchronousCopy(const AsynchronousCopy&) = delete;
    AsynchronousCopy& operator=(const AsynchronousCopy&) = delete;
};
void fill(float* to, float value, size_t n);
void fill(uint8_t* to, uint8_t value, size_t n);
}  // namespace backend

template <class T>
class Memory {
public:
    Memory() = default;
    explicit Memory(size_t n, Where where = Where::kernels)
        : data_(static_cast<T*>(backend::allocate(n * sizeof(T), where))), size_(n), where_(where)
    {
    }
    ~Memory()
    {
        if (data_) backend::release(data_, where_);
    }
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
    Where where() const { return where_; }
    void swap(Memory& other) noexcept
    {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(where_, other.where_);
    }

private:
    T* data_ = nullptr;
    size_t size_ = 0;
    Where where_ = Where::kernels;
};

// Room for at least n values, which may hold anything.
template <class T>
T* storage_for(Memory<T>& memory, int n)
{
    const size_t needed = static_cast<size_t>(n);
    if (memory.size() < needed) memory = Memory<T>(needed + needed / 4);
    return memory.data();
}

// Something that the program made once, where kernels can read it: copied on the first call, on a CPU never. Copies of
// the owner share it.
class DeviceCopy {
public:
    template <class T>
    const T* of(const T* made, size_t n) const
    {
        return static_cast<const T*>(of_bytes(made, n * sizeof(T)));
    }

private:
    const void* of_bytes(const void* made, size_t bytes) const;

    mutable std::shared_ptr<void> copy_;
};

}  // namespace tarn
