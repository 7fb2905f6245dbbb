// Tall cells: what their system is beside the uniform grid's, how fast waves run over them, and what their water does.   [IGLF06]

#include "tarn/step/tall.h"

#include <cstdio>
#include <cstring>
#include <random>

#include "run_water.h"
#include "tarn/scene/tall_cells.h"
#include "tarn/step/boundary.h"
#include "tarn/step/state.h"
#include "tarn/step/tall_columns.h"

namespace tarn {
namespace {

using tall::at;

Params tall_pool(int dimension, int cells, double level, double depth = 1)
{
    Params p = pool(dimension, cells, level);
    p.domain.size[1] = depth;
    p.method.grid = GridKind::tall;
    p.surface.spray = false;
    return p;
}

void add_box(Params& p, Vec3 min, Vec3 max)
{
    WaterParams water;
    water.min = min;
    water.max = max;
    p.water.push_back(water);
}

void add_hill(Params& p, double x, double radius, double height)
{
    SolidParams hill;
    hill.shape = ShapeKind::ellipsoid;
    hill.center = Vec3{x, 0, 0.5};
    hill.radii = Vec3{radius, height, radius};
    p.solid.push_back(hill);
}

std::vector<float> random_values(size_t n, unsigned seed)
{
    std::mt19937 random(seed);
    std::vector<float> x(n);
    for (float& v : x) v = std::uniform_real_distribution<float>(-1, 1)(random);
    return x;
}

// P: the pressure of every row from that of the nodes.
std::vector<double> on_rows(const TallColumns& c, const std::vector<float>& x, int rows)
{
    std::vector<double> p(at(c.columns()) * at(rows), 0.0);
    for (int column = 0; column < c.columns(); ++column)
        for (int n = c.start[at(column)]; n < c.start[at(column) + 1]; ++n) {
            const int a = c.row[at(n)], b = c.joined[at(n)] ? c.row[at(n) + 1] : a + 1;
            for (int j = a; j < b; ++j) {
                const double t = c.joined[at(n)] ? static_cast<double>(j - a) / (b - a) : 0;
                p[at(column) + at(c.columns()) * at(j)] = (1 - t) * x[at(n)] + (t > 0 ? t * x[at(n) + 1] : 0);
            }
        }
    return p;
}

// P^T A P x, where A is the uniform grid's.
std::vector<double> by_rows(const Water<2>& w, const Boundary<2>& boundary, const std::vector<float>& x)
{
    const TallColumns& c = w.tall.columns;
    const int rows = w.grid.cells[1], columns = c.columns();
    const std::vector<double> p = on_rows(c, x, rows);
    const std::vector<double> unknown = on_rows(c, std::vector<float>(at(c.nodes()) + 1, 1.0f), rows);
    const auto phi = w.phi.view();
    std::vector<double> y(p.size(), 0.0);
    for (int j = 0; j < rows; ++j)
        for (int i = 0; i < columns; ++i) {
            const size_t here = at(i) + at(columns) * at(j);
            if (unknown[here] == 0) continue;
            for (int a = 0; a < 2; ++a)
                for (int side = 0; side < 2; ++side) {
                    const Cell<2> cell{i, j}, other = moved<2>(cell, a, 2 * side - 1);
                    const double open = static_cast<double>(boundary.open_at(moved<2>(cell, a, side), a));
                    if (other[a] < 0 || other[a] >= w.grid.cells[a] || open == 0) continue;
                    const size_t there = at(other[0]) + at(columns) * at(other[1]);
                    if (unknown[there] > 0)
                        y[here] += open * (p[here] - p[there]);
                    else if (phi(other) >= 0)
                        y[here] += open / static_cast<double>(surface_fraction(phi(cell), phi(other), static_cast<float>(w.grid.h))) * p[here];
                }
        }
    std::vector<double> sum(at(c.nodes()), 0.0);
    for (int column = 0; column < columns; ++column)
        for (int n = c.start[at(column)]; n < c.start[at(column) + 1]; ++n) {
            const int a = c.row[at(n)], b = c.joined[at(n)] ? c.row[at(n) + 1] : a + 1;
            for (int j = a; j < b; ++j) {
                const double t = c.joined[at(n)] ? static_cast<double>(j - a) / (b - a) : 0;
                const double v = y[at(column) + at(columns) * at(j)];
                sum[at(n)] += (1 - t) * v;
                if (t > 0) sum[at(n) + 1] += t * v;
            }
        }
    return sum;
}

// How far the system of a scene's start is from P^T A P, and from its own transpose.
void expect_subspace(const Params& p, int rows_most)
{
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const Boundary<2> boundary = boundary_of(w, p);
    const size_t n = at(w.tall.columns.nodes());
    const std::vector<float> x = random_values(n + 1, 1), z = random_values(n + 1, 2);
    std::vector<float> ax(n + 1), az(n + 1);
    w.tall.solver.product(x, ax);
    w.tall.solver.product(z, az);
    const std::vector<double> expected = by_rows(w, boundary, x);
    double largest = 0, off = 0, zax = 0, xaz = 0, size = 0;
    for (size_t i = 0; i < n; ++i) {
        largest = std::max(largest, std::fabs(expected[i]));
        off = std::max(off, std::fabs(expected[i] - ax[i]));
        zax += static_cast<double>(z[i]) * ax[i];
        xaz += static_cast<double>(x[i]) * az[i];
        size += std::fabs(static_cast<double>(x[i]) * az[i]);
    }
    std::printf("%zu unknowns in %d columns: P^T A P within %.1e, symmetric within %.1e\n", n, w.tall.columns.columns(), off / largest,
                std::fabs(zax - xaz) / size);
    EXPECT_LE(static_cast<int>(n), rows_most);
    EXPECT_LT(off, 2e-6 * largest);  // round-off in floats: 24 bits
    EXPECT_LT(std::fabs(zax - xaz), 1e-6 * size);
}

TEST(TallCells, are_a_subspace_of_the_uniform_grid)
{
    Params p = tall_pool(2, 96, 0.7);
    add_box(p, {0.2, 0, 0}, {0.4, 0.83, 1});
    expect_subspace(p, 96 * 20);
    add_hill(p, 0.3, 0.2, 0.3);
    add_hill(p, 0.7, 0.15, 0.9);  // through the surface
    expect_subspace(p, 96 * 20);
    p.tall.gaps = TallGaps::single;
    expect_subspace(p, 96 * 20);
    p.tall.optical_depth = 1;  // all rows: the uniform grid
    expect_subspace(p, 96 * 96);
}

// The pressure's system alone, for waves of a still surface: the flow through it for a pressure of cos(k x) on it gives the
// square of a standing wave's frequency.
double wave_number_response(int columns, int rows, TallGaps gaps, double optical_rows, int waves, double* unknowns)
{
    Params p = tall_pool(2, std::max(columns, rows + 8), 0);
    p.domain.size = {static_cast<double>(columns), rows + 8.0};
    p.water.clear();
    add_box(p, {-1, -1, -1}, {columns + 1.0, rows + 0.0, 2});
    p.tall.gaps = gaps;
    p.tall.optical_depth = optical_rows;
    p.time.cfl = 1;
    p.surface.band = 2;
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const ColumnLevel& level = w.tall.solver.fine();
    const size_t n = at(level.columns.nodes());
    std::vector<float> x(n + 1, 0.0f), b(n + 1, 0.0f);
    const double k = std::acos(-1.0) * waves / columns;
    for (int c = 0; c < columns; ++c) {
        const int top = level.columns.start[at(c) + 1] - 1;
        b[at(top)] = level.dirichlet[at(top)] * static_cast<float>(std::cos(k * (c + 0.5)));
    }
    EXPECT_TRUE(w.tall.solver.solve(x, b, {.tolerance = 1e-6}).converged);
    double flow = 0, of = 0;
    for (int c = 0; c < columns; ++c) {
        const int top = level.columns.start[at(c) + 1] - 1;
        const double wave = std::cos(k * (c + 0.5));
        flow += wave * static_cast<double>(level.dirichlet[at(top)]) * (wave - static_cast<double>(x[at(top)]));
        of += wave * wave;
    }
    if (unknowns) *unknowns = static_cast<double>(n) / columns;
    return flow / of;
}

// Waves from 8 rows to 4 times the columns: the phase speed goes as the root of the response. What is measured is 0.6 % at most, as
// in the analysis of a layer of as many rows (docs/tall_cells.md).
TEST(TallCells, carry_waves_as_fast_as_the_uniform_grid)
{
    constexpr int columns = 128;
    for (const int rows : {64, 128, 512}) {
        double worst = 0, of_single = 0, unknowns = 0;
        for (const int waves : {1, 2, 4, 8, 16, 32}) {
            const double uniform = wave_number_response(columns, rows, TallGaps::growing, rows, waves, nullptr);
            const double growing = wave_number_response(columns, rows, TallGaps::growing, 0, waves, &unknowns);
            const double single = wave_number_response(columns, rows, TallGaps::single, 0, waves, nullptr);
            worst = std::max(worst, std::fabs(std::sqrt(growing / uniform) - 1));
            of_single = std::max(of_single, std::fabs(std::sqrt(single / uniform) - 1));
            std::printf("%d rows, waves of %d: growing %+.2f %%, single %+.2f %%\n", rows, 2 * columns / waves,
                        100 * (std::sqrt(growing / uniform) - 1), 100 * (std::sqrt(single / uniform) - 1));
        }
        std::printf("%d rows: %.1f unknowns a column, at most %.2f %%; single gap %.1f %%\n", rows, unknowns, 100 * worst, 100 * of_single);
        EXPECT_LT(worst, 0.007);
        EXPECT_LE(unknowns, 16);
        EXPECT_GT(of_single, 0.05);  // the paper's tall cell lets waves run too fast
    }
}

// Random right-hand sides in 3D, over waves of 4 rows' height.
TEST(TallCells, take_as_many_iterations_for_any_number_of_columns)
{
    for (const auto& [columns, rows] : {std::pair{16, 128}, std::pair{48, 128}, std::pair{16, 512}, std::pair{48, 512}}) {
        const double level = rows / 8.0;
        Params p = tall_pool(3, rows + 16, 0);
        p.domain.size = {columns / 8.0, level + 2, columns / 8.0};
        p.water.clear();
        add_box(p, {-1, -1, -1}, {20, level, 20});
        for (int i = 0; i < columns / 8; ++i)
            add_box(p, {i + 0.0, level - 1, 0.25 * (i % 3)}, {i + 0.5, level + 0.25, 1 + 0.25 * (i % 3)});
        Water<3> w = initial_water<3>(scene_of(p));
        const size_t n = at(w.tall.columns.nodes());
        std::vector<float> x(n + 1, 0.0f), b = random_values(n + 1, 5);
        const SolveReport report = w.tall.solver.solve(x, b, {.tolerance = 1e-4});
        std::printf("%d x %d columns of %d rows, %zu unknowns: %d iterations\n", columns, columns, rows, n, report.iterations);
        EXPECT_TRUE(report.converged);
        EXPECT_LE(report.iterations, rows == 128 ? 14 : 18);
    }
}

TEST(TallCells, keep_still_water_over_hills_still)
{
    Params p = tall_pool(2, 96, 0.8);
    std::mt19937 random(3);
    for (int n = 0; n < 6; ++n)
        add_hill(p, std::uniform_real_distribution<>(0, 1)(random), std::uniform_real_distribution<>(0.05, 0.3)(random),
                 std::uniform_real_distribution<>(0.1, 0.6)(random));
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    double fastest = 0;
    for (int n = 0; n < 100; ++n) {
        ASSERT_TRUE(step(w, scene, choose_dt(w, scene)).pressure.converged);
        fastest = std::max(fastest, std::max(measure(w, p).max_speed, w.tall.fastest));
    }
    std::printf("fastest after 100 steps %.1e sqrt(g d)\n", fastest / std::sqrt(9.81 * 0.8));
    EXPECT_LT(fastest, 1e-4 * std::sqrt(9.81 * 0.8));
}

// What all rows of a face carry.
double momentum(const TallColumns& columns, const FaceColumns faces[2], const ColumnVelocity& v, int axis)
{
    double sum = 0;
    const auto add = [&](int a, int b, double from, double to) {
        for (int j = a; j < b; ++j) sum += from + (to - from) * (j - a) / (b - a);
    };
    if (axis == 1) {
        for (int n = 0; n < columns.nodes(); ++n)
            if (columns.joined[at(n)]) sum += static_cast<double>(v.v[at(n)]) * (columns.row[at(n) + 1] - columns.row[at(n)]);
        return sum;
    }
    const FaceColumns& f = faces[0];
    for (int face = 0; face < f.faces(); ++face)
        for (int k = f.start[at(face)]; k < f.start[at(face) + 1]; ++k) {
            const bool last = k + 1 == f.start[at(face) + 1];
            const double here = static_cast<double>(v.u[0][at(k)]);
            add(f.row[at(k)], last ? f.row[at(k)] + 1 : f.row[at(k) + 1], here, last ? here : static_cast<double>(v.u[0][at(k) + 1]));
        }
    return sum;
}

TEST(TallCells, keep_momentum_where_their_rows_change)
{
    const Params p = tall_pool(2, 96, 0.8);
    Water<2> w = initial_water<2>(scene_of(p));
    const Boundary<2> boundary = boundary_of(w, p);
    TallCells<2>& t = w.tall;
    for (auto* values : {&t.velocity.u[0], &t.velocity.v}) {
        const std::vector<float> random = random_values(values->size(), 7);
        for (size_t n = 0; n < values->size(); ++n) (*values)[n] = 1 + random[n];
    }
    for (int n = 0; n < t.columns.nodes(); ++n)
        if (!t.columns.joined[at(n)]) t.velocity.v[at(n)] = 0;
    tall::spread(w);
    // The layer becomes thicker, then thin again.
    for (const int layer : {t.layer + 9, t.layer}) {
        t.layer = layer;
        std::vector<int> bottom;
        const TallColumns columns = tall::choose_columns(w, boundary, bottom);
        const FaceColumns faces[2] = {tall::make_faces(w, boundary, columns, bottom, 0), {}};
        const ColumnVelocity next = tall::regrid(w, t.velocity, columns, faces, bottom, {});
        for (int axis = 0; axis < 2; ++axis) {
            const double before = momentum(t.columns, t.faces, t.velocity, axis), after = momentum(columns, faces, next, axis);
            std::printf("%d rows more, along %c: %.9g, then %.9g\n", layer, "xy"[axis], before, after);
            EXPECT_NEAR(after, before, 1e-6 * std::fabs(before));
        }
        t.columns = columns;
        t.faces[0] = faces[0];
        t.bottom = bottom;
        t.velocity = next;
        tall::spread(w);
    }
}

// A block of water falls into a pool, and encloses air. With all rows it is the uniform grid's splash to what the solver leaves. On fewer
// rows the volume stays, and so does the surface.
TEST(TallCells, splash_as_on_the_uniform_grid)
{
    Params p = tall_pool(2, 96, 0.75);
    add_box(p, {0.4, 0.8, 0}, {0.6, 0.9, 1});
    p.pressure.tolerance = 1e-6;
    Params uniform = p, all = p;
    uniform.method.grid = GridKind::uniform;
    all.tall.optical_depth = 1;
    const auto run = [&](const Params& params) {
        const Scene scene = scene_of(params);
        Water<2> w = initial_water<2>(scene);
        const double volume = measure(w, params).volume;
        for (int n = 0; n < 20; ++n) (void)step(w, scene, 0.01);
        EXPECT_NEAR(measure(w, params).volume, volume, 0.002 * volume);
        return w;
    };
    const Water<2> a = run(uniform), b = run(all), c = run(p);
    double off_all = 0, off_tall = 0;
    for (int i = 0; i < 96; ++i) {
        off_all = std::max(off_all, std::fabs(level(b, i) - level(a, i)) * 96);
        off_tall = std::max(off_tall, std::fabs(level(c, i) - level(a, i)) * 96);
    }
    std::printf("heights off by %.1e cells with all rows, %.2f cells with %d unknowns of %ld cells\n", off_all, off_tall,
                c.tall.columns.nodes(), a.grid.count());
    EXPECT_LT(off_all, 4e-4);
    EXPECT_LT(off_tall, 0.3);
}

// A copy of the state's members steps on with the same bits.
TEST(TallCells, resume_with_the_same_bits)
{
    Params p = tall_pool(2, 96, 0.7);
    add_box(p, {0, 0, 0}, {0.2, 0.8, 1});
    add_hill(p, 0.6, 0.2, 0.4);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene), other = initial_water<2>(scene);
    for (int n = 0; n < 6; ++n) (void)step(w, scene, 0.01);
    for_each_member<2>([](const auto&, auto& to, const auto& from) { copy_member(to, from); }, other, w);
    restore(other, scene);
    for (Water<2>* water : {&w, &other})
        for (int n = 0; n < 3; ++n) (void)step(*water, scene, 0.01);
    EXPECT_EQ(std::memcmp(w.phi.data(), other.phi.data(), w.phi.size() * sizeof(float)), 0);
    EXPECT_EQ(w.tall.columns, other.tall.columns);
    EXPECT_EQ(w.tall.velocity.u[0], other.tall.velocity.u[0]);
    EXPECT_EQ(w.tall.velocity.v, other.tall.velocity.v);
    EXPECT_EQ(w.tall.pressure, other.tall.pressure);
}

// A solitary wave of a tenth of the depth over 30 depths: its height and its speed, sqrt(g (d + H)) to the first order.
TEST(TallCells, carry_a_solitary_wave)
{
    Params p;
    p.domain.size = {10, 0.32};
    p.domain.cells = 1000;
    p.method.grid = GridKind::tall;
    p.method.surface = SurfaceKind::level_set;
    p.time.rate = 20;
    WaterParams wave;
    wave.shape = ShapeKind::solitary_wave;
    wave.crest = 2.0;
    wave.depth = 0.2;
    wave.height = 0.02;
    p.water.push_back(wave);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const auto crest = [&](double& height) {
        int best = 1;
        for (int i = 2; i + 2 < 1000; ++i)
            if (level(w, i) > level(w, best)) best = i;
        // A parabola over the highest cells.
        double sum = 0, s1 = 0, s2 = 0;
        const int reach = 8;
        for (int i = -reach; i <= reach; ++i) {
            const double y = level(w, best + i);
            sum += y, s1 += i * y, s2 += (i * i - reach * (reach + 1) / 3.0) * y;
        }
        double squares = 0, fourth = 0;
        for (int i = -reach; i <= reach; ++i) squares += i * i, fourth += std::pow(i * i - reach * (reach + 1) / 3.0, 2);
        const double slope = s1 / squares, bend = s2 / fourth, at_top = -slope / (2 * bend);
        height = sum / (2 * reach + 1) - bend * reach * (reach + 1) / 3.0 + slope * at_top + bend * at_top * at_top - 0.2;
        return (best + 0.5 + at_top) * w.grid.h;
    };
    double height = 0, later = 0;
    run_to(w, scene, 0.5);
    const double from = crest(height);
    run_to(w, scene, 4.5);
    const double to = crest(later), speed = (to - from) / 4 / std::sqrt(9.81 * 0.22);
    std::printf("over %.1f depths: height %.4f to %.4f m, speed %.4f sqrt(g (d + H)), %d unknowns in 1000 columns of 20 rows\n",
                (to - from) / 0.2, height, later, speed, w.tall.columns.nodes());
    EXPECT_NEAR(later, height, 0.03 * height);
    EXPECT_NEAR(speed, 1, 0.01);
}

// Columns follow a surface that was written from outside.
TEST(TallCells, start_again_from_another_surface)
{
    const Params p = tall_pool(2, 64, 0.7);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    Params higher = p;
    add_box(higher, {0, 0, 0}, {0.5, 0.8, 1});
    const Water<2> other = initial_water<2>(scene_of(higher));
    w.phi.copy(other.phi);
    start_again(w, scene);
    EXPECT_EQ(w.tall.columns, other.tall.columns);
    for (int n = 0; n < 3; ++n) ASSERT_TRUE(step(w, scene, 0.01).pressure.converged);
    EXPECT_NEAR(measure(w, p).volume, 0.75, 0.002);
}

TEST(TallCells, three_dimensions_are_two_where_nothing_changes_along_z)
{
    const auto heights = [](auto water, const Params& p) {
        const Scene scene = scene_of(p);
        for (int n = 0; n < 5; ++n) (void)step(water, scene, 0.01);
        return measure(water, p);
    };
    Params flat = tall_pool(2, 48, 0.7);
    flat.method.surface = SurfaceKind::level_set;
    flat.pressure.tolerance = 1e-6;
    add_box(flat, {0, 0, 0}, {0.25, 0.8, 1});
    Params deep = flat;
    deep.domain.size = {1, 1, 0.25};
    const Measures a = heights(initial_water<2>(scene_of(flat)), flat), b = heights(initial_water<3>(scene_of(deep)), deep);
    EXPECT_NEAR(b.volume, 0.25 * a.volume, 1e-4 * a.volume);
    EXPECT_NEAR(b.kinetic_energy, 0.25 * a.kinetic_energy, 1e-2 * a.kinetic_energy);
    EXPECT_NEAR(b.potential_energy, 0.25 * a.potential_energy, 1e-4 * a.potential_energy);
    EXPECT_NEAR(b.max_speed, a.max_speed, 1e-2 * a.max_speed);
}

TEST(TallCells, refuse_what_they_do_not_know)
{
    Params p = tall_pool(2, 64, 0.5);
    EXPECT_FALSE(check_tall_cells(p));
    const auto refused = [&](const char* key, const auto& change) {
        Params other = p;
        change(other);
        const auto problem = check_tall_cells(other);
        ASSERT_TRUE(problem) << key;
        EXPECT_EQ(problem->key, key);
        EXPECT_NE(problem->text.find("uniform"), std::string::npos) << problem->text;
    };
    refused("method.phases", [](Params& q) { q.method.phases = Phases::water_air; });
    refused("method.advection", [](Params& q) { q.method.advection = Advection::cip; });
    refused("pressure.solver", [](Params& q) { q.pressure.solver = PressureSolver::mic0; });
    refused("surface_pressure.0", [](Params& q) { q.surface_pressure.emplace_back(); });
    refused("fluid.viscosity", [](Params& q) { q.fluid.viscosity = 0.1; });
    refused("domain.gravity", [](Params& q) { q.domain.gravity = Vec3{0, 0, 0}; });
    p.tall.optical_depth = 0.01;
    ASSERT_TRUE(check_tall_cells(p));
    EXPECT_EQ(check_tall_cells(p)->key, "tall.optical_depth");
    p.method.grid = GridKind::uniform;
    EXPECT_FALSE(check_tall_cells(p));
}

}  // namespace
}  // namespace tarn
