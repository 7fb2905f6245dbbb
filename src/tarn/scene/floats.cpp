#include "tarn/scene/floats.h"

#include <algorithm>
#include <cmath>

#include "tarn/backend/parallel.h"
#include "tarn/field/sample.h"
#include "tarn/scene/contacts.h"

namespace tarn {

namespace {

constexpr double damping = 0.5;  // k: half a drag coefficient of 1, as blunt bodies have
constexpr int nodes_along = 8;   // about as many along the diameter of a ball around a body

// grad p at a place, in cells, from the faces around that have water on both sides; false where there are none.
template <int D>
bool pressure_gradient(const FloatWater<D>& water, Vec<D, float> x, Vec<D, float>& gradient)
{
    const Grid<D>& grid = water.phi->grid();
    const auto p = water.pressure->view();
    const auto phi = water.phi->view();
    const auto wet = [&](int i) { return p[i] != 0 && phi[i] < 0; };
    for (int a = 0; a < D; ++a) {
        Cell<D> last = grid.cells;
        for (int b = 0; b < D; ++b)
            if (b != a) --last[b];
        Vec<D, float> y = x;
        y[a] += 0.5f;
        const Lattice<D> at = locate(p, y, last);
        float sum = 0, all = 0;
        for (int corner = 0; corner < (1 << D); ++corner) {
            float weight = 1e-6f;  // so that a face counts that a place lies beside, where it is the only one
            float product = 1;
            int i = at.index;
            for (int b = 0; b < D; ++b) {
                product *= corner >> b & 1 ? at.w[b] : 1 - at.w[b];
                if (corner >> b & 1) i += p.next(b);
            }
            weight += product;
            const int before = i - p.next(a);
            if (!wet(i) || !wet(before)) continue;
            sum += weight * (p[i] - p[before]);
            all += weight;
        }
        if (!(all > 0)) return false;
        gradient[a] = sum / (all * static_cast<float>(grid.h));
    }
    return true;
}

// Out of the water; upwards where phi has no slope, far from it.
template <int D>
Vec<D, float> normal_at(const FloatWater<D>& water, Vec<D, float> x)
{
    const auto phi = water.phi->view();
    const Cell<D> cells = water.phi->grid().cells;
    Vec<D, float> n;
    for (int a = 0; a < D; ++a) {
        Vec<D, float> up = x, down = x;
        up[a] += 0.5f;
        down[a] -= 0.5f;
        n[a] = sample_cells(phi, cells, up) - sample_cells(phi, cells, down);
    }
    const float l = length(n);
    return l > 0 ? (1 / l) * n : Vec<D, float>::unit(1);
}

template <int D>
Vec<D, float> in_cells(const FloatWater<D>& water, Vec3 place)
{
    Vec<D, float> x;
    for (int a = 0; a < D; ++a) x[a] = static_cast<float>(place[a] / water.phi->grid().h - 0.5);
    return x;
}

template <int D>
Vec3 surface_normal(const FloatWater<D>& water, Vec3 place)
{
    return lift<D>(normal_at(water, in_cells(water, place)).template as<double>());
}

// What a node meets.
struct Met {
    double wet = 0;  // how much of it is under water
    Vec3 velocity, push;
};

template <int D>
Met meet(const FloatWater<D>& water, Vec3 place, double width)
{
    const Grid<D>& grid = water.phi->grid();
    Vec<D, float> x = in_cells(water, place);
    const float d = sample_cells(water.phi->view(), grid.cells, x);
    Met met;
    met.wet = std::clamp(0.5 - static_cast<double>(d) / width, 0.0, 1.0);
    if (!(met.wet > 0)) return met;
    met.velocity = lift<D>(sample_velocity(water.velocity->view(), grid.cells, x).template as<double>());
    // Where the cells around have no pressure, those a cell deeper do.
    Vec<D, float> gradient;
    for (int deeper = 0; deeper < 3; ++deeper) {
        if (pressure_gradient(water, x, gradient)) {
            met.push = lift<D>((-1.0f * gradient).template as<double>());
            break;
        }
        x -= normal_at(water, x);
    }
    return met;
}

Met between(const Met& a, const Met& b, double s)
{
    const double wet = a.wet + s * (b.wet - a.wet);
    if (!(wet > 0)) return {};
    // Water that only one of them has counts as it is there.
    const double part = s * b.wet / wet;
    return {wet, a.velocity + part * (b.velocity - a.velocity), a.push + part * (b.push - a.push)};
}

template <int D>
void push_by_water(RigidBody& body, const FloatNodes& nodes, const FloatWater<D>& before, const FloatWater<D>& after, double s,
                   double rho, Vec3 g, double dt)
{
    Vec3 force, torque, carried, turned;  // of the pressure; of damping, but for the body's own velocity
    double c_sum = 0, width = 0;
    Matrix3 resist{};
    // How deep what a node stands for reaches, across the surface.
    const Vec3 normal = body.rotation.inverse().rotate(surface_normal(s > 0.5 ? after : before, body.position));
    for (int a = 0; a < D; ++a) width += std::fabs(normal[a]) * nodes.spacing[a];
    for (size_t n = 0; n < nodes.at.size(); ++n) {
        const Vec3 r = body.rotation.rotate(nodes.at[n]), x = body.position + r;
        const Met met = s <= 0   ? meet(before, x, width)
                        : s >= 1 ? meet(after, x, width)
                                 : between(meet(before, x, width), meet(after, x, width), s);
        const double volume = met.wet * nodes.volumes[n];
        if (!(volume > 0)) continue;
        force += volume * met.push;
        torque += cross(r, volume * met.push);
        const Vec3 own = cross(body.spin, r);
        const double c = damping * rho * volume / nodes.length * length(met.velocity - body.velocity - own);
        c_sum += c;
        carried += c * (met.velocity - own);
        turned += cross(r, c * (met.velocity - body.velocity));
        for (int a = 0; a < 3; ++a) {
            resist.rows[a] -= (c * r[a]) * r;
            resist.rows[a][a] += c * dot(r, r);
        }
    }
    // (M + dt C) V' = M V + dt (f + M g + C u), and alike for the spin.
    const Vec3 old = body.velocity;
    body.velocity = (1 / (body.mass + dt * c_sum)) * (body.mass * old + dt * (force + body.mass * g + carried));
    Matrix3 inertia = body.inertia_now();
    const Vec3 momentum = inertia * body.spin + dt * (torque + turned);
    for (int a = 0; a < 3; ++a) inertia.rows[a] += dt * resist.rows[a];
    if (D == 2)
        body.spin[2] = momentum[2] / inertia.rows[2][2];
    else
        body.spin = inertia.inverse() * momentum;
    body.force = (body.mass / dt) * (body.velocity - old) - body.mass * g;
    body.torque = torque;
}

}  // namespace

FloatNodes float_nodes(const RigidBody& body, const Scene& scene)
{
    const int dimension = scene.params.dimension();
    const std::vector<Shape> all = scene.solids.at(0);
    const std::vector<Shape> own(all.begin() + body.first, all.begin() + body.last + 1);
    const auto depth = [&](Vec3 r) { return -distance(own, body.centre + r); };
    // How far it reaches along each axis: at a place inside, by its depth at least.
    constexpr int looks = 12;
    Vec3 lo, hi;
    for (int k = dimension == 3 ? -looks : 0; k <= (dimension == 3 ? looks : 0); ++k)
        for (int j = -looks; j <= looks; ++j)
            for (int i = -looks; i <= looks; ++i) {
                const Vec3 r = (body.radius / looks) * Vec3{double(i), double(j), double(k)};
                const double d = depth(r);
                for (int a = 0; a < dimension && d >= 0; ++a) lo[a] = std::min(lo[a], r[a] - d), hi[a] = std::max(hi[a], r[a] + d);
            }
    // A lattice that fits these. A node has what is in its part of it, by small ones, and lies in the middle of that.
    constexpr int small = 4;
    FloatNodes nodes;
    int n[3] = {1, 1, 1}, parts[3] = {1, 1, 1};
    double side = 1;  // of a small part
    for (int a = 0; a < dimension; ++a) {
        n[a] = std::max(3, static_cast<int>(std::lround((hi[a] - lo[a]) * nodes_along / (2 * body.radius))));
        parts[a] = small * n[a];
        nodes.spacing[a] = (hi[a] - lo[a]) / n[a];
        side *= nodes.spacing[a] / small;
    }
    const double volume = side;
    side = std::pow(volume, 1.0 / dimension);
    // How much of a small part is inside: of its extent along the surface's normal, which in a flat body is not that along others.
    const auto inside = [&](Vec3 r) {
        const double d = depth(r);
        if (std::fabs(d) > (nodes.spacing[0] + nodes.spacing[1] + nodes.spacing[2]) / small) return d > 0 ? 1.0 : 0.0;
        Vec3 slope;
        for (int a = 0; a < dimension; ++a) {
            Vec3 step;
            step[a] = 0.05 * side;
            slope[a] = depth(r + step) - depth(r - step);
        }
        double width = 0;
        for (int a = 0; a < dimension; ++a) width += std::fabs(slope[a]) * nodes.spacing[a] / small;
        return width > 0 ? std::clamp(0.5 + d * length(slope) / width, 0.0, 1.0) : (d > 0 ? 1.0 : 0.0);
    };
    std::vector<Vec3> sums(static_cast<size_t>(n[0]) * static_cast<size_t>(n[1] * n[2]));
    std::vector<double> volumes(sums.size());
    for (int k = 0; k < parts[2]; ++k)
        for (int j = 0; j < parts[1]; ++j)
            for (int i = 0; i < parts[0]; ++i) {
                const int at[3] = {i, j, k};
                Vec3 r;
                for (int a = 0; a < dimension; ++a) r[a] = lo[a] + (at[a] + 0.5) * nodes.spacing[a] / small;
                const double v = inside(r) * volume;
                const size_t node = static_cast<size_t>(i / small + n[0] * (j / small + n[1] * (k / small)));
                volumes[node] += v;
                sums[node] += v * r;
                nodes.volume += v;
            }
    for (size_t i = 0; i < sums.size(); ++i) {
        if (!(volumes[i] > 0)) continue;
        nodes.at.push_back((1 / volumes[i]) * sums[i]);
        nodes.volumes.push_back(volumes[i]);
    }
    nodes.length = std::pow(nodes.volume, 1.0 / dimension);
    return nodes;
}

double longest_float_step(const std::vector<RigidBody>& bodies, const std::vector<FloatNodes>& nodes, const Scene& scene)
{
    // w² = g / draught, and the draught is the body's size times its density over the water's.
    const double g = std::max(length(scene.params.domain.gravity.at(0)), 1e-6);
    double longest = HUGE_VAL;
    for (size_t n = 0; n < bodies.size(); ++n) {
        const double draught = nodes[n].length * std::min(1.0, bodies[n].mass / (scene.params.fluid.density.at(0) * nodes[n].volume));
        longest = std::min(longest, 0.5 * std::sqrt(draught / g));
    }
    return longest;
}

template <int D>
void step_floats(std::vector<RigidBody>& bodies, const std::vector<FloatNodes>& nodes, const FloatWater<D>& before,
                 const FloatWater<D>& after, double s, const Scene& scene, double t, double dt)
{
    const Vec3 g = lift<D>(take<D>(scene.params.domain.gravity.at(t)));
    const double rho = scene.params.fluid.density.at(t);
    parallel_rows("floats", static_cast<int>(bodies.size()), [&](int n) {
        push_by_water(bodies[static_cast<size_t>(n)], nodes[static_cast<size_t>(n)], before, after, s, rho, g, dt);
    });
    resolve_contacts(bodies, scene, t, dt, 0);
    std::vector<RigidPose> poses;
    for (RigidBody& b : bodies) {
        move(b, dt);
        poses.push_back({b.position, b.rotation});
    }
    scene.solids.tracks().tell(t + dt, std::move(poses));
}

#define TARN_INSTANTIATE(D)                                                                                                  \
    template void step_floats(std::vector<RigidBody>&, const std::vector<FloatNodes>&, const FloatWater<D>&,                 \
                              const FloatWater<D>&, double, const Scene&, double, double);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
