#include "tarn/render/material.h"

#include <numbers>

namespace tarn {

namespace {

constexpr float pi = std::numbers::pi_v<float>;
constexpr float coat_ior = 1.5f;  // of plastic's clear surface

// Microfacets with the distribution of Trowbridge and Reitz (GGX), in the frame of the normal.
struct Facets {
    float alpha;

    explicit Facets(float roughness) : alpha(std::max(roughness * roughness, 1e-3f)) {}

    float distribution(float cosine) const
    {
        const float a2 = alpha * alpha, d = cosine * cosine * (a2 - 1) + 1;
        return a2 / (pi * d * d);
    }
    // Smith's shadowing of one direction.
    float seen(float cosine) const
    {
        const float a2 = alpha * alpha;
        return 2 * cosine / (cosine + std::sqrt(a2 + (1 - a2) * cosine * cosine));
    }
    // A facet drawn from those seen from `out` (Heitz 2018).
    Vec3f sample(Vec3f out, float u, float v) const
    {
        const Vec3f w = normalized({alpha * out[0], alpha * out[1], out[2]});
        const float across = w[0] * w[0] + w[1] * w[1];
        const Vec3f t1 = across > 0 ? (1 / std::sqrt(across)) * Vec3f{-w[1], w[0], 0} : Vec3f{1, 0, 0};
        const Vec3f t2 = cross(w, t1);
        const float r = std::sqrt(u), angle = 2 * pi * v, s = 0.5f * (1 + w[2]);
        const float p1 = r * std::cos(angle);
        const float p2 = (1 - s) * std::sqrt(std::max(0.0f, 1 - p1 * p1)) + s * r * std::sin(angle);
        const Vec3f h = p1 * t1 + p2 * t2 + std::sqrt(std::max(0.0f, 1 - p1 * p1 - p2 * p2)) * w;
        return normalized({alpha * h[0], alpha * h[1], std::max(1e-6f, h[2])});
    }
    float density(Vec3f out, Vec3f half) const { return seen(out[2]) * distribution(half[2]) / (4 * out[2]); }
};

Vec3f reflectance(const Material& m, Vec3f colour, float cosine)
{
    return m.kind == MaterialKind::metal ? mirror(colour, cosine) : Vec3f::all(fresnel(cosine, 1 / coat_ior));
}

// How often plastic's clear surface is drawn rather than the colour below it.
float share_of_coat(Vec3f colour, float cosine)
{
    const float f = fresnel(cosine, 1 / coat_ior);
    return std::clamp(f / (f + (1 - f) * luminance(colour)), 0.1f, 0.9f);
}

Vec3f facets_value(const Material& m, Vec3f colour, Vec3f out, Vec3f in)
{
    const Facets facets(m.roughness);
    const Vec3f half = normalized(out + in);
    return (facets.distribution(half[2]) * facets.seen(out[2]) * facets.seen(in[2]) / (4 * out[2] * in[2])) *
           reflectance(m, colour, std::max(dot(out, half), 0.0f));
}

}  // namespace

float largest(Vec3f c) { return std::max({c[0], c[1], c[2]}); }
float luminance(Vec3f c) { return 0.2126f * c[0] + 0.7152f * c[1] + 0.0722f * c[2]; }

Vec3f Picture::at(float u, float v) const
{
    const float x = (u - std::floor(u)) * static_cast<float>(width) - 0.5f;
    const float y = (1 - (v - std::floor(v))) * static_cast<float>(height) - 0.5f;
    const int i = static_cast<int>(std::floor(x)), j = static_cast<int>(std::floor(y));
    const float fx = x - static_cast<float>(i), fy = y - static_cast<float>(j);
    const auto pixel = [&](int a, int b) {
        a = (a + width) % width;
        b = (b + height) % height;
        return pixels[static_cast<size_t>(b) * static_cast<size_t>(width) + static_cast<size_t>(a)];
    };
    return mix(mix(pixel(i, j), pixel(i + 1, j), fx), mix(pixel(i, j + 1), pixel(i + 1, j + 1), fx), fy);
}

Vec3f Texture::at(Vec3f x, Vec3f n) const
{
    if (kind == plain) return colour;
    int axis = 0;
    for (int a = 1; a < 3; ++a)
        if (std::abs(n[a]) > std::abs(n[axis])) axis = a;
    const float u = x[axis == 0 ? 2 : 0] / size, v = x[axis == 1 ? 2 : 1] / size;
    if (kind == image) return picture->at(u, axis == 1 ? -v : v);
    const float fu = u - std::floor(u), fv = v - std::floor(v);
    if (kind == checker) return (fu < 0.5f) == (fv < 0.5f) ? colour : other;
    constexpr float joint = 0.02f;  // of a tile
    return std::min({fu, fv, 1 - fu, 1 - fv}) < 0.5f * joint ? other : colour;
}

Vec3f mirror(Vec3f colour, float cosine)
{
    const float c = std::clamp(1 - cosine, 0.0f, 1.0f), c2 = c * c;
    return colour + (c2 * c2 * c) * (Vec3f::all(1) - colour);
}

Vec3f sample_cosine(Vec3f n, float u, float v)
{
    const float r = std::sqrt(u), angle = 2 * pi * v;
    return Frame(n).out({r * std::cos(angle), r * std::sin(angle), std::sqrt(std::max(0.0f, 1 - u))});
}

Vec3f value(const Material& m, Vec3f colour, Vec3f n, Vec3f out, Vec3f in)
{
    const float co = dot(n, out), ci = dot(n, in);
    if (co <= 0 || ci <= 0) return {};
    if (m.kind == MaterialKind::diffuse) return (1 / pi) * colour;
    const Frame frame(n);
    const Vec3f o = frame.in(out), i = frame.in(in);
    const Vec3f glossy = facets_value(m, colour, o, i);
    if (m.kind == MaterialKind::metal) return glossy;
    const float below = (1 - fresnel(co, 1 / coat_ior)) * (1 - fresnel(ci, 1 / coat_ior)) / pi;
    return below * colour + glossy;
}

float density(const Material& m, Vec3f colour, Vec3f n, Vec3f out, Vec3f in)
{
    const float co = dot(n, out), ci = dot(n, in);
    if (co <= 0 || ci <= 0) return 0;
    if (m.kind == MaterialKind::diffuse) return ci / pi;
    const Frame frame(n);
    const Vec3f o = frame.in(out), half = normalized(o + frame.in(in));
    const float glossy = Facets(m.roughness).density(o, half);
    if (m.kind == MaterialKind::metal) return glossy;
    const float coat = share_of_coat(colour, co);
    return coat * glossy + (1 - coat) * ci / pi;
}

bool sample(Scattered& s, const Material& m, Vec3f colour, Vec3f n, Vec3f out, Random& random)
{
    const float co = dot(n, out), pick = random.next(), u = random.next(), v = random.next();
    if (co <= 0) return false;
    const bool coat =
        m.kind == MaterialKind::metal || (m.kind == MaterialKind::plastic && pick < share_of_coat(colour, co));
    if (coat) {
        const Frame frame(n);
        const Vec3f o = frame.in(out), half = Facets(m.roughness).sample(o, u, v);
        s.direction = frame.out(reflect(-o, half));
    } else {
        s.direction = sample_cosine(n, u, v);
    }
    s.density = density(m, colour, n, out, s.direction);
    if (!(s.density > 0)) return false;
    s.weight = m.kind == MaterialKind::diffuse
                   ? colour
                   : (dot(n, s.direction) / s.density) * value(m, colour, n, out, s.direction);
    return true;
}

}  // namespace tarn
