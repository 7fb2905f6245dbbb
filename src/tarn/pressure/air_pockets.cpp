#include "tarn/pressure/air_pockets.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <map>
#include <numbers>

#include "tarn/advect/trace.h"
#include "tarn/backend/parallel.h"
#include "tarn/field/sample.h"
#include "tarn/surface/connected.h"

namespace tarn {

namespace {

// A pocket is small if it has no more cells than a ball of this radius, in cells.
constexpr float small_radius = 3;
template <int D>
constexpr int most_cells = D == 3 ? 113 : 28;

// Phi is less than this in all of its cells.
TARN_HD constexpr float deepest(float h) { return (small_radius + 1) * h; }

// Each step brings phi nearer to that of a ball by up to so many cells.
constexpr float rounding = 0.5f;

// The label of air that is no small pocket is lower than all, that of water is none.
constexpr int open_air = -1, in_pocket = -2, beside_pocket = -3, no_air = INT_MAX;

// The cell of an index.
template <int D>
TARN_HD inline Cell<D> cell_of(const View<D, const float>& view, int i)
{
    Cell<D> c;
    for (int a = D - 1; a > 0; --a) {
        c[a] = i / view.stride[a];
        i -= c[a] * view.stride[a];
    }
    c[0] = i;
    return c;
}

template <int D>
TARN_HD inline float dry_part(const WetPart<D>& wet, Cell<D> c)
{
    const float part = wet.outside(c) - wet(c);
    return part > 0 ? part : 0.0f;
}

template <int D>
TARN_HD inline bool touches_wall(const Boundary<D>& boundary, Cell<D> c)
{
    bool any = false;
    for (int a = 0; a < D; ++a)
        for (int side = 0; side < 2; ++side) {
            const Cell<D> face = moved<D>(c, a, side);
            const bool end = boundary.at_wall(face, a) && !boundary.wall_open[a][side];
            any = any || end || boundary.inlet_at(face, a) || (boundary.solids && boundary.open[a](face) < 1);
        }
    return any;
}

// The nearest place for a ball's centre where a layer of cells stays between the ball and all walls.
template <int D>
TARN_HD inline Vec<D, float> off_walls(const Boundary<D>& boundary, const Ball<D>& ball, float h)
{
    const float least = ball.radius + 1;
    Vec<D, float> x = ball.centre;
    if (boundary.solids) {
        const Cell<D> c = cell_at(x, boundary.cells);
        const Vec<D, float> n = nodes_normal<D>(boundary.solid_distance, c);
        const float distance = nodes_at_cell<D>(boundary.solid_distance, c) / h + dot(n, x - c.template as<float>());
        if (distance < least) x += (least - distance) * n;
    }
    for (int a = 0; a < D; ++a) {
        const float first = -0.5f + least, last = static_cast<float>(boundary.cells[a]) - 0.5f - least;
        if (!boundary.wall_open[a][1] && x[a] > last) x[a] = last;
        if (!boundary.wall_open[a][0] && x[a] < first) x[a] = first;
    }
    return x;
}

template <int D>
TARN_HD inline int dry_neighbours(const View<D, const float>& phi, Cell<D> c)
{
    const int i = phi.index(c);
    int n = 0;
    for (int a = 0; a < D; ++a) n += (phi[i - phi.next(a)] >= 0) + (phi[i + phi.next(a)] >= 0);
    return n;
}

// The air in a cell, as far as it could be in a small pocket. Where water has parted from a solid, the air between them
// is in the cells under the solid's surface.
template <int D>
struct NearAir {
    View<D, const float> phi;
    Boundary<D> boundary;
    float h;

    TARN_HD bool operator()(int i) const { return phi[i] >= 0 && phi[i] < deepest(h); }
    TARN_HD bool under_surface(int i) const
    {
        if (!boundary.solids || boundary.sheets.around(i)) return false;
        const float distance = nodes_at_cell<D>(boundary.solid_distance, i);
        return distance < 0 && distance > -h;
    }
    TARN_HD bool outside(int i) const { return nodes_at_cell<D>(boundary.solid_distance, i) >= 0; }
    // Whether air that is too far from water for a small pocket is in the open: outside of solids, or next to what is.
    TARN_HD bool in_the_open(Cell<D> c) const
    {
        const int i = phi.index(c);
        if (!(phi[i] >= deepest(h))) return false;
        if (!under_surface(i)) return true;
        bool any = false;
        for (int a = 0; a < D; ++a)
            for (int side = 0; side < 2; ++side) {
                const int j = side ? i + phi.next(a) : i - phi.next(a);
                any = any || (!boundary.at_wall(moved<D>(c, a, side), a) && phi[j] >= deepest(h) && outside(j));
            }
        return any;
    }
    // Whether a cell's air and that of its neighbour below along an axis are one.
    TARN_HD bool joined(Cell<D> c, int axis) const
    {
        if (boundary.open_at(c, axis) > 0) return true;
        const int i = phi.index(c), j = i - phi.next(axis);
        const bool upper = under_surface(i), lower = under_surface(j);
        if (!(upper && lower)) return ((upper && outside(j)) || (lower && outside(i))) && !boundary.inlet_at(c, axis);
        return dot(nodes_normal<D>(boundary.solid_distance, i), nodes_normal<D>(boundary.solid_distance, j)) > 0;
    }
    // What a cell joins: nothing, itself or the open air, which is past open sides and in inlets.
    TARN_HD int start(Cell<D> c) const
    {
        const int i = phi.index(c);
        if (!(*this)(i)) return no_air;
        bool open = false, any = under_surface(i);
        for (int a = 0; a < D; ++a)
            for (int side = 0; side < 2; ++side) {
                const Cell<D> face = moved<D>(c, a, side), other = moved<D>(c, a, 2 * side - 1);
                const bool out = boundary.at_wall(face, a);
                const bool joins = out ? boundary.open_at(face, a) > 0 : joined(face, a);
                any = any || joins;
                open = open || boundary.inlet_at(face, a) || (joins && (out || in_the_open(other)));
            }
        return open ? open_air : any ? i : no_air;
    }
};

}  // namespace

template <int D>
bool AirPockets<D>::fill(Field<D>& phi, PocketAir& held, const WetPart<D>& wet, const FaceField<D>& velocity, double dt,
                         const Boundary<D>& boundary, const Tiles<D>& tiles, Field<D, int>& labels)
{
    const std::vector<int> roots = find(phi, boundary, tiles, labels);
    if (roots.empty()) {
        held = {};
        return false;
    }
    // Neighbours of a pocket's cells may have some of its air.
    const auto f = phi.view();
    const int* const cells = cells_.data();
    float* const volume = room_for(volume_, count_);
    parallel_range("air pockets", count_, [=] TARN_KERNEL(int n) {
        const Cell<D> c = cell_of<D>(f, cells[n]);
        float sum = dry_part(wet, c);
        for (int a = 0; a < D; ++a)
            for (int side = -1; side < 2; side += 2) {
                const Cell<D> other = moved<D>(c, a, side);
                const bool inside = other[a] >= 0 && other[a] < wet.cells[a];
                if (inside && f(other) < 0)
                    sum += dry_part(wet, other) / static_cast<float>(dry_neighbours<D>(f, other));
            }
        volume[n] = sum;
    });
    std::vector<float> volumes(roots.size());
    backend::copy(volumes.data(), volume, volumes.size() * sizeof(float));
    const std::vector<int> went = follow(held, velocity, phi, dt);
    find_targets(phi, balance(held, roots, volumes, went, phi.grid()), boundary, labels);

    // Water goes back to a solid that it has parted from, and stays there.
    float* const before = room_for(phi_, count_);
    const float h = static_cast<float>(phi.grid().h);
    const NearAir<D> air{f, boundary, h};
    parallel_range("air pockets", count_, [=] TARN_KERNEL(int n) {
        before[n] = air.under_surface(cells[n]) ? nowhere : f[cells[n]];
        f[cells[n]] = -0.5f * h;
    });
    return true;
}

// The cells in small pockets come on the list in ascending order. Returns the root of each one's pocket.
template <int D>
std::vector<int> AirPockets<D>::find(const Field<D>& phi, const Boundary<D>& boundary, const Tiles<D>& tiles,
                                     Field<D, int>& labels)
{
    const auto f = phi.view();
    const auto label = labels.view();
    const float h = static_cast<float>(phi.grid().h);
    const NearAir<D> air{f, boundary, h};
    parallel_for("air pockets", tiles, [=] TARN_KERNEL(Cell<D> c) { label(c) = air.start(c); });
    parallel_for("air pockets", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = label.index(c);
        if (!air(i) || atomic_load(label.data + i) == no_air) return;
        for (int a = 0; a < D; ++a) {
            const int j = i - label.next(a);
            if (c[a] == 0 || !air(j) || !air.joined(c, a)) continue;
            if (atomic_load(label.data + j) != no_air) unite(label.data, i, j);
        }
    });
    const int in_pockets = static_cast<int>(parallel_sum("air pockets", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = label.index(c);
        if (!air(i) || atomic_load(label.data + i) == no_air) return 0.0;
        const int root = find_root(label.data, i);
        atomic_store(label.data + i, root);
        return root == open_air ? 0.0 : 1.0;
    }));
    count_ = 0;
    if (in_pockets == 0) return {};
    // Their end counts them.
    int* const listed = room_for(cells_, in_pockets + 1);
    const int end = in_pockets;
    parallel_range("air pockets", 1, [=] TARN_KERNEL(int) { listed[end] = 0; });
    parallel_for("air pockets", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = label.index(c);
        if (air(i) && label[i] != no_air && label[i] != open_air) listed[atomic_add(listed + end, 1)] = i;
    });
    std::vector<int> cells(static_cast<size_t>(in_pockets));
    backend::copy(cells.data(), listed, cells.size() * sizeof(int));
    std::sort(cells.begin(), cells.end());
    backend::copy(listed, cells.data(), cells.size() * sizeof(int));
    int* const root = room_for(root_, in_pockets);
    parallel_range("air pockets", in_pockets, [=] TARN_KERNEL(int n) { root[n] = label[listed[n]]; });
    std::vector<int> roots(cells.size());
    backend::copy(roots.data(), root, roots.size() * sizeof(int));

    std::map<int, int> sizes;
    for (const int r : roots) ++sizes[r];
    size_t kept = 0;
    for (size_t n = 0; n < cells.size(); ++n) {
        if (sizes[roots[n]] > most_cells<D>) continue;
        cells[kept] = cells[n];
        roots[kept++] = roots[n];
    }
    count_ = static_cast<int>(kept);
    backend::copy(listed, cells.data(), kept * sizeof(int));
    roots.resize(kept);
    return roots;
}

// Where what the cells held has gone within dt.
template <int D>
std::vector<int> AirPockets<D>::follow(const PocketAir& held, const FaceField<D>& velocity, const Field<D>& phi,
                                       double dt)
{
    const int n = static_cast<int>(held.cells.size());
    if (n == 0) return {};
    const Mirror mirror;
    const int* const cells = mirror.of(held.cells.data(), held.cells.size());
    int* const end = room_for(root_, n);
    const auto f = phi.view();
    const auto u = velocity.view();
    const Cell<D> grid = phi.grid().cells;
    const float s = static_cast<float>(dt / phi.grid().h);
    parallel_range("air pockets", n, [=] TARN_KERNEL(int k) {
        const Cell<D> c = cell_of<D>(f, cells[k]);
        const auto velocity_at = [&](Vec<D, float> x) { return sample_velocity(u, grid, x); };
        const Vec<D, float> x = c.template as<float>();
        end[k] = f.index(cell_at(trace_by(velocity_at, x, velocity_at(x), s), grid));
    });
    std::vector<int> went(held.cells.size());
    backend::copy(went.data(), end, went.size() * sizeof(int));
    return went;
}

// Each pocket should hold what its air held before. One that was not there, or has taken in more, holds what it has.
// Returns the balls that they should be.
template <int D>
std::vector<Ball<D>> AirPockets<D>::balance(PocketAir& held, const std::vector<int>& roots,
                                            const std::vector<float>& volumes, const std::vector<int>& went,
                                            const Grid<D>& grid)
{
    std::vector<int> cells(roots.size());
    backend::copy(cells.data(), cells_.data(), cells.size() * sizeof(int));
    struct Pocket {
        int size = 0;
        double has = 0, should = 0;
        Vec<D> moment, middle;
    };
    std::map<int, Pocket> pockets;
    const View<D, const float> strides{nullptr, grid.stride};
    for (size_t n = 0; n < roots.size(); ++n) {
        Pocket& pocket = pockets[roots[n]];
        ++pocket.size;
        pocket.has += volumes[n];
        const Vec<D> x = cell_of<D>(strides, cells[n]).template as<double>();
        pocket.moment += static_cast<double>(volumes[n]) * x;
        pocket.middle += x;
    }
    // The pocket at a cell, or none.
    const auto pocket_at = [&](int cell) -> Pocket* {
        const auto at = std::lower_bound(cells.begin(), cells.end(), cell);
        const bool there = at != cells.end() && *at == cell;
        return there ? &pockets[roots[static_cast<size_t>(at - cells.begin())]] : nullptr;
    };
    // What has found no pocket is where most of its own has gone.
    struct Came {
        double all = 0, found = 0;
    };
    std::map<int, Came> came;
    std::vector<Pocket*> found(went.size());
    for (size_t n = 0; n < went.size(); ++n) {
        Pocket* pocket = pocket_at(went[n]);
        for (int a = 0; a < D && !pocket; ++a) {
            pocket = pocket_at(went[n] - strides.next(a));
            if (!pocket) pocket = pocket_at(went[n] + strides.next(a));
        }
        found[n] = pocket;
        if (pocket) came[held.pockets[n]].found += held.volumes[n];
        came[held.pockets[n]].all += held.volumes[n];
    }
    for (size_t n = 0; n < went.size(); ++n) {
        const Came& from = came[held.pockets[n]];
        if (found[n]) found[n]->should += held.volumes[n] * (from.found > 0.5 * from.all ? from.all / from.found : 1);
    }
    std::vector<Ball<D>> balls;
    for (auto& [root, pocket] : pockets) {
        if (pocket.should == 0 || pocket.has > 1.5 * pocket.should + 2) pocket.should = pocket.has;
        if (!(pocket.should > 0)) continue;
        const Vec<D> centre = pocket.has > 0 ? (1 / pocket.has) * pocket.moment : (1.0 / pocket.size) * pocket.middle;
        const double radius =
            D == 3 ? std::cbrt(0.75 * pocket.should / std::numbers::pi) : std::sqrt(pocket.should / std::numbers::pi);
        balls.push_back({centre.template as<float>(), static_cast<float>(radius)});
    }
    held.cells = cells;
    held.pockets = roots;
    held.volumes.resize(roots.size());
    for (size_t n = 0; n < roots.size(); ++n) {
        const Pocket& pocket = pockets[roots[n]];
        held.volumes[n] = static_cast<float>(pocket.should / pocket.size);
    }
    return balls;
}

// Finds the cells in and around the pockets, and what phi is there in the balls.
template <int D>
void AirPockets<D>::find_targets(const Field<D>& phi, const std::vector<Ball<D>>& balls, const Boundary<D>& boundary,
                                 Field<D, int>& labels)
{
    constexpr int around = D == 3 ? 27 : 9;
    const auto f = phi.view();
    const auto label = labels.view();
    const int* const cells = cells_.data();
    const int count = static_cast<int>(balls.size()), end = around * count_;
    const float h = static_cast<float>(phi.grid().h);
    const NearAir<D> near{f, boundary, h};
    Ball<D>* const ball = room_for(balls_, count);
    backend::copy(ball, balls.data(), balls.size() * sizeof(Ball<D>));
    parallel_range("air pockets", count, [=] TARN_KERNEL(int b) { ball[b].centre = off_walls(boundary, ball[b], h); });
    int* const changed = room_for(near_, end + 1);
    float* const target = room_for(target_, end);
    parallel_range("air pockets", 1, [=] TARN_KERNEL(int) { changed[end] = 0; });
    parallel_range("air pockets", count_, [=] TARN_KERNEL(int n) { label[cells[n]] = in_pocket; });
    parallel_range("air pockets", count_, [=] TARN_KERNEL(int n) {
        const Cell<D> middle = cell_of<D>(f, cells[n]);
        for (int k = 0; k < around; ++k) {
            Cell<D> c = middle;
            bool inside = true;
            for (int a = 0, left = k; a < D; ++a, left /= 3) {
                c[a] += left % 3 - 1;
                inside = inside && c[a] >= 0 && c[a] < boundary.cells[a];
            }
            if (!inside) continue;
            const int i = f.index(c);
            const int before = atomic_load(label.data + i);
            const bool wall = touches_wall(boundary, c);
            if (f[i] >= 0 ? before != in_pocket : wall || !(f[i] > -2 * h)) continue;
            // Cells that several see come once.
            if (atomic_exchange(label.data + i, beside_pocket) == beside_pocket || near.under_surface(i)) continue;
            float air = wall ? -0.5f * h : -nowhere;
            for (int b = 0; b < count && !wall; ++b) {
                const float there = h * (ball[b].radius - length(c.template as<float>() - ball[b].centre));
                air = there > air ? there : air;
            }
            // Water may be near another surface, too, and is only driven out.
            if (f[i] < 0 && air < f[i]) continue;
            const int at = atomic_add(changed + end, 1);
            changed[at] = i;
            target[at] = air;
        }
    });
    backend::copy(&near_count_, changed + end, sizeof near_count_);
}

template <int D>
void AirPockets<D>::undo_gravity(FaceField<D>& velocity, Vec<D> gravity, double dt) const
{
    const int* const cells = cells_.data();
    for (int a = 0; a < D; ++a) {
        // A face has half of its weight from the cell on each side.
        const float add = static_cast<float>(-0.5 * gravity[a] * dt);
        if (add == 0) continue;
        const auto u = velocity[a].view();
        for (int side = 0; side < 2; ++side) {
            const int next = side ? u.next(a) : 0;
            parallel_range("gravity", count_, [=] TARN_KERNEL(int n) { u[cells[n] + next] += add; });
        }
    }
}

template <int D>
void AirPockets<D>::empty(Field<D>& phi, Particles<D>& particles, const Field<D, int>& labels) const
{
    if (count_ == 0) return;
    const auto f = phi.view();
    const int* const cells = cells_.data();
    const float* const before = phi_.data();
    parallel_range("air pockets", count_, [=] TARN_KERNEL(int n) {
        if (!is_nowhere(before[n])) f[cells[n]] = before[n];
    });
    const int* const near = near_.data();
    const float* const target = target_.data();
    const float most = rounding * static_cast<float>(phi.grid().h);
    parallel_range("air pockets", near_count_, [=] TARN_KERNEL(int n) {
        const float change = target[n] - f[near[n]];
        f[near[n]] += change > most ? most : (change < -most ? -most : change);
    });
    remove_strays(particles, phi, labels, beside_pocket);
}

template class AirPockets<2>;
template class AirPockets<3>;

}  // namespace tarn
