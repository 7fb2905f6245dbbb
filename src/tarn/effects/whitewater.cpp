#include "tarn/effects/whitewater.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tarn/base/random.h"
#include "tarn/phases/flight.h"

namespace tarn {

namespace {

constexpr float above = 0.3f;       // cells from the surface at which droplets appear
constexpr float rebound = 0.5f;     // of the speed of a drop that lands, what it throws up has at most
constexpr int most_thrown = 8;      // by one drop
constexpr float foam_reach = 2;     // cells from the surface within which foam finds it
constexpr float velocity_near = 2;  // cells from the water within which a frame's velocity counts

constexpr float most_in_cell = 10000;  // appear in one step

// A whole number whose mean is what is expected.
TARN_HD inline int whole(float expected, float random)
{
    return static_cast<int>((expected < most_in_cell ? expected : most_in_cell) + random);
}

template <int D>
TARN_HD inline float volume_of_radius(float r)
{
    constexpr float pi = std::numbers::pi_v<float>;
    return D == 3 ? (4 * pi / 3) * r * r * r : pi * r * r;
}
template <int D>
TARN_HD inline float radius_of_volume(float v)
{
    constexpr float pi = std::numbers::pi_v<float>;
    return D == 3 ? std::cbrt(v * (3 / (4 * pi))) : std::sqrt(v / pi);
}

// A vector in the unit ball, more often short than long.
template <int D>
TARN_HD inline Vec<D, float> in_ball(Random& random)
{
    Vec<D, float> v;
    for (int a = 0; a < D; ++a) v[a] = 2 * random.next() - 1;
    const float l = length(v);
    return l > 1 ? (random.next() / l) * v : v;
}

// The water at one time between two frames, as kernels see it. Places are in cells.
template <int D>
struct Between {
    Cell<D> cells;
    float h, s;
    View<D, const float> phi, phi_of[2];
    FaceView<D, const float> velocity_of[2];

    TARN_HD float phi_at(Vec<D, float> x) const { return sample_cells(phi, cells, x); }
    // That of the frames that have water near.
    TARN_HD Vec<D, float> velocity_at(Vec<D, float> x) const
    {
        Vec<D, float> u;
        float sum = 0;
        for (int k = 0; k < 2; ++k) {
            const float weight = k == 1 ? s : 1 - s;
            if (!(weight > 0) || !(sample_cells(phi_of[k], cells, x) < velocity_near * h)) continue;
            u += weight * sample_velocity(velocity_of[k], cells, x);
            sum += weight;
        }
        return sum > 0 ? (1 / sum) * u : u;
    }
    // grad phi, whose length is near one.
    TARN_HD Vec<D, float> slope(Vec<D, float> x) const
    {
        Vec<D, float> g;
        for (int a = 0; a < D; ++a) {
            Vec<D, float> up = x, down = x;
            up[a] += 0.5f;
            down[a] -= 0.5f;
            g[a] = (phi_at(up) - phi_at(down)) / h;
        }
        return g;
    }
    TARN_HD Vec<D, float> normal(Vec<D, float> x) const
    {
        const Vec<D, float> g = slope(x);
        const float l = length(g);
        return l > 0 ? (1 / l) * g : Vec<D, float>::unit(1);
    }
    // phi at a cell; at the nearest where there is none.
    TARN_HD float near(Cell<D> c, int axis, int by) const
    {
        c[axis] += by;
        c[axis] = c[axis] < 0 ? 0 : (c[axis] < cells[axis] ? c[axis] : cells[axis] - 1);
        return phi(c);
    }
    // kappa = lap phi, where phi is a distance: 2 / R of a ball.
    TARN_HD float curvature(Cell<D> c) const
    {
        float sum = 0;
        for (int a = 0; a < D; ++a) sum += near(c, a, 1) - 2 * phi(c) + near(c, a, -1);
        return sum / (h * h);
    }
    // How fast water on two sides of a cell of air traps it. A side counts up to two cells off.
    TARN_HD float trapping(Cell<D> c) const
    {
        Vec<D, float> at[2 * D], u[2 * D];
        int found = 0;
        for (int a = 0; a < D; ++a)
            for (int by = -1; by <= 1; by += 2)
                for (int n = 1; n <= 2; ++n) {
                    Cell<D> there = c;
                    there[a] += n * by;
                    if (there[a] < 0 || there[a] >= cells[a]) break;
                    if (!(phi(there) < 0)) continue;
                    at[found] = there.template as<float>();
                    u[found] = velocity_at(at[found]);
                    ++found;
                    break;
                }
        float most = 0;
        for (int i = 0; i < found; ++i)
            for (int j = 0; j < i; ++j) {
                const Vec<D, float> v = u[i] - u[j], d = at[i] - at[j];
                const float s_ij = 0.5f * (length(v) - dot(v, d) / length(d));
                most = s_ij > most ? s_ij : most;
            }
        return most;
    }
};

// [whitewater], as kernels see it.
struct Settings {
    float rise_speed, rise, crest_curvature, crest, trapped_speed, trapped, impact_speed, impact;
    float size, spread, scatter, split, foam_life;
    uint32_t seed;

    explicit Settings(const WhitewaterParams& p)
        : rise_speed(static_cast<float>(*p.rise_speed)),
          rise(static_cast<float>(*p.rise)),
          crest_curvature(static_cast<float>(*p.crest_curvature)),
          crest(static_cast<float>(*p.crest)),
          trapped_speed(static_cast<float>(*p.trapped_speed)),
          trapped(static_cast<float>(*p.trapped)),
          impact_speed(static_cast<float>(*p.impact_speed)),
          impact(static_cast<float>(p.impact)),
          size(static_cast<float>(*p.size)),
          spread(static_cast<float>(p.spread)),
          scatter(static_cast<float>(p.scatter)),
          split(static_cast<float>(p.split)),
          foam_life(static_cast<float>(p.foam_life)),
          seed(static_cast<uint32_t>(p.seed))
    {
    }
    // The volume of a new drop, in cells.
    template <int D>
    TARN_HD float new_volume(float h, float random) const
    {
        return volume_of_radius<D>(size * (1 + spread * (2 * random - 1)) / h);
    }
    template <int D>
    TARN_HD float new_life(float volume, float h, float random) const
    {
        return foam_life * 2 * random * radius_of_volume<D>(volume) * h / size;
    }
};

// Makes room for what is born; returns where it begins.
template <int D>
int make_room(Whitewater<D>& w, int born)
{
    const int first = compact(w.drops, born, w.workspace);
    w.next_id = std::fmod(w.next_id + born, double(largest_id));
    return first;
}

template <int D>
TARN_HD inline void put(const FragmentView<D>& d, int i, Vec<D, float> x, Vec<D, float> u, float volume, float age,
                        DropletKind kind, int id)
{
    for (int a = 0; a < D; ++a) {
        d.x[a][i] = x[a];
        d.u[a][i] = u[a];
    }
    d.volume[i] = volume;
    d.age[i] = age;
    d.life[i] = 0;
    d.kind[i] = static_cast<float>(static_cast<int>(kind));
    d.id[i] = static_cast<float>(id % largest_id);
}

template <int D>
TARN_HD inline bool inside(const Between<D>& water, const Obstacles<D>& o, Vec<D, float> x)
{
    for (int a = 0; a < D; ++a)
        if (!(x[a] > -0.5f && x[a] < static_cast<float>(water.cells[a]) - 0.5f)) return false;
    return !(o.outside(x) < 0);
}

// phi at the end of a step, from both frames.
template <int D>
void move_surface(Field<D>& phi, const TwoFrames<D>& frames, double s)
{
    const Grid<D> grid = phi.grid();
    const auto p = phi.view();
    const auto p0 = frames.phi[0]->view(), p1 = frames.phi[1]->view();
    const auto u0 = frames.velocity[0]->view(), u1 = frames.velocity[1]->view();
    const Cell<D> cells = grid.cells;
    const float share = static_cast<float>(s), h = static_cast<float>(grid.h);
    const float back = static_cast<float>(s * frames.dt / grid.h), ahead = static_cast<float>((1 - s) * frames.dt / grid.h);
    parallel_for("whitewater surface", all_tiles(grid), [=] TARN_KERNEL(Cell<D> c) {
        const float a = p0(c), b = p1(c);
        // Far from the surface in both frames, and on one side of it.
        const float reach = 2.9f * h;
        if ((a > reach && b > reach) || (a < -reach && b < -reach)) {
            p(c) = b;
            return;
        }
        const Vec<D, float> x = c.template as<float>();
        const float before = sample_cells(p0, cells, x - back * sample_velocity(u0, cells, x));
        const float after = sample_cells(p1, cells, x + ahead * sample_velocity(u1, cells, x));
        p(c) = before + share * (after - before);
    });
}

// What appears at the surface.
template <int D>
void emit(Whitewater<D>& w, const Between<D>& water, const Obstacles<D>& obstacles, Vec<D, float> up,
          const Settings& set, int most, float dt)
{
    const Grid<D> grid = w.phi.grid();
    const int storage = static_cast<int>(grid.storage());
    int* const first = storage_for(w.born, storage + 1);
    int* const born = first + grid.origin;
    int* const bubbles = storage_for(w.bubbles, storage + 1) + grid.origin;
    const float h = water.h, area = D == 3 ? h * h : h;
    const uint32_t step = static_cast<uint32_t>(w.step);
    const Tiles<D> tiles = all_tiles(grid);
    const auto count = [&](float part) {
        parallel_range("whitewater", storage + 1, [=] TARN_KERNEL(int i) { first[i] = 0; });
        parallel_for("whitewater emission", tiles, [=] TARN_KERNEL(Cell<D> c) {
            const float p = water.phi(c);
            const int i = water.phi.index(c);
            if (!(std::fabs(p) < 2 * h)) return;
            const Vec<D, float> x = c.template as<float>();
            if (!inside(water, obstacles, x)) return;
            Random random(static_cast<uint32_t>(i), step, set.seed);
            float rate = 0;
            if (std::fabs(p) < h) {
                const Vec<D, float> n = water.normal(x), u = water.velocity_at(x - (p / h) * n);
                const float w_up = dot(u, up), out = dot(u, n);
                if (w_up > set.rise_speed) rate += set.rise * (w_up - set.rise_speed);
                if (set.crest > 0 && out > 0 && water.curvature(c) > set.crest_curvature) rate += set.crest * out;
                rate *= 1 - std::fabs(p) / h;  // the surface's part in this cell
            }
            const float trapping = p > 0 && set.trapped > 0 ? water.trapping(c) - set.trapped_speed : 0.0f;
            bubbles[i] = trapping > 0 ? whole(part * set.trapped * trapping * area * dt, random.next()) : 0;
            born[i] = bubbles[i] + whole(part * rate * area * dt, random.next());
        });
        return parallel_starts("whitewater", first, storage + 1);
    };
    int total = count(1);
    const int workspace = std::max(0, most - w.drops.count());
    if (total > workspace) {
        w.full = true;
        // Fewer everywhere alike; chance may still make a few too many, which the next step makes good.
        total = count(static_cast<float>(workspace) / static_cast<float>(total));
    }
    if (total == 0) return;
    const int id = static_cast<int>(w.next_id), begin = make_room(w, total);
    const FragmentView<D> d = w.drops.view();
    parallel_for("whitewater emission", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = water.phi.index(c), from = born[i], n = born[i + 1] - from;
        for (int k = 0; k < n; ++k) {
            Random random(static_cast<uint32_t>(i), step ^ scramble(static_cast<uint32_t>(k + 1)), set.seed + 1);
            const bool bubble = k < bubbles[i];
            Vec<D, float> x = c.template as<float>();
            for (int a = 0; a < D; ++a) x[a] += random.next() - 0.5f;
            // From there to its place under the surface, or over it.
            const Vec<D, float> n_x = water.normal(x);
            x += ((bubble ? -0.5f - random.next() : above) - water.phi_at(x) / h) * n_x;
            Vec<D, float> u = water.velocity_at(bubble ? x : x - above * n_x);
            const float age = random.next() * dt;
            if (!bubble) {
                Vec<D, float> off = in_ball<D>(random);
                const float into = dot(off, n_x);
                if (into < 0) off -= (2 * into) * n_x;
                off *= set.scatter * length(u);
                // Since it appeared it has left the surface behind by that.
                x += (age / h) * off;
                u += off;
            }
            const bool there = inside(water, obstacles, x) && (water.phi_at(x) < 0) == bubble;
            const float volume = set.template new_volume<D>(h, random.next());
            put(d, begin + from + k, x, u, there ? volume : 0.0f, age,
                bubble ? DropletKind::bubble : DropletKind::droplet, id + from + k);
        }
    });
}

// One drop, bubble or foam for a step; how many it gives birth to, and the velocity `thrown` to them.
template <int D>
struct Move {
    Between<D> water;
    Obstacles<D> obstacles;
    FragmentView<D> d;
    Settings set;
    Vec<D, float> g;
    float in_air, in_water, lift;  // drag coefficients times ratios of density; density of water over that of air
    float dt;
    uint32_t step;

    TARN_HD int operator()(int i, Vec<D, float> air, Vec<D, float>& thrown) const
    {
        Vec<D, float> x, u;
        for (int a = 0; a < D; ++a) {
            x[a] = d.x[a][i];
            u[a] = d.u[a][i];
        }
        Random random(static_cast<uint32_t>(d.id[i]), step, set.seed + 2);
        const DropletKind kind = static_cast<DropletKind>(static_cast<int>(d.kind[i]));
        d.age[i] += dt;
        const int born = kind == DropletKind::droplet  ? drop(i, x, u, air, random, thrown)
                         : kind == DropletKind::bubble ? bubble(i, x, u, random)
                                                        : foam(i, x, u);
        for (int a = 0; a < D; ++a) {
            d.x[a][i] = x[a];
            d.u[a][i] = u[a];
        }
        return born;
    }

    TARN_HD void become_foam(int i, Random& random) const
    {
        d.kind[i] = static_cast<float>(static_cast<int>(DropletKind::foam));
        d.life[i] = set.template new_life<D>(d.volume[i], water.h, random.next());
        if (!(set.foam_life > 0)) d.volume[i] = 0;
    }

    TARN_HD int drop(int i, Vec<D, float>& x, Vec<D, float>& u, Vec<D, float> air, Random& random,
                     Vec<D, float>& thrown) const
    {
        const Vec<D, float> later = dragged(u, air, g, drag_of<D>(d.volume[i], water.h, in_air), dt);
        const auto arrived = [this](Vec<D, float> y) { return water.phi_at(y) < 0; };
        const Flight<D> flight = fly(obstacles, x, later, (0.5f * dt / water.h) * (u + later), arrived);
        x = flight.x;
        u = flight.u;
        if (flight.left) {
            d.volume[i] = 0;
            return 0;
        }
        if (!flight.arrived) {
            if (!(random.next() < 1 - std::exp(-set.split * dt))) return 0;
            // It divides into two halves, that part by a tenth of their speed.
            d.volume[i] *= 0.5f;
            thrown = u + (0.1f * length(u)) * in_ball<D>(random);
            return 1;
        }
        const Vec<D, float> n = water.normal(x), water_u = water.velocity_at(x), v = u - water_u;
        const float speed = -dot(v, n), expected = set.impact * (speed / set.impact_speed - 1);
        int born = speed > set.impact_speed ? whole(expected, random.next()) : 0;
        born = born < most_thrown ? born : most_thrown;
        if (born > 0) d.volume[i] *= 0.5f;
        thrown = water_u + (rebound * speed) * n;
        u = water_u;
        become_foam(i, random);
        return born;
    }

    TARN_HD int bubble(int i, Vec<D, float>& x, Vec<D, float>& u, Random& random) const
    {
        const Vec<D, float> around = water.velocity_at(x);
        const Vec<D, float> later = dragged(u, around, (1 - lift) * g, drag_of<D>(d.volume[i], water.h, in_water), dt);
        const auto arrived = [this](Vec<D, float> y) { return !(water.phi_at(y) < 0); };
        const Flight<D> flight = fly(obstacles, x, later, (dt / water.h) * later, arrived);
        x = flight.x;
        u = flight.u;
        if (flight.left) d.volume[i] = 0;
        if (flight.arrived) become_foam(i, random);
        return 0;
    }

    // It goes with the surface, along the way as it is in its middle.
    TARN_HD int foam(int i, Vec<D, float>& x, Vec<D, float>& u) const
    {
        d.life[i] -= dt;
        u = water.velocity_at(x);
        u = water.velocity_at(x + (0.5f * dt / water.h) * u);
        const auto never = [](Vec<D, float>) { return false; };
        const Flight<D> flight = fly(obstacles, x, u, (dt / water.h) * u, never);
        x = flight.x;
        const float p = water.phi_at(x);
        if (!(d.life[i] > 0) || flight.left) {
            d.volume[i] = 0;
        } else if (std::fabs(p) < foam_reach * water.h) {
            const Vec<D, float> slope = water.slope(x);
            const float s = dot(slope, slope);
            const Vec<D, float> at = x - (p / water.h / (s > 0.1f ? s : 0.1f)) * slope;
            if (inside(water, obstacles, at)) x = at;
        } else {
            // The surface has gone: it flies on, or is under water.
            d.kind[i] = static_cast<float>(static_cast<int>(p > 0 ? DropletKind::droplet : DropletKind::bubble));
            d.life[i] = 0;
        }
        return 0;
    }
};

// What there was moves; what is thrown up by it, or breaks off from it, appears.
template <int D>
void move(Whitewater<D>& w, const Move<D>& move_one, const Wind& wind)
{
    const int n = w.drops.count();
    if (n == 0) return;
    int* const born = storage_for(w.born, n + 1);
    float* thrown[D];
    for (int a = 0; a < D; ++a) thrown[a] = storage_for(w.thrown[a], n);
    const float h = move_one.water.h;
    parallel_range("whitewater", n + 1, [=] TARN_KERNEL(int i) {
        if (i == n) {
            born[i] = 0;
            return;
        }
        Vec<D> at;
        for (int a = 0; a < D; ++a) at[a] = double(h) * (static_cast<double>(move_one.d.x[a][i]) + 0.5);
        Vec<D, float> v;
        born[i] = move_one(i, take<D>(wind.velocity_at(lift<D>(at))).template as<float>(), v);
        for (int a = 0; a < D; ++a) thrown[a][i] = v[a];
    });
    const int total = parallel_starts("whitewater", born, n + 1);
    const int id = static_cast<int>(w.next_id), begin = make_room(w, total);
    if (total == 0) return;
    const FragmentView<D> to = w.drops.view(), from = w.workspace.drops.view();
    const Between<D> water = move_one.water;
    const Obstacles<D> obstacles = move_one.obstacles;
    const uint32_t step = move_one.step, seed = move_one.set.seed + 3;
    parallel_range("whitewater", n, [=] TARN_KERNEL(int i) {
        const int first = born[i], children = born[i + 1] - first;
        Vec<D, float> x, v;
        for (int a = 0; a < D; ++a) {
            x[a] = from.x[a][i];
            v[a] = thrown[a][i];
        }
        const bool split = from.kind[i] == 0;
        for (int k = 0; k < children; ++k) {
            Random random(static_cast<uint32_t>(from.id[i]), step ^ scramble(static_cast<uint32_t>(k + 1)), seed);
            const Vec<D, float> out = split ? Vec<D, float>{} : (above - water.phi_at(x) / h) * water.normal(x);
            const float aside = split ? 0.0f : 0.5f * length(v - water.velocity_at(x));
            // Of a drop that landed as much is thrown up as becomes foam.
            const float volume = inside(water, obstacles, x + out) ? from.volume[i] / static_cast<float>(children) : 0.0f;
            put(to, begin + first + k, x + out, v + aside * in_ball<D>(random), volume, 0.0f, DropletKind::droplet,
                id + first + k);
        }
    });
}

}  // namespace

WhitewaterParams filled_in(const Params& params)
{
    WhitewaterParams p = params.whitewater;
    double side = 0;
    for (const double s : params.domain.size) side = std::max(side, s);
    const double speed = 0.25 * std::sqrt(9.81 * side), number = std::pow(45 / side, params.dimension());
    const auto fill = [](std::optional<double>& value, double otherwise) { value = value.value_or(otherwise); };
    fill(p.rise_speed, speed);
    fill(p.rise, number);
    fill(p.crest_curvature, 30 / side);
    fill(p.crest, number);
    fill(p.trapped_speed, speed);
    fill(p.trapped, number);
    fill(p.impact_speed, 2 * speed);
    fill(p.size, side / 800);
    return p;
}

template <int D>
void step(Whitewater<D>& w, const TwoFrames<D>& frames, double s, double ds, const Solids<D>& solids,
          const Boundary<D>& boundary, const Surroundings& around, const Params& params)
{
    const Grid<D> grid = frames.phi[1]->grid();
    if (w.phi.size() == 0) w.phi = distance_field(grid, 0);
    const WhitewaterParams p = filled_in(params);
    const Settings set(p);
    const Obstacles<D> obstacles(boundary, grid.h, sides_of(solids, grid));
    move_surface(w.phi, frames, s);
    Between<D> water{grid.cells, static_cast<float>(grid.h), static_cast<float>(s), std::as_const(w.phi).view(), {}, {}};
    for (int k = 0; k < 2; ++k) {
        water.phi_of[k] = frames.phi[k]->view();
        water.velocity_of[k] = frames.velocity[k]->view();
    }
    const double dt = ds * frames.dt, ratio = params.fluid.density.constant() / params.air.density.constant();
    const Vec<D> g = take<D>(around.gravity);
    w.full = false;
    move(w,
         Move<D>{water, obstacles, w.drops.view(), set, g.template as<float>(), static_cast<float>(p.drag / ratio),
                 static_cast<float>(p.drag * ratio), static_cast<float>(ratio), static_cast<float>(dt),
                 static_cast<uint32_t>(w.step)},
         around.wind);
    const Vec<D> up = length(g) > 0 ? (-1 / length(g)) * g : Vec<D>::unit(1);
    emit(w, water, obstacles, up.template as<float>(), set, p.most, static_cast<float>(dt));
    ++w.step;
}

template <int D>
void add(Whitewater<D>& w, std::vector<Droplet<D>> droplets)
{
    if (droplets.empty()) return;
    std::vector<Droplet<D>> list = read_fragments(w.drops);
    for (Droplet<D>& drop : droplets) {
        drop.id = static_cast<int>(w.next_id);
        w.next_id = std::fmod(w.next_id + 1, double(largest_id));
        list.push_back(drop);
    }
    write_fragments(w.drops, list);
}

#define TARN_INSTANTIATE(D)                                                                                              \
    template void step(Whitewater<D>&, const TwoFrames<D>&, double, double, const Solids<D>&, const Boundary<D>&,        \
                       const Surroundings&, const Params&);                                                              \
    template void add(Whitewater<D>&, std::vector<Droplet<D>>);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
