#include "tarn/step/two_phase_droplets.h"

#include <algorithm>
#include <numeric>

#include "tarn/advect/advect.h"
#include "tarn/phases/component_volumes.h"
#include "tarn/phases/two_fluids.h"
#include "tarn/step/boundary.h"
#include "tarn/step/frame.h"
#include "tarn/step/surface.h"

namespace tarn::two_phase {

template <int D>
double missing_volume(const Water<D>& w, const Params& p)
{
    const FragmentTotals apart = totals(w.droplets, w.grid, p);
    return w.volume_expected - apart.volume_droplets + apart.volume_bubbles - water_volume(w);
}

template <int D>
std::vector<Lost<D>> exchange_fragments(Water<D>& w, const Params& p, const Boundary<D>& boundary, double dt)
{
    std::vector<Lost<D>> returned;
    if (w.droplets.count() == 0) return returned;
    const bool phi_gradient = w.phi_gradient.any(), velocity_gradient = w.velocity_gradient[0].any();
    if (phi_gradient) w.cip.moved_phi.copy(w.phi);
    for (int a = 0; a < D && velocity_gradient; ++a) w.cip.moved[a].copy(w.velocity[a]);
    const bool carried = w.volume_error.size() > 0;
    const double missing = carried ? missing_volume(w, p) : 0;
    if (carried) note_volume(w.carried, wet_part(w.phi, w.solids), w.tiles_active);
    const double left = move_fragments(w.droplets, w.phi, w.velocity, w.pressure, w.density, boundary, p,
                                       frame_forces(p, w.time, dt), dt, w.exchange, returned);
    w.volume_expected = std::max(0.0, w.volume_expected - left);  // droplets' volumes are rounded
    if (has_particles(p)) remove_strays(w.particles, w.phi, returned, w.tiles_active, w.fragmenting);
    if (carried)
        add_volume_error(w.volume_error, (missing_volume(w, p) - missing) / cell_volume(w.grid), wet_part(w.phi, w.solids), w.tiles_active,
            w.carried);
    if (phi_gradient) follow_change(w.phi_gradient, w.phi, w.cip.moved_phi, -1, w.tiles_active);
    if (velocity_gradient) follow_velocity(w.velocity_gradient, w.velocity, near_water(w, p), w.tiles_active, w.cip);
    return returned;
}

template <int D>
void book_returned(Water<D>& w, std::vector<Lost<D>>& returned)
{
    const double cell = cell_volume(w.grid);
    find_components(returned, 0, w.targets.body, thin_walls_of(w.solids, w.grid));
    for (const Lost<D>& l : returned)
        give(w.targets, l.body, l.kind == DropletKind::droplet ? cell * l.volume : -cell * l.volume);
}

template <int D>
void book_components(Water<D>& w, const Params& p, std::vector<Lost<D>>& lost, std::vector<Lost<D>>& returned,
                     double dt)
{
    const double cell = cell_volume(w.grid);
    const ThinWalls<D> thin_walls = thin_walls_of(w.solids, w.grid);
    // Where volume is carried, the volume error knows what was lost.
    const bool kept = p.surface.volume_correction && p.surface.spray && w.volume_error.size() == 0;
    find_components(lost, dt / w.grid.h, w.targets.body, thin_walls);
    take_droplets(w.targets, lost, kept, w.grid);
    std::vector<double> gone;
    w.velocity.swap(w.phases.air);  // as the surface moved
    carry_bodies(w, p, dt, kept ? &gone : nullptr);
    if (kept)
        give(w.targets, 0, scatter_gone(lost, gone, w.targets, w.velocity, w.tiles_active, dt, w.fragmenting));
    w.velocity.swap(w.phases.air);

    std::vector<Lost<D>> bubbles, guessed;
    for (const Lost<D>& l : lost) (l.guessed ? guessed : bubbles).push_back(l);
    std::erase_if(lost, [](const Lost<D>& l) { return l.guessed; });
    std::erase_if(bubbles, [](const Lost<D>& l) { return l.kind == DropletKind::droplet; });
    find_components(bubbles, 0, w.targets.body, thin_walls);
    for (const Lost<D>& l : bubbles) give(w.targets, l.body, cell * l.volume);
    book_returned(w, returned);
    if (!guessed.empty()) {
        double missing = w.targets.elsewhere;
        for (size_t k = 0; k < w.targets.expected.size(); ++k) missing += w.targets.expected[k] - w.targets.actual[k];
        if (p.droplets.unreferenced == Unreferenced::near_surface) share_missing(guessed, missing / cell);
        double volume = 0;
        for (const Lost<D>& l : guessed) volume += l.kind == DropletKind::droplet ? cell * l.volume : -cell * l.volume;
        forgive(w.targets, volume);
        lost.insert(lost.end(), guessed.begin(), guessed.end());
    }
    // The velocity that moved the grid is that of the middle of the step; until its end a droplet falls.
    const FrameForces frame = frame_forces(p, w.time, dt);
    for (Lost<D>& l : lost)
        if (l.kind == DropletKind::droplet)
            l.u += 0.5 * dt * take<D>(frame.on_particle(lift<D>(w.grid.h * (l.x + Vec<D>::all(0.5))), lift<D>(l.u), 0.5 * dt));
    // What is too little to follow stays with the rest.
    constexpr double least = 1e-6;
    for (const Lost<D>& l : lost)
        if (l.volume < least) give(w.targets, 0, l.kind == DropletKind::droplet ? cell * l.volume : -cell * l.volume);
    std::erase_if(lost, [](const Lost<D>& l) { return l.volume < least; });
    add_fragments(w.droplets, lost, w.grid, p, w.exchange);
    // What rounding took from droplets.
    const FragmentTotals apart = totals(w.droplets, w.grid, p);
    const double booked = std::accumulate(w.targets.expected.begin(), w.targets.expected.end(), w.targets.elsewhere);
    give(w.targets, 0, w.volume_expected - apart.volume_droplets + apart.volume_bubbles - booked);
    // A bubble may have burst in a component that holds less than it did.
    double under = 0;
    for (double& volume : w.targets.expected) {
        under += std::min(volume, 0.0);
        volume = std::max(volume, 0.0);
    }
    if (under < 0) give(w.targets, 0, under);
}

template <int D>
void follow_volume(Water<D>& w)
{
    if (w.volume_error.size() == 0) return;
    const bool phi_gradient = w.phi_gradient.any();
    if (phi_gradient) w.cip.moved_phi.copy(w.phi);
    correct_volume_error(w.phi, w.volume_error, wet_part(w.phi, w.solids), w.tiles_active, w.carried);
    if (phi_gradient) follow_change(w.phi_gradient, w.phi, w.cip.moved_phi, -1, w.tiles_active);
}

#define TARN_INSTANTIATE(D)                                                                                         \
    template double missing_volume(const Water<D>&, const Params&);                                                \
    template std::vector<Lost<D>> exchange_fragments(Water<D>&, const Params&, const Boundary<D>&, double);        \
    template void book_returned(Water<D>&, std::vector<Lost<D>>&);                                                 \
    template void book_components(Water<D>&, const Params&, std::vector<Lost<D>>&, std::vector<Lost<D>>&, double); \
    template void follow_volume(Water<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn::two_phase
