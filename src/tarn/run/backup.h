#pragma once
// The state before a step, so that the step can be taken again with a smaller dt. It costs as many bytes as phi,
// velocity and pressure; a copy on disk would cost none, but most retries would then repeat many steps.

#include <cstring>

#include "tarn/step/water.h"

namespace tarn {

template <int D>
class Backup {
public:
    explicit Backup(const Grid<D>& grid) : phi_(grid), pressure_(grid), velocity_(grid) {}

    void take(const Water<D>& water)
    {
        copy(phi_, water.phi);
        copy(pressure_, water.pressure);
        for (int a = 0; a < D; ++a) copy(velocity_[a], water.velocity[a]);
        time_ = water.time;
        step_ = water.step;
        volume_expected_ = water.volume_expected;
    }
    // Solids and all else that restore() makes are the caller's to rebuild.
    void give_back(Water<D>& water) const
    {
        copy(water.phi, phi_);
        copy(water.pressure, pressure_);
        for (int a = 0; a < D; ++a) copy(water.velocity[a], velocity_[a]);
        water.time = time_;
        water.step = step_;
        water.volume_expected = volume_expected_;
    }

private:
    // Writes only pages that differ: those that no kernel has touched stay untouched, and not resident, in the copy.
    static void copy(Field<D>& to, const Field<D>& from)
    {
        constexpr size_t page = 4096 / sizeof(float);
        for (size_t i = 0; i < from.size(); i += page) {
            const size_t bytes = std::min(page, from.size() - i) * sizeof(float);
            if (std::memcmp(to.data() + i, from.data() + i, bytes) != 0)
                std::memcpy(to.data() + i, from.data() + i, bytes);
        }
    }

    Field<D> phi_, pressure_;
    FaceField<D> velocity_;
    double time_ = 0, volume_expected_ = 0;
    long step_ = 0;
};

}  // namespace tarn
