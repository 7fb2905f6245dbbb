#include "tarn/run/complaint.h"

#include <cstdio>

#include "tarn/run/frames.h"

namespace tarn {
namespace {

std::string rounded(double value, int digits)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    return text;
}

std::string missed(const char* what, const SolveReport& solve)
{
    return std::string("the ") + what + " solve stopped at a residual of " + rounded(solve.residual, 2) + " after " +
           std::to_string(solve.iterations) + " iterations";
}

}  // namespace

std::string complaint(const StepReport& r, const Params& p)
{
    if (r.dt > r.dt_bound)
        return "a step of " + rounded(r.dt, 3) + " s is longer than the " + rounded(r.dt_bound, 3) +
               " s that the explicit scheme is stable with";
    if (!r.finite) return "the step gave numbers that are not finite";
    if (!r.pressure.converged)
        return missed("pressure", r.pressure) + " (pressure.tolerance is " + rounded(p.pressure.tolerance, 2) + ")";
    if (!r.viscosity.converged) return missed("viscosity", r.viscosity);
    return {};
}

std::string step_too_short(double limit, double max_speed)
{
    return "the stable step is " + rounded(limit, 2) + " s at a speed of " + rounded(max_speed, 3) +
           " m/s: a frame would need more than " + std::to_string(max_steps_per_frame) + " steps";
}

}  // namespace tarn
