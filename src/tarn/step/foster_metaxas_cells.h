#pragma once
// The cells and faces of the explicit scheme, one at a time.   [FM96] §3
//
// The momentum of a unit of mass, in conservation form:
//   du_a/dt + sum over b of d(u_a u_b)/dx_b = - dp/dx_a / rho + g_a + nu laplace u_a.

#include "tarn/surface/labels.h"

namespace tarn::foster_metaxas {

// Where the surface is known within cells, the pressure is zero there, and not all over surface cells: between a full cell N and a surface
// cell S it goes straight to zero at the surface, as if S had
//   p_S = share p_N,   share = phi_S / phi_N.
// That adds to the diagonal of the pressure's equations alone, so that relaxation converges as before. Without phi the share is 0.
template <int D>
struct SurfaceWithin {
    View<D, const float> phi;

    // The surface is not nearer to N than a third of a cell, or the step would have to be shorter.
    TARN_HD float share(int full, int surface) const
    {
        if (!phi.data || !(phi[full] < 0)) return 0;
        const float s = phi[surface] / phi[full];
        // Where the surface cell is the deeper one, around small holes, no straight line leads from one to the other.
        if (s > 1) return 0;
        return s < -2 ? -2.0f : (s > 0.98f ? 0.98f : s);
    }
    // The difference of pressure from the cell before a face to that behind it.
    TARN_HD float difference(const View<D, const float>& p, const LabelView<D>& label, int before, int behind) const
    {
        if (label[before] == Contents::full && label[behind] == Contents::surface) return (share(before, behind) - 1) * p[before];
        if (label[before] == Contents::surface && label[behind] == Contents::full) return (1 - share(behind, before)) * p[behind];
        return p[behind] - p[before];
    }
};

// What the momentum of a face takes part in.
template <int D>
struct Momentum {
    FaceView<D, const float> u;
    View<D, const float> p;
    LabelView<D> label;
    Vec<D, float> gravity;
    float density, viscosity, upwind, h, dt;
    SurfaceWithin<D> within = {};

    // A parallel face beside face i: inside a wall, what the wall makes of face i.
    TARN_HD float beside(int axis, int i, int other) const
    {
        return is_buried<D>(label, other, axis) ? mirrored<D>(label, other, axis, u[axis][i]) : u[axis][other];
    }

    // The momentum u w that passes from `before` to `after` with the velocity w between them: the product of averages, and a
    // share of what comes from upstream.
    TARN_HD float flux(float w, float before, float after) const
    {
        const float magnitude = w < 0 ? -w : w;
        return 0.5f * (w * (before + after) + upwind * magnitude * (before - after));
    }

    // u~ at a face between two cells of water.
    // Deviation: u div u is taken off, which is zero in full cells. Surface cells that fall freely may be compressed, and where
    // the momentum of what has no room is kept, the velocity grows without bound.
    TARN_HD float tentative(Cell<D> c, int axis) const
    {
        const int i = u[axis].index(c), n = u[axis].next(axis);
        const float own = u[axis][i];
        float convection = 0, diffusion = 0;
        for (int b = 0; b < D; ++b) {
            const int m = u[axis].next(b);
            const float lower = b == axis ? u[axis][i - n] : beside(axis, i, i - m);
            const float upper = b == axis ? u[axis][i + n] : beside(axis, i, i + m);
            // The velocity that carries it, between the faces: at cell centres along the axis, at edges across it.
            const float in = b == axis ? 0.5f * (lower + own) : 0.5f * (u[b][i - n] + u[b][i]);
            const float out = b == axis ? 0.5f * (own + upper) : 0.5f * (u[b][i + m - n] + u[b][i + m]);
            convection += flux(in, lower, own) - flux(out, own, upper) + own * (out - in);
            diffusion += upper - 2 * own + lower;
        }
        return own + dt * (convection / h + gravity[axis] - within.difference(p, label, i - n, i) / (density * h) + viscosity * diffusion / (h * h));
    }
};

// The velocities through the open faces of a surface cell, those to empty cells. u[a][s] is the velocity along axis a at the
// cell's lower (s = 0) or upper face; `fall` is what the body force adds.
//   both faces of an axis open:  they move freely, changed by the body force alone;
//   one of them open:            it has the velocity of the face opposite, and as much more as lets out, shared by all
//                                such faces, what flows in along axes that have no open face.
// So the divergence is zero wherever an axis has one open face. With one open face in all, that takes the whole balance; two
// adjacent ones in 2D each have their opposite's velocity; of three, the one opposite the water does, and two fall freely.
// The same in 3D, where the paper leaves its 64 configurations to the reader.
template <int D>
TARN_HD inline void set_open_faces(float (&u)[D][2], const bool (&open)[D][2], const Vec<D, float>& fall)
{
    float in = 0;
    int shared_by = 0;
    for (int a = 0; a < D; ++a) {
        if (!open[a][0] && !open[a][1]) in += u[a][0] - u[a][1];
        if (open[a][0] != open[a][1]) ++shared_by;
    }
    const float more = shared_by > 0 ? in / static_cast<float>(shared_by) : 0.0f;
    for (int a = 0; a < D; ++a) {
        if (open[a][0] && open[a][1]) {
            u[a][0] += fall[a];
            u[a][1] += fall[a];
        } else if (open[a][1]) {
            u[a][1] = u[a][0] + more;
        } else if (open[a][0]) {
            u[a][0] = u[a][1] - more;
        }
    }
}

// The pressure of a full cell, changed until as much flows out of it as in:   [FM96] §3.1
//   dp = beta D,   beta = beta0 rho / (dt sum over free faces of 1/h^2),
// with D what flows in; the faces around it follow. A face is free where water or an open side lies beyond. Walls and inflow
// have given velocities. Deviation: the sum is over the free faces, not always over all of them; at walls that balances a
// cell at once, as elsewhere. Returns |D|, before.
template <int D>
struct Relaxation {
    FaceView<D, float> u;
    View<D, float> p;
    LabelView<D> label;
    float coefficient, density, h, dt;
    SurfaceWithin<D> within = {};

    TARN_HD bool is_free(int i) const { return is_water(label[i]) || label[i] == Contents::outflow; }

    TARN_HD float inflow(int i) const
    {
        float in = 0;
        for (int a = 0; a < D; ++a) in += u[a][i] - u[a][i + u[a].next(a)];
        return in / h;
    }
    // What a face gives for a push of the cell on one side of it.
    TARN_HD float gives(int i, int n) const
    {
        if (!is_free(i + n)) return 0;
        return label[i + n] == Contents::surface ? 1 - within.share(i, i + n) : 1.0f;
    }
    TARN_HD void relax(int i) const
    {
        float free = 0;
        for (int a = 0; a < D; ++a) free += gives(i, -p.next(a)) + gives(i, p.next(a));
        if (!(free > 0)) return;
        const float push = coefficient * inflow(i) * h / free;  // dt / (rho h) dp
        p[i] += density * h / dt * push;
        for (int a = 0; a < D; ++a) {
            const int n = p.next(a);
            u[a][i] -= gives(i, -n) * push;
            u[a][i + n] += gives(i, n) * push;
        }
    }
};

}  // namespace tarn::foster_metaxas
