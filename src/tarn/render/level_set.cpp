#include "tarn/render/level_set.h"

#include <algorithm>
#include <cmath>

#include "tarn/backend/parallel.h"
#include "tarn/base/error.h"

namespace tarn {

namespace {

typedef float Float4 __attribute__((vector_size(16)));

Float4 load4(const float* p)
{
    Float4 v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}
float sum4(Float4 v) { return (v[0] + v[1]) + (v[2] + v[3]); }

// Catmull-Rom: the cubic through four samples whose slopes at the middle two are central differences.
Float4 cubic_weights(float f)
{
    const float f2 = f * f, f3 = f2 * f;
    return Float4{-0.5f * f3 + f2 - 0.5f * f, 1.5f * f3 - 2.5f * f2 + 1, -1.5f * f3 + 2 * f2 + 0.5f * f,
                  0.5f * f3 - 0.5f * f2};
}
Float4 cubic_slopes(float f)
{
    const float f2 = f * f;
    return Float4{-1.5f * f2 + 2 * f - 0.5f, 4.5f * f2 - 5 * f, -4.5f * f2 + 4 * f + 0.5f, 1.5f * f2 - f};
}

// These make most of a picture's time, and are small: the compiler is told to put them where they are called.
#define TARN_INLINE inline __attribute__((always_inline))

struct Place {
    size_t index;  // of the lower corner
    float f[3];
};

TARN_INLINE float cubic_value(const float* v, const Place& p, int row, int layer)
{
    const Float4 wx = cubic_weights(p.f[0]), wy = cubic_weights(p.f[1]), wz = cubic_weights(p.f[2]);
    const float* corner = v + p.index - 1 - row - layer;
    Float4 sum{};
    for (int k = 0; k < 4; ++k) {
        const float* l = corner + k * layer;
        sum += wz[k] *
               (wy[0] * load4(l) + wy[1] * load4(l + row) + wy[2] * load4(l + 2 * row) + wy[3] * load4(l + 3 * row));
    }
    return sum4(wx * sum);
}

Vec3f cubic_gradient(const float* v, const Place& p, int row, int layer)
{
    const Float4 wx = cubic_weights(p.f[0]), wy = cubic_weights(p.f[1]), wz = cubic_weights(p.f[2]);
    const Float4 sx = cubic_slopes(p.f[0]), sy = cubic_slopes(p.f[1]), sz = cubic_slopes(p.f[2]);
    const float* corner = v + p.index - 1 - row - layer;
    Float4 plain{}, along_y{}, along_z{};
    for (int k = 0; k < 4; ++k) {
        const float* l = corner + k * layer;
        const Float4 a = load4(l), b = load4(l + row), c = load4(l + 2 * row), d = load4(l + 3 * row);
        const Float4 value = wy[0] * a + wy[1] * b + wy[2] * c + wy[3] * d;
        plain += wz[k] * value;
        along_z += sz[k] * value;
        along_y += wz[k] * (sy[0] * a + sy[1] * b + sy[2] * c + sy[3] * d);
    }
    return {sum4(sx * plain), sum4(wx * along_y), sum4(wx * along_z)};
}

TARN_INLINE float linear_value(const float* v, const Place& p, int row, int layer)
{
    const float* c = v + p.index;
    const float f = p.f[0];
    const float y0 = c[0] + f * (c[1] - c[0]), y1 = c[row] + f * (c[row + 1] - c[row]);
    const float y2 = c[layer] + f * (c[layer + 1] - c[layer]);
    const float y3 = c[layer + row] + f * (c[layer + row + 1] - c[layer + row]);
    const float z0 = y0 + p.f[1] * (y1 - y0), z1 = y2 + p.f[1] * (y3 - y2);
    return z0 + p.f[2] * (z1 - z0);
}

// Central differences, interpolated.
Vec3f linear_gradient(const float* v, const Place& p, int row, int layer)
{
    const int step[3] = {1, row, layer};
    Vec3f g;
    for (int a = 0; a < 3; ++a) {
        Place up = p, down = p;
        up.index += static_cast<size_t>(step[a]);
        down.index -= static_cast<size_t>(step[a]);
        g[a] = 0.5f * (linear_value(v, up, row, layer) - linear_value(v, down, row, layer));
    }
    return g;
}

}  // namespace

LevelSet::LevelSet(Cell<3> samples, Vec3f origin, float spacing, const std::vector<float>& phi, Vec3f lo, Vec3f hi,
                   Filter filter, const std::vector<float>* next)
    : samples_(samples),
      origin_(origin),
      lo_(lo),
      hi_(hi),
      spacing_(spacing),
      inverse_spacing_(1 / spacing),
      filter_(filter),
      moving_(next != nullptr)
{
    for (int a = 0; a < 3; ++a) {
        padded_[a] = samples[a] + 2 * pad;
        last_[a] = static_cast<float>(samples[a] - 1);
    }
    row_ = padded_[0];
    layer_ = padded_[0] * padded_[1];
    const size_t count = static_cast<size_t>(samples[0]) * static_cast<size_t>(samples[1] * samples[2]);
    TARN_CHECK_EQ(phi.size(), count);
    const auto copy = [&](std::vector<float>& to, const std::vector<float>& from) {
        to.resize(static_cast<size_t>(layer_) * static_cast<size_t>(padded_[2]));
        parallel_rows("copy level set", padded_[2], [&](int k) {
            const int c = std::clamp(k - pad, 0, samples[2] - 1);
            for (int j = 0; j < padded_[1]; ++j) {
                const int b = std::clamp(j - pad, 0, samples[1] - 1);
                const float* line = from.data() + static_cast<size_t>(b + c * samples[1]) * samples[0];
                float* out = to.data() + static_cast<size_t>(k) * layer_ + static_cast<size_t>(j) * row_;
                for (int i = 0; i < padded_[0]; ++i)
                    out[i] = inverse_spacing_ * line[std::clamp(i - pad, 0, samples[0] - 1)];
            }
        });
    };
    copy(now_, phi);
    if (moving_) {
        TARN_CHECK_EQ(next->size(), count);
        copy(next_, *next);
    }
    find_gaps();
}

// A block may hold a surface where the samples that its filters look at have both signs. Rings grow from there.
void LevelSet::find_gaps()
{
    for (int a = 0; a < 3; ++a) blocks_[a] = (samples_[a] + block - 1) / block;
    constexpr uint8_t most = 16;
    const auto index = [&](int i, int j, int k) { return static_cast<size_t>((k * blocks_[1] + j) * blocks_[0] + i); };
    rings_.assign(static_cast<size_t>(blocks_[0]) * static_cast<size_t>(blocks_[1] * blocks_[2]), most);
    parallel_rows("find gaps", blocks_[2], [&](int bk) {
        for (int bj = 0; bj < blocks_[1]; ++bj)
            for (int bi = 0; bi < blocks_[0]; ++bi) {
                bool wet = false, dry = false;
                for (int k = bk * block - 1; k <= (bk + 1) * block + 1; ++k)
                    for (int j = bj * block - 1; j <= (bj + 1) * block + 1; ++j)
                        for (int i = bi * block - 1; i <= (bi + 1) * block + 1; ++i) {
                            const int c[3] = {std::min(i + pad, padded_[0] - 1), std::min(j + pad, padded_[1] - 1),
                                              std::min(k + pad, padded_[2] - 1)};
                            const size_t s = static_cast<size_t>(c[2]) * layer_ + static_cast<size_t>(c[1]) * row_ +
                                             static_cast<size_t>(c[0]);
                            (now_[s] < 0 ? wet : dry) = true;
                            if (moving_) (next_[s] < 0 ? wet : dry) = true;
                        }
                if (wet && dry) rings_[index(bi, bj, bk)] = 0;
            }
    });
    // Outermost blocks reach to the end of the box.
    wet_lo_ = Vec3f::all(endless);
    wet_hi_ = Vec3f::all(-endless);
    for (int k = 0; k < blocks_[2]; ++k)
        for (int j = 0; j < blocks_[1]; ++j)
            for (int i = 0; i < blocks_[0]; ++i) {
                const Cell<3> b{i, j, k};
                size_t first = 0;
                for (int a = 2; a >= 0; --a)
                    first = first * static_cast<size_t>(padded_[a]) + static_cast<size_t>(b[a] * block + pad);
                if (rings_[index(i, j, k)] > 0 && !(now_[first] < 0)) continue;
                for (int a = 0; a < 3; ++a) {
                    const float from = origin_[a] + spacing_ * static_cast<float>(b[a] * block - 1);
                    const float to = origin_[a] + spacing_ * static_cast<float>((b[a] + 1) * block + 1);
                    wet_lo_[a] = std::min(wet_lo_[a], b[a] == 0 ? lo_[a] : std::max(from, lo_[a]));
                    wet_hi_[a] = std::max(wet_hi_[a], b[a] == blocks_[a] - 1 ? hi_[a] : std::min(to, hi_[a]));
                }
            }
    // Chebyshev distance in blocks, one axis after the other: the least of max(steps along this axis, rings so far).
    for (int axis = 0; axis < 3; ++axis) {
        const std::vector<uint8_t> before = rings_;
        parallel_rows("find gaps", blocks_[2], [&](int k) {
            for (int j = 0; j < blocks_[1]; ++j)
                for (int i = 0; i < blocks_[0]; ++i) {
                    Cell<3> c{i, j, k};
                    uint8_t least = before[index(i, j, k)];
                    for (int s = 1; s < least; ++s)
                        for (const int side : {-s, s}) {
                            const int there = c[axis] + side;
                            if (there < 0 || there >= blocks_[axis]) continue;
                            Cell<3> n = c;
                            n[axis] = there;
                            least = std::min(least, std::max(static_cast<uint8_t>(s), before[index(n[0], n[1], n[2])]));
                        }
                    rings_[index(i, j, k)] = least;
                }
        });
    }
}

namespace {

// The samples around a point; beyond the outermost, those.
TARN_INLINE Place place_of(Vec3f u, Cell<3> samples, int row, int layer)
{
    constexpr int pad = 2;
    Place p;
    int i[3];
    for (int a = 0; a < 3; ++a) {
        const float q = std::min(std::max(u[a], 0.0f), static_cast<float>(samples[a] - 1));
        i[a] = std::min(static_cast<int>(q), samples[a] - 2);
        p.f[a] = q - static_cast<float>(i[a]);
    }
    p.index = static_cast<size_t>(i[0] + pad) + static_cast<size_t>((i[1] + pad) * row) +
              static_cast<size_t>(i[2] + pad) * static_cast<size_t>(layer);
    return p;
}

}  // namespace

TARN_INLINE float LevelSet::at_surface(Vec3f u, float time) const
{
    const Place p = place_of(u, samples_, row_, layer_);
    const auto of = [&](const std::vector<float>& v) {
        return filter_ == Filter::trilinear ? linear_value(v.data(), p, row_, layer_)
                                            : cubic_value(v.data(), p, row_, layer_);
    };
    const float value = of(now_);
    return moving_ ? value + time * (of(next_) - value) : value;
}

TARN_INLINE float LevelSet::at(Vec3f u, float time) const
{
    const Place p = place_of(u, samples_, row_, layer_);
    float value = linear_value(now_.data(), p, row_, layer_);
    if (moving_) value += time * (linear_value(next_.data(), p, row_, layer_) - value);
    // The filters differ by little: far from the surface either tells the way to go.
    return std::abs(value) > 0.4f ? value : at_surface(u, time);
}

Vec3f LevelSet::gradient(Vec3f u, float time) const
{
    const auto of = filter_ == Filter::trilinear ? linear_gradient : cubic_gradient;
    const Place p = place_of(u, samples_, row_, layer_);
    Vec3f g = of(now_.data(), p, row_, layer_);
    if (moving_) g += time * (of(next_.data(), p, row_, layer_) - g);
    return g;
}

float LevelSet::value(Vec3f x, float time) const { return spacing_ * at(to_grid(x), time); }

bool LevelSet::contains(Vec3f x, float time) const
{
    for (int a = 0; a < 3; ++a)
        if (x[a] < lo_[a] || x[a] > hi_[a]) return false;
    return at(to_grid(x), time) < 0;
}

bool LevelSet::march(float& found, Vec3f o, Vec3f d, float from, float to, float time, float sign) const
{
    // A sheet thinner than the shortest step may be missed where it is grazed; it is thinner than the grid can hold.
    constexpr float shortest = 0.3f, caution = 0.95f, near_enough = 2e-4f;
    // Closer than this to a surface there is no block without one to be skipped.
    constexpr float close = 2;
    // A component of zero never leads out of a block: its way is infinite.
    Vec3f inverse;
    bool up[3];
    for (int a = 0; a < 3; ++a) {
        up[a] = d[a] >= 0;
        inverse[a] = d[a] == 0 ? endless : 1 / d[a];
    }
    float t = from, before = from, here = close, now;
    for (;;) {
        const Vec3f u = o + t * d;
        if (here >= close) {
            unsigned b[3];
            for (int a = 0; a < 3; ++a) b[a] = static_cast<unsigned>(std::min(std::max(u[a], 0.0f), last_[a])) / block;
            const int rings =
                rings_[(b[2] * static_cast<unsigned>(blocks_[1]) + b[1]) * static_cast<unsigned>(blocks_[0]) + b[0]];
            if (rings > 0) {
                // On to where the ray leaves the blocks that hold no surface; outermost blocks go on for ever.
                float leaves = endless;
                for (int a = 0; a < 3; ++a) {
                    const int end = static_cast<int>(b[a]) + (up[a] ? rings : 1 - rings);
                    const float there = (static_cast<float>(end * block) - o[a]) * inverse[a];
                    leaves = end > 0 && end < blocks_[a] && there < leaves ? there : leaves;
                }
                before = t;
                t = std::max(leaves, t) + 1e-3f;
                if (t >= to) return false;
                continue;
            }
        }
        now = sign * at(u, time);
        if (now <= 0) break;
        if (t >= to) return false;
        before = t;
        here = now;
        t = std::min(t + std::max(caution * now, shortest), to);
    }

    // The root lies between: regula falsi, halving the weight of an end that stays (Illinois).
    float lo = before, hi = t, f_lo = here, f_hi = now;
    for (int i = 0, stayed = 0; i < 12 && hi > lo && f_hi < -near_enough; ++i) {
        t = lo + (hi - lo) * f_lo / (f_lo - f_hi);
        const float f = sign * at_surface(o + t * d, time);
        if (std::abs(f) < near_enough) break;
        if (f > 0) {
            lo = t;
            f_lo = f;
            if (stayed == 1) f_hi *= 0.5f;
            stayed = 1;
        } else {
            hi = t;
            f_hi = f;
            if (stayed == -1) f_lo *= 0.5f;
            stayed = -1;
        }
    }
    found = t;
    return true;
}

bool LevelSet::find(float& t, int& face, const Ray& ray, float t_max, bool inside) const
{
    face = -1;
    // From outside there is nothing to be met beyond the blocks that are wet.
    const Span s = inside ? span_of_box(ray, lo_, hi_) : span_of_box(ray, wet_lo_, wet_hi_);
    if (s.empty() || s.out <= 0 || s.in >= t_max) return false;
    const Vec3f o = to_grid(ray.o);
    const float from = inverse_spacing_ * std::max(s.in, 0.0f), to = inverse_spacing_ * std::min(s.out, t_max);
    const auto face_at = [&](Vec3f x) {
        float least = endless;
        int which = 0;
        for (int a = 0; a < 3; ++a) {
            const float below = std::abs(x[a] - lo_[a]), above = std::abs(x[a] - hi_[a]);
            if (below < least) least = below, which = 2 * a;
            if (above < least) least = above, which = 2 * a + 1;
        }
        return which;
    };
    if (!inside && s.in > 0 && at(o + from * ray.d, ray.time) < 0) {
        t = s.in;
        face = face_at(ray.at(t));
        return true;
    }
    if (march(t, o, ray.d, from, to, ray.time, inside ? -1.0f : 1.0f)) {
        t *= spacing_;
        return t < t_max;
    }
    // A ray that is still inside where the box ends leaves through its face.
    if (!inside || s.out >= t_max) return false;
    t = s.out;
    face = face_at(ray.at(t));
    return true;
}

bool LevelSet::cross(Crossing& found, const Ray& ray, float t_max, bool inside) const
{
    int face;
    if (!find(found.t, face, ray, t_max, inside)) return false;
    if (face >= 0) {
        found.normal = (face & 1 ? 1.0f : -1.0f) * Vec3f::unit(face / 2);
        return true;
    }
    const Vec3f g = gradient(to_grid(ray.at(found.t)), ray.time);
    const float steepness = length(g);
    // In a crease phi has no slope; then the surface faces the ray.
    found.normal = steepness > 1e-6f ? (1 / steepness) * g : (inside ? 1.0f : -1.0f) * ray.d;
    return true;
}

bool LevelSet::blocks(const Ray& ray, float t_max, bool inside) const
{
    float t;
    int face;
    return find(t, face, ray, t_max, inside);
}

}  // namespace tarn
