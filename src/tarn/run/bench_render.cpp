#include "tarn/run/bench_render.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <ctime>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tarn/backend/parallel.h"
#include "tarn/base/timer.h"
#include "tarn/base/version.h"
#include "tarn/output/files.h"
#include "tarn/render/studio.h"
#include "tarn/run/frames.h"
#include "tarn/run/machine.h"
#include "tarn/run/run.h"
#include "tarn/scene/read.h"

namespace tarn {
namespace {

constexpr int repeats = 3;

// A rough sea with drops over it, in a unit box of 128³ samples, known within a band of three like a run's volumes.
LevelSet rough_sea(Filter filter)
{
    constexpr int n = 128;
    const float h = 1.0f / n;
    std::vector<float> phi;
    phi.reserve(size_t{n} * n * n);
    for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) {
                const double x = (i + 0.5) / n, y = (j + 0.5) / n, z = (k + 0.5) / n;
                double d =
                    0.8 * (y - 0.35 - 0.07 * std::sin(13 * x) * std::cos(11 * z) - 0.02 * std::sin(41 * x + 29 * z));
                for (int drop = 0; drop < 12; ++drop) {
                    const double a = 0.5 + 0.35 * std::cos(2.4 * drop), b = 0.5 + 0.35 * std::sin(2.4 * drop);
                    d = std::min(d, std::sqrt((x - a) * (x - a) + (y - 0.7) * (y - 0.7) + (z - b) * (z - b)) - 0.05);
                }
                phi.push_back(static_cast<float>(std::clamp(d, -3.0 * h, 3.0 * h)));
            }
    return LevelSet({n, n, n}, Vec3f::all(0.5f * h), h, phi, {0, 0, 0}, {1, 1, 1}, filter);
}

// Of all threads together: what a measurement beside other work can still be trusted in.
double processor_seconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

// Millions of primary rays, each to its hit and normal, by the clock and by processor time. The sea fills the picture.
struct Rays {
    double per_second = 0, per_processor_second = 0;
};
Rays primary_rays(Filter filter)
{
    const LevelSet sea = rough_sea(filter);
    CameraParams view;
    view.position = Vec3{0.9, 1.3, 2.0};
    view.target = Vec3{0.5, 0.35, 0.5};
    view.fov = 24.0;
    const Camera camera = make_camera(view, {1, 1, 1}, 1, 0);
    constexpr int size = 1024;
    Rays best;
    for (int r = 0; r < repeats; ++r) {
        const Timer timer;
        const double before = processor_seconds();
        std::atomic<long> hits{0};
        parallel_rows("primary rays", size / 8, [&](int band) {
            long mine = 0;
            for (int y = 8 * band; y < 8 * band + 8; ++y)
                for (int x = 0; x < size; ++x) {
                    LevelSet::Crossing c;
                    const Ray ray{camera.position, camera.direction(2 * (static_cast<float>(x) + 0.5f) / size - 1,
                                                                    1 - 2 * (static_cast<float>(y) + 0.5f) / size)};
                    mine += sea.cross(c, ray, endless, false) && dot(c.normal, ray.d) < 0;
                }
            hits += mine;
        });
        best.per_second = std::max(best.per_second, double(size) * size / timer.seconds() / 1e6);
        best.per_processor_second =
            std::max(best.per_processor_second, double(size) * size / (processor_seconds() - before) / 1e6);
        if (r == 0) fmt::print("  {:.0f} % of the rays hit\n", 100.0 * double(hits) / (double(size) * size));
    }
    return best;
}

}  // namespace

void bench_render(const std::string& results_dir, const std::string& scenes)
{
    nlohmann::ordered_json result;
    result["case"] = "render";
    result["version"] = version();
    result["cpu"] = this_machine().cpu;
    result["threads"] = threads();
    for (const Filter filter : {Filter::tricubic, Filter::trilinear}) {
        const char* name = filter == Filter::tricubic ? "tricubic" : "trilinear";
        const Rays rays = primary_rays(filter);
        fmt::print("render: {:.2f} million primary rays a second into 128 x 128 x 128, {}; {:.2f} of processor time\n",
                   rays.per_second, name, rays.per_processor_second);
        result["primary_rays_" + std::string(name)] = 1e6 * rays.per_second;
        result["primary_rays_" + std::string(name) + "_per_processor_second"] = 1e6 * rays.per_processor_second;
    }

    // The glass, a little more than half full. What was simulated once is kept.
    constexpr int frame = 60;
    const std::string dir = results_dir + "/pour_into_glass", state = frame_path(dir, "state", frame, state_ending);
    const Scene scene = read_scene(scenes + "/pour_into_glass.toml", {{"time.frames", std::to_string(frame)},
                                                                      {"output.volume", "false"},
                                                                      {"output.preview", "false"},
                                                                      {"output.surface", "\"ply\""},
                                                                      {"render.width", "640"},
                                                                      {"render.height", "360"},
                                                                      {"render.samples", "64"}});
    if (!std::filesystem::exists(state)) {
        fmt::print("render: simulating {} frames of pour_into_glass first\n", frame);
        RunOptions options;
        options.out = dir;
        options.existing = Existing::resume;
        options.quiet = true;
        if (run(scene, options) != 0) throw RunError("render: pour_into_glass could not be simulated");
    }
    const Frame3d data = frame_from(read_state<3>(state), scene.params.droplets);
    const Timer timer;
    const double before = processor_seconds();
    const Studio studio(scene);
    const World world = studio.set(data);
    const double ready = timer.seconds();
    const PictureParams params = picture_params(scene.params.render);
    const auto film = take_picture(world, studio.camera(data.now.time, 16.0 / 9), params);
    const double seconds = timer.seconds(), processor = processor_seconds() - before;
    std::vector<Vec3f> light(film->pixels());
    for (size_t i = 0; i < light.size(); ++i) light[i] = film->mean(i);
    write_png(results_dir + "/pour_into_glass.png", develop(light, film->width, film->height, 0));
    fmt::print(
        "render: pour_into_glass, 640 x 360, 64 samples, caustics: {:.1f} s ({:.1f} s to set up), {:.1f} s of "
        "processor "
        "time\n",
        seconds, ready, processor);
    result["pour_into_glass_seconds"] = seconds;
    result["pour_into_glass_processor_seconds"] = processor;
    write_file(results_dir + "/render.json", result.dump(2) + '\n');
}

}  // namespace tarn
