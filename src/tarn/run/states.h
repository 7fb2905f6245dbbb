#pragma once
// A folder of states: what a machine that only simulates leaves for one that makes meshes and pictures of it.
//
//   scene.pack   the scene, packed
//   stats.csv    one row per step
//   state/       frame_0000.ckpt is the state at the start, frame_NNNN.ckpt the end of frame N
//   log.txt      what was printed; its lock tells a second program that the folder is in use

#include <map>
#include <string>

namespace tarn {

// The states in a folder by their frame.
std::map<int, std::string> states(const std::string& dir);
std::string state_path(const std::string& dir, int frame);
std::string packed_scene_path(const std::string& dir);

// Whether a run may begin there. An empty log is what a run leaves that was stopped before it began.
bool is_free(const std::string& dir);

}  // namespace tarn
