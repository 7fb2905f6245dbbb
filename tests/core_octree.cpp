// Water on an octree: how its cells fit together, how exact its pressure is, and that it is the uniform grid's where all
// cells are small.

#include <numbers>
#include <random>

#include "run_water.h"
#include "tarn/field/sample.h"
#include "tarn/pressure/project.h"
#include "tarn/step/octree.h"

namespace tarn {
namespace {

constexpr double pi = std::numbers::pi;

// A box full of water, with cells of the level that `small` says, or smaller ones.
template <int D>
struct Tank {
    Grid<D> grid;
    Octree<D> octree;
    std::vector<CoarseLevel<D>> coarse;
    OctreeSystem<D> system;
    Field<D> phi, pressure, b, p, z;
    FaceField<D> velocity, w;
    FaceField<D, uint8_t> known;
    Projection<D> projection;
    PressureParams params;

    template <class F>
    Tank(int cells, int levels, const OctreeParams& how, const F& small)
        : grid(Cell<D>::all(cells), 1.0 / cells), octree(make_octree(grid, levels)), phi(distance_field(grid, -1.0f)),
          pressure(grid), b(grid), p(grid), z(grid), velocity(grid), w(grid), known(grid), projection(grid)
    {
        params.tolerance = 1e-6;
        std::vector<uint8_t> states;
        std::vector<TileMap<D>> least;
        for (const OctreeLevel<D>& level : octree.levels) {
            TileMap<D> map(level.grid);
            for (size_t i = 0; i < map.flags.size(); ++i) {
                const Box<D> box = map.box(map.tile(i));
                map.flags[i] = small(0.5 * level.grid.h * (box.lo + box.hi).template as<double>()) <= int(least.size());
                if (least.empty()) states.push_back(static_cast<uint8_t>(map.flags[i] ? TileState::fine : TileState::coarse));
            }
            least.push_back(map);
        }
        divide(octree, states, least, 1);
        for (int l = 1; l < levels; ++l) {
            CoarseLevel<D> level;
            level.velocity = FaceField<D>(octree.levels[size_t(l)].grid);
            level.pressure = Field<D>(octree.levels[size_t(l)].grid);
            coarse.push_back(std::move(level));
        }
        system = OctreeSystem<D>(octree, how);
    }
    // Calls f(level, velocity, pressure).
    template <class F>
    void for_each_level(const F& f)
    {
        for (int l = 0; l < octree.count(); ++l)
            f(octree.levels[size_t(l)], l ? coarse[size_t(l) - 1].velocity : velocity, l ? coarse[size_t(l) - 1].pressure : pressure);
    }
    SolveReport solve()
    {
        LargerCells<D> larger{coarse, system};
        ProjectionForces<D> forces;
        forces.larger = &larger;
        Boundary<D> boundary;
        boundary.cells = grid.cells;
        FluidParams fluid;
        fluid.density = 1;
        return project(velocity, pressure, known, phi, forces, boundary, octree.levels[0].map, octree.levels[0].tiles, fluid, params, 1.0,
                       projection, ProjectionScratch<D>{w, b, p, z});
    }
};

// p = cos(pi x) cos(2 pi y) cos(3 pi z), and the mean of its derivative over a face. Its flow is all that u* has, so that p is what
// the projection must find, and no velocity what it must leave.
template <int D>
double wave(Vec<D> x)
{
    double p = 1;
    for (int a = 0; a < D; ++a) p *= std::cos(pi * (a + 1) * x[a]);
    return p;
}
template <int D>
double slope(Vec<D> x, int axis, double h)
{
    double u = -pi * (axis + 1) * std::sin(pi * (axis + 1) * x[axis]);
    for (int a = 0; a < D; ++a) {
        if (a == axis) continue;
        const double k = pi * (a + 1), half = 0.5 * k * h;
        u *= std::cos(k * x[a]) * std::sin(half) / half;
    }
    return u;
}

struct Errors {
    double pressure = 0, largest = 0, gradient = 0;
    int iterations = 0;
};
template <int D, class F>
Errors errors_of(int cells, const OctreeParams& how, const F& small, int levels)
{
    Tank<D> t(cells, levels, how, small);
    t.for_each_level([&](const OctreeLevel<D>& level, FaceField<D>& u, Field<D>&) {
        for (int a = 0; a < D; ++a)
            parallel_for_faces("u", level.tiles, a, [&](Cell<D> c) { u[a](c) = float(slope<D>(level.grid.face(c, a), a, level.grid.h)); });
    });
    Errors e;
    const SolveReport report = t.solve();
    EXPECT_TRUE(report.converged && !report.fallback) << report.iterations << " iterations, residual " << report.residual;
    e.iterations = report.iterations;
    double volume = 0, mean = 0;
    for (int pass = 0; pass < 2; ++pass)
        t.for_each_level([&](const OctreeLevel<D>& level, FaceField<D>& u, Field<D>& p) {
            const double cell = cell_volume(level.grid);
            const Tiles<D>& leaves = level.leaves;
            if (pass == 0) volume += cell * double(leaves.cells());
            const double sum = parallel_sum("e", leaves, [&](Cell<D> c) {
                const double error = p(c) - wave<D>(level.grid.centre(c));
                return pass == 0 ? error : std::fabs(error - mean);
            });
            (pass == 0 ? mean : e.pressure) += cell * sum;
            if (pass == 0) return;
            e.largest = std::max(e.largest, parallel_max("e", leaves, [&](Cell<D> c) {
                return float(std::fabs(p(c) - wave<D>(level.grid.centre(c)) - mean));
            }));
            for (int a = 0; a < D; ++a)
                e.gradient += cell / D * parallel_sum("e", leaves, [&](Cell<D> c) { return double(std::fabs(u[a](c))); });
        });
    return e;
}

template <int D>
void expect_orders(std::vector<int> sizes, const OctreeParams& how, double least_pressure, double least_gradient)
{
    const auto boxes = [](Vec<D> x) {
        double far = 0;
        for (int a = 0; a < D; ++a) far = std::max(far, std::fabs(x[a] - 0.5));
        return far < 0.125 ? 0 : far < 0.25 ? 1 : 2;
    };
    const auto patches = [](Vec<D> x) {
        int n = 0;
        for (int a = 0; a < D; ++a) n = 3 * n + int(x[a] * 4);
        return n * 7 % 5 < 2 ? 0 : 1;
    };
    for (int kind = 0; kind < 2; ++kind) {
        std::vector<Errors> e;
        for (const int n : sizes) e.push_back(kind ? errors_of<D>(n, how, patches, 2) : errors_of<D>(n, how, boxes, 3));
        const double times = std::log2(double(sizes.back()) / sizes.front());
        const double pressure = std::log2(e.front().pressure / e.back().pressure) / times;
        const double largest = std::log2(e.front().largest / e.back().largest) / times;
        const double gradient = std::log2(e.front().gradient / e.back().gradient) / times;
        std::printf("%dD %s: L1 %.2f (%.1e), max %.2f, gradient %.2f (%.1e), iterations %d\n", D, kind ? "patches" : "boxes", pressure,
                    e.back().pressure, largest, gradient, e.back().gradient, e.back().iterations);
        EXPECT_GE(pressure, least_pressure);
        EXPECT_GE(gradient, least_gradient);
    }
}

TEST(Octree, its_pressure_is_of_second_order)
{
    expect_orders<2>({64, 128, 256}, {}, 1.9, 1.8);
    expect_orders<3>({64, 128}, {}, 1.9, 1.8);
}

TEST(Octree, of_2004_its_pressure_is_of_first_order)
{
    OctreeParams how;
    how.pressure = OctreePressure::losasso_2004;
    expect_orders<2>({64, 128, 256}, how, 0.7, -1);
    expect_orders<3>({64, 128}, how, 0.7, -1);
}

}  // namespace
}  // namespace tarn
