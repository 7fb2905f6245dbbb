#include "tarn/serve/slices.h"

#include <algorithm>
#include <cmath>

#include "tarn/field/sample.h"

namespace tarn {

std::string Slices::cut(const std::string& path, int dimension, SliceOf what, int axis, double share)
{
    const std::lock_guard lock(mutex_);
    if (path != path_) {
        path_.clear();
        if (dimension == 2)
            flat_ = read_state<2>(path);
        else
            state_ = read_state<3>(path);
        path_ = path;
    }
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
