#include "tarn/surface/particles.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tarn/backend/atomic.h"
#include "tarn/base/random.h"
#include "tarn/field/nodes.h"
#include "tarn/surface/measure.h"

namespace tarn {

namespace {

// Within the grid, or so far within it.
template <int D>
TARN_HD inline Vec<D, float> kept_inside(Vec<D, float> x, Cell<D> cells, float margin = 0)
{
    for (int a = 0; a < D; ++a) x[a] = clamp(x[a], margin - 0.5f, static_cast<float>(cells[a]) - 0.5f - margin);
    return x;
}

// A path to there leaves no cell of the grid, so that thin walls bar all of it.
constexpr float barred_margin = 0.001f;

// How a particle sees the grid: all of it, or its own side of thin walls.
template <int D>
struct Everywhere {
    Cell<D> cells;

    TARN_HD TARN_INLINE float value(const View<D, const float>& f, Vec<D, float> x) const
    {
        return sample_cells(f, cells, x);
    }
    // How far one gets towards a position.
    TARN_HD static Vec<D, float> reached(Vec<D, float>, Vec<D, float> to) { return to; }
    TARN_HD Vec<D, float> moved(Vec<D, float>, Vec<D, float> to) const { return kept_inside(to, cells); }
    TARN_HD static bool sees(Vec<D, float>, Cell<D>) { return true; }
    TARN_HD static bool beside(int, int, bool) { return false; }
    TARN_HD float curvature_per_cell(const View<D, const float>& f, Vec<D, float> x, float h) const
    {
        return h * curvature<D>(f, cells, cell_at(x, cells), h);
    }
};
template <int D>
struct OneSide {
    ThinWalls<D> thin_walls;

    TARN_HD float value(const View<D, const float>& f, Vec<D, float> x) const { return sample_one_side(f, thin_walls, x); }
    TARN_HD Vec<D, float> reached(Vec<D, float> from, Vec<D, float> to) const { return go(thin_walls, from, to); }
    TARN_HD Vec<D, float> moved(Vec<D, float> from, Vec<D, float> to) const
    {
        return go(thin_walls, from, kept_inside(to, thin_walls.cells, barred_margin));
    }
    // A cell's centre from a position.
    TARN_HD bool sees(Vec<D, float> x, Cell<D> c) const
    {
        const Vec<D, float> there = c.template as<float>();
        return go(thin_walls, x, there) == there;
    }
    TARN_HD bool beside(int i, int axis, bool up) const { return thin_walls.beside(i, axis, up); }
    TARN_HD float curvature_per_cell(const View<D, const float>& f, Vec<D, float> x, float h) const
    {
        return h * curvature<D>(f, thin_walls.cells, cell_at(x, thin_walls.cells), h, thin_walls);
    }
};

// The gradient of the interpolated values, over a cell or as much of it as can be reached.
template <int D, class Eye>
TARN_HD inline Vec<D, float> gradient(const Eye& eye, const View<D, const float>& f, Vec<D, float> x)
{
    Vec<D, float> g;
    for (int a = 0; a < D; ++a) {
        const Vec<D, float> half = 0.5f * Vec<D, float>::unit(a);
        const Vec<D, float> lo = eye.reached(x, x - half), hi = eye.reached(x, x + half);
        const float apart = hi[a] - lo[a];
        g[a] = apart > 0.1f ? (eye.value(f, hi) - eye.value(f, lo)) / apart : 0.0f;
    }
    return g;
}

// (2): the sphere touches the surface where it can.
TARN_HD inline float radius_at(float side, float phi) { return side * clamp(side * phi, least_radius, most_radius); }

// What seeding looks at.
template <int D, class Eye>
struct Ground {
    View<D, const float> phi;
    View<D, const float> nodes;  // of solids; data null: none
    Cell<D> cells;
    float inv_h;
    bool outside, even;
    Eye eye;

    TARN_HD float phi_at(Vec<D, float> x) const { return inv_h * eye.value(phi, x); }
    TARN_HD bool in_solid(Vec<D, float> x) const
    {
        if (!nodes.data) return false;
        return sample(nodes, locate(nodes, x + Vec<D, float>::all(0.5f), cells)) < 0;
    }

    // How many particles a cell should have: fewer towards the rim of the band, where they wait in reserve until the
    // surface stretches and draws them in, and none inside solids.
    TARN_HD float wanted(Cell<D> c, int per_cell) const
    {
        if (nodes.data && nodes_at_cell<D>(nodes, c) * inv_h < -0.5f) return 0;
        const float p = inv_h * phi(c), d = outside ? std::fabs(p) : (p < 1 ? std::fabs(p) : particle_band + 1);
        if (even) return d <= particle_band ? static_cast<float>(per_cell) : 0.0f;
        const float share = clamp(1.75f - 0.5f * d, 0.25f, 1.0f);
        return static_cast<float>(per_cell) * share * clamp(particle_band + 0.5f - d, 0.0f, 1.0f);
    }

    // A new particle for a cell: placed anywhere in it, then drawn along the surface's normal to the side it is for.
    // Returns its signed radius, or 0 where no place was found. Compiled once: those who count places and those who fill them must agree to
    // the last bit, and inlined into each it would be fused as each likes it.
    TARN_HD __attribute__((noinline)) float place(Cell<D> c, int number, uint32_t cell, uint32_t time, Vec<D, float>& x) const
    {
        Random random(cell, static_cast<uint32_t>(number), time);
        x = c.template as<float>();
        for (int a = 0; a < D; ++a) x[a] += random.next() - 0.5f;
        float p = phi_at(x);
        // Next to the surface both sides get their share from every cell, whichever side fills more of it.
        const float side = std::fabs(p) > 1 ? (p < 0 ? -1.0f : 1.0f) : (number & 1 ? -1.0f : 1.0f);
        if (side > 0 && !outside) return 0;
        const float goal = side * clamp(std::fabs(p), least_radius, particle_band);
        for (int n = 0; n < 4 && std::fabs(p - goal) > 0.05f; ++n) {
            const Vec<D, float> g = gradient(eye, phi, x);
            const float square = dot(g, g) * inv_h * inv_h;
            if (square < 0.01f) return 0;
            x = eye.moved(x, x + ((goal - p) * inv_h / square) * g);
            p = phi_at(x);
        }
        const float own = side * p;
        if (own < least_radius || own > particle_band + 0.5f || in_solid(x)) return 0;
        return radius_at(side, p);
    }
};

// Cells of the chosen tiles, numbered tile by tile.
template <int D>
struct TileCells {
    static constexpr int each = D == 3 ? tile_size * tile_size * tile_size : tile_size * tile_size;
    const int* rank;   // of a tile among the chosen, -1 for the others
    const int* tiles;  // the chosen
    Cell<D> count;     // tiles along each axis
    Cell<D> cells;

    TARN_HD int number(Cell<D> c) const
    {
        int tile = 0, inside = 0;
        for (int a = D - 1; a >= 0; --a) {
            tile = tile * count[a] + c[a] / tile_size;
            inside = inside * tile_size + c[a] % tile_size;
        }
        return rank[tile] < 0 ? -1 : rank[tile] * each + inside;
    }
    // False for those that stick out of the grid.
    TARN_HD bool cell(int number, Cell<D>& c) const
    {
        int tile = tiles[number / each], inside = number % each;
        bool there = true;
        for (int a = 0; a < D; ++a) {
            c[a] = tile % count[a] * tile_size + inside % tile_size;
            tile /= count[a];
            inside /= tile_size;
            there = there && c[a] < cells[a];
        }
        return there;
    }
};

// Whether b comes before a in a cell: first those nearest to the surface, which are the last to go.
TARN_HD inline bool before(const float* far, int a, int b) { return far[b] < far[a] || (far[b] == far[a] && b < a); }

template <int D, class Eye>
void follow_surface_seen(Particles<D>& particles, const Field<D>& before, const Field<D>& phi, const Eye& eye)
{
    const auto old = before.view(), f = phi.view();
    const ParticleView<D> p = particles.view();
    parallel_range("follow surface", particles.count(), [=] TARN_KERNEL(int i) {
        if (p.radius[i] == 0) return;
        const Vec<D, float> x = p.at(i), g = gradient(eye, f, x);
        const float outwards = eye.value(old, x) - eye.value(f, x), square = dot(g, g);
        if (outwards != 0 && square > 0) p.put(i, eye.moved(x, x + (outwards / square) * g));
    });
}

template <int D, class Eye>
void squeeze_out_seen(Particles<D>& particles, const Field<D>& phi, const FaceField<D>& velocity, double dt,
                      const NearContactAir<D>& air, const Eye& eye)
{
    const Cell<D> cells = phi.grid().cells;
    const float near = 1.5f * static_cast<float>(phi.grid().h);
    // Slower than a twentieth of a cell a step, a gap need not close at all.
    const float least_closing_speed = static_cast<float>(0.05 * phi.grid().h / dt);
    const auto f = phi.view();
    const auto u = velocity.view();
    const ParticleView<D> p = particles.view();
    parallel_range("squeeze out", particles.count(), [=] TARN_KERNEL(int i) {
        if (!(p.radius[i] > 0)) return;
        const Cell<D> c = cell_at(p.at(i), cells);
        const int k = f.index(c);
        if (f[k] > near || air.at(k)) return;
        for (int a = 0; a < D; ++a) {
            const int n = f.next(a);
            const bool below = f[k - n] < 0 || (c[a] > 1 && f[k - 2 * n] < 0 && !eye.beside(k - n, a, false));
            const bool above = f[k + n] < 0 || (c[a] + 2 < cells[a] && f[k + 2 * n] < 0 && !eye.beside(k + n, a, true));
            if (eye.beside(k, a, false) || eye.beside(k, a, true)) continue;
            if (below && above && u[a][k] - u[a][k + n] > least_closing_speed) p.radius[i] = 0;
        }
    });
}

template <int D, class Eye>
void correct_seen(Field<D>& phi, Particles<D>& particles, const Tiles<D>& tiles, LostParticles* lost,
                  Field<D>* const scratch[2], const Escape& escape, const Eye& eye)
{
    const Cell<D> cells = phi.grid().cells;
    const bool alike = escape.alike;
    const float least_curvature = escape.least_curvature;
    const float h = static_cast<float>(phi.grid().h), inv_h = 1 / h;
    const auto f = phi.view();
    const View<D, const float> old = f;
    const auto plus = scratch[0]->view(), minus = scratch[1]->view();
    parallel_for<true>("correct", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = f.index(c);
        const float v = f[i];
        plus[i] = v;
        minus[i] = v;
    });
    const ParticleView<D> p = particles.view();
    const bool final = lost;
    int* const list = final ? storage_for(lost->list, particles.count() + 1) : nullptr;
    const int end = particles.count();
    if (final) parallel_range("escaped particles", 1, [=] TARN_KERNEL(int) { list[end] = 0; });
    parallel_range("escaped particles", particles.count(), [=] TARN_KERNEL(int i) {
        const float r = p.radius[i], side = r < 0 ? -1.0f : 1.0f;
        if (r == 0) return;
        // Before redistancing, those that were well inside their side still are: they move with the surface.
        if (!final && side * r >= most_radius) return;
        const Vec<D, float> x = p.at(i);
        // Most are so far on their own side that their cell's value tells.
        if (side * inv_h * old(cell_at(x, cells)) > 1.5f) {
            if (final) p.radius[i] = side * most_radius;
            return;
        }
        const float here = inv_h * eye.value(old, x);
        if (final) p.radius[i] = radius_at(side, here);
        if (side * here > -side * r) return;
        if (least_curvature > 0 && std::fabs(eye.curvature_per_cell(old, x, h)) < least_curvature) return;
        if (final && !alike && -side * here > lost_distance) {
            // Air that deep in the water is no bubble that the grid could hold.
            if (side > 0)
                p.radius[i] = 0;
            else
                list[atomic_add(list + end, 1)] = i;
            return;
        }

        // The cell centres around it take the value nearest to zero.
        Cell<D> corner;
        for (int a = 0; a < D; ++a) {
            float w;
            corner[a] = locate(x[a], cells[a] - 1, w);
        }
        for (int n = 0; n < (1 << D); ++n) {
            Cell<D> c = corner;
            for (int a = 0; a < D; ++a) c[a] += n >> a & 1;
            if (!eye.sees(x, c)) continue;
            const float value = h * (r - side * length(c.template as<float>() - x));  // (3)
            if (side > 0)
                atomic_max(&plus(c), value);
            else
                atomic_min(&minus(c), value);
        }
    });
    parallel_for<true>("correct", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = f.index(c);
        const float up = plus[i], down = minus[i];
        f[i] = std::fabs(up) < std::fabs(down) ? up : down;
    });
    if (!final) return;
    backend::copy(&lost->count, list + end, sizeof lost->count);
    std::vector<int> sorted(static_cast<size_t>(lost->count));
    backend::copy(sorted.data(), list, sorted.size() * sizeof(int));
    std::sort(sorted.begin(), sorted.end());
    backend::copy(list, sorted.data(), sorted.size() * sizeof(int));
}

// The tiles with `band`, in order, and in `ranks` the place of each tile among them, or -1.
template <int D>
std::vector<int> number_tiles(const TileMap<D>& map, uint8_t band, std::vector<int>& ranks)
{
    std::vector<int> chosen;
    ranks.assign(map.flags.size(), -1);
    for (size_t i = 0; i < map.flags.size(); ++i)
        if (map.flags[i] & band) {
            ranks[i] = static_cast<int>(chosen.size());
            chosen.push_back(static_cast<int>(i));
        }
    return chosen;
}

// Puts a cell's particles in one order, whatever they came in, and keeps as many as are wanted, the nearest to the surface, and those that
// have escaped; a few too many may stay, so that particles which know something are not exchanged for new ones that do not. Returns
// where those that are kept end.
TARN_HD inline int keep_nearest(int* order, int begin, int end, const float* far, float wanted)
{
    for (int i = begin + 1; i < end; ++i) {
        const int moving = order[i];
        int to = i;
        for (; to > begin && before(far, order[to - 1], moving); --to) order[to] = order[to - 1];
        order[to] = moving;
    }
    const int have = end - begin;
    if (!(static_cast<float>(have) > 1.5f * wanted)) return end;
    int keep = static_cast<int>(wanted + 0.5f);
    while (keep < have && far[order[begin + keep]] < 0) ++keep;  // escaped
    return begin + keep;
}

template <int D, class Eye>
void reseed_seen(Particles<D>& particles, const Field<D>& phi, const TileMap<D>& map, uint8_t band,
                 const Field<D>* solid, const Seeding& seeding, long time, SeedingWorkspace<D>& workspace, const Eye& eye)
{
    std::vector<int> ranks;
    const std::vector<int> chosen = number_tiles(map, band, ranks);
    const DeviceCopy ranks_there, chosen_there;
    const Cell<D> cells = phi.grid().cells;
    const TileCells<D> numbers{ranks_there.of(ranks.data(), ranks.size()),
                               chosen_there.of(chosen.data(), chosen.size()), map.count, cells};
    const int slots = static_cast<int>(chosen.size()) * TileCells<D>::each;
    const Ground<D, Eye> ground{phi.view(),      solid ? solid->view() : View<D, const float>{},
                                cells,           static_cast<float>(1 / phi.grid().h),
                                seeding.outside, seeding.even, eye};
    const int n = particles.count();
    const ParticleView<D> p = particles.view();

    // Which cell each particle is in, or -1 for those that go, and how far from the surface; escaped ones count as nearest.
    int *const cell = storage_for(workspace.cell, n), *const order = storage_for(workspace.order, n);
    int *const begin = storage_for(workspace.begin, slots + 1), *const end = storage_for(workspace.end, slots + 1);
    int* const first = storage_for(workspace.first, slots + 1);
    float* const far = storage_for(workspace.far, n);
    parallel_range("sort particles", slots + 1, [=] TARN_KERNEL(int i) { begin[i] = first[i] = 0; });
    parallel_range("sort particles", n, [=] TARN_KERNEL(int i) {
        cell[i] = -1;
        const float r = p.radius[i], side = r < 0 ? -1.0f : 1.0f;
        if (r == 0) return;
        const Vec<D, float> x = p.at(i);
        const float own = side * ground.phi_at(x);
        far[i] = own < -least_radius ? -1.0f : own;
        if (own > particle_band + 0.5f || ground.in_solid(x)) return;
        cell[i] = numbers.number(cell_at(x, cells));
        if (cell[i] >= 0) atomic_add(begin + cell[i], 1);
    });
    (void)parallel_starts("sort particles", begin, slots + 1);
    parallel_range("sort particles", slots + 1, [=] TARN_KERNEL(int i) { end[i] = begin[i]; });
    parallel_range("sort particles", n, [=] TARN_KERNEL(int i) {
        if (cell[i] >= 0) order[atomic_add(end + cell[i], 1)] = i;
    });

    // How many each cell keeps and how many it gets. Small differences are left alone.
    const int per_cell = seeding.per_cell;
    const uint32_t now = static_cast<uint32_t>(time);
    parallel_range("reseed", slots, [=] TARN_KERNEL(int s) {
        Cell<D> c;
        if (!numbers.cell(s, c)) return;
        const float wanted = ground.wanted(c, per_cell);
        end[s] = keep_nearest(order, begin[s], end[s], far, wanted);
        const int have = end[s] - begin[s];
        int added = 0;
        if (static_cast<float>(have) < 0.7f * wanted)
            for (int k = have; static_cast<float>(k) + 0.5f < wanted; ++k) {
                Vec<D, float> x;
                if (ground.place(c, k, static_cast<uint32_t>(s), now, x) != 0) ++added;
            }
        first[s] = have + added;
    });
    const int total = parallel_starts("reseed", first, slots + 1);

    workspace.particles.resize(total);
    const ParticleView<D> q = workspace.particles.view();
    parallel_range("reseed", slots, [=] TARN_KERNEL(int s) {
        int to = first[s];
        for (int i = begin[s]; i < end[s]; ++i, ++to) {
            q.put(to, p.at(order[i]));
            q.radius[to] = p.radius[order[i]];
        }
        Cell<D> c;
        if (to == first[s + 1] || !numbers.cell(s, c)) return;
        const float wanted = ground.wanted(c, per_cell);
        for (int k = end[s] - begin[s]; static_cast<float>(k) + 0.5f < wanted; ++k) {
            Vec<D, float> x;
            const float r = ground.place(c, k, static_cast<uint32_t>(s), now, x);
            if (r == 0) continue;
            q.put(to, x);
            q.radius[to++] = r;
        }
    });
    particles.swap(workspace.particles);
}

}  // namespace

template <int D>
void advect(Particles<D>& particles, const FaceField<D>& velocity, const Field<D>& phi, double dt,
            const Sides<D>& sides, const NearContactAir<D>& air, bool euler)
{
    const Cell<D> cells = velocity.grid().cells;
    const float s = static_cast<float>(dt / velocity.grid().h);
    const auto u = velocity.view();
    const auto f = phi.view();
    const ParticleView<D> p = particles.view();
    if (sides.any()) {
        parallel_range("advect particles", particles.count(), [=] TARN_KERNEL(int i) {
            const Vec<D, float> x = p.at(i);
            const bool near = std::fabs(p.radius[i]) < most_radius;
            const auto velocity_at = [&](Vec<D, float> y) {
                return near ? sample_velocity_in_gaps(u, f, air, sides.before, y)
                            : velocity_one_side(u, sides.before, y);
            };
            const auto reached = [&](Vec<D, float> y) { return velocity_at(go(sides.before, x, y)); };
            const Vec<D, float> v = velocity_at(x), end = kept_inside(euler ? x + s * v : trace_by(reached, x, v, s), cells, barred_margin);
            p.put(i, go(sides.after, sides.carried(x), end));
        });
        return;
    }
    parallel_range("advect particles", particles.count(), [=] TARN_KERNEL(int i) {
        const Vec<D, float> x = p.at(i);
        const bool near = std::fabs(p.radius[i]) < most_radius;
        const auto velocity_at = [&](Vec<D, float> y) {
            return near ? sample_velocity_in_gaps(u, f, air, cells, y) : sample_velocity(u, cells, y);
        };
        const Vec<D, float> v = velocity_at(x);
        p.put(i, kept_inside(euler ? x + s * v : trace_by(velocity_at, x, v, s), cells));
    });
}

template <int D>
void let_out(Particles<D>& particles, Cell<D> cells, const bool (&open)[D][2])
{
    const ParticleView<D> p = particles.view();
    for (int a = 0; a < D; ++a)
        for (int side = 0; side < 2; ++side) {
            if (!open[a][side]) continue;
            const float last = static_cast<float>(cells[a]) - 0.5f - barred_margin;
            parallel_range("let out", particles.count(), [=] TARN_KERNEL(int i) {
                const float x = p.at(i)[a];
                if (side ? x >= last : x <= barred_margin - 0.5f) p.radius[i] = 0;
            });
        }
}

template <int D>
void remove_strays(Particles<D>& particles, const Field<D>& phi, const Field<D, int>& labels, int label)
{
    const ParticleView<D> p = particles.view();
    const auto f = phi.view();
    const auto of = labels.view();
    const Everywhere<D> eye{phi.grid().cells};
    parallel_range("remove strays", particles.count(), [=] TARN_KERNEL(int i) {
        const Vec<D, float> x = p.at(i);
        if (of(cell_at(x, eye.cells)) == label && p.radius[i] * eye.value(f, x) < 0) p.radius[i] = 0;
    });
}

template <int D>
void follow_surface(Particles<D>& particles, const Field<D>& before, const Field<D>& phi, const ThinWalls<D>& thin_walls)
{
    if (thin_walls.any())
        follow_surface_seen(particles, before, phi, OneSide<D>{thin_walls});
    else
        follow_surface_seen(particles, before, phi, Everywhere<D>{phi.grid().cells});
}

template <int D>
void squeeze_out(Particles<D>& particles, const Field<D>& phi, const FaceField<D>& velocity, double dt,
                 const ThinWalls<D>& thin_walls, const NearContactAir<D>& air)
{
    if (thin_walls.any())
        squeeze_out_seen(particles, phi, velocity, dt, air, OneSide<D>{thin_walls});
    else
        squeeze_out_seen(particles, phi, velocity, dt, air, Everywhere<D>{phi.grid().cells});
}

template <int D>
void correct(Field<D>& phi, Particles<D>& particles, const Tiles<D>& tiles, LostParticles* lost,
             Field<D>* const scratch[2], const ThinWalls<D>& thin_walls, const Escape& escape)
{
    if (thin_walls.any())
        correct_seen(phi, particles, tiles, lost, scratch, escape, OneSide<D>{thin_walls});
    else
        correct_seen(phi, particles, tiles, lost, scratch, escape, Everywhere<D>{phi.grid().cells});
}

template <int D>
void reseed(Particles<D>& particles, const Field<D>& phi, const TileMap<D>& map, uint8_t band, const Field<D>* solid,
            const Seeding& seeding, long time, SeedingWorkspace<D>& workspace, const ThinWalls<D>& thin_walls)
{
    if (thin_walls.any())
        reseed_seen(particles, phi, map, band, solid, seeding, time, workspace, OneSide<D>{thin_walls});
    else
        reseed_seen(particles, phi, map, band, solid, seeding, time, workspace, Everywhere<D>{phi.grid().cells});
}

#define TARN_INSTANTIATE(D)                                                                                           \
    template void advect(Particles<D>&, const FaceField<D>&, const Field<D>&, double, const Sides<D>&,                \
                         const NearContactAir<D>&, bool);                                                                 \
    template void let_out(Particles<D>&, Cell<D>, const bool(&)[D][2]);                                               \
    template void remove_strays(Particles<D>&, const Field<D>&, const Field<D, int>&, int);                           \
    template void follow_surface(Particles<D>&, const Field<D>&, const Field<D>&, const ThinWalls<D>&);                  \
    template void squeeze_out(Particles<D>&, const Field<D>&, const FaceField<D>&, double, const ThinWalls<D>&,          \
                              const NearContactAir<D>&);                                                                  \
    template void correct(Field<D>&, Particles<D>&, const Tiles<D>&, LostParticles*, Field<D>* const[2],              \
                          const ThinWalls<D>&, const Escape&);                                                           \
    template void reseed(Particles<D>&, const Field<D>&, const TileMap<D>&, uint8_t, const Field<D>*, const Seeding&, \
                         long, SeedingWorkspace<D>&, const ThinWalls<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
