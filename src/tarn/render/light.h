#pragma once
// Where light comes from: the sun, a dome all around (sky or picture), and rectangles that shine.

#include <memory>
#include <vector>

#include "tarn/base/random.h"
#include "tarn/render/color.h"
#include "tarn/render/ray.h"

namespace tarn {

// A disc far away.
struct Sun {
    Vec3f direction{0, 1, 0};        // towards it
    float cos_radius = 0.99998930f;  // 0.265 degrees, as seen from here
    Vec3f irradiance;                // of a surface that faces it

    float solid_angle() const;
    Vec3f radiance() const;
    bool holds(Vec3f d) const { return dot(d, direction) > cos_radius; }
    Vec3f sample(float u, float v) const;
};

// Radiance from every direction, as a picture of longitude and latitude; its top row is straight up.
class Dome {
public:
    Dome() : Dome(1, 1, {Vec3f{}}) {}
    Dome(int width, int height, std::vector<Vec3f> pixels);
    static Dome uniform(Vec3f radiance) { return Dome(1, 1, {radiance}); }

    // A direction, what is seen there, and how densely such directions are drawn.
    struct Look {
        Vec3f direction, radiance;
        float density;
    };
    Look look(Vec3f d) const;
    Vec3f radiance(Vec3f d) const;
    // Drawn by brightness.
    Look sample(float u, float v) const;
    bool dark() const { return total_ <= 0; }

private:
    int width_, height_;
    std::vector<Vec3f> pixels_;
    std::vector<float> rows_, cells_;  // running sums of brightness times area
    std::vector<float> sines_;         // of the polar angle, by row
    double total_ = 0;

    // A place in the picture, in pixels.
    struct Place {
        float x, y;
    };
    Place place_of(Vec3f d) const;
    Vec3f radiance_at(Place p) const;
    float density_at(int i, int j, float sine) const;
};

// A rectangle that shines from the side of its normal.
struct AreaLight {
    Vec3f centre, u, v;  // u, v: half its sides
    Vec3f normal;        // cross(u, v), of length one
    Vec3f radiance;

    float area() const { return 4 * length(cross(u, v)); }
    bool hit(float& t, const Ray& ray, float t_max) const;
};
// That looks at a target; power in watts (of each colour).
AreaLight make_area_light(Vec3f centre, Vec3f target, float width, float height, Vec3f power);

struct Lights {
    std::vector<Sun> suns;
    std::vector<AreaLight> areas;
    Dome dome;
};

}  // namespace tarn
