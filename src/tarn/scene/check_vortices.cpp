// What vortex particles need, and where they have no part.

#include <algorithm>
#include <cmath>

#include "tarn/params/tables.h"
#include "tarn/scene/scene.h"
#include "tarn/scene/validate.h"

namespace tarn {

std::optional<Problem> check_vortices(const Params& params)
{
    constexpr double most = 100000;  // at once
    double all = 0;
    for (size_t i = 0; i < params.vortices.size(); ++i) {
        const std::string entry = "vortices." + std::to_string(i) + ".";
        const VorticesParams& v = params.vortices[i];
        const auto no_part = [&](const char* key, const std::string& why) {
            return Problem{key, why + "; remove [[vortices]], or " + key};
        };
        if (params.method.phases == Phases::water_air) return no_part("method.phases", "vortex particles turn water or smoke, and not both water and air");
        if (params.method.grid == GridKind::octree) return no_part("method.grid", "vortex particles turn what is on a uniform grid or in tall cells");
        if (params.method.solver != Solver::projection) return no_part("method.solver", "vortex particles act with the solver \"projection\" alone");
        if (v.count == 0 && !v.rate.any()) return Problem{entry + "rate", "missing; without it or count none ever starts"};
        if (!v.strength.any()) return Problem{entry + "strength", "must not be zero, or the particles do nothing"};
        const double h = cell_size(params.domain);
        if (v.size && *v.size < h)
            return Problem{entry + "size", "is less than a cell, " + number_text(h) + " m, which shows no such whirl; give more, or raise domain.cells"};
        if (!v.solid.empty()) {
            bool known = false;
            for (const SolidParams& solid : params.solid) known = known || solid.name == v.solid;
            if (!known) return Problem{entry + "solid", "no [[solid]] has the name " + quoted(v.solid) + "; give it to one"};
            if (v.translate.varies() || v.rotate.varies())
                return Problem{entry + (v.translate.varies() ? "translate" : "rotate"), "the shape goes with its solid; remove solid or the keyframes"};
        }
        const double until = params.time.time_of(params.time.frames);
        all += v.count + v.rate.largest(until) * std::min(v.life, until);
        if (!(all <= most))
            return Problem{entry + "rate", "there would be " + number_text(std::floor(all)) + " particles at once, more than " + number_text(most) +
                                               "; lower rate, count or life"};
    }
    return {};
}

}  // namespace tarn
