#pragma once
// A ray against the implicit surface itself: steps as long as the signed distance allows, then the root of phi along
// the ray. No mesh is made.   [EMF02] §3.5
//
// phi is reconstructed by a trilinear filter with interpolated central differences for normals, or by a tricubic one
// (Catmull-Rom, of the family of Marschner and Lobb) with its own derivative. Two volumes, one at either end of the
// shutter, are interpolated at the ray's time for motion blur.
//
// The body is {phi < 0} inside a box: where water meets a wall, the wall's flat face closes it.

#include <cstdint>
#include <utility>
#include <vector>

#include "tarn/grid/grid.h"
#include "tarn/render/ray.h"

namespace tarn {

enum class Filter { trilinear, tricubic };

class LevelSet {
public:
    // Samples lie at origin + (i, j, k) spacing, x fastest. `next`, where given, is phi at the end of the shutter. The
    // body ends at the box lo...hi; beyond its samples phi goes on as at the nearest one.
    LevelSet(Cell<3> samples, Vec3f origin, float spacing, const std::vector<float>& phi, Vec3f lo, Vec3f hi,
             Filter filter = Filter::tricubic, const std::vector<float>* next = nullptr);

    bool contains(Vec3f x, float time = 0) const;

    struct Crossing {
        float t = endless;
        Vec3f normal;  // out of the body, of length one
    };
    // The first surface between 0 and t_max, for a ray whose origin lies inside the body or not, as told.
    bool cross(Crossing& found, const Ray& ray, float t_max, bool inside) const;
    // The same without the normal.
    bool blocks(const Ray& ray, float t_max, bool inside) const;

    // phi, in metres.
    float value(Vec3f x, float time = 0) const;

    // A box around the body.
    Vec3f wet_lo() const { return wet_lo_; }
    Vec3f wet_hi() const { return wet_hi_; }
    float spacing() const { return spacing_; }

    // How far from a hit the next ray must start, to be on its side of the surface.
    float margin() const { return 2e-3f * spacing_; }

private:
    // Grid coordinates: sample (i, j, k) lies at (i, j, k), and phi counts in samples.
    Vec3f to_grid(Vec3f x) const { return inverse_spacing_ * (x - origin_); }
    float at(Vec3f u, float time) const;
    float at_surface(Vec3f u, float time) const;  // by the filter, where at() may take a quicker one
    Vec3f gradient(Vec3f u, float time) const;
    // The first sign of phi along o + t d that is not `sign`; t in samples.
    bool march(float& found, Vec3f o, Vec3f d, float from, float to, float time, float sign) const;
    bool find(float& t, int& face, const Ray& ray, float t_max, bool inside) const;
    void find_gaps();

    Cell<3> samples_;
    Vec3f last_;  // sample of each axis
    Vec3f origin_, lo_, hi_, wet_lo_, wet_hi_;
    float spacing_, inverse_spacing_;
    Filter filter_;
    bool moving_;

    // Two more samples all around, so that no filter asks where the edge is.
    static constexpr int pad = 2;
    int row_, layer_;
    Cell<3> padded_;
    std::vector<float> now_, next_;

    // Blocks of 4³ samples; for each, how many rings of blocks around it hold no surface (0: it may hold one itself).
    static constexpr int block = 4;
    Cell<3> blocks_;
    std::vector<uint8_t> rings_;
};

}  // namespace tarn
