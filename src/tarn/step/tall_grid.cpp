// Which rows of a column have an unknown, and what the faces between columns are.

#include <algorithm>
#include <cmath>
#include <utility>

#include "tarn/pressure/surface_view.h"
#include "tarn/scene/place_solids.h"
#include "tarn/step/boundary.h"
#include "tarn/step/tall.h"
#include "tarn/step/tall_columns.h"

namespace tarn::tall {

namespace {

// Runs of equal values along y, of so many columns.
template <class F>
OpenRuns make_runs(int columns, int rows, const F& value)
{
    OpenRuns runs;
    runs.start.assign(1, 0);
    for (int c = 0; c < columns; ++c) {
        for (int j = 0; j < rows; ++j) {
            const float open = value(c, j);
            if (j > 0 && open == runs.open.back()) continue;
            runs.row.push_back(j);
            runs.open.push_back(open);
        }
        runs.start.push_back(static_cast<int>(runs.row.size()));
    }
    return runs;
}

// Calls f(from, to, open) for the runs within rows [from, to).
template <class F>
void for_runs(const OpenRuns& runs, int column, int from, int to, const F& f)
{
    if (from >= to) return;
    if (!runs.any()) return f(from, to, 1.0f);
    const int end = runs.start[at(column) + 1];
    const auto first = runs.row.begin() + runs.start[at(column)];
    int r = static_cast<int>(std::upper_bound(first, runs.row.begin() + end, from) - runs.row.begin()) - 1;
    for (; r < end && runs.row[at(r)] < to; ++r) {
        const int last = r + 1 < end ? runs.row[at(r) + 1] : to;
        f(std::max(from, runs.row[at(r)]), std::min(to, last), runs.open[at(r)]);
    }
}

float open_at(const OpenRuns& runs, int column, int row)
{
    float open = 1;
    for_runs(runs, column, row, row + 1, [&](int, int, float o) { open = o; });
    return open;
}

TallColumns empty_columns(int nx, int nz)
{
    TallColumns c;
    c.count[0] = nx;
    c.count[1] = nz;
    return c;
}

template <int D>
TallColumns columns_of(const Grid<D>& grid)
{
    return empty_columns(grid.cells[0], D == 3 ? grid.cells[D - 1] : 1);
}

// What is open where nothing moves.
template <int D>
void find_open(TallCells<D>& t, const Grid<D>& grid, const Solids<D>& solids)
{
    const TallColumns columns = columns_of(grid);
    const int rows = grid.cells[1];
    for (int a = 0; a < D - 1; ++a) {
        const FaceColumns faces = face_columns(columns, a);
        const auto open = solids.open[2 * a].view();
        t.open[a] = make_runs(faces.faces(), rows, [&](int f, int j) { return open(face_cell<D>(faces, f, j)); });
    }
    const auto open = solids.open.view();
    t.open[2] = make_runs(columns.columns(), rows + 1, [&](int c, int j) { return open[1](cell_of<D>(grid, c, j)); });
    t.cells = make_runs(columns.columns(), rows, [&](int c, int j) {
        const Cell<D> cell = cell_of<D>(grid, c, j);
        bool any = false;
        for (int a = 0; a < D; ++a)
            for (int side = 0; side < 2; ++side) {
                const Cell<D> face = moved<D>(cell, a, side);
                any = any || (face[a] > 0 && face[a] < grid.cells[a] && open[a](face) > 0);
            }
        return any ? 1.0f : 0.0f;
    });
}

constexpr std::vector<float> FaceColumns::*face_values[] = {&FaceColumns::open, &FaceColumns::mean, &FaceColumns::own,
                                                           &FaceColumns::next, &FaceColumns::scale};

// What the rows between one of a face and the next bring, with their open fractions: sums of the hats' products, run by run.
void add_between(const OpenRuns& runs, int f, int k, FaceColumns& faces)
{
    const int from = faces.row[at(k)], to = faces.row[at(k) + 1], m = to - from;
    double all = 0, lower = 0, both = 0, upper = 0;
    for_runs(runs, f, from + 1, to, [&](int r, int s, float open) {
        const double o = static_cast<double>(open);
        for (; o > 0 && o < 1 && r < s; ++r) {
            const double t = static_cast<double>(r - from) / m;
            all += o, lower += o * (1 - t) * (1 - t), both += o * t * (1 - t), upper += o * t * t;
        }
        if (!(o > 0) || r >= s) return;
        const double i = r - from - 1, j = s - 1 - from;  // of rows from + 1 ... j less those up to i
        const double count = j - i, sum = (j * (j + 1) - i * (i + 1)) / 2 / m;
        const double squares = (j * (j + 1) * (2 * j + 1) - i * (i + 1) * (2 * i + 1)) / 6 / m / m;
        all += count, upper += squares, both += sum - squares, lower += count - 2 * sum + squares;
    });
    faces.mean[at(k)] = static_cast<float>(all / (m - 1));
    faces.own[at(k)] += static_cast<float>(lower);
    faces.own[at(k) + 1] += static_cast<float>(upper);
    faces.next[at(k)] = static_cast<float>(both);
}

// The rows of a column, from above.
template <int D>
struct ColumnMaker {
    const Water<D>& w;
    const Boundary<D>& boundary;
    View<D, const float> phi;
    float near;  // |phi| below which a cell is within the band

    bool active(Cell<D> c) const
    {
        Cell<D> t = c;
        for (int a = 0; a < D; ++a) t[a] /= tile_size;
        return w.map.flags[w.map.index(t)] & tile_active;
    }
    bool has_open_face(Cell<D> c) const
    {
        for (int a = 0; a < D; ++a)
            for (int side = 0; side < 2; ++side)
                if (boundary.open_at(moved<D>(c, a, side), a) > 0) return true;
        return false;
    }
    bool wet(Cell<D> c) const { return phi(c) < 0 && (!boundary.solids || has_open_face(c)); }

    // Pieces of water, from above: the highest and the lowest row of each; and the layer's lowest row.
    int find_pieces(int column, std::vector<std::pair<int, int>>& pieces) const
    {
        pieces.clear();
        const int top = w.grid.cells[1] - 1;
        int lowest = top + 1;
        const auto add = [&](int from, int to) {  // wet rows, below all others
            if (!pieces.empty() && pieces.back().second == to + 1) pieces.back().second = from;
            else pieces.emplace_back(to, from);
        };
        for (int j = top; j >= 0;) {
            const Cell<D> c = cell_of<D>(w.grid, column, j);
            const int tile_bottom = j - j % tile_size;
            if (active(c)) {
                for (; j >= tile_bottom; --j) {
                    const Cell<D> here = cell_of<D>(w.grid, column, j);
                    if (!wet(here)) continue;
                    if (phi(here) > -near) lowest = j;
                    add(j, j);
                }
            } else {
                if (phi(c) < 0) {
                    // Deep water, but for the ground.
                    std::vector<std::pair<int, int>> runs;
                    for_runs(w.tall.cells, column, tile_bottom, j + 1, [&](int from, int to, float open) {
                        if (open > 0) runs.emplace_back(from, to - 1);
                    });
                    for (size_t r = runs.size(); r-- > 0;) add(runs[r].first, runs[r].second);
                }
                j = tile_bottom - 1;
            }
        }
        if (pieces.empty()) return top + 1;
        if (lowest > top) lowest = pieces[0].first;  // no surface
        return lowest;
    }

    // The lowest row of the layer: even, so that it does not go up and down with every ripple.
    int bottom_of_layer(int column, int lowest) const
    {
        int bottom = lowest - w.tall.layer;
        Cell<D> t = cell_of<D>(w.grid, column, 0);
        for (int a = 0; a < D; ++a) t[a] /= tile_size;
        for (t[1] = 0; t[1] < w.map.count[1]; ++t[1])
            if (!w.tall.refined.empty() && w.tall.refined[w.map.index(t)] && tile_size * t[1] < bottom) {
                bottom = tile_size * t[1];
                break;
            }
        return std::max(0, bottom - bottom % 2);
    }

    // Node rows of the pieces, from above.
    void choose_rows(const std::vector<std::pair<int, int>>& pieces, int bottom, std::vector<int>& rows,
                     std::vector<int>& joined) const
    {
        rows.clear();
        joined.clear();
        for (const auto& [top, ground] : pieces) {
            int gap = 2;
            for (int j = top;;) {
                rows.push_back(j);
                joined.push_back(j < top);  // to the one above
                if (j == ground) break;
                if (j > bottom) {
                    --j;
                    continue;
                }
                if (w.tall.single) {
                    j = ground;
                    continue;
                }
                // At multiples of the gap, so that neighbours and later steps have the same.
                int next = (j - 1) / gap * gap;
                if (2 * (j - next) < gap) next -= gap;
                if (2 * (next - ground) < gap) next = ground;
                j = next;
                gap *= 2;
            }
        }
    }
};

}  // namespace

template <int D>
void make_cells(Water<D>& w, const Scene& scene)
{
    const Params& p = scene.params;
    TallCells<D>& t = w.tall;
    if (p.method.grid != GridKind::tall) return;
    t.on = true;
    t.single = p.tall.gaps == TallGaps::single;
    // Beyond the band, paths of a step and what interpolates their ends.
    const int band = static_cast<int>(std::ceil(w.band / w.grid.h));
    const int wanted = static_cast<int>(std::ceil(std::min(p.tall.optical_depth.value_or(0) / w.grid.h, 1e6)));
    t.layer = std::max(wanted - band, static_cast<int>(std::ceil(p.time.cfl)) + 1);
    const TileMap<D> map(w.grid);
    t.refined.assign(map.flags.size(), 0);
    for (const auto* lists : {&w.flows.source_tiles, &w.flows.sink_tiles})
        for (const Tiles<D>& tiles : *lists)
            for (const Box<D>& box : tiles.boxes)
                for (int x = box.lo[0]; x < box.hi[0]; x += tile_size) {
                    Cell<D> tile = box.lo;
                    tile[0] = x;
                    for (int a = 0; a < D; ++a) tile[a] /= tile_size;
                    t.refined[map.index(tile)] = refined_always;
                }
    // Beside open sides water falls out, and is not near its equilibrium along y.
    map.for_each([&](size_t n, Cell<D> tile) {
        for (int a = 0; a < D; a += 2)
            if ((w.ends.open[a][0] && tile[a] == 0) || (w.ends.open[a][1] && tile[a] + 1 == map.count[a])) t.refined[n] = refined_always;
    });
    // Tall cells know what stands still; what moves has rows around it.
    const Solids<D> still = make_still_solids<D>(scene, w.grid);
    if (still.any) find_open(t, w.grid, still);
    // A tile that is all water.
    t.full_volume.resize(map.flags.size());
    t.full_height.resize(map.flags.size());
    const auto nodes = still.any ? std::as_const(still.distance).view() : View<D, const float>{};
    const float h = static_cast<float>(w.grid.h);
    parallel_range("tall cells", static_cast<int>(map.flags.size()), [&](int n) {
        double volume = 0, height = 0;
        backend::each(map.box(map.tile(at(n))), [&](Cell<D> c) {
            const double part = nodes.data ? static_cast<double>(fluid_fraction<D>(nodes, c, h)) : 1.0;
            volume += part;
            height += part * (c[1] + 0.5);
        });
        t.full_volume[at(n)] = static_cast<float>(volume);
        t.full_height[at(n)] = static_cast<float>(height);
    });
    t.columns = columns_of(w.grid);
    t.columns.start.assign(at(t.columns.columns()) + 1, 0);
    refine_around_gauges(w, scene);
    refine_around_movers(w, scene, 0);
}

template <int D>
void keep_layer(const Water<D>& w, std::vector<uint8_t>& flags)
{
    TileMap<D> near(w.grid);
    const int down = (w.tall.layer + 1 + tile_size - 1) / tile_size;
    near.for_each([&](size_t n, Cell<D> t) {
        const bool refined = w.tall.refined[n] && (flags[n] & tile_wet);
        if (!(flags[n] & tile_band) && !refined) return;
        // A column keeps all rows above a tile that does.
        for (Cell<D> up = t; refined && up[1] < near.count[1] && (flags[near.index(up)] & tile_wet); ++up[1])
            near.flags[near.index(up)] = 1;
        for (int k = 0; k <= down && t[1] >= 0; ++k, --t[1]) near.flags[near.index(t)] = 1;
    });
    dilate(near, 1);
    for (size_t n = 0; n < flags.size(); ++n) {
        const bool active = (flags[n] & tile_band) || ((flags[n] & tile_wet) && near.flags[n]);
        flags[n] = static_cast<uint8_t>(active ? flags[n] | tile_active : flags[n] & ~tile_active);
    }
}

template <int D>
bool is_whole(const Water<D>& w, size_t tile)
{
    const auto whole = [&](Cell<D> t) {
        const size_t n = w.map.index(t);
        return (w.map.flags[n] & tile_wet) && !(w.map.flags[n] & tile_band) && !(w.tall.refined[n] & refined_now) &&
               w.tall.full_volume[n] >= static_cast<float>(w.map.box(t).volume());
    };
    const Cell<D> t = w.map.tile(tile);
    bool all = whole(t);
    for (int a = 0; a < D && all && w.solids.any; ++a)
        for (int by = -1; by <= 1; by += 2) {
            const Cell<D> other = moved<D>(t, a, by);
            if (other[a] >= 0 && other[a] < w.map.count[a]) all = all && whole(other);
        }
    return all;
}

template <int D>
TallColumns choose_columns(const Water<D>& w, const Boundary<D>& boundary, std::vector<int>& bottom)
{
    TallColumns columns = columns_of(w.grid);
    const int n = columns.columns();
    const ColumnMaker<D> maker{w, boundary, std::as_const(w.phi).view(), static_cast<float>(nearly * w.band)};
    bottom.assign(at(n), w.grid.cells[1]);
    // Blocks of columns by themselves, then joined in order.
    constexpr int block = 256;
    struct Part {
        std::vector<int> count, row, joined;
    };
    std::vector<Part> parts(at((n + block - 1) / block));
    parallel_rows("tall columns", static_cast<int>(parts.size()), [&](int b) {
        std::vector<std::pair<int, int>> pieces;
        std::vector<int> rows, joined;
        Part& part = parts[at(b)];
        for (int c = b * block; c < std::min(n, (b + 1) * block); ++c) {
            const int lowest = maker.find_pieces(c, pieces);
            if (!pieces.empty()) bottom[at(c)] = maker.bottom_of_layer(c, lowest);
            maker.choose_rows(pieces, bottom[at(c)], rows, joined);
            part.count.push_back(static_cast<int>(rows.size()));
            // From below, and a node tells whether it is joined to the one above it.
            part.row.insert(part.row.end(), rows.rbegin(), rows.rend());
            part.joined.insert(part.joined.end(), joined.rbegin(), joined.rend());
        }
    });
    columns.start.assign(1, 0);
    size_t nodes = 0;
    for (const Part& part : parts) nodes += part.row.size();
    columns.row.reserve(nodes);
    columns.joined.reserve(nodes);
    for (const Part& part : parts) {
        columns.row.insert(columns.row.end(), part.row.begin(), part.row.end());
        columns.joined.insert(columns.joined.end(), part.joined.begin(), part.joined.end());
        for (const int count : part.count) columns.start.push_back(columns.start.back() + count);
    }
    return columns;
}

template <int D>
FaceColumns make_faces(const Water<D>& w, const Boundary<D>& boundary, const TallColumns& columns, const std::vector<int>& bottom,
                       int axis, FaceColumns memory)
{
    const FaceColumns empty = face_columns(columns, axis);
    const int n = empty.faces(), a = 2 * axis;
    const auto phi = std::as_const(w.phi).view();
    const SurfaceView<D> surface{w.grid.cells, phi, static_cast<float>(w.grid.h), {}, 0, {}, 0, {}};
    constexpr int block = 256;
    std::vector<FaceColumns> parts(at((n + block - 1) / block));
    parallel_rows("tall faces", static_cast<int>(parts.size()), [&](int b) {
        FaceColumns& part = parts[at(b)];
        const size_t likely = 2 * at(columns.nodes()) / at(columns.columns()) * block;
        part.row.reserve(likely), part.lower.reserve(likely), part.upper.reserve(likely);
        for (auto member : face_values) (part.*member).reserve(likely);
        for (int f = b * block; f < std::min(n, (b + 1) * block); ++f) {
            const int before = empty.before(f), after = empty.after(f);
            const int side = before < 0 ? 0 : 1;
            const bool wall = before < 0 || after < 0;
            const int first = part.rows();
            const int layer = lowest_fine(empty, bottom, f);
            const auto open_of = [&](int j) {
                return j >= layer ? boundary.open_at(face_cell<D>(empty, f, j), a) : open_at(w.tall.open[axis], f, j);
            };
            if (!wall || boundary.wall_open[a][side])
                merge_rows(columns, before, after, [&](int j, Between lower, Between upper) {
                    float scale = 1;
                    const float open = open_of(j);
                    if (!wall && (lower.node < 0 || upper.node < 0)) {
                        // Beside air, which is a row of the layer; beside the ground there is no face.
                        const Cell<D> up = face_cell<D>(empty, f, j), down = moved<D>(up, a, -1);
                        const bool air = lower.node < 0 ? phi(down) >= 0 : phi(up) >= 0;
                        const Between own = lower.node < 0 ? upper : lower;
                        if (!air || own.part > 0 || !(open > 0)) return;
                        scale = lower.node < 0 ? surface.closeness(up, down) : surface.closeness(down, up);
                    }
                    part.row.push_back(j);
                    part.lower.push_back(lower);
                    part.upper.push_back(upper);
                    part.open.push_back(open);
                    part.mean.push_back(0);
                    part.own.push_back(open);
                    part.next.push_back(0);
                    part.scale.push_back(scale);
                });
            part.start.push_back(part.rows() - first);
            for (int k = first; k + 1 < part.rows(); ++k) {
                const bool joined = (before < 0 || same_water(columns, part.lower[at(k)], part.lower[at(k) + 1])) &&
                                    (after < 0 || same_water(columns, part.upper[at(k)], part.upper[at(k) + 1]));
                if (part.row[at(k) + 1] - part.row[at(k)] < 2 || !joined) continue;
                add_between(w.tall.open[axis], f, k, part);
            }
        }
    });
    FaceColumns faces = std::move(memory);
    faces.axis = axis;
    std::copy(empty.count, empty.count + 2, faces.count);
    faces.start.assign(1, 0);
    size_t rows = 0;
    for (const FaceColumns& part : parts) rows += at(part.rows());
    const auto make_room = [rows](auto& list) {
        list.clear();
        list.reserve(rows);
    };
    make_room(faces.row), make_room(faces.lower), make_room(faces.upper);
    for (auto member : face_values) make_room(faces.*member);
    for (FaceColumns& part : parts) {
        const auto join = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
        for (const int count : part.start) faces.start.push_back(faces.start.back() + count);
        join(faces.row, part.row);
        join(faces.lower, part.lower);
        join(faces.upper, part.upper);
        for (auto member : face_values) join(faces.*member, part.*member);
        part = {};  // of millions of rows there is one copy
    }
    return faces;
}

template <int D>
float mean_open(const TallCells<D>& t, int column, int from, int to)
{
    double sum = 0;
    for_runs(t.open[2], column, from, to, [&](int r, int s, float open) { sum += static_cast<double>(open) * (s - r); });
    return static_cast<float>(sum / (to - from));
}

#define TARN_INSTANTIATE(D)                                                                                              \
    template float mean_open(const TallCells<D>&, int, int, int);                                                       \
    template void make_cells(Water<D>&, const Scene&);                                                                   \
    template void keep_layer(const Water<D>&, std::vector<uint8_t>&);                                                    \
    template bool is_whole(const Water<D>&, size_t);                                                                     \
    template TallColumns choose_columns(const Water<D>&, const Boundary<D>&, std::vector<int>&);                             \
    template FaceColumns make_faces(const Water<D>&, const Boundary<D>&, const TallColumns&, const std::vector<int>&, int, FaceColumns);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn::tall
