#include "tarn/pressure/conjugate_gradients.h"

#include <functional>
#include <utility>

#include "tarn/backend/device_scalar.h"
#include "tarn/base/error.h"
#include "tarn/pressure/octree.h"

namespace tarn {

namespace {

// Water at rest that something starts to push has no speed to compare with: b itself, at this share, is the least
// scale.
constexpr double least_share = 0.1;

// The unknowns of one size of cells. On a uniform grid there is one part; on an octree one for each level.
template <int D>
struct Part {
    Field<D>*x, *r, *p, *z;
    const Tiles<D>* tiles;
    float per_area;  // one over a face's
};
template <int D>
std::vector<Part<D>> parts_of(Field<D>& x, Field<D>& r, Field<D>& p, Field<D>& z, const Poisson<D>& system)
{
    std::vector<Part<D>> parts{{&x, &r, &p, &z, &system.tiles, 1}};
    for (int l = 1; system.octree && l < system.octree->count(); ++l) {
        auto& u = system.octree->unknowns(l);
        parts.push_back({&u.x, &u.r, &u.p, &u.z, &system.octree->level(l).leaves, 1 / area<D>(l)});
    }
    return parts;
}
template <int D>
std::vector<Field<D>*> all_of(const std::vector<Part<D>>& parts, Field<D>* Part<D>::*which)
{
    std::vector<Field<D>*> all;
    for (const Part<D>& part : parts) all.push_back(part.*which);
    return all;
}
template <int D>
std::vector<const Field<D>*> all_of_const(const std::vector<Part<D>>& parts, Field<D>* Part<D>::*which)
{
    const std::vector<Field<D>*> all = all_of(parts, which);
    return {all.begin(), all.end()};
}

// The largest residual, per area of a face.
template <int D>
double largest_of(const std::vector<Part<D>>& parts)
{
    double largest = 0;
    for (const Part<D>& part : parts) {
        const View<D, const float> r = part.r->view();
        const float per_area = part.per_area;
        const double here =
            parallel_max<true>("largest", *part.tiles, [=] TARN_KERNEL(Cell<D> c) { return std::fabs(per_area * r(c)); });
        largest = here < largest ? largest : here;  // a NaN comes through
    }
    return largest;
}

// Means over components without Dirichlet rows go: of a residual its sum, of a pressure its mean.
template <int D>
void remove_means(const std::vector<Part<D>>& parts, Field<D>* Part<D>::*which, const Poisson<D>& system,
                  const ClosedComponents<D>& closed)
{
    if (system.octree && closed.everything)
        remove_mean(all_of(parts, which), system, which == &Part<D>::r);
    else
        remove_means(*(parts[0].*which), system, closed);
}

// r -= A x.
template <bool uniform, int D>
void subtract_product(const std::vector<Part<D>>& parts, const Poisson<D>& system)
{
    const auto rv = parts[0].r->view();
    const auto xv = std::as_const(*parts[0].x).view();
    const PoissonView<D> a = view_of(system);
    parallel_for<true>("residual", system.tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = xv.index(c);
        rv[i] -= apply<uniform>(xv, a, i);
    });
    if (!system.octree) return;
    for (size_t l = 1; l < parts.size(); ++l) {
        product_in_leaves(*parts[l].z, *parts[l].x, *system.octree, static_cast<int>(l));
        subtract_leaves(*parts[l].r, *parts[l].z, *system.octree, static_cast<int>(l));
    }
    add_t_faces(all_of(parts, &Part<D>::r), all_of_const(parts, &Part<D>::x), *system.octree, -1);
}

// z = A p, and p . A p.
template <bool uniform, int D>
void product(const std::vector<Part<D>>& parts, const Poisson<D>& system, double* dot)
{
    const auto zv = parts[0].z->view();
    const auto pv = std::as_const(*parts[0].p).view();
    const PoissonView<D> a = view_of(system);
    parallel_sum_to<true>(dot, "apply", system.tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = pv.index(c);
        const float ap = apply<uniform>(pv, a, i);
        zv[i] = ap;
        return static_cast<double>(ap) * pv[i];
    });
    if (!system.octree) return;
    for (size_t l = 1; l < parts.size(); ++l) {
        product_in_leaves(*parts[l].z, *parts[l].p, *system.octree, static_cast<int>(l));
        *dot += dot_in_leaves(*parts[l].z, *parts[l].p, *system.octree, static_cast<int>(l));
    }
    *dot += add_t_faces(all_of(parts, &Part<D>::z), all_of_const(parts, &Part<D>::p), *system.octree, 1);
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

// p = z + beta p.
template <int D>
void find_direction(const std::vector<Part<D>>& parts, const DeviceScalar& beta)
{
    for (const Part<D>& part : parts) {
        const auto pv = part.p->view();
        const View<D, const float> pc = pv, zc = std::as_const(*part.z).view();
        parallel_for<true>("direction", *part.tiles, [=] TARN_KERNEL(Cell<D> c) {
            const int i = pc.index(c);
            const float share = beta, old = pc[i], kept = share * old;
            pv[i] = zc[i] + (share > 0 ? kept : 0.0f);
        });
    }
}

// x += alpha p, r -= alpha z; and the largest residual, where kernels look for it.
template <int D>
void advance(const std::vector<Part<D>>& parts, const DeviceScalar& alpha, double* largest)
{
    for (const Part<D>& part : parts) {
        const auto xv = part.x->view(), rv = part.r->view();
        const View<D, const float> rc = rv, pc = std::as_const(*part.p).view(), zc = std::as_const(*part.z).view();
        const float per_area = part.per_area;
        const bool first = &part == parts.data();
        double here = 0;
        parallel_max_to<true>(first ? largest : &here, "advance", *part.tiles, [=] TARN_KERNEL(Cell<D> c) {
            const int i = pc.index(c);
            const float share = alpha;
            xv[i] += share * pc[i];
            const float left = rc[i] - share * zc[i];
            rv[i] = left;
            return std::fabs(per_area * left);
        });
        if (!first) *largest = here < *largest ? *largest : here;
    }
}

// z = M r, and r . z, where kernels look for it.
template <int D>
using Precondition = std::function<void(Field<D>& z, Field<D>& r, double* dot)>;

template <int D>
SolveReport solve(Field<D>& x, Field<D>& r, const Poisson<D>& system, const ClosedComponents<D>& closed, const Goal& goal,
                  Field<D>& p, Field<D>& z, const Precondition<D>& precondition, IterationWorkspace& workspace)
{
    const std::vector<Part<D>> parts = parts_of(x, r, p, z, system);
    const double largest = largest_of(parts);
    const double largest_b = scale_of(goal, largest), tolerance = goal.tolerance;
    if (!(largest_b > 0)) {
        // Nothing drives the pressure (or b is not a number, which the caller's own check reports).
        for (const Part<D>& part : parts) {
            const auto xv = part.x->view();
            parallel_for<true>("clear", *part.tiles, [=] TARN_KERNEL(Cell<D> c) { xv(c) = 0; });
        }
        return {.converged = largest_b == 0, .iterations = 0, .residual = largest_b};
    }

    // r = b - A x.
    SolveReport report;
    report.converged = false;
    report.residual = largest / largest_b;
    if (!goal.from_zero) {
        with_uniform(system.uniform, [&](auto uniform) { subtract_product<uniform.value>(parts, system); });
        subtract_eliminated(r, x, system);
        report.residual = largest_of(parts) / largest_b;
    }
    if (report.residual == 0) {
        report.converged = true;
        return report;
    }

    if (workspace.scalars.size() == 0) workspace.scalars = Memory<double>(sizeof(Scalars) / sizeof(double));
    Scalars* const s = reinterpret_cast<Scalars*>(workspace.scalars.data());
    parallel_range("clear", 1, [=] TARN_KERNEL(int) { *s = {}; });
    const auto iterate = [&] {
        // In components without Dirichlet rows round-off puts constants into r, which nothing would take out again.
        // Those in z mean nothing, but would cost p its digits.
        if (closed.any()) remove_means(parts, &Part<D>::r, system, closed);
        precondition(z, r, &s->rz);
        if (system.octree) {
            s->rz = 0;
            for (const Part<D>& part : parts) s->rz += dot_in(*part.z, *part.r, *part.tiles);
        }
        if (closed.any()) remove_means(parts, &Part<D>::z, system, closed);
        // p = z + beta p; the first time there is no p yet.
        parallel_range("direction", 1, [=] TARN_KERNEL(int) {
            s->beta = s->rz_before > 0 ? static_cast<float>(s->rz / s->rz_before) : 0.0f;
            s->rz_before = s->rz;
        });
        const DeviceScalar beta(&s->beta);
        find_direction(parts, beta);
        // z = A p, alpha = r.z / p.A p.
        with_uniform(system.uniform, [&](auto uniform) { product<uniform.value>(parts, system, &s->pap); });
        add_eliminated(z, p, system, &s->pap);
        parallel_range("advance", 1,
                       [=] TARN_KERNEL(int) { s->alpha = s->pap > 0 ? static_cast<float>(s->rz / s->pap) : 0.0f; });
        const DeviceScalar alpha(&s->alpha);
        advance(parts, alpha, &s->largest);
    };
    workspace.sequence.forget();
    while (report.iterations < goal.max_iterations) {
        ++report.iterations;
        // Means are numbers that the program waits for.
        if (closed.any())
            iterate();
        else
            workspace.sequence.run({x.data(), r.data(), p.data(), z.data()}, iterate);
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
    if (system.octree) divide_leaves_by_diagonal(*system.octree);
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
SolveReport solve_multigrid(Field<D>& x, Field<D>& b, const Poisson<D>& system, const ClosedComponents<D>& closed,
                            const AnyMultigrid& multigrid, const Goal& goal, Field<D>& p, Field<D>& z,
                            IterationWorkspace& workspace)
{
    const auto xv = x.view(), bv = b.view();
    const View<D, const float> bc = bv;
    float* const kept = storage_for(workspace.b, static_cast<int>(b.grid().storage())) + b.grid().origin;
    parallel_for<true>("keep", system.tiles, [=] TARN_KERNEL(Cell<D> c) { kept[bc.index(c)] = bc(c); });
    if (system.octree) keep_right_hand_side(*system.octree);
    const SolveReport first = solve<D>(
        x, b, system, closed, goal, p, z,
        [&](Field<D>& to, Field<D>& from, double* dot) { multigrid.precondition(to, from, dot); }, workspace);
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
    if (system.octree) start_again(*system.octree);
    if (on_device() || system.octree)
        report = solve<D>(
            x, b, system, closed, patient, p, z,
            [&](Field<D>& to, const Field<D>& from, double* dot) { divide_by_diagonal(to, from, system, dot); }, workspace);
    else
        report = solve_mic0(x, b, system, closed, patient, p, z);
    report.iterations += first.iterations;
    report.fallback = true;
    return report;
}

template <int D>
SolveReport solve_mic0(Field<D>& x, Field<D>& b, const Poisson<D>& system, const ClosedComponents<D>& closed,
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
    IterationWorkspace workspace;
    return solve<D>(x, b, system, closed, goal, p, z, precondition, workspace);
}

template SolveReport solve_multigrid(Field<2>&, Field<2>&, const Poisson<2>&, const ClosedComponents<2>&,
                                     const Multigrid<2>&, const Goal&, Field<2>&, Field<2>&, IterationWorkspace&);
template SolveReport solve_multigrid(Field<2>&, Field<2>&, const Poisson<2>&, const ClosedComponents<2>&, const BlackBox&,
                                     const Goal&, Field<2>&, Field<2>&, IterationWorkspace&);
template SolveReport solve_multigrid(Field<3>&, Field<3>&, const Poisson<3>&, const ClosedComponents<3>&,
                                     const Multigrid<3>&, const Goal&, Field<3>&, Field<3>&, IterationWorkspace&);
template SolveReport solve_mic0(Field<2>&, Field<2>&, const Poisson<2>&, const ClosedComponents<2>&, const Goal&,
                                Field<2>&, Field<2>&);
template SolveReport solve_mic0(Field<3>&, Field<3>&, const Poisson<3>&, const ClosedComponents<3>&, const Goal&,
                                Field<3>&, Field<3>&);

}  // namespace tarn
