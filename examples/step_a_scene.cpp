// Tarn from a program of one's own: reads a scene, steps it, and writes the surface that it ends with.
//   step_a_scene SCENE SECONDS OUT.ply

#include <cstdio>
#include <cstdlib>

#include "tarn/output/surface.h"
#include "tarn/scene/read.h"
#include "tarn/step/step.h"

int main(int argc, char** argv)
{
    if (argc != 4) return std::fprintf(stderr, "step_a_scene SCENE SECONDS OUT.ply\n"), 2;
    try {
        const tarn::Scene scene = tarn::read_scene(argv[1], {{"domain.cells", "48"}});
        tarn::Water<2> water = tarn::initial_water<2>(scene);
        const double end = std::atof(argv[2]);
        while (water.time < end) {
            const double dt = std::min(tarn::choose_dt(water, scene), end - water.time);
            const tarn::StepReport report = tarn::step(water, scene, dt);
            if (!report.finite || !report.pressure.converged) return 1;
        }
        tarn::write_ply(argv[3], tarn::surface_mesh(water));
        const tarn::Measures measures = tarn::measure(water, scene.params);
        std::printf("%ld steps, %.4f s, %.4f m² of water\n", water.step, water.time, measures.volume);
    } catch (const std::exception& e) {
        return std::fprintf(stderr, "%s\n", e.what()), 2;
    }
}
