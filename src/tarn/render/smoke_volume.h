#pragma once
// Smoke as light meets it: extinction in proportion to its density, of which a part is scattered with the phase function of Henyey and
// Greenstein (1941).
//
// A ray's way through it is found by delta tracking (Woodcock et al. 1965): collisions are drawn as if each tile of cells were as dense
// as its densest place, and are real with the probability that its density has of that. How much light gets through is found by ratio
// tracking (Novák et al. 2014). Both are right on average for any density between cells; neither cuts anything off.

#include <vector>

#include "tarn/base/random.h"
#include "tarn/render/color.h"
#include "tarn/render/ray.h"

namespace tarn {

class SmokeVolume {
public:
    // Densities at the centres of cells of size h, x fastest, from the origin on; `extinction` is that of density one, 1/m.
    SmokeVolume(Cell<3> cells, float h, std::vector<float> density, float extinction, Vec3f albedo, float forward);

    Vec3f albedo() const { return albedo_; }
    float forward() const { return forward_; }  // mean cosine of the scattering angle
    // 1/m; zero outside of the grid.
    float extinction_at(Vec3f x) const;
    // Whether a ray passes any, and where it enters the grid, but not at its origin.
    bool enters(float& t, const Ray& ray, float t_max) const;
    // Whether light that comes along the ray collides before t_max, and where.
    bool collides(float& t, const Ray& ray, float t_max, Random& random) const;
    // How much of it gets through: a number whose mean is right.
    float transmittance(const Ray& ray, float t_max, Random& random) const;

private:
    Cell<3> cells_, tiles_;
    float h_, extinction_, forward_;
    Vec3f albedo_;
    std::vector<float> density_, most_;  // of cells; the most of tiles

    void clip(const Ray& ray, float& begin, float& end) const;
    template <class F>
    void walk(const Ray& ray, float t_max, const F& f) const;
};

}  // namespace tarn
