#pragma once
// The velocity at the surface's time. Surface and velocity leap past each other, so that a state's velocity is Water::ahead later than
// its surface; that of the surface's time lies between it and the one of the state before.

#include <utility>

#include "tarn/backend/parallel.h"
#include "tarn/step/water.h"

namespace tarn {

// The velocity of the state before the newest step, and its time.
template <int D>
struct VelocityBefore {
    const FaceField<D>* velocity = nullptr;
    double time = 0;
};

// How much of it there is in the velocity of the surface's time. Smoke has no surface to be ahead of.
template <int D>
double share_of_before(const Water<D>& w, const VelocityBefore<D>& before)
{
    const double time = w.time + w.ahead;
    return w.smoke || !before.velocity || !(time > before.time) ? 0 : w.ahead / (time - before.time);
}

// Makes of the velocity before, which must be that of `before`, the one of the surface's time, on a uniform grid, and returns true.
// Returns false where that would be the state's own, or where larger cells, whose velocities before the step were in other
// cells, keep it.
template <int D>
bool make_surface_velocity(FaceField<D>& velocity, const Water<D>& w, const VelocityBefore<D>& before)
{
    const float share = static_cast<float>(share_of_before(w, before));
    if (share == 0 || w.octree.any() || w.tall.on) return false;
    for (int a = 0; a < D; ++a) {
        const auto u = velocity[a].view();
        const auto newest = w.velocity[a].view();
        // Memory that neither has touched stays so.
        parallel_for_faces("surface velocity", all_tiles(w.grid), a, [=] TARN_KERNEL(Cell<D> c) {
            const float early = u(c), late = newest(c), now = late + share * (early - late);
            if (now != early) u(c) = now;
        });
    }
    return true;
}

// While it lives, a water has another velocity.
template <int D>
class WithVelocity {
public:
    WithVelocity(Water<D>& water, FaceField<D>& velocity, bool other) : water_(water), velocity_(velocity), other_(other) { exchange(); }
    ~WithVelocity() { exchange(); }
    WithVelocity(const WithVelocity&) = delete;
    WithVelocity& operator=(const WithVelocity&) = delete;

private:
    void exchange()
    {
        if (other_) std::swap(water_.velocity, velocity_);
    }

    Water<D>& water_;
    FaceField<D>& velocity_;
    bool other_;
};

}  // namespace tarn
