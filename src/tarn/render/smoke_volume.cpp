#include "tarn/render/smoke_volume.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tarn {

namespace {

constexpr int width = 8;  // of a tile, in cells

size_t index_of(Cell<3> c, Cell<3> count)
{
    return static_cast<size_t>(c[0]) + static_cast<size_t>(count[0]) * (static_cast<size_t>(c[1]) + static_cast<size_t>(count[1]) * static_cast<size_t>(c[2]));
}

}  // namespace

SmokeVolume::SmokeVolume(Cell<3> cells, float h, std::vector<float> density, float extinction, Vec3f albedo, float forward)
    : cells_(cells), h_(h), extinction_(extinction), forward_(forward), albedo_(albedo), density_(std::move(density))
{
    for (float& d : density_) d = std::max(d, 0.0f);
    for (int a = 0; a < 3; ++a) tiles_[a] = (cells[a] + width - 1) / width;
    most_.assign(static_cast<size_t>(tiles_[0]) * static_cast<size_t>(tiles_[1]) * static_cast<size_t>(tiles_[2]), 0.0f);
    Cell<3> t;
    for (t[2] = 0; t[2] < tiles_[2]; ++t[2])
        for (t[1] = 0; t[1] < tiles_[1]; ++t[1])
            for (t[0] = 0; t[0] < tiles_[0]; ++t[0]) {
                // What is interpolated reaches a cell further.
                Cell<3> lo, hi, c;
                for (int a = 0; a < 3; ++a) {
                    lo[a] = std::max(0, width * t[a] - 1);
                    hi[a] = std::min(cells[a], width * (t[a] + 1) + 1);
                }
                float& most = most_[index_of(t, tiles_)];
                for (c[2] = lo[2]; c[2] < hi[2]; ++c[2])
                    for (c[1] = lo[1]; c[1] < hi[1]; ++c[1])
                        for (c[0] = lo[0]; c[0] < hi[0]; ++c[0]) most = std::max(most, density_[index_of(c, cells)]);
            }
}

float SmokeVolume::extinction_at(Vec3f x) const
{
    size_t first = 0, next[3];
    float weight[3];
    size_t stride = 1;
    for (int a = 0; a < 3; ++a) {
        const float p = x[a] / h_, last = static_cast<float>(cells_[a] - 1);
        if (p < 0 || p > static_cast<float>(cells_[a])) return 0;
        const float q = std::clamp(p - 0.5f, 0.0f, last);
        const int i = std::min(static_cast<int>(q), std::max(0, cells_[a] - 2));
        weight[a] = q - static_cast<float>(i);
        first += stride * static_cast<size_t>(i);
        next[a] = cells_[a] > 1 ? stride : 0;
        stride *= static_cast<size_t>(cells_[a]);
    }
    const auto row = [&](size_t i) { return mix(density_[i], density_[i + next[0]], weight[0]); };
    const auto layer = [&](size_t i) { return mix(row(i), row(i + next[1]), weight[1]); };
    return extinction_ * mix(layer(first), layer(first + next[2]), weight[2]);
}

// The part of the ray before t_max that is in the grid; empty where begin is not less than end.
void SmokeVolume::clip(const Ray& ray, float& begin, float& end) const
{
    for (int a = 0; a < 3; ++a) {
        const float size = h_ * static_cast<float>(cells_[a]);
        if (ray.d[a] == 0) {
            if (ray.o[a] < 0 || ray.o[a] > size) end = begin;
            continue;
        }
        const float one = -ray.o[a] / ray.d[a], other = (size - ray.o[a]) / ray.d[a];
        begin = std::max(begin, std::min(one, other));
        end = std::min(end, std::max(one, other));
    }
}

// Calls f(begin, end, most) for the parts of the ray in tiles that hold smoke, in order, until it returns false.
template <class F>
void SmokeVolume::walk(const Ray& ray, float t_max, const F& f) const
{
    float begin = 0, end = t_max;
    clip(ray, begin, end);
    if (!(begin < end)) return;
    const float side = h_ * width;
    const Vec3f start = ray.at(begin);
    Cell<3> tile;
    float leaves[3], across[3];  // where the ray leaves the tile along each axis, and how long it takes through one
    for (int a = 0; a < 3; ++a) {
        tile[a] = std::clamp(static_cast<int>(start[a] / side), 0, tiles_[a] - 1);
        const float to = side * static_cast<float>(ray.d[a] > 0 ? tile[a] + 1 : tile[a]);
        leaves[a] = ray.d[a] != 0 ? (to - ray.o[a]) / ray.d[a] : endless;
        across[a] = ray.d[a] != 0 ? side / std::fabs(ray.d[a]) : endless;
    }
    while (begin < end) {
        int axis = 0;
        for (int a = 1; a < 3; ++a)
            if (leaves[a] < leaves[axis]) axis = a;
        const float out = std::min(end, leaves[axis]), most = extinction_ * most_[index_of(tile, tiles_)];
        if (most > 0 && out > begin && !f(begin, out, most)) return;
        begin = std::max(begin, out);
        tile[axis] += ray.d[axis] > 0 ? 1 : -1;
        if (tile[axis] < 0 || tile[axis] >= tiles_[axis]) return;
        leaves[axis] += across[axis];
    }
}

bool SmokeVolume::enters(float& t, const Ray& ray, float t_max) const
{
    bool any = false;
    walk(ray, t_max, [&](float, float, float) {
        any = true;
        return false;
    });
    float end = t_max;
    t = 1e-3f * h_;
    clip(ray, t, end);
    return any;
}

bool SmokeVolume::collides(float& t, const Ray& ray, float t_max, Random& random) const
{
    bool found = false;
    walk(ray, t_max, [&](float begin, float end, float most) {
        for (t = begin - std::log(1 - random.next()) / most; t < end; t -= std::log(1 - random.next()) / most)
            if (random.next() * most < extinction_at(ray.at(t))) {
                found = true;
                return false;
            }
        return true;
    });
    return found;
}

float SmokeVolume::transmittance(const Ray& ray, float t_max, Random& random) const
{
    // What gets little light through ends by chance, and stands for what does not.
    constexpr float little = 0.05f;
    float left = 1;
    walk(ray, t_max, [&](float begin, float end, float most) {
        for (float t = begin - std::log(1 - random.next()) / most; t < end; t -= std::log(1 - random.next()) / most) {
            left *= 1 - std::min(1.0f, extinction_at(ray.at(t)) / most);
            if (left < little) left = random.next() * little < left ? little : 0.0f;
            if (left == 0) return false;
        }
        return true;
    });
    return left;
}

}  // namespace tarn
