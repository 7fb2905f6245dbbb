#include "tarn/render/light.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tarn/render/material.h"

namespace tarn {

namespace {

constexpr float pi = std::numbers::pi_v<float>;

// The last of n running sums that is not above x, without branches to be mistaken about.
int last_not_above(const float* sums, int n, float x)
{
    const float* first = sums;
    while (n > 1) {
        const int half = n / 2;
        first += first[half] <= x ? half : 0;
        n -= half;
    }
    return static_cast<int>(first - sums);
}

}  // namespace

float Sun::solid_angle() const { return 2 * pi * (1 - cos_radius); }
Vec3f Sun::radiance() const { return (1 / solid_angle()) * irradiance; }

Vec3f Sun::sample(float u, float v) const
{
    const float c = 1 - u * (1 - cos_radius), s = std::sqrt(std::max(0.0f, 1 - c * c)), angle = 2 * pi * v;
    return Frame(direction).out({s * std::cos(angle), s * std::sin(angle), c});
}

Dome::Dome(int width, int height, std::vector<Vec3f> pixels)
    : width_(width), height_(height), pixels_(std::move(pixels))
{
    rows_.reserve(static_cast<size_t>(height) + 1);
    cells_.reserve(static_cast<size_t>(width + 1) * static_cast<size_t>(height));
    rows_.push_back(0);
    for (int j = 0; j < height; ++j) {
        sines_.push_back(std::sin(pi * (static_cast<float>(j) + 0.5f) / static_cast<float>(height)));
        double sum = 0;
        cells_.push_back(0);
        for (int i = 0; i < width; ++i) {
            const Vec3f& p = pixels_[static_cast<size_t>(j) * static_cast<size_t>(width) + static_cast<size_t>(i)];
            sum += luminance(p);
            cells_.push_back(static_cast<float>(sum));
        }
        total_ += sum * sines_.back();
        rows_.push_back(static_cast<float>(total_));
    }
}

Dome::Place Dome::place_of(Vec3f d) const
{
    const float u = std::atan2(d[0], -d[2]) / (2 * pi) + 0.5f, v = std::acos(std::clamp(d[1], -1.0f, 1.0f)) / pi;
    return {u * static_cast<float>(width_), v * static_cast<float>(height_)};
}

// Bilinear, so that a reflection shows no pixels.
Vec3f Dome::radiance_at(Place p) const
{
    const float x = p.x - 0.5f, y = std::clamp(p.y - 0.5f, 0.0f, static_cast<float>(height_ - 1));
    const int i = static_cast<int>(std::floor(x)), j = static_cast<int>(y), k = std::min(j + 1, height_ - 1);
    const float fx = x - static_cast<float>(i), fy = y - static_cast<float>(j);
    const int left = i < 0 ? i + width_ : i, right = i + 1 < width_ ? i + 1 : i + 1 - width_;
    const auto at = [&](int a, int b) {
        return pixels_[static_cast<size_t>(b) * static_cast<size_t>(width_) + static_cast<size_t>(a)];
    };
    return mix(mix(at(left, j), at(right, j), fx), mix(at(left, k), at(right, k), fx), fy);
}

float Dome::density_at(int i, int j, float sine) const
{
    const size_t row = static_cast<size_t>(j) * static_cast<size_t>(width_ + 1) + static_cast<size_t>(i);
    const double brightness = cells_[row + 1] - cells_[row];
    // Brightness over its sum, over the pixel's solid angle: the sines cancel but for that of the direction.
    return static_cast<float>(brightness / total_ * width_ * height_ / (2 * pi * pi)) * sines_[static_cast<size_t>(j)] /
           sine;
}

Vec3f Dome::radiance(Vec3f d) const { return radiance_at(place_of(d)); }

Dome::Look Dome::look(Vec3f d) const
{
    const Place p = place_of(d);
    if (dark()) return {d, radiance_at(p), 0};
    const int i = std::clamp(static_cast<int>(p.x), 0, width_ - 1),
              j = std::clamp(static_cast<int>(p.y), 0, height_ - 1);
    return {d, radiance_at(p), density_at(i, j, std::sqrt(std::max(1e-12f, 1 - d[1] * d[1])))};
}

Dome::Look Dome::sample(float u, float v) const
{
    const auto pick = [](const float* sums, int n, float x, float& rest) {
        const int i = last_not_above(sums, n, x);
        const float width = sums[i + 1] - sums[i];
        rest = width > 0 ? std::clamp((x - sums[i]) / width, 0.0f, 0.999999f) : 0.5f;
        return i;
    };
    float fu, fv;
    const int j = pick(rows_.data(), height_, v * rows_.back(), fv);
    const float* row = cells_.data() + static_cast<size_t>(j) * static_cast<size_t>(width_ + 1);
    const int i = pick(row, width_, u * row[width_], fu);
    const Place p{static_cast<float>(i) + fu, static_cast<float>(j) + fv};
    const float longitude = 2 * pi * (p.x / static_cast<float>(width_) - 0.5f);
    const float polar = pi * p.y / static_cast<float>(height_), sine = std::sin(polar);
    return {{sine * std::sin(longitude), std::cos(polar), -sine * std::cos(longitude)},
            radiance_at(p),
            density_at(i, j, std::max(1e-6f, sine))};
}

bool AreaLight::hit(float& t, const Ray& ray, float t_max) const
{
    const float facing = dot(ray.d, normal);
    if (facing >= 0) return false;
    const float there = dot(centre - ray.o, normal) / facing;
    if (!(there > 0 && there < t_max)) return false;
    const Vec3f x = ray.at(there) - centre;
    if (std::abs(dot(x, u)) > dot(u, u) || std::abs(dot(x, v)) > dot(v, v)) return false;
    t = there;
    return true;
}

AreaLight make_area_light(Vec3f centre, Vec3f target, float width, float height, Vec3f power)
{
    AreaLight light;
    const Vec3f n = normalized(target - centre);
    const Vec3f side = std::abs(n[1]) < 0.999f ? normalized(cross(Vec3f{0, 1, 0}, n)) : Vec3f{1, 0, 0};
    light.centre = centre;
    light.u = (0.5f * width) * side;
    light.v = (0.5f * height) * cross(n, side);
    light.normal = n;
    // A surface of radiance L shines with pi L A.
    light.radiance = (1 / (pi * width * height)) * power;
    return light;
}

}  // namespace tarn
