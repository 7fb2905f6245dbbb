// What a step's report and stats.csv say of the water: volumes, energies, the greatest speed and divergence.

#include <algorithm>
#include <cmath>
#include <utility>

#include "tarn/field/sample.h"
#include "tarn/phases/two_fluids.h"
#include "tarn/scene/frame.h"
#include "tarn/step/boundary.h"
#include "tarn/step/octree.h"
#include "tarn/step/smoke.h"
#include "tarn/step/step.h"
#include "tarn/step/tall.h"

namespace tarn {

namespace {

// Of the water, apart from what it was asked for. Where a face to the air is cut, the velocity is the mean over all of it
// (pressure/project.cpp), of which the flow through the open part cannot be told: such cells are left out.
template <int D>
double largest_divergence(const Water<D>& w, const Boundary<D>& boundary)
{
    const auto phi = w.phi.view(), divergence_source = w.divergence_source.view();
    const auto u = w.velocity.view();
    const float per_h = static_cast<float>(1 / w.grid.h);
    const bool rates = w.flows.any_rate;
    // In a box with nothing else in it, every face has the velocity that counts.
    if (!boundary.solids && !boundary.inlets && !rates)
        return parallel_max<true>("measure", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
            const int i = phi.index(c);
            float out = 0;
            TARN_UNROLL
            for (int a = 0; a < D; ++a) out += u[a][i + phi.next(a)] - u[a][i];
            const float left = std::fabs(out * per_h - divergence_source[i]);
            return phi[i] < 0 ? left : 0.0f;
        });
    const View<D, const float> rate = rates ? w.flows.volume_rate.view() : View<D, const float>{};
    return parallel_max("measure", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
        if (!(phi(c) < 0)) return 0.0f;
        float out = 0, open = 0;
        for (int a = 0; a < D; ++a)
            for (int side = 0; side < 2; ++side) {
                const Cell<D> face = moved<D>(c, a, side);
                const float part = boundary.open_at(face, a);
                if (part > 0 && part < 1 && !(phi(moved<D>(c, a, 2 * side - 1)) < 0)) return 0.0f;
                const float flow = part * u[a](face) + (1 - part) * boundary.closed_velocity(face, a);
                out += side ? flow : -flow;
                open += part;
            }
        return open > 0 ? std::fabs(out * per_h - divergence_source(c) - (rates ? rate(c) : 0.0f)) : 0.0f;
    });
}

// The velocity of the water in a cell of water and air: the momentum of the water on its faces, which is their velocity times
// the share that water has of them, over their water, or the cell's where that is more. Faces of air alone, which may rush out
// of a closing gap, have none. And it is that of the surface's time: surface and velocity leap past each other, so that the
// velocity is that of half a step later (step/two_phase.cpp).
template <int D>
struct WaterVelocity {
    View<D, const float> phi;
    FaceView<D, const float> u, rate;
    CutFaces<D> cut;
    Cell<D> cells;
    float deep;  // phi where there is water all around
    float ahead;

    TARN_HD Vec<D, float> operator()(Cell<D> c, float part) const
    {
        Vec<D, float> v;
        const int i = phi.index(c);
        for (int a = 0; a < D; ++a) {
            const int n = phi.next(a);
            if (phi[i] < deep) {
                v[a] = 0.5f * (u[a][i] + u[a][i + n] - ahead * (rate[a][i] + rate[a][i + n]));
                continue;
            }
            const float lower = water_share(phi_beside(phi, cut, cells, c, a), true, 0);
            const float upper = water_share(phi_beside(phi, cut, cells, moved<D>(c, a, 1), a), true, 0);
            const float shared = lower + upper, all = shared > part ? shared : part;
            const float below = u[a][i] - ahead * rate[a][i], above = u[a][i + n] - ahead * rate[a][i + n];
            v[a] = all > 0 ? (lower * below + upper * above) / all : 0.0f;
        }
        return v;
    }
};

// The kinetic energy of the water, its greatest speed, and that of the air beside it. `scratch[0]` has the wet parts of cells.
template <int D>
void measure_with_air(Measures& m, const Water<D>& w, const Params& p, const WetPart<D>& wet, double mass)
{
    const auto phi = w.phi.view(), part = w.scratch[0].view();
    const auto u = w.velocity.view();
    const WaterVelocity<D> velocity{phi, u, w.acceleration.view(), cut_faces(w, p, w.time), w.grid.cells,
                                    static_cast<float>(-2 * w.grid.h), static_cast<float>(w.ahead)};
    m.kinetic_energy = 0.5 * mass * parallel_sum("measure", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
                           if (!(part(c) > 0)) return 0.0;
                           const Vec<D, float> v = velocity(c, part(c));
                           return static_cast<double>(part(c) * dot(v, v));
                       });
    WaterVelocity<D> newest = velocity;
    newest.ahead = 0;
    m.max_speed = std::sqrt(parallel_max("measure", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
        if (!(phi(c) < 0 && part(c) > 0)) return 0.0f;
        const Vec<D, float> v = newest(c, part(c));
        return dot(v, v);
    }));
    const float near = static_cast<float>(2 * w.grid.h);
    m.max_speed_air = std::sqrt(parallel_max("measure", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
        const Vec<D, float> v = velocity_at_cell(u, c);
        return phi(c) >= 0 && phi(c) < near && wet.outside(c) > 0 ? dot(v, v) : 0.0f;
    }));
}

}  // namespace

template <int D>
Measures measure(Water<D>& w, const Params& p)
{
    if (fluids_vary(p)) return measure(w, at_time(p, w.time));
    Measures m;
    if (w.smoke) {
        smoke::measure(m, w, p);
        m.max_divergence = std::max(largest_divergence(w, boundary_of(w, p)), measure_larger_cells(w, Vec<D>{}, 0).divergence);
        return m;
    }
    const auto phi = std::as_const(w.phi).view();
    const auto u = std::as_const(w.velocity).view();
    const WetPart<D> wet = wet_part(w.phi, w.solids);
    const auto part = w.scratch[0].view();
    parallel_for("measure", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) { part(c) = wet(c); });
    const double cell = cell_volume(w.grid), mass = p.fluid.density.constant() * cell;
    m.droplets = totals(w.droplets, w.grid, p);
    const double on_grid = cell * parallel_sum<true>("measure", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
                               return static_cast<double>(part(c));
                           });
    m.volume = on_grid + (w.tall.on ? tall::volume_below(w) : 0.0) + m.droplets.volume_droplets - m.droplets.volume_bubbles;
    if (w.air) {
        measure_with_air(m, w, p, wet, mass);
    } else {
        // Of the surface's time, too: gravity had done less work then.
        const Vec<D, float> fallen = (2 * w.ahead * take<D>(frame_gravity(p, w.time))).template as<float>();
        m.kinetic_energy = 0.5 * mass * parallel_sum<true>("measure", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
                               const Vec<D, float> v = velocity_at_cell(u, c);
                               return static_cast<double>(part(c) * dot(v, v - fallen));
                           });
        m.max_speed = std::sqrt(parallel_max<true>("measure", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
            const Vec<D, float> v = velocity_at_cell(u, c);
            const float square = dot(v, v);
            return phi(c) < 0 && part(c) > 0 ? square : 0.0f;
        }));
    }
    const Grid<D> grid = w.grid;
    const Vec<D> g = take<D>(frame_gravity(p, w.time));
    m.potential_energy = -mass * parallel_sum<true>("measure", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) {
        return part(c) * dot(g, grid.centre(c));
    });
    m.cells_wet = static_cast<long>(
        parallel_sum("measure", w.tiles_active, [=] TARN_KERNEL(Cell<D> c) { return phi(c) < 0 ? 1.0 : 0.0; }));
    m.unknowns = m.cells_wet;
    if (w.tall.on) {
        const tall::Below below = tall::measure_below(w, g);
        m.kinetic_energy += mass * below.kinetic;
        m.potential_energy += mass * below.potential;
        m.cells_wet += below.cells;
        m.unknowns = w.tall.columns.nodes();
        m.max_divergence = w.tall.divergence;
        return m;
    }
    m.max_divergence = largest_divergence(w, boundary_of(w, p));
    if (!w.octree.any()) return m;
    const LargerMeasures larger = measure_larger_cells(w, g, w.ahead);
    const double density = p.fluid.density.constant();
    m.volume += larger.volume;
    m.kinetic_energy += density * larger.kinetic;
    m.potential_energy -= density * larger.potential;
    m.cells_wet += larger.cells;
    m.unknowns = m.cells_wet;
    m.max_speed = std::max(m.max_speed, larger.fastest);
    m.max_divergence = std::max(m.max_divergence, larger.divergence);
    return m;
}

template Measures measure(Water<2>&, const Params&);
template Measures measure(Water<3>&, const Params&);

}  // namespace tarn
