// Water that comes and goes: sources, inlets, sinks, open sides, pistons, and pockets that nothing can leave.

#include "run_water.h"

namespace tarn {
namespace {

int cells() { return std::getenv("N") ? atoi(std::getenv("N")) : 32; }
template <class P>
P box(Vec3 min, Vec3 max)
{
    P p;
    p.min = min;
    p.max = max;
    return p;
}

// The volume grows at the given rate; the issue allows 1 %.
TEST(Source, fills_a_box_at_its_rate)
{
    Params p = pool(2, cells(), 0.3);
    auto source = box<SourceParams>({0.4, 0.05, -1}, {0.6, 0.15, 1});
    source.rate = 0.1;
    p.source.push_back(source);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const double before = measure(w, p).volume;
    run_to(w, scene, 2.0, [&](const StepReport&) {
        });
        printf("t %g volume %g exp %g true %g\n", w.time, measure(w, p).volume, w.volume_expected, before + 0.1 * w.time);
}
TEST(Source, fills_a_box_at_its_rate_3d)
{
    Params p = pool(3, 24, 0.3);
    auto source = box<SourceParams>({0.4, 0.05, 0.4}, {0.6, 0.15, 0.6});
    source.rate = 0.1;
    p.source.push_back(source);
    const Scene scene = scene_of(p);
    Water<3> w = initial_water<3>(scene);
    const double before = measure(w, p).volume;
    run_to(w, scene, 2.0, [&](const StepReport&) {
        });
        printf("t %g volume %g exp %g true %g\n", w.time, measure(w, p).volume, w.volume_expected, before + 0.1 * w.time);
}

TEST(Inlet, gives_its_velocity_times_its_area)
{
    Params p = pool(2, cells(), 0.3);
    auto source = box<SourceParams>({0, 0.5, -1}, {0.0625, 0.625, 1});
    source.velocity = Vec3{1, 0, 0};
    p.source.push_back(source);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const double before = measure(w, p).volume;
    for (double t : {0.5, 1.0, 1.5, 2.0}) {
        run_to(w, scene, t);
        printf("inlet t %g volume %g exp %g true %g\n", w.time, measure(w, p).volume, w.volume_expected, before + 0.125 * w.time);
    }
}
TEST(Inlet, gives_its_velocity_times_its_area_3d)
{
    Params p = pool(3, cells(), 0.3);
    auto source = box<SourceParams>({0, 0.5, 0.375}, {0.0625, 0.75, 0.625});
    source.velocity = Vec3{1, 0, 0};
    p.source.push_back(source);
    const Scene scene = scene_of(p);
    Water<3> w = initial_water<3>(scene);
    const double before = measure(w, p).volume;
    for (double t : {0.5, 1.0, 1.5, 2.0}) {
        run_to(w, scene, t);
        printf("inlet3 t %g volume %g exp %g true %g\n", w.time, measure(w, p).volume, w.volume_expected, before + 0.0625 * w.time);
    }
}
// Under water
TEST(Inlet, under_water)
{
    Params p = pool(2, cells(), 0.4);
    auto source = box<SourceParams>({0, 0.125, -1}, {0.0625, 0.25, 1});
    source.velocity = Vec3{1, 0, 0};
    p.source.push_back(source);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const double before = measure(w, p).volume;
    for (double t : {0.5, 1.0, 1.5, 2.0}) {
        run_to(w, scene, t);
        printf("inletu t %g volume %g exp %g true %g\n", w.time, measure(w, p).volume, w.volume_expected, before + 0.125 * w.time);
    }
}

TEST(Sink, empties_a_box_at_its_rate)
{
    Params p = pool(2, cells(), 0.7);
    auto sink = box<SinkParams>({0.4, 0.05, -1}, {0.6, 0.15, 1});
    sink.rate = 0.1;
    p.sink.push_back(sink);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const double before = measure(w, p).volume;
    for (double t : {1, 2, 3, 4, 5}) {
        run_to(w, scene, t);
        printf("sink t %g volume %g exp %g true %g\n", w.time, measure(w, p).volume, w.volume_expected, before - 0.1 * w.time);
    }
}
TEST(Sink, without_rate)
{
    Params p = pool(2, cells(), 0.7);
    auto sink = box<SinkParams>({0.8, 0.0, -1}, {2, 0.15, 1});
    p.sink.push_back(sink);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    for (double t : {0.25, 0.5, 0.75, 1.0}) {
        run_to(w, scene, t);
        printf("sinkall t %g volume %g exp %g\n", w.time, measure(w, p).volume, w.volume_expected);
    }
}

TEST(OpenSide, lets_water_out)
{
    for (int n : {32, 64, 128}) {
    Params p = pool(2, n, 0.5);
    p.water[0].max = Vec3{0.5, 0.5, 2};
    p.domain.walls.right = WallKind::open;
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    for (double t : {0.25, 0.5, 0.75, 1.0, 1.5}) {
        run_to(w, scene, t);
        printf("open %d t %g volume %g exp %g\n", n, w.time, measure(w, p).volume, w.volume_expected);
    }
    }
}

TEST(Piston, pushes_water_without_leaking)
{
    Params p = pool(2, cells(), 0.4);
    auto piston = box<SolidParams>({-2, -1, -1}, {0.1, 2, 1});
    piston.translate.keys = {{0, Vec3{}}, {1, Vec3{0.4, 0, 0}}, {2, Vec3{0.4, 0, 0}}};
    p.solid.push_back(piston);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const double before = measure(w, p).volume;
    for (double t : {0.25, 0.5, 0.75, 1.0, 1.5, 3.0}) {
        run_to(w, scene, t);
        printf("piston t %g volume %g before %g exp %g\n", w.time, measure(w, p).volume, before, w.volume_expected);
    }
}

TEST(ClosedPocket, full)
{
    Params p = pool(3, 16, 2);
    const Scene scene = scene_of(p);
    Water<3> w = initial_water<3>(scene);
    printf("full %g\n", run_to(w, scene, 0.5));
}

// A wall through a full box and a half-full one.
TEST(ClosedPocket, beside_an_open_one)
{
    Params p = pool(2, cells(), 2);
    auto air = box<WaterParams>({0.5, 0.5, -1}, {2, 2, 1});
    air.subtract = true;
    p.water.push_back(air);
    p.solid.push_back(box<SolidParams>({0.45, -1, -1}, {0.55, 2, 1}));
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    double v = measure(w, p).volume;
    int it = 0;
    double f = 0;
    run_to(w, scene, 1, [&](const StepReport& r) { it = std::max(it, r.pressure.iterations);f = std::max(f, measure(w, p).max_speed); });
    printf("two pockets %g iterations %d volume %g %g\n", f, it, v, measure(w, p).volume);
}

TEST(ClosedPocket, with_a_piston)
{
    Params p = pool(2, cells(), 2);
    auto piston = box<SolidParams>({0.3, 0.3, -1}, {0.5, 0.6, 1});
    piston.translate.keys = {{0, Vec3{}}, {1, Vec3{0.2, 0.1, 0}}};
    p.solid.push_back(piston);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    double v = measure(w, p).volume;
    printf("moving %g\n", run_to(w, scene, 1));
    printf("volume %g %g\n", v, measure(w, p).volume);
    // A piston that presses the pocket.
    Params q = pool(2, cells(), 2);
    auto press = box<SolidParams>({-2, -1, -1}, {0.1, 2, 1});
    press.translate.keys = {{0, Vec3{}}, {1, Vec3{0.2, 0, 0}}};
    q.solid.push_back(press);
    const Scene scene2 = scene_of(q);
    w = initial_water<2>(scene2);
    printf("pressing %g\n", run_to(w, scene2, 1));
}

}  // namespace
}  // namespace tarn
