// The upwind fluxes below the optical layer: what they do is what refining, the uniform grid's scheme and coarsening do, and momentum is kept.   [IGLF06] §3.2

#include <functional>
#include <random>

#include "run_water.h"
#include "tarn/step/tall.h"
#include "tarn/step/tall_columns.h"

namespace tarn {
namespace {

using tall::at;

// A pool over a hill, deep enough for gaps of many rows.
Params deep_pool(int dimension, bool hill)
{
    Params p = pool(dimension, dimension == 2 ? 64 : 16, 0.9);
    if (dimension == 3) {
        p.domain.size = {0.25, 1, 0.25};
        p.domain.cells = 64;
    }
    p.method.grid = GridKind::tall;
    p.surface.spray = false;
    p.tall.advection = TallAdvection::upwind;
    if (!hill) return p;
    SolidParams ball;
    ball.shape = ShapeKind::ellipsoid;
    ball.center = dimension == 2 ? Vec3{0.4, 0, 0} : Vec3{0.1, 0, 0.14};
    ball.radii = dimension == 2 ? Vec3{0.3, 0.5, 1} : Vec3{0.12, 0.5, 0.1};
    p.solid.push_back(ball);
    return p;
}

void set_random(std::vector<float>& values, unsigned seed)
{
    std::mt19937 random(seed);
    for (float& v : values) v = std::uniform_real_distribution<float>(-1, 1)(random);
}

// The velocity of every row: of faces zero below their first, of links that between a row and the next.
struct Rows {
    int rows;
    std::function<double(int axis, int f, int j)> u;
    std::function<double(int c, int j)> v;
};

template <int D>
Rows refined(const TallCells<D>& t, int rows)
{
    Rows r;
    r.rows = rows;
    r.u = [&t](int axis, int f, int j) -> double {
        const FaceColumns& of = t.faces[axis];
        const int first = of.start[at(f)], end = of.start[at(f) + 1];
        if (first == end || j < of.row[at(first)]) return 0;
        int k = first;
        while (k + 1 < end && of.row[at(k) + 1] <= j) ++k;
        const double a = double(t.velocity.u[axis][at(k)]);
        if (k + 1 == end) return a;
        return a + (double(t.velocity.u[axis][at(k) + 1]) - a) * (j - of.row[at(k)]) / (of.row[at(k) + 1] - of.row[at(k)]);
    };
    r.v = [&t](int c, int j) -> double {
        const int first = t.columns.start[at(c)], end = t.columns.start[at(c) + 1];
        if (end - first < 2 || j < t.columns.row[at(first)]) return 0;
        int n = first;
        while (n + 2 < end && t.columns.row[at(n) + 1] <= j) ++n;
        return double(t.velocity.v[at(n)]);
    };
    return r;
}

double up(double average, double before, double after) { return average >= 0 ? before : after; }

// u* of row j of a face.
template <int D>
double carried(const TallCells<D>& t, const Rows& r, int axis, int f, int j, double c)
{
    const FaceColumns& of = t.faces[axis];
    const int left = of.before(f), right = of.after(f), before = of.of_column(left, 0), after = of.of_column(right, 1);
    const double u = r.u(axis, f, j), u0 = r.u(axis, before, j), u1 = r.u(axis, after, j);
    const double in = up(0.5 * (u0 + u), u0, u), out = up(0.5 * (u + u1), u, u1);
    double sum = out * out - in * in;
    const double v0 = 0.5 * (r.v(left, j - 1) + r.v(right, j - 1)), v1 = 0.5 * (r.v(left, j) + r.v(right, j));
    sum += v1 * up(v1, u, r.u(axis, f, j + 1));
    if (j > of.row[at(of.start[at(f)])]) sum -= v0 * up(v0, r.u(axis, f, j - 1), u);
    for (int side = 0; side < 2 && D == 3; ++side) {
        const FaceColumns& other = t.faces[1 - axis];
        const int g = other.of_column(left, side), h = other.of_column(right, side), next = side ? other.after(g) : other.before(g);
        if (next < 0) continue;
        const double w = 0.5 * (r.u(1 - axis, g, j) + r.u(1 - axis, h, j)), there = r.u(axis, of.of_column(next, 1), j);
        sum += side ? w * up(w, u, there) : -w * up(w, there, u);
    }
    return u - c * sum;
}

// The least squares on `rows` of a value of every row from the first to the last, by elimination.
std::vector<double> coarsened(const std::vector<int>& rows, const std::function<double(int)>& value)
{
    const size_t n = rows.size();
    std::vector<std::vector<double>> m(n, std::vector<double>(n + 1, 0.0));
    for (int j = rows.front(); j <= rows.back(); ++j) {
        std::vector<double> hat(n, 0.0);
        for (size_t k = 0; k < n; ++k) {
            if (k > 0 && j <= rows[k] && j >= rows[k - 1]) hat[k] = double(j - rows[k - 1]) / (rows[k] - rows[k - 1]);
            if (k + 1 < n && j >= rows[k] && j <= rows[k + 1]) hat[k] = double(rows[k + 1] - j) / (rows[k + 1] - rows[k]);
            if (n == 1) hat[k] = 1;
        }
        for (size_t a = 0; a < n; ++a) {
            for (size_t b = 0; b < n; ++b) m[a][b] += hat[a] * hat[b];
            m[a][n] += hat[a] * value(j);
        }
    }
    for (size_t a = 0; a < n; ++a)
        for (size_t b = 0; b < n; ++b) {
            if (b == a) continue;
            const double f = m[b][a] / m[a][a];
            for (size_t k = a; k <= n; ++k) m[b][k] -= f * m[a][k];
        }
    std::vector<double> x(n);
    for (size_t a = 0; a < n; ++a) x[a] = m[a][n] / m[a][a];
    return x;
}

template <int D>
void expect_refine_advect_coarsen(const Params& p)
{
    const Scene scene = scene_of(p);
    Water<D> w = initial_water<D>(scene);
    TallCells<D>& t = w.tall;
    for (int axis = 0; axis < D - 1; ++axis) set_random(t.velocity.u[axis], unsigned(axis) + 1);
    set_random(t.velocity.v, 7);
    const double c = 0.25, dt = c * w.grid.h;  // three components of at most 1 each: one step
    const ColumnVelocity moved = tall::advect_gaps_upwind(w, dt);
    const Rows r = refined(t, w.grid.cells[1]);
    double off = 0, sums = 0;
    int compared = 0, longest = 0;
    for (int axis = 0; axis < D - 1; ++axis) {
        const FaceColumns& of = t.faces[axis];
        for (int f = 0; f < of.faces(); ++f) {
            const int first = of.start[at(f)], end = of.start[at(f) + 1], fine = tall::lowest_fine(of, t.bottom, f);
            if (of.before(f) < 0 || of.after(f) < 0 || first == end || of.row[at(first)] >= fine) continue;
            std::vector<int> rows;
            for (int k = first; k < end; ++k) {
                rows.push_back(of.row[at(k)]);
                if (of.row[at(k)] >= fine) break;
            }
            const std::vector<double> expected = coarsened(rows, [&](int j) { return carried(t, r, axis, f, j, c); });
            double all = 0, sum = 0;
            for (size_t k = 0; k < rows.size(); ++k) off = std::max(off, std::fabs(expected[k] - double(moved.u[axis][at(first) + k])));
            for (int j = rows.front(); j <= rows.back(); ++j) all += carried(t, r, axis, f, j, c);
            for (size_t k = 0; k + 1 < rows.size(); ++k)
                for (int j = rows[k]; j < rows[k + 1]; ++j) {
                    const double s = double(j - rows[k]) / (rows[k + 1] - rows[k]);
                    sum += (1 - s) * double(moved.u[axis][at(first) + k]) + s * double(moved.u[axis][at(first) + k + 1]);
                }
            sum += double(moved.u[axis][at(first) + rows.size() - 1]);
            sums = std::max(sums, std::fabs(sum - all) / double(rows.back() - rows.front() + 1));
            compared += int(rows.size());
            for (size_t k = 0; k + 1 < rows.size(); ++k) longest = std::max(longest, rows[k + 1] - rows[k]);
        }
    }
    double off_v = 0;
    for (int i = 0; i < t.columns.columns(); ++i)
        for (int n = t.columns.start[at(i)]; n + 1 < t.columns.start[at(i) + 1] && t.columns.row[at(n)] < t.bottom[at(i)]; ++n) {
            double mean = 0;
            const int a = t.columns.row[at(n)], b = t.columns.row[at(n) + 1];
            for (int j = a; j < b; ++j) {
                const double v = r.v(i, j), below = r.v(i, j - 1), above = r.v(i, j + 1);
                const double in = up(0.5 * (below + v), below, v), out = up(0.5 * (v + above), v, above);
                double sum = out * out - in * in;
                for (int axis = 0; axis < D - 1; ++axis)
                    for (int side = 0; side < 2; ++side) {
                        const FaceColumns& of = t.faces[axis];
                        const int f = of.of_column(i, side), other = side ? of.after(f) : of.before(f);
                        if (other < 0) continue;
                        const double u = 0.5 * (r.u(axis, f, j) + r.u(axis, f, j + 1)), there = r.v(other, j);
                        sum += side ? u * up(u, v, there) : -u * up(u, there, v);
                    }
                mean += (v - c * sum) / (b - a);
            }
            off_v = std::max(off_v, std::fabs(mean - double(moved.v[at(n)])));
        }
    std::printf("%dD: %d rows of faces, gaps of up to %d: u within %.1e, v within %.1e, sums within %.1e\n", D, compared, longest, off, off_v, sums);
    EXPECT_GE(longest, 8);
    EXPECT_LT(off, 2e-6);  // a value of about 1 in floats, and what elimination leaves
    EXPECT_LT(off_v, 1e-6);
    EXPECT_LT(sums, 1e-6);
}

TEST(TallUpwind, is_refine_advect_coarsen)
{
    expect_refine_advect_coarsen<2>(deep_pool(2, false));
    expect_refine_advect_coarsen<2>(deep_pool(2, true));
    expect_refine_advect_coarsen<3>(deep_pool(3, true));
    Params p = deep_pool(2, true);
    p.tall.gaps = TallGaps::single;
    expect_refine_advect_coarsen<2>(p);
}

// What moves in the depth alone, away from sides and layer, keeps its momentum; in several substeps, too.
TEST(TallUpwind, keeps_momentum)
{
    const Scene scene = scene_of(deep_pool(2, false));
    Water<2> w = initial_water<2>(scene);
    TallCells<2>& t = w.tall;
    const FaceColumns& of = t.faces[0];
    std::vector<float> u(t.velocity.u[0].size()), v(t.velocity.v.size());
    set_random(u, 3);
    set_random(v, 4);
    const auto deep = [&](int x, int row) { return x > 15 && x < 49 && row < 20; };
    for (int f = 0; f < of.faces(); ++f)
        for (int k = of.start[at(f)]; k < of.start[at(f) + 1]; ++k)
            if (!deep(f, of.row[at(k)])) u[at(k)] = 0;
    for (int c = 0; c < t.columns.columns(); ++c)
        for (int n = t.columns.start[at(c)]; n + 1 < t.columns.start[at(c) + 1]; ++n)
            if (!deep(c, t.columns.row[at(n) + 1])) v[at(n)] = 0;
    t.velocity.u[0] = u;
    t.velocity.v = v;
    const auto momentum = [&](const std::vector<float>& of_rows, bool sizes) {
        double sum = 0;
        for (int f = 0; f < of.faces(); ++f)
            for (int k = of.start[at(f)]; k + 1 < of.start[at(f) + 1]; ++k) {
                const int rows = of.row[at(k) + 1] - of.row[at(k)];
                const double a = double(of_rows[at(k)]), b = double(of_rows[at(k) + 1]);
                sum += sizes ? rows * std::fabs(a) : rows * a + 0.5 * (rows - 1) * (b - a);
            }
        return sum;
    };
    for (const double crossed : {0.4, 5.0}) {
        const ColumnVelocity moved = tall::advect_gaps_upwind(w, crossed * w.grid.h);
        EXPECT_NE(moved.u[0], u);
        EXPECT_NEAR(momentum(moved.u[0], false), momentum(u, false), 1e-6 * momentum(u, true)) << crossed;
    }
}

// A whirl in the depth over a hill, for a second: as with paths it dies away, and no step fails.
TEST(TallUpwind, runs_over_a_hill)
{
    Params p = deep_pool(2, true);
    VorticesParams v;
    v.shape = ShapeKind::sphere;
    v.center = Vec3{0.75, 0.35, 0};
    v.radius = 0.01;
    v.count = 1;
    v.strength = Vec3{0, 0, 1};
    v.size = 0.15;
    v.life = 0.5;
    p.vortices.push_back(v);
    double energy[2];
    for (const TallAdvection advection : {TallAdvection::semi_lagrangian, TallAdvection::upwind}) {
        p.tall.advection = advection;
        const Scene scene = scene_of(p);
        Water<2> w = initial_water<2>(scene);
        run_to(w, scene, 1.0);
        energy[advection == TallAdvection::upwind] = measure(w, p).kinetic_energy;
    }
    std::printf("kinetic energy after 1 s: paths %.3g J, upwind %.3g J\n", energy[0], energy[1]);
    EXPECT_GT(energy[1], 0.3 * energy[0]);
    EXPECT_LT(energy[1], 1.5 * energy[0]);
}

}  // namespace
}  // namespace tarn
