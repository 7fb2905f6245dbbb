#include "tarn/effects/spray.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tarn/phases/flight.h"
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

// What a drop gives to a face, in cells of water.
struct Given {
    int face;
    float mass, momentum;
};

// The component of the cell around a place, or of the nearest one that is within two cells and on the same side of thin walls; 0 where
// there is none.
template <int D>
TARN_HD inline int component_near(const View<D, const int>& body, const ThinWalls<D>& thin_walls, Cell<D> cells, Vec<D, float> x)
{
    const Cell<D> home = cell_at(x, cells);
    const Vec<D, float> middle = home.template as<float>();
    int owner = body(home);
    float nearest = 1e9f;
    constexpr int around = D == 3 ? 125 : 25;
    for (int m = 0; m < around && !(body(home) > 0); ++m) {
        Cell<D> c = home;
        bool inside = true;
        for (int a = 0, left = m; a < D; ++a, left /= 5) {
            c[a] += left % 5 - 2;
            inside = inside && c[a] >= 0 && c[a] < cells[a];
        }
        if (!inside || !(body(c) > 0)) continue;
        const Vec<D, float> there = c.template as<float>();
        const float away = length(there - x);
        if (away >= nearest || !(go(thin_walls, middle, there) == there)) continue;
        nearest = away;
        owner = body(c);
    }
    return owner > 0 ? owner : 0;
}

// Takes `volume_each` for each owner from its component's target, or as much as it has, if they share that; in cells. Of what is of no
// component all water answers for.
template <int D>
std::vector<float> take_volumes(TargetVolumes<D>& targets, const std::vector<int>& owner, double volume_each, double cell)
{
    std::vector<double> held = targets.expected;
    held.insert(held.begin(), std::max(0.0, std::accumulate(held.begin(), held.end(), targets.elsewhere)));
    std::vector<int> count(held.size());
    for (const int k : owner) ++count[static_cast<size_t>(k)];
    std::vector<float> volumes(held.size());
    for (size_t k = 0; k < held.size(); ++k) {
        if (count[k] == 0) continue;
        // Less by the last digit, so that rounding takes nothing that is not there.
        const float share = static_cast<float>(std::max(0.0, held[k]) / cell / count[k]) * (1 - 1e-6f);
        volumes[k] = std::min(static_cast<float>(volume_each), share);
        (k > 0 ? targets.expected[k - 1] : targets.elsewhere) -= cell * static_cast<double>(volumes[k]) * count[k];
    }
    return volumes;
}

// What arrives at one face, added up in the order of the drops.
std::vector<Given> sum_by_face(std::vector<Given> list)
{
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
    return sums;
}

}  // namespace

template <int D>
int compact(Droplets<D>& drops, int more, SprayWorkspace<D>& workspace)
{
    const int n = drops.count();
    int* const starts = storage_for(workspace.starts, n + 1);
    const FragmentView<D> old = drops.view();
    parallel_range("spray", n + 1, [=] TARN_KERNEL(int i) { starts[i] = i < n && old.volume[i] > 0 ? 1 : 0; });
    const int kept = parallel_starts("spray", starts, n + 1);
    if (kept == n && more == 0) return n;
    workspace.drops.resize(kept + more);
    for (int column = 0; column < Droplets<D>::columns; ++column) {
        const float* const from = drops.column(column);
        float* const to = workspace.drops.column(column);
        parallel_range("spray", n, [=] TARN_KERNEL(int i) {
            if (old.volume[i] > 0) to[starts[i]] = from[i];
        });
    }
    drops.swap(workspace.drops);
    return kept;
}

template <int D>
void take_up(Droplets<D>& drops, Particles<D>& particles, const LostParticles& lost, const FaceField<D>& velocity,
             TargetVolumes<D>& targets, const ThinWalls<D>& thin_walls, double volume_each, double dt, double& next_id,
             SprayWorkspace<D>& workspace)
{
    workspace.fresh = 0;
    if (lost.count == 0) return;
    const int n = lost.count;
    const ParticleView<D> p = particles.view();
    const int* const list = lost.list.data();
    const auto u = velocity.view();
    const Cell<D> cells = velocity.grid().cells;
    const auto body = std::as_const(targets.body).view();
    const float s = static_cast<float>(dt / velocity.grid().h);
    const auto velocity_at = [=] TARN_KERNEL(Vec<D, float> x) {
        return thin_walls.any() ? velocity_one_side(u, thin_walls, x) : sample_velocity(u, cells, x);
    };
    if (!(volume_each > 0)) {
        parallel_range("spray", n, [=] TARN_KERNEL(int i) { p.radius[list[i]] = 0; });
        return;
    }
    // The component that each was part of: that of the cells around where it was.
    int* const owners = storage_for(workspace.fates, n);
    parallel_range("spray", n, [=] TARN_KERNEL(int k) {
        const Vec<D, float> x = p.at(list[k]);
        owners[k] = component_near(body, thin_walls, cells, go(thin_walls, x, x - s * velocity_at(x)));
    });
    const std::vector<float> volumes = take_volumes(targets, read(owners, n), volume_each, cell_volume(velocity.grid()));
    const DeviceCopy device_copy;
    const float* const volume_of = device_copy.of(volumes.data(), volumes.size());
    const int first = compact(drops, n, workspace);
    const FragmentView<D> d = drops.view();
    const int id = static_cast<int>(next_id);
    parallel_range("spray", n, [=] TARN_KERNEL(int k) {
        const int to = first + k;
        const Vec<D, float> x = p.at(list[k]), v = velocity_at(x);
        p.radius[list[k]] = 0;
        for (int a = 0; a < D; ++a) {
            d.x[a][to] = x[a];
            d.u[a][to] = v[a];
        }
        d.volume[to] = volume_of[owners[k]];
        d.age[to] = d.life[to] = 0;
        d.kind[to] = static_cast<float>(static_cast<int>(DropletKind::droplet));
        d.id[to] = static_cast<float>((id + k) % largest_id);
    });
    next_id = static_cast<double>((id + n) % largest_id);
    workspace.fresh = n;
}

template <int D>
std::vector<Landing<D>> fly(Droplets<D>& drops, const Field<D>& phi, const TargetVolumes<D>& targets, const Solids<D>& solids,
                            const Boundary<D>& boundary, const Params& params, const Wind& wind, const FrameForces& frame,
                            double dt, SprayWorkspace<D>& workspace)
{
    const int n = drops.count() - workspace.fresh;
    workspace.fresh = 0;
    if (n == 0) return {};
    int* const fates = storage_for(workspace.fates, n);
    const FragmentView<D> s = drops.view();
    const auto f = phi.view();
    const auto body = targets.body.view();
    const Grid<D> grid = phi.grid();
    const Obstacles<D> obstacles(boundary, grid.h, sides_of(solids, grid));
    const float h = static_cast<float>(grid.h), step = static_cast<float>(dt);
    const float per_density = static_cast<float>(params.droplets.drag * params.air.density.constant() / params.fluid.density.constant());
    parallel_range("spray", n, [=] TARN_KERNEL(int i) {
        Vec<D, float> x, u;
        Vec<D> at;
        for (int a = 0; a < D; ++a) {
            x[a] = s.x[a][i];
            u[a] = s.u[a][i];
            at[a] = grid.h * (static_cast<double>(x[a]) + 0.5);
        }
        const Vec<D, float> g = take<D>(frame.on_particle(lift<D>(at), lift<D>(u.template as<double>()), dt)).template as<float>();
        const Vec<D, float> air = take<D>(wind.velocity_at(lift<D>(at))).template as<float>();
        const Vec<D, float> later = dragged(u, air, g, drag_of<D>(s.volume[i], h, per_density), step);
        // It lands where the nearest cell's centre is in the water.
        const Flight<D> flight = fly(obstacles, x, later, (0.5f * step / h) * (u + later), [=](Vec<D, float> y) {
            const Cell<D> c = cell_at(y, obstacles.cells);
            return f(c) < 0 && body(c) > 0;
        });
        fates[i] = flight.left ? 0 : (flight.arrived ? body(cell_at(flight.x, obstacles.cells)) : flying);
        for (int a = 0; a < D; ++a) {
            s.x[a][i] = flight.x[a];
            s.u[a][i] = flight.u[a];
        }
        s.age[i] += step;
    });

    std::vector<Landing<D>> landed;
    const std::vector<int> fate = read(fates, n);
    if (std::all_of(fate.begin(), fate.end(), [](int k) { return k == flying; })) return landed;
    std::vector<float> columns[2 * D + 1];
    for (int k = 0; k < 2 * D + 1; ++k) columns[k] = read(drops.column(k), n);
    for (size_t i = 0; i < fate.size(); ++i) {
        if (fate[i] == flying) continue;
        Landing<D> l{fate[i], {}, {}, double(columns[2 * D][i]), 0};
        for (int a = 0; a < D; ++a) {
            l.x[a] = columns[a][i];
            l.u[a] = columns[D + a][i];
        }
        landed.push_back(l);
    }
    parallel_range("spray", n, [=] TARN_KERNEL(int i) {
        if (fates[i] != flying) s.volume[i] = 0;
    });
    (void)compact(drops, 0, workspace);
    return landed;
}

template <int D>
void add_volume(Field<D>& phi, Particles<D>& particles, std::vector<Landing<D>>& landings, const ThinWalls<D>& thin_walls,
                const Tiles<D>& tiles, SprayWorkspace<D>& workspace)
{
    if (landings.empty()) return;
    constexpr int reach = 3, width = 2 * reach;  // cells
    constexpr int around = D == 3 ? width * width * width : width * width;
    constexpr float unit = 1 << 22, most = 0.25f;  // shifts are added as whole numbers, in any order
    const int n = static_cast<int>(landings.size());
    const Grid<D> grid = phi.grid();
    const Cell<D> cells = grid.cells;
    const float h = static_cast<float>(grid.h);
    const auto f = phi.view();
    int* const shift = storage_for(workspace.shift, grid.storage()) + grid.origin;
    parallel_for("landing", tiles, [=] TARN_KERNEL(Cell<D> c) { shift[f.index(c)] = 0; });
    const DeviceCopy device_copy;
    const Landing<D>* const drops = device_copy.of(landings.data(), landings.size());
    Memory<float> placed_there(landings.size());
    float* const placed = placed_there.data();
    parallel_range("landing", n, [=] TARN_KERNEL(int i) {
        placed[i] = 0;
        if (drops[i].body == 0) return;
        const Vec<D, float> x = drops[i].x;
        const Vec<D, float> home = cell_at(x, cells).template as<float>();
        const auto weight_at = [&](int k, Cell<D>& c) {
            for (int a = 0; a < D; ++a, k /= width) c[a] = static_cast<int>(x[a] + 1) - reach + k % width;
            for (int a = 0; a < D; ++a)
                if (c[a] < 0 || c[a] >= cells[a]) return 0.0f;
            const Vec<D, float> there = c.template as<float>(), away = there - x;
            const float weight = 1 - dot(away, away) / (reach * reach);
            if (!(weight > 0) || std::fabs(f(c)) > reach * h) return 0.0f;
            return go(thin_walls, home, there) == there ? weight : 0.0f;
        };
        float area = 0;
        for (int k = 0; k < around; ++k) {
            Cell<D> c;
            const float weight = weight_at(k, c), d = weight > 0 ? std::fabs(f(c)) / h : 1.0f;
            area += d < 1 ? weight * (1 - d) : 0.0f;
        }
        const float volume = static_cast<float>(drops[i].volume);
        const float by = most * area > volume ? volume / area : most;
        placed[i] = by * area;
        for (int k = 0; k < around; ++k) {
            Cell<D> c;
            const float weight = weight_at(k, c);
            if (weight > 0) atomic_add(shift + f.index(c), static_cast<int>(unit * by * weight));
        }
    });
    const float per_unit = h / unit;
    parallel_for("landing", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = f.index(c);
        f[i] -= per_unit * static_cast<float>(shift[i]);
    });
    const ParticleView<D> p = particles.view();
    const View<D, const float> now = f;
    parallel_range("landing", particles.count(), [=] TARN_KERNEL(int i) {
        const Vec<D, float> x = p.at(i);
        if (!(p.radius[i] > 0) || shift[f.index(cell_at(x, cells))] == 0) return;
        if ((thin_walls.any() ? sample_one_side(now, thin_walls, x) : sample_cells(now, cells, x)) < 0) p.radius[i] = 0;
    });
    const std::vector<float> volumes = read(placed, n);
    for (size_t i = 0; i < landings.size(); ++i) landings[i].placed = double(volumes[i]);
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
            if (cell[a] >= 0 && cell[a] < cells[a]) mass += 0.5f * wet_fraction<D>(f, cells, cell, h, boundary.thin_walls);
        }
        return boundary.open_at(c, a) > 0 ? mass : 0.0f;
    };
    const int n = static_cast<int>(landings.size());
    constexpr int corners = 1 << D;
    const DeviceCopy device_copy;
    const Landing<D>* const drops = device_copy.of(landings.data(), landings.size());
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
        const std::vector<Given> sums = sum_by_face(read(given, corners * n));
        const DeviceCopy sums_copy;
        const Given* const sum = sums_copy.of(sums.data(), sums.size());
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

#define TARN_INSTANTIATE(D)                                                                                            \
    template int compact(Droplets<D>&, int, SprayWorkspace<D>&);                                                           \
    template void take_up(Droplets<D>&, Particles<D>&, const LostParticles&, const FaceField<D>&, TargetVolumes<D>&,         \
                          const ThinWalls<D>&, double, double, double&, SprayWorkspace<D>&);                                   \
    template std::vector<Landing<D>> fly(Droplets<D>&, const Field<D>&, const TargetVolumes<D>&, const Solids<D>&,           \
                                         const Boundary<D>&, const Params&, const Wind&, const FrameForces&, double, SprayWorkspace<D>&); \
    template void add_volume(Field<D>&, Particles<D>&, std::vector<Landing<D>>&, const ThinWalls<D>&, const Tiles<D>&,    \
                             SprayWorkspace<D>&);                                                                           \
    template void add_momentum(FaceField<D>&, const std::vector<Landing<D>>&, const Field<D>&, const Boundary<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
