#pragma once
// What surfaces are made of, and how they scatter light.
//
// Directions point away from the surface. A smooth metal and every dielectric scatter into single directions and have
// no density: the integrator follows those itself. The others are told by value() and drawn by sample().

#include <memory>
#include <vector>

#include "tarn/base/random.h"
#include "tarn/render/color.h"
#include "tarn/render/medium.h"
#include "tarn/render/optics.h"

namespace tarn {

// A picture that a surface wears, in linear light; it repeats.
struct Picture {
    int width = 0, height = 0;
    std::vector<Vec3f> pixels;  // top row first

    Vec3f at(float u, float v) const;
};

struct Texture {
    enum Kind { plain, checker, tiles, image } kind = plain;
    Vec3f colour{0.6f, 0.6f, 0.6f}, other;  // other: of every second square, or of the joints between tiles
    float size = 1;                         // m: of a square, a tile, or the picture's width
    std::shared_ptr<const Picture> picture;

    // Mapped along the two axes that the surface faces least.
    Vec3f at(Vec3f x, Vec3f n) const;
};

enum class MaterialKind { diffuse, metal, plastic, dielectric };

struct Material {
    MaterialKind kind = MaterialKind::diffuse;
    Texture texture;
    float roughness = 0.3f;  // of metal and plastic: 0 is a mirror
    // Of a dielectric. Where bodies overlap, the one of higher priority is there.
    float ior = 1;
    int priority = 0;
    Medium medium;

    // Metals this smooth are mirrors.
    static constexpr float smooth = 0.02f;
    bool specular() const
    {
        return kind == MaterialKind::dielectric || (kind == MaterialKind::metal && roughness < smooth);
    }
};

struct Scattered {
    Vec3f direction;
    Vec3f weight;  // value times cosine, over the density
    float density = 0;
};

// How a surface with normal n sends light from `in` to `out`, per steradian; without the cosine.
Vec3f value(const Material& m, Vec3f colour, Vec3f n, Vec3f out, Vec3f in);
// The density with which sample() draws `in`.
float density(const Material& m, Vec3f colour, Vec3f n, Vec3f out, Vec3f in);
// False where light is lost.
bool sample(Scattered& s, const Material& m, Vec3f colour, Vec3f n, Vec3f out, Random& random);

// A mirror's reflectance at an angle.
Vec3f mirror(Vec3f colour, float cosine);

Vec3f sample_cosine(Vec3f n, float u, float v);
float largest(Vec3f c);
float luminance(Vec3f c);

}  // namespace tarn
