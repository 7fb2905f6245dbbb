#include <algorithm>
#include <utility>

#include "tarn/advect/trace.h"
#include "tarn/backend/atomic.h"
#include "tarn/field/sample.h"
#include "tarn/phases/droplets.h"
#include "tarn/phases/droplets_read.h"
#include "tarn/phases/two_fluids.h"

namespace tarn {

namespace {

constexpr int small_enough = 2;  // as many cells with their centre inside: the grid may lose what has no more

// What is found by kernels in any order: a cell's index, and what belongs to it. Sorted, it is always the same.
template <int D>
struct Finder {
    static constexpr int numbers = 2 * D + 2;  // place, velocity, volume, kind
    int workspace;
    int* count;
    int* cell;
    float* found;

    TARN_KERNEL void operator()(int index, Vec<D, float> x, Vec<D, float> u, float volume, DropletKind kind,
                                bool guessed) const
    {
        const int n = atomic_add(count, 1);
        if (n >= workspace) return;
        cell[n] = index;
        for (int a = 0; a < D; ++a) {
            found[numbers * n + a] = x[a];
            found[numbers * n + D + a] = u[a];
        }
        found[numbers * n + 2 * D] = volume;
        found[numbers * n + 2 * D + 1] = static_cast<float>(static_cast<int>(kind) + (guessed ? 2 : 0));
    }
};
template <int D>
void grow(DropletWorkspace<D>& workspace, int n)
{
    workspace.count = Memory<int>(1 + static_cast<size_t>(n));
    workspace.found = Memory<float>(static_cast<size_t>(n) * Finder<D>::numbers);
}
template <int D>
Finder<D> finder(DropletWorkspace<D>& workspace)
{
    if (workspace.count.size() == 0) grow(workspace, 1 << 12);
    int* const count = workspace.count.data();
    parallel_range("fragments", 1, [=] TARN_KERNEL(int) { *count = 0; });
    return {static_cast<int>(workspace.count.size()) - 1, count, count + 1, workspace.found.data()};
}
// Whether all that was found had room. Where not, there is room for it now, and it is to be looked for again.
template <int D>
bool found_all(const Finder<D>& finder, DropletWorkspace<D>& workspace)
{
    const int n = read(finder.count, 1)[0];
    if (n <= finder.workspace) return true;
    grow(workspace, n);
    return false;
}
template <int D>
std::vector<Lost<D>> found_by(const Finder<D>& finder)
{
    const int n = read(finder.count, 1)[0];
    const std::vector<int> cells = read(finder.cell, n);
    const std::vector<float> numbers = read(finder.found, n * Finder<D>::numbers);
    std::vector<size_t> order(cells.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        const size_t kind = 2 * D + 1, w = Finder<D>::numbers;
        return cells[a] != cells[b] ? cells[a] < cells[b] : numbers[w * a + kind] < numbers[w * b + kind];
    });
    std::vector<Lost<D>> lost;
    for (const size_t i : order) {
        const float* const v = numbers.data() + i * Finder<D>::numbers;
        Lost<D> l;
        for (int a = 0; a < D; ++a) {
            l.x[a] = v[a];
            l.u[a] = v[D + a];
        }
        l.volume = v[2 * D];
        const int kind = static_cast<int>(v[2 * D + 1]);
        l.kind = static_cast<DropletKind>(kind & 1);
        l.guessed = kind & 2;
        lost.push_back(l);
    }
    return lost;
}

// A region of one phase that fits into two cells a side, seen from the lowest corner of such a block. `side` is 1 for
// water, -1 for air: side * phi is negative inside.
enum class Isolated { no, apparent, unapparent };
template <int D>
TARN_HD inline Isolated isolated(const View<D, const float>& phi, Cell<D> cells, Cell<D> c, float side, float h,
                                 float& mean)
{
    for (int a = 0; a < D; ++a)
        if (c[a] < 1 || c[a] + 2 >= cells[a]) return Isolated::no;
    int inside = 0, lowest = 0;  // axes along which a cell of the lower half is inside
    float most = -1e30f, sum = 0;
    for (int corner = 0; corner < (1 << D); ++corner) {
        Cell<D> b = c;
        for (int a = 0; a < D; ++a) b[a] += corner >> a & 1;
        const float q = side * phi(b);
        sum += q;
        most = q > most ? q : most;
        if (!(q < 0)) continue;
        ++inside;
        for (int a = 0; a < D; ++a)
            if (!(corner >> a & 1)) lowest |= 1 << a;
    }
    mean = sum / (1 << D);
    // Cells a quarter beyond the middle of the block still speak of something there.
    constexpr float speaks = 0.6f, apart = 0.4f;
    const bool hidden = inside == 0 && most < speaks * h;
    if (!hidden && (inside == 0 || inside > small_enough || lowest != (1 << D) - 1)) return Isolated::no;
    // Around it all is of the other phase, and for a hidden one farther from it.
    const float least = hidden ? most + apart * h : 0.0f;
    for (int corner = 0; corner < (1 << D); ++corner)
        for (int a = 0; a < D; ++a) {
            Cell<D> b = c;
            for (int d = 0; d < D; ++d) b[d] += corner >> d & 1;
            b[a] += corner >> a & 1 ? 1 : -1;
            if (!(side * phi(b) >= least)) return Isolated::no;
        }
    return hidden ? Isolated::unapparent : Isolated::apparent;
}

// What of one phase is in the cells of a block and around it; and whether a solid is.
template <int D>
struct BlockPart {
    float volume = 0;
    bool solid = false;
    Vec<D, float> x, u;  // sums of place and velocity, by volume
};
// Calls f with the cells of a block and around it. Where phi changes in the block, only those hold another volume.
template <int D, class F>
TARN_HD inline void each_around(Cell<D> block, const F& f)
{
    Cell<D> lo = block, hi = block;
    for (int a = 0; a < D; ++a) {
        lo[a] -= 1;
        hi[a] += 3;
    }
    for (Cell<D> c = lo;;) {
        f(c);
        int a = 0;
        while (a < D && ++c[a] == hi[a]) {
            c[a] = lo[a];
            ++a;
        }
        if (a == D) return;
    }
}
template <int D>
TARN_HD inline BlockPart<D> part_around(const WetPart<D>& wet, const FaceView<D, const float>& u, Cell<D> block,
                                        bool water)
{
    BlockPart<D> part;
    each_around<D>(block, [&](Cell<D> c) {
        const float outside = wet.outside(c), share = wet(c), here = water ? share : outside - share;
        part.solid = part.solid || outside < 1;
        part.volume += here;
        bool inner = true;
        for (int a = 0; a < D; ++a) inner = inner && c[a] >= block[a] && c[a] <= block[a] + 1;
        if (!inner) return;
        part.x += here * c.template as<float>();
        part.u += here * velocity_at_cell(u, c);
    });
    return part;
}

// Phi forgets them: no cell of a block is nearer than a cell to anything. What the grid then holds less, they hold. Of a
// cell around several of them each holds the same part, so that together they hold what the grid lost. `workspace.referred` tells
// afterwards which cells are around any.
template <int D>
void forget(const Finder<D>& find, int n, Field<D>& phi, const WetPart<D>& wet, const Tiles<D>& tiles,
            DropletWorkspace<D>& workspace)
{
    const float h = static_cast<float>(phi.grid().h);
    const auto p = phi.view();
    const View<D, const float> pc = p;
    const int* const where = find.cell;
    float* const numbers = find.found;
    const Cell<D> stride = phi.grid().stride;
    const auto block = [=] TARN_HD(int i) {
        Cell<D> c;
        int left = where[i];
        for (int a = D - 1; a > 0; --a) {
            c[a] = left / stride[a];
            left -= c[a] * stride[a];
        }
        c[0] = left;
        return c;
    };
    const size_t storage = static_cast<size_t>(phi.grid().storage());
    if (workspace.referred.size() < storage) workspace.referred = Memory<int>(storage);
    int* const around = workspace.referred.data() + phi.grid().origin;
    parallel_for("isolated", tiles, [=] TARN_KERNEL(Cell<D> c) { around[pc.index(c)] = 0; });
    parallel_range("isolated", n, [=] TARN_KERNEL(int i) {
        each_around<D>(block(i), [&](Cell<D> c) { atomic_add(around + pc.index(c), 1); });
    });
    // Adds what is there now, or takes it off.
    const auto count = [=] TARN_HD(int i, float sign) {
        float* const mine = numbers + Finder<D>::numbers * i;
        const int kind = static_cast<int>(mine[2 * D + 1]);
        if (kind & 2) return;
        float volume = 0;
        each_around<D>(block(i), [&](Cell<D> c) {
            const float share = wet(c), here = kind & 1 ? wet.outside(c) - share : share;
            volume += here / static_cast<float>(around[pc.index(c)]);
        });
        mine[2 * D] = (sign > 0 ? 0.0f : mine[2 * D]) + sign * volume;
    };
    parallel_range("isolated", n, [=] TARN_KERNEL(int i) { count(i, 1); });
    parallel_range("isolated", n, [=] TARN_KERNEL(int i) {
        const bool water = !(static_cast<int>(numbers[Finder<D>::numbers * i + 2 * D + 1]) & 1);
        for (int corner = 0; corner < (1 << D); ++corner) {
            int j = where[i];
            for (int a = 0; a < D; ++a)
                if (corner >> a & 1) j += p.next(a);
            const float old = p[j];
            p[j] = water ? (old > h ? old : h) : (old < -h ? old : -h);
        }
    });
    parallel_range("isolated", n, [=] TARN_KERNEL(int i) { count(i, -1); });
}

}  // namespace

template <int D>
std::vector<Lost<D>> find_never_referred(const Field<D>& phi, const FaceField<D>& velocity, const FaceField<D>& path,
                                         const WetPart<D>& wet, const Tiles<D>& tiles, double dt, DropletWorkspace<D>& workspace,
                                         bool everywhere)
{
    const Grid<D>& grid = phi.grid();
    const Cell<D> cells = grid.cells;
    Cell<D> last = cells;
    for (int a = 0; a < D; ++a) --last[a];
    const float h = static_cast<float>(grid.h), s = static_cast<float>(dt / grid.h);
    const auto p = phi.view();
    const auto u = velocity.view();
    const size_t storage = static_cast<size_t>(grid.storage());
    if (workspace.referred.size() < storage) workspace.referred = Memory<int>(storage);
    const int origin = grid.origin;
    int* const referred = workspace.referred.data();
    parallel_for("referred", tiles, [=] TARN_KERNEL(Cell<D> c) { referred[origin + p.index(c)] = 0; });
    const auto back = path.view();
    parallel_for("referred", tiles, [=] TARN_KERNEL(Cell<D> c) {
        Vec<D, float> from = c.template as<float>();
        for (int a = 0; a < D; ++a) from[a] += back[a](c);
        const int low = origin + locate(p, from, last).index;
        for (int corner = 0; corner < (1 << D); ++corner) {
            int i = low;
            for (int a = 0; a < D; ++a)
                if (corner >> a & 1) i += p.next(a);
            atomic_store(referred + i, 1);
        }
    });
    Finder<D> find = finder(workspace);
    do {
        find = finder(workspace);
        parallel_for("referred", tiles, [=] TARN_KERNEL(Cell<D> c) {
            const int i = p.index(c);
            // Farther from the surface, what is lost is made up for by others.
            if (referred[origin + i] || (!everywhere && std::fabs(p[i]) > 2 * h)) return;
            const float share = wet(c), outside = wet.outside(c);
            const bool water = p[i] < 0;
            const float smeared = smeared_step(-std::fabs(p[i]), smearing * h), own = water ? share : outside - share;
            const float volume = everywhere ? outside * smeared : own;
            if (!(volume > 0.05f)) return;
            const Vec<D, float> v = velocity_at_cell(u, c);
            const Vec<D, float> to = trace_far(u, cells, c.template as<float>(), v, s);
            find(i, to, v, volume, water ? DropletKind::droplet : DropletKind::bubble, !everywhere);
        });
    } while (!found_all(find, workspace));
    return found_by(find);
}

template <int D>
void keep_out_of_place(std::vector<Lost<D>>& lost, const Field<D>& phi)
{
    if (lost.empty()) return;
    const int n = static_cast<int>(lost.size());
    std::vector<Vec<D, float>> places;
    for (const Lost<D>& l : lost) places.push_back(l.x.template as<float>());
    const DeviceCopy device_copy;
    const Vec<D, float>* const at = device_copy.of(places.data(), places.size());
    Memory<float> values(lost.size());
    float* const out = values.data();
    const auto p = phi.view();
    const Cell<D> cells = phi.grid().cells;
    parallel_range("referred", n, [=] TARN_KERNEL(int i) { out[i] = sample_cells(p, cells, at[i]); });
    const std::vector<float> there = read(out, n);
    const double h = phi.grid().h;
    std::vector<Lost<D>> kept;
    for (size_t i = 0; i < lost.size(); ++i) {
        const double away = lost[i].kind == DropletKind::droplet ? there[i] : -there[i];
        bool inside = true;
        for (int a = 0; a < D; ++a) inside = inside && lost[i].x[a] > -0.5 && lost[i].x[a] < cells[a] - 0.5;
        // Those whose volumes are no guesses may touch the surface: the grid takes them back.
        if (inside && away > (lost[i].guessed ? radius_of<D>(lost[i].volume) * h : 0)) kept.push_back(lost[i]);
    }
    lost = std::move(kept);
}

template <int D>
std::vector<Lost<D>> take_isolated(Field<D>& phi, Particles<D>* particles, const FaceField<D>& velocity,
                                   const WetPart<D>& wet, const Tiles<D>& tiles, DropletWorkspace<D>& workspace)
{
    const Cell<D> cells = phi.grid().cells;
    const float h = static_cast<float>(phi.grid().h);
    const View<D, const float> pc = std::as_const(phi).view();
    const auto u = velocity.view();
    Finder<D> find = finder(workspace);
    do {
        find = finder(workspace);
        parallel_for("isolated", tiles, [=] TARN_KERNEL(Cell<D> c) {
            if (!(std::fabs(pc(c)) < 2 * h)) return;
            for (int phase = 0; phase < 2; ++phase) {
                const float side = phase == 0 ? 1.0f : -1.0f;
                float mean;
                const Isolated found = isolated<D>(pc, cells, c, side, h, mean);
                if (found == Isolated::no) continue;
                const BlockPart<D> part = part_around(wet, u, c, side > 0);
                if (part.solid) continue;
                const DropletKind kind = side > 0 ? DropletKind::droplet : DropletKind::bubble;
                if (found == Isolated::unapparent) {
                    const float r = 0.5f * std::sqrt(static_cast<float>(D)) - mean / h;
                    constexpr float ball = 4.18879f, disc = 3.14159f;
                    const Vec<D, float> middle = c.template as<float>() + Vec<D, float>::all(0.5f);
                    find(pc.index(c), middle, sample_velocity(u, cells, middle),
                         D == 3 ? ball * r * r * r : disc * r * r, kind, true);
                    continue;
                }
                float inner = 0;
                for (int corner = 0; corner < (1 << D); ++corner) {
                    Cell<D> b = c;
                    for (int a = 0; a < D; ++a) b[a] += corner >> a & 1;
                    inner += side > 0 ? wet(b) : wet.outside(b) - wet(b);
                }
                if (inner > 0) find(pc.index(c), (1 / inner) * part.x, (1 / inner) * part.u, part.volume, kind, false);
            }
        });
    } while (!found_all(find, workspace));
    const int n = read(find.count, 1)[0];
    if (n == 0) return {};
    forget(find, n, phi, wet, tiles, workspace);
    // The particles of what is gone go, too, or they would put it back.
    if (particles && particles->count() > 0) {
        const int* const around = workspace.referred.data() + phi.grid().origin;
        const ParticleView<D> marker = particles->view();
        parallel_range("isolated", particles->count(), [=] TARN_KERNEL(int i) {
            const Vec<D, float> x = marker.at(i);
            if (around[pc.index(cell_at(x, cells))] > 0 && marker.radius[i] * sample_cells(pc, cells, x) < 0)
                marker.radius[i] = 0;
        });
    }
    std::vector<Lost<D>> lost = found_by(find);
    std::erase_if(lost, [](const Lost<D>& l) { return !(l.volume > 0); });
    return lost;
}

template <int D>
std::vector<Lost<D>> cells_of(const Field<D, int>& bodies, const std::vector<int>& wanted, const FaceField<D>& velocity,
                              const Tiles<D>& tiles, double dt, DropletWorkspace<D>& workspace)
{
    const Cell<D> cells = bodies.grid().cells;
    const float s = static_cast<float>(dt / bodies.grid().h);
    const auto body = bodies.view();
    const auto u = velocity.view();
    const DeviceCopy device_copy;
    const int* const want = device_copy.of(wanted.data(), wanted.size());
    const int count = static_cast<int>(wanted.size());
    Finder<D> find = finder(workspace);
    do {
        find = finder(workspace);
        parallel_for("cells of bodies", tiles, [=] TARN_KERNEL(Cell<D> c) {
            const int own = body(c);
            if (!(own > 0 && own < count) || !want[own]) return;
            const Vec<D, float> v = velocity_at_cell(u, c);
            find(body.index(c), trace_far(u, cells, c.template as<float>(), v, s), v, static_cast<float>(own),
                 DropletKind::droplet, false);
        });
    } while (!found_all(find, workspace));
    std::vector<Lost<D>> lost = found_by(find);
    for (Lost<D>& l : lost) {
        l.body = static_cast<int>(l.volume);
        l.volume = 0;
    }
    return lost;
}

template <int D>
void share_missing(std::vector<Lost<D>>& lost, double missing)
{
    const DropletKind wanted = missing > 0 ? DropletKind::droplet : DropletKind::bubble;
    double guessed = 0;
    for (const Lost<D>& l : lost)
        if (l.guessed && l.kind == wanted) guessed += l.volume;
    const double scale = guessed > 0 ? std::fabs(missing) / guessed : 0;
    for (Lost<D>& l : lost)
        if (l.guessed) l.volume = l.kind == wanted ? std::min(1.0, scale * l.volume) : 0;
    // What is left is too little to follow.
    std::erase_if(lost, [](const Lost<D>& l) { return l.guessed && l.volume < 1e-3; });
}

#define TARN_INSTANTIATE(D)                                                                                          \
    template std::vector<Lost<D>> find_never_referred(const Field<D>&, const FaceField<D>&, const FaceField<D>&,     \
                                                      const WetPart<D>&, const Tiles<D>&, double, DropletWorkspace<D>&,  \
                                                      bool);                                                         \
    template void keep_out_of_place(std::vector<Lost<D>>&, const Field<D>&);                                         \
    template std::vector<Lost<D>> take_isolated(Field<D>&, Particles<D>*, const FaceField<D>&, const WetPart<D>&,    \
                                                const Tiles<D>&, DropletWorkspace<D>&);                                  \
    template std::vector<Lost<D>> cells_of(const Field<D, int>&, const std::vector<int>&, const FaceField<D>&,       \
                                           const Tiles<D>&, double, DropletWorkspace<D>&);                               \
    template void share_missing(std::vector<Lost<D>>&, double);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
