#include "tarn/play/edit.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tarn/advect/advect.h"
#include "tarn/field/sample.h"
#include "tarn/phases/component_volumes.h"
#include "tarn/phases/two_fluids.h"
#include "tarn/scene/place_solids.h"
#include "tarn/step/bodies.h"
#include "tarn/step/boundary.h"
#include "tarn/step/step.h"
#include "tarn/step/surface.h"
#include "tarn/step/two_phase.h"

namespace tarn {

namespace {

// Remembers a state before it is changed, and makes it whole afterwards.
class Change {
public:
    Change(Water<2>& water, const Params& params)
        : w_(water), params_(params), volume_(volume_of(water, params)), on_grid_(water_volume(water))
    {
        if (w_.phi_gradient.any()) w_.cip.moved_phi.copy(w_.phi);
        for (int a = 0; a < 2 && w_.velocity_gradient[0].any(); ++a) w_.cip.moved[a].copy(w_.velocity[a]);
    }

    // The gradients of phi and velocity follow the change of their values.
    void follow()
    {
        for (uint8_t& flags : w_.map.flags) flags |= tile_candidate;
        find_tiles(w_);
        if (w_.phi_gradient.any()) follow_change(w_.phi_gradient, w_.phi, w_.cip.moved_phi, -1, w_.tiles_active);
        if (w_.velocity_gradient[0].any())
            follow_velocity(w_.velocity_gradient, w_.velocity, CipNear<2>{&w_.phi, 0.99 * w_.band}, w_.tiles_active, w_.cip);
        find_density(w_.density, w_.phi, at_time(params_, w_.time), cut_faces(w_, params_, w_.time), w_.tiles_active);
        w_.fastest = two_phase::fastest_near_water(w_);
    }

    // Components that are gone take along what they should hold; the rest of the volume came to, or left, the one nearest
    // to `middle`.
    void book(Vec<2> middle)
    {
        TargetVolumes<2>& targets = w_.targets;
        std::vector<double> gone;
        carry_bodies(w_, params_, 0, &gone);
        const double gained = water_volume(w_) - on_grid_ + std::accumulate(gone.begin(), gone.end(), 0.0);
        give(targets, component_at(middle), gained);
        double under = 0;
        for (double& volume : targets.expected) {
            under += std::min(volume, 0.0);
            volume = std::max(volume, 0.0);
        }
        if (under < 0) give(targets, 0, under);
        w_.volume_expected = std::max(0.0, w_.volume_expected + volume_of(w_, params_) - volume_);
    }

private:
    // That of the wet cell nearest to a place; 0 where there is none.
    int component_at(Vec<2> x) const
    {
        const auto body = w_.targets.body.view();
        int component = 0;
        double nearest = HUGE_VAL;
        for (int j = 0; j < w_.grid.cells[1]; ++j)
            for (int i = 0; i < w_.grid.cells[0]; ++i) {
                const int here = body(Cell<2>{i, j});
                if (here <= 0) continue;
                const double far = length(w_.grid.centre(Cell<2>{i, j}) - x);
                if (far < nearest) nearest = far, component = here;
            }
        return component;
    }

    Water<2>& w_;
    const Params& params_;
    double volume_, on_grid_;
};

// Faces of an axis, the grid's last one included.
Box<2> faces_of(const Grid<2>& grid, int axis)
{
    Box<2> box = grid.box();
    ++box.hi[axis];
    return box;
}

template <class F>
void for_each(const Box<2>& box, const F& f)
{
    for (int j = box.lo[1]; j < box.hi[1]; ++j)
        for (int i = box.lo[0]; i < box.hi[0]; ++i) f(Cell<2>{i, j});
}

// phi becomes `shaped(phi, distance from the brush)` in every cell, within the band.
template <class F>
void reshape(Water<2>& w, const BrushDistance& brush, const F& shaped)
{
    const float band = static_cast<float>(w.band);
    for_each(w.grid.box(), [&](Cell<2> c) {
        const float d = static_cast<float>(brush(w.grid.centre(c)));
        w.phi(c) = std::clamp(shaped(w.phi(c), d), -band, band);
    });
}

// Fields that the methods of the scene need, and the state was begun without.
void make_room_for_solids(Water<2>& w)
{
    if (w.solids.any && w.to_water.size() == 0) w.to_water = distance_field(w.grid, static_cast<float>(w.band));
}

// Values at the same places on another grid.
void resample(Field<2>& to, const Field<2>& from, int axis)
{
    const Grid<2> &fine = to.grid(), &grid = from.grid();
    const auto values = from.view();
    const auto place = [&](Vec<2> x) { return ((1 / grid.h) * x - Vec<2>::all(0.5)).as<float>(); };
    if (axis < 0)
        for_each(fine.box(), [&](Cell<2> c) { to(c) = sample_cells(values, grid.cells, place(fine.centre(c))); });
    else
        for_each(faces_of(fine, axis),
                 [&](Cell<2> c) { to(c) = sample_faces(values, grid.cells, axis, place(fine.face(c, axis))); });
}

}  // namespace

double volume_of(const Water<2>& w, const Params& params)
{
    const FragmentTotals apart = totals(w.droplets, w.grid, at_time(params, w.time));
    return water_volume(w) + apart.volume_droplets - apart.volume_bubbles;
}

void pour(Water<2>& w, const Scene& scene, const BrushDistance& brush, Vec<2> middle, Vec<2> velocity)
{
    Change change(w, scene.params);
    for (int a = 0; a < 2; ++a)
        for_each(faces_of(w.grid, a), [&](Cell<2> c) {
            if (!(brush(w.grid.face(c, a)) < 0)) return;
            w.velocity[a](c) = static_cast<float>(velocity[a]);
            w.acceleration[a](c) = 0;
        });
    reshape(w, brush, [](float phi, float d) { return std::min(phi, d); });
    change.follow();
    change.book(middle);
}

void remove_water(Water<2>& w, const Scene& scene, const BrushDistance& brush, Vec<2> middle)
{
    Change change(w, scene.params);
    reshape(w, brush, [](float phi, float d) { return std::max(phi, -d); });
    std::vector<Droplet<2>> kept = read_fragments(w.droplets);
    const auto inside = [&](const Droplet<2>& f) {
        return f.kind == DropletKind::droplet && brush(w.grid.h * (f.x + Vec<2>::all(0.5))) < 0;
    };
    if (std::erase_if(kept, inside) > 0) write_fragments(w.droplets, kept);
    change.follow();
    change.book(middle);
}

void push(Water<2>& w, const BrushDistance& brush, double radius, Vec<2> velocity, double share)
{
    const bool gradients = w.velocity_gradient[0].any();
    for (int a = 0; a < 2; ++a) {
        if (gradients) w.cip.moved[a].copy(w.velocity[a]);
        for_each(faces_of(w.grid, a), [&](Cell<2> c) {
            const double inside = -brush(w.grid.face(c, a)) / radius;
            if (!(inside > 0)) return;
            const double part = share * inside * inside * (3 - 2 * inside);
            float& u = w.velocity[a](c);
            u += static_cast<float>(part * (velocity[a] - u));
        });
    }
    if (gradients)
        follow_velocity(w.velocity_gradient, w.velocity, CipNear<2>{&w.phi, 0.99 * w.band}, w.tiles_active, w.cip);
    w.fastest = two_phase::fastest_near_water(w);
}

void change_solids(Water<2>& w, const Scene& scene)
{
    Change change(w, scene.params);
    w.solids = make_solids<2>(scene, w.grid);
    if (w.solids.moving) place_solids(w.solids, scene, w.time, 0);
    make_room_for_solids(w);
    if (w.solids.any) extend_into_solids(w.phi, w.solids, all_tiles(w.grid), w.band, false, w.scratch[0]);
    change.follow();
    change.book(0.5 * w.grid.size());
}

Water<2> carried_over(const Water<2>& from, const Scene& scene)
{
    Water<2> w = initial_water<2>(scene);
    resample(w.phi, from.phi, -1);
    resample(w.pressure, from.pressure, -1);
    for (int a = 0; a < 2; ++a) {
        resample(w.velocity[a], from.velocity[a], a);
        resample(w.acceleration[a], from.acceleration[a], a);
    }
    const float band = static_cast<float>(w.band);
    for_each(w.grid.box(), [&](Cell<2> c) { w.phi(c) = std::clamp(w.phi(c), -band, band); });
    // Droplets count places and volumes in cells.
    std::vector<Droplet<2>> droplets = read_fragments(from.droplets);
    const double ratio = from.grid.h / w.grid.h;
    for (Droplet<2>& f : droplets) {
        f.x = ratio * (f.x + Vec<2>::all(0.5)) - Vec<2>::all(0.5);
        f.volume *= ratio * ratio;
    }
    write_fragments(w.droplets, droplets);
    w.exchange = from.exchange;
    w.time = from.time;
    w.step = from.step;
    w.ahead = from.ahead;
    tell_poses(w, scene, w.time);
    start_again(w, scene);
    return w;
}

}  // namespace tarn
