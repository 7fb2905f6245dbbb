#include "tarn/pressure/relaxation.h"

#include <cmath>
#include <utility>

#include "tarn/base/error.h"

namespace tarn {

template <int D>
SolveReport solve_relaxation(Field<D>& x, const Field<D>& b, const Poisson<D>& system, const Goal& goal, double coefficient,
                             Field<D>& rhs)
{
    constexpr int sweeps_between_looks = 4;
    TARN_CHECK_EQ(system.bodies, nullptr);
    const auto xv = x.view(), rv = rhs.view();
    const View<D, const float> xc = xv, rc = rv, bc = b.view();
    const PoissonView<D> a = view_of(system);
    const Tiles<D>& tiles = system.tiles;
    const float part = static_cast<float>(coefficient);
    const auto find_rhs = [&] {
        parallel_for<true>("keep", tiles, [=] TARN_KERNEL(Cell<D> c) { rv(c) = bc(c); });
        if (system.regions) system.regions->add_shared(rhs, x);
    };

    const double largest = parallel_max<true>("largest", tiles, [=] TARN_KERNEL(Cell<D> c) { return std::fabs(bc(c)); });
    const double scale = scale_of(goal, largest);
    SolveReport report;
    find_rhs();
    do {
        for (int n = 0; n < sweeps_between_looks; ++n, ++report.iterations) {
            for (int which = 0; which < 2; ++which)
                parallel_for_colour("relax", tiles, which, xv, [=] TARN_KERNEL(Cell<D> c) {
                    const int i = xc.index(c);
                    return xc[i] + part * a.inverse_diagonal[i] * (rc[i] - apply<false>(xc, a, i));
                });
            if (system.regions) find_rhs();
        }
        report.residual = parallel_max<true>("residual", tiles, [=] TARN_KERNEL(Cell<D> c) {
            const int i = xc.index(c);
            return std::fabs(rc[i] - apply<false>(xc, a, i));
        });
        if (scale > 0) report.residual /= scale;
        report.converged = report.residual <= goal.tolerance;
    } while (!report.converged && report.iterations < goal.max_iterations && std::isfinite(report.residual));
    return report;
}

template SolveReport solve_relaxation(Field<2>&, const Field<2>&, const Poisson<2>&, const Goal&, double, Field<2>&);
template SolveReport solve_relaxation(Field<3>&, const Field<3>&, const Poisson<3>&, const Goal&, double, Field<3>&);

}  // namespace tarn
