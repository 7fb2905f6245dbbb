#include "tarn/effects/spray.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tarn/field/sample.h"
#include "tarn/surface/measure.h"

namespace tarn {

namespace {

constexpr int flying = -1;

template <class T>
std::vector<T> read(const T* there, int n)
{
    std::vector<T> values(static_cast<size_t>(n));
    backend::copy(values.data(), there, values.size() * sizeof(T));
    return values;
}

// Takes out what has no volume any more, and makes room for `more` at the end. Returns where that begins.
template <int D>
int compact(Spray<D>& spray, int more, SprayRoom<D>& room)
{
    const int n = spray.count();
    int* const starts = room_for(room.starts, n + 1);
    const SprayView<D> old = spray.view();
    parallel_range("spray", n + 1, [=] TARN_KERNEL(int i) { starts[i] = i < n && old.volume[i] > 0 ? 1 : 0; });
    const int kept = parallel_starts("spray", starts, n + 1);
    if (kept == n && more == 0) return n;
    room.spray.resize(kept + more);
    for (int column = 0; column < Spray<D>::columns; ++column) {
        const float* const from = spray.column(column);
        float* const to = room.spray.column(column);
        parallel_range("spray", n, [=] TARN_KERNEL(int i) {
            if (old.volume[i] > 0) to[starts[i]] = from[i];
        });
    }
    spray.swap(room.spray);
    return kept;
}

}  // namespace

template <int D>
double volume(const Spray<D>& spray)
{
    const std::vector<float> volumes = read(spray.column(2 * D), spray.count());
    return std::accumulate(volumes.begin(), volumes.end(), 0.0);
}

template <int D>
void take_up(Spray<D>& spray, Particles<D>& particles, const LostParticles& lost, const FaceField<D>& velocity,
             const Sheets<D>& sheets, double volume_each, SprayRoom<D>& room)
{
    if (lost.count == 0) return;
    const int first = volume_each > 0 ? compact(spray, lost.count, room) : 0;
    const ParticleView<D> p = particles.view();
    const SprayView<D> s = spray.view();
    const int* const list = lost.list.data();
    const auto u = velocity.view();
    const Cell<D> cells = velocity.grid().cells;
    const float each = static_cast<float>(volume_each);
    parallel_range("spray", lost.count, [=] TARN_KERNEL(int n) {
        const int i = list[n];
        p.radius[i] = 0;
        if (!(each > 0)) return;
        const Vec<D, float> x = p.at(i);
        const Vec<D, float> v = sheets.any() ? velocity_one_side(u, sheets, x) : sample_velocity(u, cells, x);
        for (int a = 0; a < D; ++a) {
            s.x[a][first + n] = x[a];
            s.u[a][first + n] = v[a];
        }
        s.volume[first + n] = each;
        s.age[first + n] = 0;
    });
}

template <int D>
std::vector<Landing<D>> fly(Spray<D>& spray, const Field<D>& phi, const Ledger<D>& ledger, const Solids<D>& solids,
                            const Boundary<D>& boundary, Vec3 gravity, double dt, SprayRoom<D>& room)
{
    const int n = spray.count();
    if (n == 0) return {};
    int* const fates = room_for(room.fates, n);
    const SprayView<D> s = spray.view();
    const auto f = phi.view();
    const auto body = ledger.body.view();
    const Cell<D> cells = phi.grid().cells;
    const bool any_solid = solids.any;
    const View<D, const float> nodes = any_solid ? solids.distance.view() : View<D, const float>{};
    const float h = static_cast<float>(phi.grid().h), step = static_cast<float>(dt);
    const Vec<D, float> g = take<D>(gravity).template as<float>();
    const Sides<D> sides = sides_of(solids, phi.grid());
    parallel_range("spray", n, [=] TARN_KERNEL(int i) {
        fates[i] = flying;
        Vec<D, float> x, u;
        for (int a = 0; a < D; ++a) {
            u[a] = s.u[a][i] + step * g[a];
            x[a] = s.x[a][i] + step / h * (s.u[a][i] + 0.5f * step * g[a]);
        }
        if (sides.any()) {
            Vec<D, float> old, to = x;
            for (int a = 0; a < D; ++a) {
                old[a] = s.x[a][i];
                const float low = boundary.wall_open[a][0] ? x[a] : -0.499f;
                const float high = boundary.wall_open[a][1] ? x[a] : static_cast<float>(cells[a]) - 0.501f;
                to[a] = x[a] < low ? low : (x[a] > high ? high : x[a]);
            }
            to = go(sides.after, sides.carried(old), to);
            for (int a = 0; a < D; ++a)
                if (to[a] != x[a]) u[a] = 0;
            x = to;
        }
        for (int a = 0; a < D; ++a) {
            const float last = static_cast<float>(cells[a]) - 0.5f;
            if (x[a] >= -0.5f && x[a] <= last) continue;
            if (boundary.wall_open[a][x[a] > last]) fates[i] = 0;
            x[a] = clamp(x[a], -0.5f, last);
            u[a] = 0;
        }
        if (any_solid) {
            const float d = sample(nodes, locate(nodes, x + Vec<D, float>::all(0.5f), cells)) / h;
            if (d < 0) {
                const Vec<D, float> normal = nodes_normal<D>(nodes, cell_at(x, cells));
                x = go(sides.after, x, x - d * normal);
                u -= dot(u, normal) * normal;
                for (int a = 0; a < D; ++a) x[a] = clamp(x[a], -0.5f, static_cast<float>(cells[a]) - 0.5f);
            }
        }
        // It has landed where the nearest cell's centre is in the water.
        const Cell<D> c = cell_at(x, cells);
        if (fates[i] == flying && f(c) < 0 && body(c) > 0) fates[i] = body(c);
        for (int a = 0; a < D; ++a) {
            s.x[a][i] = x[a];
            s.u[a][i] = u[a];
        }
        s.age[i] += step;
    });

    std::vector<Landing<D>> landed;
    const std::vector<int> fate = read(fates, n);
    if (std::all_of(fate.begin(), fate.end(), [](int f) { return f == flying; })) return landed;
    std::vector<float> columns[2 * D + 1];
    for (int k = 0; k < 2 * D + 1; ++k) columns[k] = read(spray.column(k), n);
    for (size_t i = 0; i < fate.size(); ++i) {
        if (fate[i] == flying) continue;
        Landing<D> l{fate[i], {}, {}, double(columns[2 * D][i])};
        for (int a = 0; a < D; ++a) {
            l.x[a] = columns[a][i];
            l.u[a] = columns[D + a][i];
        }
        landed.push_back(l);
    }
    parallel_range("spray", n, [=] TARN_KERNEL(int i) {
        if (fates[i] != flying) s.volume[i] = 0;
    });
    (void)compact(spray, 0, room);
    return landed;
}

template <int D>
void add_momentum(FaceField<D>& velocity, const std::vector<Landing<D>>& landings, const Field<D>& phi,
                  const Boundary<D>& boundary)
{
    if (landings.empty()) return;
    const Grid<D> grid = phi.grid();
    const Cell<D> cells = grid.cells;
    const float h = static_cast<float>(grid.h);
    const auto f = phi.view();
    // The water around a face, in cells: half of what each of its two cells holds.
    const auto mass_at = [=] TARN_KERNEL(Cell<D> c, int a) {
        float mass = 0;
        for (int side = 0; side < 2; ++side) {
            Cell<D> cell = c;
            cell[a] -= side;
            if (cell[a] >= 0 && cell[a] < cells[a])
                mass += 0.5f * wet_fraction<D>(f, cells, cell, h, boundary.sheets);
        }
        return boundary.open_at(c, a) > 0 ? mass : 0.0f;
    };
    struct Given {
        int face;
        float mass, momentum;
    };
    const int n = static_cast<int>(landings.size());
    constexpr int corners = 1 << D;
    const Mirror mirror;
    const Landing<D>* const drops = mirror.of(landings.data(), landings.size());
    Memory<Given> there(landings.size() * corners);
    Given* const given = there.data();
    for (int a = 0; a < D; ++a) {
        const auto u = velocity[a].view();
        parallel_range("landing", n, [=] TARN_KERNEL(int i) {
            // Faces without water, which the pressure does not know, get none: the others share it.
            Vec<D, float> x = drops[i].x;
            x[a] += 0.5f;
            Cell<D> low;
            Vec<D, float> w;
            for (int b = 0; b < D; ++b) low[b] = locate(x[b], b == a ? cells[b] : cells[b] - 1, w[b]);
            float all = 0;
            Given* const own = given + corners * i;
            for (int corner = 0; corner < corners; ++corner) {
                float weight = 1;
                Cell<D> face = low;
                for (int b = 0; b < D; ++b) {
                    weight *= corner >> b & 1 ? w[b] : 1 - w[b];
                    face[b] += corner >> b & 1;
                }
                own[corner].face = u.index(face);
                own[corner].mass = mass_at(face, a) > 0 ? weight : 0.0f;
                all += own[corner].mass;
            }
            const float mass = static_cast<float>(drops[i].body > 0 && all > 0 ? drops[i].volume / all : 0);
            for (int corner = 0; corner < corners; ++corner) {
                own[corner].mass *= mass;
                own[corner].momentum = own[corner].mass * drops[i].u[a];
            }
        });
        // What arrives at one face is added up in the order of the drops.
        std::vector<Given> list = read(given, corners * n);
        std::erase_if(list, [](const Given& g) { return !(g.mass > 0); });
        std::stable_sort(list.begin(), list.end(), [](const Given& l, const Given& r) { return l.face < r.face; });
        std::vector<Given> sums;
        for (const Given& g : list) {
            if (sums.empty() || sums.back().face != g.face) {
                sums.push_back(g);
                continue;
            }
            sums.back().mass += g.mass;
            sums.back().momentum += g.momentum;
        }
        const Mirror sums_mirror;
        const Given* const sum = sums_mirror.of(sums.data(), sums.size());
        const Cell<D> stride = grid.stride;
        parallel_range("landing", static_cast<int>(sums.size()), [=] TARN_KERNEL(int k) {
            Cell<D> c;
            int left = sum[k].face;
            for (int b = D - 1; b > 0; --b) {
                c[b] = left / stride[b];
                left -= c[b] * stride[b];
            }
            c[0] = left;
            const float mass = mass_at(c, a);
            u[sum[k].face] = (mass * u[sum[k].face] + sum[k].momentum) / (mass + sum[k].mass);
        });
    }
}

#define TARN_INSTANTIATE(D)                                                                                      \
    template double volume(const Spray<D>&);                                                                     \
    template void take_up(Spray<D>&, Particles<D>&, const LostParticles&, const FaceField<D>&, const Sheets<D>&, \
                          double, SprayRoom<D>&);                                                                \
    template std::vector<Landing<D>> fly(Spray<D>&, const Field<D>&, const Ledger<D>&, const Solids<D>&,         \
                                         const Boundary<D>&, Vec3, double, SprayRoom<D>&);                       \
    template void add_momentum(FaceField<D>&, const std::vector<Landing<D>>&, const Field<D>&, const Boundary<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
