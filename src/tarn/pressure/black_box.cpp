#include "tarn/pressure/black_box.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "tarn/pressure/smooth.h"

namespace tarn {

namespace {

using Values = View<2, const float>;

constexpr int coarsest_side = 3, coarsest_rounds = 4;
// Links are one in water. So little is what round-off leaves of a component without Dirichlet rows that is a single point: nothing is to be known there.
constexpr float round_off = 1e-6f;
// Rows that a thread does at a time, cells of a row that are split at a time, and cells that are smoothed.
constexpr int rows_at_once = 8, smoothed_at_once = 4096, split_at_once = 128;

// How many of n columns are kept, and which.
int coarse_points(int n) { return n / 2 + 1; }
TARN_HD inline int fine_of(int coarse, int n) { return 2 * coarse < n ? 2 * coarse : n - 1; }
// Whether there is a column between two kept ones, and which stands for it: itself, or the lower of the two.
TARN_HD inline bool between(int coarse, int n) { return 2 * coarse + 2 < n; }
TARN_HD inline int middle_of(int coarse, int n) { return fine_of(coarse, n) + static_cast<int>(between(coarse, n)); }

// Calls f(j) for every row.
template <class F>
void by_rows(const char* name, Cell<2> cells, const F& f)
{
    const int blocks = (cells[1] + rows_at_once - 1) / rows_at_once;
    backend::blocks(name, blocks, static_cast<long>(cells[0]) * cells[1], [&](int b) {
        for (int j = b * rows_at_once; j < std::min(cells[1], (b + 1) * rows_at_once); ++j) f(j);
    });
}

struct Links9 {
    Values west, south, south_west, south_east;

    TARN_HD float sum_of_neighbours(const Values& x, int i) const
    {
        const int n = x.stride[1];
        return west[i] * x[i - 1] + west[i + 1] * x[i + 1] + south[i] * x[i - n] + south[i + n] * x[i + n] +
               south_west[i] * x[i - n - 1] + south_west[i + n + 1] * x[i + n + 1] + south_east[i] * x[i - n + 1] +
               south_east[i + n - 1] * x[i + n - 1];
    }
};

Links9 links_of(const BlackBoxLevel& l)
{
    return {l.links[0].view(), l.links[1].view(), l.links[2].view(), l.links[3].view()};
}

// Residuals on a level.
struct Residual9 {
    Values x, b, diagonal;
    Links9 links;

    TARN_HD float operator()(int i) const { return b[i] - diagonal[i] * x[i] + links.sum_of_neighbours(x, i); }
    TARN_HD int index(Cell<2> c) const { return x.index(c); }
};
Residual9 residual_of(const BlackBoxLevel& l)
{
    return {std::as_const(l.x).view(), std::as_const(l.b).view(), l.diagonal.view(), links_of(l)};
}
// The same on the finest one; 0 in cells that are no unknowns.
struct Residual5 {
    Values x, b;
    PoissonView<2> a;

    TARN_HD float operator()(int i) const
    {
        const float residual = b[i] - apply<false>(x, a, i);
        return a.inverse_diagonal[i] > 0 ? residual : 0.0f;
    }
    TARN_HD int index(Cell<2> c) const { return x.index(c); }
};
// A field as it is.
struct Same {
    Values values;

    TARN_HD float operator()(int i) const { return values[i]; }
    TARN_HD int index(Cell<2> c) const { return values.index(c); }
};

// The values of kept columns into `even`, those of the columns between, or what stands for them, into `odd`.
template <class Value>
void split(const char* name, Field<2>& even, Field<2>& odd, const Tiles<2>& tiles, Cell<2> cells, bool plain, const Value& value)
{
    const auto e = even.view(), o = odd.view();
    const int n = cells[0];
    if (plain) {
        parallel_for(name, tiles, [=] TARN_KERNEL(Cell<2> c) {
            e(c) = value(value.index({fine_of(c[0], n), c[1]}));
            o(c) = value(value.index({middle_of(c[0], n), c[1]}));
        });
        return;
    }
    by_rows(name, cells, [&](int j) {
        const Value own = value;
        float row[split_at_once];
        const int to = e.index({0, j}), from = own.index({0, j});
        for (int begin = 0; begin < n; begin += split_at_once) {
            const int length = std::min(split_at_once, n - begin), pairs = length / 2;
            TARN_INDEPENDENT
            for (int i = 0; i < length; ++i) row[i] = own(from + begin + i);
            float* const even_row = &e[to + begin / 2];
            float* const odd_row = &o[to + begin / 2];
            for (int i = 0; i < pairs; ++i) even_row[i] = row[2 * i];
            for (int i = 0; i < pairs; ++i) odd_row[i] = row[2 * i + 1];
        }
        const int last = coarse_points(n) - 1;
        e[to + last] = own(from + n - 1);
        o[to + last] = e[to + last];
        if (last > 0 && !between(last - 1, n)) o[to + last - 1] = e[to + last - 1];
    });
}

// Links of coarse levels may be negative. What is divided by them must not be: weights would be of any size, and a cycle
// that adds to its errors.
TARN_HD inline float positive(float v) { return v > 0 ? v : 0.0f; }
TARN_HD inline Vec<2, float> positive(Vec<2, float> v) { return {positive(v[0]), positive(v[1])}; }

// The links of the finer level, their columns apart. `nine`: those across corners, too.
template <bool nine>
struct SplitLinks {
    Values even[4], odd[4];
    int columns, rows;  // of the finer level

    // What an odd column's cell conducts to the kept ones on its sides.
    TARN_HD Vec<2, float> along_x(int I, int j) const
    {
        const int i = even[0].index({I, j});
        Vec<2, float> sides{odd[0][i], even[0][i + 1]};
        if constexpr (nine) {
            const int n = even[0].stride[1];
            sides[0] += odd[2][i] + even[3][i + n];
            sides[1] += odd[3][i] + even[2][i + 1 + n];
        }
        return positive(sides);
    }
    // What a cell conducts to the kept rows below and above it: of an even and of an odd column.
    TARN_HD Vec<2, float> along_y_even(int I, int j) const
    {
        const int i = even[0].index({I, j}), n = even[0].stride[1];
        Vec<2, float> sides{even[1][i], even[1][i + n]};
        if constexpr (nine) {
            sides[0] += even[2][i] + even[3][i];
            sides[1] += odd[2][i + n] + odd[3][i + n - 1];
        }
        return positive(sides);
    }
    TARN_HD Vec<2, float> along_y_odd(int I, int j) const
    {
        const int i = even[0].index({I, j}), n = even[0].stride[1];
        Vec<2, float> sides{odd[1][i], odd[1][i + n]};
        if constexpr (nine) {
            sides[0] += odd[2][i] + odd[3][i];
            sides[1] += even[2][i + 1 + n] + even[3][i + n];
        }
        return positive(sides);
    }
};

// What a cell conducts by way of a neighbour that it is linked to: to the neighbour's sides, and on from there.
TARN_HD inline void add_lumped(Vec<2, float>& sides, float link, Vec<2, float> of_neighbour)
{
    const float along = positive(link), all = of_neighbour[0] + of_neighbour[1] + along;
    const float passed = along / (all > 0 ? all : 1.0f);
    sides += passed * of_neighbour;
}

// The share of the lower side.
TARN_HD inline float lower_share(Vec<2, float> sides)
{
    const float all = sides[0] + sides[1], share = sides[0] / (all > 0 ? all : 1.0f);
    return all > 0 ? share : 1.0f;
}

// A value in a patch, by the weights of its four corners: here, east, north, north-east.
struct Shares {
    float of[4];
};

// What a patch conducts between its corners: along its south, north, west and east, to the north-east, and from east to
// north. A link between two of its cells adds to each pair by how far it moves with either.
struct Patch {
    float between[6] = {};

    TARN_HD void add(float link, const Shares& a, const Shares& b)
    {
        const float here = a.of[0] - b.of[0], east = a.of[1] - b.of[1], north = a.of[2] - b.of[2], far = a.of[3] - b.of[3];
        between[0] -= link * here * east;
        between[1] -= link * north * far;
        between[2] -= link * here * north;
        between[3] -= link * east * far;
        between[4] -= link * here * far;
        between[5] -= link * east * north;
    }
};

// The weights of cells between two kept ones. Rows beyond the grid have no links to them.
template <bool nine>
void share_between_two(BlackBoxLevel& level, const SplitLinks<nine>& links)
{
    const Cell<2> cells = level.fine_cells;
    const auto west = level.weights[0].view(), east = level.weights[1].view(), south = level.weights[2].view(), north = level.weights[3].view();
    parallel_for<true>("multigrid build", level.tiles, [=] TARN_KERNEL(Cell<2> c) TARN_IN_LOOP {
        const int I = c[0], j = fine_of(c[1], cells[1]);
        const auto down = links.odd[1];
        Vec<2, float> sides = links.along_x(I, j);
        add_lumped(sides, down({I, j}), links.along_x(I, j - 1));
        add_lumped(sides, down({I, j + 1}), links.along_x(I, j + 1));
        const float lower = lower_share(sides);
        const float is_between = between(I, cells[0]) ? 1.0f : 0.0f;
        west(c) = is_between * lower;
        east(c) = is_between * (1 - lower);
    });
    parallel_for<true>("multigrid build", level.tiles, [=] TARN_KERNEL(Cell<2> c) TARN_IN_LOOP {
        const int I = c[0], j = middle_of(c[1], cells[1]), i = links.even[0].index({I, j});
        Vec<2, float> sides = links.along_y_even(I, j);
        add_lumped(sides, links.even[0][i], links.along_y_odd(I - 1, j));
        // Its neighbour in the east is kept, too, where nothing lies between them.
        const float is_next = between(I, cells[0]) ? 1.0f : 0.0f, is_far = 1 - is_next;
        add_lumped(sides, is_next * links.odd[0][i] + is_far * links.even[0][i + 1],
                   is_next * links.along_y_odd(I, j) + is_far * links.along_y_even(I + 1, j));
        const float lower = lower_share(sides);
        const float is_between = between(c[1], cells[1]) ? 1.0f : 0.0f;
        south(c) = is_between * lower;
        north(c) = is_between * (1 - lower);
    });
}

// The weights of cells between four, and what patches of four kept cells conduct. Where no column lies between, the west stands for it, and
// where no row does, the south; `x` and `y` leave out the links that this would count twice.
template <bool nine>
void share_between_four(BlackBoxLevel& level, const SplitLinks<nine>& links)
{
    const Cell<2> cells = level.fine_cells, coarse = level.grid.cells;
    const auto west = level.weights[0].view(), east = level.weights[1].view(), south = level.weights[2].view(), north = level.weights[3].view();
    const auto here_share = level.weights[4].view(), east_share = level.weights[5].view();
    const auto north_share = level.weights[6].view(), far_share = level.weights[7].view();
    const auto p0 = level.patch[0].view(), p1 = level.patch[1].view(), p2 = level.patch[2].view(), p3 = level.patch[3].view();
    const auto to_south_west = level.links[2].view(), to_south_east = level.links[3].view();
    parallel_for<true>("multigrid build", level.tiles, [=] TARN_KERNEL(Cell<2> c) TARN_IN_LOOP {
        const int I = c[0], n = west.stride[1], k = west.index(c), split_stride = links.even[0].stride[1];
        // Numbers: with truths GCC would not do many at once.
        const float x = between(I, cells[0]) ? 1.0f : 0.0f, y = between(c[1], cells[1]) ? 1.0f : 0.0f, both = x * y;
        // Beyond the last column and row there is no patch.
        const float lies_east = I + 1 < coarse[0] ? 1.0f : 0.0f, lies_north = c[1] + 1 < coarse[1] ? 1.0f : 0.0f;
        const int low = links.even[0].index({I, fine_of(c[1], cells[1])});
        const int mid = links.even[0].index({I, middle_of(c[1], cells[1])}), top = mid + split_stride;

        const float alone_x = 1 - x, alone_y = 1 - y, inside = lies_east * lies_north;
        const Shares south_side{{west[k] + alone_x, east[k], 0, 0}};
        const Shares north_side{{0, 0, west[k + n] + alone_x, east[k + n]}};
        const Shares west_side{{south[k] + alone_y, 0, north[k], 0}};
        const Shares east_side{{0, south[k + 1] + alone_y, 0, north[k + 1]}};

        const float to_west = both * links.odd[0][mid], to_east = y * links.even[0][mid + 1];
        const float to_south = both * links.odd[1][mid], to_north = x * links.odd[1][top];
        float corner[4] = {};
        if constexpr (nine) {
            corner[0] = both * links.odd[2][mid];
            corner[1] = y * links.odd[3][mid];
            corner[2] = x * links.even[3][top];
            corner[3] = links.even[2][top + 1];
        }
        float own[4] = {
            positive(to_west * west_side.of[0] + to_south * south_side.of[0] + corner[0]),
            positive(to_east * east_side.of[1] + to_south * south_side.of[1] + corner[1]),
            positive(to_west * west_side.of[2] + to_north * north_side.of[2] + corner[2]),
            positive(to_east * east_side.of[3] + to_north * north_side.of[3] + corner[3]),
        };
        const float all = own[0] + own[1] + own[2] + own[3];
        const float scale = 1 / (all > 0 ? all : 1.0f);
        Shares centre;
        TARN_UNROLL
        for (int s = 0; s < 4; ++s) {
            own[s] *= both * scale;
            const float alone = s == 0 ? alone_x * alone_y : 0.0f;
            centre.of[s] = own[s] + x * alone_y * south_side.of[s] + alone_x * y * west_side.of[s] + alone;
        }
        here_share[k] = own[0];
        east_share[k] = own[1];
        north_share[k] = own[2];
        far_share[k] = own[3];

        Patch inner;
        inner.add(to_west, centre, west_side);
        inner.add(to_east, centre, east_side);
        inner.add(to_south, centre, south_side);
        inner.add(to_north, centre, north_side);
        if constexpr (nine) {
            inner.add(corner[0], centre, {{1, 0, 0, 0}});
            inner.add(corner[1], centre, {{0, 1, 0, 0}});
            inner.add(corner[2], centre, {{0, 0, 1, 0}});
            inner.add(corner[3], centre, {{0, 0, 0, 1}});
            inner.add(both * links.even[3][mid], south_side, west_side);
            inner.add(y * links.even[2][mid + 1], south_side, east_side);
            inner.add(x * links.odd[2][top], north_side, west_side);
            inner.add(links.odd[3][top], north_side, east_side);
        }
        // The cells along the sides: a - u = (1 - s)(a - b), u - b = s (a - b).
        const float s = south_side.of[0], w = west_side.of[0];
        const float along_south = x * links.odd[0][low] * (1 - s) * (1 - s) + links.even[0][low + 1] * s * s;
        const float along_west = y * links.even[1][mid] * (1 - w) * (1 - w) + links.even[1][top] * w * w;
        p0[k] = lies_east * along_south + inside * inner.between[0];
        p1[k] = inside * inner.between[1];
        p2[k] = lies_north * along_west + inside * inner.between[2];
        p3[k] = inside * inner.between[3];
        to_south_west[k + n + 1] = inside * inner.between[4];
        to_south_east[k + n] = inside * inner.between[5];
    });
}

// Patches meet along their sides.
void join_patches(BlackBoxLevel& level)
{
    const auto p0 = level.patch[0].view(), p1 = level.patch[1].view(), p2 = level.patch[2].view(), p3 = level.patch[3].view();
    const auto to_west = level.links[0].view(), to_south = level.links[1].view();
    parallel_for<true>("multigrid build", level.tiles, [=] TARN_KERNEL(Cell<2> c) TARN_IN_LOOP {
        const int k = to_west.index(c), n = to_west.stride[1];
        to_west[k] = p0[k - 1] + p1[k - 1 - n];
        to_south[k] = p2[k - n] + p3[k - n - 1];
    });
}

// The weights and the links of a level, from the links of the finer one.
template <bool nine>
void build_level(BlackBoxLevel& level, const Values (&fine)[4], bool plain)
{
    const Cell<2> cells = level.fine_cells;
    SplitLinks<nine> links{{}, {}, cells[0], cells[1]};
    for (int n = 0; n < (nine ? 4 : 2); ++n) {
        split("multigrid build", level.even_links[n], level.odd_links[n], level.split_tiles, cells, plain, Same{fine[n]});
        links.even[n] = std::as_const(level.even_links[n]).view();
        links.odd[n] = std::as_const(level.odd_links[n]).view();
    }
    share_between_two(level, links);
    share_between_four(level, links);
    join_patches(level);
}

// What the cell of a column between, or of a kept one, takes from the coarse level, in a kept row or between two.
struct Given {
    Values x, west, east, south, north, here, east_of_four, north_of_four, far;

    TARN_HD float even(int k, bool row_between) const
    {
        const int n = x.stride[1];
        return row_between ? south[k] * x[k] + north[k] * x[k + n] : x[k];
    }
    TARN_HD float odd(int k, bool row_between) const
    {
        const int n = x.stride[1];
        return row_between ? here[k] * x[k] + east_of_four[k] * x[k + 1] + north_of_four[k] * x[k + n] + far[k] * x[k + n + 1]
                   : west[k] * x[k] + east[k] * x[k + 1];
    }
};

Given given_by(const BlackBoxLevel& l)
{
    return {l.x.view(),         l.weights[0].view(), l.weights[1].view(), l.weights[2].view(), l.weights[3].view(),
            l.weights[4].view(), l.weights[5].view(), l.weights[6].view(), l.weights[7].view()};
}

// b = P^T of what is split.
void gather(Field<2>& to, const BlackBoxLevel& level)
{
    const auto b = to.view();
    const Values even = std::as_const(level.even).view(), odd = std::as_const(level.odd).view();
    const Given given = given_by(level);
    const int rows = level.fine_cells[1];
    parallel_for<true>("restrict", level.tiles, [=] TARN_KERNEL(Cell<2> c) {
        const int k = b.index(c), n = b.stride[1], m = even.stride[1];
        const int i = even.index({c[0], fine_of(c[1], rows)});
        const Given& g = given;
        const float along = even[i] + g.west[k] * odd[i] + g.east[k - 1] * odd[i - 1];
        const float above = g.south[k] * even[i + m] + g.here[k] * odd[i + m] + g.east_of_four[k - 1] * odd[i - 1 + m];
        const float below = g.north[k - n] * even[i - m] + g.north_of_four[k - n] * odd[i - m] + g.far[k - n - 1] * odd[i - 1 - m];
        b[k] = along + above + below;
    });
}

// x += P x'.
void prolong(Field<2>& to, const BlackBoxLevel& level, const Tiles<2>& tiles, bool plain)
{
    const auto x = to.view();
    const Given given = given_by(level);
    const Cell<2> cells = level.fine_cells, coarse = level.grid.cells;
    if (plain) {
        parallel_for("prolong", tiles, [=] TARN_KERNEL(Cell<2> c) {
            const bool last_column = c[0] == cells[0] - 1, last_row = c[1] == cells[1] - 1;
            const bool row_between = (c[1] & 1) && !last_row;
            const int I = last_column ? coarse[0] - 1 : c[0] >> 1, J = last_row ? coarse[1] - 1 : c[1] >> 1;
            const int k = given.x.index({I, J});
            x(c) += (c[0] & 1) && !last_column ? given.odd(k, row_between) : given.even(k, row_between);
        });
        return;
    }
    by_rows("prolong", cells, [&](int j) {
        const Given own = given;
        const bool last_row = j == cells[1] - 1, row_between = (j & 1) && !last_row;
        const int from = own.x.index({0, last_row ? coarse[1] - 1 : j >> 1}), to_row = x.index({0, j});
        float row[split_at_once];
        const auto add = [&](auto between_rows) {
            for (int begin = 0; begin < cells[0]; begin += split_at_once) {
                const int length = std::min(split_at_once, cells[0] - begin), pairs = length / 2, first = from + begin / 2;
                TARN_INDEPENDENT
                for (int i = 0; i < pairs; ++i) {
                    row[2 * i] = own.even(first + i, between_rows.value);
                    row[2 * i + 1] = own.odd(first + i, between_rows.value);
                }
                float* const out = &x[to_row + begin];
                for (int i = 0; i < 2 * pairs; ++i) out[i] += row[i];
            }
            // The last column is kept; the weights of what would lie before it in an even number of columns are zero.
            x[to_row + cells[0] - 1] += own.even(from + coarse[0] - 1, between_rows.value);
        };
        if (row_between)
            add(std::true_type{});
        else
            add(std::false_type{});
    });
}

// x += weight (b - A x) / scale, or from zero.
struct Smoothing {
    Residual9 residual;
    Values scale;
    View<2> next;
    float weight;

    TARN_HD void operator()(int i) const { next[i] = residual.x[i] + weight * scale[i] * residual(i); }
    TARN_HD int index(Cell<2> c) const { return scale.index(c); }
};
struct FirstSmoothing {
    Values b, scale;
    View<2> next;
    float weight;

    TARN_HD void operator()(int i) const { next[i] = weight * scale[i] * b[i]; }
    TARN_HD int index(Cell<2> c) const { return scale.index(c); }
};
template <class Kernel>
void smooth_by(const BlackBoxLevel& level, const Kernel& kernel, bool plain)
{
    if (plain) {
        parallel_for("smooth", level.tiles, [=] TARN_KERNEL(Cell<2> c) { kernel(kernel.index(c)); });
        return;
    }
    // All of the level as one row, and with it the padding between its rows, where everything is zero and stays so.
    const Cell<2> cells = level.grid.cells;
    const int length = kernel.index({cells[0] - 1, cells[1] - 1}) + 1;
    backend::blocks("smooth", (length + smoothed_at_once - 1) / smoothed_at_once, length, [&](int block) {
        const Kernel own = kernel;
        const int end = std::min(length, (block + 1) * smoothed_at_once);
        TARN_INDEPENDENT
        for (int i = block * smoothed_at_once; i < end; ++i) own(i);
    });
}
void smooth(const BlackBoxLevel& level, float weight, bool from_zero, bool plain)
{
    const Values scale = level.scale.view();
    if (from_zero)
        smooth_by(level, FirstSmoothing{std::as_const(level.b).view(), scale, level.next.view(), weight}, plain);
    else
        smooth_by(level, Smoothing{residual_of(level), scale, level.next.view(), weight}, plain);
    level.x.swap(level.next);
}

// The diagonal, and what smoothing divides by: half the sum of a row's absolute values, so that no eigenvalue is above 2 whatever the signs.
void find_diagonal(BlackBoxLevel& level)
{
    const auto diagonal = level.diagonal.view(), scale = level.scale.view();
    const Values dirichlet = std::as_const(level.x).view();
    const Links9 links = links_of(level);
    parallel_for<true>("multigrid build", level.tiles, [=] TARN_KERNEL(Cell<2> c) {
        const int i = diagonal.index(c), n = diagonal.stride[1];
        const float around[8] = {links.west[i],       links.west[i + 1],           links.south[i],      links.south[i + n],
                                 links.south_west[i], links.south_west[i + n + 1], links.south_east[i], links.south_east[i + n - 1]};
        float own = dirichlet[i], size = 0;
        TARN_UNROLL
        for (int k = 0; k < 8; ++k) own += around[k];
        TARN_UNROLL
        for (int k = 0; k < 8; ++k) size += std::fabs(around[k]);
        const float half = 0.5f * (own + size), one_over = 1 / (half > 0 ? half : 1.0f);
        diagonal[i] = own > round_off ? own : 0.0f;
        scale[i] = own > round_off ? one_over : 0.0f;
    });
}

}  // namespace

BlackBox::BlackBox(const Grid<2>& fine, BlackBoxEffort effort, bool plain) : effort_(effort), plain_(plain)
{
    // One over the roots of the Chebyshev polynomial on the upper part of the spectrum, which smoothing is for.
    const double low = 1.0 / effort.coarse, high = 2;
    for (int k = 0; k < effort.coarse; ++k) {
        const double angle = std::numbers::pi * (2 * k + 1) / (2 * effort.coarse);
        weights_.push_back(static_cast<float>(2 / (high + low + (high - low) * std::cos(angle))));
    }

    Grid<2> g = fine;
    while (std::max(g.cells[0], g.cells[1]) > coarsest_side) {
        BlackBoxLevel level;
        level.fine_cells = g.cells;
        const Grid<2> split_grid({coarse_points(g.cells[0]), g.cells[1]}, g.h);
        const bool nine = !coarse_.empty();
        g = Grid<2>({coarse_points(g.cells[0]), coarse_points(g.cells[1])}, 2 * g.h);
        level.grid = g;
        level.tiles = all_tiles(g);
        level.split_tiles = all_tiles(split_grid);
        for (Field<2>* f : {&level.x, &level.next, &level.b, &level.diagonal, &level.scale}) *f = Field<2>(g);
        for (Field<2>& f : level.links) f = Field<2>(g);
        for (Field<2>& f : level.weights) f = Field<2>(g);
        for (Field<2>& f : level.patch) f = Field<2>(g);
        level.even = Field<2>(split_grid);
        level.odd = Field<2>(split_grid);
        for (int n = 0; n < (nine ? 4 : 2); ++n) {
            level.even_links[n] = Field<2>(split_grid);
            level.odd_links[n] = Field<2>(split_grid);
        }
        coarse_.push_back(std::move(level));
    }
}

void BlackBox::build(const Poisson<2>& system, const Field<2>& dirichlet, bool tied)
{
    fine_ = system;
    invert_diagonal(*fine_.inverse_diagonal, dirichlet, *fine_.w, fine_.tiles);
    if (effort_.bodies) bodies_.find(system, dirichlet);
    const Field<2>* fine_dirichlet = &dirichlet;
    for (size_t n = 0; n < coarse_.size(); ++n) {
        BlackBoxLevel& level = coarse_[n];
        if (n == 0) {
            build_level<false>(level, {std::as_const((*fine_.w)[0]).view(), std::as_const((*fine_.w)[1]).view(), {}, {}}, plain_);
        } else {
            const BlackBoxLevel& finer = coarse_[n - 1];
            build_level<true>(level, {finer.links[0].view(), finer.links[1].view(), finer.links[2].view(), finer.links[3].view()}, plain_);
        }
        // The Dirichlet term is kept in x until the cycle needs it.
        if (tied) {
            split("multigrid build", level.even, level.odd, level.split_tiles, level.fine_cells, plain_, Same{fine_dirichlet->view()});
            gather(level.x, level);
            fine_dirichlet = &level.x;
        } else {
            level.x.fill(0);
        }
        find_diagonal(level);
    }
}

void BlackBox::cycle(size_t n, bool from_zero) const
{
    const BlackBoxLevel& l = coarse_[n];
    const auto smooth_all = [&](bool first) {
        for (size_t k = 0; k < weights_.size(); ++k) smooth(l, weights_[k], first && k == 0, plain_);
    };
    smooth_all(from_zero);
    if (n + 1 < coarse_.size()) {
        const BlackBoxLevel& next = coarse_[n + 1];
        split("restrict", next.even, next.odd, next.split_tiles, next.fine_cells, plain_, residual_of(l));
        gather(next.b, next);
        const bool last = n + 2 == coarse_.size();
        for (int visit = 0; visit < (last ? 1 : effort_.visits); ++visit) cycle(n + 1, visit == 0);
        prolong(l.x, next, l.tiles, plain_);
    } else {
        for (int round = 0; round < coarsest_rounds; ++round) smooth_all(false);
    }
    smooth_all(false);
}

void BlackBox::precondition(Field<2>& z, const Field<2>& r, double* dot) const
{
    const FaceField<2>& w = *fine_.w;
    const Field<2>& inverse = *fine_.inverse_diagonal;
    sweep_from_zero<false>(z, r, w, inverse, fine_.tiles);
    for (int s = 1; s < effort_.fine; ++s)
        for (const int which : {0, 1}) relax<false>(z, r, w, inverse, fine_.tiles, which);
    if (effort_.bodies) bodies_.relax(z, r);
    if (!coarse_.empty()) {
        const BlackBoxLevel& next = coarse_[0];
        split("restrict", next.even, next.odd, next.split_tiles, next.fine_cells, plain_,
              Residual5{std::as_const(z).view(), r.view(), view_of(fine_)});
        gather(next.b, next);
        for (int visit = 0; visit < effort_.visits; ++visit) cycle(0, visit == 0);
        prolong(z, next, fine_.tiles, plain_);
    }
    if (effort_.bodies) bodies_.relax(z, r);
    for (int s = 1; s < effort_.fine; ++s)
        for (const int which : {1, 0}) relax<false>(z, r, w, inverse, fine_.tiles, which);
    relax<false>(z, r, w, inverse, fine_.tiles, 1);
    relax_last<false>(z, r, w, inverse, fine_.tiles, dot);
}

}  // namespace tarn
