#include "tarn/step/vortices.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "tarn/backend/parallel.h"
#include "tarn/base/error.h"
#include "tarn/base/random.h"
#include "tarn/effects/vortex_forces.h"
#include "tarn/field/nodes.h"
#include "tarn/field/sample.h"
#include "tarn/step/tall.h"

namespace tarn {

namespace {

// How what starts on a solid has moved with it since the start.
template <int D>
Pose way_of_solid(const Water<D>& w, const Scene& scene, const std::string& name, double t)
{
    const std::vector<SolidParams>& solids = scene.params.solid;
    size_t n = 0;
    while (n < solids.size() && solids[n].name != name) ++n;
    if (n == solids.size()) return {};
    const int body = scene.solids.body_of(n);
    if (body < 0) return scene.solids.displacement(n, 0, t);
    const RigidBody& b = w.bodies[static_cast<size_t>(body)];
    Pose pose;
    for (int a = 0; a < 3; ++a) {
        const Vec3 column = b.rotation.rotate(Vec3::unit(a));
        for (int row = 0; row < 3; ++row) pose.rows[row][a] = column[row];
    }
    pose.translation = b.position - pose.apply(b.centre);
    return pose;
}

// Of the strength's length, its direction mixed with one at random.
template <int D>
Vec3 scattered(Vec3 strength, double scatter, Random& random)
{
    if (D == 2) return static_cast<double>(random.next()) < 0.5 * scatter ? -strength : strength;
    const double up = 2 * static_cast<double>(random.next()) - 1, turn = 2 * std::numbers::pi * static_cast<double>(random.next());
    const double across = std::sqrt(std::max(0.0, 1 - up * up)), much = length(strength);
    const Vec3 mixed = (1 - scatter) * strength + (scatter * much) * Vec3{across * std::cos(turn), up, across * std::sin(turn)};
    const double most = length(mixed);
    return most > 0 ? (much / most) * mixed : strength;
}

// A place in a shape at random, or the nearest to one of those tried.
template <int D>
Vec3 place_in(const Shape& shape, const Grid<D>& grid, Random& random)
{
    constexpr int patience = 1000;
    Vec3 lo, hi, best;
    for (int a = 0; a < D; ++a) {
        lo[a] = std::max(0.0, shape.middle[a] - shape.reach);
        hi[a] = std::max(lo[a], std::min(grid.size()[a], shape.middle[a] + shape.reach));
    }
    double least = HUGE_VAL;
    for (int n = 0; n < patience && !(least < 0); ++n) {
        Vec3 x;
        for (int a = 0; a < D; ++a) x[a] = lo[a] + static_cast<double>(random.next()) * (hi[a] - lo[a]);
        const double d = distance(shape, x);
        if (d < least) least = d, best = x;
    }
    return best;
}

// Of entry `e`, those with the numbers from `first` on start between t and t + dt.
template <int D>
void start(Water<D>& w, const Scene& scene, size_t e, long first, long count, double t, double dt)
{
    if (count <= 0) return;
    const VorticesParams& p = scene.params.vortices[e];
    VortexParticles<D> more(Where::program);
    const int before = w.vortices.particles.count();
    more.resize(before + static_cast<int>(count));
    for (int n = 0; n < VortexParticles<D>::columns; ++n)
        std::copy_n(w.vortices.particles.column(n), before, more.column(n));
    const VortexView<D> v = more.view();
    for (long n = 0; n < count; ++n) {
        const int i = before + static_cast<int>(n);
        Random random(static_cast<uint32_t>(first + n), static_cast<uint32_t>(e), 0x50f7e);
        const double when = t + static_cast<double>(random.next()) * dt;
        const Shape shape = scene.vortices[e].at(when)[0];
        const Pose way = p.solid.empty() ? Pose{} : way_of_solid(w, scene, p.solid, when);
        const Vec3 x = way.apply(place_in(shape, w.grid, random));
        Pose turn = way;
        turn.translation = {};
        const Vec3 strength = turn.apply(scattered<D>(p.strength.at(when), p.scatter, random));
        for (int a = 0; a < D; ++a) v.x[a][i] = static_cast<float>(x[a] / w.grid.h - 0.5);
        for (int a = 0; a < 3; ++a) v.strength[a][i] = static_cast<float>(strength[a]);
        v.radius[i] = static_cast<float>(p.size.value_or(2 * w.grid.h) / w.grid.h);
        v.left[i] = static_cast<float>(p.life);
        v.first[i] = static_cast<float>(length(strength));
    }
    w.vortices.particles.swap(more);
}

}  // namespace

template <int D>
void start_vortices(Water<D>& w, const Scene& scene)
{
    w.vortices.on = !scene.vortices.empty();
    w.vortices.started.assign(scene.vortices.size(), 0.0);
    if (!w.vortices.on) return;
    if (on_device())
        throw InputError(scene.file + ": vortices: vortex particles need a processor; run it without --backend cuda, or remove [[vortices]]");
    for (size_t e = 0; e < scene.vortices.size(); ++e) {
        const int count = scene.params.vortices[e].count;
        start(w, scene, e, 0, count, 0, 0);
        w.vortices.started[e] = count;
    }
}

template <int D>
void move_vortices(Water<D>& w, const Scene& scene, double t, double dt)
{
    if (!w.vortices.on) return;
    const Cell<D> cells = w.grid.cells;
    const FaceView<D, const float> u = std::as_const(w.velocity).view();
    const VelocityAt<D> velocity = w.tall.on ? tall::velocity_anywhere(w)
                                             : VelocityAt<D>([=](Vec<D, float> x) { return sample_velocity(u, cells, x); });
    const auto phi = std::as_const(w.phi).view();
    const View<D, const float> nodes = w.solids.any ? std::as_const(w.solids.distance).view() : View<D, const float>{};
    const auto out = [&](Vec<D, float> x) {
        for (int a = 0; a < D; ++a) {
            const float beyond[2] = {-0.5f - x[a], x[a] - (static_cast<float>(cells[a]) - 0.5f)};
            for (int side = 0; side < 2; ++side)
                if (!(beyond[side] < 0) && w.ends.open[a][side]) return true;
        }
        const Cell<D> c = cell_at(x, cells);
        return sample_cells(phi, cells, x) > 0 || (nodes.data && nodes_at_cell<D>(nodes, c) < 0);
    };
    carry<D>(w.vortices.particles, w.grid, velocity, out, dt);
    // As many as there were in the state that a run is resumed from, or none for what the scene has been given since.
    w.vortices.started.resize(scene.vortices.size(), 0.0);
    for (size_t e = 0; e < scene.vortices.size(); ++e) {
        double& started = w.vortices.started[e];
        const double before = started;
        started += scene.params.vortices[e].rate.mean(t, dt) * dt;
        const long first = std::lround(std::floor(before));
        start(w, scene, e, first, std::lround(std::floor(started)) - first, t, dt);
    }
}

template <int D>
void push_by_vortices(Water<D>& w, double dt)
{
    if (w.vortices.particles.count() == 0) return;
    VortexForces<D>(w.vortices.particles, w.grid).push(w.velocity, w.phi, w.tiles_active, dt);
}

template <int D>
Pushed with_vortices(Pushed forces, const Water<D>& w, double dt)
{
    if (w.vortices.particles.count() == 0) return forces;
    const auto vortices = std::make_shared<const VortexForces<D>>(w.vortices.particles, w.grid);
    return [forces = std::move(forces), vortices, h = w.grid.h, dt](Vec3 x, int axis, double u) {
        if (forces) u = forces(x, axis, u);
        Vec<D, float> place;
        for (int a = 0; a < D; ++a) place[a] = static_cast<float>(x[a] / h - 0.5);
        return u + dt * static_cast<double>(vortices->at(place, axis));
    };
}

#define TARN_INSTANTIATE(D)                                                \
    template void start_vortices(Water<D>&, const Scene&);                \
    template void move_vortices(Water<D>&, const Scene&, double, double); \
    template void push_by_vortices(Water<D>&, double);                    \
    template Pushed with_vortices(Pushed, const Water<D>&, double);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
