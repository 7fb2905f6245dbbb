// Where columns keep all their rows besides the layer: around solids that move and bodies, where forces are limited to shapes, and
// where gauges read more than the surface. There the uniform grid's cut cells, velocities and pressures are as they are.

#include <algorithm>
#include <cmath>
#include <utility>

#include "tarn/scene/place_solids.h"
#include "tarn/step/gauges.h"
#include "tarn/step/tall.h"
#include "tarn/step/tall_columns.h"

namespace tarn::tall {

namespace {

// Tiles within so many cells of shapes; of their surface alone, if `inside` is false.
template <int D>
void mark_near(Water<D>& w, std::vector<Shape> shapes, bool inside, double cells, uint8_t flag)
{
    if (shapes.empty()) return;
    // What one of them cuts from another counts, too.
    for (Shape& s : shapes) s.subtract = false;
    const TileMap<D> map(w.grid);
    const double reach = w.grid.h * (0.5 * tile_size * std::sqrt(static_cast<double>(D)) + cells);
    parallel_range("tall cells near solids", static_cast<int>(map.flags.size()), [&](int n) {
        const Box<D> box = map.box(map.tile(at(n)));
        Vec<D> middle;
        for (int a = 0; a < D; ++a) middle[a] = 0.5 * w.grid.h * (box.lo[a] + box.hi[a]);
        const double d = distance(shapes, lift<D>(middle));
        if (d < reach && (inside || d > -reach)) w.tall.refined[at(n)] |= flag;
    });
}

template <int D>
void mark_box(Water<D>& w, Vec3 lo, Vec3 hi)
{
    const TileMap<D> map(w.grid);
    map.for_each([&](size_t n, Cell<D> tile) {
        const Box<D> box = map.box(tile);
        bool near = true;
        for (int a = 0; a < D; ++a)
            near = near && (box.lo[a] - 2) * w.grid.h < hi[a] && (box.hi[a] + 2) * w.grid.h > lo[a];
        if (near) w.tall.refined[n] |= refined_always;
    });
}

}  // namespace

template <int D>
void refine_around_movers(Water<D>& w, const Scene& scene, double t)
{
    for (uint8_t& flags : w.tall.refined) flags &= static_cast<uint8_t>(~refined_now);
    std::vector<Shape> movers;
    if (scene.solids.moving()) {
        const std::vector<Shape> solids = scene.solids.at(t);
        for (size_t s = 0; s < solids.size(); ++s)
            if (moves(scene, s)) movers.push_back(solids[s]);
    }
    // Cut faces lie within a cell of the surface; the cells on both of their sides must be rows of the layer.
    mark_near(w, std::move(movers), true, 2, refined_now);
    for (size_t i = 0; i < scene.forces.size(); ++i) {
        const ForceParams& force = scene.params.force[i];
        if (force.kind == ForceKind::point && !force.around) continue;  // it leads to the shape, from everywhere
        mark_near(w, scene.forces[i].at(t), true, 1, refined_now);
    }
    // Where vortex particles start, unless a solid is there.
    for (size_t i = 0; i < scene.vortices.size(); ++i)
        if (scene.params.vortices[i].solid.empty()) mark_near(w, scene.vortices[i].at(t), true, 1, refined_now);
}

template <int D>
void refine_around_gauges(Water<D>& w, const Scene& scene)
{
    for (const GaugeParams& g : scene.params.gauge) {
        const bool at_point = *g.kind == GaugeKind::pressure || *g.kind == GaugeKind::velocity;
        if (at_point) mark_box(w, *g.point, *g.point);
        if (*g.kind == GaugeKind::flux) mark_box(w, *g.min, *g.max);
        if (*g.kind != GaugeKind::force && *g.kind != GaugeKind::torque) continue;
        const SolidEntries entries = entries_of_solid(scene.params, g.solid);
        if (moves(scene, static_cast<size_t>(entries.first))) continue;
        const std::vector<Shape> solids = scene.solids.at(0);
        mark_near(w, {solids.begin() + entries.first, solids.begin() + entries.last + 1}, false, 2, refined_always);
    }
}

#define TARN_INSTANTIATE(D)                                                       \
    template void refine_around_movers(Water<D>&, const Scene&, double);         \
    template void refine_around_gauges(Water<D>&, const Scene&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn::tall
