#include "tarn/pressure/contacts.h"

#include "tarn/backend/atomic.h"

namespace tarn {

template <int D>
bool find_contacts(FaceField<D, uint8_t>& known, const FaceField<D>& velocity, const Field<D>* x, const Boundary<D>& boundary,
                   const SurfaceView<D>& surface, View<D, const int> enclosed, const Tiles<D>& active, Contacts& contacts)
{
    const View<D, const float> xv = x ? x->view() : View<D, const float>{};
    const float per_cell = boundary.contact.dt / boundary.contact.h;
    int* const count = storage_for(contacts.workspace, 2);
    parallel_range("contacts", 2, [=] TARN_KERNEL(int n) { count[n] = 0; });
    for (int a = 0; a < D; ++a) {
        const auto k = known[a].view();
        const auto u = velocity[a].view();
        parallel_for_faces("contacts", active, a, [=] TARN_KERNEL(Cell<D> c) {
            const int i = boundary.phi.index(c);
            const float upper = boundary.phi[i], lower = boundary.phi[i - boundary.phi.next(a)];
            const uint8_t before = xv.data && k[i] == in_contact ? in_contact : 0;
            uint8_t now = 0;
            if (!boundary.at_wall(c, a) && (upper < 0) != (lower < 0) && !boundary.inlet_at(c, a)) {
                const bool up = lower < 0;  // the way out of the water
                const Cell<D> below = moved<D>(c, a, -1), wet = up ? below : c, dry = up ? c : below;
                const float closeness = surface.closeness(wet, dry);
                const float pushed = xv.data ? closeness * (xv(wet) - surface.on_surface(wet, dry, a)) : 0.0f;
                const float way = per_cell * ((up ? u[i] : -u[i]) + pushed);
                if (way > 0.5f - 1 / closeness && !(enclosed.data && enclosed(dry) > 0)) {
                    const float gap = boundary.gap_to_wall(c, a, way);
                    if (way > gap) now = in_contact;
                }
            }
            k[i] = now;
            if (now) (void)atomic_add(count, 1);
            if (now != before) (void)atomic_add(count + 1, 1);
        });
    }
    int found[2] = {};
    backend::copy(found, count, sizeof found);
    contacts.faces = found[0];
    return found[1] > 0;
}

template <int D>
void carry_to_contacts(FaceField<D>& velocity, const FaceField<D, uint8_t>& known, const Boundary<D>& boundary, const Tiles<D>& active)
{
    for (int a = 0; a < D; ++a) {
        const auto k = known[a].view();
        const auto u = velocity[a].view();
        parallel_for_faces("carry to contacts", active, a, [=] TARN_KERNEL(Cell<D> c) {
            if (k(c) != in_contact) return;
            const int by = boundary.phi(c) < 0 ? -1 : 1;
            const float v = u(c);
            Cell<D> face = moved<D>(c, a, by);
            for (int n = 0; n < most_gap; ++n, face[a] += by) {
                u(face) = v;
                if (boundary.at_wall(face, a) || (boundary.solids && !(boundary.open[a](face) > 0))) return;
            }
        });
    }
}

#define TARN_INSTANTIATE(D)                                                                                              \
    template bool find_contacts(FaceField<D, uint8_t>&, const FaceField<D>&, const Field<D>*, const Boundary<D>&,        \
                                const SurfaceView<D>&, View<D, const int>, const Tiles<D>&, Contacts&);                  \
    template void carry_to_contacts(FaceField<D>&, const FaceField<D, uint8_t>&, const Boundary<D>&, const Tiles<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
