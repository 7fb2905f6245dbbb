#include "tarn/scene/forces.h"

#include <algorithm>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

namespace tarn {

namespace {

// How much there is of what is limited to a shape: it grows from nothing at the edge to all inside.
struct Limit {
    ShapesView where;
    bool everywhere = true;
    double fade = 1;

    TARN_HD double operator()(Vec3 x) const
    {
        if (everywhere) return 1;
        const double inside = -where.distance(x) / fade;
        return inside < 0 ? 0 : (inside > 1 ? 1 : inside);
    }
};

// A force at one time, as kernels see it.
struct Force {
    ForceKind kind = ForceKind::uniform;
    Vec3 vector;  // the acceleration, or the velocity that a drag leads to
    double strength = 0;
    Vec3 around, axis;
    double per_falloff = 0;
    Limit limit;
    bool to_shape = false;  // towards the shape of the limit, which then is none
    double h = 1;

    // The way from x to the nearest point of the shape, to its middle inside: -d grad d of its distance d, and d itself.
    TARN_HD Vec3 away_from_shape(Vec3 x, double& r) const
    {
        Vec3 slope;
        for (int a = 0; a < 3; ++a)
            slope[a] = limit.where.distance(x + (0.5 * h) * Vec3::unit(a)) - limit.where.distance(x - (0.5 * h) * Vec3::unit(a));
        r = std::fabs(limit.where.distance(x));
        const double steep = length(slope);
        return steep > 0 ? (r / steep) * slope : Vec3{};
    }
};

// A zone of waves at one time.
struct WaveZone {
    int axis = 0;
    double side = 0, inwards = 1;  // where the side is, and the way from it
    double width = 1, rate = 0;
    double bottom = 0, highest = 0;
    RegularWave wave;
};

// What acts at a place.
struct Action {
    Vec3 acceleration;
    double rate = 0;  // of drags, in sum
    Vec3 leads;       // the sum of rate times velocity
};

struct Forces {
    const Force* forces = nullptr;
    int count = 0;
    const WaveZone* zones = nullptr;
    int zone_count = 0;
    double t = 0;

    TARN_HD void add_forces(Action& sum, Vec3 x) const
    {
        for (int n = 0; n < count; ++n) {
            const Force& f = forces[n];
            const double part = f.limit(x);
            if (!(part > 0)) continue;
            if (f.kind == ForceKind::uniform) {
                sum.acceleration += part * f.vector;
            } else if (f.kind == ForceKind::drag) {
                sum.rate += part * f.strength;
                sum.leads += (part * f.strength) * f.vector;
            } else {
                const bool vortex = f.kind == ForceKind::vortex;
                double r = 0;
                const Vec3 away = f.to_shape ? f.away_from_shape(x, r) : x - f.around;
                const Vec3 off = vortex ? away - dot(away, f.axis) * f.axis : away;
                if (!f.to_shape) r = length(off);
                const double s = r * f.per_falloff;
                if (!(r > 0)) continue;
                const Vec3 along = vortex ? cross(f.axis, off) : -off;
                sum.acceleration += (part * f.strength / (r * (1 + s * s))) * along;
            }
        }
    }

    TARN_HD void add_waves(Action& sum, Vec3 x) const
    {
        for (int n = 0; n < zone_count; ++n) {
            const WaveZone& z = zones[n];
            const double from = z.inwards * (x[z.axis] - z.side), part = from / z.width;
            if (!(part > 0 && part < 1)) continue;
            const double sine = std::sin(3.14159265358979323846 * part), rate = z.rate * sine * sine;
            sum.rate += rate;
            if (z.wave.amplitude == 0) continue;
            const double height = x[1] < z.highest ? x[1] - z.bottom : z.highest - z.bottom;
            double along = 0, up = 0;
            z.wave.velocity(from, height > 0 ? height : 0, t, along, up);
            sum.leads[z.axis] += rate * z.inwards * along;
            sum.leads[1] += rate * up;
        }
    }
};

TARN_HD inline double pushed(const Action& a, double u, int axis, double dt)
{
    if (a.rate > 0) {
        const double leads = a.leads[axis] / a.rate;
        u = leads + (u - leads) * std::exp(-a.rate * dt);
    }
    return u + dt * a.acceleration[axis];
}

Force force_of(const ForceParams& p, const Geometry& geometry, const KernelShapes& where, double t, double dt, double h)
{
    Force f;
    f.kind = *p.kind;
    f.vector = f.kind == ForceKind::drag ? p.velocity.mean(t, dt) : p.acceleration.mean(t, dt);
    f.strength = f.kind == ForceKind::drag ? p.rate.mean(t, dt) : p.strength.mean(t, dt);
    if (p.around) f.around = p.around->at(t + 0.5 * dt);
    f.axis = (1 / length(p.turns_about)) * p.turns_about;
    if (p.falloff) f.per_falloff = 1 / *p.falloff;
    f.to_shape = f.kind == ForceKind::point && !p.around;
    f.h = h;
    f.limit.everywhere = geometry.empty() || f.to_shape;
    f.limit.fade = std::max(p.fade.value_or(0), h);
    if (!geometry.empty()) f.limit.where = where.view();
    return f;
}

// At time t: waves grow smoothly from rest.
WaveZone zone_of(const WavesParams& p, const Params& params, double t)
{
    constexpr double nepers = 5;  // exp(-5) = 0.7 %
    const double g = length(params.domain.gravity.at(0)), depth = *p.level - p.bottom;
    WaveZone z;
    z.axis = p.side == Side::left || p.side == Side::right ? 0 : 2;
    const bool upper = p.side == Side::right || p.side == Side::front;
    z.side = upper ? params.domain.size[static_cast<size_t>(z.axis)] : 0;
    z.inwards = upper ? -1 : 1;
    z.bottom = p.bottom;
    z.highest = *p.level + p.height;
    z.wave.k = p.length ? 2 * std::numbers::pi / *p.length : wave_number(2 * std::numbers::pi / *p.period, depth, g);
    z.wave.omega = wave_frequency(z.wave.k, depth, g);
    z.wave.depth = depth;
    z.wave.second_order = *p.kind == WaveKind::stokes;
    z.width = p.zone.value_or(zone_in_wavelengths * 2 * std::numbers::pi / z.wave.k);
    z.rate = 4 * nepers * group_velocity(z.wave.k, depth, g) / z.width;
    const double ramp = p.ramp.value_or(4 * std::numbers::pi / z.wave.omega), s = ramp > 0 ? std::min(1.0, t / ramp) : 1;
    z.wave.amplitude = *p.kind == WaveKind::absorb ? 0 : 0.5 * p.height * s * s * (3 - 2 * s);
    return z;
}

// All forces over a step, and what keeps alive what kernels see of them.
class Acting {
public:
    Acting(const Scene& scene, double t, double dt, double h)
    {
        const Params& p = scene.params;
        shapes_.reserve(p.force.size());
        for (size_t i = 0; i < p.force.size(); ++i) {
            shapes_.push_back(scene.forces[i].for_kernels(t + 0.5 * dt));
            forces_.push_back(force_of(p.force[i], scene.forces[i], shapes_.back(), t, dt, h));
        }
        for (const WavesParams& waves : p.waves) zones_.push_back(zone_of(waves, p, t + 0.5 * dt));
        time_ = t + 0.5 * dt;
    }
    Forces view() const
    {
        return {forces_copy_.of(forces_.data(), forces_.size()), static_cast<int>(forces_.size()),
                zones_copy_.of(zones_.data(), zones_.size()), static_cast<int>(zones_.size()), time_};
    }

private:
    std::vector<KernelShapes> shapes_;
    std::vector<Force> forces_;
    std::vector<WaveZone> zones_;
    double time_;
    DeviceCopy forces_copy_, zones_copy_;
};

}  // namespace

bool control_available() { return true; }

bool has_forces(const Scene& scene) { return !scene.params.force.empty() || !scene.params.waves.empty(); }

double strongest_force(const Scene& scene, double t)
{
    double most = 0;
    for (const ForceParams& p : scene.params.force)
        most += p.kind == ForceKind::uniform ? length(p.acceleration.at(t))
                : p.kind == ForceKind::drag  ? p.rate.at(t) * length(p.velocity.at(t))
                                             : std::fabs(p.strength.at(t));
    return most;
}

Pushed pushed_by(const Scene& scene, double t, double dt, double h)
{
    if (!has_forces(scene)) return {};
    const auto acting = std::make_shared<const Acting>(scene, t, dt, h);
    return [acting, forces = acting->view(), dt](Vec3 x, int axis, double u) {
        Action action;
        forces.add_forces(action, x);
        forces.add_waves(action, x);
        return pushed(action, u, axis, dt);
    };
}

template <int D>
void push(FaceField<D>& velocity, const Field<D>& phi, bool air, const Scene& scene, const Tiles<D>& tiles, double t,
          double dt)
{
    if (!has_forces(scene)) return;
    const Grid<D> grid = phi.grid();
    const Acting acting(scene, t, dt, grid.h);
    const Forces forces = acting.view();
    const auto p = phi.view();
    for (int a = 0; a < D; ++a) {
        const auto u = velocity[a].view();
        const int n = p.next(a);
        parallel_for_faces("forces", tiles, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = p.index(c);
            const float lower = p[i - n], upper = p[i];
            // Beyond the domain's sides phi is nowhere, and not less than zero.
            const bool water = lower < 0 || upper < 0;
            if (!water && !air) return;
            const Vec3 x = lift<D>(grid.face(c, a));
            Action action;
            forces.add_forces(action, x);
            if (water) forces.add_waves(action, x);
            u[i] = static_cast<float>(pushed(action, static_cast<double>(u[i]), a, dt));
        });
    }
}

template <int D>
void push(Droplets<D>& droplets, const Grid<D>& grid, const Scene& scene, double t, double dt)
{
    if (scene.params.force.empty() || droplets.count() == 0) return;
    const Acting acting(scene, t, dt, grid.h);
    const Forces forces = acting.view();
    const FragmentView<D> f = droplets.view();
    parallel_range("forces", droplets.count(), [=] TARN_KERNEL(int i) {
        if (static_cast<int>(f.kind[i]) != static_cast<int>(DropletKind::droplet)) return;
        Vec<D> x;
        for (int a = 0; a < D; ++a) x[a] = grid.h * (static_cast<double>(f.x[a][i]) + 0.5);
        Action action;
        forces.add_forces(action, lift<D>(x));
        for (int a = 0; a < D; ++a)
            f.u[a][i] = static_cast<float>(pushed(action, static_cast<double>(f.u[a][i]), a, dt));
    });
}

#define TARN_INSTANTIATE(D)                                                                                        \
    template void push(FaceField<D>&, const Field<D>&, bool, const Scene&, const Tiles<D>&, double, double);       \
    template void push(Droplets<D>&, const Grid<D>&, const Scene&, double, double);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
