#pragma once
// Smoke in a drawing: rays are marched through its density, lit by the sun through a map of how much of its light gets to each
// block of cells, and by the sky; the floor is darker behind it. Light is scattered once, and the sky's to all sides alike.
//
// Positions are counted in cells from the domain's corner, as in preview_tank.h.

#include "tarn/backend/parallel.h"
#include "tarn/render/preview_world.h"

namespace tarn::drawing {

struct SmokeView {
    View<3, const float> density, sunlit;  // sunlit: at blocks of cells, and what is left of sunlight there
    Cell<3> cells, blocks;
    Vec3f size;
    float thickness = 0;  // extinction per cell, at density one
    float albedo = 1;

    static constexpr int width = 3;  // of a block, in cells
    static constexpr float step = 0.75f, sun_step = 1.5f;

    TARN_HD bool any() const { return density.data != nullptr; }
    TARN_HD float density_at(Vec3f x) const { return sample_cells(density, cells, x - Vec3f::all(0.5f)); }

    // Where a ray is in the domain.
    TARN_HD void clip(const Ray& r, float& begin, float& end) const
    {
        for (int a = 0; a < 3; ++a) {
            const float per = 1 / (std::fabs(r.d[a]) > 1e-9f ? r.d[a] : 1e-9f);
            const float one = -r.o[a] * per, other = (size[a] - r.o[a]) * per;
            begin = std::max(begin, std::min(one, other));
            end = std::min(end, std::max(one, other));
        }
    }
    // How much light gets through from t = 0 on.
    TARN_HD float passes(const Ray& r) const
    {
        float begin = 0, end = far_away, sum = 0;
        clip(r, begin, end);
        for (float t = begin + 0.5f * sun_step; t < end && sum * thickness < 8; t += sun_step) sum += sun_step * density_at(r.at(t));
        return std::exp(-thickness * sum);
    }
    // What is seen along a ray that goes straight for `clear` and has `light` behind that.
    TARN_HD Vec3f over(Vec3f light, const Ray& r, float clear, const Colours& colours) const
    {
        float begin = 0, end = clear, left = 1;
        clip(r, begin, end);
        Vec3f own;
        for (float t = begin + 0.5f * step; t < end && left > 0.005f; t += step) {
            const Vec3f x = r.at(t);
            const float here = density_at(x);
            if (!(here > 1e-4f)) continue;
            const float kept = std::exp(-step * thickness * here);
            Vec3f b = (1.0f / width) * x - Vec3f::all(0.5f);
            const float sun = sample_cells(sunlit, blocks, b), up = x[1] / size[1];
            own += (left * (1 - kept)) * (sun * colours.sun + (0.75f + 0.35f * up) * Vec3f{0.66f, 0.73f, 0.84f});
            left *= kept;
        }
        return left * light + (0.26f * albedo) * own;
    }
};

}  // namespace tarn::drawing
