#include "tarn/pressure/enclosed_air.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <utility>

#include "tarn/advect/trace.h"
#include "tarn/backend/parallel.h"
#include "tarn/field/sample.h"
#include "tarn/pressure/air_components.h"
#include "tarn/pressure/surface_fraction.h"

namespace tarn {

using namespace air;

namespace {

// Sums of whole numbers do not depend on their order.
constexpr double sum_scale = 0x1p32;

template <int D>
TARN_HD inline float dry_part(const WetPart<D>& wet, Cell<D> c)
{
    const float part = wet.outside(c) - wet(c);
    return part > 0 ? part : 0.0f;
}

// The air of a dry cell, and its share of that in the wet cells beside it.
template <int D>
TARN_HD inline float air_around(const WetPart<D>& wet, Cell<D> c)
{
    const auto& phi = wet.phi;
    float sum = dry_part(wet, c);
    for (int a = 0; a < D; ++a)
        for (int side = -1; side < 2; side += 2) {
            const Cell<D> other = moved<D>(c, a, side);
            if (other[a] < 0 || other[a] >= wet.cells[a] || !(phi(other) < 0)) continue;
            const int i = phi.index(other);
            int dry = 0;
            for (int b = 0; b < D; ++b) dry += (phi[i - phi.next(b)] >= 0) + (phi[i + phi.next(b)] >= 0);
            sum += dry_part(wet, other) / static_cast<float>(dry);
        }
    return sum;
}

// The water that has separated from the solid that a cell is in; the cell itself where there is none.
template <int D>
TARN_HD inline Cell<D> parted_water(const Boundary<D>& boundary, Cell<D> c)
{
    for (int slot = 0; boundary.solids && boundary.phi.data && slot < 2 * D; ++slot) {
        const int a = slot / 2, side = slot % 2;
        const Cell<D> other = moved<D>(c, a, 2 * side - 1), face = moved<D>(c, a, side);
        if (other[a] < 0 || other[a] >= boundary.cells[a] || boundary.open[a](face) > 0) continue;
        if (boundary.phi(other) < 0 && boundary.parted_from_solid(face, a)) return other;
    }
    return c;
}

// The enclosed region that a cell's air was in before it moved, 0 for the atmosphere, negative for water and voids.
template <int D>
TARN_HD inline int came_from(const View<D, const int>& region, const View<D, const int>& wet_before,
                             const FaceView<D, const float>& u, const Boundary<D>& boundary, Cell<D> c, float s)
{
    const Vec<D, float> x = c.template as<float>();
    Cell<D> at = cell_at(go(boundary.thin_walls, x, x - s * velocity_at_cell(u, c)), boundary.cells);
    // Nothing came out of a solid. Air that is new between the solid and water is where the water was.
    if (boundary.solids && nodes_at_cell<D>(boundary.solid_distance, at) < 0) at = c;
    if (region.data && region(at) != 0) return region(at);
    if (at == c) at = parted_water(boundary, c);
    if (!(wet_before(at) > 0)) return 0;
    constexpr int around = D == 3 ? 27 : 9;
    for (int n = 0; n < around; ++n) {
        Cell<D> other = at;
        bool inside = true;
        for (int a = 0, left = n; a < D; ++a, left /= 3) {
            other[a] += left % 3 - 1;
            inside = inside && other[a] >= 0 && other[a] < boundary.cells[a];
        }
        if (inside && region.data && region(other) != 0) return region(other);
    }
    return -1;
}

}  // namespace

template <int D>
void EnclosedAir<D>::mark(const AirRegions& held, const Grid<D>& grid)
{
    if (held.cells.empty() && marked_count_ == 0) return;
    if (mark_.size() == 0) mark_ = Field<D, int>(grid);
    const auto mark = mark_.view();
    {
        const int* const old = marked_.data();
        parallel_range("enclosed air", marked_count_, [=] TARN_KERNEL(int n) { mark[old[n]] = 0; });
    }
    marked_count_ = static_cast<int>(held.cells.size());
    int* const cells = storage_for(marked_, marked_count_);
    int* const ids = storage_for(from_, marked_count_);
    backend::copy(cells, held.cells.data(), held.cells.size() * sizeof(int));
    backend::copy(ids, held.regions.data(), held.regions.size() * sizeof(int));
    parallel_range("enclosed air", marked_count_, [=] TARN_KERNEL(int n) { mark[cells[n]] = ids[n]; });
}

// The roots of the components of air that reach no open side, ascending.
template <int D>
std::vector<int> EnclosedAir<D>::find_roots(const Now& now)
{
    const Grid<D>& grid = now.phi.grid();
    const Boundary<D>& boundary = now.boundary;
    if (labels_.size() == 0) labels_ = Field<D, int>(grid);
    TileMap<D> classes(grid);
    if (boundary.solids && (solid_tiles_.empty() || boundary.moving)) {
        const auto open = boundary.open;
        TileMap<D> all(grid, 1);
        solid_tiles_ = parallel_any("solid tiles", all, 1, [=] TARN_KERNEL(Cell<D> c) -> uint8_t {
            bool closed = false;
            for (int a = 0; a < D; ++a) closed = closed || open[a](c) < 1 || open[a](moved<D>(c, a, 1)) < 1;
            return closed ? uint8_t(1) : uint8_t(0);
        });
    }
    whole_.clear();
    for (size_t i = 0; i < classes.flags.size(); ++i) {
        const bool active = now.map.flags[i] & now.active, solid = boundary.solids && solid_tiles_[i];
        if (active ? (now.map.flags[i] & now.mixed) != 0 : solid) classes.flags[i] = by_cell;
        if (active || solid) continue;
        classes.flags[i] = whole;
        whole_.push_back(static_cast<int>(i));
    }
    by_cell_ = select(classes, by_cell);
    uint8_t* const flags = storage_for(classes_, static_cast<int>(classes.flags.size()));
    backend::copy(flags, classes.flags.data(), classes.flags.size());
    const int whole_count = static_cast<int>(whole_.size());
    int* const whole_tiles = storage_for(whole_list_, whole_count);
    backend::copy(whole_tiles, whole_.data(), whole_.size() * sizeof(int));

    const TileClasses<D> tiles{classes.count, grid.cells, flags};
    const auto label = labels_.view();
    unite_components(label, Space<D>{now.phi.view(), boundary, true, static_cast<float>(grid.h)}, tiles, by_cell_, whole_tiles, whole_count);

    int count = 0;
    for (int workspace = 1024;; workspace = count) {
        int* const roots = storage_for(roots_, workspace + 1);
        parallel_range("enclosed air", 1, [=] TARN_KERNEL(int) { roots[workspace] = 0; });
        const auto take = [=] TARN_KERNEL(int i) {
            if (atomic_load(label.data + i) == no_air) return;
            const int root = find_root(label.data, i);
            atomic_store(label.data + i, root);
            if (root != i) return;
            const int number = atomic_add(roots + workspace, 1);
            if (number < workspace) roots[number] = i;
        };
        parallel_for("enclosed air", by_cell_, [=] TARN_KERNEL(Cell<D> c) { take(label.index(c)); });
        parallel_range("enclosed air", whole_count,
                       [=] TARN_KERNEL(int n) { take(label.index(tiles.tile(whole_tiles[n]))); });
        backend::copy(&count, roots + workspace, sizeof count);
        if (count <= workspace) break;
    }
    std::vector<int> roots(static_cast<size_t>(count));
    backend::copy(roots.data(), roots_.data(), roots.size() * sizeof(int));
    std::sort(roots.begin(), roots.end());
    return roots;
}

// The components of what is not solid, which water and air share.
template <int D>
void EnclosedAir<D>::find_chambers(const Now& now)
{
    if (chambers_known_ && !now.boundary.moving) return;
    chambers_known_ = true;
    const Grid<D>& grid = now.phi.grid();
    if (chambers_.size() == 0) chambers_ = Field<D, int>(grid);
    TileMap<D> classes(grid);
    std::vector<int> clear;
    for (size_t i = 0; i < classes.flags.size(); ++i) {
        classes.flags[i] = solid_tiles_[i] ? by_cell : whole;
        if (!solid_tiles_[i]) clear.push_back(static_cast<int>(i));
    }
    const int count = static_cast<int>(clear.size());
    Memory<uint8_t> flags(classes.flags.size());
    backend::copy(flags.data(), classes.flags.data(), classes.flags.size());
    Memory<int> list(static_cast<size_t>(count) + 1);
    backend::copy(list.data(), clear.data(), clear.size() * sizeof(int));
    const TileClasses<D> tiles{classes.count, grid.cells, flags.data()};
    const Tiles<D> mixed = select(classes, by_cell);
    const auto label = chambers_.view();
    const int* const whole_tiles = list.data();
    unite_components(label, Space<D>{now.phi.view(), now.boundary, false, static_cast<float>(grid.h)}, tiles, mixed, whole_tiles, count);
    const auto settle = [=] TARN_KERNEL(int i) {
        if (atomic_load(label.data + i) != no_air) atomic_store(label.data + i, find_root(label.data, i));
    };
    parallel_for("chambers", mixed, [=] TARN_KERNEL(Cell<D> c) { settle(label.index(c)); });
    parallel_range("chambers", count, [=] TARN_KERNEL(int n) { settle(label.index(tiles.tile(whole_tiles[n]))); });
    parallel_range("chambers", count, [=] TARN_KERNEL(int n) {
        const Cell<D> first = tiles.tile(whole_tiles[n]);
        const int own = label(first);
        // Regions may begin anywhere in the tile.
        Cell<D> c = first;
        for (int i = 0, all = tiles.volume(first); i < all; ++i) {
            label(c) = own;
            for (int a = 0; a < D; ++a) {
                if (++c[a] < first[a] + tile_size && c[a] < tiles.cells[a]) break;
                c[a] = first[a];
            }
        }
    });
    backend::wait();
}

// For every component of air the number of its enclosed region, from 1, or 0. In a chamber that reaches no open side,
// the largest region is the atmosphere.
template <int D>
std::vector<int> EnclosedAir<D>::number_enclosed(const std::vector<int>& roots, const Now& now)
{
    const Boundary<D>& boundary = now.boundary;
    bool any_open = false;
    for (int a = 0; a < D; ++a) any_open = any_open || boundary.wall_open[a][0] || boundary.wall_open[a][1];
    const int count = static_cast<int>(roots.size());
    count_ = 0;
    if (count == 0 || (count == 1 && !any_open)) return {};

    // Roots hold their numbers, then the others follow, and components are measured.
    const auto label = labels_.view();
    int* const root = storage_for(roots_, count);
    backend::copy(root, roots.data(), roots.size() * sizeof(int));
    parallel_range("enclosed air", count, [=] TARN_KERNEL(int n) { label[root[n]] = first_number - n; });
    int* const sizes = storage_for(ids_, count);
    parallel_range("enclosed air", count, [=] TARN_KERNEL(int n) { sizes[n] = 0; });
    const auto number = [=] TARN_KERNEL(int i) {
        const int own = label[i];
        const int now_number = own < 0 || own == no_air ? own : atomic_load(label.data + own);
        atomic_store(label.data + i, now_number);
        return now_number;
    };
    const Cell<D> cells = boundary.cells;
    parallel_for("enclosed air", by_cell_, [=] TARN_KERNEL(Cell<D> c) {
        if (c[0] % tile_size != 0) return;
        const int end = label.index(c) + (c[0] + tile_size < cells[0] ? tile_size : cells[0] - c[0]);
        int run = 0, last = no_air;
        for (int i = label.index(c); i < end; ++i) {
            const int own = number(i);
            if (own != last && run > 0) {
                atomic_add(sizes + (first_number - last), run);
                run = 0;
            }
            last = own;
            run += own <= first_number ? 1 : 0;
        }
        if (run > 0) atomic_add(sizes + (first_number - last), run);
    });
    const TileMap<D>& map = now.map;
    const TileClasses<D> tiles{map.count, cells, classes_.data()};
    const int* const whole_tiles = whole_list_.data();
    parallel_range("enclosed air", static_cast<int>(whole_.size()), [=] TARN_KERNEL(int n) {
        const Cell<D> first = tiles.tile(whole_tiles[n]);
        const int own = number(label.index(first));
        if (own <= first_number) atomic_add(sizes + (first_number - own), tiles.volume(first));
    });
    std::vector<int> size(roots.size()), chamber(roots.size());
    backend::copy(size.data(), sizes, size.size() * sizeof(int));
    if (boundary.solids) {
        find_chambers(now);
        const auto chambers = std::as_const(chambers_).view();
        const Cell<D> stride = chambers.stride;
        parallel_range("enclosed air", count, [=] TARN_KERNEL(int n) {
            // A cell in a solid has the chamber of the water that has separated from the solid there.
            const Cell<D> c = cell_of<D>(stride, root[n]);
            sizes[n] = chambers(chambers(c) == no_air ? parted_water(boundary, c) : c);
        });
        backend::copy(chamber.data(), sizes, chamber.size() * sizeof(int));
    } else if (any_open) {
        std::fill(chamber.begin(), chamber.end(), open_air);
    }
    std::vector<std::pair<int, int>> order;  // by chamber, the largest first
    for (int n = 0; n < count; ++n) order.emplace_back(chamber[static_cast<size_t>(n)], n);
    std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
        if (a.first != b.first) return a.first < b.first;
        return size[static_cast<size_t>(a.second)] > size[static_cast<size_t>(b.second)];
    });
    std::vector<int> ids(roots.size());
    for (size_t i = 0; i < order.size(); ++i) {
        const bool largest = i == 0 || order[i - 1].first != order[i].first;
        if (order[i].first == open_air || !largest) ids[static_cast<size_t>(order[i].second)] = 1;
    }
    for (int& id : ids)
        if (id) id = ++count_;
    return ids;
}

// The cells of the enclosed regions, ascending, and the region of each.
template <int D>
void EnclosedAir<D>::list_cells(const Now& now)
{
    const auto label = std::as_const(labels_).view();
    const int* const ids = ids_.data();
    const auto id_of = [=] TARN_KERNEL(int own) {
        return own <= first_number && own != no_air ? ids[first_number - own] : 0;
    };
    const int found = static_cast<int>(parallel_sum("enclosed air", by_cell_, [=] TARN_KERNEL(Cell<D> c) {
        return id_of(label(c)) > 0 ? 1.0 : 0.0;
    }));
    int* const listed = storage_for(listed_, found + 1);
    parallel_range("enclosed air", 1, [=] TARN_KERNEL(int) { listed[found] = 0; });
    parallel_for("enclosed air", by_cell_, [=] TARN_KERNEL(Cell<D> c) {
        if (id_of(label(c)) > 0) listed[atomic_add(listed + found, 1)] = label.index(c);
    });
    cells_.resize(static_cast<size_t>(found));
    backend::copy(cells_.data(), listed, cells_.size() * sizeof(int));

    // Whole tiles, of which there are some in large regions.
    const TileClasses<D> tiles{now.map.count, now.boundary.cells, nullptr};
    const int whole_count = static_cast<int>(whole_.size());
    const int* const whole_tiles = whole_list_.data();
    int* const own = storage_for(from_, whole_count);
    parallel_range("enclosed air", whole_count,
                   [=] TARN_KERNEL(int n) { own[n] = id_of(label(tiles.tile(whole_tiles[n]))); });
    std::vector<int> tile_ids(whole_.size());
    backend::copy(tile_ids.data(), own, tile_ids.size() * sizeof(int));
    const auto place = labels_.view();
    for (size_t n = 0; n < whole_.size(); ++n) {
        if (tile_ids[n] == 0) continue;
        const Cell<D> first = tiles.tile(whole_[n]);
        Box<D> box{first, first};
        for (int a = 0; a < D; ++a) box.hi[a] = std::min(first[a] + tile_size, now.boundary.cells[a]);
        backend::each(box, [&](Cell<D> c) { cells_.push_back(label.index(c)); });
    }
    std::sort(cells_.begin(), cells_.end());

    // Labels of whole tiles are those of their first cells.
    const int count = static_cast<int>(cells_.size());
    int* const all = storage_for(listed_, count);
    backend::copy(all, cells_.data(), cells_.size() * sizeof(int));
    listed_count_ = count;
    const TileClasses<D> classes{now.map.count, now.boundary.cells, classes_.data()};
    int* const region = storage_for(from_, count);
    const Cell<D> stride = place.stride;
    parallel_range("enclosed air", count, [=] TARN_KERNEL(int n) {
        const Cell<D> c = cell_of<D>(stride, all[n]);
        region[n] = id_of(label(classes.is_whole(c) ? classes.first(c) : c));
    });
    region_.resize(cells_.size());
    backend::copy(region_.data(), region, region_.size() * sizeof(int));
}

// What each region holds and should hold. The air that came from one region shares that region's target; air that came
// from the atmosphere counts as it is.
template <int D>
void EnclosedAir<D>::carry_targets(AirRegions& held, const Now& now)
{
    const int count = listed_count_;
    const int* const cells = listed_.data();
    const WetPart<D> wet = now.wet;
    const Cell<D> stride = wet.phi.stride;
    const auto u = now.velocity.view();
    const auto wet_before = now.wet_before.view();
    const Boundary<D> boundary = now.boundary;
    const float s = static_cast<float>(now.dt / now.phi.grid().h);
    int old_count = 0;
    for (const int region : held.regions) old_count = std::max(old_count, std::abs(region));
    const View<D, const int> before = old_count > 0 ? std::as_const(mark_).view() : View<D, const int>{};

    float* const volume = storage_for(volumes_, count);
    int* const from = storage_for(from_, count);
    parallel_range("enclosed air", count, [=] TARN_KERNEL(int n) {
        const Cell<D> c = cell_of<D>(stride, cells[n]);
        volume[n] = air_around(wet, c);
        from[n] = came_from<D>(before, wet_before, u, boundary, c, s);
    });
    std::vector<float> volumes(cells_.size());
    std::vector<int> origin(cells_.size());
    backend::copy(volumes.data(), volume, volumes.size() * sizeof(float));
    backend::copy(origin.data(), from, origin.size() * sizeof(int));

    std::vector<double> old_target(static_cast<size_t>(old_count)), left(static_cast<size_t>(old_count));
    for (size_t n = 0; n < held.cells.size(); ++n)
        if (held.regions[n] > 0) old_target[static_cast<size_t>(held.regions[n] - 1)] += static_cast<double>(held.volumes[n]);
    if (old_count > 0) {
        // Air that has reached the atmosphere.
        sums_ = Memory<long long>(static_cast<size_t>(old_count));
        long long* const sums = sums_.data();
        const auto label = std::as_const(labels_).view();
        const int* const ids = ids_.data();
        parallel_for("enclosed air", by_cell_, [=] TARN_KERNEL(Cell<D> c) {
            const int own = label(c);
            if (own == no_air || (own <= first_number && ids[first_number - own] > 0)) return;
            const int region = came_from<D>(before, wet_before, u, boundary, c, s);
            if (region > 0)
                atomic_add(sums + region - 1, static_cast<long long>(double(dry_part(wet, c)) * sum_scale));
        });
        std::vector<long long> lost(static_cast<size_t>(old_count));
        backend::copy(lost.data(), sums, lost.size() * sizeof(long long));
        for (size_t k = 0; k < lost.size(); ++k) left[k] = static_cast<double>(lost[k]) / sum_scale;
    }
    for (size_t n = 0; n < cells_.size(); ++n)
        if (origin[n] > 0) left[static_cast<size_t>(origin[n] - 1)] += static_cast<double>(volumes[n]);

    const size_t regions = static_cast<size_t>(count_);
    volume_.assign(regions, 0);
    target_.assign(regions, 0);
    std::vector<double> opened(regions);
    for (size_t n = 0; n < cells_.size(); ++n) {
        const size_t k = static_cast<size_t>(region_[n] - 1);
        const double own = static_cast<double>(volumes[n]);
        volume_[k] += own;
        if (origin[n] == 0) target_[k] += own;
        if (origin[n] < 0) opened[k] += own;
        if (origin[n] <= 0) continue;
        const size_t j = static_cast<size_t>(origin[n] - 1);
        if (left[j] > 0) target_[k] += own * old_target[j] / left[j];
    }
    std::vector<int> size(regions);
    for (const int region : region_) ++size[static_cast<size_t>(region - 1)];
    is_void_.assign(regions, false);
    for (size_t k = 0; k < regions; ++k) is_void_[k] = !(opened[k] < 0.5 * volume_[k]) || !(target_[k] > 0);
    held.cells = cells_;
    held.regions = region_;
    for (int& region : held.regions)
        if (is_void_[static_cast<size_t>(region - 1)]) region = -region;
    held.volumes.resize(cells_.size());
    for (size_t n = 0; n < cells_.size(); ++n) {
        const size_t k = static_cast<size_t>(region_[n] - 1);
        held.volumes[n] = static_cast<float>(target_[k] / size[k]);
    }
}

template <int D>
void EnclosedAir<D>::find(AirRegions& held, const Now& now)
{
    const std::vector<int> ids = number_enclosed(find_roots(now), now);
    with_voids_ = 0;
    if (count_ == 0) {
        held = {};
        listed_count_ = 0;
        return;
    }
    backend::copy(storage_for(ids_, static_cast<int>(ids.size())), ids.data(), ids.size() * sizeof(int));
    list_cells(now);
    carry_targets(held, now);
}

// What moving solids and inlets press out of each region per second, in faces times m/s.
template <int D>
std::vector<double> EnclosedAir<D>::swept(const Boundary<D>& boundary)
{
    std::vector<double> sum(static_cast<size_t>(count_));
    if (!boundary.moving && !boundary.inlets) return sum;
    const int* const cells = listed_.data();
    const Cell<D> stride = labels_.grid().stride;
    float* const out = storage_for(volumes_, listed_count_);
    parallel_range("enclosed air", listed_count_, [=] TARN_KERNEL(int n) {
        const Cell<D> c = cell_of<D>(stride, cells[n]);
        float flow = 0;
        for (int a = 0; a < D; ++a)
            for (int side = 0; side < 2; ++side) {
                const Cell<D> face = moved<D>(c, a, side);
                const float closed = (1 - boundary.open_at(face, a)) * boundary.closed_velocity(face, a);
                flow += side ? closed : -closed;
            }
        out[n] = flow;
    });
    std::vector<float> flows(cells_.size());
    backend::copy(flows.data(), out, flows.size() * sizeof(float));
    for (size_t n = 0; n < cells_.size(); ++n)
        sum[static_cast<size_t>(region_[n] - 1)] += static_cast<double>(flows[n]);
    return sum;
}

template <int D>
const Regions<D>* EnclosedAir<D>::couple(const Field<D>& phi, const FaceField<D>& velocity, const Boundary<D>& boundary,
                                      const Field<D>* kappa, float tension, double rate)
{
    faces_count_ = 0;
    if (count_ == 0) return nullptr;
    const int count = listed_count_;
    const int* const cells = listed_.data();
    const auto p = phi.view();
    const auto u = velocity.view();
    const View<D, const float> bent = kappa ? kappa->view() : View<D, const float>{};
    int* const region = storage_for(from_, count);
    backend::copy(region, region_.data(), region_.size() * sizeof(int));
    const SurfaceFaces<D> faces_of{p, bent, u, boundary, tension, static_cast<float>(phi.grid().h)};
    int* const next = storage_for(roots_, 1);
    parallel_range("enclosed air", 1, [=] TARN_KERNEL(int) { *next = 0; });
    parallel_range("enclosed air", count, [=] TARN_KERNEL(int n) {
        int found = 0;
        for (int slot = 0; slot < 2 * D; ++slot) found += faces_of.is_one(cells[n], slot) ? 1 : 0;
        if (found > 0) atomic_add(next, found);
    });
    int most = 0;
    backend::copy(&most, next, sizeof most);
    RegionFace* faces = storage_for(faces_, most);
    parallel_range("enclosed air", 1, [=] TARN_KERNEL(int) { *next = 0; });
    parallel_range("enclosed air", count, [=] TARN_KERNEL(int n) {
        for (int slot = 0; slot < 2 * D; ++slot) {
            if (!faces_of.is_one(cells[n], slot)) continue;
            RegionFace face = faces_of.face(cells[n], slot);
            face.region = region[n] - 1;
            faces[atomic_add(next, 1)] = face;
        }
    });
    std::vector<RegionFace> list(static_cast<size_t>(most));
    backend::copy(list.data(), faces, list.size() * sizeof(RegionFace));
    any_void_ = wall_gaps_.add_faces(list, p, u, boundary, marked(), with_voids_, phi.grid());
    for (RegionFace& f : list) {
        const bool is_void = is_void_[static_cast<size_t>(f.region)];
        any_void_ = any_void_ || is_void;
        if (is_void && with_voids_ > 0) f.region = with_voids_ - 1;
    }
    std::sort(list.begin(), list.end(), [](const RegionFace& a, const RegionFace& b) {
        if (a.region != b.region) return a.region < b.region;
        return a.face != b.face ? a.face < b.face : a.axis < b.axis;
    });

    Unknowns unknowns = number_unknowns(list, is_void_, swept(boundary), [&](size_t k, double area) {
        const double most_change = 0.25 * area, missing = target_[k] - volume_[k];
        return rate * phi.grid().h * std::clamp(missing, -most_change, most_change);
    });
    if (list.empty()) return nullptr;
    faces = storage_for(faces_, static_cast<int>(list.size()));
    backend::copy(faces, list.data(), list.size() * sizeof(RegionFace));
    faces_count_ = static_cast<int>(list.size());
    regions_.set(static_cast<int>(unknowns.q.size()), std::move(unknowns.terms), unknowns.q, phi.grid());
    unknowns_ = std::move(unknowns.regions);
    return &regions_;
}

template <int D>
bool EnclosedAir<D>::find_pressures(const Field<D>& x)
{
    lowest_ = 0;
    if (faces_count_ == 0) return false;
    const std::vector<double> values = regions_.solve(x);
    const auto least = std::min_element(values.begin(), values.end());
    lowest_ = std::min(0.0, *least);
    if (!any_void_ || with_voids_ > 0 || !(lowest_ < 0)) return false;
    with_voids_ = unknowns_[static_cast<size_t>(least - values.begin())];
    return true;
}

template <int D>
void EnclosedAir<D>::apply(FaceField<D>& velocity, const Field<D>& x) const
{
    if (faces_count_ == 0) return;
    const double* const value = regions_.values();
    const RegionFace* const faces = faces_.data();
    const auto u = velocity.view();
    const auto xv = x.view();
    parallel_range("enclosed air", faces_count_, [=] TARN_KERNEL(int n) {
        const RegionFace& f = faces[n];
        const double rise = double(xv[f.cell]) - double(f.jump) - value[f.region];
        const double change = double(f.closeness) * (f.upper ? rise : -rise);
        u[f.axis][f.face] = static_cast<float>(double(f.velocity) - change);
    });
}

template class EnclosedAir<2>;
template class EnclosedAir<3>;

}  // namespace tarn
