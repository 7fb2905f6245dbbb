#include "tarn/effects/vortex_forces.h"

#include <algorithm>
#include <cmath>

#include "tarn/advect/trace.h"
#include "tarn/backend/parallel.h"

namespace tarn {

namespace {

// (s . grad) u, with a cell's differences to either side.
template <int D>
Vec3f stretched(const VelocityAt<D>& velocity, Vec<D, float> x, Vec3f s, double h)
{
    Vec3f change;
    for (int a = 0; a < D; ++a) {
        Vec<D, float> side;
        side[a] = 1;
        const Vec<D, float> slope = static_cast<float>(0.5 / h) * (velocity(x + side) - velocity(x - side));
        for (int b = 0; b < D; ++b) change[b] += s[a] * slope[b];
    }
    return change;
}

// The particles that reach a face beside water, in their order; one whose tile holds none of them has none.
template <int D>
struct Reaching {
    View<D, const float> phi;
    Cell<D> cells, tiles;
    const int* marked;  // of each tile: whether faces in it are pushed
    float h;

    size_t tile_of(Cell<D> c) const
    {
        size_t i = 0;
        for (int a = D - 1; a >= 0; --a)
            i = i * static_cast<size_t>(tiles[a]) + static_cast<size_t>(std::min(c[a], cells[a] - 1) / tile_size);
        return i;
    }
    bool pushed(Cell<D> c, int axis) const
    {
        const int i = phi.index(c);
        return phi[i] < 0 || phi[i - phi.next(axis)] < 0;
    }
    static Vec<D, float> place(Cell<D> c, int axis)
    {
        Vec<D, float> x = c.template as<float>();
        x[axis] -= 0.5f;
        return x;
    }
    // What is to be taken off of a particle's force along an axis, in parts of its weights.
    float net_force(const Vortex<D>& v, int axis) const
    {
        const float reach = vortex_reach * v.radius;
        Cell<D> lo, hi;
        for (int a = 0; a < D; ++a) {
            const int last = a == axis ? cells[a] : cells[a] - 1;
            const int from = static_cast<int>(std::floor(v.x[a] - reach)), to = static_cast<int>(std::ceil(v.x[a] + reach)) + 1;
            lo[a] = from > 0 ? from : 0;
            hi[a] = to < last ? to : last;
        }
        double force = 0, weights = 0;
        Cell<D> c = lo;
        for (int k = D == 3 ? lo[D - 1] : 0; k <= (D == 3 ? hi[D - 1] : 0); ++k)
            for (int j = lo[1]; j <= hi[1]; ++j)
                for (int i = lo[0]; i <= hi[0]; ++i) {
                    c[0] = i;
                    c[1] = j;
                    if (D == 3) c[D - 1] = k;
                    if (!marked[tile_of(c)] || !pushed(c, axis)) continue;
                    const Vec<D, float> away = place(c, axis) - v.x;
                    const float weight = v.weight(away, h);
                    if (!(weight > 0)) continue;
                    weights += static_cast<double>(weight);
                    force += static_cast<double>(weight * v.turn(away, h)[axis]);
                }
        return weights > 0 ? static_cast<float>(force / weights) : 0.0f;
    }
};

}  // namespace

template <int D>
void carry(VortexParticles<D>& particles, const Grid<D>& grid, const VelocityAt<D>& velocity,
           const std::function<bool(Vec<D, float>)>& out, double dt)
{
    const VortexView<D> p = particles.view();
    const float s = static_cast<float>(dt / grid.h), step = static_cast<float>(dt);
    parallel_rows("carry vortices", particles.count(), [&](int i) {
        const Vec<D, float> from = p.at(i);
        const Vec<D, float> to = trace_by(velocity, from, velocity(from), s, true);
        if constexpr (D == 3) {
            // By the midpoint rule.
            const Vec<D, float> middle = 0.5f * (from + to);
            const Vec3f before = p.turns(i);
            const Vec3f half = before + (0.5f * step) * stretched<D>(velocity, middle, before, grid.h);
            Vec3f after = before + step * stretched<D>(velocity, middle, half, grid.h);
            const float strength = length(after), most = most_stretch * p.first[i];
            if (strength > most) after = (most / strength) * after;
            for (int a = 0; a < 3; ++a) p.strength[a][i] = after[a];
        }
        for (int a = 0; a < D; ++a) p.x[a][i] = to[a];
        p.left[i] -= step;
        if (out(to)) p.left[i] = -1;
    });
    int kept = 0;
    for (int i = 0; i < particles.count(); ++i) {
        if (!(p.left[i] > 0)) continue;
        for (int n = 0; n < VortexParticles<D>::columns; ++n) particles.column(n)[kept] = particles.column(n)[i];
        ++kept;
    }
    particles.resize(kept);
}

template <int D>
VortexForces<D>::VortexForces(const VortexParticles<D>& particles, const Grid<D>& grid) : grid_(grid), map_(grid)
{
    VortexParticles<D> copy(Where::program);
    copy.copy(particles);
    const VortexView<D> p = copy.view();
    for (int i = 0; i < copy.count(); ++i) vortices_.push_back({p.at(i), p.turns(i), p.radius[i]});
    // Counted, then listed: those of each tile stand in their order.
    start_.assign(map_.flags.size() + 1, 0);
    std::vector<int> next;
    for (const bool listing : {false, true}) {
        for (size_t n = 0; n < vortices_.size(); ++n) {
            const Vortex<D>& v = vortices_[n];
            Cell<D> lo, hi;
            for (int a = 0; a < D; ++a) {
                const float reach = vortex_reach * v.radius + 1, last = static_cast<float>(grid.cells[a] - 1);
                lo[a] = static_cast<int>(std::clamp(v.x[a] - reach, 0.0f, last)) / tile_size;
                hi[a] = static_cast<int>(std::clamp(v.x[a] + reach, 0.0f, last)) / tile_size;
            }
            Cell<D> t = lo;
            for (int k = D == 3 ? lo[D - 1] : 0; k <= (D == 3 ? hi[D - 1] : 0); ++k)
                for (int j = lo[1]; j <= hi[1]; ++j)
                    for (int i = lo[0]; i <= hi[0]; ++i) {
                        t[0] = i;
                        t[1] = j;
                        if (D == 3) t[D - 1] = k;
                        const size_t tile = map_.index(t);
                        if (listing)
                            list_[static_cast<size_t>(next[tile]++)] = static_cast<int>(n);
                        else
                            ++start_[tile + 1];
                        map_.flags[tile] = 1;
                    }
        }
        if (listing) break;
        for (size_t tile = 0; tile < map_.flags.size(); ++tile) start_[tile + 1] += start_[tile];
        list_.resize(static_cast<size_t>(start_.back()));
        next = start_;
    }
}

template <int D>
void VortexForces<D>::push(FaceField<D>& velocity, const Field<D>& phi, const Tiles<D>& tiles, double dt) const
{
    if (vortices_.empty()) return;
    std::vector<int> marked(map_.flags.size(), 0);
    TileMap<D> near(grid_);
    for (const Box<D>& box : tiles.boxes) {
        Cell<D> c = box.lo;
        for (int a = 0; a < D; ++a) c[a] /= tile_size;
        for (; c[0] * tile_size < box.hi[0]; ++c[0]) {
            const size_t tile = map_.index(c);
            marked[tile] = 1;
            near.flags[tile] = map_.flags[tile];
        }
    }
    const Reaching<D> reaching{phi.view(), grid_.cells, map_.count, marked.data(), static_cast<float>(grid_.h)};
    std::vector<float> net_force(vortices_.size());
    const float s = static_cast<float>(dt), h = reaching.h;
    const Tiles<D> reached = select(near, 1);
    for (int a = 0; a < D; ++a) {
        parallel_rows("vortex net force", static_cast<int>(net_force.size()), [&](int i) {
            net_force[static_cast<size_t>(i)] = reaching.net_force(vortices_[static_cast<size_t>(i)], a);
        });
        const auto u = velocity[a].view();
        parallel_for_faces("vortices", reached, a, [&](Cell<D> c) {
            if (!reaching.pushed(c, a)) return;
            const Vec<D, float> x = Reaching<D>::place(c, a);
            const size_t tile = reaching.tile_of(c);
            float force = 0;
            for (int n = start_[tile]; n < start_[tile + 1]; ++n) {
                const size_t which = static_cast<size_t>(list_[static_cast<size_t>(n)]);
                const Vec<D, float> away = x - vortices_[which].x;
                const float weight = vortices_[which].weight(away, h);
                if (weight > 0) force += weight * (vortices_[which].turn(away, h)[a] - net_force[which]);
            }
            u(c) += s * force;
        });
    }
}

template <int D>
float VortexForces<D>::at(Vec<D, float> x, int axis) const
{
    Cell<D> t;
    for (int a = 0; a < D; ++a)
        t[a] = static_cast<int>(std::clamp(x[a], 0.0f, static_cast<float>(grid_.cells[a] - 1))) / tile_size;
    const size_t tile = map_.index(t);
    float force = 0;
    for (int n = start_[tile]; n < start_[tile + 1]; ++n) {
        const Vortex<D>& v = vortices_[static_cast<size_t>(list_[static_cast<size_t>(n)])];
        const Vec<D, float> away = x - v.x;
        const float weight = v.weight(away, static_cast<float>(grid_.h));
        if (weight > 0) force += weight * v.turn(away, static_cast<float>(grid_.h))[axis];
    }
    return force;
}

template <int D>
double strongest(const VortexParticles<D>& particles, double h)
{
    double most = 0;
    for (int i = 0; i < particles.count(); ++i) {
        const Vec3f strength{particles.column(D)[i], particles.column(D + 1)[i], particles.column(D + 2)[i]};
        const Vortex<D> v{{}, strength, particles.column(D + 3)[i]};
        most = std::max(most, static_cast<double>(v.weight({}, static_cast<float>(h)) * v.radius * length(strength)) * h);
    }
    return most;
}

#define TARN_INSTANTIATE(D)                                                                     \
    template void carry(VortexParticles<D>&, const Grid<D>&, const VelocityAt<D>&,              \
                        const std::function<bool(Vec<D, float>)>&, double);                     \
    template double strongest(const VortexParticles<D>&, double);                               \
    template class VortexForces<D>;
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
