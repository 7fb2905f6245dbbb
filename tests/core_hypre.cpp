// hypre as a second opinion on the pressure: rows of every kind, and the same answers as the multigrid gives.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tarn/backend/hypre.h"
#include "tarn/pressure/hypre.h"
#include "tarn/pressure/smooth.h"

namespace tarn {
namespace {

// A system to solve, with what a solve works in.
template <int D>
struct System {
    Grid<D> grid;
    Tiles<D> tiles;
    FaceField<D> w;
    Field<D> inverse, dirichlet, b, x, p, z;
    Regions<D> regions;
    RigidRows<D> bodies;
    Poisson<D> system;

    explicit System(Cell<D> cells)
        : grid(cells, 1.0 / cells[0]), tiles(all_tiles(grid)), w(grid), inverse(grid), dirichlet(grid), b(grid), x(grid), p(grid), z(grid),
          system{&w, &inverse, &dirichlet, tiles, TileMap<D>(grid, 1), false}
    {
    }

    // Conductances between 1 and `most`, a third of the cells solid, and one unknown in `tied` at a surface.
    void fill(std::mt19937& random, int most, int tied)
    {
        Field<D, uint8_t> solid(grid);
        backend::each(grid.box(), [&](Cell<D> c) { solid(c) = random() % 3 == 0; });
        for (int a = 0; a < D; ++a)
            backend::each(grid.box(), [&](Cell<D> c) {
                const float size = std::pow(10.0f, static_cast<float>(random() % static_cast<unsigned>(most)));
                w[a](c) = c[a] == 0 || solid(c) || solid(moved<D>(c, a, -1)) ? 0.0f : size;
            });
        std::uniform_real_distribution<float> noise(-1, 1);
        backend::each(grid.box(), [&](Cell<D> c) {
            dirichlet(c) = !solid(c) && tied > 0 && random() % static_cast<unsigned>(tied) == 0 ? 1 + noise(random) / 2 : 0.0f;
            b(c) = noise(random);
        });
        find_inverse();
    }
    void find_inverse()
    {
        invert_diagonal(inverse, dirichlet, w, tiles);
        backend::each(grid.box(), [&](Cell<D> c) { b(c) = inverse(c) > 0 ? b(c) : 0.0f; });
    }
    ClosedComponents<D> close(Field<D, int>& labels)
    {
        ClosedComponents<D> closed = find_closed_components(system, dirichlet, labels, true);
        remove_means(b, system, closed);
        return closed;
    }
    std::vector<Cell<D>> unknowns() const
    {
        std::vector<Cell<D>> all;
        backend::each(grid.box(), [&](Cell<D> c) {
            if (inverse(c) > 0) all.push_back(c);
        });
        return all;
    }
    // Of cells and faces, in double.
    double residual(const Field<D>& right) const
    {
        double worst = 0;
        for (const Cell<D>& c : unknowns()) {
            double left = double(right(c)) - double(dirichlet(c)) * x(c);
            for (int a = 0; a < D; ++a)
                for (const int side : {0, 1})
                    left -= double(w[a](moved<D>(c, a, side))) * (double(x(c)) - x(moved<D>(c, a, 2 * side - 1)));
            worst = std::max(worst, std::fabs(left));
        }
        return worst;
    }
};

#define NEEDS_HYPRE \
    if (!hypre_module()) GTEST_SKIP() << "hypre is not there"

template <int D>
void solves_any_rows(const std::vector<Cell<D>>& sizes)
{
    for (int n = 0; n < 40; ++n) {
        std::mt19937 random(static_cast<unsigned>(n));
        System<D> s(sizes[static_cast<size_t>(n) % sizes.size()]);
        s.fill(random, 1 + n % 4, n % 2 ? 20 : 0);
        Field<D, int> labels;
        (void)s.close(labels);
        Field<D> right(s.grid);
        right.copy(s.b);
        const double largest = parallel_max("largest", s.tiles, [&](Cell<D> c) { return std::fabs(right(c)); });
        const SolveReport report = solve_hypre(s.x, s.b, s.system, Goal{.tolerance = 1e-6});
        EXPECT_TRUE(report.converged) << n;
        EXPECT_LE(report.residual, 1e-6);
        // x is kept in single precision, of which conductances of 1000 leave so much.
        const double most = parallel_max("largest", s.tiles, [&](Cell<D> c) { return std::fabs(s.x(c)); });
        EXPECT_LE(s.residual(right), 1e-6 * largest + 2 * D * 2 * 1e3 * most * 6e-8) << n;
    }
}

// Links of any size between 1 and 1000, a third of the cells solid, some at a surface, some in closed pockets.
TEST(Hypre, solves_rows_of_any_size)
{
    NEEDS_HYPRE;
    solves_any_rows<2>({{64, 48}, {37, 61}, {130, 5}, {4, 3}, {1, 20}, {1, 1}});
    solves_any_rows<3>({{16, 12, 9}, {20, 3, 17}, {4, 4, 4}, {1, 1, 7}});
}

// The air of two enclosed regions and a body, whose unknowns many cells share: the two solvers share no line of how they treat them.
template <int D>
void agrees_where_cells_share(const Cell<D>& cells, bool regions, bool body)
{
    std::mt19937 random(11);
    std::uniform_real_distribution<float> part(0.1f, 1);
    System<D> s(cells);
    s.fill(random, 1, 15);
    const std::vector<Cell<D>> unknowns = s.unknowns();
    if (regions) {
        std::vector<RegionTerm> terms;
        for (int n = 0; n < 60; ++n) {
            const Cell<D>& c = unknowns[random() % unknowns.size()];
            const RegionTerm term{n % 2, s.dirichlet.view().index(c), part(random)};
            s.dirichlet(c) += term.t;
            terms.push_back(term);
        }
        s.regions.set(2, terms, {0.5, -0.25}, s.grid);
        s.system.regions = &s.regions;
        s.find_inverse();
        s.regions.add_sources(s.b);
    }
    if (body) {
        std::vector<RigidTerm<D>> terms;
        for (int n = 0; n < 80; ++n) {
            RigidTerm<D> term{0, s.b.view().index(unknowns[random() % unknowns.size()]), {}};
            for (float& j : term.j) j = part(random) - 0.5f;
            terms.push_back(term);
        }
        typename RigidRows<D>::Response response{};
        for (size_t k = 0; k < response.size(); ++k) response[k][k] = 0.1;
        s.bodies.set(terms, {response});
        s.system.bodies = &s.bodies;
    }
    Field<D, int> labels;
    const ClosedComponents<D> closed = s.close(labels);
    Field<D> right(s.grid), second(s.grid);
    right.copy(s.b);
    const Goal goal{.tolerance = 1e-6};
    EXPECT_TRUE(solve_hypre(s.x, s.b, s.system, goal).converged);
    second.copy(s.x);
    s.x.fill(0);
    s.b.copy(right);
    Multigrid<D> multigrid(s.grid);
    multigrid.build(s.system, s.dirichlet);
    IterationWorkspace workspace;
    EXPECT_TRUE(solve_multigrid(s.x, s.b, s.system, closed, multigrid, goal, s.p, s.z, workspace).converged);
    double most = 0, apart = 0;
    for (const Cell<D>& c : unknowns) {
        most = std::max(most, std::fabs(double(s.x(c))));
        apart = std::max(apart, std::fabs(double(s.x(c)) - second(c)));
    }
    EXPECT_GT(most, 0);
    EXPECT_LE(apart, 1e-4 * most) << regions << body;
}

TEST(Hypre, agrees_with_the_multigrid_where_cells_share_unknowns)
{
    NEEDS_HYPRE;
    for (const bool regions : {false, true})
        for (const bool body : {false, true}) {
            agrees_where_cells_share<2>({48, 40}, regions, body);
            agrees_where_cells_share<3>({14, 12, 13}, regions, body);
        }
}

}  // namespace
}  // namespace tarn
