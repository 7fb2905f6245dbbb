#include "tarn/pressure/conjugate_gradients.h"

#include <functional>
#include <utility>

#include "tarn/backend/late.h"
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
    const auto xv = x.view();
    const PoissonView<D> a = view_of(system);
    parallel_for<true>("residual", system.tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = xv.index(c);
        rv[i] -= apply<uniform>(xv, a, i);
    });
}

// z = A p, and p . A p.
template <bool uniform, int D>
void product(Field<D>& z, const Field<D>& p, const Poisson<D>& system, double* dot)
{
    const auto zv = z.view();
    const auto pv = p.view();
    const PoissonView<D> a = view_of(system);
    parallel_sum_to<true>(dot, "apply", system.tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = pv.index(c);
        const float ap = apply<uniform>(pv, a, i);
        zv[i] = ap;
        return static_cast<double>(ap) * pv[i];
    });
}

// The same of the unknowns that many cells share.
template <int D>
void subtract_eliminated(Field<D>& r, const Field<D>& x, const Poisson<D>& system)
{
    if (system.regions) system.regions->add_shared(r, x);
    if (system.bodies) system.bodies->subtract_product(r, x);
}
template <int D>
void add_eliminated(Field<D>& z, const Field<D>& p, const Poisson<D>& system, double* dot)
{
    if (system.regions) system.regions->subtract_shared(z, p, dot);
    if (system.bodies) system.bodies->add_product(z, p, dot);
}

// The numbers that kernels hand to each other in an iteration.
struct Scalars {
    double rz, rz_before, pap, largest;
    float alpha, beta;
};

// z = M r, and r . z, where kernels look for it.
template <int D>
using Precondition = std::function<void(Field<D>& z, Field<D>& r, double* dot)>;

template <int D>
SolveReport solve(Field<D>& x, Field<D>& r, const Poisson<D>& system, const ClosedPockets<D>& pockets, const Goal& goal,
                  Field<D>& p, Field<D>& z, const Precondition<D>& precondition, IterationRoom& room)
{
    const auto xv = x.view(), rv = r.view(), pv = p.view();
    const View<D, const float> rc = rv, pc = pv, zc = std::as_const(z).view();
    const Tiles<D>& tiles = system.tiles;

    const double largest =
        parallel_max<true>("largest", tiles, [=] TARN_KERNEL(Cell<D> c) { return std::fabs(rc(c)); });
    const double largest_b = scale_of(goal, largest), tolerance = goal.tolerance;
    if (!(largest_b > 0)) {
        // Nothing drives the pressure (or b is not a number, which the caller's own check reports).
        parallel_for<true>("clear", tiles, [=] TARN_KERNEL(Cell<D> c) { xv(c) = 0; });
        return {.converged = largest_b == 0, .iterations = 0, .residual = largest_b};
    }

    // r = b - A x.
    SolveReport report;
    report.converged = false;
    report.residual = largest / largest_b;
    if (!goal.from_zero) {
        with_uniform(system.uniform, [&](auto uniform) { subtract_product<uniform.value>(r, x, system); });
        subtract_eliminated(r, x, system);
        report.residual =
            parallel_max<true>("largest", tiles, [=] TARN_KERNEL(Cell<D> c) { return std::fabs(rc(c)); }) / largest_b;
    }
    if (report.residual == 0) {
        report.converged = true;
        return report;
    }

    if (room.scalars.size() == 0) room.scalars = Memory<double>(sizeof(Scalars) / sizeof(double));
    Scalars* const s = reinterpret_cast<Scalars*>(room.scalars.data());
    parallel_range("clear", 1, [=] TARN_KERNEL(int) { *s = {}; });
    const auto iterate = [&] {
        // In components without Dirichlet rows round-off puts constants into r, which nothing would take out again.
        // Those in z mean nothing, but would cost p its digits.
        if (pockets.any()) remove_means(r, system, pockets);
        precondition(z, r, &s->rz);
        if (pockets.any()) remove_means(z, system, pockets);
        // p = z + beta p; the first time there is no p yet.
        parallel_range("direction", 1, [=] TARN_KERNEL(int) {
            s->beta = s->rz_before > 0 ? static_cast<float>(s->rz / s->rz_before) : 0.0f;
            s->rz_before = s->rz;
        });
        const Late beta(&s->beta);
        parallel_for<true>("direction", tiles, [=] TARN_KERNEL(Cell<D> c) {
            const int i = pc.index(c);
            const float share = beta, old = pc[i], kept = share * old;
            pv[i] = zc[i] + (share > 0 ? kept : 0.0f);
        });
        // z = A p, alpha = r.z / p.A p.
        with_uniform(system.uniform, [&](auto uniform) { product<uniform.value>(z, p, system, &s->pap); });
        add_eliminated(z, p, system, &s->pap);
        parallel_range("advance", 1,
                       [=] TARN_KERNEL(int) { s->alpha = s->pap > 0 ? static_cast<float>(s->rz / s->pap) : 0.0f; });
        const Late alpha(&s->alpha);
        parallel_max_to<true>(&s->largest, "advance", tiles, [=] TARN_KERNEL(Cell<D> c) {
            const int i = pc.index(c);
            const float share = alpha;
            xv[i] += share * pc[i];
            const float left = rc[i] - share * zc[i];
            rv[i] = left;
            return std::fabs(left);
        });
    };
    room.sequence.forget();
    while (report.iterations < goal.max_iterations) {
        ++report.iterations;
        // Means are numbers that the program waits for.
        if (pockets.any())
            iterate();
        else
            room.sequence.run({x.data(), r.data(), p.data(), z.data()}, iterate);
        Scalars now{};
        backend::copy(&now, s, sizeof now);
        if (!(now.pap > 0)) break;
        report.residual = now.largest / largest_b;
        if (!(report.residual > tolerance)) {
            report.converged = report.residual <= tolerance;
            break;
        }
    }
    return report;
}

// z = r / diagonal, and r . z.
template <int D>
void divide_by_diagonal(Field<D>& z, const Field<D>& r, const Poisson<D>& system, double* dot)
{
    const auto zv = z.view();
    const auto rv = r.view(), inverse = std::as_const(*system.inverse_diagonal).view();
    parallel_sum_to<true>(dot, "diagonal", system.tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = zv.index(c);
        const float here = rv[i], there = inverse[i] * here;
        zv[i] = there;
        return static_cast<double>(there) * here;
    });
}

}  // namespace

double scale_of(const Goal& goal, double largest) { return std::min(largest, std::max(goal.most, least_share * largest)); }

template <int D, class AnyMultigrid>
SolveReport solve_multigrid(Field<D>& x, Field<D>& b, const Poisson<D>& system, const ClosedPockets<D>& pockets,
                            const AnyMultigrid& multigrid, const Goal& goal, Field<D>& p, Field<D>& z,
                            IterationRoom& room)
{
    const auto xv = x.view(), bv = b.view();
    const View<D, const float> bc = bv;
    float* const kept = room_for(room.b, static_cast<int>(b.grid().storage())) + b.grid().origin;
    parallel_for<true>("keep", system.tiles, [=] TARN_KERNEL(Cell<D> c) { kept[bc.index(c)] = bc(c); });
    const SolveReport first = solve<D>(
        x, b, system, pockets, goal, p, z,
        [&](Field<D>& to, Field<D>& from, double* dot) { multigrid.precondition(to, from, dot); }, room);
    // Without an iteration b is not finite.
    if (first.converged || first.iterations == 0) return first;

    parallel_for<true>("start again", system.tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = xv.index(c);
        xv[i] = 0;
        bv[i] = kept[i];
    });
    Goal patient = goal;
    patient.from_zero = true;
    patient.max_iterations = 50 * goal.max_iterations;
    SolveReport report;
    if (on_device())
        report = solve<D>(
            x, b, system, pockets, patient, p, z,
            [&](Field<D>& to, const Field<D>& from, double* dot) { divide_by_diagonal(to, from, system, dot); }, room);
    else
        report = solve_mic0(x, b, system, pockets, patient, p, z);
    report.iterations += first.iterations;
    report.fallback = true;
    return report;
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
    const auto precondition = [&](Field<D>& to, const Field<D>& from, double* product) {
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
        *product = dot;
    };
    IterationRoom room;
    return solve<D>(x, b, system, pockets, goal, p, z, precondition, room);
}

template SolveReport solve_multigrid(Field<2>&, Field<2>&, const Poisson<2>&, const ClosedPockets<2>&,
                                     const Multigrid<2>&, const Goal&, Field<2>&, Field<2>&, IterationRoom&);
template SolveReport solve_multigrid(Field<2>&, Field<2>&, const Poisson<2>&, const ClosedPockets<2>&, const BlackBox&,
                                     const Goal&, Field<2>&, Field<2>&, IterationRoom&);
template SolveReport solve_multigrid(Field<3>&, Field<3>&, const Poisson<3>&, const ClosedPockets<3>&,
                                     const Multigrid<3>&, const Goal&, Field<3>&, Field<3>&, IterationRoom&);
template SolveReport solve_mic0(Field<2>&, Field<2>&, const Poisson<2>&, const ClosedPockets<2>&, const Goal&,
                                Field<2>&, Field<2>&);
template SolveReport solve_mic0(Field<3>&, Field<3>&, const Poisson<3>&, const ClosedPockets<3>&, const Goal&,
                                Field<3>&, Field<3>&);

}  // namespace tarn
