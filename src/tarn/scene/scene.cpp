#include "tarn/scene/scene.h"

#include <algorithm>

#include "tarn/base/error.h"
#include "tarn/scene/forces.h"
#include "tarn/scene/make_bodies.h"
#include "tarn/scene/validate.h"

namespace tarn {

double cell_size(const DomainParams& domain)
{
    return *std::max_element(domain.size.begin(), domain.size.end()) / domain.cells;
}

double cells_along(const DomainParams& domain, int axis) { return std::round(domain.size[axis] / cell_size(domain)); }

template <int D>
Grid<D> make_grid(const DomainParams& domain)
{
    TARN_CHECK_EQ(static_cast<int>(domain.size.size()), D);
    Cell<D> n;
    for (int a = 0; a < D; ++a) n[a] = static_cast<int>(cells_along(domain, a));
    return Grid<D>(n, cell_size(domain));
}
template Grid<2> make_grid<2>(const DomainParams&);
template Grid<3> make_grid<3>(const DomainParams&);

template <class P, class F>
static void for_each_property(P& params, F&& f)
{
    f(params.fluid.density);
    f(params.fluid.viscosity);
    f(params.fluid.surface_tension);
    f(params.air.density);
    f(params.air.viscosity);
}

bool fluids_vary(const Params& params)
{
    bool any = false;
    for_each_property(params, [&](const Keyed<double>& property) { any = any || property.varies(); });
    return any;
}

Params at_time(const Params& params, double t)
{
    Params now = params;
    for_each_property(now, [&](Keyed<double>& property) { property = property.at(t); });
    return now;
}

Scene at_time(const Scene& scene, double t)
{
    Scene now = scene;
    now.params = at_time(scene.params, t);
    return now;
}

Scene build_scene(Params params, std::string name, std::string file, const std::string& folder)
{
    // Half a cell keeps what the grid can show of a mesh.
    const Sampler sample = sample_files(params.dimension(), 0.5 * cell_size(params.domain), folder, file);
    return build_scene(std::move(params), std::move(name), std::move(file), sample);
}

Scene build_scene(Params params, std::string name, std::string file, const Sampler& sample)
{
    Scene scene;
    if (!control_available()) {
        bool drops = false;
        for (const SourceParams& source : params.source) drops = drops || source.drops;
        if (drops || !params.force.empty() || !params.vortices.empty() || !params.waves.empty() || !params.surface_pressure.empty())
            throw InputError(file + ": forces, vortices, waves, surface pressure and drops are not part of the page; use the program");
    }
    const int dimension = params.dimension();
    const double h = cell_size(params.domain);
    const auto build = [&](const std::vector<const ShapeParams*>& shapes) {
        return Geometry::build(shapes, dimension, sample, file);
    };
    const auto all = [](const auto& list) {
        std::vector<const ShapeParams*> shapes;
        for (const auto& p : list) shapes.push_back(&p);
        return shapes;
    };
    scene.water = build(all(params.water));
    scene.clouds = build(all(params.cloud));
    scene.solids = build(all(params.solid));
    for (const auto& p : params.source) scene.sources.push_back(build({&p}));
    for (const auto& p : params.sink) scene.sinks.push_back(build({&p}));
    const ShapeParams* const windy = params.wind && params.wind->where ? &*params.wind->where : nullptr;
    if (windy) scene.wind = build({windy});
    const auto limited = [&](const auto& list) {
        std::vector<Geometry> where;
        for (const auto& p : list) where.push_back(p.where ? build({&*p.where}) : Geometry{});
        return where;
    };
    scene.forces = limited(params.force);
    scene.pressures = limited(params.surface_pressure);
    for (const auto& p : params.vortices) scene.vortices.push_back(build({&p}));
    for (size_t i = 0; i < params.solid.size(); ++i)
        if (const PathParams* path = params.find_path(params.solid[i].path))
            scene.solids.follow(i, path->way(), params.solid[i].heading);

    // Meshes could not be asked where they are before they were read.
    const auto must_reach = [&](const Geometry& geometry, const std::vector<const ShapeParams*>& list) {
        const std::vector<Shape> shapes = geometry.at(0);
        Vec3 size;
        for (int a = 0; a < dimension; ++a) size[a] = params.domain.size[a];
        for (size_t i = 0; i < shapes.size(); ++i)
            if (!shapes[i].subtract && !reaches(shapes[i], size, dimension, 0.125 * h))
                throw InputError(file + ":" + std::to_string(list[i]->line) + ": shape: " + why_outside(shapes[i], params.domain));
    };
    must_reach(scene.water, all(params.water));
    must_reach(scene.clouds, all(params.cloud));
    for (size_t i = 0; i < scene.sources.size(); ++i) must_reach(scene.sources[i], {&params.source[i]});
    for (size_t i = 0; i < scene.sinks.size(); ++i) must_reach(scene.sinks[i], {&params.sink[i]});
    if (windy && !scene.wind.moving()) must_reach(scene.wind, {windy});
    for (size_t i = 0; i < scene.forces.size(); ++i)
        if (!scene.forces[i].empty() && !scene.forces[i].moving()) must_reach(scene.forces[i], {&*params.force[i].where});
    for (size_t i = 0; i < scene.pressures.size(); ++i)
        if (!scene.pressures[i].empty() && !scene.pressures[i].moving())
            must_reach(scene.pressures[i], {&*params.surface_pressure[i].where});
    for (size_t i = 0; i < scene.vortices.size(); ++i)
        if (!scene.vortices[i].moving()) must_reach(scene.vortices[i], {&params.vortices[i]});

    scene.bodies = make_bodies(params, scene.solids, file);
    scene.joints = make_joints(params, scene.bodies);

    scene.name = std::move(name);
    scene.file = std::move(file);
    scene.params = std::move(params);
    return scene;
}

}  // namespace tarn
