#include "tarn/pressure/multigrid.h"

#include <utility>

#include "tarn/pressure/octree.h"
#include "tarn/pressure/smooth.h"

namespace tarn {

namespace {

constexpr long coarsest_cells = 64;
constexpr int coarsest_sweeps = 6;
// Levels of up to so many cells are done together.
constexpr long small_cells = 4096;

// One of the fine cells of a coarse one. Those beyond an odd grid's end lie in its padding and are no unknowns.
template <int D>
TARN_HD inline Cell<D> child_of(Cell<D> c, int child)
{
    TARN_UNROLL
    for (int a = 0; a < D; ++a) c[a] = 2 * c[a] + (child >> a & 1);
    return c;
}

// Sum of values over the fine unknowns of a coarse cell.
template <int D>
TARN_HD inline float sum_children(const View<D, const float>& inverse_diagonal, Cell<D> c,
                                  const View<D, const float>& values)
{
    float s = 0;
    TARN_UNROLL
    for (int child = 0; child < (1 << D); ++child) {
        const int i = inverse_diagonal.index(child_of(c, child));
        const float v = values[i];
        s += inverse_diagonal[i] > 0 ? v : 0.0f;
    }
    return s;
}

// The sum of the residuals of a coarse cell's fine ones.
template <bool uniform, int D>
TARN_HD inline float restricted(const View<D, const float>& x, const View<D, const float>& b,
                                const PoissonView<D>& a, Cell<D> c)
{
    float sum = 0;
    TARN_UNROLL
    for (int child = 0; child < (1 << D); ++child) {
        const int i = x.index(child_of(c, child));
        if (a.inverse_diagonal[i] > 0) sum += b[i] - apply<uniform>(x, a, i);
    }
    return sum;
}

// The tuned version of restrict_residual for processors: first the fine rows of a coarse row, then pairs along x, so
// that memory is read in order.
template <bool uniform, int D>
void restrict_by_rows(Field<D>& coarse, const Tiles<D>& coarse_tiles, const Field<D>& x, const Field<D>& b,
                      const PoissonView<D>& a)
{
    const auto cv = coarse.view();
    const auto xv = x.view(), bv = b.view();
    const Cell<D> cells = x.grid().cells;
    backend::blocks("restrict", static_cast<int>(coarse_tiles.boxes.size()), coarse_tiles.cells(), [&](int n) {
        const Box<D>& box = coarse_tiles.boxes[static_cast<size_t>(n)];
        const int begin = 2 * box.lo[0], length = std::min(2 * box.hi[0], cells[0]) - begin;
        Box<D> rows = box;
        rows.hi[0] = rows.lo[0] + 1;
        backend::each(rows, [&](Cell<D> c) {
            float sum[2 * tile_size * longest_run] = {};
            for (int child = 0; child < (1 << (D - 1)); ++child) {
                Cell<D> f = c;
                f[0] = begin;
                bool inside = true;
                for (int a = 1; a < D; ++a) {
                    f[a] = 2 * c[a] + (child >> (a - 1) & 1);
                    inside = inside && f[a] < cells[a];
                }
                if (!inside) continue;
                const int first = xv.index(f);
                const auto xr = xv, br = bv;
                const PoissonView<D> ar = a;
                TARN_INDEPENDENT
                for (int i = 0; i < length; ++i) {
                    const float residual = br[first + i] - apply<uniform>(xr, ar, first + i);
                    sum[i] += ar.inverse_diagonal[first + i] > 0 ? residual : 0.0f;
                }
            }
            const int to = cv.index(c);
            for (int i = 0; i < box.hi[0] - box.lo[0]; ++i) cv[to + i] = sum[2 * i] + sum[2 * i + 1];
        });
    });
}

// The residual of the fine cells, summed over each coarse one.
template <bool uniform = false, int D>
void restrict_residual(Field<D>& coarse, const Tiles<D>& coarse_tiles, const Field<D>& x, const Field<D>& b,
                       const PoissonView<D>& a)
{
    if (!on_device()) return restrict_by_rows<uniform>(coarse, coarse_tiles, x, b, a);
    const auto cv = coarse.view();
    const auto xv = x.view(), bv = b.view();
    parallel_for("restrict", coarse_tiles, [=] TARN_KERNEL(Cell<D> c) { cv(c) = restricted<uniform>(xv, bv, a, c); });
}

template <int D>
void prolong(Field<D>& x, const Tiles<D>& tiles, const Field<D>& coarse, const Field<D>& inverse)
{
    const auto xv = x.view();
    const auto cv = coarse.view(), iv = inverse.view();
    parallel_for<true>("prolong", tiles, [=] TARN_KERNEL(Cell<D> c) {
        Cell<D> parent;
        for (int a = 0; a < D; ++a) parent[a] = c[a] >> 1;
        const int i = iv.index(c);
        const float add = cv(parent);
        xv[i] += iv[i] > 0 ? add : 0.0f;
    });
}

// The cycle on the smallest levels, all their sweeps as one kernel.
template <int D>
struct SmallCycle {
    enum Kind : unsigned char { first, relax, restrict_from_finer, prolong_from_coarser };
    struct Phase {
        Kind kind;
        unsigned char level, which;
    };
    struct Level {
        Cell<D> cells;
        Vec<D, unsigned> reciprocal;  // of cells, times 2^30: a division of these small numbers by one multiplication
        int count;
        View<D> x, b;
        PoissonView<D> a;
    };
    static constexpr int most_levels = 12, most_phases = 320;
    Level levels[most_levels];
    Phase phases[most_phases];
    int level_count = 0, phase_count = 0, coarse_sweeps = 0;

    TARN_HD int count(int phase) const { return levels[phases[phase].level].count; }
    TARN_HD void operator()(int phase, int n) const
    {
        const Phase p = phases[phase];
        const Level& l = levels[p.level];
        Cell<D> c;
        for (int a = 0; a < D; ++a) {
            const int quotient = static_cast<int>(static_cast<unsigned long long>(n) * l.reciprocal[a] >> 30);
            c[a] = n - quotient * l.cells[a];
            n = quotient;
        }
        const int i = l.x.index(c);
        switch (p.kind) {
            case first:
                l.x[i] = swept_from_zero<false, D>(l.b, l.a.w, l.a.inverse_diagonal, c);
                break;
            case relax:
                if (colour(c) == p.which) l.x[i] = relaxed<false, D>(l.x, l.b, l.a.w, l.a.inverse_diagonal, i);
                break;
            case restrict_from_finer: {
                const Level& finer = levels[p.level - 1];
                l.b[i] = restricted<false, D>(finer.x, finer.b, finer.a, c);
                break;
            }
            case prolong_from_coarser: {
                Cell<D> parent;
                for (int a = 0; a < D; ++a) parent[a] = c[a] >> 1;
                if (l.a.inverse_diagonal[i] > 0) l.x[i] += levels[p.level + 1].x(parent);
                break;
            }
        }
    }

    void add(Kind kind, int level, int which = 0)
    {
        TARN_CHECK_LT(phase_count, most_phases);
        phases[phase_count++] = {kind, static_cast<unsigned char>(level), static_cast<unsigned char>(which)};
    }
    void add_sweeps(int level, int sweeps, int colour_first)
    {
        for (int s = 0; s < sweeps; ++s) {
            add(relax, level, colour_first);
            add(relax, level, 1 - colour_first);
        }
    }
    // As Multigrid::cycle does.
    void add_cycle(int level)
    {
        add(first, level);
        add_sweeps(level, coarse_sweeps - 1, 0);
        if (level + 1 < level_count) {
            add(restrict_from_finer, level + 1);
            add_cycle(level + 1);
            add(prolong_from_coarser, level);
        } else {
            add_sweeps(level, coarsest_sweeps - 1, 0);
            add_sweeps(level, coarsest_sweeps - 1, 1);
        }
        add_sweeps(level, coarse_sweeps, 1);
    }
};

// Grows tiles by the layer that a stencil or a face on their upper side touches.
template <int D>
Tiles<D> with_rim(const TileMap<D>& map)
{
    TileMap<D> grown = map;
    dilate(grown, 1);
    return select(grown, 1);
}

// The conductances of faces that unite fine ones, and the Dirichlet terms of cells that unite fine cells.
template <int D>
void unite_cells(FaceField<D>& w, Field<D>& dirichlet, const FaceField<D>& fine_w, const Field<D>& fine_dirichlet,
                 const Field<D>& fine_inverse, const Tiles<D>& faces, const Tiles<D>& cells)
{
    for (int a = 0; a < D; ++a) {
        const auto fine = fine_w[a].view();
        const auto coarse = w[a].view();
        const int last = fine_w.grid().cells[a];  // an odd number of cells ends within a coarse one
        parallel_for_faces("multigrid build", faces, a, [=] TARN_KERNEL(Cell<D> c) {
            float s = 0;
            TARN_UNROLL
            for (int child = 0; child < (1 << D); ++child) {
                if (child >> a & 1) continue;
                Cell<D> f = child_of(c, child);
                f[a] = f[a] < last ? f[a] : last;
                s += fine(f);
            }
            coarse(c) = 0.5f * s;
        });
    }
    const auto fine = fine_dirichlet.view(), inverse = fine_inverse.view();
    const auto coarse = dirichlet.view();
    parallel_for("multigrid build", cells,
                 [=] TARN_KERNEL(Cell<D> c) { coarse(c) = 0.5f * sum_children<D>(inverse, c, fine); });
}

}  // namespace

template <int D>
Multigrid<D>::Multigrid(const Grid<D>& fine, bool together, Sweeps sweeps) : sweeps_(sweeps), together_(together)
{
    Grid<D> g = fine;
    while (g.count() > coarsest_cells) {
        Cell<D> n;
        for (int a = 0; a < D; ++a) n[a] = (g.cells[a] + 1) / 2;
        g = Grid<D>(n, 2 * g.h);
        Level level;
        level.grid = g;
        level.x = Field<D>(g);
        level.b = Field<D>(g);
        level.inverse_diagonal = Field<D>(g);
        level.dirichlet = Field<D>(g);
        level.w = FaceField<D>(g);
        coarse_.push_back(std::move(level));
    }
}

template <int D>
void Multigrid<D>::build(const Poisson<D>& system, const Field<D>& dirichlet)
{
    clear_left(*system.inverse_diagonal, fine_.map, system.map);
    fine_ = system;
    if (leaves_above(0)) conduct_across(*fine_.w, *fine_.octree, 1);
    invert_diagonal(*fine_.inverse_diagonal, dirichlet, *fine_.w, fine_.tiles);
    if (sweeps_.bodies) bodies_.find(system, dirichlet);

    const FaceField<D>* fine_w = fine_.w;
    const Field<D>* fine_dirichlet = &dirichlet;
    const Field<D>* fine_inverse = fine_.inverse_diagonal;
    const TileMap<D>* fine_map = &fine_.map;
    const Regions<D>* fine_regions = fine_.regions;
    for (Level& level : coarse_) {
        const size_t number = static_cast<size_t>(&level - coarse_.data()) + 1;
        const bool has_leaves = fine_.octree && static_cast<int>(number) < fine_.octree->count();
        const TileMap<D> before = std::exchange(level.map, TileMap<D>(level.grid));
        if (has_leaves) level.map = fine_.octree->level(static_cast<int>(number)).map;
        fine_map->for_each([&](size_t i, Cell<D> t) {
            if (!(fine_map->flags[i] & 1)) return;
            for (int a = 0; a < D; ++a) t[a] /= 2;
            level.map.flags[level.map.index(t)] |= 1;
        });
        level.tiles = select(level.map, 1);
        clear_left(level.inverse_diagonal, before, level.map);
        // Faces on the tiles' upper rim belong to the next tile, so conductances are written one tile further.
        const OctreeLevel<D>* const octree = has_leaves ? &fine_.octree->level(static_cast<int>(number)) : nullptr;
        if (octree) clear_level(level.w, level.dirichlet, level.x, *fine_.octree, static_cast<int>(number));
        unite_cells(level.w, level.dirichlet, *fine_w, *fine_dirichlet, *fine_inverse, octree ? octree->parents_rim : with_rim(level.map),
                    octree ? octree->parents : level.tiles);
        if (octree) add_leaves(level.w, level.dirichlet, *fine_.octree, static_cast<int>(number));
        if (leaves_above(number)) conduct_across(level.w, *fine_.octree, static_cast<int>(number) + 1);
        invert_diagonal(level.inverse_diagonal, level.dirichlet, level.w, level.tiles);

        if (fine_.regions) fine_regions->coarsen(level.regions, level.grid);

        fine_w = &level.w;
        fine_regions = &level.regions;
        fine_dirichlet = &level.dirichlet;
        fine_inverse = &level.inverse_diagonal;
        fine_map = &level.map;
    }
}

template <int D>
bool Multigrid<D>::leaves_above(size_t n) const
{
    return fine_.octree && static_cast<int>(n) + 1 < fine_.octree->count();
}

// What f does with b while this has what T-faces add, for x of the level above or zero.
template <int D>
void Multigrid<D>::with_leaves_above(size_t n, const Field<D>& x, Field<D>& b, bool still_zero, const std::function<void()>& f) const
{
    const bool any = leaves_above(n);
    const int above = static_cast<int>(n) + 1;
    if (any) add_across(b, x, still_zero ? nullptr : &coarse_[n].x, *fine_.octree, above);
    f();
    if (any) restore_across(b, *fine_.octree, above);
}

// The residual of level n becomes b of the next.
template <int D>
template <bool uniform>
void Multigrid<D>::restrict(size_t n, const Field<D>& x, Field<D>& b, const PoissonView<D>& a) const
{
    const Level& next = coarse_[n];
    if (!leaves_above(n)) return restrict_residual<uniform>(next.b, next.tiles, x, b, a);
    const int above = static_cast<int>(n) + 1;
    with_leaves_above(n, x, b, true,
                      [&] { restrict_residual<uniform>(next.b, fine_.octree->level(above).parents, x, b, a); });
    restrict_to_leaves(next.b, fine_.octree->unknowns(above).r, x, *fine_.octree, above);
}

template <int D>
void Multigrid<D>::cycle(size_t n) const
{
    const Level& l = coarse_[n];
    const bool shared = fine_.regions;
    if (together_ && !shared && l.grid.count() <= small_cells) return cycle_small(n);
    const auto relax_regions = [&] {
        if (shared) l.regions.relax(l.x, l.b);
    };
    const auto sweep_down = [&] {
        with_leaves_above(n + 1, l.x, l.b, true, [&] {
            for (const int which : {0, 1}) relax(l.x, l.b, l.w, l.inverse_diagonal, l.tiles, which);
        });
        relax_regions();
    };
    const auto sweep_up = [&] {
        relax_regions();
        with_leaves_above(n + 1, l.x, l.b, false, [&] {
            for (const int which : {1, 0}) relax(l.x, l.b, l.w, l.inverse_diagonal, l.tiles, which);
        });
    };
    if (shared) l.regions.start(l.b);
    sweep_from_zero(l.x, l.b, l.w, l.inverse_diagonal, l.tiles);
    relax_regions();
    for (int s = 1; s < sweeps_.coarse; ++s) sweep_down();
    if (n + 1 < coarse_.size()) {
        restrict<false>(n + 1, l.x, l.b, l.view());
        cycle(n + 1);
        prolong(l.x, l.tiles, coarse_[n + 1].x, l.inverse_diagonal);
    } else {
        for (int s = 1; s < coarsest_sweeps; ++s) sweep_down();
        for (int s = 1; s < coarsest_sweeps; ++s) sweep_up();
    }
    for (int s = 0; s < sweeps_.coarse; ++s) sweep_up();
}

template <int D>
void Multigrid<D>::cycle_small(size_t n) const
{
    SmallCycle<D> small;
    small.coarse_sweeps = sweeps_.coarse;
    for (; n < coarse_.size(); ++n) {
        const Level& l = coarse_[n];
        TARN_CHECK_LT(small.level_count, SmallCycle<D>::most_levels);
        auto& to = small.levels[small.level_count++];
        to = {l.grid.cells,
              {},
              static_cast<int>(l.grid.count()),
              l.x.view(),
              l.b.view(),
              l.view()};
        for (int a = 0; a < D; ++a)
            to.reciprocal[a] =
                ((1u << 30) + static_cast<unsigned>(to.cells[a]) - 1) / static_cast<unsigned>(to.cells[a]);
    }
    small.add_cycle(0);
    parallel_phases("small levels", small.phase_count, small);
}

template <int D>
void Multigrid<D>::precondition(Field<D>& z, Field<D>& r, double* dot) const
{
    const auto relax_regions = [&] {
        if (fine_.regions) fine_.regions->relax(z, r);
    };
    if (fine_.regions) fine_.regions->start(r);
    const FaceField<D>& w = *fine_.w;
    const Field<D>& inverse = *fine_.inverse_diagonal;
    with_uniform(fine_.uniform, [&](auto flag) {
        constexpr bool uniform = decltype(flag)::value;
        sweep_from_zero<uniform>(z, r, w, inverse, fine_.tiles);
        relax_regions();
        for (int s = 1; s < sweeps_.fine; ++s) {
            with_leaves_above(0, z, r, true, [&] {
                for (const int which : {0, 1}) relax<uniform>(z, r, w, inverse, fine_.tiles, which);
            });
            relax_regions();
        }
        if (sweeps_.bodies) bodies_.relax(z, r);
        if (!coarse_.empty()) {
            restrict<uniform>(0, z, r, view_of(fine_));
            cycle(0);
            prolong(z, fine_.tiles, coarse_[0].x, inverse);
        }
        if (sweeps_.bodies) bodies_.relax(z, r);
        for (int s = 1; s < sweeps_.fine; ++s) {
            relax_regions();
            with_leaves_above(0, z, r, false, [&] {
                for (const int which : {1, 0}) relax<uniform>(z, r, w, inverse, fine_.tiles, which);
            });
        }
        relax_regions();
        with_leaves_above(0, z, r, false, [&] {
            relax<uniform>(z, r, w, inverse, fine_.tiles, 1);
            relax_last<uniform>(z, r, w, inverse, fine_.tiles, dot);
        });
    });
    // In larger cells z is what the cycle found there.
    for (int l = 1; fine_.octree && l < fine_.octree->count(); ++l)
        copy_leaves(fine_.octree->unknowns(l).z, coarse_[static_cast<size_t>(l) - 1].x, *fine_.octree, l);
    if (fine_.regions) fine_.regions->finish(z, r, dot);
}

template class Multigrid<2>;
template class Multigrid<3>;

}  // namespace tarn
