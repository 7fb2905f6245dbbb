// The playground's page has no forces, waves, surface pressure or rain, which keeps it small: scene.cpp refuses such scenes.

#include "tarn/scene/forces.h"
#include "tarn/scene/rain.h"
#include "tarn/scene/surface_pressure.h"

namespace tarn {

bool control_available() { return false; }
bool has_forces(const Scene&) { return false; }
double strongest_force(const Scene&, double) { return 0; }

#define TARN_INSTANTIATE(D)                                                                             \
    template <>                                                                                         \
    void push(FaceField<D>&, const Field<D>&, bool, const Scene&, const Tiles<D>&, double, double)      \
    {                                                                                                   \
    }                                                                                                   \
    template <>                                                                                         \
    void push(Droplets<D>&, const Grid<D>&, const Scene&, double, double)                              \
    {                                                                                                   \
    }                                                                                                   \
    template <>                                                                                         \
    void set_surface_pressure(Field<D>&, const Scene&, const Tiles<D>&, double)                         \
    {                                                                                                   \
    }                                                                                                   \
    template <>                                                                                         \
    double rain(Droplets<D>&, Flows<D>&, const Scene&, const Grid<D>&, Exchange&, double, double)      \
    {                                                                                                   \
        return 0;                                                                                       \
    }
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
