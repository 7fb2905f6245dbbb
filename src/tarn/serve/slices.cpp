#include "tarn/serve/slices.h"

#include <algorithm>
#include <cmath>

#include "tarn/field/sample.h"
#include "tarn/phases/droplets_read.h"

namespace tarn {

namespace {

template <int D>
std::string drops_of(const FrameState<D>& state)
{
    std::string bytes;
    for (const Droplet<D>& f : read_fragments(state.droplets)) {
        if (!(f.volume > 0)) continue;
        const Vec3 x = lift<D>(state.grid.h * (f.x + Vec<D>::all(0.5)));
        const float values[5] = {static_cast<float>(x[0]), static_cast<float>(x[1]), static_cast<float>(x[2]),
                                 static_cast<float>(state.grid.h * radius_of<D>(f.volume)), static_cast<float>(f.kind)};
        bytes.append(reinterpret_cast<const char*>(values), sizeof values);
    }
    return bytes;
}

}  // namespace

void Slices::read(const std::string& path, int dimension)
{
    if (path == path_) return;
    path_.clear();
    if (dimension == 2)
        flat_ = read_state<2>(path);
    else
        state_ = read_state<3>(path);
    path_ = path;
}

std::string Slices::drops(const std::string& path, int dimension)
{
    const std::lock_guard lock(mutex_);
    read(path, dimension);
    return dimension == 2 ? drops_of(flat_) : drops_of(state_);
}

std::string Slices::cut(const std::string& path, int dimension, SliceOf what, int axis, double share)
{
    const std::lock_guard lock(mutex_);
    read(path, dimension);
    return dimension == 2 ? cut_state(flat_, what, 2, share) : cut_state(state_, what, axis, share);
}

template <int D>
std::string Slices::cut_state(const FrameState<D>& state, SliceOf what, int axis, double share) const
{
    const Cell<D> cells = state.grid.cells;
    const int across = axis == 0 ? D - 1 : 0, up = axis == 1 ? D - 1 : 1;  // z y; x z; x y
    const int32_t size[2] = {cells[across], cells[up]};
    std::string bytes(reinterpret_cast<const char*>(size), sizeof size);
    bytes.reserve(bytes.size() + sizeof(float) * static_cast<size_t>(size[0]) * static_cast<size_t>(size[1]));
    Cell<D> c;
    if (axis < D) c[axis] = std::clamp(static_cast<int>(share * cells[axis]), 0, cells[axis] - 1);
    for (c[up] = 0; c[up] < cells[up]; ++c[up])
        for (c[across] = 0; c[across] < cells[across]; ++c[across]) {
            const float value = what == SliceOf::phi ? state.phi(c) : length(velocity_at_cell(state.velocity.view(), c));
            bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
        }
    return bytes;
}

}  // namespace tarn
