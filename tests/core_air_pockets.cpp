// Small pockets of air, which water without air would close at once.

#include "run_water.h"

namespace tarn {
namespace {

// A pool under whose surface there is a ball of air.
Params pool_with_bubble(int dimension, int cells, double radius)
{
    Params p = pool(dimension, cells, 0.9);
    WaterParams bubble;
    bubble.shape = ShapeKind::sphere;
    bubble.center = Vec3{0.5, 0.4, dimension == 3 ? 0.5 : 0};
    bubble.radius = radius;
    bubble.subtract = true;
    p.water.push_back(bubble);
    return p;
}

struct Bubble {
    double volume, height;
};
template <int D>
Bubble bubble_of(const Water<D>& w)
{
    const auto phi = w.phi.view();
    double sum = 0, moment = 0;
    for (const Box<D>& box : all_tiles(w.grid).boxes)
        backend::each(box, [&](Cell<D> c) {
            const Vec<D> x = w.grid.centre(c);
            if (x[1] > 0.8) return;
            const double air = 1 - wet_fraction<D>(phi, w.grid.cells, c, static_cast<float>(w.grid.h));
            sum += air;
            moment += air * x[1];
        });
    return {sum * cell_volume(w.grid), moment / sum};
}

template <int D>
void expect_bubble(int cells)
{
    const double radius = 2.5 / cells, t = 0.1;
    const Params p = pool_with_bubble(D, cells, radius);
    const Scene scene = scene_of(p);
    Water<D> w = initial_water<D>(scene);
    const Bubble before = bubble_of(w);
    (void)run_to(w, scene, t);
    const Bubble after = bubble_of(w);
    // Phi and its particles keep most of what is five cells wide. Measured were -6 % in 2D and -19 % in 3D.
    EXPECT_NEAR(after.volume, before.volume, 0.25 * before.volume) << D;
    // It sets out with (D - 1) g, and loses some of it to the wake. Measured was a little over half.
    const double free = 0.5 * (D - 1) * 9.81 * t * t, risen = after.height - before.height;
    EXPECT_GT(risen, 0.4 * free) << D;
    EXPECT_LT(risen, 1.05 * free) << D;
}

TEST(AirPocket, keeps_its_volume_and_rises)
{
    expect_bubble<2>(48);
    expect_bubble<3>(48);
}

}  // namespace
}  // namespace tarn
