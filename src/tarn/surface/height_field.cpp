#include "tarn/surface/height_field.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace tarn {

namespace {

constexpr double dry = 1e-6;  // cells of water, and less

// The axes of the columns' plane.
template <int D>
constexpr int lateral[2] = {0, D - 1};
template <int D>
constexpr int laterals = D - 1;

template <int D>
Cell<D> at_level(Cell<D> c, int j)
{
    c[1] = j;
    return c;
}

// How much of the cell at level j lies under a height.
double part_below(double h, int j) { return std::clamp(h - j, 0.0, 1.0); }

// The water of a column, and how high it stands with so much.
template <int D>
struct Column {
    const Labels<D>& labels;
    Cell<D> c;

    bool open(int j) const { return !is_wall(labels(at_level<D>(c, j))); }
    int top() const { return labels.grid().cells[1]; }
    double water(double h) const
    {
        double sum = 0;
        for (int j = 0; j < top(); ++j) sum += open(j) ? part_below(h, j) : 0.0;
        return sum;
    }
    int floor() const
    {
        int j = 0;
        while (j < top() && !open(j)) ++j;
        return j;
    }
    double height(double water) const
    {
        double h = floor();
        for (int j = floor(); j < top() && water > 0; ++j) {
            if (!open(j)) continue;
            h = j + std::min(1.0, water);
            water -= 1;
        }
        return h;
    }
    bool is_inflow() const
    {
        for (int j = 0; j < top(); ++j)
            if (labels(at_level<D>(c, j)) == Contents::inflow) return true;
        return false;
    }
};

// Calls f(neighbour) for the columns beside one.
template <int D, class F>
void each_beside(Cell<D> cells, Cell<D> c, const F& f)
{
    for (int n = 0; n < laterals<D>; ++n)
        for (const int side : {-1, 1}) {
            const int a = lateral<D>[n], to = c[a] + side;
            if (to >= 0 && to < cells[a]) f(moved<D>(c, a, side));
        }
}

// What flows through the face between a column and the one before it, in cells of volume per cell of way: by level, up to the
// height of the column that it comes from. Van Leer's limiter (1974) leads that on towards the face.
template <int D>
struct Flow {
    const Heights<D>& heights;
    const FaceField<D>& velocity;
    const Labels<D>& labels;
    const std::vector<char>& inflow;
    double share;  // of a cell, for a velocity of 1

    bool inside(Cell<D> c, int a) const { return c[a] >= 0 && c[a] < heights.cells[a]; }
    bool above_inflow(Cell<D> c, int a) const { return inside(c, a) && !counts(c, a) && labels(c) != Contents::inflow; }
    bool counts(Cell<D> c, int a) const { return inside(c, a) && !inflow[heights.index(c)]; }

    double reach(Cell<D> from, Cell<D> to, int a, double speed) const
    {
        if (!counts(from, a)) return heights(to);
        const Cell<D> before = moved<D>(from, a, from[a] - to[a]);
        const double h = heights(from);
        if (!counts(to, a) || !counts(before, a)) return h;
        const double up = h - heights(before), down = heights(to) - h;
        return up * down > 0 ? h + (1 - share * std::fabs(speed)) * up * down / (up + down) : h;
    }
    double operator()(Cell<D> c, int a) const
    {
        const Cell<D> before = moved<D>(c, a, -1);
        double sum = 0;
        for (int j = 0; j < heights.cells[1]; ++j) {
            const Cell<D> upper = at_level<D>(c, j), lower = at_level<D>(before, j);
            if (is_wall(labels(upper)) || is_wall(labels(lower)) || above_inflow(upper, a) || above_inflow(lower, a)) continue;
            const double u = static_cast<double>(velocity[a](upper));
            sum += u * part_below(u > 0 ? reach(before, c, a, u) : reach(c, before, a, u), j);
        }
        return share * sum;
    }
};

// The heights, with those under dry ground as the water beside it has.
template <int D>
Heights<D> led_on(const Heights<D>& heights, const Labels<D>& labels)
{
    constexpr int layers = 3;
    Heights<D> all = heights;
    std::vector<char> known(all.values.size());
    for (size_t i = 0; i < known.size(); ++i) {
        const Column<D> column{labels, all.column(i)};
        known[i] = column.water(all.values[i]) > dry;
        if (!known[i]) all.values[i] = column.floor() - 2.0;
    }
    for (int n = 0; n < layers; ++n) {
        std::vector<std::pair<size_t, double>> found;
        for (size_t i = 0; i < known.size(); ++i) {
            double sum = 0;
            int count = 0;
            each_beside<D>(all.cells, all.column(i), [&](Cell<D> c) {
                if (!known[all.index(c)]) return;
                sum += all(c);
                ++count;
            });
            // Never above the ground, which would be wet.
            const Column<D> column{labels, all.column(i)};
            if (!known[i] && count > 0) found.emplace_back(i, std::min(sum / count, double(column.floor())));
        }
        for (const auto& [i, h] : found) {
            all.values[i] = h;
            known[i] = 1;
        }
    }
    return all;
}

// Catmull-Rom weights of four values around a place between the middle two.
void weigh(double t, double (&w)[4])
{
    w[0] = 0.5 * t * (-1 + t * (2 - t));
    w[1] = 1 + 0.5 * t * t * (3 * t - 5);
    w[2] = 0.5 * t * (1 + t * (4 - 3 * t));
    w[3] = 0.5 * t * t * (t - 1);
}

// Past the sides as mirrored in them, so that the surface meets walls level.
int within(int i, int n)
{
    if (i < 0) i = -1 - i;
    if (i >= n) i = 2 * n - 1 - i;
    return std::clamp(i, 0, n - 1);
}

// The height at a place in columns, by a bicubic spline.
template <int D>
double on_spline(const Heights<D>& heights, const double (&x)[2])
{
    int first[2] = {};
    double w[2][4] = {{0, 1, 0, 0}, {0, 1, 0, 0}};
    for (int n = 0; n < laterals<D>; ++n) {
        first[n] = static_cast<int>(std::floor(x[n])) - 1;
        weigh(x[n] - first[n] - 1, w[n]);
    }
    double sum = 0;
    for (int k = 0; k < (D == 3 ? 4 : 1); ++k)
        for (int i = 0; i < 4; ++i) {
            Cell<D> c;
            c[0] = within(first[0] + i, heights.cells[0]);
            if (D == 3) c[D - 1] = within(first[1] + k, heights.cells[D - 1]);
            sum += w[0][i] * (D == 3 ? w[1][k] : 1.0) * heights(c);
        }
    return sum;
}

}  // namespace

template <int D>
Heights<D> read_heights(const Particles<D>& markers, Cell<D> cells)
{
    Heights<D> heights(cells);
    TARN_CHECK_EQ(static_cast<size_t>(markers.count()), heights.values.size());
    for (size_t i = 0; i < heights.values.size(); ++i) heights.values[i] = static_cast<double>(markers.column(1)[i]) + 0.5;
    return heights;
}

template <int D>
void write_heights(Particles<D>& markers, const Heights<D>& heights)
{
    markers.resize(static_cast<int>(heights.values.size()));
    const ParticleView<D> p = markers.view();
    for (size_t i = 0; i < heights.values.size(); ++i) {
        Vec<D, float> x = heights.column(i).template as<float>();
        x[1] = static_cast<float>(heights.values[i] - 0.5);
        p.put(static_cast<int>(i), x);
        p.radius[i] = -0.5f;
    }
}

template <int D>
Heights<D> heights_of(const Field<D>& phi, const Labels<D>& labels, std::optional<Cell<D>>* over)
{
    const Grid<D>& grid = phi.grid();
    Heights<D> heights(grid.cells);
    for (size_t i = 0; i < heights.values.size(); ++i) {
        const Column<D> column{labels, heights.column(i)};
        const auto depth = [&](int j) { return -static_cast<double>(phi(at_level<D>(column.c, j))) / grid.h; };
        double h = column.floor();
        bool ended = false;
        for (int j = column.floor(); j < column.top(); ++j) {
            if (!column.open(j)) continue;
            const double d = labels(at_level<D>(column.c, j)) == Contents::inflow ? 1.0 : depth(j);
            if (d > 0 && ended && over && !*over) *over = at_level<D>(column.c, j);
            if (!(d > 0)) {
                if (!ended && d > -0.5) h = std::max(h, j + 0.5 + d);
                ended = true;
                continue;
            }
            if (ended) continue;
            const double next = j + 1 < column.top() && column.open(j + 1) ? depth(j + 1) : d;
            h = next > 0 ? j + 1.0 : j + 0.5 + d / (d - next);
        }
        heights.values[i] = h;
    }
    return heights;
}

template <int D>
double volume(const Heights<D>& heights, const Labels<D>& labels)
{
    double sum = 0;
    for (size_t i = 0; i < heights.values.size(); ++i)
        sum += Column<D>{labels, heights.column(i)}.water(heights.values[i]);
    return sum;
}

template <int D>
double move_heights(Heights<D>& heights, const FaceField<D>& velocity, const Labels<D>& labels, double dt)
{
    const size_t n = heights.values.size();
    std::vector<char> inflow(n);
    std::vector<double> water(n), out(n);
    for (size_t i = 0; i < n; ++i) {
        const Column<D> column{labels, heights.column(i)};
        inflow[i] = column.is_inflow();
        water[i] = column.water(heights.values[i]);
    }
    const Flow<D> flow{heights, velocity, labels, inflow, dt / velocity.grid().h};
    // The faces before every column along each axis, and those after the last ones.
    std::vector<std::tuple<int, Cell<D>, double>> flows;
    for (int k = 0; k < laterals<D>; ++k) {
        const int a = lateral<D>[k];
        const auto pass = [&](Cell<D> c) {
            const double q = flow(c, a);
            if (q == 0) return;
            flows.emplace_back(a, c, q);
            const Cell<D> from = q > 0 ? moved<D>(c, a, -1) : c;
            if (flow.inside(from, a)) out[heights.index(from)] += std::fabs(q);
        };
        for (size_t i = 0; i < n; ++i) {
            const Cell<D> c = heights.column(i);
            pass(c);
            if (c[a] + 1 == heights.cells[a]) pass(moved<D>(c, a, 1));
        }
    }
    // No column gives more than it has.
    double gained = 0;
    std::vector<double> change(n);
    for (const auto& [a, c, whole] : flows) {
        const Cell<D> before = moved<D>(c, a, -1), from = whole > 0 ? before : c;
        double q = whole;
        if (flow.counts(from, a)) {
            const size_t i = heights.index(from);
            if (out[i] > water[i]) q *= water[i] / out[i];
        }
        if (flow.counts(before, a)) change[heights.index(before)] -= q, gained -= q;
        if (flow.counts(c, a)) change[heights.index(c)] += q, gained += q;
    }
    for (size_t i = 0; i < n; ++i)
        if (!inflow[i] && change[i] != 0)
            heights.values[i] = Column<D>{labels, heights.column(i)}.height(water[i] + change[i]);
    for (size_t i = 0; i < n; ++i) {
        if (!inflow[i]) continue;
        double sum = 0;
        int count = 0;
        each_beside<D>(heights.cells, heights.column(i), [&](Cell<D> c) {
            if (inflow[heights.index(c)]) return;
            sum += heights(c);
            ++count;
        });
        if (count > 0) heights.values[i] = sum / count;
    }
    return gained;
}

template <int D>
void label_cells(Labels<D>& labels, const Heights<D>& heights)
{
    Field<D, int> wet(labels.grid());
    for (size_t i = 0; i < heights.values.size(); ++i)
        for (int j = 0; j < heights.cells[1]; ++j)
            wet(at_level<D>(heights.column(i), j)) = heights.values[i] - j > dry;
    label_wet_cells(labels, wet);
}

template <int D>
void find_phi(Field<D>& phi, const Heights<D>& heights, const Labels<D>& labels, int finer)
{
    const Heights<D> all = led_on(heights, labels);
    const Grid<D>& grid = phi.grid();
    const Cell<D> n = grid.cells;
    parallel_rows("heights to phi", D == 3 ? n[D - 1] : 1, [&](int k) {
        for (int i = 0; i < n[0]; ++i) {
            Cell<D> c;
            c[0] = i;
            if (D == 3) c[D - 1] = k;
            const auto height = [&](int more, int across) {
                const double x[2] = {(i + more + 0.5) / finer - 0.5, (k + across + 0.5) / finer - 0.5};
                return finer * on_spline(all, x);
            };
            const double h = height(0, 0), along = 0.5 * (height(1, 0) - height(-1, 0));
            const double aside = D == 3 ? 0.5 * (height(0, 1) - height(0, -1)) : 0.0;
            const double share = grid.h / std::sqrt(1 + along * along + aside * aside);
            for (int j = 0; j < n[1]; ++j) phi(at_level<D>(c, j)) = static_cast<float>(share * (j + 0.5 - h));
        }
    });
}

#define TARN_INSTANTIATE(D)                                                                                  \
    template Heights<D> read_heights(const Particles<D>&, Cell<D>);                                          \
    template void write_heights(Particles<D>&, const Heights<D>&);                                           \
    template Heights<D> heights_of(const Field<D>&, const Labels<D>&, std::optional<Cell<D>>*);              \
    template double volume(const Heights<D>&, const Labels<D>&);                                             \
    template double move_heights(Heights<D>&, const FaceField<D>&, const Labels<D>&, double);                \
    template void label_cells(Labels<D>&, const Heights<D>&);                                                \
    template void find_phi(Field<D>&, const Heights<D>&, const Labels<D>&, int);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
