#include "tarn/scene/validate.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numbers>
#include <set>

#include "tarn/params/tables.h"
#include "tarn/scene/float_params.h"
#include "tarn/scene/reference_methods.h"
#include "tarn/scene/tall_cells.h"
#include "tarn/scene/scene.h"
#include "tarn/scene/smoke_scene.h"
#include "tarn/scene/wave_theory.h"
#include "tarn/shapes/load.h"

namespace tarn {

namespace {

using Found = std::optional<Problem>;

using Problems = std::vector<Problem>;

void add(Problems& all, Found found)
{
    if (found) all.push_back(std::move(*found));
}

// Everything that the rows know: what is required, and ranges.
void check_rows(Problems& all, std::span<const ParamRow> rows, const void* object, const std::string& prefix,
                const Params& params, const ShapeKind* shape)
{
    const int dimension = params.dimension();
    for (const ParamRow& row : rows) {
        if (shape && !row.belongs_to(*shape)) continue;
        if (row.only_3d && dimension == 2) continue;
        const auto value = row.value(object);
        if (!value) {
            if (!row.required) continue;
            const std::string why =
                shape ? std::string("; the shape \"") + word_of(shape_words(), static_cast<int>(*shape)) + "\" needs it"
                      : prefix.starts_with("waves.")
                          ? std::string("; waves need it")
                          : "; a " + (std::isdigit(static_cast<unsigned char>(prefix[prefix.size() - 2])) ? prefix.substr(0, prefix.find('.')) : "scene") + " needs it";
            all.push_back({prefix + row.name, "missing" + why});
        } else if (auto text = range_problem(row, *value, dimension, params.time.time_of(params.time.frames))) {
            all.push_back({prefix + row.name, *text});
        }
    }
}

Found check_grid(const DomainParams& domain)
{
    const double h = cell_size(domain);
    const char* names[] = {"width", "height", "depth"};
    double storage = 1;
    for (size_t a = 0; a < domain.size.size(); ++a) {
        const double n = cells_along(domain, static_cast<int>(a));
        if (n < 4)
            return Problem{"domain.cells", "gives a " + std::string(names[a]) + " of " + number_text(n) +
                                               " cells, which must be 4 at least; raise cells or make the " + names[a] +
                                               " at least " + number_text(4 * h) + " m"};
        storage *= n + 2;
    }
    if (!(storage < 2147483648.0))
        return Problem{"domain.cells", "gives " + number_text(storage) +
                                           " cells in all with their border, which must stay below 2147483648; "
                                           "lower cells"};
    return {};
}

Found check_shape(const ShapeParams& p, const std::string& prefix, int dimension)
{
    if (p.min && p.max && (p.shape == ShapeKind::box || p.shape == ShapeKind::terrain))
        for (int a = 0; a < dimension; ++a)
            if (!((*p.max)[a] > (*p.min)[a]))
                return Problem{prefix + "max", "must be greater than min along every axis; along " +
                                                   std::string(1, "xyz"[a]) + " " + number_text((*p.max)[a]) +
                                                   " is not greater than " + number_text((*p.min)[a])};
    if (p.shape == ShapeKind::plane && !(length(*p.normal) > 0))
        return Problem{prefix + "normal", "must not be zero; give a direction such as " +
                                              std::string(dimension == 2 ? "[0, 1]" : "[0, 1, 0]")};
    if (!(length(p.axis) > 0))
        return Problem{prefix + "axis", "must not be zero; give a direction such as " +
                                            std::string(dimension == 2 ? "[0, 1]" : "[0, 1, 0]")};
    return {};
}

// Keys of the wind that would silently do nothing.
Found check_wind(const Params& params)
{
    if (!params.wind) return {};
    const WindParams& wind = *params.wind;
    bool blows = false;
    for (const auto& key : wind.velocity.keys) blows |= length(key.v) > 0;
    if (wind.shear != 0 && !blows)
        return Problem{"wind.shear", "has no direction, as the wind's velocity is zero; give velocity"};
    if (wind.fade && !wind.where)
        return Problem{"wind.fade", "has no edge to fade at; give the wind a shape, or remove fade"};
    return {};
}

// A given flow knows nothing of what acts on water that moves by itself.
Found check_flow(const Params& params)
{
    if (!params.flow) return {};
    const auto no_part = [](const std::string& key, const std::string& remove) {
        return Problem{key, "has no part in a scene whose velocity is given; remove " + remove + " or [flow]"};
    };
    if (!params.solid.empty()) return no_part("solid", "[[solid]]");
    if (!params.source.empty()) return no_part("source", "[[source]]");
    if (!params.sink.empty()) return no_part("sink", "[[sink]]");
    for (size_t i = 0; i < params.gauge.size(); ++i)
        if (params.gauge[i].kind == GaugeKind::pressure) return no_part("gauge." + std::to_string(i) + ".kind", "the gauge");
    if (params.wind) return no_part("wind", "[wind]");
    if (!params.force.empty()) return no_part("force", "[[force]]");
    if (!params.vortices.empty()) return no_part("vortices", "[[vortices]]");
    if (!params.waves.empty()) return no_part("waves", "[[waves]]");
    if (!params.surface_pressure.empty()) return no_part("surface_pressure", "[[surface_pressure]]");
    if (params.fluid.viscosity.any()) return no_part("fluid.viscosity", "it");
    if (params.fluid.surface_tension.any()) return no_part("fluid.surface_tension", "it");
    for (size_t i = 0; i < params.water.size(); ++i)
        if (!(params.water[i].velocity == Vec3{})) return no_part("water." + std::to_string(i) + ".velocity", "it");
    if (params.flow->field == FlowField::deformation && params.dimension() == 2)
        return Problem{"flow.field", "\"deformation\" needs 3D; give domain.size three numbers, or choose \"vortex\""};
    return {};
}

Found check_output(const Params& params)
{
    if (params.output.revolve && params.dimension() == 3)
        return Problem{"output.revolve", "turns the outline of a 2D scene into a surface; remove it, or give domain.size two numbers"};
    if (params.output.heights && params.method.surface != SurfaceKind::height_field)
        return Problem{"output.heights", "writes those of method.surface = \"height-field\"; remove it, or choose that"};
    if (params.output.surface == SurfaceFormat::usd && params.dimension() == 2 && !params.output.revolve)
        return Problem{"output.surface", "\"usd\" needs 3D; give domain.size three numbers, or choose \"ply\""};
    if (params.output.render && !params.output.state)
        return Problem{"output.state", "must be true with output.render, which reads what is kept"};
    return {};
}

Found check_light(const LightParams& light, const std::string& entry)
{
    if (light.kind == LightKind::area && !light.position)
        return Problem{entry + "position", "missing; an area light needs a place"};
    if (light.kind == LightKind::image && light.image.empty())
        return Problem{entry + "image", "missing; name an EXR or PNG beside the scene file"};
    if (light.direction && !(length(*light.direction) > 0))
        return Problem{entry + "direction", "must not be zero; give where the sun stands, such as [-1, 2, 1]"};
    return {};
}

Found check_render(const Params& params)
{
    if (params.render.floor == FloorLook::image && params.render.floor_image.empty())
        return Problem{"render.floor_image", "missing; name a PNG or EXR beside the scene file"};
    if (params.output.render && params.dimension() == 2)
        return Problem{"output.render", "needs 3D; sections are drawn by output.preview"};
    return {};
}

// Words that one key shares with another, and does nothing with.
Found check_advection(const Params& params)
{
    if (is_weno(params.method.advection))
        return Problem{"method.advection", std::string(params.method.advection == Advection::weno5 ? "\"weno5\"" : "\"forward-euler\"") + " carries a surface and no velocity; give it to surface.advection, and choose \"maccormack\" or \"cip\" here"};
    return {};
}

// Keys that only water and air together know, and those that they do not.
Found check_air(const Params& params)
{
    if (params.method.phases == Phases::water_air) {
        if (params.wind)
            return Problem{"wind", "has no part in a scene whose air flows by itself; remove [wind] or method.phases"};
        if (params.flow) return Problem{"flow", "carries water and air alike; remove [flow] or method.phases"};
        if (!params.surface_pressure.empty())
            return Problem{"surface_pressure",
                           "has no part in a scene whose air flows by itself; use a [[force]] in the air, or remove method.phases"};
        return {};
    }
    if (params.method.phases == Phases::smoke) {
        if (params.surface.carry_volume) return Problem{"surface.carry_volume", "has no part in a scene of smoke; remove it"};
        return {};
    }
    const AirParams none;
    const auto useless = [](const char* key) {
        return Problem{key, "does nothing without air; give method.phases = \"water-air\", or remove it"};
    };
    if (!(params.air.density == none.density)) return useless("air.density");
    if (!(params.air.viscosity == none.viscosity)) return useless("air.viscosity");
    if (params.method.interface != Interface::smeared) return useless("method.interface");
    if (params.surface.carry_volume) return useless("surface.carry_volume");
    return {};
}

// Water that starts outside the domain, and sources, sinks and wind there, would silently do nothing.
Found check_place(const ShapeParams& p, const std::string& prefix, const Params& params)
{
    if (p.subtract || p.shape == ShapeKind::mesh || p.shape == ShapeKind::terrain) return {};
    Vec3 size;
    for (int a = 0; a < params.dimension(); ++a) size[a] = params.domain.size[a];
    if (reaches(make_shape(p, params.dimension()), size, params.dimension(), 0.125 * cell_size(params.domain)))
        return {};
    return Problem{prefix + "shape", outside_the_domain};
}

// How a shape fits into its section and into the domain; `i` is its entry there.
Found check_entry(const Section& section, const ShapeParams& shape, size_t i, const std::string& entry,
                  const Params& params)
{
    const std::string name = section.name;
    const bool solid = name == "solid", listed = solid || name == "water", moves = solid || section.add_shape || name == "vortices";
    if (!section.takes(shape.shape))
        return Problem{entry + "shape", std::string("only water can be a \"") +
                                            word_of(shape_words(), static_cast<int>(shape.shape)) +
                                            "\"; choose another shape"};
    if (shape.subtract && !listed)
        return Problem{entry + "subtract", "[[" + name + "]] stands alone; subtract is for water and solids"};
    if (shape.subtract && i == 0)
        return Problem{entry + "subtract", "the first [[" + name + "]] has nothing before it to be cut from"};
    const bool moving = shape.translate.varies() || shape.rotate.varies();
    if (moving && !moves)
        return Problem{entry + (shape.translate.varies() ? "translate" : "rotate"),
                       "keyframes move solids, wind, forces, vortices and surface pressures only; give a single value"};
    if (!solid && !moving) return check_place(shape, entry, params);
    return {};
}

Found check_source(const SourceParams& s, const std::string& entry)
{
    if (s.drops) {
        if (!s.rate) return Problem{entry + "rate", "missing; a source of drops needs rate"};
        return {};
    }
    if (s.velocity && s.rate) return Problem{entry + "rate", "give either velocity or rate, not both"};
    if (!s.velocity && !s.rate) return Problem{entry + "velocity", "missing; a source needs velocity or rate"};
    return {};
}

// Whether a force has what its kind needs, and nothing that it does not look at.
Found check_force(const ForceParams& f, const std::string& entry)
{
    const bool uniform = *f.kind == ForceKind::uniform, drag = *f.kind == ForceKind::drag, central = !uniform && !drag;
    const ForceParams none;
    const std::string kind = uniform ? "uniform" : drag ? "drag" : *f.kind == ForceKind::point ? "point" : "vortex";
    const auto useless = [&](const char* key) {
        return Problem{entry + key, "does nothing in a force of kind " + kind + "; remove it"};
    };
    if (!uniform && !(f.acceleration == none.acceleration)) return useless("acceleration");
    if (!central && !(f.strength == none.strength)) return useless("strength");
    if (!central && f.around) return useless("around");
    if (!central && f.falloff) return useless("falloff");
    if (*f.kind != ForceKind::vortex && !(f.turns_about == none.turns_about)) return useless("turns_about");
    if (!drag && !(f.velocity == none.velocity)) return useless("velocity");
    if (!drag && !(f.rate == none.rate)) return useless("rate");
    const bool to_shape = *f.kind == ForceKind::point && f.where;
    if (central && !f.around && !to_shape)
        return Problem{entry + "around", "missing; a force of kind " + kind + " needs a place" + (*f.kind == ForceKind::point ? ", or a shape" : "")};
    if (to_shape && !f.around && f.fade) return Problem{entry + "fade", "does nothing in a force towards its shape; remove it"};
    if (!(length(f.turns_about) > 0)) return Problem{entry + "turns_about", "must not be zero; give a direction such as [0, 1, 0]"};
    const char* const what = uniform ? "acceleration" : drag ? "rate" : "strength";
    if ((uniform && f.acceleration == none.acceleration) || (central && f.strength == none.strength) ||
        (drag && f.rate == none.rate))
        return Problem{entry + what, "missing; without it the force does nothing"};
    if (f.fade && !f.where)
        return Problem{entry + "fade", "has no edge to fade at; give the force a shape, or remove fade"};
    return {};
}

// Waves need a length, room, and water that can carry them.
Found check_waves(const WavesParams& w, const std::string& entry, const Params& params)
{
    const bool absorbs = *w.kind == WaveKind::absorb, across = w.side == Side::back || w.side == Side::front;
    if (across && params.dimension() == 2) return Problem{entry + "side", "a 2D scene has no such side; use \"left\" or \"right\""};
    const WallsParams& walls = params.domain.walls;
    const WallKind wall = w.side == Side::left    ? walls.left
                          : w.side == Side::right ? walls.right
                          : w.side == Side::back  ? walls.back
                                                  : walls.front;
    if (wall == WallKind::open)
        return Problem{entry + "side", "is open, so that the water would leave; close it in [domain.walls]"};
    if (w.length && w.period) return Problem{entry + "period", "give either length or period, not both"};
    if (!w.length && !w.period) return Problem{entry + "length", "missing; waves need length or period"};
    const double g = length(params.domain.gravity.at(0)), depth = *w.level - w.bottom;
    if (!(g > 0)) return Problem{entry + "kind", "needs gravity, which domain.gravity says is none"};
    if (!(depth > 0)) return Problem{entry + "level", "must lie above bottom; give the height of the still water"};
    const double k = w.length ? 2 * std::numbers::pi / *w.length : wave_number(2 * std::numbers::pi / *w.period, depth, g);
    const double wavelength = 2 * std::numbers::pi / k, zone = w.zone.value_or(zone_in_wavelengths * wavelength);
    const double workspace = params.domain.size[across ? 2 : 0];
    if (zone > workspace)
        return Problem{entry + "zone", "of " + number_text(zone) + " m is wider than the domain's " + number_text(workspace) +
                                           " m; give a smaller zone, or shorter waves"};
    if (absorbs && w.height != 0) return Problem{entry + "height", "does nothing where waves are absorbed; remove it"};
    if (absorbs && w.ramp) return Problem{entry + "ramp", "does nothing where waves are absorbed; remove it"};
    if (!absorbs && !(w.height > 0)) return Problem{entry + "height", "missing; without it there are no waves"};
    // Miche 1944: the steepest wave that does not break.
    const double most = 0.142 * wavelength * std::tanh(k * depth);
    if (w.height > most)
        return Problem{entry + "height", "waves of " + number_text(wavelength) + " m break when they are higher than " +
                                             number_text(std::floor(1e3 * most) / 1e3) + " m in this depth; make them lower"};
    return {};
}

Found check_surface_pressure(const SurfacePressureParams& s, const std::string& entry, const Params& params)
{
    const SurfacePressureParams none;
    const bool pressed = !(s.pressure == none.pressure);
    if (pressed && s.wavelength) return Problem{entry + "wavelength", "give either pressure or wavelength, not both"};
    if (!pressed && !s.wavelength) return Problem{entry + "pressure", "missing; give pressure, or the wavelength of waves"};
    if (s.fade && !s.where)
        return Problem{entry + "fade", "has no edge to fade at; give the pressure a shape, or remove fade"};
    if (!s.wavelength) {
        const auto useless = [&](const char* key) {
            return Problem{entry + key, "does nothing without wavelength; give that, or remove it"};
        };
        if (s.wave_height) return useless("wave_height");
        if (s.within) return useless("within");
        if (s.level) return useless("level");
        return {};
    }
    if (!s.wave_height) return Problem{entry + "wave_height", "missing; how high shall the waves be?"};
    if (!s.level) return Problem{entry + "level", "missing; at what height is the water still?"};
    if (!(*s.level > s.bottom)) return Problem{entry + "level", "must lie above bottom; give the height of the still water"};
    if (!(length(params.domain.gravity.at(0)) > 0))
        return Problem{entry + "wavelength", "needs gravity, which domain.gravity says is none"};
    if (s.direction[0] == 0 && (s.direction[2] == 0 || params.dimension() == 2))
        return Problem{entry + "direction", "must lead along the water; give one such as " +
                                                std::string(params.dimension() == 2 ? "[1, 0]" : "[1, 0, 0]")};
    return {};
}

// A body needs a mass, and moves by itself; what is no body has none of a body's keys.
Found check_body(const SolidParams& s, const std::string& entry)
{
    if (s.motion == SolidMotion::keyframes) {
        const auto useless = [&](const char* key) {
            return Problem{entry + key, "does nothing without motion = \"body\"; give that, or remove it"};
        };
        if (s.density) return useless("density");
        if (s.mass) return useless("mass");
        if (!(s.velocity == Vec3{})) return useless("velocity");
        if (!(s.spin == Keyed<Vec3>(Vec3{}))) return useless("spin");
        return {};
    }
    if (s.subtract)
        return Problem{entry + "motion", "what is cut out moves with the solid before it; give motion to that one"};
    if (s.shape == ShapeKind::plane || s.shape == ShapeKind::terrain)
        return Problem{entry + "motion", std::string("a ") + word_of(shape_words(), static_cast<int>(s.shape)) +
                                             " has no end and cannot be a body; choose another shape"};
    if (s.density && s.mass) return Problem{entry + "mass", "give either density or mass, not both"};
    if (!s.density && !s.mass) return Problem{entry + "density", "missing; a body needs density or mass"};
    if (s.translate.varies() || s.rotate.varies())
        return Problem{entry + (s.translate.varies() ? "translate" : "rotate"),
                       "a body moves by itself; give a single value, or motion = \"keyframes\""};
    if (s.spin.varies()) return Problem{entry + "spin", "is that at the start; give a single value"};
    return {};
}

bool is_name(const std::string& text)
{
    return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return std::isalnum(c) || c == '_' || c == '-';
    });
}

// Names must tell gauges, and the solids that they ask about, apart.
Found check_names(const Params& params)
{
    std::set<std::string> columns{"step", "time"}, solids;
    for (size_t i = 0; i < params.solid.size(); ++i) {
        const std::string& name = params.solid[i].name;
        const std::string key = "solid." + std::to_string(i) + ".name";
        if (name.empty()) continue;
        if (!is_name(name)) return Problem{key, "must be letters, digits, _ and - only, found " + quoted(name)};
        if (params.solid[i].subtract) return Problem{key, "a solid that is cut out is part of the one before it; name that"};
        if (!solids.insert(name).second) return Problem{key, quoted(name) + " is another solid's name, too; choose another"};
    }
    for (size_t i = 0; i < params.gauge.size(); ++i) {
        const std::string& name = params.gauge[i].name;
        const std::string key = "gauge." + std::to_string(i) + ".name";
        if (!is_name(name)) return Problem{key, "must be letters, digits, _ and - only, found " + quoted(name)};
        for (const char* end : {"", "_x", "_y", "_z"})
            if (!columns.insert(name + end).second)
                return Problem{key, quoted(name + end) + " is a column of gauges.csv already; choose another name"};
    }
    return {};
}

// Paths have names and two points, and what moves along one moves by nothing else.
Found check_paths(const Params& params)
{
    std::set<std::string> names;
    std::string known;
    for (size_t i = 0; i < params.path.size(); ++i) {
        const PathParams& path = params.path[i];
        const std::string entry = "path." + std::to_string(i) + ".";
        if (!is_name(path.name)) return Problem{entry + "name", "must be letters, digits, _ and - only, found " + quoted(path.name)};
        if (!names.insert(path.name).second) return Problem{entry + "name", quoted(path.name) + " is another path's name, too; choose another"};
        if (!path.points.formulas.empty())
            return Problem{entry + "points", "must be keyframes; a formula belongs in translate"};
        if (path.points.keys.size() < 2)
            return Problem{entry + "points", "needs two points at least, [{t = 0, v = [...]}, {t = 1, v = [...]}]"};
        known += (known.empty() ? "" : ", ") + quoted(path.name);
    }
    const auto unknown = [&](const std::string& key, const std::string& name) {
        return Problem{key, "no [[path]] has the name " + quoted(name) + "; " +
                                (known.empty() ? "give one" : "there are " + known)};
    };
    for (size_t i = 0; i < params.solid.size(); ++i) {
        const SolidParams& s = params.solid[i];
        const std::string entry = "solid." + std::to_string(i) + ".";
        if (s.path.empty()) {
            if (s.heading) return Problem{entry + "heading", "does nothing without path; give that, or remove it"};
            continue;
        }
        if (!params.find_path(s.path)) return unknown(entry + "path", s.path);
        if (s.motion != SolidMotion::keyframes)
            return Problem{entry + "path", "a body moves by itself; remove path, or motion = \"body\""};
        if (!(s.translate == Keyed<Vec3>(Vec3{})))
            return Problem{entry + "translate", "is given by path; remove one of them"};
    }
    if (params.camera.path.empty()) return {};
    if (!params.find_path(params.camera.path)) return unknown("camera.path", params.camera.path);
    if (params.camera.position) return Problem{"camera.position", "is given by path; remove one of them"};
    return {};
}

// Whether a gauge has what its kind needs, and nothing that it does not look at.
Found check_gauge(const GaugeParams& g, const std::string& entry, const Params& params)
{
    using enum GaugeKind;
    const std::string kind = *g.kind == height     ? "height"
                             : *g.kind == pressure ? "pressure"
                             : *g.kind == velocity ? "velocity"
                             : *g.kind == flux     ? "flux"
                             : *g.kind == force    ? "force"
                             : *g.kind == torque   ? "torque"
                                                   : "runup";
    const auto missing = [&](const char* key, const std::string& more) {
        return Problem{entry + key, "missing; a gauge of " + kind + " needs " + more};
    };
    const auto useless = [&](const char* key) {
        return Problem{entry + key, "does nothing in a gauge of " + kind + "; remove it"};
    };
    const bool at_point = *g.kind == height || *g.kind == pressure || *g.kind == velocity;
    const bool on_solid = *g.kind == force || *g.kind == torque, boxed = *g.kind == flux || *g.kind == runup;
    if (at_point && !g.point) return missing("point", "a place");
    if (on_solid && g.solid.empty()) return missing("solid", "the name of a [[solid]]");
    if (*g.kind == flux && !g.min) return missing("min", "the rectangle's lowest corner");
    if (*g.kind == flux && !g.max) return missing("max", "the rectangle's highest corner");
    if (g.point && !at_point && *g.kind != torque) return useless("point");
    if (g.min && !boxed) return useless("min");
    if (g.max && !boxed) return useless("max");
    if (!g.solid.empty() && !on_solid) return useless("solid");
    const int dimension = params.dimension();
    for (int a = 0; g.point && at_point && a < dimension; ++a) {
        const double x = (*g.point)[a];
        if (*g.kind == height && a == 1) continue;
        if (x < 0 || x > params.domain.size[static_cast<size_t>(a)])
            return Problem{entry + "point", std::string("lies outside the domain along ") + "xyz"[a] + "; move it"};
    }
    if (g.min && g.max) {
        int flat = 0;
        for (int a = 0; a < dimension; ++a) {
            if ((*g.min)[a] > (*g.max)[a])
                return Problem{entry + "max", std::string("must not be less than min along ") + "xyz"[a]};
            flat += (*g.min)[a] == (*g.max)[a];
        }
        if (*g.kind == flux && flat != 1)
            return Problem{entry + "max", "must equal min along exactly one axis, which the flux is measured along; " +
                                              std::to_string(flat) + " axes are equal"};
    }
    if (on_solid) {
        std::string known;
        for (const SolidParams& solid : params.solid) {
            if (solid.name == g.solid) return {};
            if (!solid.name.empty()) known += (known.empty() ? "" : ", ") + quoted(solid.name);
        }
        return Problem{entry + "solid", "no [[solid]] has the name " + quoted(g.solid) + "; " +
                                            (known.empty() ? "give one a name" : "there are " + known)};
    }
    return {};
}

// Calls f(section, entry's number, its keys' prefix) for every table that is there.
template <class F>
void for_each_entry(const Params& params, F&& f)
{
    for (const Section& section : sections())
        for (size_t i = 0; i < section.entries(params); ++i) {
            const std::string prefix = *section.name ? std::string(section.name) + "." : "";
            f(section, i, section.repeated() ? prefix + std::to_string(i) + "." : prefix);
        }
}

}  // namespace

std::string unit_hint(const Shape& shape, const DomainParams& domain)
{
    if (shape.kind != ShapeKind::mesh || !shape.sampled.values) return {};
    double size = 0, longest = 0;
    for (int a = 0; a < 3; ++a)
        size = std::max(size, (shape.sampled.nodes[a] - 1 - 2 * mesh_margin) * shape.sampled.spacing * shape.scale);
    for (const double side : domain.size) longest = std::max(longest, side);
    // Beyond this a mesh is hardly meant to be in metres.
    constexpr double far_too_large = 20;
    if (size < far_too_large * longest) return {};
    const struct {
        double metres;
        const char* name;
    } units[] = {{0.001, "millimetres"}, {0.01, "centimetres"}, {0.0254, "inches"}};
    for (const auto& unit : units) {
        const double fitting = unit.metres * size;
        if (fitting > longest || fitting < 0.02 * longest) continue;
        const double digit = std::pow(10, std::floor(std::log10(size)) - 1);
        return "is about " + number_text(digit * std::round(size / digit)) + " m long in a domain of " +
               number_text(longest) + " m; if it is in " + unit.name +
               ", scale = " + number_text(unit.metres * shape.scale) + " fits";
    }
    return {};
}

std::string why_outside(const Shape& shape, const DomainParams& domain)
{
    const std::string hint = unit_hint(shape, domain);
    return hint.empty() ? outside_the_domain : hint;
}

std::vector<Problem> row_problems(const Params& given)
{
    // Sections give out what they hold for writing, hence the copy.
    Params params = given;
    const int dimension = params.dimension();
    Problems all;
    for_each_entry(given, [&](const Section& section, size_t i, const std::string& entry) {
        const size_t before = all.size();
        const ShapeParams* const shape = section.shape_of(params, i);
        if (shape) check_rows(all, shape_rows(), shape, entry, params, &shape->shape);
        check_rows(all, section.rows, section.object(params, i), entry, params, nullptr);
        if (shape && all.size() == before) add(all, check_shape(*shape, entry, dimension));
    });
    return all;
}

std::vector<Problem> problems(const Params& given)
{
    Problems all = row_problems(given);
    if (!all.empty()) return all;
    Params params = given;
    add(all, check_grid(params.domain));
    if (!all.empty()) return all;

    const bool smoke = params.method.phases == Phases::smoke;
    if ((smoke ? params.cloud.empty() : params.water.empty()) && params.source.empty())
        all.push_back({smoke ? "cloud" : "water", std::string("missing; a scene needs at least one ") +
                                                      (smoke ? "[[cloud]]" : "[[water]]") + " or [[source]]"});
    if (params.water.size() + params.cloud.size() + params.solid.size() + params.source.size() + params.sink.size() > max_shapes)
        all.push_back({"water", "a scene takes at most " + std::to_string(max_shapes) +
                                    " shapes in all; join many small ones into a mesh"});
    for_each_entry(given, [&](const Section& section, size_t i, const std::string& entry) {
        if (const ShapeParams* shape = section.shape_of(params, i))
            add(all, check_entry(section, *shape, i, entry, params));
    });
    for (size_t i = 0; i < params.source.size() && !smoke; ++i)
        add(all, check_source(params.source[i], "source." + std::to_string(i) + "."));
    for (size_t i = 0; i < params.force.size(); ++i)
        add(all, check_force(params.force[i], "force." + std::to_string(i) + "."));
    for (size_t i = 0; i < params.waves.size(); ++i)
        add(all, check_waves(params.waves[i], "waves." + std::to_string(i) + ".", params));
    for (size_t i = 0; i < params.surface_pressure.size(); ++i)
        add(all, check_surface_pressure(params.surface_pressure[i], "surface_pressure." + std::to_string(i) + ".", params));
    for (size_t i = 0; i < params.light.size(); ++i)
        add(all, check_light(params.light[i], "light." + std::to_string(i) + "."));
    for (size_t i = 0; i < params.solid.size(); ++i)
        add(all, check_body(params.solid[i], "solid." + std::to_string(i) + "."));
    for (size_t i = 0; i < params.gauge.size(); ++i)
        add(all, check_gauge(params.gauge[i], "gauge." + std::to_string(i) + ".", params));
    for (const auto check : {check_names, check_floats, check_motion, check_joints, check_paths, check_output, check_air, check_advection, check_flow, check_vortices, check_smoke, check_reference_methods, check_tall_cells, check_octree, check_render, check_wind})
        add(all, check(params));
    return all;
}

}  // namespace tarn
