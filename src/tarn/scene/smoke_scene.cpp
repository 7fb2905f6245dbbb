#include "tarn/scene/smoke_scene.h"

#include <string_view>

#include "tarn/params/tables.h"

namespace tarn {

namespace {

// The first row of a table that a scene gives, other than it is by default, among those whose names start so.
std::optional<std::string> given_in(const Params& given, std::string_view name, std::string_view start = {})
{
    // Sections give out what they hold for writing, hence the copy.
    Params params = given, untouched;
    for (const Section& section : sections()) {
        if (section.name != name) continue;
        for (const ParamRow& row : section.rows) {
            if (!std::string_view(row.name).starts_with(start)) continue;
            const auto value = row.value(section.object(params, 0)), none = row.value(section.object(untouched, 0));
            if (!value && !none) continue;
            if (!value || !none || value_text(row, *value, 3) != value_text(row, *none, 3)) return std::string(name) + "." + row.name;
        }
    }
    return {};
}

std::optional<Problem> check_smoke_keys_of_water(const Params& params)
{
    const auto useless = [](const std::string& key, const std::string& what) {
        return Problem{key, "does nothing without smoke; give method.phases = \"smoke\", or remove " + what};
    };
    if (const auto key = given_in(params, "smoke")) return useless(*key, "it");
    if (!params.cloud.empty()) return useless("cloud.0.shape", "[[cloud]]");
    for (size_t i = 0; i < params.solid.size(); ++i)
        if (params.solid[i].temperature) return useless("solid." + std::to_string(i) + ".temperature", "it");
    for (size_t i = 0; i < params.source.size(); ++i) {
        if (params.source[i].density) return useless("source." + std::to_string(i) + ".density", "it");
        if (params.source[i].temperature) return useless("source." + std::to_string(i) + ".temperature", "it");
    }
    if (const auto key = given_in(params, "render", "smoke_")) return useless(*key, "it");
    return {};
}

// Tables and keys that only water has.
std::optional<Problem> check_water_keys_of_smoke(const Params& params)
{
    const auto no_part = [](const std::string& key, const std::string& what) {
        return Problem{key, "has no part in a scene of smoke, where there is no water; remove " + what};
    };
    if (!params.water.empty()) return no_part("water.0.shape", "[[water]]; smoke that is there at the start is a [[cloud]]");
    for (const char* table : {"fluid", "surface", "fragments", "whitewater"})
        if (const auto key = given_in(params, table)) return no_part(*key, "it");
    for (const char* row : {"surface", "interface"})
        if (const auto key = given_in(params, "method", row)) return no_part(*key, "it");
    for (const char* row : {"water", "absorption", "scattering", "surface"})
        if (const auto key = given_in(params, "render", row)) return no_part(*key, "it");
    if (params.output.surface == SurfaceFormat::usd)
        return Problem{"output.surface", "\"usd\" holds a surface of water; choose \"ply\" or \"obj\" for solids, and output.volume for smoke"};
    if (!params.waves.empty()) return no_part("waves.0.kind", "[[waves]]");
    if (!params.surface_pressure.empty()) return no_part("surface_pressure.0", "[[surface_pressure]]");
    if (params.flow) return no_part("flow", "[flow]");
    if (params.wind) return Problem{"wind", "blows over water; in smoke use a [[force]] of kind \"drag\", or remove [wind]"};
    for (size_t i = 0; i < params.source.size(); ++i)
        if (params.source[i].drops) return no_part("source." + std::to_string(i) + ".drops", "it");
    for (size_t i = 0; i < params.gauge.size(); ++i)
        if (params.gauge[i].kind != GaugeKind::velocity && params.gauge[i].kind != GaugeKind::flux)
            return Problem{"gauge." + std::to_string(i) + ".kind", "is of water; in smoke there are \"velocity\" and \"flux\""};
    return {};
}

// What smoke and another method do not do together.
std::optional<Problem> check_together(const Params& params)
{
    if (params.method.grid == GridKind::tall)
        return Problem{"method.grid", "smoke has no depth for tall cells; choose \"octree\", \"uniform\", or remove it"};
    if (params.method.solver != Solver::projection) return Problem{"method.solver", "has water alone; remove it, or method.phases = \"smoke\""};
    if (params.pressure.solver == PressureSolver::relaxation)
        return Problem{"pressure.solver", "\"relaxation\" is for water; choose \"multigrid\""};
    if (params.motion) return Problem{"domain.motion", "moves water only; remove [domain.motion], or move the solids"};
    if (!params.joint.empty()) return Problem{"joint.0.kind", "holds bodies, which are not carried by smoke; remove [[joint]]"};
    for (size_t i = 0; i < params.solid.size(); ++i)
        if (params.solid[i].motion == SolidMotion::body)
            return Problem{"solid." + std::to_string(i) + ".motion", "smoke carries no bodies; move the solid by keyframes"};
    return {};
}

// A source must give something, and what it blows in must have a way out.
std::optional<Problem> check_sources(const Params& params)
{
    const WallsParams& w = params.domain.walls;
    bool way_out = false, deep = params.dimension() == 3;
    for (const WallKind kind : {w.left, w.right, w.bottom, w.top}) way_out = way_out || kind == WallKind::open;
    for (const WallKind kind : {w.back, w.front}) way_out = way_out || (deep && kind == WallKind::open);
    const auto closed = [](const std::string& key) {
        return Problem{key, "has nowhere to come from or go to, as no side is open; open one in [domain.walls]"};
    };
    for (size_t i = 0; i < params.source.size(); ++i) {
        const SourceParams& s = params.source[i];
        const std::string entry = "source." + std::to_string(i) + ".";
        if (!s.density && !s.temperature && !s.velocity && !s.rate)
            return Problem{entry + "density", "missing; a source of smoke needs density, temperature, velocity or rate"};
        if (s.velocity && s.rate) return Problem{entry + "rate", "give either velocity or rate, not both"};
        if (s.rate && !way_out) return closed(entry + "rate");
    }
    for (size_t i = 0; i < params.sink.size(); ++i)
        if (params.sink[i].rate && !way_out) return closed("sink." + std::to_string(i) + ".rate");
    return {};
}

}  // namespace

std::optional<Problem> check_smoke(const Params& params)
{
    if (params.method.phases != Phases::smoke) return check_smoke_keys_of_water(params);
    for (const auto check : {check_water_keys_of_smoke, check_together, check_sources})
        if (auto found = check(params)) return found;
    return {};
}

}  // namespace tarn
