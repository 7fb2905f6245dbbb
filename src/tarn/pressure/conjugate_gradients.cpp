#include "tarn/pressure/conjugate_gradients.h"

#include <functional>
#include <utility>

#include "tarn/base/error.h"

namespace tarn {

namespace {

// Water at rest that something starts to push has no speed to compare with: b itself, at this share, is the least
// scale.
constexpr double least_share = 0.1;

// r -= A x.
template <bool uniform, int D>
void subtract_product(Field<D>& r, const Field<D>& x, const Poisson<D>& system)
{
    const auto rv = r.view();
    const auto xv = x.view(), inverse = std::as_const(*system.inverse_diagonal).view();
    const auto w = std::as_const(*system.w).view();
    parallel_for<true>("residual", system.tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = xv.index(c);
        rv[i] -= apply<uniform>(xv, w, inverse, i);
    });
}

// z = A p; returns p . A p.
template <bool uniform, int D>
double product(Field<D>& z, const Field<D>& p, const Poisson<D>& system)
{
    const auto zv = z.view();
    const auto pv = p.view(), inverse = std::as_const(*system.inverse_diagonal).view();
    const auto w = std::as_const(*system.w).view();
    return parallel_sum<true>("apply", system.tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = pv.index(c);
        const float ap = apply<uniform>(pv, w, inverse, i);
        zv[i] = ap;
        return static_cast<double>(ap) * pv[i];
    });
}

// z = M r; returns r . z.
template <int D>
using Precondition = std::function<double(Field<D>& z, const Field<D>& r)>;

template <int D>
SolveReport solve(Field<D>& x, Field<D>& r, const Poisson<D>& system, const ClosedPockets<D>& pockets, const Goal& goal,
                  Field<D>& p, Field<D>& z, const Precondition<D>& precondition_open)
{
    // Round-off puts constants into closed pockets, which nothing would take out again.
    const auto precondition = [&](Field<D>& to, Field<D>& from) {
        if (pockets.any()) remove_means(from, system, pockets);
        const double dot = precondition_open(to, from);
        if (pockets.any()) remove_means(to, system, pockets);
        return dot;
    };
    const auto xv = x.view(), rv = r.view(), pv = p.view(), zv = z.view();
    const View<D, const float> rc = rv, pc = pv, zc = zv;
    const Tiles<D>& tiles = system.tiles;

    const double largest =
        parallel_max<true>("largest", tiles, [=] TARN_KERNEL(Cell<D> c) { return std::fabs(rc(c)); });
    const double largest_b = std::min(largest, std::max(goal.most, least_share * largest)), tolerance = goal.tolerance;
    if (!(largest_b > 0)) {
        // Nothing drives the pressure (or b is not a number, which the caller's own check reports).
        parallel_for<true>("clear", tiles, [=] TARN_KERNEL(Cell<D> c) { xv(c) = 0; });
        return {.converged = largest_b == 0, .iterations = 0, .residual = largest_b};
    }

    // r = b - A x.
    with_uniform(system.uniform, [&](auto uniform) { subtract_product<uniform.value>(r, x, system); });
    const auto residual = [&] {
        return parallel_max<true>("largest", tiles, [=] TARN_KERNEL(Cell<D> c) { return std::fabs(rc(c)); }) /
               largest_b;
    };
    SolveReport report{.converged = false, .iterations = 0, .residual = residual()};
    if (report.residual == 0) {
        report.converged = true;
        return report;
    }

    double rz = precondition(z, r);
    parallel_for<true>("direction", tiles, [=] TARN_KERNEL(Cell<D> c) { pv(c) = zc(c); });
    while (report.iterations < goal.max_iterations) {
        ++report.iterations;
        // z = A p, and alpha = r.z / p.A p.
        const double pap =
            with_uniform(system.uniform, [&](auto uniform) { return product<uniform.value>(z, p, system); });
        if (!(pap > 0)) break;
        const float alpha = static_cast<float>(rz / pap);
        const double left_over = parallel_max<true>("advance", tiles, [=] TARN_KERNEL(Cell<D> c) {
            const int i = pc.index(c);
            xv[i] += alpha * pc[i];
            const float left = rc[i] - alpha * zc[i];
            rv[i] = left;
            return std::fabs(left);
        });
        report.residual = left_over / largest_b;
        if (!(report.residual > tolerance)) {
            report.converged = report.residual <= tolerance;
            break;
        }
        const double rz_next = precondition(z, r);
        const float beta = static_cast<float>(rz_next / rz);
        rz = rz_next;
        parallel_for<true>("direction", tiles, [=] TARN_KERNEL(Cell<D> c) {
            const int i = pc.index(c);
            pv[i] = zc[i] + beta * pc[i];
        });
    }
    return report;
}

}  // namespace

template <int D>
SolveReport solve_multigrid(Field<D>& x, Field<D>& b, const Poisson<D>& system, const ClosedPockets<D>& pockets,
                            const Multigrid<D>& multigrid, const Goal& goal, Field<D>& p, Field<D>& z)
{
    return solve<D>(x, b, system, pockets, goal, p, z,
                    [&](Field<D>& to, const Field<D>& from) { return multigrid.precondition(to, from); });
}

template <int D>
SolveReport solve_mic0(Field<D>& x, Field<D>& b, const Poisson<D>& system, const ClosedPockets<D>& pockets,
                       const Goal& goal, Field<D>& p, Field<D>& z)
{
    // E holds one over the root of the factor's diagonal: MIC(0) drops the fill-in, but adds nearly all (tuning) of it
    // to the diagonal, and falls back to the plain one where that leaves too little (safety).
    constexpr float tuning = 0.97f, safety = 0.25f;
    if (on_device())
        throw InputError("pressure.solver: \"mic0\" goes from cell to cell and needs a processor; use \"multigrid\"");
    const Grid<D>& grid = x.grid();
    const auto w = std::as_const(*system.w).view();
    const auto inverse = std::as_const(*system.inverse_diagonal).view();
    Field<D> factor(grid);
    const auto e = factor.view();
    const auto each_cell = [&](bool backwards, auto&& f) {
        const int n = static_cast<int>(grid.count());
        for (int m = 0; m < n; ++m) {
            int left = backwards ? n - 1 - m : m;
            Cell<D> c;
            for (int a = 0; a < D; ++a) {
                c[a] = left % grid.cells[a];
                left /= grid.cells[a];
            }
            if (inverse(c) > 0) f(inverse.index(c));
        }
    };
    each_cell(false, [&](int i) {
        const float diagonal = 1 / inverse[i];
        float d = diagonal;
        for (int a = 0; a < D; ++a) {
            const int below = i - w[a].next(a);
            const float to_me = w[a][i], factor_below = e[below];
            d -= to_me * factor_below * to_me * factor_below;
            for (int b = 0; b < D; ++b)
                if (b != a) d -= tuning * to_me * w[b][below + w[b].next(b)] * factor_below * factor_below;
        }
        e[i] = 1 / std::sqrt(d < safety * diagonal ? diagonal : d);
    });
    return solve<D>(x, b, system, pockets, goal, p, z, [&](Field<D>& to, const Field<D>& from) {
        const auto zv = to.view();
        const auto rv = from.view();
        double dot = 0;
        each_cell(false, [&](int i) {
            float t = rv[i];
            for (int a = 0; a < D; ++a) {
                const int below = i - w[a].next(a);
                t += w[a][i] * e[below] * zv[below];
            }
            zv[i] = t * e[i];
        });
        each_cell(true, [&](int i) {
            float t = zv[i];
            for (int a = 0; a < D; ++a) {
                const int above = i + w[a].next(a);
                t += w[a][above] * e[i] * zv[above];
            }
            zv[i] = t * e[i];
            dot += static_cast<double>(zv[i]) * rv[i];
        });
        return dot;
    });
}

template SolveReport solve_multigrid(Field<2>&, Field<2>&, const Poisson<2>&, const ClosedPockets<2>&,
                                     const Multigrid<2>&, const Goal&, Field<2>&, Field<2>&);
template SolveReport solve_multigrid(Field<3>&, Field<3>&, const Poisson<3>&, const ClosedPockets<3>&,
                                     const Multigrid<3>&, const Goal&, Field<3>&, Field<3>&);
template SolveReport solve_mic0(Field<2>&, Field<2>&, const Poisson<2>&, const ClosedPockets<2>&, const Goal&,
                                Field<2>&, Field<2>&);
template SolveReport solve_mic0(Field<3>&, Field<3>&, const Poisson<3>&, const ClosedPockets<3>&, const Goal&,
                                Field<3>&, Field<3>&);

}  // namespace tarn
