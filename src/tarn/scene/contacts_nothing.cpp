// Without Bullet bodies do not touch.

#include "tarn/scene/contacts.h"

namespace tarn {

void resolve_contacts(std::vector<RigidBody>&, const Scene&, double, double, double) {}

bool contacts_available() { return false; }

}  // namespace tarn
