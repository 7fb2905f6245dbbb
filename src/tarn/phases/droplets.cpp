#include "tarn/phases/droplets.h"

#include <algorithm>
#include <numbers>
#include <utility>

#include "tarn/backend/atomic.h"
#include "tarn/base/random.h"
#include "tarn/phases/flight.h"
#include "tarn/phases/droplet_changes.h"

namespace tarn {

namespace {

constexpr double pi = std::numbers::pi;
constexpr double too_large = 2;  // cells; the grid takes back what is larger

double density_of(DropletKind kind, const Params& p)
{
    return kind == DropletKind::droplet ? p.fluid.density.constant() : p.air.density.constant();
}

// As it will be stored. GCC 12 drops the two conversions where it vectorises them, so they go through memory.
double rounded(double v)
{
    const volatile float stored = static_cast<float>(v);
    return static_cast<double>(stored);
}
template <int D>
Vec<D> rounded(Vec<D> v)
{
    for (int a = 0; a < D; ++a) v[a] = rounded(v[a]);
    return v;
}

// Where droplets get to in dt, with the mean of the velocities that they had before and have now. One that comes to
// fluid of its own kind on its way stays where it does.
template <int D>
std::vector<Flight<D>> fly_all(const std::vector<Droplet<D>>& list, const std::vector<Vec<D>>& before,
                               const Field<D>& phi, const Boundary<D>& boundary, double dt)
{
    const int n = static_cast<int>(list.size());
    std::vector<Flight<D>> flights;
    std::vector<Vec<D, float>> ways;
    std::vector<float> sides;
    for (size_t i = 0; i < list.size(); ++i) {
        const Droplet<D>& f = list[i];
        flights.push_back({f.x.template as<float>(), f.u.template as<float>()});
        ways.push_back((0.5 * dt / phi.grid().h * (before[i] + f.u)).template as<float>());
        sides.push_back(f.kind == DropletKind::droplet ? 1.0f : -1.0f);
    }
    const DeviceCopy m1, m2, m3;
    const Vec<D, float>* const way = m3.of(ways.data(), ways.size());
    const Flight<D>* const start = m1.of(flights.data(), flights.size());
    const float* const side = m2.of(sides.data(), sides.size());
    Memory<Flight<D>> ends(static_cast<size_t>(std::max(n, 1)));
    Flight<D>* const end = ends.data();
    const auto f = phi.view();
    Sides<D> thin;
    thin.before = thin.after = boundary.thin_walls;
    if (!thin.any()) thin.before.cells = thin.after.cells = boundary.cells;
    const Obstacles<D> obstacles(boundary, phi.grid().h, thin);
    parallel_range("fragments", n, [=] TARN_KERNEL(int i) {
        const float own = side[i];
        end[i] = fly(obstacles, start[i].x, start[i].u, way[i],
                     [=](Vec<D, float> y) { return own * sample_one_side(f, obstacles.sides.after, y) < 0; });
    });
    return read(end, n);
}

}  // namespace

template <int D>
std::vector<Droplet<D>> read_fragments(const Droplets<D>& droplets)
{
    const int n = droplets.count();
    std::vector<Droplet<D>> list(static_cast<size_t>(n));
    for (int column = 0; column < Droplets<D>::columns; ++column) {
        const std::vector<float> v = read(droplets.column(column), n);
        for (size_t i = 0; i < list.size(); ++i) {
            Droplet<D>& f = list[i];
            if (column < D)
                f.x[column] = v[i];
            else if (column < 2 * D)
                f.u[column - D] = v[i];
            else if (column == 2 * D)
                f.volume = v[i];
            else if (column == 2 * D + 1)
                f.age = v[i];
            else if (column == 2 * D + 2)
                f.life = v[i];
            else if (column == 2 * D + 3)
                f.kind = static_cast<DropletKind>(static_cast<int>(v[i]));
            else
                f.id = static_cast<int>(v[i]);
        }
    }
    return list;
}

template <int D>
void write_fragments(Droplets<D>& droplets, std::vector<Droplet<D>>& list)
{
    const int n = static_cast<int>(list.size());
    droplets.resize(n);
    std::vector<float> v(list.size());
    for (int column = 0; column < Droplets<D>::columns && n > 0; ++column) {
        for (size_t i = 0; i < list.size(); ++i) {
            const Droplet<D>& f = list[i];
            v[i] = static_cast<float>(column < D            ? f.x[column]
                                      : column < 2 * D      ? f.u[column - D]
                                      : column == 2 * D     ? f.volume
                                      : column == 2 * D + 1 ? f.age
                                      : column == 2 * D + 2 ? f.life
                                      : column == 2 * D + 3 ? static_cast<double>(f.kind)
                                                            : static_cast<double>(f.id));
        }
        backend::copy(droplets.column(column), v.data(), v.size() * sizeof(float));
    }
}

template <int D>
FragmentTotals totals(const Droplets<D>& droplets, const Grid<D>& grid, const Params& params)
{
    FragmentTotals t;
    t.count = droplets.count();
    const double cell = cell_volume(grid);
    for (const Droplet<D>& f : read_fragments(droplets)) {
        (f.kind == DropletKind::droplet ? t.volume_droplets : t.volume_bubbles) += cell * f.volume;
        for (int a = 0; a < D; ++a) t.momentum[a] += density_of(f.kind, params) * cell * f.volume * f.u[a];
    }
    return t;
}

template <int D>
void add_fragments(Droplets<D>& droplets, const std::vector<Lost<D>>& lost, const Grid<D>& grid, const Params& params,
                   Exchange& exchange)
{
    if (lost.empty()) return;
    const DropletParams& fp = params.droplets;
    const double cell = cell_volume(grid);
    std::vector<Droplet<D>> list = read_fragments(droplets);
    for (const Lost<D>& l : lost) {
        const double speed = length(l.u);
        const int pieces =
            static_cast<int>(std::clamp(1 + std::floor(fp.pieces_per_speed * speed), 1.0, double(fp.most_pieces)));
        // Pieces part around their middle, as far as their cell reaches, and fly apart by a tenth of their speed.
        std::vector<Vec<D>> off(static_cast<size_t>(pieces));
        Vec<D> mean;
        for (int n = 0; n < pieces && pieces > 1; ++n) {
            Random random(static_cast<uint32_t>(exchange.next_id) + static_cast<uint32_t>(n), 0x5f7a, 0);
            for (int a = 0; a < D; ++a) off[static_cast<size_t>(n)][a] = 2 * random.next() - 1;
            mean += (1.0 / pieces) * off[static_cast<size_t>(n)];
        }
        for (int n = 0; n < pieces; ++n) {
            const Vec<D> apart = off[static_cast<size_t>(n)] - mean;
            Droplet<D> f;
            f.x = rounded(l.x + 0.5 * apart);
            f.u = rounded(l.u + 0.1 * speed * apart);
            f.volume = rounded(l.volume / pieces);
            f.kind = l.kind;
            f.id = static_cast<int>(exchange.next_id);
            exchange.next_id = std::fmod(exchange.next_id + 1, double(largest_id));
            exchange.volume += cell * f.volume;
            for (int a = 0; a < D; ++a) exchange.momentum[a] += density_of(f.kind, params) * cell * f.volume * f.u[a];
            list.push_back(f);
        }
    }
    write_fragments(droplets, list);
}

namespace {

// A drop or bubble drags along no more fluid than half the mass of the cells around: the velocity after dt under a
// force.
template <int D>
Vec<D> dragged_within(Vec<D> v, Vec<D> u, Vec<D> force, double mass, double k, double entrained, double dt)
{
    const Vec<D> s = v - u + (dt / mass) * force, w = dragged(v, u, (1 / mass) * force, k / mass, dt) - u;
    return u + (k * dt * length(w) > entrained ? (mass / (mass + entrained)) * s : w);
}

template <int D>
void merge(std::vector<Droplet<D>>& list, const Params& params, const Grid<D>& grid, Exchange& exchange)
{
    // Radii are less than a cell, so only droplets in blocks of two cells beside each other can touch. Blocks are
    // numbered, and droplets stand in their order.
    const auto block_of = [](const Droplet<D>& f) {
        Cell<D> b;
        for (int a = 0; a < D; ++a) b[a] = static_cast<int>(std::floor(0.5 * f.x[a]));
        return b;
    };
    const auto number = [](Cell<D> b) {
        int64_t n = 0;
        for (int a = 0; a < D; ++a) n = (n << 21) + b[a] + 2;
        return n;
    };
    std::vector<std::pair<int64_t, size_t>> blocks;
    for (size_t i = 0; i < list.size(); ++i) blocks.emplace_back(number(block_of(list[i])), i);
    std::sort(blocks.begin(), blocks.end());
    const double cell = cell_volume(grid);
    for (size_t i = 0; i < list.size(); ++i) {
        Droplet<D>& f = list[i];
        if (!(f.volume > 0)) continue;
        const Cell<D> home = block_of(f);
        int offsets = 1;
        for (int a = 0; a < D; ++a) offsets *= 3;
        for (int n = 0; n < offsets; ++n) {
            Cell<D> b = home;
            for (int a = 0, left = n; a < D; ++a, left /= 3) b[a] += left % 3 - 1;
            const int64_t block = number(b);
            for (auto at = std::lower_bound(blocks.begin(), blocks.end(), std::pair{block, size_t{0}});
                 at != blocks.end() && at->first == block; ++at) {
                const size_t j = at->second;
                Droplet<D>& g = list[j];
                if (j <= i || !(g.volume > 0) || g.kind != f.kind) continue;
                if (length(f.x - g.x) >= radius_of<D>(f.volume) + radius_of<D>(g.volume)) continue;
                const double together = rounded(f.volume + g.volume), share = g.volume / (f.volume + g.volume);
                const double density = density_of(f.kind, params) * cell;
                const Vec<D> u = rounded(f.u + share * (g.u - f.u));
                // What rounding changes comes from the grid.
                exchange.volume += cell * (together - f.volume - g.volume);
                for (int a = 0; a < D; ++a)
                    exchange.momentum[a] += density * (together * u[a] - f.volume * f.u[a] - g.volume * g.u[a]);
                f.x = rounded(f.x + share * (g.x - f.x));
                f.u = u;
                f.age = std::max(f.age, g.age);
                f.life = std::max(f.life, g.life);
                f.volume = together;
                g.volume = 0;
            }
        }
    }
    std::erase_if(list, [](const Droplet<D>& f) { return !(f.volume > 0); });
}

// What a droplet takes along when it is none any more.
template <int D>
void take_off(Exchange& exchange, const Droplet<D>& f, double cell, const Params& params)
{
    exchange.volume -= cell * f.volume;
    for (int a = 0; a < D; ++a) exchange.momentum[a] -= density_of(f.kind, params) * cell * f.volume * f.u[a];
}

// 1. Forces, and their reaction on the grid. Foam goes with the surface. Returns the velocities that they had before.
template <int D>
std::vector<Vec<D>> push_and_drag(std::vector<Droplet<D>>& list, const std::vector<Met<D>>& met, const Params& params,
                                  const FrameForces& frame, double dt, const Grid<D>& grid, Exchange& exchange, Changes<D>& changes)
{
    const double h = grid.h, cell = cell_volume(grid);
    std::vector<Vec<D>> velocity_before;
    for (size_t i = 0; i < list.size(); ++i) {
        Droplet<D>& f = list[i];
        const Met<D>& m = met[i];
        const double volume = cell * f.volume, mass = density_of(f.kind, params) * volume;
        const double r = h * radius_of<D>(f.volume);
        const Vec<D> g = take<D>(frame.on_particle(lift<D>(h * (f.x + Vec<D>::all(0.5))), lift<D>(f.u), dt));
        Vec<D> u, force;
        for (int a = 0; a < D; ++a) {
            u[a] = m.u[a];
            force[a] = mass * g[a] - volume * m.grad_p[a];
        }
        const Vec<D> before = f.u;
        if (f.kind == DropletKind::foam) {
            f.u = rounded(u);
        } else {
            // In 2D a droplet is a cylinder: its section across the flow is its diameter.
            const double section = D == 3 ? pi * r * r : 2 * r;
            const double k = 0.5 * params.droplets.drag * section * m.rho;
            f.u = rounded(dragged_within(before, u, force, mass, k, 0.5 * m.rho * cell, dt));
        }
        for (int a = 0; a < D; ++a) {
            const double weight = f.kind == DropletKind::foam ? 0 : mass * g[a] * dt;
            const double given = mass * (f.u[a] - before[a]) - weight;
            exchange.gravity[a] += weight;
            exchange.momentum[a] += given;
            // The pressure has accelerated the fluid of the whole cell already, with what the droplet takes of it: the grid
            // feels the drag alone. So bubbles lift the water that they are in, by as much as they make it lighter.
            const double pressed = f.kind == DropletKind::foam ? 0 : -volume * m.grad_p[a] * dt;
            changes.push(m, a, pressed - given, grid);
        }
        velocity_before.push_back(f.kind == DropletKind::foam ? f.u : before);
        f.age = rounded(f.age + dt);
        if (f.kind == DropletKind::foam) f.life = rounded(f.life - dt);
    }
    return velocity_before;
}

// 2. They move. Walls and solids stop them, open sides let them out. Returns the volume of water that has left.
template <int D>
double fly_on(std::vector<Droplet<D>>& list, const std::vector<Vec<D>>& velocity_before, const Field<D>& phi,
              const Boundary<D>& boundary, const Params& params, double dt, Exchange& exchange)
{
    const double cell = cell_volume(phi.grid());
    double left = 0;
    const std::vector<Flight<D>> flights = fly_all(list, velocity_before, phi, boundary, dt);
    for (size_t i = 0; i < list.size(); ++i) {
        Droplet<D>& f = list[i];
        const Vec<D> before = f.u;
        f.x = flights[i].x.template as<double>();
        f.u = flights[i].u.template as<double>();
        for (int a = 0; a < D; ++a)
            exchange.momentum[a] += density_of(f.kind, params) * cell * f.volume * (f.u[a] - before[a]);
        if (!flights[i].left) continue;
        left += f.kind == DropletKind::droplet ? cell * f.volume : -cell * f.volume;
        take_off(exchange, f, cell, params);
        f.volume = 0;
    }
    std::erase_if(list, [](const Droplet<D>& f) { return !(f.volume > 0); });
    return left;
}

// Whether a droplet stays one: bubbles that arrive may become foam, which floats at the surface.
template <int D>
bool stays(Droplet<D>& f, const Met<D>& m, bool arrived, const Params& params, double h)
{
    if (f.kind == DropletKind::bubble && arrived && params.droplets.foam_life > 0) {
        f.kind = DropletKind::foam;
        f.life = rounded(params.droplets.foam_life / (h * radius_of<D>(f.volume)));
        return true;
    }
    if (f.kind == DropletKind::foam && f.life > 0 && std::fabs(m.phi) < 2 * h) {
        Vec<D> slope;
        for (int a = 0; a < D; ++a) slope[a] = m.slope[a];
        f.x = rounded(f.x - (double(m.phi) / h / std::max(0.1, dot(slope, slope))) * slope);
        return true;
    }
    return !(f.volume > too_large) && !arrived && f.kind != DropletKind::foam;
}

// 4. The grid takes back what it can hold.
template <int D>
void take_back(std::vector<Droplet<D>>& list, const std::vector<Met<D>>& met, const Field<D>& phi, const Params& params,
               Exchange& exchange, Changes<D>& changes, std::vector<Lost<D>>& returned)
{
    const Grid<D>& grid = phi.grid();
    std::vector<Vec<D, float>> arrivals;
    std::vector<double> volumes;
    for (size_t i = 0; i < list.size(); ++i) {
        Droplet<D>& f = list[i];
        const bool droplet = f.kind == DropletKind::droplet;
        const bool arrived = droplet ? met[i].phi < 0 : met[i].phi > 0;
        if (stays(f, met[i], arrived, params, grid.h)) continue;
        if (f.volume > too_large && !arrived) {
            changes.put_sphere(f.x, radius_of<D>(f.volume), droplet, grid);
        } else {
            arrivals.push_back(f.x.template as<float>());
            volumes.push_back(droplet ? f.volume : -f.volume);
        }
        returned.push_back({f.x, f.u, f.volume, droplet ? DropletKind::droplet : DropletKind::bubble});
        take_off(exchange, f, cell_volume(grid), params);
        f.volume = 0;
    }
    const std::vector<Patch<D>> patches = patches_around(arrivals, phi);
    for (size_t i = 0; i < arrivals.size(); ++i) give_back(changes, patches[i], arrivals[i], volumes[i], grid);
    std::erase_if(list, [](const Droplet<D>& f) { return !(f.volume > 0); });
}

}  // namespace

template <int D>
double move_fragments(Droplets<D>& droplets, Field<D>& phi, FaceField<D>& velocity, const Field<D>& pressure,
                      const FaceField<D>& density, const Boundary<D>& boundary, const Params& params, const FrameForces& frame,
                      double dt, Exchange& exchange, std::vector<Lost<D>>& returned)
{
    returned.clear();
    if (droplets.count() == 0) return 0;
    const Grid<D>& grid = phi.grid();
    std::vector<Droplet<D>> list = read_fragments(droplets);
    Changes<D> changes;
    const std::vector<Vec<D>> velocity_before =
        push_and_drag(list, look_around(list, phi, velocity, pressure, density), params, frame, dt, grid, exchange, changes);
    const double left = fly_on(list, velocity_before, phi, boundary, params, dt, exchange);
    // 3. Those that overlap become one.
    merge(list, params, grid, exchange);
    take_back(list, look_around(list, phi, velocity, pressure, density), phi, params, exchange, changes, returned);
    apply(changes, phi, velocity);
    write_fragments(droplets, list);
    return left;
}

template <int D>
void add_momentum(FaceField<D>& velocity, const std::vector<Lost<D>>& returned, const FaceField<D>& density,
                  const Params& params)
{
    if (returned.empty()) return;
    const int n = static_cast<int>(returned.size());
    const DeviceCopy device_copy;
    const Lost<D>* const list = device_copy.of(returned.data(), returned.size());
    const Cell<D> cells = velocity.grid().cells;
    const float water = static_cast<float>(params.fluid.density.constant()), air = static_cast<float>(params.air.density.constant());
    for (int a = 0; a < D; ++a) {
        const auto u = velocity[a].view();
        const auto rho = density[a].view();
        Cell<D> last = cells;
        for (int b = 0; b < D; ++b)
            if (b != a) --last[b];
        // One after the other, as some may share a face.
        parallel_range("fragments", 1, [=] TARN_KERNEL(int) {
            for (int i = 0; i < n; ++i) {
                Vec<D, float> x = list[i].x.template as<float>();
                x[a] += 0.5f;
                const int first = locate(rho, x, last).index;
                float mass = 0;
                for (int corner = 0; corner < (1 << D); ++corner) {
                    int j = first;
                    for (int b = 0; b < D; ++b)
                        if (corner >> b & 1) j += rho.next(b);
                    mass += rho[j];
                }
                const float own = list[i].kind == DropletKind::droplet ? water : air;
                const float part = static_cast<float>(list[i].volume) * own / mass, share = part < 1 ? part : 1.0f;
                for (int corner = 0; corner < (1 << D); ++corner) {
                    int j = first;
                    for (int b = 0; b < D; ++b)
                        if (corner >> b & 1) j += rho.next(b);
                    u[j] += share * (static_cast<float>(list[i].u[a]) - u[j]);
                }
            }
        });
    }
}

template <int D>
void remove_strays(Particles<D>& particles, const Field<D>& phi, const std::vector<Lost<D>>& returned,
                   const Tiles<D>& tiles, DropletWorkspace<D>& workspace)
{
    if (returned.empty() || particles.count() == 0) return;
    const Grid<D>& grid = phi.grid();
    const Cell<D> cells = grid.cells;
    const auto p = phi.view();
    const size_t storage = static_cast<size_t>(grid.storage());
    if (workspace.referred.size() < storage) workspace.referred = Memory<int>(storage);
    int* const around = workspace.referred.data() + grid.origin;
    parallel_for("strays", tiles, [=] TARN_KERNEL(Cell<D> c) { around[p.index(c)] = 0; });
    std::vector<Vec<D, float>> places;
    for (const Lost<D>& l : returned) places.push_back(l.x.template as<float>());
    const DeviceCopy device_copy;
    const Vec<D, float>* const at = device_copy.of(places.data(), places.size());
    parallel_range("strays", static_cast<int>(places.size()) * Patch<D>::size, [=] TARN_KERNEL(int i) {
        const Cell<D> c = patch_cell<D>(at[i / Patch<D>::size], i % Patch<D>::size);
        if (grid.contains(c)) atomic_store(around + p.index(c), 1);
    });
    const ParticleView<D> marker = particles.view();
    parallel_range("strays", particles.count(), [=] TARN_KERNEL(int i) {
        const Vec<D, float> x = marker.at(i);
        if (around[p.index(cell_at(x, cells))] > 0 && marker.radius[i] * sample_cells(p, cells, x) < 0)
            marker.radius[i] = 0;
    });
}

#define TARN_INSTANTIATE(D)                                                                                            \
    template std::vector<Droplet<D>> read_fragments(const Droplets<D>&);                                             \
    template void write_fragments(Droplets<D>&, std::vector<Droplet<D>>&);                                           \
    template FragmentTotals totals(const Droplets<D>&, const Grid<D>&, const Params&);                                \
    template void add_fragments(Droplets<D>&, const std::vector<Lost<D>>&, const Grid<D>&, const Params&, Exchange&); \
    template double move_fragments(Droplets<D>&, Field<D>&, FaceField<D>&, const Field<D>&, const FaceField<D>&,      \
                                   const Boundary<D>&, const Params&, const FrameForces&, double, Exchange&,           \
                                   std::vector<Lost<D>>&);                                                             \
    template void add_momentum(FaceField<D>&, const std::vector<Lost<D>>&, const FaceField<D>&, const Params&);        \
    template void remove_strays(Particles<D>&, const Field<D>&, const std::vector<Lost<D>>&, const Tiles<D>&,          \
                                DropletWorkspace<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
