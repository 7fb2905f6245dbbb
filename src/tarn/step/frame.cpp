#include "tarn/step/frame.h"

#include <utility>

#include "tarn/backend/parallel.h"

namespace tarn {

namespace {

// Whether a face is beside water, or all is that flows.
template <int D>
struct FluidFaces {
    View<D, const float> phi;
    bool air;
    TARN_HD bool operator()(int i, int next) const
    {
        const float upper = phi[i], lower = phi[i - next], nearest = upper < lower ? upper : lower;
        return air || nearest < 0;
    }
};

// A velocity's component along b at a face across a: the mean of the four faces around it, or of the two within the domain.
template <int D>
TARN_HD inline double beside_face(const View<D, const float>& u, Cell<D> c, int a, int b, int last)
{
    const Cell<D> upper = moved<D>(c, a, c[a] < last ? 0 : -1), lower = moved<D>(c, a, c[a] > 0 ? -1 : 0);
    return 0.25 * (static_cast<double>(u(upper)) + static_cast<double>(u(moved<D>(upper, b, 1))) +
                   static_cast<double>(u(lower)) + static_cast<double>(u(moved<D>(lower, b, 1))));
}

}  // namespace

template <int D>
void start_frame(Water<D>& w, const Params& p)
{
    if (!p.motion) return;
    if (!w.acceleration[0].size()) w.acceleration = FaceField<D>(w.grid);
    w.expected = FaceField<D>(w.grid);
}

template <int D>
void expect_velocity(Water<D>& w, const Params& p, double dt)
{
    if (!p.motion) return;
    const FluidFaces<D> flows{std::as_const(w.phi).view(), w.air};
    const float step = static_cast<float>(dt);
    const bool note = !w.air;
    for (int a = 0; a < D; ++a) {
        const auto expected = w.expected[a].view(), rate = w.acceleration[a].view();
        const auto u = std::as_const(w.velocity)[a].view();
        const int n = u.next(a);
        parallel_for_faces("expect velocity", all_tiles(w.grid), a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = u.index(c);
            const bool here = flows(i, n);
            expected[i] = here ? u[i] + step * rate[i] : outside;
            if (note) rate[i] = here ? u[i] : outside;  // until the end of the step
        });
    }
}

template <int D>
void add_gravity(Water<D>& w, const FrameForces& frame, double dt)
{
    const FluidFaces<D> flows{std::as_const(w.phi).view(), w.air};
    const Grid<D> grid = w.grid;
    for (int a = 0; a < D && frame.moves; ++a) {
        const auto mean = w.expected[a].view();
        const auto u = std::as_const(w.velocity)[a].view();
        parallel_for_faces("Coriolis", w.tiles_active, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = u.index(c);
            mean[i] = is_outside(mean[i]) ? u[i] : 0.5f * (u[i] + mean[i]);
        });
    }
    const FaceView<D, const float> mean = frame.moves ? std::as_const(w.expected).view() : FaceView<D, const float>{};
    for (int a = 0; a < D; ++a) {
        const auto u = w.velocity[a].view();
        const int n = u.next(a), last = grid.cells[a];
        if (!frame.moves) {
            const float add = static_cast<float>(frame.gravity[a] * dt);
            if (add == 0) continue;
            parallel_for_faces<true>("gravity", w.tiles_active, a, [=] TARN_KERNEL(Cell<D> c) {
                const int i = u.index(c);
                u[i] += flows(i, n) ? add : 0.0f;
            });
            continue;
        }
        parallel_for_faces("gravity", w.tiles_active, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = u.index(c);
            if (!flows(i, n)) return;
            Vec3 v;
            for (int b = 0; b < D; ++b)
                if (b != a) v[b] = beside_face<D>(mean[b], c, a, b, last);
            const Vec3 x = lift<D>(grid.face(c, a));
            u[i] += static_cast<float>(dt * (frame.at(x)[a] + frame.coriolis(v)[a]));
        });
    }
}

template <int D>
void note_acceleration(Water<D>& w, const Params& p, double dt)
{
    if (!p.motion) return;
    const FluidFaces<D> flows{std::as_const(w.phi).view(), w.air};
    const float share = static_cast<float>(1 / dt);
    for (int a = 0; a < D; ++a) {
        const auto rate = w.acceleration[a].view();
        const auto u = std::as_const(w.velocity)[a].view();
        const int n = u.next(a);
        parallel_for_faces("acceleration", all_tiles(w.grid), a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = u.index(c);
            rate[i] = flows(i, n) && !is_outside(rate[i]) ? share * (u[i] - rate[i]) : 0.0f;
        });
    }
}

#define TARN_INSTANTIATE(D)                                             \
    template void start_frame(Water<D>&, const Params&);                \
    template void expect_velocity(Water<D>&, const Params&, double);    \
    template void add_gravity(Water<D>&, const FrameForces&, double);   \
    template void note_acceleration(Water<D>&, const Params&, double);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
