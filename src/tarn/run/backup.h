#pragma once
// The state before a step, so that the step can be taken again with a smaller dt. It costs as many bytes as the fields and lists of
// step/state.h; a copy on disk would cost none, but most retries would then repeat many steps.

#include "tarn/step/gauges.h"
#include "tarn/step/state.h"

namespace tarn {

template <int D>
class Backup {
public:
    explicit Backup(const Grid<D>& grid)
    {
        held_.grid = grid;
        held_.step = -1;
    }

    // Nothing where it holds this very state already.
    void take(const Water<D>& water)
    {
        if (held_.step == water.step && held_.time == water.time) return;
        backend::follow_copies();
        for_each_member<D>([](const auto&, auto& to, const auto& from) { copy_member(to, from); }, held_, water);
    }
    // Solids and all else that restore() makes are the caller's to rebuild.
    void give_back(Water<D>& water) const
    {
        for_each_member<D>([](const auto&, auto& to, const auto& from) { copy_member(to, from); }, water, held_);
    }

    const Field<D>& phi() const { return held_.phi; }
    VelocityBefore<D> velocity_before() const { return {&held_.velocity, held_.time + held_.ahead}; }

    // The state for reading alone, where the program can: copied while the next steps go on. `to` is a water that room_for() made.
    void copy_beside(Water<D>& to) const
    {
        for_each_member<D>([](const auto&, auto& there, const auto& here) { copy_member_beside(there, here); }, to, held_);
    }
    // What a picture needs besides phi.
    void copy_spray_beside(Water<D>& to) const
    {
        to.fragments.copy_beside(held_.fragments);
        to.bodies = held_.bodies;
        to.time = held_.time;
    }
    static Water<D> room_for(const Water<D>& water)
    {
        Water<D> room;
        room.grid = water.grid;
        room.particles = Particles<D>(Where::program);
        room.fragments = Fragments<D>(Where::program);
        room.solids.any = water.solids.any;
        if (water.solids.any) room.solids.distance = Field<D>(water.grid, Where::program);
        return room;
    }

private:
    Water<D> held_;  // its state alone
};

}  // namespace tarn
