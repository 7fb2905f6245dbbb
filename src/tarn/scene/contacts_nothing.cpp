// Without Bullet bodies do not touch.

#include "tarn/scene/contacts.h"

namespace tarn {

void resolve_contacts(std::vector<RigidBody>& bodies, const Scene&, double, double)
{
    for (RigidBody& b : bodies) b.push = b.twist = {};
}

bool contacts_available() { return false; }

}  // namespace tarn
