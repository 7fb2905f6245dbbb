#pragma once
// Water to play with: a 2D scene of water and air that goes on in real time while brushes pour, push and build. The page in
// app/web/ runs it in a browser, as WebAssembly; tests and `tarn bench play` run it natively.

#include <deque>
#include <string>
#include <vector>

#include "tarn/play/edit.h"
#include "tarn/play/ink.h"
#include "tarn/run/backup.h"
#include "tarn/step/step.h"

namespace tarn {

enum class Brush { pour, remove, air, wall, erase_wall, stir, ink };

// A brush that went from one place to another.
struct Stroke {
    Brush brush = Brush::pour;
    Vec<2> from, to;     // m
    double radius = 0;   // m
    Vec<2> velocity;     // m/s, of the hand
    float color[3] = {};  // of ink
};

// What a field shows, by cells.
enum class Shown { phi, pressure, speed, vorticity, divergence, flags };
enum class CellFlag { air, water, solid, cut };

// A droplet or a bubble, as it is drawn.
struct ShownDrop {
    float x, y, radius, kind, u, v;  // m, m/s
};

// What became of the time that was asked for.
struct Advanced {
    int steps = 0;
    int iterations = 0;        // of the newest solve
    double dt = 0;             // of the newest step
    std::string wrong;         // why it failed; the scene is then as at its start
};

class Playground {
public:
    // The scene as it is, but two-dimensional water and air by the level set alone. Throws InputError.
    explicit Playground(Params params);

    // Steps until the scene is `seconds` further, however many that takes; one step alone where `single`.
    Advanced advance(double seconds, bool single = false);

    void apply(const Stroke& stroke);
    // Before a stroke, so that undo() can take it back.
    void begin_stroke();
    bool undo();
    void restart();
    void set(const std::string& key, const std::string& value);
    void set_gravity(Vec<2> gravity);
    // The same water on another grid.
    void set_cells(int cells);

    // What is there now, as a scene that starts with it.
    Params saved() const;

    const Params& params() const { return scene_.params; }
    const Scene& scene() const { return scene_; }
    const Water<2>& water() const { return water_; }
    const Ink& ink() const { return ink_; }
    Measures measures() { return measure(water_, scene_.params); }
    long solids_changed() const { return solids_changed_; }

    std::vector<float> field(Shown shown) const;
    // The distance to solids at cells' corners, negative inside; empty where there are none.
    std::vector<float> solids() const;
    std::vector<ShownDrop> drops() const;

private:
    struct Undo {
        Backup<2> state;
        Ink ink;
        std::vector<SolidParams> solid;
    };

    Advanced failed(const std::string& why);
    void rebuild();
    void draw_wall(const Stroke& stroke);
    void paint(const Stroke& stroke);
    void build_solids();

    Params start_;  // that restart() goes back to
    Scene scene_;
    Water<2> water_;
    Ink ink_;
    Backup<2> backup_;
    std::deque<Undo> undo_;
    std::vector<Vec<2>> line_;  // of the wall that is being drawn
    size_t line_from_ = 0;      // its first shape
    long edits_ = 0, solids_changed_ = 0;
};

}  // namespace tarn
