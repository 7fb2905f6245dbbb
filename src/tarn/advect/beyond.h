#pragma once
// What comes into the grid through its open sides, and out of the gaps at the closed ones.

#include <algorithm>
#include <cmath>

#include "tarn/advect/advect.h"
#include "tarn/advect/place.h"

namespace tarn {

// Whether a path from x, and the interpolation at its end, meet no thin wall.
template <int D>
TARN_HD inline bool in_the_clear(const Sides<D>& sides, Vec<D, float> x, Vec<D, float> end)
{
    return go(sides.before, x, end) == end && go(sides.after, x, end) == end && undivided(sides.before, end) &&
           undivided(sides.after, end);
}

// Moves phi again for the columns of cells in front of what its padding holds, as far as paths may come from there. Air
// comes from behind the grid's end: nothing is nearer to the surface than that. What comes past thin walls does not. An
// open side under water is a surface, too: air comes in wherever the water turns back from it.
template <int D>
void advect_from_beyond(Field<D>& result, const View<D, const float>& old, const FaceView<D, const float>& u,
                        const Tiles<D>& tiles, float s, bool rk3, double far, const Ends<D>& ends,
                        const Sides<D>& sides)
{
    if (!ends.gaps && !ends.any_open()) return;
    const Place<D, -1> place(result.grid().cells);
    const float h = static_cast<float>(result.grid().h), far_limit = static_cast<float>(far);
    const auto moved = result.view();
    const int deep = static_cast<int>(std::ceil(std::min(far / result.grid().h, ends.reach)));
    for (int a = 0; a < D; ++a)
        for (int side = 0; side < 2; ++side) {
            const bool open = ends.open[a][side];
            if (!ends.gaps && !open) continue;
            parallel_for("advect phi from beyond", along_side(tiles, a, side), [=] TARN_KERNEL(Cell<D> c) {
                const int inward = side ? -1 : 1;
                if (!open && is_outside(old[old.index(c) - inward * old.next(a)])) return;
                const float end = side ? static_cast<float>(place.cells[a]) - 0.5f : -0.5f;
                for (int n = 0; n < deep && c[a] >= 0 && c[a] <= place.last[a]; ++n, c[a] += inward) {
                    const bool rests = std::fabs(old(c)) >= far_limit;
                    if (rests && !open) continue;
                    const Vec<D, float> from = trace(u, place, c, -s, rk3);
                    if (sides.any() && !in_the_clear(sides, place.position(c), from)) continue;
                    const float behind = (side ? from[a] - end : end - from[a]) * h;
                    if (rests && !(behind > 0)) continue;
                    if (open) {
                        moved(c) = moved(c) > behind ? moved(c) : behind;
                    } else {
                        const float there = sample_distance(old, place.cells, from, h);
                        moved(c) = there > behind ? there : behind;
                    }
                }
            });
        }
}

}  // namespace tarn
