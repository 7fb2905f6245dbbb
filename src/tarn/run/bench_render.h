#pragma once

#include <string>

namespace tarn {

// `tarn bench render`: rays into a level set, and a frame of water poured into a glass. Leaves numbers, the frame and
// its picture in `results_dir`; `scenes` is the folder of example scenes.
void bench_render(const std::string& results_dir, const std::string& scenes);

}  // namespace tarn
