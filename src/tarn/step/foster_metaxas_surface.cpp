#include "tarn/step/foster_metaxas_surface.h"

#include <cmath>

#include "tarn/shapes/shape.h"
#include "tarn/step/boundary.h"
#include "tarn/step/surface.h"
#include "tarn/surface/chains.h"
#include "tarn/surface/height_field.h"
#include "tarn/surface/markers.h"
#include "tarn/surface/redistance.h"

namespace tarn::foster_metaxas {

namespace {

constexpr double exact_within = 3;  // cells, of the distance to chains; redistancing goes on from there

bool has_chains(const Params& p) { return p.method.surface == SurfaceKind::marker_chains; }
bool has_heights(const Params& p) { return p.method.surface == SurfaceKind::height_field; }

template <int D>
int along_of(const Params& p)
{
    return markers_along<D>(p.surface.particles_per_cell);
}

// The markers that inlets let in during dt: rows of their lattice, through the faces where the flow enters the inlet's cells.
// A row enters whenever the flow has gone on by the lattice's spacing; `due` holds how far it has come.
template <int D>
std::vector<Vec<D, float>> entering_markers(Water<D>& w, const Scene& scene, int along, double dt)
{
    std::vector<Vec<D, float>> places;
    if (!w.flows.any_inlet) return places;
    Field<D, uint8_t> inlets(w.grid, Where::program);
    inlets.copy(w.flows.inlet);
    const int rows = D == 2 ? along : along * along;
    for (size_t s = 0, number = 0; s < scene.params.source.size(); ++s) {
        const Vec<D, float> v = w.flows.inlet_velocity[number++];
        const double speed = length(v.template as<double>()), before = w.flows.due[s] * along / w.grid.h;
        if (w.flows.shut[s] || !(speed > 0)) continue;
        w.flows.due[s] += speed * dt;
        const double after = w.flows.due[s] * along / w.grid.h;
        for (int a = 0; a < D; ++a) {
            const double part = std::fabs(static_cast<double>(v[a])) / speed;
            const int side = v[a] > 0 ? -1 : 1;
            const long first = static_cast<long>(std::floor(before * part)), last = static_cast<long>(std::floor(after * part));
            for (const Box<D>& box : w.flows.source_tiles[s].boxes)
                backend::each(box, [&](Cell<D> c) {
                    if (inlets(c) != number || inlets(moved<D>(c, a, side)) == number) return;
                    for (long k = first + 1; k <= last; ++k)
                        for (int r = 0; r < rows; ++r) {
                            Vec<D, float> x = c.template as<float>();
                            for (int b = 0, sub = r; b < D; ++b) {
                                if (b == a) continue;
                                x[b] += (static_cast<float>(sub % along) + 0.5f) / static_cast<float>(along) - 0.5f;
                                sub /= along;
                            }
                            const double gone = (after * part - static_cast<double>(k)) / along;
                            x[a] += static_cast<float>(side * (0.5 - gone));
                            places.push_back(x);
                        }
                });
        }
    }
    return places;
}

// Removes the markers that have left by open sides or into sinks. Returns how many.
template <int D>
int let_markers_out(Particles<D>& markers, const Grid<D>& grid, const Scene& scene)
{
    Memory<int> left(static_cast<size_t>(markers.count()) + 1);
    int* const gone = left.data();
    const ParticleView<D> p = markers.view();
    const Cell<D> cells = grid.cells;
    parallel_range("markers leave", markers.count(), [=] TARN_KERNEL(int i) {
        const Vec<D, float> x = p.at(i);
        bool out = false;
        for (int a = 0; a < D; ++a) out = out || x[a] < -0.5f || x[a] >= static_cast<float>(cells[a]) - 0.5f;
        gone[i] = out;
    });
    for (const Geometry& geometry : scene.sinks) {
        const KernelShapes shapes = geometry.for_kernels(0);
        const ShapesView sink = shapes.view();
        parallel_range("markers leave", markers.count(), [=] TARN_KERNEL(int i) {
            const Vec<D> x = grid.h * (p.at(i).template as<double>() + Vec<D>::all(0.5));
            if (sink.distance(lift<D>(x)) < 0) gone[i] = 1;
        });
    }
    return remove_markers(markers, left);
}

// Chains of markers go with the flow and are mended. Velocities between faces have a divergence, if a small one, and droplets are
// dropped: with surface.volume_correction the free surface moves until there is as much water as there should be, in the time that
// the default method takes for it.
void move_chains(Water<2>& w, const Labels<2>& labels, const Params& p, double dt)
{
    Chains chains = read_chains(w.particles);
    move_markers(w.particles, w.velocity, labels, dt);
    carry(chains, read_chains(w.particles), labels);
    mend(chains, labels);
    if (p.surface.volume_correction) {
        const double missing = w.volume_expected / cell_volume(w.grid) - area(chains);
        move_out(chains, -std::expm1(-dt / falling_time(w.grid, p)) * missing, labels);
    }
    write_chains(w.particles, chains);
}

template <int D>
void move_height_field(Water<D>& w, const Labels<D>& labels, double dt)
{
    Heights<D> heights = read_heights<D>(w.particles, w.grid.cells);
    w.volume_expected += cell_volume(w.grid) * move_heights(heights, w.velocity, labels, dt);
    write_heights(w.particles, heights);
}

// Markers go with the flow, and enter and leave.   [FM96] §4.1
template <int D>
void move_all_markers(Water<D>& w, const Labels<D>& labels, const Scene& scene, double dt)
{
    const int along = along_of<D>(scene.params);
    move_markers(w.particles, w.velocity, labels, dt);
    const std::vector<Vec<D, float>> entering = entering_markers(w, scene, along, dt);
    const int left = let_markers_out(w.particles, w.grid, scene);
    add_markers(w.particles, entering, along);
    w.volume_expected += marker_share<D>(along) * cell_volume(w.grid) * (static_cast<double>(entering.size()) - left);
}

}  // namespace

template <int D>
Field<D> shapes_phi(const Grid<D>& grid, const Scene& scene)
{
    const std::vector<Shape> water = scene.water.at(0);
    Field<D> phi = distance_field(grid, static_cast<float>(grid.size()[1]));
    backend::each(grid.box(), [&](Cell<D> c) {
        if (!water.empty()) phi(c) = static_cast<float>(distance(water, lift<D>(grid.centre(c))));
    });
    return phi;
}

template <int D>
void start_surface(Water<D>& w, const Labels<D>& labels, const Scene& scene)
{
    const Params& p = scene.params;
    const double cell = cell_volume(w.grid);
    if (knows_surface(p) && on_device())
        throw InputError(scene.file + ": method.surface: chains and height fields are for processors; leave out --backend cuda, or choose \"markers\"");
    if constexpr (D == 2)
        if (has_chains(p)) {
            const std::vector<Shape> water = scene.water.at(0);
            const double h = w.grid.h;
            const auto phi = [&](Vec2 x) { return distance(water, lift<2>(h * (x + Vec2::all(0.5)))); };
            const Chains chains = water.empty() ? Chains{} : chains_around(phi, labels);
            write_chains(w.particles, chains);
            w.volume_expected = cell * area(chains);
            return;
        }
    if (has_heights(p)) {
        const Heights<D> heights = heights_of(shapes_phi(w.grid, scene), labels);
        write_heights(w.particles, heights);
        w.volume_expected = cell * volume(heights, labels);
        // At rest, so that the first step does not blow water out of open sides.
        const double weight = p.fluid.density.constant() * length(take<D>(p.domain.gravity.at(0))) * w.grid.h;
        backend::each(w.grid.box(), [&](Cell<D> c) {
            const double depth = heights(c) - c[1] - 0.5;
            w.pressure(c) = is_wall(labels(c)) || depth < 0 ? 0.0f : static_cast<float>(weight * depth);
        });
        return;
    }
    const int along = along_of<D>(p);
    seed_markers(w.particles, w.phi, labels, along);
    w.volume_expected = marker_share<D>(along) * cell * w.particles.count();
}

template <int D>
void label_surface(Labels<D>& labels, const Water<D>& w, const Params& p)
{
    if (w.particles.count() == 0) return;
    if constexpr (D == 2)
        if (has_chains(p)) return label_cells(labels, read_chains(w.particles));
    if (has_heights(p)) return label_cells(labels, read_heights<D>(w.particles, w.grid.cells));
    label_cells(labels, w.particles);
}

template <int D>
void follow_surface(Water<D>& w, const Labels<D>& labels, const Params& p)
{
    const Tiles<D> all = all_tiles(w.grid);
    bool found = false;
    if constexpr (D == 2)
        if (has_chains(p)) {
            find_phi(w.phi, read_chains(w.particles), labels, exact_within);
            found = true;
        }
    if (has_heights(p)) find_phi(w.phi, read_heights<D>(w.particles, w.grid.cells), labels);
    if (!found && !has_heights(p)) find_phi(w.phi, w.particles, labels, along_of<D>(p));
    const auto closed = closed_faces(w.solids);
    // That of heights is known everywhere, in obstacles and over water on them that is thinner than a cell, too.
    if (!has_heights(p)) {
        if (closed)
            redistance(w.phi, all, w.band, w.scratch[0], *closed);
        else
            redistance(w.phi, all, w.band, w.scratch[0]);
        if (w.solids.any) extend_into_solids(w.phi, w.solids, all, w.band, false, w.scratch[0]);
    }
    for (uint8_t& flags : w.map.flags) flags |= tile_candidate;
    find_tiles(w);
    find_bodies(w.targets, w.phi, closed ? &*closed : nullptr, w.tiles_shallow, w.tiles_deep);
    w.targets.expected = w.targets.actual;
}

template <int D>
void move_surface(Water<D>& w, const Labels<D>& labels, const Scene& scene, double dt, StepReport& step)
{
    const Stage stage(step.seconds_surface);
    if constexpr (D == 2)
        if (has_chains(scene.params)) {
            move_chains(w, labels, scene.params, dt);
            return follow_surface(w, labels, scene.params);
        }
    if (has_heights(scene.params))
        move_height_field(w, labels, dt);
    else
        move_all_markers(w, labels, scene, dt);
    follow_surface(w, labels, scene.params);
}

#define TARN_INSTANTIATE(D)                                                       \
    template Field<D> shapes_phi(const Grid<D>&, const Scene&);                   \
    template void start_surface(Water<D>&, const Labels<D>&, const Scene&);       \
    template void label_surface(Labels<D>&, const Water<D>&, const Params&);      \
    template void follow_surface(Water<D>&, const Labels<D>&, const Params&);     \
    template void move_surface(Water<D>&, const Labels<D>&, const Scene&, double, StepReport&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn::foster_metaxas
