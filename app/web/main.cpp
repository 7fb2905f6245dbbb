// The playground as WebAssembly: functions with plain numbers and texts, which app/web/worker.js calls. What goes wrong is a
// text that play_error() tells; every function that can fail returns 0 then.

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <emscripten.h>

#include "tarn/base/error.h"
#include "tarn/base/timer.h"
#include "tarn/base/version.h"
#include "tarn/play/playground.h"
#include "tarn/play/settings.h"
#include "tarn/scene/read.h"

using namespace tarn;

namespace {

std::unique_ptr<Playground> playground;
std::string error, text;
std::vector<float> values;
std::vector<double> numbers;

// Runs what may throw.
template <class F>
int guarded(const F& f)
{
    error.clear();
    try {
        if (!playground) throw InputError("no scene has been opened");
        f(*playground);
        return 1;
    } catch (const std::exception& e) {
        error = e.what();
        return 0;
    }
}

const float* keep(std::vector<float> next)
{
    values = std::move(next);
    return values.data();
}

}  // namespace

#define TARN_EXPORT extern "C" EMSCRIPTEN_KEEPALIVE

TARN_EXPORT const char* play_error() { return error.c_str(); }
TARN_EXPORT const char* play_version() { return version(); }

// Opens a scene file's text, on a grid of `cells` along its longest side where that is not 0.
TARN_EXPORT int play_open(const char* scene, const char* file, int cells)
{
    error.clear();
    try {
        Overrides overrides;
        if (cells > 0) overrides.emplace_back("domain.cells", std::to_string(cells));
        playground = std::make_unique<Playground>(read_params(scene, file, overrides));
        return 1;
    } catch (const std::exception& e) {
        error = e.what();
        return 0;
    }
}

// Goes on for some seconds of the scene. Returns the steps that took, or -1 where it failed and was restarted.
TARN_EXPORT int play_advance(double seconds, int single)
{
    Advanced done;
    const Timer timer;
    if (!guarded([&](Playground& p) { done = p.advance(seconds, single != 0); })) return -1;
    error = done.wrong;
    numbers = {timer.seconds(), done.dt, double(done.iterations), double(done.steps)};
    return done.wrong.empty() ? done.steps : -1;
}

// One step, of which every part is kept. Returns how many there are to be shown, the state before it the first, or -1 as above.
TARN_EXPORT int play_parts(double seconds)
{
    Advanced done;
    const Timer timer;
    if (!guarded([&](Playground& p) { done = p.advance_by_parts(seconds); })) return -1;
    error = done.wrong;
    numbers = {timer.seconds(), done.dt, double(done.iterations), double(done.steps)};
    return done.wrong.empty() ? playground->parts() : -1;
}
// Fields and droplets are those after that part; -1: those of now.
TARN_EXPORT void play_show_part(int part) { playground->show_part(part); }

// Seconds on the clock, dt, iterations and steps of the newest advance; then time, step, volume, expected volume, kinetic
// and potential energy, greatest speed and divergence.
TARN_EXPORT const double* play_measures()
{
    guarded([](Playground& p) {
        numbers.resize(4);
        const Measures m = p.measures();
        for (const double n : {p.water().time, double(p.water().step), m.volume, p.water().volume_expected, m.kinetic_energy,
                               m.potential_energy, m.max_speed, m.max_divergence, double(m.droplets.count)})
            numbers.push_back(n);
    });
    return numbers.data();
}

TARN_EXPORT int play_stroke(int brush, double x0, double y0, double x1, double y1, double radius, double u, double v, double r,
                            double g, double b, double density)
{
    return guarded([&](Playground& p) {
        p.apply({.brush = static_cast<Brush>(brush),
                 .from = {x0, y0},
                 .to = {x1, y1},
                 .radius = radius,
                 .velocity = {u, v},
                 .color = {float(r), float(g), float(b)},
                 .density = density});
    });
}
TARN_EXPORT int play_begin_stroke()
{
    return guarded([](Playground& p) { p.begin_stroke(); });
}
TARN_EXPORT int play_undo()
{
    bool undone = false;
    return guarded([&](Playground& p) { undone = p.undo(); }) && undone;
}
TARN_EXPORT int play_restart()
{
    return guarded([](Playground& p) { p.restart(); });
}
TARN_EXPORT int play_set(const char* key, const char* value)
{
    return guarded([&](Playground& p) { p.set(key, value); });
}
TARN_EXPORT int play_set_gravity(double x, double y)
{
    return guarded([&](Playground& p) { p.set_gravity({x, y}); });
}
TARN_EXPORT int play_set_cells(int cells)
{
    return guarded([&](Playground& p) { p.set_cells(cells); });
}

TARN_EXPORT int play_cells(int axis) { return playground ? playground->water().grid.cells[axis] : 0; }
TARN_EXPORT double play_cell_size() { return playground ? playground->water().grid.h : 0; }
TARN_EXPORT double play_gravity(int axis)
{
    return playground ? playground->params().domain.gravity.at(playground->water().time)[axis] : 0;
}
TARN_EXPORT int play_solids_changed() { return playground ? int(playground->solids_changed()) : 0; }
TARN_EXPORT int play_moving() { return playground && playground->water().solids.moving; }

// By cells, x fastest, from the bottom.
TARN_EXPORT const float* play_field(int shown) { return keep(playground->field(static_cast<Shown>(shown))); }
// By corners of cells; play_count() tells that there are none.
TARN_EXPORT const float* play_solids() { return keep(playground->solids()); }
// Six numbers each.
TARN_EXPORT const float* play_drops()
{
    std::vector<float> all;
    for (const ShownDrop& d : playground->drops()) all.insert(all.end(), {d.x, d.y, d.radius, d.kind, d.u, d.v});
    return keep(std::move(all));
}
// Five numbers each.
TARN_EXPORT const float* play_balls()
{
    std::vector<float> all;
    for (const ShownBall& b : playground->balls()) all.insert(all.end(), {b.x, b.y, b.radius, b.turn, b.density});
    return keep(std::move(all));
}
// Three dyes by cells, one after the other; none where there is no ink.
TARN_EXPORT const float* play_ink()
{
    std::vector<float> all;
    const Ink& ink = playground->ink();
    const Cell<2> cells = playground->water().grid.cells;
    for (int n = 0; n < 3 && ink.any(); ++n)
        for (int j = 0; j < cells[1]; ++j)
            for (int i = 0; i < cells[0]; ++i) all.push_back(ink.dye(n)(Cell<2>{i, j}));
    return keep(std::move(all));
}
TARN_EXPORT int play_count() { return int(values.size()); }

TARN_EXPORT const char* play_settings()
{
    guarded([](Playground& p) { text = settings_json(p.params()); });
    return text.c_str();
}
// What is there now, as a scene file.
TARN_EXPORT const char* play_save()
{
    text.clear();
    guarded([](Playground& p) { text = write_params(p.saved()); });
    return text.c_str();
}
TARN_EXPORT const char* play_title()
{
    guarded([](Playground& p) { text = p.params().title; });
    return text.c_str();
}
