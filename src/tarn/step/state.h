#pragma once
// The members of a state, in one list: what a checkpoint holds, what a step that failed is taken back to, and what a run's hash is over.
// Whoever adds a member to the state of Water adds it here and nowhere else.

#include <algorithm>
#include <string>

#include "tarn/step/water.h"

namespace tarn {

// A water that a state is copied to has as many levels.
template <int D>
void have_levels(Water<D>& w, size_t levels)
{
    if (w.coarse.size() != levels) w.coarse.resize(levels);
}
template <int D>
void have_levels(const Water<D>&, size_t)
{
}

// Calls f(name, member...) for each member, with the same one of every water: of one to write, of two to copy. Fields that a method does
// not have are empty.
template <int D, class F, class... Waters>
void for_each_member(const F& f, Waters&... w)
{
    const auto along = [](const char* name, int a) { return std::string(name) + '.' + "xyz"[a]; };
    f("time", w.time...);
    f("step", w.step...);
    f("ahead", w.ahead...);
    f("placed_from", w.placed_from...);
    f("volume_expected", w.volume_expected...);
    f("phi", w.phi...);
    for (int a = 0; a < D; ++a) f(along("velocity", a), w.velocity[a]...);
    f("pressure", w.pressure...);
    for (int a = 0; a < D; ++a) f(along("acceleration", a), w.acceleration[a]...);
    for (int b = 0; b < D; ++b) f(along("phi_gradient", b), w.phi_gradient.along[b]...);
    for (int a = 0; a < D; ++a)
        for (int b = 0; b < D; ++b) f(along(along("velocity_gradient", a).c_str(), b), w.velocity_gradient[a].along[b]...);
    f("smoke_density", w.smoke_density...);
    f("temperature", w.temperature...);
    f("particles", w.particles...);
    f("debt", w.volume_error...);
    f("ledger.expected", w.targets.expected...);
    f("ledger.elsewhere", w.targets.elsewhere...);
    f("ledger.body", w.targets.body...);
    f("enclosed_air.cells", w.enclosed_air.cells...);
    f("enclosed_air.regions", w.enclosed_air.regions...);
    f("enclosed_air.volumes", w.enclosed_air.volumes...);
    f("flows.due", w.flows.due...);
    if (((w.tall.on || w.tall.columns.nodes() > 0) || ...)) {
        f("tall.start", w.tall.columns.start...);
        f("tall.row", w.tall.columns.row...);
        f("tall.joined", w.tall.columns.joined...);
        f("tall.u", w.tall.velocity.u[0]...);
        f("tall.w", w.tall.velocity.u[1]...);
        f("tall.v", w.tall.velocity.v...);
        f("tall.pressure", w.tall.pressure...);
    }
    if (((w.vortices.on || !w.vortices.started.empty()) || ...)) {
        f("vortices.particles", w.vortices.particles...);
        f("vortices.started", w.vortices.started...);
    }
    f("bodies", w.bodies...);
    f("fragments", w.droplets...);
    f("exchange", w.exchange...);
    // Of an octree alone.
    const size_t levels = std::max({w.coarse.size()...});
    if (levels == 0) return;
    (have_levels(w, levels), ...);
    f("octree.tiles", w.octree_tiles...);
    for (size_t n = 0; n < levels; ++n) {
        const std::string level = "octree." + std::to_string(n + 1);
        for (int a = 0; a < D; ++a) f(along((level + ".velocity").c_str(), a), w.coarse[n].velocity[a]...);
        f(level + ".pressure", w.coarse[n].pressure...);
        if (!((w.coarse[n].smoke_density.size() > 0) || ...)) continue;
        f(level + ".smoke_density", w.coarse[n].smoke_density...);
        f(level + ".temperature", w.coarse[n].temperature...);
    }
}

// Particles, droplets and bubbles: lists of so many columns.
template <class T>
concept ColumnList = requires { T::columns; };

// Copies a member; a list or field takes the size of the one it is copied from.
template <int D, class T>
void copy_member(Field<D, T>& to, const Field<D, T>& from)
{
    if (to.size() != from.size()) to = from.size() > 0 ? Field<D, T>(from.grid()) : Field<D, T>();
    if (from.size() > 0) to.copy(from);
}
template <ColumnList T>
void copy_member(T& to, const T& from)
{
    to.copy(from);
}
template <class T>
void copy_member(T& to, const T& from)
{
    to = from;
}

// The same to memory of the program, beside the kernels that follow; see backend::copy_beside.
template <int D, class T>
void copy_member_beside(Field<D, T>& to, const Field<D, T>& from)
{
    if (to.size() != from.size()) to = from.size() > 0 ? Field<D, T>(from.grid(), Where::program) : Field<D, T>();
    if (from.size() > 0) backend::copy_beside(to.data(), from.data(), from.size() * sizeof(T));
}
template <ColumnList T>
void copy_member_beside(T& to, const T& from)
{
    to.copy_beside(from);
}
template <class T>
void copy_member_beside(T& to, const T& from)
{
    to = from;
}

}  // namespace tarn
