#include "tarn/run/states.h"

#include <cstdio>
#include <filesystem>

#include "tarn/run/frames.h"

namespace fs = std::filesystem;

namespace tarn {

bool is_free(const std::string& dir)
{
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(dir, error))
        if (entry.path().filename() != "log.txt" || entry.file_size(error) > 0) return false;
    return true;
}

std::map<int, std::string> frames_in(const std::string& dir, const std::string& kind, const std::string& ending)
{
    std::map<int, std::string> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(dir + "/" + kind, error)) {
        int frame = 0;
        if (std::sscanf(entry.path().filename().c_str(), "frame_%d", &frame) == 1 && frame >= 0 &&
            entry.path() == frame_path(dir, kind, frame, ending))
            found[frame] = entry.path();
    }
    return found;
}

std::map<int, std::string> states(const std::string& dir) { return frames_in(dir, "state", "ckpt"); }

std::string state_path(const std::string& dir, int frame) { return frame_path(dir, "state", frame, "ckpt"); }
std::string packed_scene_path(const std::string& dir) { return dir + "/scene.pack"; }

}  // namespace tarn
