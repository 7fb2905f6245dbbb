#pragma once
// The folder of a run: who may write there, and what lies in it.
//
//   scene.toml   every parameter with its value
//   run.json     where the run stands
//   stats.csv    one row per step; row 0 is the state at the start
//   components.csv   the volume of every connected component of water, each frame
//   levels.csv       the cells of every level of an octree, each frame
//   gauges.csv   one row per step, a column a gauge; gauges.svg draws them
//   bodies.jsonl   one line per step: rigid bodies
//   surface/ solids/ volume/ particles/ preview/ render/ state/   frame_0000 is the state at the start, frame_NNNN the end of frame N
//   checkpoint/  the newest two; failed.ckpt is the state before a step that could not be made
//   log.txt      what happened when; its lock tells a second program that the folder is in use

#include <optional>
#include <string>
#include <vector>

#include "tarn/output/line_file.h"
#include "tarn/run/bodies_file.h"
#include "tarn/run/machine.h"
#include "tarn/run/stats.h"
#include "tarn/scene/scene.h"

namespace tarn {

// What to do about a run that is already in the folder.
enum class Existing { refuse, resume, replace };

struct RunStatus {
    std::string state = "running";  // running, done, failed, interrupted
    std::string exit_reason;        // empty while running
    int frame = 0, frames = 0;
    double time = 0;
    long step = 0;
    double eta = 0;      // s
    double elapsed = 0;  // s, of this session
    int threads = 1;
    std::string hash;  // over every member of the state that the run ended with; empty while running
};

// The first line in which two scenes differ, as `"theirs" there, "ours" here`; empty where one run serves both. How long
// they are, what they write and what pictures look like may differ.
std::string first_difference(const Params& theirs, const Params& ours);

class RunFolder {
public:
    // Makes the folder, or takes over the run that it holds. Throws InputError where that must not or cannot be done;
    // nothing has been changed then.
    RunFolder(std::string dir, const Scene& scene, Existing existing);

    const std::string& dir() const { return dir_; }
    // The frame that the run in the folder had ended with, if it had.
    std::optional<int> finished() const { return finished_; }

    // Writes scene.toml. From here on the folder changes.
    void begin(const Scene& scene);

    void write_status(const RunStatus& status) const;
    void log(const std::string& text);

    // Drops the rows after `step`, which a resumed run makes anew.
    void begin_stats(long step, const Scene& scene);
    void add_stats(const StatsRow& row);
    template <int D>
    void add_components(int frame, const Water<D>& water)
    {
        components_.add(frame, water);
        levels_.add(frame, water);
    }
    void add_gauges(long step, double time, const std::vector<double>& values) { gauges_.add(step, time, values); }

    void add_bodies(long step, double time, const std::vector<RigidBody>& bodies) { bodies_.add(step, time, bodies); }

    // Usable states, newest first.
    std::vector<std::string> checkpoints() const;
    std::string checkpoint_path(long step) const;
    std::string failed_checkpoint_path() const;
    // Keeps the newest two and forgets a failure that has been passed.
    void prune_checkpoints() const;

private:
    void clear();

    std::string dir_, scene_name_, title_, started_;
    double rate_;
    Cell<3> cells_{1, 1, 1};
    Machine machine_;
    bool replace_ = false;
    std::optional<int> finished_;
    LineFile log_;
    StatsFile stats_;
    ComponentsFile components_;
    LevelsFile levels_;
    GaugesFile gauges_;
    BodiesFile bodies_;
};

}  // namespace tarn
