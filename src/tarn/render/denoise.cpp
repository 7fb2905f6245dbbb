#include "tarn/render/denoise.h"

#include <cmath>

#include "tarn/backend/parallel.h"

namespace tarn {

namespace {

float squared(Vec3f a) { return dot(a, a); }

}  // namespace

// A joint filter over patches (after Rousselle et al. 2013): light is compared over 3 x 3 pixels, less what noise alone
// would make differ.
std::vector<Vec3f> denoise(const Film& film)
{
    const int w = film.width, h = film.height;
    const float n = static_cast<float>(film.samples);
    const auto at = [&](int x, int y) {
        return static_cast<size_t>(y) * static_cast<size_t>(w) + static_cast<size_t>(x);
    };
    std::vector<Vec3f> light(film.pixels()), albedo(film.pixels()), normal(film.pixels());
    std::vector<float> raw(film.pixels()), noise(film.pixels());
    for (size_t i = 0; i < film.pixels(); ++i) {
        albedo[i] = (1 / n) * film.albedo[i] + Vec3f::all(0.02f);
        normal[i] = (1 / n) * film.normal[i];
        const float odd = static_cast<float>(film.samples / 2), even = n - odd;
        for (int c = 0; c < 3; ++c) light[i][c] = film.mean(i)[c] / albedo[i][c];
        // The variance of the mean, from the means of its two halves.
        if (odd > 0) {
            float sum = 0;
            for (int c = 0; c < 3; ++c) {
                const float a = film.odd[i][c] / odd, b = (film.light[i][c] - film.odd[i][c]) / even;
                sum += 0.25f * (a - b) * (a - b) / (albedo[i][c] * albedo[i][c]);
            }
            raw[i] = sum / 3;
        }
    }
    // One pixel's two halves tell little: the variance is that of the pixels around.
    parallel_rows("denoise", h, [&](int y) {
        for (int x = 0; x < w; ++x) {
            float sum = 0, count = 0;
            for (int b = std::max(0, y - 2); b <= std::min(h - 1, y + 2); ++b)
                for (int a = std::max(0, x - 2); a <= std::min(w - 1, x + 2); ++a) sum += raw[at(a, b)], ++count;
            noise[at(x, y)] = sum / count;
        }
    });
    constexpr int reach = 6;
    std::vector<Vec3f> clean(film.pixels());
    parallel_rows("denoise", h, [&](int y) {
        for (int x = 0; x < w; ++x) {
            const size_t i = at(x, y);
            Vec3f sum;
            float weights = 0;
            for (int b = std::max(0, y - reach); b <= std::min(h - 1, y + reach); ++b)
                for (int a = std::max(0, x - reach); a <= std::min(w - 1, x + reach); ++a) {
                    const size_t j = at(a, b);
                    const float z = film.depth[i], nearer = std::min(z, film.depth[j]);
                    float unlike = squared(albedo[i] - albedo[j]) / 0.005f + squared(normal[i] - normal[j]) / 0.05f;
                    if (std::isinf(z) != std::isinf(film.depth[j])) continue;
                    if (!std::isinf(z)) {
                        const float step = (z - film.depth[j]) / (0.05f * nearer);
                        unlike += step * step;
                    }
                    float differ = 0;
                    int pairs = 0;
                    for (int dy = -1; dy <= 1; ++dy)
                        for (int dx = -1; dx <= 1; ++dx) {
                            const int px = x + dx, py = y + dy, qx = a + dx, qy = b + dy;
                            if (px < 0 || py < 0 || qx < 0 || qy < 0 || px >= w || qx >= w || py >= h || qy >= h)
                                continue;
                            const size_t p = at(px, py), q = at(qx, qy);
                            differ += (squared(light[p] - light[q]) / 3 - (noise[p] + noise[q])) /
                                      (1e-6f + 0.25f * (noise[p] + noise[q]));
                            ++pairs;
                        }
                    unlike += std::max(0.0f, differ / static_cast<float>(pairs));
                    const float weight = std::exp(-unlike);
                    sum += weight * light[j];
                    weights += weight;
                }
            clean[i] = (1 / weights) * (sum * albedo[i]);
        }
    });
    return clean;
}

}  // namespace tarn
