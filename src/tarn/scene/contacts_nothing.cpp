// Without Bullet bodies touch in two dimensions alone.

#include "tarn/scene/contacts.h"

namespace tarn {

void resolve_contacts(std::vector<RigidBody>& bodies, const Scene& scene, double t, double dt, double film)
{
    if (scene.params.dimension() == 2) resolve_flat_contacts(bodies, scene, t, dt, film);
}

bool contacts_available() { return false; }

}  // namespace tarn
