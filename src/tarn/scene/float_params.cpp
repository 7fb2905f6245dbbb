#include "tarn/scene/float_params.h"

#include "tarn/params/tables.h"

namespace tarn {

std::optional<Problem> check_floats(const Params& params)
{
    bool bodies = false;
    size_t first = params.solid.size();
    for (size_t i = params.solid.size(); i-- > 0;) {
        bodies = bodies || params.solid[i].motion == SolidMotion::body;
        if (params.solid[i].motion == SolidMotion::carried) first = i;
    }
    if (params.whitewater.live && !params.output.state)
        return Problem{"output.state", "must be true with whitewater.live, which reads what is kept"};
    if (params.whitewater.live && params.method.phases == Phases::smoke)
        return Problem{"whitewater.live", "smoke throws up no spray; remove it"};
    if (first == params.solid.size()) return {};
    const std::string key = "solid." + std::to_string(first) + ".motion";
    if (bodies) return Problem{key, "floats do not meet bodies that the water feels; give all of them motion = \"body\", or all \"float\""};
    if (params.method.phases == Phases::smoke) return Problem{key, "nothing floats on smoke; remove it, or give method.phases = \"water\""};
    if (params.flow) return Problem{key, "floats need a pressure, which a given [flow] has not; remove one of them"};
    if (params.motion) return Problem{key, "floats need a domain that stands still; remove [domain.motion], or give motion = \"body\""};
    if (!params.output.state) return Problem{"output.state", "must be true with floats, which go by what is kept"};
    for (size_t i = 0; i < params.gauge.size(); ++i)
        for (const SolidParams& s : params.solid)
            if (s.motion == SolidMotion::carried && !s.name.empty() && s.name == params.gauge[i].solid)
                return Problem{"gauge." + std::to_string(i) + ".solid", quoted(s.name) + " is a float, whose forces are in float/live/bodies.jsonl"};
    return {};
}

void set_floats_apart(Params& params)
{
    std::vector<SolidParams> solids;
    bool apart = false;
    for (SolidParams& s : params.solid) {
        apart = s.subtract ? apart : s.motion == SolidMotion::carried;
        (apart ? params.floats : solids).push_back(std::move(s));
    }
    params.solid = std::move(solids);
}

}  // namespace tarn
