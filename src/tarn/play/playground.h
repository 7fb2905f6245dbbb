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

enum class Brush { pour, remove, air, wall, erase_wall, stir, ink, ball };

// A brush that went from one place to another.
struct Stroke {
    Brush brush = Brush::pour;
    Vec<2> from, to;     // m
    double radius = 0;   // m
    Vec<2> velocity;     // m/s, of the hand
    float color[3] = {};  // of ink
    double density = 0;   // kg/m³, of a ball
};

// What a field shows, by cells.
enum class Shown { phi, pressure, speed, vorticity, divergence, flags };
enum class CellFlag { air, water, solid, cut };

// A droplet or a bubble, as it is drawn.
struct ShownDrop {
    float x, y, radius, kind, u, v;  // m, m/s
};

// A round body, as it is drawn.
struct ShownBall {
    float x, y, radius, turn, density;  // m, rad
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

    // One step of at most so many seconds, which keeps what there was before it and after each of its parts (two_phase::StepPart). Until
    // the next step, fields and droplets are those of a part that is asked for; -1: those of now.
    Advanced advance_by_parts(double seconds);
    int parts() const { return static_cast<int>(parts_.size()); }
    void show_part(int part) { part_ = part; }

    // A stroke of a ball throws it: from where the stroke ends, with its velocity. Throws InputError where there is no room.
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
    std::vector<ShownBall> balls() const;

private:
    // Fields after a part of a step.
    struct Part {
        Field<2> phi, pressure;
        FaceField<2> velocity;
        std::vector<ShownDrop> drops;
    };
    struct Undo {
        Backup<2> state;
        Ink ink;
        std::vector<SolidParams> solid;
        long solids_changed;
    };

    Advanced failed(const std::string& why);
    void rebuild(Params params);
    void draw_wall(const Stroke& stroke);
    void throw_ball(const Stroke& stroke);
    void remove_balls(const Stroke& stroke);
    void paint(const Stroke& stroke);
    void build_solids(std::vector<SolidParams> solid, const std::vector<RigidBody>& bodies);
    void keep_part();
    const Part* part_shown() const;

    Params start_;  // that restart() goes back to
    Scene scene_;
    Water<2> water_;
    Ink ink_;
    Backup<2> backup_;
    std::deque<Undo> undo_;
    std::vector<Vec<2>> line_;  // of the wall that is being drawn
    size_t line_from_ = 0;      // its first shape
    long edits_ = 0, solids_changed_ = 0;
    std::vector<Part> parts_;
    int part_ = -1;          // that is shown
    bool by_parts_ = false;  // whether the step that is being taken keeps them
};

}  // namespace tarn
