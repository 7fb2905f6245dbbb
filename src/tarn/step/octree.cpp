#include "tarn/step/octree.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "tarn/advect/advect.h"
#include "tarn/backend/atomic.h"
#include "tarn/backend/parallel.h"
#include "tarn/base/error.h"
#include "tarn/field/curl.h"
#include "tarn/scene/forces.h"
#include "tarn/step/surface.h"

namespace tarn {

namespace {

constexpr uint8_t is_fine = 1;

// Tiles of level l that hold any of a box of small cells.
template <int D>
void mark(TileMap<D>& map, int level, const Box<D>& box)
{
    Box<D> tiles;
    for (int a = 0; a < D; ++a) {
        const int width = tile_size << level;
        tiles.lo[a] = std::max(0, box.lo[a]) / width;
        tiles.hi[a] = std::min(map.count[a], (box.hi[a] + width - 1) / width);
    }
    map.for_each([&](size_t i, Cell<D> t) {
        if (tiles.contains(t)) map.flags[i] = 1;
    });
}

// Boxes that the scene asks to be fine; sources and sinks, which small cells alone know.
template <int D>
std::vector<TileMap<D>> asked_for(const Water<D>& w, const Params& p)
{
    std::vector<TileMap<D>> least;
    for (const OctreeLevel<D>& level : w.octree.levels) least.emplace_back(level.grid);
    for (const RefineParams& r : p.refine) {
        Box<D> box;
        for (int a = 0; a < D; ++a) {
            box.lo[a] = static_cast<int>(std::floor((*r.min)[a] / w.grid.h));
            box.hi[a] = static_cast<int>(std::ceil((*r.max)[a] / w.grid.h));
        }
        const int level = std::min(r.level, w.octree.count() - 1);
        mark(least[static_cast<size_t>(level)], level, box);
    }
    // Gauges read small cells.
    for (const GaugeParams& g : p.gauge) {
        const std::optional<Vec3> lo = g.min ? g.min : g.point, hi = g.max ? g.max : g.point;
        if (!lo || !hi || g.kind == GaugeKind::height || g.kind == GaugeKind::torque || g.kind == GaugeKind::runup) continue;
        Box<D> box;
        for (int a = 0; a < D; ++a) {
            box.lo[a] = static_cast<int>(std::floor((*lo)[a] / w.grid.h)) - 3;
            box.hi[a] = static_cast<int>(std::ceil((*hi)[a] / w.grid.h)) + 3;
        }
        mark(least[0], 0, box);
    }
    for (const auto* lists : {&w.flows.source_tiles, &w.flows.sink_tiles})
        for (const Tiles<D>& tiles : *lists)
            for (const Box<D>& box : tiles.boxes) mark(least[0], 0, box);
    return least;
}

// Solids are cut out of small cells alone.
template <int D>
void mark_solids(TileMap<D>& map, const Water<D>& w)
{
    const auto nodes = w.solids.distance.view();
    const float near = static_cast<float>(3 * w.grid.h);
    const TileMap<D> all(w.grid, 1);
    const std::vector<uint8_t> found =
        parallel_any("octree", all, 1, [=](Cell<D> c) -> uint8_t { return nodes(c) < near ? is_fine : uint8_t(0); });
    for (size_t i = 0; i < found.size(); ++i) map.flags[i] |= found[i];
}

// The tiles that hold cells so near to one.
template <int D>
void mark_around(TileMap<D>& map, Cell<D> c, int reach)
{
    Box<D> tiles;
    for (int a = 0; a < D; ++a) {
        tiles.lo[a] = std::max(0, c[a] - reach) / tile_size;
        tiles.hi[a] = std::min(map.count[a] - 1, (c[a] + reach) / tile_size) + 1;
    }
    Cell<D> t = tiles.lo;
    for (long n = tiles.volume(); n > 0; --n) {
        atomic_store(&map.flags[map.index(t)], 1);
        for (int a = 0; a < D; ++a) {
            if (++t[a] < tiles.hi[a]) break;
            t[a] = tiles.lo[a];
        }
    }
}

// Whether a cell's density is, or comes to be across a face, that of smoke's edge.
template <int D>
struct SmokeEdge {
    View<D, const float> density;  // data null: there is no smoke
    float from, to;

    bool operator()(Cell<D> c, Cell<D> cells) const
    {
        if (!density.data) return false;
        float least = density(c), most = least;
        for (int a = 0; a < D; ++a)
            for (int by = -1; by <= 1; by += 2) {
                if (c[a] + by < 0 || c[a] + by >= cells[a]) continue;
                const float other = density(moved<D>(c, a, by));
                least = std::min(least, other);
                most = std::max(most, other);
            }
        return most > from && least < to;
    }
};

// Cells over which the velocity changes much are divided, and not united again before it changes by half as much; where smoke has
// its edge there are the smallest, with as many around as a step may bring it on.   [LGF04] §5
template <int D>
void mark_detail(const Water<D>& w, std::vector<TileMap<D>>& least)
{
    const OctreeParams& p = w.octree_params;
    const double part = p.vorticity.value_or(w.smoke ? 0.2 : 0.0);
    const bool whirls = part > 0 && w.fastest > 0;
    if ((!whirls && !w.smoke) || !w.octree.levels[0].map.flags.size()) return;
    const float most = whirls ? static_cast<float>(part * w.fastest) : outside;
    constexpr int ahead = tile_size / 2;
    for (int l = 0; l < w.octree.count(); ++l) {
        const size_t n = static_cast<size_t>(l);
        const OctreeLevel<D>& level = w.octree.levels[n];
        const Cell<D> cells = level.grid.cells;
        const FaceView<D, const float> u = (l == 0 ? w.velocity : w.coarse[n - 1].velocity).view();
        const View<D, const float> density = !w.smoke ? View<D, const float>{} : (l == 0 ? w.smoke_density : w.coarse[n - 1].smoke_density).view();
        const View<D, const float> phi = !w.smoke && l == 0 ? w.phi.view() : View<D, const float>{};
        const SmokeEdge<D> edge{density, static_cast<float>(p.density_from), static_cast<float>(p.density_to)};
        TileMap<D>& own = least[n];
        TileMap<D>& finer = least[l > 0 ? n - 1 : 0];
        const int scale = l > 0 ? 2 : 1;
        parallel_range("octree detail", static_cast<int>(level.leaves.boxes.size()), [&](int number) {
            const Box<D>& box = level.leaves.boxes[static_cast<size_t>(number)];
            Cell<D> c = box.lo;
            for (long left = box.volume(); left > 0; --left) {
                const bool counts = !phi.data || phi(c) < 0;
                const float change = whirls && counts ? length(curl_at<D>(u, cells, c)) : 0.0f;
                if (edge(c, cells))
                    mark_around(finer, scale * c, ahead);
                else if (change > most)
                    mark_around(finer, scale * c, 0);
                else if (change > 0.5f * most)
                    mark_around(own, c, 0);
                for (int a = 0; a < D; ++a) {
                    if (++c[a] < box.hi[a]) break;
                    c[a] = box.lo[a];
                }
            }
        });
    }
}

// The tiles that the state names.
template <int D>
void mark_as_before(const Water<D>& w, std::vector<TileMap<D>>& least)
{
    size_t first = 0;
    for (TileMap<D>& map : least) {
        for (const int i : w.octree_tiles)
            if (static_cast<size_t>(i) >= first && static_cast<size_t>(i) - first < map.flags.size()) map.flags[static_cast<size_t>(i) - first] = 1;
        first += map.flags.size();
    }
}

// Tiles that are in one map and not in the other.
template <int D>
TileMap<D> added(const TileMap<D>& now, const TileMap<D>& before)
{
    TileMap<D> more = now;
    for (size_t i = 0; i < more.flags.size(); ++i)
        more.flags[i] = now.flags[i] && !(i < before.flags.size() && before.flags[i]);
    return more;
}

// Values go from the cells that there were to those that there are: means where they have become larger, and what lies
// between where smaller.
template <int D>
void carry_over(Water<D>& w, const std::vector<TileMap<D>>& before, const std::vector<uint8_t>& states_before)
{
    const LevelVelocities<D> velocity = velocities_of(w.velocity, w.coarse);
    const auto pressure = [&](size_t l) -> Field<D>& { return l == 0 ? w.pressure : w.coarse[l - 1].pressure; };
    const std::function<Field<D>&(size_t)> carried[] = {
        [&](size_t l) -> Field<D>& { return l == 0 ? w.smoke_density : w.coarse[l - 1].smoke_density; },
        [&](size_t l) -> Field<D>& { return l == 0 ? w.temperature : w.coarse[l - 1].temperature; }};
    const size_t count = velocity.size();
    for (size_t l = 1; l < count; ++l) {
        const Tiles<D> blocks = blocks_over(added(before[l - 1], w.octree.levels[l - 1].map), w.octree.levels[l].grid, 1);
        restrict_faces(*velocity[l], *velocity[l - 1], blocks);
        restrict_cells(pressure(l), pressure(l - 1), blocks);
        for (const auto& of_level : carried)
            if (w.smoke) restrict_cells(of_level(l), of_level(l - 1), blocks);
    }
    for (size_t l = count - 1; l-- > 0;) {
        TileMap<D> smaller = added(w.octree.levels[l].map, before[l]);
        // Tiles that have just become wet have their values already.
        for (size_t i = 0; i < smaller.flags.size() && l == 0; ++i)
            if (states_before[i] != static_cast<uint8_t>(TileState::coarse)) smaller.flags[i] = 0;
        const Tiles<D> tiles = select(smaller, 1);
        interpolate_faces(*velocity[l], *velocity[l + 1], tiles);
        interpolate_cells(pressure(l), pressure(l + 1), tiles);
        for (const auto& of_level : carried)
            if (w.smoke) fill_between(of_level(l), of_level(l + 1), tiles);
    }
}

// Where there are no small cells any more, and where values were interpolated, the velocity is zero, as in all that is not touched; that of a
// state stays as it is.
template <int D>
void clear_left(Water<D>& w, const TileMap<D>& before, const Tiles<D>& rim_before, bool of_state)
{
    const TileMap<D>& now = w.octree.levels[0].map;
    Tiles<D> left = select(added(before, now), 1);
    for (const Box<D>& run : rim_before.boxes)
        for (int x = run.lo[0] / tile_size; tile_size * x < run.hi[0]; ++x) {
            Box<D> box = run;
            box.lo[0] = std::max(run.lo[0], tile_size * x);
            box.hi[0] = std::min(run.hi[0], tile_size * (x + 1));
            Cell<D> t = box.lo;
            for (int a = 0; a < D; ++a) t[a] /= tile_size;
            if (!now.flags[now.index(t)]) left.boxes.push_back(box);
        }
    for (int a = 0; a < D; ++a) {
        const auto u = w.velocity[a].view(), f = w.faces[a].view();
        const auto k = w.known[a].view();
        parallel_for_faces("clear tiles", left, a, [=](Cell<D> c) {
            f(c) = k(c) = 0;
            if (!of_state) u(c) = 0;
        });
    }
}

}  // namespace

template <int D>
Tiles<D> near_surface(const Field<D>& phi, double band)
{
    TileMap<D> map(phi.grid(), 1);
    const auto p = phi.view();
    const float limit = static_cast<float>(band);
    map.flags = parallel_any("octree", map, 1, [=](Cell<D> c) -> uint8_t { return std::fabs(p(c)) < limit ? 1 : 0; });
    dilate(map, 1);
    return select(map, 1);
}

template <int D>
void make_levels(Water<D>& w, const Scene& scene)
{
    const Params& p = scene.params;
    if (p.method.grid != GridKind::octree) return;
    if (on_device())
        throw InputError(scene.file + ": method.grid: an octree needs a processor; run it without --backend cuda, or choose \"uniform\"");
    const int most = most_levels_of(w.grid), levels = p.octree.levels > 0 ? std::min(p.octree.levels, most) : most;
    if (levels < 2) return;
    w.octree = make_octree(w.grid, levels);
    w.octree_params = p.octree;
    w.octree_least = asked_for(w, p);
    if (w.solids.any && !w.solids.moving) mark_solids(w.octree_least[0], w);
    // Values around a level are looked for by paths of a step, and the cells around their ends.
    w.octree_reach = p.time.cfl + 2 > tile_size / 2 ? static_cast<int>(std::ceil((p.time.cfl + 2) / tile_size)) : 0;
    for (int l = 1; l < levels; ++l) {
        const Grid<D>& grid = w.octree.levels[static_cast<size_t>(l)].grid;
        CoarseLevel<D> level;
        level.velocity = FaceField<D>(grid);
        level.pressure = Field<D>(grid);
        level.next = FaceField<D>(grid);
        level.wet = Field<D>(grid);
        for (Field<D>& f : level.scratch) f = Field<D>(grid);
        w.coarse.push_back(std::move(level));
    }
    w.octree_system = OctreeSystem<D>(w.octree, p.octree);
    for (int a = 0; a < D && w.smoke; ++a)
        for (int side = 0; side < 2; ++side) w.octree_system.open[a][side] = w.ends.open[a][side];
}

template <int D>
Tiles<D> tiles_to_advect(const Water<D>& w, const Params& p)
{
    Tiles<D> tiles = w.tiles_active;
    if (w.octree.any() && p.method.advection == Advection::maccormack)
        for (const Box<D>& box : w.octree.levels[0].rim.boxes) tiles.boxes.push_back(box);
    return tiles;
}

template <int D>
TileMap<D> fine_map(const TileMap<D>& map)
{
    TileMap<D> fine = map;
    for (uint8_t& flags : fine.flags)
        if (flags & tile_coarse) flags = 0;
    return fine;
}

template <int D>
bool divide_domain(Water<D>& w, bool as_before)
{
    std::vector<TileMap<D>> least = w.octree_least;
    if (w.solids.any && w.solids.moving) mark_solids(least[0], w);
    if (as_before)
        mark_as_before(w, least);
    else
        mark_detail(w, least);
    std::vector<TileMap<D>> before;
    for (const OctreeLevel<D>& level : w.octree.levels) before.push_back(level.map);
    const bool first = before[0].flags.empty();
    const Tiles<D> rim_before = w.octree.levels[0].rim;

    // Small cells wherever the surface is near, in what was small and lies beside that, and where they are asked for.
    TileMap<D> kept(w.grid);
    for (size_t i = 0; i < kept.flags.size(); ++i) kept.flags[i] = (w.map.flags[i] & tile_band) != 0;
    if (!as_before) {
        dilate(kept, 1);
        for (size_t i = 0; i < kept.flags.size(); ++i)
            kept.flags[i] = (w.map.flags[i] & tile_band) || (kept.flags[i] && !first && before[0].flags[i]);
    }
    std::vector<uint8_t> states(kept.flags.size());
    for (size_t i = 0; i < states.size(); ++i) {
        const bool wet = w.map.flags[i] & tile_active;
        states[i] = static_cast<uint8_t>(!wet ? TileState::none : kept.flags[i] ? TileState::fine : TileState::coarse);
    }
    divide(w.octree, states, least, w.octree_reach);
    w.octree_tiles.clear();
    size_t first_of_level = 0;
    for (const OctreeLevel<D>& level : w.octree.levels) {
        for (size_t i = 0; i < level.map.flags.size(); ++i)
            if (level.map.flags[i]) w.octree_tiles.push_back(static_cast<int>(first_of_level + i));
        first_of_level += level.map.flags.size();
    }
    for (size_t i = 0; i < states.size(); ++i) {
        uint8_t& flags = w.map.flags[i];
        const bool was_coarse = flags & tile_coarse;
        flags = static_cast<uint8_t>(flags & ~tile_coarse);
        if (states[i] == static_cast<uint8_t>(TileState::fine) && was_coarse) flags |= tile_wet;
        if (states[i] != static_cast<uint8_t>(TileState::coarse)) continue;
        flags = static_cast<uint8_t>((flags & ~(tile_shallow | tile_wet)) | tile_deep | tile_coarse);
    }
    bool same = !first && states == w.octree_states;
    for (size_t l = 1; same && l < before.size(); ++l) same = before[l].flags == w.octree.levels[l].map.flags;
    if (!first && !same && !as_before) carry_over(w, before, w.octree_states);
    if (!first && !same) clear_left(w, before[0], rim_before, as_before);
    w.octree_states = states;
    // Larger cells carry velocities in leaves, along paths from the middles of all cells near them.
    for (int l = 1; l < w.octree.count() && !same; ++l) {
        const OctreeLevel<D>& level = w.octree.levels[static_cast<size_t>(l)];
        const auto wet = w.coarse[static_cast<size_t>(l) - 1].wet.view();
        const float beside_leaves = 0.5f * static_cast<float>(level.grid.h);
        parallel_for<true>("larger cells", level.near, [=](Cell<D> c) { wet(c) = beside_leaves; });
        parallel_for<true>("larger cells", level.leaves, [=](Cell<D> c) { wet(c) = -1; });
    }
    if (!same && !as_before) join_levels(w);
    return !same;
}

template <int D>
void advect_larger_cells(Water<D>& w, Advection scheme, double dt)
{
    for (int l = 1; l < w.octree.count(); ++l) {
        const OctreeLevel<D>& level = w.octree.levels[static_cast<size_t>(l)];
        if (!level.any_leaf) continue;
        CoarseLevel<D>& c = w.coarse[static_cast<size_t>(l) - 1];
        Field<D>* const scratch[] = {&c.scratch[0], &c.scratch[1], &c.scratch[2]};
        self_advect(c.velocity, c.next, c.wet, level.near, dt, scheme, scratch);
        // What lies further from leaves stays.
        c.velocity.swap(c.next);
        for (int a = 0; a < D; ++a) {
            const auto u = c.velocity[a].view();
            const auto moved = std::as_const(c.next)[a].view();
            parallel_for_faces<true>("advect velocity copy", level.near, a, [=](Cell<D> f) { u(f) = moved(f); });
        }
    }
}

template <int D>
void push_larger_cells(Water<D>& w, const Scene& scene, double start, double dt, Vec3 gravity)
{
    for (int l = 1; l < w.octree.count(); ++l) {
        const OctreeLevel<D>& level = w.octree.levels[static_cast<size_t>(l)];
        if (!level.any_leaf) continue;
        CoarseLevel<D>& c = w.coarse[static_cast<size_t>(l) - 1];
        push(c.velocity, c.wet, false, scene, level.near, start, dt);
        for (int a = 0; a < D; ++a) {
            const float add = static_cast<float>(gravity[a] * dt);
            const auto u = c.velocity[a].view();
            if (add != 0) parallel_for_faces<true>("gravity", level.near, a, [=](Cell<D> f) { u(f) += add; });
        }
    }
}

template <int D>
void join_levels(Water<D>& w)
{
    const LevelVelocities<D> velocity = velocities_of(w.velocity, w.coarse);
    copy_to_small_faces(velocity, w.octree);
    restrict_to_parents(velocity, w.octree);
    fill_rims(velocity, w.octree);
    copy_to_small_faces(velocity, w.octree);
}

template <int D>
void start_larger_cells(Water<D>& w, const Scene& scene)
{
    for (int l = 1; l < w.octree.count(); ++l)
        set_initial_velocity(w.coarse[static_cast<size_t>(l) - 1].velocity, w.octree.levels[static_cast<size_t>(l)].near, scene);
    join_levels(w);
}

template <int D>
void start_larger_cells_hydrostatic(Water<D>& w, Vec<D> gravity, double density, double level)
{
    const double strength = length(gravity);
    for (int l = 1; l < w.octree.count(); ++l) {
        const Grid<D> grid = w.octree.levels[static_cast<size_t>(l)].grid;
        const auto pressure = w.coarse[static_cast<size_t>(l) - 1].pressure.view();
        parallel_for("initial pressure", w.octree.levels[static_cast<size_t>(l)].leaves, [=](Cell<D> c) {
            const double depth = level + dot(gravity, grid.centre(c)) / strength;
            pressure(c) = static_cast<float>(depth > 0 ? density * strength * depth : 0);
        });
    }
}

template <int D>
LargerMeasures measure_larger_cells(Water<D>& w, Vec<D> gravity, double ahead)
{
    LargerMeasures m;
    const Vec<D, float> fallen = (2 * ahead * gravity).template as<float>();
    for (int l = 1; l < w.octree.count(); ++l) {
        const OctreeLevel<D>& level = w.octree.levels[static_cast<size_t>(l)];
        const Grid<D> grid = level.grid;
        const double cell = cell_volume(grid), leaves = static_cast<double>(level.leaves.cells());
        const auto u = std::as_const(w.coarse[static_cast<size_t>(l) - 1].velocity).view();
        m.cells += level.leaves.cells();
        m.volume += cell * leaves;
        m.kinetic += 0.5 * cell * parallel_sum("measure", level.leaves, [=](Cell<D> c) {
                         const Vec<D, float> v = velocity_at_cell(u, c);
                         return static_cast<double>(dot(v, v - fallen));
                     });
        m.potential += cell * parallel_sum("measure", level.leaves, [=](Cell<D> c) { return dot(gravity, grid.centre(c)); });
        const float per_h = static_cast<float>(1 / grid.h);
        const auto largest = [&](double& most, const auto& f) {
            const double here = parallel_max("measure", level.leaves, f);
            most = here < most ? most : here;  // a NaN comes through
        };
        largest(m.fastest, [=](Cell<D> c) { return length(velocity_at_cell(u, c)); });
        largest(m.divergence, [=](Cell<D> c) {
            float out = 0;
            for (int a = 0; a < D; ++a) out += u[a](moved<D>(c, a, 1)) - u[a](c);
            return std::fabs(per_h * out);
        });
    }
    return m;
}

template <int D>
double fastest_in_leaves(const FaceField<D>& velocity, const OctreeLevel<D>& level)
{
    const auto u = velocity.view();
    return parallel_max("fastest", level.leaves, [=](Cell<D> c) {
        float most = 0;
        for (int a = 0; a < D; ++a)
            for (const float v : {u[a](c), u[a](moved<D>(c, a, 1))}) most = std::fabs(v) <= most ? most : std::fabs(v);
        return most;
    });
}

template <int D>
std::vector<long> cells_of_levels(const Water<D>& w)
{
    std::vector<long> cells;
    for (int l = 0; l < w.octree.count(); ++l) cells.push_back(w.octree.levels[static_cast<size_t>(l)].leaves.cells());
    return cells;
}

#define TARN_INSTANTIATE(D)                                                                     \
    template Tiles<D> near_surface(const Field<D>&, double);                                    \
    template void make_levels(Water<D>&, const Scene&);                                         \
    template TileMap<D> fine_map(const TileMap<D>&);                                            \
    template Tiles<D> tiles_to_advect(const Water<D>&, const Params&);                          \
    template bool divide_domain(Water<D>&, bool);                                               \
    template void advect_larger_cells(Water<D>&, Advection, double);                            \
    template void push_larger_cells(Water<D>&, const Scene&, double, double, Vec3);             \
    template void join_levels(Water<D>&);                                                       \
    template void start_larger_cells(Water<D>&, const Scene&);                                  \
    template void start_larger_cells_hydrostatic(Water<D>&, Vec<D>, double, double);            \
    template double fastest_in_leaves(const FaceField<D>&, const OctreeLevel<D>&);              \
    template LargerMeasures measure_larger_cells(Water<D>&, Vec<D>, double);                    \
    template std::vector<long> cells_of_levels(const Water<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
