#pragma once
// The folder of a run: who may write there, and what lies in it.
//
//   scene.toml   every parameter with its value
//   run.json     where the run stands
//   stats.csv    one row per step; row 0 is the state at the start
//   surface/ volume/ render/   frame_0000 is the state at the start, frame_NNNN the end of frame N
//   checkpoint/  the newest two; failed.ckpt is the state before a step that could not be made
//   log.txt      what happened when; its lock tells a second program that the folder is in use

#include <optional>
#include <string>
#include <vector>

#include "tarn/run/machine.h"
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
};

// One row of stats.csv.
struct StatsRow {
    int frame = 0;
    long step = 0;
    double time = 0, dt = 0, cfl = 0;
    double volume = 0, volume_expected = 0;
    double kinetic_energy = 0, potential_energy = 0;
    double max_speed = 0, max_divergence = 0;
    int pressure_iterations = 0;
    double pressure_residual = 0;
    long cells_wet = 0, particles = 0;
    double seconds = 0, seconds_advect = 0, seconds_surface = 0, seconds_pressure = 0;
    double seconds_output = 0;  // writing done since the row before
    double memory_mb = 0;
};

// A file that grows by whole lines, each handed to the system before add() returns, so that a killed program loses
// none.
class LineFile {
public:
    LineFile() = default;
    explicit LineFile(const std::string& path);
    ~LineFile();
    LineFile(LineFile&& other) noexcept;
    LineFile& operator=(LineFile&& other) noexcept;

    // Throws RunError when the line cannot be written.
    void add(const std::string& line);
    // False where another program holds the lock; it goes with the file.
    bool lock();

private:
    std::string path_;
    int fd_ = -1;
};

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

    std::string frame_path(const std::string& kind, int frame, const std::string& ending) const;
    void write_status(const RunStatus& status) const;
    void log(const std::string& text);

    // Drops the rows after `step`, which a resumed run makes anew.
    void begin_stats(long step);
    void add_stats(const StatsRow& row);

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
    LineFile log_, stats_;
};

}  // namespace tarn
