#include "tarn/render/grid_picture.h"

#include <algorithm>
#include <cmath>

#include "tarn/backend/parallel.h"
#include "tarn/render/color.h"
#include "tarn/output/shown_levels.h"

namespace tarn {

namespace {

const Vec3f empty = srgb(0.96f, 0.97f, 0.98f), line = srgb(0.05f, 0.16f, 0.32f), surface_line = srgb(0.8f, 0.2f, 0.1f);
const Vec3f solid = srgb(0.69f, 0.64f, 0.58f);
const Vec3f finest = srgb(0.62f, 0.82f, 0.95f), coarsest = srgb(0.16f, 0.42f, 0.72f);

}  // namespace

template <int D>
Image grid_picture(const Water<D>& water, int width)
{
    const Cell<D> cells = water.grid.cells;
    // A picture of a tower is no wider than it must be.
    const float pixels = std::min(static_cast<float>(width) / static_cast<float>(cells[0]), 1.5f * static_cast<float>(width) / static_cast<float>(cells[1]));
    const auto even = [&](int n) { return std::max(2, static_cast<int>(pixels * static_cast<float>(n)) / 2 * 2); };
    Image image{even(cells[0]), even(cells[1]), {}};
    image.rgb.resize(3 * static_cast<size_t>(image.width) * static_cast<size_t>(image.height));
    const ShownLevels<D> levels(water);
    const float steps = std::max(1.0f, static_cast<float>(water.coarse.size()));
    parallel_rows("draw", image.height, [&](int row) {
        for (int column = 0; column < image.width; ++column) {
            Vec<D, float> x = Vec<D, float>::all(0.5f * static_cast<float>(cells[D - 1]));
            x[0] = (static_cast<float>(column) + 0.5f) / pixels;
            x[1] = static_cast<float>(cells[1]) - (static_cast<float>(row) + 0.5f) / pixels;
            Cell<D> c;
            for (int a = 0; a < D; ++a) c[a] = std::clamp(static_cast<int>(x[a]), 0, cells[a] - 1);
            const float phi = sample_cells(water.phi.view(), cells, x - Vec<D, float>::all(0.5f));
            Vec3f colour = empty;
            if (phi < 0 || water.smoke) {
                const int level = levels.level_at(c);
                colour = mix(finest, coarsest, static_cast<float>(level) / steps);
                // How far the nearest edge of the cell is, in pixels. Where cells are as small as pixels lines would be all there is.
                const float size = static_cast<float>(1 << level);
                float edge = 1e9f;
                for (int a = 0; a < 2; ++a) {
                    const float place = x[a] / size - std::floor(x[a] / size);
                    edge = std::min(edge, pixels * size * std::min(place, 1 - place));
                }
                const float strength = std::clamp((pixels * size - 2) / 6, 0.0f, 0.8f);
                colour = mix(colour, line, strength * std::clamp(1 - edge, 0.0f, 1.0f));
            }
            if (water.solids.any) {
                const View<D, const float> nodes = water.solids.distance.view();
                if (sample(nodes, locate(nodes, x, cells)) < 0) colour = solid;
            }
            const float to_surface = water.smoke ? outside : pixels * std::fabs(phi) / static_cast<float>(water.grid.h);
            colour = mix(colour, surface_line, std::clamp(1.5f - to_surface, 0.0f, 1.0f));
            uint8_t* const out = &image.rgb[3 * (static_cast<size_t>(row) * static_cast<size_t>(image.width) + static_cast<size_t>(column))];
            for (int k = 0; k < 3; ++k) out[k] = to_byte(to_srgb(colour[k]));
        }
    });
    return image;
}

template Image grid_picture(const Water<2>&, int);
template Image grid_picture(const Water<3>&, int);

}  // namespace tarn
