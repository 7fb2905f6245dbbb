#include "tarn/phases/viscosity.h"

#include <utility>

namespace tarn {

namespace {

constexpr int max_iterations = 500;
// A wall nearer than this part of a cell to a velocity is treated as if it were there.
constexpr float nearest_wall = 0.1f;

// The viscosity at an edge, from the four cells around it: the harmonic mean, which carries the shear of layers exactly
// where their boundary runs through the edge.
TARN_HD inline float edge_mean(float a, float b, float c, float d)
{
    return a > 0 && b > 0 && c > 0 && d > 0 ? 4 / (1 / a + 1 / b + 1 / c + 1 / d) : 0.0f;
}

template <int D>
struct Stress {
    Cell<D> cells;
    View<D, const float> phi;
    Viscosity<D> nu;
    Boundary<D> boundary;
    NoSlip<D> no_slip;
    float scale = 0;  // dt / h^2

    TARN_HD bool inside(Cell<D> c) const
    {
        for (int a = 0; a < D; ++a)
            if (c[a] < 0 || c[a] >= cells[a]) return false;
        return true;
    }
    TARN_HD bool wet(Cell<D> c) const { return inside(c) && phi(c) < 0; }
    // Faces whose velocity the viscosity changes: open ones of wet cells.
    TARN_HD bool unknown(Cell<D> c, int axis) const
    {
        return boundary.open_at(c, axis) > 0 && (wet(c) || wet(moved<D>(c, axis, -1)));
    }

    TARN_HD float density(Cell<D> c, int axis) const { return nu.density[0].data ? nu.density[axis](c) : 1.0f; }

    // (A u) at a face, and A's diagonal there. `u` holds walls' velocities at prescribed faces.
    TARN_HD float apply(const FaceView<D, const float>& u, Cell<D> c, int a, float& diagonal) const
    {
        const float here = u[a](c);
        const float rho = density(c, a);
        float force = 0;
        diagonal = rho;
        // 2 nu du_a/da in the two cells.
        for (int side = 0; side < 2; ++side) {
            const Cell<D> cell = moved<D>(c, a, side - 1);
            if (!wet(cell)) continue;
            const float k = 2 * nu.at(cell) * scale;
            force += k * (u[a](moved<D>(c, a, 2 * side - 1)) - here);
            diagonal += k;
        }
        // nu (du_a/db + du_b/da) at the two edges along every other axis b.
        for (int b = 0; b < D; ++b) {
            if (b == a) continue;
            for (int side = 0; side < 2; ++side) {
                const int by = 2 * side - 1;
                const Cell<D> near[2] = {moved<D>(c, a, -1), c};
                if (c[b] + by < 0 || c[b] + by >= cells[b]) {
                    // A side of the domain, half a cell away.
                    if (!no_slip.wall[b][side]) continue;
                    const float k = 2 * scale * nu.at(wet(c) ? c : near[0]);
                    force -= k * here;
                    diagonal += k;
                    continue;
                }
                const Cell<D> far[2] = {moved<D>(near[0], b, by), moved<D>(c, b, by)};
                if (!(wet(near[0]) && wet(near[1]) && wet(far[0]) && wet(far[1]))) continue;
                const float edge = edge_mean(nu.at(near[0]), nu.at(near[1]), nu.at(far[0]), nu.at(far[1])) * scale;
                const Cell<D> across = moved<D>(c, b, by);
                if (!(boundary.open_at(across, a) > 0)) {
                    // A solid: its surface lies where the distance changes sign between the two faces.
                    if (!no_slip.solid[a].data || !no_slip.solid[a](across)) continue;
                    const float mine = nodes_at_face<D>(no_slip.solid_distance, c, a);
                    const float other = nodes_at_face<D>(no_slip.solid_distance, across, a);
                    float theta = mine > 0 && other < 0 ? mine / (mine - other) : nearest_wall;
                    theta = theta < nearest_wall ? nearest_wall : theta;
                    const float k = edge / theta;
                    force += k * (u[a](across) - here);
                    diagonal += k;
                    continue;
                }
                const Cell<D> shear = moved<D>(c, b, side);
                const float along = u[b](shear) - u[b](moved<D>(shear, a, -1));
                force += edge * (u[a](across) - here + (side ? along : -along));
                diagonal += edge;
            }
        }
        return rho * here - force;
    }

    // Whether only water of one viscosity is around a face: no surface, wall or solid within its stencil.
    TARN_HD bool plain(Cell<D> c, int a) const
    {
        if (nu.varying.data) return false;
        const auto free = [&](Cell<D> cell) {
            return wet(cell) && wet(moved<D>(cell, a, -1)) && boundary.open_at(cell, a) > 0;
        };
        if (!free(c) || !free(moved<D>(c, a, -1)) || !free(moved<D>(c, a, 1))) return false;
        for (int b = 0; b < D; ++b)
            if (b != a && !(free(moved<D>(c, b, -1)) && free(moved<D>(c, b, 1)))) return false;
        return true;
    }
    // The same as apply() there.
    TARN_HD float apply_plain(const FaceView<D, const float>& u, Cell<D> c, int a) const
    {
        const auto ua = u[a];
        const int i = ua.index(c), n = ua.next(a);
        float force = 2 * (ua[i + n] + ua[i - n] - 2 * ua[i]);
        for (int b = 0; b < D; ++b) {
            if (b == a) continue;
            const auto ub = u[b];
            const int m = ua.next(b);
            force += ua[i + m] + ua[i - m] - 2 * ua[i] + ub[i + m] - ub[i + m - n] - ub[i] + ub[i - n];
        }
        return ua[i] - nu.constant * scale * force;
    }
};

// Sum of a . b over all faces: each cell's lower ones, and the grid's last.
template <int D>
double dot_faces(const FaceView<D, const float>& u, const FaceView<D, const float>& v, const Tiles<D>& tiles)
{
    double sum = 0;
    for (int a = 0; a < D; ++a) {
        const auto ua = u[a], va = v[a];
        const int last = tiles.grid.cells[a] - 1, n = ua.next(a);
        sum += parallel_sum("viscosity dot", tiles, [=] TARN_KERNEL(Cell<D> c) {
            const int i = ua.index(c);
            const double here = static_cast<double>(ua[i]) * va[i];
            return c[a] == last ? here + static_cast<double>(ua[i + n]) * va[i + n] : here;
        });
    }
    return sum;
}

// The largest component on any face but the grid's last ones, over the density where there is one.
template <int D>
double largest_on_faces(const FaceView<D, const float>& u, const Tiles<D>& tiles,
                        const FaceView<D, const float>& density = {})
{
    double most = 0;
    for (int a = 0; a < D; ++a) {
        const auto ua = u[a], rho = density[a];
        most = std::max(most, parallel_max("viscosity largest", tiles, [=] TARN_KERNEL(Cell<D> c) {
                            return std::fabs(ua(c)) / (rho.data ? rho(c) : 1.0f);
                        }));
    }
    return most;
}

}  // namespace

template <int D>
SolveReport diffuse(FaceField<D>& velocity, const Field<D>& phi, const Viscosity<D>& viscosity,
                    const Boundary<D>& boundary, const NoSlip<D>& no_slip, const Tiles<D>& tiles, double dt,
                    double tolerance, const ViscosityScratch<D>& scratch)
{
    const Grid<D>& grid = phi.grid();
    const Stress<D> stress{grid.cells, phi.view(), viscosity,
                           boundary,   no_slip,    static_cast<float>(dt / (grid.h * grid.h))};
    const auto x = velocity.view(), r = scratch.r.view(), p = scratch.p.view(), q = scratch.q.view();
    const FaceView<D, const float> xc = x, rc = r, pc = p, qc = q;

    // Walls and solids bring their own velocity; air brings none, and no stress acts there.
    for (int a = 0; a < D; ++a) {
        parallel_for_faces("viscosity set", tiles, a, [=] TARN_KERNEL(Cell<D> c) {
            const bool closed = !(boundary.open_at(c, a) > 0);
            if (closed) x[a](c) = boundary.closed_velocity(c, a);
        });
    }
    const double largest_b = largest_on_faces(xc, tiles);
    if (!(largest_b > 0)) return {.converged = largest_b == 0};

    // One over the diagonal, negative where the stencil is plain, zero at faces that are no unknowns.
    const auto inverse = scratch.inverse.view();
    const FaceView<D, const float> ic = inverse;
    for (int a = 0; a < D; ++a) {
        parallel_for_faces("viscosity diagonal", tiles, a, [=] TARN_KERNEL(Cell<D> c) {
            float diagonal = 0;
            const bool unknown = stress.unknown(c, a);
            if (unknown) (void)stress.apply(xc, c, a, diagonal);
            inverse[a](c) = !unknown ? 0.0f : (stress.plain(c, a) ? -1 : 1) / diagonal;
        });
    }
    const auto apply = [=] TARN_KERNEL(const FaceView<D, const float>& u, Cell<D> c, int a) {
        const float i = ic[a](c);
        float diagonal;
        return i < 0 ? stress.apply_plain(u, c, a) : (i > 0 ? stress.apply(u, c, a, diagonal) : 0.0f);
    };

    for (int a = 0; a < D; ++a) {
        parallel_for_faces("viscosity residual", tiles, a, [=] TARN_KERNEL(Cell<D> c) {
            const float i = std::fabs(ic[a](c));
            const float left = i > 0 ? stress.density(c, a) * xc[a](c) - apply(xc, c, a) : 0.0f;
            r[a](c) = left;
            p[a](c) = i * left;
        });
    }
    double rz = dot_faces(rc, pc, tiles);
    SolveReport report;
    const auto residual = [&] { return largest_on_faces(rc, tiles, viscosity.density) / largest_b; };
    for (report.residual = residual(); report.residual > tolerance; report.residual = residual()) {
        if (report.iterations == max_iterations) break;
        ++report.iterations;
        for (int a = 0; a < D; ++a) {
            parallel_for_faces("viscosity apply", tiles, a, [=] TARN_KERNEL(Cell<D> c) { q[a](c) = apply(pc, c, a); });
        }
        const double pq = dot_faces(pc, qc, tiles);
        if (!(pq > 0)) break;
        const float alpha = static_cast<float>(rz / pq);
        // z = r / diagonal, kept in q.
        for (int a = 0; a < D; ++a) {
            parallel_for_faces("viscosity advance", tiles, a, [=] TARN_KERNEL(Cell<D> c) {
                const float left = rc[a](c) - alpha * qc[a](c);
                x[a](c) += alpha * pc[a](c);
                r[a](c) = left;
                q[a](c) = std::fabs(ic[a](c)) * left;
            });
        }
        const double rz_next = dot_faces(rc, qc, tiles);
        const float beta = static_cast<float>(rz_next / rz);
        rz = rz_next;
        for (int a = 0; a < D; ++a) {
            parallel_for_faces("viscosity direction", tiles, a,
                               [=] TARN_KERNEL(Cell<D> c) { p[a](c) = qc[a](c) + beta * pc[a](c); });
        }
    }
    report.converged = report.residual <= tolerance;
    return report;
}

#define TARN_INSTANTIATE(D)                                                                               \
    template SolveReport diffuse(FaceField<D>&, const Field<D>&, const Viscosity<D>&, const Boundary<D>&, \
                                 const NoSlip<D>&, const Tiles<D>&, double, double, const ViscosityScratch<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
