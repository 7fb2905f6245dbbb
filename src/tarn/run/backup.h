#pragma once
// The state before a step, so that the step can be taken again with a smaller dt. It costs as many bytes as the fields and lists of
// step/state.h; a copy on disk would cost none, but most retries would then repeat many steps.

#include <optional>
#include <type_traits>

#include "tarn/backend/parallel.h"
#include "tarn/step/state.h"
#include "tarn/step/surface_velocity.h"

namespace tarn {

template <int D>
class Backup {
public:
    // Where it is for one step to be taken back, phi is held where a step can change it.
    explicit Backup(const Grid<D>& grid, bool of_a_step = false) : of_a_step_(of_a_step)
    {
        held_.grid = grid;
        held_.step = -1;
    }

    // Nothing where it holds this very state already.
    void take(const Water<D>& water)
    {
        if (held_.step == water.step && held_.time == water.time) return;
        backend::follow_copies();
        changing_.reset();
        if (of_a_step_ && water.octree.any()) changing_ = changing(water);
        if (changing_ && held_.phi.size() == 0) held_.phi = Field<D>(water.grid);
        copy_all(held_, water);
    }
    // Solids and all else that restore() makes are the caller's to rebuild.
    void give_back(Water<D>& water) const
    {
        copy_all(water, held_);
    }

    const Field<D>& phi() const { return held_.phi; }
    // Nothing where it has not held any.
    VelocityBefore<D> velocity_before() const
    {
        if (held_.step < 0) return {};
        return {&held_.velocity, held_.time + held_.ahead};
    }
    // Makes of the velocity that of the surface's time, beside the state after the step; see make_surface_velocity(). Afterwards it holds
    // no state.
    bool make_surface_velocity(const Water<D>& after)
    {
        backend::follow_copies();
        const VelocityBefore<D> before = velocity_before();
        held_.step = -1;
        return tarn::make_surface_velocity(held_.velocity, after, before);
    }
    FaceField<D>& velocity() { return held_.velocity; }

    // The state for reading alone, where the program can: copied while the next steps go on. `to` is a water that storage_for() made.
    void copy_beside(Water<D>& to) const
    {
        for_each_member<D>([](const auto&, auto& there, const auto& here) { copy_member_beside(there, here); }, to, held_);
    }
    // What a picture needs besides phi.
    void copy_spray_beside(Water<D>& to) const
    {
        to.droplets.copy_beside(held_.droplets);
        to.bodies = held_.bodies;
        to.time = held_.time;
    }
    static Water<D> storage_for(const Water<D>& water)
    {
        Water<D> workspace;
        workspace.grid = water.grid;
        workspace.particles = Particles<D>(Where::program);
        workspace.droplets = Droplets<D>(Where::program);
        workspace.solids.any = water.solids.any;
        if (water.solids.any) workspace.solids.distance = Field<D>(water.grid, Where::program);
        return workspace;
    }

private:
    Water<D> held_;  // its state alone
    bool of_a_step_ = false;
    std::optional<Tiles<D>> changing_;  // where phi is held; everywhere without

    // Of an octree: around small cells and sources, as far as a step may bring the surface. That of smoke is the same everywhere.
    static Tiles<D> changing(const Water<D>& water)
    {
        constexpr int reach = 4;  // tiles, at CFL 32
        TileMap<D> map(water.grid);
        if (water.smoke) return select(map, 1);
        map.flags = water.octree.levels[0].map.flags;
        for (const Tiles<D>& tiles : water.flows.source_tiles)
            for (const Box<D>& box : tiles.boxes)
                for (int x = box.lo[0]; x < box.hi[0]; x += tile_size) {
                    Cell<D> t = box.lo;
                    t[0] = x;
                    for (int a = 0; a < D; ++a) t[a] /= tile_size;
                    map.flags[map.index(t)] = 1;
                }
        for (int n = 0; n < reach; ++n) dilate(map, 1);
        return select(map, 1);
    }
    void copy_all(Water<D>& to, const Water<D>& from) const
    {
        const Field<D>* const phi = &from.phi;
        for_each_member<D>(
            [&](const auto&, auto& there, const auto& here) {
                if constexpr (std::is_same_v<std::decay_t<decltype(here)>, Field<D>>) {
                    if (changing_ && &here == phi) {
                        const auto t = there.view();
                        const auto h = here.view();
                        parallel_for<true>("hold phi", *changing_, [=](Cell<D> c) { t(c) = h(c); });
                        return;
                    }
                }
                copy_member(there, here);
            },
            to, from);
    }
};

}  // namespace tarn
