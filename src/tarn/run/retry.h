#pragma once
// A step that is taken again, shorter, where it goes wrong.

#include <string>

#include "tarn/run/backup.h"
#include "tarn/run/complaint.h"

namespace tarn {

struct Tried {
    StepReport report;
    double dt = 0;      // that was taken
    std::string wrong;  // empty where it went well; else the water is as before
};

// `step(dt)` for dt, or else for a half, a quarter ... of it, at most four times: that brings CFL 2 to 1/8, and what fails even
// then is not cured by smaller steps.
template <int D, class Step>
Tried step_with_retries(Water<D>& water, Backup<D>& backup, const Scene& scene, double dt, const Step& step)
{
    constexpr int max_halvings = 4;
    backup.take(water);
    for (int halvings = 0;; ++halvings) {
        const StepReport report = step(dt);
        const std::string why = complaint(report, scene.params);
        if (why.empty()) return {report, dt, ""};
        backup.give_back(water);
        restore(water, scene);
        if (halvings == max_halvings) return {report, dt, why};
        dt /= 2;
    }
}

}  // namespace tarn
